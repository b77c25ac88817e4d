"""Data of a user: a large file that is described, encoded and compared within a budget, and a small
one with the default models.
"""

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.measure import (
    Record,
    Rounds,
    Run,
    cpu_seconds,
    in_turn,
    make_record,
    time_call,
)
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.user_data import UserData
from elmbench.evaluation.preprocessing import prepared_inputs
from elmbench.specs.scaling import Scale

#: The share of elmbench's time that the libraries alone may take at least.
THIRD = 1 / 3
#: Processor seconds of the default models on 178 rows, with the start of all processes.
SMALL = 10.0
#: The budget of the large file in minutes, and the workers that share it.
BUDGET = 2
JOBS = 2
#: Seconds between two looks at the memory of a command.
LOOK_EVERY = 0.5
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


def _budget(trial: bool) -> Iterator[Record]:
    n_rows = _n_rows(trial)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        _write_rows(path, n_rows)
        command = _compare_command(folder, str(path))
        command += ["--budget", f"{BUDGET}min", "--jobs", f"{JOBS}"]
        if trial:
            command += ["--model", "ridge,knn", "--folds", "2"]
        start = cpu_seconds()
        output, most_bytes = _watch_memory(command)
        seconds = cpu_seconds() - start
    (table,) = json.loads(output)
    means = [line for line in table["summary"] if line["metric"] == "accuracy"]
    some_rows = [note for note in table["notes"] if "random training rows" in note]
    note = f"{len(means)} models ranked, at most {most_bytes / 1e9:.2g} GB"
    yield make_record(
        f"{n_rows:,} x 21 rows, the default models, budget of {BUDGET} min",
        f"{JOBS} processors for {BUDGET} min",
        Rounds([seconds], [60.0 * BUDGET * JOBS]),
        target=1.0,
        note="; ".join([note, *some_rows]),
    )


def _compare_command(folder: str, data: str) -> list[str]:
    """Return the command that compares models on data, with its results in a folder."""
    python = [sys.executable, "-m", "elmbench"]
    return [*python, "--json", "--results-dir", folder, "compare", data]


def _watch_memory(command: Sequence[str]) -> tuple[str, int]:
    """Run a command; return its standard output, and the most bytes that it and its descendants
    held at the same time. Pages that they share count once.
    """
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        ended = threading.Event()
        most_bytes = 0

        def look() -> None:
            nonlocal most_bytes
            while not ended.wait(LOOK_EVERY):
                held = _held_bytes(process.pid)
                most_bytes = max(most_bytes, held)

        watcher = threading.Thread(target=look)
        watcher.start()
        output, _ = process.communicate()
        ended.set()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return output, most_bytes


def _held_bytes(pid: int) -> int:
    """Return the bytes that a process and its descendants hold; 0 if it has ended."""
    total = 0
    with suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in [parent, *parent.children(recursive=True)]:
            with suppress(psutil.Error):
                memory = process.memory_full_info()
                total += getattr(memory, "pss", memory.uss)
    return total


def _small(trial: bool) -> Iterator[Record]:
    models = ["--model", "ridge"] if trial else []
    seconds = []
    for _ in range(1 if trial else 3):
        with tempfile.TemporaryDirectory() as folder:
            command = [*_compare_command(folder, "sklearn:wine"), *models]
            run = partial(subprocess.run, command, check=True, capture_output=True)
            taken, _ = time_call(run)
        seconds.append(taken)
    rounds = Rounds(seconds, [SMALL] * len(seconds))
    yield make_record(
        "178 rows, the default models",
        f"{SMALL:g} s of processor time",
        rounds,
        target=1.0,
    )


ROWS: dict[str, Run] = {
    "describe": _describe,
    "encode": _encode,
    "budget": _budget,
    "small-data": _small,
}
