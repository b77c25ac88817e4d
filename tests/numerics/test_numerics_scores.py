"""Scores of many predictions at once against scikit-learn's, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from elmbench.models.path_search import _LABEL_SCORES, _VALUE_SCORES
from elmbench.numerics import scores


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes", [2, 5])
def test_scores_of_labels(n_classes: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    for n in (1, 7, 130):
        y, predicted = random.integers(n_classes, size=n), random.integers(n_classes, size=(9, n))
        predicted[0], predicted[1] = y, 0
        counts = scores.confusion_counts(y, predicted, n_classes)
        assert counts.shape == (9, n_classes, n_classes)
        for (function, kwargs), formula in _LABEL_SCORES.items():
            expected = [function(y, some, **dict(kwargs)) for some in predicted]
            np.testing.assert_allclose(formula(counts), expected, atol=1e-13, err_msg=function.__name__)


def test_geometric_mean_is_zero_for_a_class_that_is_never_found() -> None:
    counts = np.array([[[3.0, 1.0], [1.0, 3.0]], [[4.0, 0.0], [4.0, 0.0]]])
    np.testing.assert_allclose(scores.geometric_mean(counts), [0.75, 0.0])


def test_scores_of_values(seed: int) -> None:
    random = np.random.default_rng(seed)
    y, predicted = random.normal(size=40), random.normal(size=(6, 40))
    for (function, _), formula in _VALUE_SCORES.items():
        np.testing.assert_allclose(formula(y, predicted), [function(y, some) for some in predicted], rtol=1e-12)
    assert scores.r2(y, y[np.newaxis])[0] == metrics.r2_score(y, y) == 1.0
