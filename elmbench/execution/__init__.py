"""Running work: missing work, its order, its limits, and the store of its results."""
