"""Files of a user, written, described and loaded."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elmbench.datasets.dataset import Dataset
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.user_data import UserData
from elmbench.specs.datasets import DatasetSpec

N = 60
ROWS = np.random.default_rng(0).normal(size=(N, 3)).round(6)
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "größe"]).assign(
    kind=["gut", "schlecht", "übel"] * 20
)


def write(folder: Path, rows: pd.DataFrame | str, name: str = "x.csv") -> str:
    """Write rows to a file in the format of its name; return its path."""
    path = folder / name
    if isinstance(rows, str):
        path.write_text(rows, encoding="utf-8", newline="")
    elif name.endswith("parquet"):
        rows.to_parquet(path)
    elif name.endswith("npz"):
        np.savez(
            path,
            X=rows.select_dtypes("number").to_numpy(),
            y=np.array(rows.iloc[:, -1].tolist()),
        )
    elif name.endswith("arff"):
        *features, target = rows.columns
        head = ["@relation r", *(f"@attribute {name} numeric" for name in features)]
        head += [
            f"@attribute {target} {{{','.join(rows[target].astype(str).unique())}}}",
            "@data",
            "",
        ]
        path.write_text(
            "\n".join(head) + rows.to_csv(index=False, header=False), encoding="utf-8"
        )
    else:
        rows.to_csv(path, index=False)
    return str(path)


def described(
    folder: Path,
    rows: pd.DataFrame | str,
    target: str = "",
    *,
    name: str = "x.csv",
    **asked: Any,
) -> DatasetSpec:
    """Return the spec of rows in a file."""
    return describe(UserData(write(folder, rows, name), target, **asked))


def loaded(
    folder: Path, rows: pd.DataFrame | str, target: str = "", **asked: Any
) -> Dataset:
    """Return the data of rows in a file."""
    return load_from_spec(described(folder, rows, target, **asked))


def same(data: Any) -> bool:
    np.testing.assert_array_equal(data.X, ROWS)
    return data.feature_names == ("a", "b", "größe") and data.classes == (
        "gut",
        "schlecht",
        "übel",
    )
