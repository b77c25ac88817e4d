"""`evaluate_grid` of the models of Czarnecki & Tabor against one fit a candidate and fold."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import rows, sparse_rows, targets
from hypothesis import given
from hypothesis import strategies as st
from path_rule import assert_path_follows_fits, assert_projections_follow_fits, random_folds
from random_examples import examples

from elmbench.models import EEMClassifier, WELMClassifier
from elmbench.numerics.entropy import covariance

SETTINGS = examples(110)

PROBLEMS = st.fixed_dictionaries(
    {
        "n": st.integers(6, 70),
        "d": st.integers(1, 8),
        "seed": st.integers(0, 2**31 - 1),
        "kind": st.sampled_from(["binary", "binary", "multi", "one"]),
        "awkward": st.booleans(),
        "n_folds": st.integers(1, 3),
        "sparse": st.booleans(),
    }
)
ACTIVATIONS = st.sampled_from(["sigmoid", "nsig", "rbf"])
SIZES = st.lists(st.sampled_from([1, 2, 5, 20, 50, 64, 65, 100, 130]), min_size=1, max_size=5)
GAMMAS = st.integers(-10, 1).map(lambda e: 10.0**e)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Small problems have classes of one row, and means that coincide."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def a_problem(n, d, seed, kind, awkward, n_folds, sparse=False):
    """Return rows, targets and folds."""
    X = rows(n, d, seed, awkward)
    y = targets(X, seed, kind)
    X = sp.csr_matrix(sparse_rows(X, seed)) if sparse else X
    return X, y, random_folds(n, n_folds, np.random.RandomState(seed))


@SETTINGS
@given(problem=PROBLEMS, sizes=SIZES, activation=ACTIVATIONS)
def test_w_elm(problem, sizes, activation):
    X, y, folds = a_problem(**problem)
    candidates = [{"n_hidden": size} for size in sizes]
    fixed = {"activation": activation, "random_state": problem["seed"] % 7}
    assert_path_follows_fits(WELMClassifier, X, y, folds, candidates, **fixed)
    assert_projections_follow_fits(WELMClassifier, X, y, folds, candidates, **fixed)


@SETTINGS
@given(problem=PROBLEMS, sizes=SIZES, activation=ACTIVATIONS)
def test_eem(problem, sizes, activation):
    X, y, folds = a_problem(**problem)
    candidates = [{"n_hidden": size} for size in sizes]
    fixed = {"activation": activation, "random_state": problem["seed"] % 7}
    assert_path_follows_fits(EEMClassifier, X, y, folds, candidates, **fixed)
    assert_projections_follow_fits(EEMClassifier, X, y, folds, candidates, **fixed)


@pytest.mark.parametrize("held", [0, 2**18, 2**28])
@pytest.mark.parametrize("cls", [WELMClassifier, EEMClassifier])
def test_several_row_blocks_and_what_is_not_held(cls, held, monkeypatch):
    """More rows than a block has, with features that are kept, or computed twice."""
    monkeypatch.setattr(covariance, "HELD_BYTES", held)
    X = rows(5200, 3, 2)
    y = targets(X, 2, "binary")
    folds = [(np.arange(0, 5000), np.arange(5000, 5200)), (np.arange(100, 5200), np.arange(100))]
    candidates = [{"n_hidden": h} for h in (130, 64, 10)]
    assert_path_follows_fits(cls, X, y, folds, candidates, random_state=0)


def test_priors_costs_kinds_of_nodes_and_seeds_are_kept_apart():
    X, y, folds = a_problem(60, 3, 0, "binary", False, 2)
    candidates = [
        {"n_hidden": number, "random_state": seed, **weights, "activation": activation}
        for number in (30, 5)
        for seed in (1, 0)
        for weights in ({}, {"priors": [1, 9]}, {"costs": {-1: 5, 1: 1}})
        for activation in ("nsig", "rbf")
    ]
    assert_path_follows_fits(EEMClassifier, X, y, folds, candidates)


@pytest.mark.parametrize("activation", ["sigmoid", "nsig", "rbf"])
@pytest.mark.parametrize("cls", [WELMClassifier, EEMClassifier])
def test_whole_grid_of_the_paper(cls, activation):
    """Nodes up to more than there are rows, at which WELM's weights are all round-off."""
    X = rows(300, 5, 1)
    y = targets(X, 1, "binary")
    folds = [(np.arange(0, 270), np.arange(270, 300)), (np.arange(30, 300), np.arange(30))]
    candidates = [{"n_hidden": h} for h in (50, 100, 250, 500, 1000)]
    assert_path_follows_fits(cls, X, y, folds, candidates, activation=activation, random_state=0)
