"""`evaluate_grid` against one fit a candidate and fold."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import FACTORS, class_of, is_classification, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from path_rule import assert_path_follows_fits, random_folds
from random_examples import examples
from sklearn.model_selection import KFold, StratifiedKFold

SETTINGS = examples(120)

PROBLEMS = st.fixed_dictionaries(
    {
        "n": st.integers(6, 60),
        "d": st.integers(1, 8),
        "seed": st.integers(0, 2**31 - 1),
        "kind": st.sampled_from(["binary", "multi", "one", "regression", "two-targets"]),
        "awkward": st.booleans(),
        "n_folds": st.integers(1, 3),
    }
)


def a_problem(n, d, seed, kind, awkward, n_folds):
    """Return rows, targets and folds."""
    X = rows(n, d, seed, awkward)
    return X, targets(X, seed, kind), random_folds(n, n_folds, np.random.RandomState(seed))


@SETTINGS
@given(
    problem=PROBLEMS,
    pairs=st.lists(st.tuples(FACTORS, FACTORS), min_size=1, max_size=6),
    names=st.sampled_from([("gamma", "C"), ("C",), ("gamma",), ()]),
)
def test_kelm(problem, pairs, names):
    X, y, folds = a_problem(**problem)
    given_all = [dict(zip(("gamma", "C"), pair, strict=True)) for pair in pairs]
    candidates = [{name: pair[name] for name in names} for pair in given_all]
    fixed = {name: value for name, value in {"gamma": 0.125, "C": 2.0**13}.items() if name not in names}
    assert_path_follows_fits(class_of("KELM", problem["kind"]), X, y, folds, candidates, **fixed)


@SETTINGS
@given(
    problem=PROBLEMS,
    pairs=st.lists(st.tuples(st.integers(1, 200), FACTORS), min_size=1, max_size=6),
    names=st.sampled_from([("n_hidden", "C"), ("C",), ("n_hidden",), ()]),
)
def test_elm(problem, pairs, names):
    X, y, folds = a_problem(**problem)
    given_all = [dict(zip(("n_hidden", "C"), pair, strict=True)) for pair in pairs]
    candidates = [{name: pair[name] for name in names} for pair in given_all]
    fixed = {name: value for name, value in {"n_hidden": 70, "C": 2.0**13}.items() if name not in names}
    cls = class_of("ELM", problem["kind"])
    assert_path_follows_fits(cls, X, y, folds, candidates, random_state=problem["seed"] % 7, **fixed)


def test_elm_activations_and_seeds_are_kept_apart():
    X, y, folds = a_problem(40, 3, 0, "regression", False, 2)
    candidates = [
        {"n_hidden": n_hidden, "activation": activation, "random_state": seed}
        for n_hidden in (100, 5)
        for activation in ("tanh", "sigmoid", "relu")
        for seed in (1, 0)
    ]
    assert_path_follows_fits(class_of("ELM", "regression"), X, y, folds, candidates, C=4.0)


@pytest.mark.parametrize("kind", ["multi", "regression"])
def test_elm_slopes_are_kept_apart(kind):
    X, y, folds = a_problem(40, 3, 0, kind, False, 2)
    candidates = [{"n_hidden": n_hidden, "slope": slope} for n_hidden in (90, 5) for slope in (0.25, 1, 1.0, 8.0)]
    assert_path_follows_fits(class_of("ELM", kind), X, y, folds, candidates, C=4.0, random_state=0)


@pytest.mark.parametrize("name", ["KELM", "ELM"])
@pytest.mark.parametrize("kind", ["binary", "multi", "regression"])
def test_whole_grid_of_the_paper(name, kind):
    """More rows than nodes and fewer, down to gamma 2^-8 with C 2^13."""
    X = rows(190, 8, 1)
    y = targets(X, 1, kind)
    folds = list((StratifiedKFold if is_classification(kind) else KFold)(2, shuffle=True, random_state=0).split(X, y))
    factors = [2.0**e for e in (-8, -2, 4, 13)]
    if name == "KELM":
        candidates = [{"C": C, "gamma": gamma} for C in factors for gamma in factors]
        fixed = {}
    else:
        candidates = [{"C": C, "n_hidden": n_hidden} for C in factors for n_hidden in (50, 95, 96, 128, 300)]
        fixed = {"random_state": 3}
    assert_path_follows_fits(class_of(name, kind), X, y, folds, candidates, **fixed)


def test_elm_with_several_row_blocks():
    """1 / C is near the round-off of H'H here."""
    X = rows(7000, 3, 2)
    y = targets(X, 2, "regression")
    folds = [(np.arange(0, 4500), np.arange(4500, 7000))]
    candidates = [{"n_hidden": 90}, {"n_hidden": 130}, {"n_hidden": 64}]
    assert_path_follows_fits(class_of("ELM", "regression"), X, y, folds, candidates, C=2.0**13, random_state=0)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("KELM", {"C": 0.0}), ("KELM", {"gamma": -1.0}), ("ELM", {"n_hidden": 0}), ("ELM", {"slope": 0.0})],
)
def test_bad_candidates(name, bad):
    X, y, folds = a_problem(20, 3, 0, "binary", False, 1)
    with pytest.raises(ValueError, match="parameter of"):
        list(class_of(name, "binary").evaluate_grid(X, y, folds, [{}, bad]))
