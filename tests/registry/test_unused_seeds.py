"""Seeds of scikit-learn's models that have no effect."""

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from elmbench.registry.seeds import SEED_RULES, seed_has_effect

ESTIMATORS = {
    type(estimator).__name__: estimator
    for estimator in (
        SVC(),
        NuSVC(),
        LogisticRegression(max_iter=5),
        Ridge(),
        RidgeClassifier(),
        Lasso(),
        ElasticNet(),
        DummyClassifier(),
    )
}


def outputs(estimator: Any, seed: int) -> Any:
    """Fit to small data with a seed, and return the predictions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    estimator.set_params(random_state=seed).fit(X, y)
    decide = getattr(estimator, "decision_function", estimator.predict)
    return decide(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SEED_RULES)
def test_two_seeds_give_the_same_numbers_where_a_rule_says_so(name: str) -> None:
    estimator = ESTIMATORS[name]
    assert not seed_has_effect(estimator)
    np.testing.assert_array_equal(outputs(estimator, 1), outputs(estimator, 2))


@pytest.mark.parametrize("name", SEED_RULES)
def test_a_deciding_value_makes_a_model_random(name: str) -> None:
    rule = SEED_RULES[name]
    estimator = type(ESTIMATORS[name])(**{rule.parameter: rule.values[0]})
    assert seed_has_effect(estimator)
    assert seed_has_effect(ESTIMATORS[name], searched=(rule.parameter,))


def test_the_seed_of_a_step_counts() -> None:
    pipeline = make_pipeline(StandardScaler(), SVC())
    assert not seed_has_effect(pipeline)
    assert seed_has_effect(pipeline, searched=("svc__probability",))
    assert seed_has_effect(make_pipeline(StandardScaler(), DecisionTreeClassifier()))


def test_a_class_of_the_same_name_from_elsewhere_counts_as_random() -> None:
    own = type("SVC", (SVC,), {"__module__": "my_models"})
    assert seed_has_effect(own())
