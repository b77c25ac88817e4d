"""Kinds of split of a plug-in file and bootstraps, as outer and inner splits, against scikit-learn
by hand.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import MinMaxScaler

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.numerics.seeds import integer_seed
from elmbench.registry.plugins import loaded_plugins

PLUGIN = """
from sklearn.model_selection import LeavePOut, ShuffleSplit

SPLITS = {
    "three-parts": ShuffleSplit(3, test_size=100),
    "two-halves": ShuffleSplit(2, test_size=0.5),
}
"""
TABLE = """
datasets: [wdbc]
protocol:
  scale: {range: [0, 1]}
  outer: {kind: three-parts, runs: 2}
  inner: {kind: two-halves}
  select: nested
  metrics: [accuracy]
models:
  ridge: {model: ridge, search: {C: {values: [0.0001, 1.0]}}}
published: null
"""


def test_outer_and_inner_splits_are_those_of_the_splitter(tmp_path: Path) -> None:
    (tmp_path / "plug.py").write_text(PLUGIN)
    (tmp_path / "mine.yaml").write_text(TABLE)
    results = elmbench.run(
        "own/mine",
        profile="paper",
        plugins=[tmp_path / "plug.py"],
        spec_dirs=[tmp_path],
        results_dir=tmp_path / "results",
    )
    assert set(results.cells["status"]) == {"ok"}
    cells = results.cells.to_dict("records")
    assert [(cell["run"], cell["fold"]) for cell in cells] == [
        (run, fold) for run in range(2) for fold in range(3)
    ]
    data = elmbench.load_dataset("wdbc")
    X = MinMaxScaler().fit_transform(data.X)
    for run in range(2):
        seed = integer_seed("split", "wdbc", run)
        splits = ShuffleSplit(3, test_size=100, random_state=seed).split(X)
        for fold, (train, test) in enumerate(splits):
            cell = cells[3 * run + fold]
            C = json.loads(cell["params"])["C"]
            predicted = (
                RidgeClassifier(alpha=1 / C)
                .fit(X[train], data.y[train])
                .predict(X[test])
            )
            assert cell["n_test"] == 100
            assert cell["accuracy"] == np.mean(predicted == data.y[test])


def test_bootstraps_test_the_rows_that_were_not_drawn(tmp_path: Path) -> None:
    table = TABLE.replace("three-parts, runs: 2", "bootstrap, runs: 2, folds: 2")
    (tmp_path / "mine.yaml").write_text(
        table.replace("two-halves", "bootstrap, folds: 5")
    )
    results = elmbench.run(
        "own/mine",
        profile="paper",
        spec_dirs=[tmp_path],
        results_dir=tmp_path / "results",
    )
    assert set(results.cells["status"]) == {"ok"}
    cells = iter(results.cells.to_dict("records"))
    data = elmbench.load_dataset("wdbc")
    X = MinMaxScaler().fit_transform(data.X)
    for run in range(2):
        random = np.random.default_rng(integer_seed("split", "wdbc", run))
        for _ in range(2):
            train = np.sort(random.integers(569, size=569))
            test = np.setdiff1d(np.arange(569), train)
            cell = next(cells)
            C = json.loads(cell["params"])["C"]
            predicted = (
                RidgeClassifier(alpha=1 / C)
                .fit(X[train], data.y[train])
                .predict(X[test])
            )
            assert cell["n_test"] == len(test)
            assert cell["accuracy"] == np.mean(predicted == data.y[test])


@pytest.mark.parametrize(
    ("splits", "problem"),
    [
        ('{"two-kfold": ShuffleSplit(2)}', "'two-kfold' (plug.py) has a built-in name"),
        (
            '{"pairs": LeavePOut(2)}',
            "the number of splits of 'pairs' (plug.py) depends on the rows",
        ),
        (
            '{"shuffle": ShuffleSplit}',
            "the kind of split 'shuffle' (plug.py) is <class",
        ),
    ],
)
def test_a_split_that_is_refused(tmp_path: Path, splits: str, problem: str) -> None:
    plugin = tmp_path / "plug.py"
    plugin.write_text(PLUGIN.partition("SPLITS")[0] + f"SPLITS = {splits}\n")
    with pytest.raises(ElmbenchError) as error, loaded_plugins([plugin]):
        pass
    assert problem in error.value.found
