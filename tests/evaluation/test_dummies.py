"""The comparison of models with the dummy."""

import math

from made_cells import Toy

from elmbench.evaluation.score_comparison import not_above_dummy


def test_a_dummy_without_a_mean_does_not_count(toy: Toy) -> None:
    models = {
        "first": {"model": "dummy"},
        "second": {"model": "dummy"},
        "ELM": {"model": "elm"},
        "SVM": {"model": "svm"},
    }
    resolved = toy(models=models)
    means = {"first": math.nan, "second": 0.5, "ELM": 0.4, "SVM": 0.6}
    assert not_above_dummy(means, resolved) == ["ELM"]
    means["first"] = 0.7
    assert not_above_dummy(means, resolved) == ["ELM", "SVM"]
    means |= {"first": math.nan, "second": math.nan}
    assert not_above_dummy(means, resolved) == []
