"""Comparisons in worker processes, from scripts and from processes of a pool."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import elmbench


def test_estimators_reach_the_workers(tmp_path: Path) -> None:
    class First(ClassifierMixin, BaseEstimator):
        """Predicts the first class."""

        def fit(self, X: Any, y: Any) -> First:
            self.classes_ = np.unique(y)
            return self

        def predict(self, X: Any) -> Any:
            return np.full(len(X), self.classes_[0])

    X, y = load_iris(return_X_y=True)
    results = elmbench.compare(
        X,
        y,
        [SVC(), First()],
        folds=3,
        grids={"SVC": {"C": [1, 10]}},
        results_dir=tmp_path,
    )
    assert set(results.cells["status"]) == {"ok"}
    means = results.cells.groupby("model")["accuracy"].mean()
    assert means["SVC"] > 0.9
    assert means["First"] == pytest.approx(1 / 3, abs=0.03)


SCRIPT = """
import elmbench
X, y = [[i % 7, i] for i in range(30)], [i % 2 for i in range(30)]
cells = elmbench.compare(X, y, ["ridge"], folds=2, jobs=2, results_dir="results").cells
assert set(cells["status"]) == {"ok"}
elmbench.run("eem/table1", profile="ci", results_dir="results")
"""


POOL = """
import multiprocessing, sys
import elmbench
from elmbench.execution.processes import guarded_mark

def accuracy(folds):
    X, y = [[i % 7, i] for i in range(30)], [i % 2 for i in range(30)]
    cells = elmbench.compare(X, y, ["ridge"], folds=folds, results_dir=f"results{folds}").cells
    return cells["status"].unique().tolist(), guarded_mark()

if __name__ == "__main__":
    guarded_mark()
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        answers = pool.map(accuracy, [2, 3], chunksize=1)
    assert [statuses for statuses, _ in answers] == [["ok"]] * 2
    assert guarded_mark() not in [mark for _, mark in answers]
"""


@pytest.mark.parametrize(
    "method", sorted({*multiprocessing.get_all_start_methods()} - {"forkserver"})
)
def test_a_process_of_a_pool_compares_models(tmp_path: Path, method: str) -> None:
    """It is a daemon, which may start no processes by itself. Its workers end with it."""
    (tmp_path / "script.py").write_text(POOL)
    command = [sys.executable, "script.py", method]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_a_script_need_not_guard_its_calls_and_leaves_nothing_open(
    tmp_path: Path,
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [
        sys.executable,
        "-X",
        "dev",
        "-W",
        "always::ResourceWarning",
        "script.py",
    ]
    assert (
        subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stderr
        == ""
    )
