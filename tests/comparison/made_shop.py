"""Customers of a shop, and the predictions of a saved model for a file of them."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elmbench.comparison.predict_file import predict_file


def shop(rows: int) -> pd.DataFrame:
    random = np.random.default_rng(rows)
    frame = pd.DataFrame(
        {
            "age": random.normal(40, 10, rows),
            "colour": random.choice(["red", "green", "blue"], rows),
        }
    )
    frame["buys"] = np.where(
        (frame["age"] > 40) ^ (frame["colour"] == "red"), "yes", "no"
    )
    frame["spends"] = (
        frame["age"] * 2 + 30 * (frame["colour"] == "blue") + random.normal(size=rows)
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame


def predicted() -> list[Any]:
    """Return the predictions of best.joblib for new.csv."""
    predictions, _ = predict_file(Path("best.joblib"), Path("new.csv"))
    return predictions["prediction"].tolist()


def in_a_fresh_process(*words: str, err: str = "") -> pd.DataFrame:
    command = [sys.executable, "-m", "elmbench", "predict", *words]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert err in process.stderr
    return pd.read_csv(StringIO(process.stdout))
