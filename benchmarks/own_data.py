"""Data of a user: a large file that is described and encoded, and a small one with the default
models.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.measure import Record, Rounds, Run, in_turn, make_record, time_call
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.user_data import UserData
from elmbench.evaluation.preprocessing import prepared_inputs
from elmbench.specs.scaling import Scale

#: The share of elmbench's time that the libraries alone may take at least.
THIRD = 1 / 3
#: Seconds of the default models on 178 rows, with the start of all processes.
SMALL = 10.0
WORDS = ("job", "region")


def _write_rows(path: Path, n_rows: int) -> None:
    """Write rows of 18 fractions, two columns of words and one of whole numbers, with two
    classes.
    """
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 18))
    frame = pd.DataFrame(X.round(4), columns=[f"x{column}" for column in range(18)])
    frame["job"] = random.choice(list("abcdefgh"), n_rows)
    frame["region"] = random.choice(["north", "south", "east", "west"], n_rows)
    frame["age"] = random.integers(18, 90, n_rows)
    score = (
        X[:, 0]
        + X[:, 1] * X[:, 2]
        + 0.02 * frame["age"]
        - 1
        + random.normal(size=n_rows)
    )
    frame["target"] = np.where(score > 0, "yes", "no")
    frame.to_csv(path, index=False)


def _n_rows(trial: bool) -> int:
    return 5_000 if trial else 500_000


def _describe(trial: bool) -> Iterator[Record]:
    n_rows = _n_rows(trial)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        _write_rows(path, n_rows)
        describe(UserData(str(path)))  # imports
        rounds = in_turn(
            partial(describe, UserData(str(path))), partial(pd.read_csv, path)
        )
    yield make_record(
        f"{n_rows:,} x 21 rows, described", "read_csv", rounds, target=THIRD
    )


def _encode(trial: bool) -> Iterator[Record]:
    n_rows = _n_rows(trial)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        _write_rows(path, n_rows)
        data = load_from_spec(describe(UserData(str(path))))
        frame = pd.read_csv(path).drop(columns="target")
    train = np.random.default_rng(0).permutation(n_rows)[: 4 * n_rows // 5]
    scale = Scale.model_validate({"kind": "standard", "fit-on": "train"})
    prepare = partial(prepared_inputs, data.X, train, scale, data.encoded_columns)
    rounds = in_turn(prepare, partial(_encode_by_hand, frame, train))
    name = f"{n_rows:,} x 21 rows, encoded and scaled on a fold"
    note = "elmbench imputes and limits the number of categories, too"
    yield make_record(
        name, "OneHotEncoder and StandardScaler", rounds, target=THIRD, note=note
    )


def _encode_by_hand(frame: pd.DataFrame, train: Any) -> Any:
    numbers = [name for name in frame if name not in WORDS]
    transformer = ColumnTransformer(
        [
            ("numbers", StandardScaler(), numbers),
            ("words", OneHotEncoder(sparse_output=False), list(WORDS)),
        ]
    )
    return transformer.fit(frame.iloc[train]).transform(frame)


def _small(trial: bool) -> Iterator[Record]:
    models = ["-m", "ridge"] if trial else []
    seconds = []
    for _ in range(1 if trial else 3):
        with tempfile.TemporaryDirectory() as folder:
            options = ["-q", "--results-dir", folder]
            command = [
                sys.executable,
                "-m",
                "elmbench",
                *options,
                "compare",
                "sklearn:wine",
            ]
            run = partial(
                subprocess.run, [*command, *models], check=True, capture_output=True
            )
            taken, _ = time_call(run)
        seconds.append(taken)
    rounds = Rounds(seconds, [SMALL] * len(seconds))
    yield make_record(
        "178 rows, the default models", f"{SMALL:g} s", rounds, target=1.0
    )


ROWS: dict[str, Run] = {"describe": _describe, "encode": _encode, "small-data": _small}
