"""A small data set as OpenML has it, as ARFF and as Parquet, and the rows that it must come out as."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from loopback import arff_text

from elmbench.datasets.load import load_dataset
from elmbench.specs.datasets import DatasetSpecs

Use = Callable[[dict[str, Any]], DatasetSpecs]

NAMES = ["size", "colour", "flag", "class"]
KINDS = ["NUMERIC", "{red,'light blue'}", "{0,1}", "{no,yes}"]
ROWS = [
    ["0.1", "red", "1", "no"],
    ["-2.5e-7", "'light blue'", "0", "yes"],
    ["?", "red", "0", "no"],
    ["123456789.125", "red", "1", "yes"],
    ["4", "'light blue'", "1", "no"],
]
ARFF = arff_text(NAMES, KINDS, ROWS)
X = np.array([[0.1, 0, 1, 1], [-2.5e-7, 1, 0, 0], [123456789.125, 0, 1, 1], [4, 1, 0, 1]])
Y = [-1, 1, 1, -1]
#: Of the prepared rows.
FINGERPRINT = {
    "columns": [0.9072528, 3.8927827, 8.0263251],
    "rows": [0.4082483, 0.0, 0.3333333],
    "target": [0.0, 0.0, 0.1666667, 0.0, 1.0],
    "decimals": 8,
}


def toy(**source: Any) -> dict[str, Any]:
    """Return its entry in `datasets.yaml`; `source` is what is said of its source."""
    sources = [{"kind": "openml", "id": 7, **source}]
    return {
        "toy": {
            "title": "Toy",
            "task": "classification",
            "positive": ["yes"],
            "shape": {"instances": 5, "features": 3, "classes": {"no": 3, "yes": 2}},
            "prepare": [{"step": "one-hot"}, {"step": "drop-missing-rows"}],
            "prepared": {"instances": 4, "features": 4},
            "sources": sources,
            "citation": "none",
        }
    }


def known_toy() -> dict[str, Any]:
    """Return the entry with its fingerprint."""
    content = toy()
    content["toy"]["fingerprint"] = FINGERPRINT
    return content


def parquet_bytes() -> bytes:
    """Return the rows as a Parquet file."""
    frame = pd.DataFrame(
        {
            "size": [0.1, -2.5e-7, np.nan, 123456789.125, 4],
            "colour": pd.Categorical(["red", "light blue", "red", "red", "light blue"]),
            "flag": pd.Categorical(["1", "0", "0", "1", "1"]),
            "class": pd.Categorical(["no", "yes", "no", "yes", "no"]),
        }
    )
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return stream.getvalue()


def check_toy() -> None:
    """Load the set, which must be as it should."""
    data = load_dataset("toy")
    assert data.feature_names == ("size", "colour=light blue", "colour=red", "flag")
    np.testing.assert_array_equal(data.X[:, [0, 1, 3]], X[:, [0, 1, 3]])
    np.testing.assert_array_equal(data.y, Y)
    assert data.source == "OpenML 7"
