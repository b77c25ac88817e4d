"""Searches by GridSearchCV and PathSearchCV, side by side."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from elmbench import PathSearchCV
from elmbench.models import KELMClassifier

SEARCHES = GridSearchCV, PathSearchCV
GRID = {"C": [0.5, 8.0, 128.0], "gamma": [0.25, 2.0]}
KERNEL = {f"kelmclassifier__{name}": values for name, values in GRID.items()}
#: A model with these candidates.
KERNEL_MODEL = make_pipeline(MinMaxScaler(), KELMClassifier())


def rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return 150 rows of a data set of scikit-learn in a random order, and their targets."""
    loaders = {
        "iris": load_iris,
        "wine": load_wine,
        "wdbc": load_breast_cancer,
        "diabetes": load_diabetes,
    }
    X, y = loaders[name](return_X_y=True)
    keep = np.random.RandomState(0).permutation(len(y))[:150]
    return X[keep], y[keep] / 100 if name == "diabetes" else y[keep]


def both(
    estimator: Any,
    grid: Any,
    X: Any,
    y: Any,
    fit: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Return both searches over one grid, fitted to the same rows."""
    return [
        search(clone(estimator), grid, **options).fit(X, y, **(fit or {}))
        for search in SEARCHES
    ]


def assert_same(plain: Any, by_path: Any) -> None:
    """Assert that the searches have the same choice, attributes and scores."""
    assert by_path.best_index_ == plain.best_index_
    assert set(vars(by_path)) - {"_checked_cv_orig"} == set(vars(plain)) - {
        "_checked_cv_orig"
    }
    assert by_path.n_splits_ == plain.n_splits_
    assert list(by_path.cv_results_) == list(plain.cv_results_)
    for name, values in plain.cv_results_.items():
        if "_time" in name:
            assert (np.asarray(by_path.cv_results_[name]) >= 0).all()
        elif name == "params" or name.startswith("param_"):
            assert str(list(by_path.cv_results_[name])) == str(list(values))
        elif "rank" not in name:
            np.testing.assert_allclose(
                by_path.cv_results_[name], values, rtol=0, atol=1e-9, err_msg=name
            )
