"""A grid search that evaluates the whole grid at once where the estimator offers it."""

from collections.abc import Iterator
from dataclasses import replace
from numbers import Number
from typing import Any, Self

import numpy as np
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import _num_samples

from elmbench.models.base.served import Paths, RowScorer, Served, candidate_key
from elmbench.models.base.singular import warned_once


class PathSearchCV(GridSearchCV):
    """scikit-learn's `GridSearchCV`, with the path of an estimator that has one in the place of one fit a candidate.

    It takes the parameters of `GridSearchCV`, has its attributes and makes its choice. An estimator of this package,
    or a pipeline that ends with one, evaluates its candidates from shared work, see `GridPath`: one distance matrix
    for all `gamma`, one factorisation for all `C`. Scores differ from those of `GridSearchCV` by no more than the
    round-off of the solutions. Other estimators are cloned and fitted, one candidate a fold. So is everything where the
    estimator draws from a `RandomState`, where `fit` is given more than rows, targets and groups, or where `X` is a
    kernel matrix (``kernel="precomputed"``), of which columns are cut as rows are.

    Parameters
    ----------
    estimator : estimator
    param_grid : dict or list of dict
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in `GridSearchCV`. A path is run in this process, whatever `n_jobs` is.

    Attributes
    ----------
    cv_results_ : dict
        `mean_fit_time` of a candidate on a path is its share: what is computed for several counts for the first.
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_
        As in `GridSearchCV`.

    Notes
    -----
    A path yields predictions: labels, or values. Where the scorer asks for more, such as the probabilities of
    "log_loss" or the decision function of "roc_auc", every candidate is fitted, which takes as long as `GridSearchCV`.
    Then search by a score of labels ("accuracy", "matthews_corrcoef") and look at others of the refitted model. What is
    left of the time beside the path is scikit-learn's own for each candidate and fold: some hundred microseconds with
    the estimator's own score, milliseconds with a scorer by name.

    An estimator whose `random_state` is None has one stream for the whole grid, not one a candidate. A sub-class that
    changes what `fit` or `predict` of an estimator do has to change its path too. The predictions of all candidates
    are kept until they are scored. That systems are singular is warned of once a search.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from elmbench import PathSearchCV
    >>> from elmbench.models import KELMClassifier
    >>> grid = {"kelmclassifier__C": [1, 10, 100], "kelmclassifier__gamma": [0.1, 1, 10]}
    >>> search = PathSearchCV(make_pipeline(MinMaxScaler(), KELMClassifier()), grid)
    >>> search.fit(*load_iris(return_X_y=True)).best_params_
    {'kelmclassifier__C': 1, 'kelmclassifier__gamma': 1}
    """

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        own = get_tags(self.estimator).target_tags
        tags.target_tags = replace(own, required=tags.target_tags.required)
        return tags

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search, and fit the best candidate to all rows.

        Parameters
        ----------
        X, y : array-likes of shape (n_samples, n_features) and (n_samples,) or (n_samples, n_targets)
        **params
            `groups` for the splitter; anything else as in `GridSearchCV`.
        """
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._validate_params()
        paths = self._paths(X, y, params)
        if not paths:
            with warned_once():
                super().fit(X, y, **params)
            return self
        named = {name: value for name, value in self.get_params(deep=False).items() if name not in ("n_jobs", "cv")}
        served = Served(self.estimator, paths)
        splits = paths.folds[: len(paths.folds) // 2] if self.return_train_score else paths.folds
        own = {"estimator": served, "scoring": _on_rows(self.scoring), "cv": splits}
        with warned_once():
            search = GridSearchCV(**named | own).fit(np.arange(_num_samples(X))[:, np.newaxis], y)
        self._take_over(search, paths)
        return self

    def _paths(self, X: Any, y: Any, params: dict[str, Any]) -> Paths | None:
        """Return the paths over the grid; None, or no path, where every candidate has to be fitted."""
        groups = params.get("groups")
        plain = {name for name, value in params.items() if value is not None} <= {"groups"}
        routed = bool(params) and sklearn.get_config()["enable_metadata_routing"]
        if y is None or not plain or routed or self._takes_pairs():
            return None
        self._get_scorers()  # refuses what cannot be a scorer
        X, y = indexable(X, y)
        candidates = list(ParameterGrid(self.param_grid))
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        folds = [_numbers(fold, _num_samples(X)) for fold in _splits(cv, X, y, groups)]
        return Paths(self.estimator, X, y, folds, candidates, self.return_train_score)

    def _takes_pairs(self) -> bool:
        """Tell whether a candidate takes a kernel or distances between rows, whose columns are cut as its rows are."""
        if get_tags(self.estimator).input_tags.pairwise:
            return True
        # Numbers do not decide it, and a grid may have thousands of them.
        kinds = [
            {name: value for name, value in params.items() if not isinstance(value, Number)}
            for params in ParameterGrid(self.param_grid)
        ]
        kinds = list({candidate_key(params): params for params in kinds if params}.values())
        models = (clone(self.estimator).set_params(**clone(params, safe=False)) for params in kinds)
        return any(get_tags(model).input_tags.pairwise for model in models)

    def _take_over(self, search: GridSearchCV, paths: Paths) -> None:
        """Take the attributes of a search on row numbers, with the times of the paths."""
        for name, value in vars(search).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)
        scorers, _ = self._get_scorers()
        self.scorer_ = getattr(scorers, "_scorers", scorers)
        if hasattr(search, "best_estimator_"):
            self.best_estimator_ = search.best_estimator_.fitted()
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        seconds = paths.seconds()
        known = ~np.isnan(seconds).any(axis=1)
        for name, times in (("mean_fit_time", seconds.mean(axis=1)), ("std_fit_time", seconds.std(axis=1))):
            self.cv_results_[name] = np.where(known, times, self.cv_results_[name])


def _splits(cv: Any, X: Any, y: Any, groups: Any) -> Iterator[tuple[Any, Any]]:
    yield from cv.split(X, y) if groups is None else cv.split(X, y, groups=groups)


def _numbers(fold: tuple[Any, Any], n: int) -> tuple[Any, Any]:
    """Return the row numbers of a fold, which a user's splitter may give as masks or negative numbers."""
    train, test = (np.arange(n)[np.asarray(part)] for part in fold)
    return train, test


def _on_rows(scoring: Any) -> Any:
    """Return scorers that are called with rows, not with their numbers; names stay names."""
    if isinstance(scoring, dict):
        return {name: _on_rows(scorer) for name, scorer in scoring.items()}
    return RowScorer(scoring) if callable(scoring) else scoring
