"""The test of each model against the best one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from elmbench.layouts.comparison import against_best, runs_needed

SCORES = pd.DataFrame(np.random.default_rng(0).normal([0.0, 1.0, 0.2], size=(10, 3)), columns=list("abc"))


def test_without_shared_rows_it_is_the_paired_test_with_holms_correction() -> None:
    result = against_best(SCORES, 0.0)
    single = {name: float(ttest_rel(SCORES["b"], SCORES[name]).pvalue) for name in "ac"}
    small, large = sorted(single, key=lambda name: single[name])
    assert result["b"] == 1
    assert result[small] == pytest.approx(min(1, 2 * single[small]), rel=1e-12)
    assert result[large] == pytest.approx(max(single[large], result[small]), rel=1e-12)


def test_shared_training_rows_make_differences_less_certain() -> None:
    assert (against_best(SCORES, 1 / 9)[["a", "c"]] > against_best(SCORES, 0.0)[["a", "c"]]).all()


def test_models_that_never_differ_and_too_few_folds() -> None:
    same = SCORES.assign(a=SCORES["b"], c=SCORES["b"] - 1)
    result = against_best(same, 0.25)
    assert result["a"] == 1
    assert result["c"] < 1e-12
    assert against_best(SCORES[:1], 0.25).empty
    assert against_best(SCORES[[]], 0.25).empty


def test_the_runs_that_would_separate_two_models() -> None:
    rng = np.random.default_rng(0)
    apart = np.repeat(rng.normal(size=5), 1)
    apart = (apart - apart.mean()) / apart.std(ddof=1)
    scores = pd.DataFrame({"best": np.zeros(5), "near": apart - 0.2, "far": apart - 1.3, "equal": np.zeros(5)})
    needed = runs_needed(scores, 0.25, folds=5)
    assert needed["near"] is None
    assert needed["equal"] is None
    assert needed["far"] is not None
    # So many runs with the same mean and deviation, and no fewer.
    for runs, separated in ((needed["far"], True), (needed["far"] - 1, False)):
        assert (against_best(scores, 0.25, 5 * runs)["far"] < 0.05) == separated
    assert runs_needed(scores[["best"]], 0.25, folds=5) == {}
    assert runs_needed(scores, 0.25, folds=5, most=1) == dict.fromkeys(needed)
