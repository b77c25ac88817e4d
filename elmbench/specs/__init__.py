"""The contents of YAML and CSV files: data sets, papers, experiments and published values."""
