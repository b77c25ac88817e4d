"""Where the files of a table are, below the results folder."""

from pathlib import Path

#: The picture of a table that has a figure.
PICTURE = "figure.png"


def results_folder(results_dir: Path, profile: str, experiment: str) -> Path:
    """Return the folder of a table: `<results-dir>/<profile>/<paper>/<table>`."""
    return results_dir / profile / experiment


def has_results(results_dir: Path, profile: str, experiment: str) -> bool:
    """Tell whether a table has cells."""
    return (results_folder(results_dir, profile, experiment) / "cells.csv").is_file()
