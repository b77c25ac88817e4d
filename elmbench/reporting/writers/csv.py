"""Data frames as CSV."""

import pandas as pd


def csv(frame: pd.DataFrame) -> str:
    """Return a data frame as CSV without its index; floats keep every digit."""
    return frame.to_csv(index=False, lineterminator="\n")
