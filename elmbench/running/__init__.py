"""Running work: what is missing, in which order, within which limits, and where results are kept."""
