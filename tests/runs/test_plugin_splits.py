"""Kinds of split of a plug-in file and bootstraps, as outer and inner splits, against scikit-learn
by hand.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from own_table import run_own_table
from sentences import sentence
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import MinMaxScaler

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.numerics.seeds import integer_seed
from elmbench.registry.plugins import loaded_plugins
from elmbench.specs.splits import INNER_KINDS, OUTER_KINDS, REPEATED_SCHEMES

#: The training rows and the test rows of a fold.
Rows = tuple[np.ndarray, np.ndarray]
PENALTIES = [0.0001, 1.0]
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


def inner_seed(run: int, fold: int) -> int:
    return integer_seed("inner", "wdbc", run, fold)


def bootstraps(
    n_rows: int, n_draws: int, random: np.random.Generator
) -> Iterator[Rows]:
    """Yield the rows that are drawn, in order, and the others."""
    for _ in range(n_draws):
        train = np.sort(random.integers(n_rows, size=n_rows))
        yield train, np.setdiff1d(np.arange(n_rows), train)


def best_penalty(X: np.ndarray, y: np.ndarray, folds: Iterable[Rows]) -> float:
    """Return the value of C with the best mean accuracy."""
    folds = list(folds)
    means = {
        C: np.mean(
            [
                RidgeClassifier(alpha=1 / C).fit(X[fit], y[fit]).score(X[test], y[test])
                for fit, test in folds
            ]
        )
        for C in PENALTIES
    }
    return max(means, key=means.__getitem__)


def test_outer_and_inner_splits_are_those_of_the_splitter(tmp_path: Path) -> None:
    results = run_own_table(tmp_path, TABLE, PLUGIN)
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
            inner = ShuffleSplit(2, test_size=0.5, random_state=inner_seed(run, fold))
            X_train, y_train = X[train], data.y[train]
            C = best_penalty(X_train, y_train, inner.split(X_train))
            assert json.loads(cell["params"]) == {"C": C}
            assert cell["n_test"] == 100
            model = RidgeClassifier(alpha=1 / C).fit(X_train, y_train)
            assert cell["accuracy"] == model.score(X[test], data.y[test])


def test_bootstraps_test_the_rows_that_were_not_drawn(tmp_path: Path) -> None:
    table = TABLE.replace("three-parts, runs: 2", "bootstrap, runs: 2, folds: 2")
    table = table.replace("two-halves", "bootstrap, folds: 5")
    results = run_own_table(tmp_path, table, PLUGIN)
    assert set(results.cells["status"]) == {"ok"}
    cells = iter(results.cells.to_dict("records"))
    data = elmbench.load_dataset("wdbc")
    X = MinMaxScaler().fit_transform(data.X)
    for run in range(2):
        random = np.random.default_rng(integer_seed("split", "wdbc", run))
        for fold, (train, test) in enumerate(bootstraps(569, 2, random)):
            cell = next(cells)
            X_train, y_train = X[train], data.y[train]
            inner_random = np.random.default_rng(inner_seed(run, fold))
            inner = bootstraps(569, 5, inner_random)
            C = best_penalty(X_train, y_train, inner)
            assert json.loads(cell["params"]) == {"C": C}
            assert cell["n_test"] == len(test)
            model = RidgeClassifier(alpha=1 / C).fit(X_train, y_train)
            assert cell["accuracy"] == model.score(X[test], data.y[test])


@pytest.mark.parametrize(
    ("splits", "problem"),
    [
        ('{"two-kfold": ShuffleSplit(2)}', "'two-kfold' (plug.py) has a built-in name"),
        (
            '{"pairs": LeavePOut(2)}',
            sentence(
                "runs.plugin-splits.number-depends-on-rows",
                kind="pairs",
                file="plug.py",
            ),
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


@pytest.mark.parametrize(
    "kind", sorted({*OUTER_KINDS, *INNER_KINDS, *REPEATED_SCHEMES})
)
def test_no_built_in_kind_is_replaced(tmp_path: Path, kind: str) -> None:
    plugin = tmp_path / "plug.py"
    splits = f'SPLITS = {{"{kind}": ShuffleSplit(2)}}\n'
    plugin.write_text(PLUGIN.partition("SPLITS")[0] + splits)
    with pytest.raises(ElmbenchError) as error, loaded_plugins([plugin]):
        pass
    assert "has a built-in name" in error.value.found


def test_a_profile_limits_the_test_rows_of_a_split_with_one_fold(
    tmp_path: Path,
) -> None:
    table = TABLE.replace("{kind: three-parts, runs: 2}", "{kind: one-part}")
    table += "profiles: {paper: {test-rows: 50}}\n"
    plugin = PLUGIN.replace('"three-parts"', '"one-part"').replace("(3,", "(1,")
    results = run_own_table(tmp_path, table, plugin)
    assert results.cells["n_test"].tolist() == [50]
