"""Grid search with shared work for a whole grid."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import (
    ClassifierMixin,
    RegressorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.exceptions import EfficiencyWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import Tags, get_tags, indexable

from elmbench.models.base.sklearn_private import (
    callbacks_of_fit,
    fit_context,
    is_score_method,
    num_samples,
    positive_label,
    response_methods,
    safe_indexing,
    score_predictions,
    scorers_by_name,
)
from elmbench.models.candidate_problem import CandidateProblem
from elmbench.models.path_callbacks import SearchTasks
from elmbench.models.path_grids import (
    PathGrid,
    all_outputs,
    path_grids,
    split_last_step,
)
from elmbench.models.path_scores import PathScorer, metric_of_scorer, path_results
from elmbench.models.protocols import Folds
from elmbench.numerics.arrays import Indices
from elmbench.numerics.threads import threads_for

TIED = 1e-8  # share of the best score within which others count as equal, see `_settle_ties`


@dataclass(frozen=True)
class _PathPlan:
    """A search that paths can do."""

    candidates: list[dict[str, Any]]
    grids: list[PathGrid]
    #: The scorers of scikit-learn: one, or several by name.
    scorers: Any
    is_multimetric: bool
    path_scorers: dict[str, PathScorer]
    #: The name of the score that selects.
    refit_metric: str

    @property
    def method(self) -> str:
        """The path whose outputs serve all scorers: "decision_grid" if a scorer takes decision
        values, from which labels follow, else "evaluate_grid".
        """
        methods = {scorer.method for scorer in self.path_scorers.values()}
        return "decision_grid" if "decision_grid" in methods else "evaluate_grid"


@dataclass(frozen=True)
class _EvaluatedPaths:
    """The results of all candidates on all folds."""

    folds: Folds
    #: As scikit-learn's `_fit_and_score` returns them.
    results: list[dict[str, Any]]
    tasks: SearchTasks


class PathSearchCV(GridSearchCV):
    """Grid search like scikit-learn's `GridSearchCV`, with shared work instead of one fit for each
    candidate.

    An estimator of this package, or a pipeline that ends with one, predicts the test rows for all
    candidates at once: one distance matrix serves all `gamma`, one factorisation all `C`, see
    `GridPath`. Parameters and attributes are those of `GridSearchCV`; scores agree to the round-off
    of the solutions. So does the choice: of values whose scores differ by round-off only, fits
    decide; labels that round-off may change are those of a fit. Scores of labels are equal for
    equally good candidates, and the first one is taken. Beyond the bounds of `GridPath`, at a
    condition of 1e9 or more, another candidate may be chosen, which is equally good within these
    bounds.

    Every candidate is cloned and fitted, as in `GridSearchCV`, if

    - one of them has no path, or a precomputed kernel, or draws from a `RandomState`;
    - `fit` receives more than rows, targets and groups, or scores of training rows are requested;
    - the training rows of a fold are of one class;
    - a scorer needs more than predictions or the decision values of two classes, such as
      "neg_log_loss" or a function of the estimator. An `EfficiencyWarning` says so.

    Parameters
    ----------
    estimator : estimator
    param_grid : dict or list of dict
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in `GridSearchCV`. A path runs in this process, prints nothing, and ignores `n_jobs`.
        Callbacks of `set_callbacks`, such as `sklearn.callback.ProgressBar`, are called for each
        candidate and fold as soon as the path has evaluated it.

    Attributes
    ----------
    cv_results_ : dict
        `mean_fit_time` of a candidate on a path is its share: work for several candidates counts
        for the first.
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_,
    multimetric_
        As in `GridSearchCV`.

    Notes
    -----
    Scores that `elmbench.metrics.REGISTRY` has, such as "matthews_corrcoef", "f1" or "roc_auc", are
    computed for all candidates at once, without the warnings of scikit-learn's functions. Other
    scorers are called once for each candidate and fold.

    An estimator whose `random_state` is None has one random stream for the whole grid. A sub-class
    that changes `fit` or `predict` of an estimator has to change its path too.

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

    cv: Any

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        target_tags = get_tags(self.estimator).target_tags
        tags.target_tags = replace(target_tags, required=tags.target_tags.required)
        return tags

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search the grid and, unless `refit` is False, fit the best candidate to all rows.

        Attributes of an earlier fit are deleted first.

        Parameters
        ----------
        X, y : array-likes of shape (n_samples, n_features) and (n_samples,) or (n_samples,
        n_targets)
        **params
            `groups` for the splitter; anything else as in `GridSearchCV`.
        """
        for name in _fitted_attributes(self):
            delattr(self, name)
        cv = self.cv
        try:
            with threads_for(X):
                with callbacks_of_fit(self):
                    is_fitted = self._fit_by_path(X, y, params)
                if not is_fitted:
                    super().fit(X, y, **({} if self.cv is not cv else params))
        finally:
            self.cv = cv
        return self

    def _fit_by_path(self, X: Any, y: Any, params: dict[str, Any]) -> bool:
        """Search by the paths of the candidates, and set all attributes of a fitted search; return
        False if that is not possible.

        `params`: {name: value} of the further arguments of `fit`; a value of None counts as
        missing. If it returns False, `cv` may have become the list of its folds, which some
        splitters yield only once; then it contains the effect of `groups`.
        """
        options = {name: value for name, value in params.items() if value is not None}
        plan = self._plan_paths(y, options)
        if plan is None:
            return False
        X, y = indexable(X, y)
        self._split_once(X, y, options)
        evaluated = self._evaluate_paths(X, y, plan)
        if evaluated is None:
            return False
        self._choose(X, y, plan, evaluated)
        if self.refit:
            self._refit(X, y, evaluated.tasks)
        evaluated.tasks.end()
        return True

    def _plan_paths(self, y: Any, options: dict[str, Any]) -> _PathPlan | None:
        """Return the grids and scorers of a search by paths; None if every candidate must be
        fitted.

        They must if there is no `y`, if a candidate or a scorer has no path, if `options`, {name:
        value} of the further arguments of `fit` that are not None, have more than "groups", or if
        scores of training rows are requested.
        """
        if y is None or options.keys() - {"groups"} or self.return_train_score:
            return None
        candidates = list(ParameterGrid(self.param_grid))
        grids = path_grids(self.estimator, candidates)
        if not grids:
            return None
        scorer, refit_metric = self._get_scorers()
        scorers = scorers_by_name(scorer)
        is_multimetric = isinstance(scorers, dict)
        named_scorers = scorers if is_multimetric else {"": scorers}
        path_scorers = self._select_scorers(named_scorers, grids, y)
        if not path_scorers:
            return None
        return _PathPlan(
            candidates=candidates,
            grids=grids,
            scorers=scorers,
            is_multimetric=is_multimetric,
            path_scorers=path_scorers,
            refit_metric=refit_metric,
        )

    def _split_once(self, X: Any, y: Any, options: dict[str, Any]) -> None:
        """Set `n_splits_`, and replace the attribute `cv` by the list of its folds.

        `options`: {name: value} of further arguments of `fit`, of which the splitter may take
        "groups".
        """
        routed = self._get_routed_params_for_fit(options)
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = cv.get_n_splits(X, y, **routed.splitter.split)
        self.cv = list(cv.split(X, y, **routed.splitter.split))

    def _evaluate_paths(
        self, X: Any, y: Any, plan: _PathPlan
    ) -> _EvaluatedPaths | None:
        """Return the results of all candidates on all folds; None if separate fits are needed.

        They are needed if a path fails, as they then raise or score the error, or if the training
        rows of a fold are of one class. A failure that is neither a ValueError nor a TypeError
        leads to an EfficiencyWarning. The attribute `cv` must be a list of folds.
        """
        try:
            # A splitter may yield masks or negative numbers.
            numbers = np.arange(num_samples(X))
            folds = [
                (numbers[np.asarray(train)], numbers[np.asarray(test)])
                for train, test in self.cv
            ]
            # Scorers take the only class of a model in ways of their own.
            if is_classifier(self.estimator) and _has_single_class(y, folds):
                return None
            n_evaluations = len(plan.candidates) * len(folds)
            tasks = SearchTasks(self, X, y, n_evaluations=n_evaluations)
            outputs, fit_times = all_outputs(
                X,
                y,
                folds,
                plan.grids,
                tasks,
                n_candidates=len(plan.candidates),
                method=plan.method,
            )
        except Exception as error:  # noqa: BLE001 - fits raise it again, or score it, candidate by candidate
            if not isinstance(error, ValueError | TypeError):  # those of input
                message = (
                    f"PathSearchCV fits every candidate, as its path failed: {error!r}"
                )
                warnings.warn(message, EfficiencyWarning, stacklevel=5)
            return None
        results = path_results(
            y,
            folds,
            method=plan.method,
            outputs=outputs,
            fit_times=fit_times,
            scorers=plan.path_scorers,
            error_score=self.error_score,
        )
        return _EvaluatedPaths(folds=folds, results=results, tasks=tasks)

    def _choose(
        self, X: Any, y: Any, plan: _PathPlan, evaluated: _EvaluatedPaths
    ) -> None:
        """Set the attributes of the results and of the best candidate, as `GridSearchCV` does.

        These are `cv_results_`, `scorer_` and `multimetric_`; with one metric or with `refit`, also
        `best_index_`, `best_params_` and, unless `refit` is a function, `best_score_`. If a score
        selects a regressor for `refit`, fits first settle ties in `evaluated.results`.
        """
        has_best_score = self.refit is not False and not callable(self.refit)
        if is_regressor(self.estimator) and has_best_score:
            metric = plan.refit_metric if plan.is_multimetric else ""
            self._settle_ties(
                X, y, evaluated.folds, plan.grids, out=evaluated.results, metric=metric
            )
        self.multimetric_ = plan.is_multimetric
        self.scorer_ = plan.scorers
        results = self._format_results(
            plan.candidates, len(evaluated.folds), evaluated.results
        )
        self.cv_results_ = results
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(
                self.refit, plan.refit_metric, results
            )
            self.best_params_ = results["params"][self.best_index_]
            if not callable(self.refit):
                means = results[f"mean_test_{plan.refit_metric}"]
                self.best_score_ = means[self.best_index_]

    def _refit(self, X: Any, y: Any, tasks: SearchTasks) -> None:
        """Fit the best candidate, by `best_params_`, to all rows; set `best_estimator_`,
        `refit_time_` in seconds and, if the candidate has it, `feature_names_in_`.

        `tasks`: report this fit to the callbacks.
        """
        best = self._make_candidate(**self.best_params_)
        started = time.time()
        with tasks.refit(best):
            self.best_estimator_ = best.fit(X, y)
        self.refit_time_ = time.time() - started
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_

    def _settle_ties(
        self,
        X: Any,
        y: Any,
        folds: Folds,
        grids: list[PathGrid],
        out: list[dict[str, Any]],
        metric: str,
    ) -> None:
        """Replace the scores of the candidates that are best within round-off by those of fits, in
        `out`.

        `out`: results of `path_results`, by candidate, then by fold, whose "test_scores" are
        replaced. `folds`: pairs of training and test row numbers. `grids`: all grids of the search.
        `metric`: the name of the score that selects; empty if there is only one. Nothing changes if
        a single candidate is best, or if candidates draw random numbers without a seed, since their
        scores cannot be repeated. Scores of fits that fail stay as they are, with a warning; if all
        tied candidates fail, the first error is raised.
        """
        # Equally good values have no equal scores, unlike labels: round-off decides which one
        # `GridSearchCV` takes.
        n_folds = len(folds)
        tied = _tied_candidates(out, n_folds, metric)
        draws = any(grid.params.get("random_state", 0) is None for grid in grids)
        if len(tied) < 2 or draws:
            return
        candidates = list(ParameterGrid(self.param_grid))
        scorers, _ = self._get_scorers()
        problem = CandidateProblem(
            factory=self._make_candidate,
            X=X,
            y=y,
            folds=folds,
            candidates=[candidates[number] for number in tied],
            fixed={},
            take=safe_indexing,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)
            for evaluated in problem.evaluate_by_fits(_fitted_model):
                number = tied[evaluated.candidate]
                _, test = folds[evaluated.fold]
                result = out[number * n_folds + evaluated.fold]
                result["test_scores"] = score_predictions(
                    evaluated.outputs,
                    safe_indexing(X, test),
                    safe_indexing(y, test),
                    scorer=scorers,
                    error_score=self.error_score,
                )

    def _make_candidate(self, **params: Any) -> Any:
        """Return a clone of the estimator of the search with clones of these parameters, which are
        those of a candidate.
        """
        values = clone(params, safe=False)
        return clone(self.estimator).set_params(**values)

    def _select_scorers(
        self, scorers: dict[str, Any], grids: list[PathGrid], y: Any
    ) -> dict[str, PathScorer]:
        """Return {name: `PathScorer`} for all scorers; empty, with a warning, if one takes
        something that no path yields.

        `scorers`: {name: scorer of scikit-learn}, the empty name for a single one. `grids`: those
        of the search; decision values count only if the models of all have a path of them. `y`: the
        targets, whose classes count.
        """
        _, model = split_last_step(self.estimator)
        labels = np.asarray(y)
        classes = labels[:0]
        if is_classifier(self.estimator) and labels.ndim == 1:
            classes = np.unique(labels)
        has_decisions = all(hasattr(grid.model, "decision_grid") for grid in grids)
        result = {}
        for name, scorer in scorers.items():
            public_scorer = _public_scorer(scorer, model)
            method = _path_method(public_scorer, classes, has_decisions)
            if not method:
                message = (
                    "PathSearchCV fits every candidate, as GridSearchCV does, to compute "
                    f"{scorer}"
                )
                warnings.warn(message, EfficiencyWarning, stacklevel=6)
                return {}
            result[name] = PathScorer(
                scorer=public_scorer,
                method=method,
                metric=metric_of_scorer(public_scorer),
            )
        return result


def _public_scorer(scorer: Any, model: Any) -> Any:
    """Return a scorer itself, unless it calls the method `score` of the model; then, return the
    public scorer that computes the same.

    That is "accuracy" for classifiers and "r2" for regressors; None if the model has a `score` of
    its own. `model`: the last step of the estimator.
    """
    if not is_score_method(scorer):
        return scorer
    names = {ClassifierMixin.score: "accuracy", RegressorMixin.score: "r2"}
    name = names.get(type(model).score)
    return get_scorer(name) if name else None


def _path_method(scorer: Any, classes: NDArray[Any], has_decisions: bool) -> str:
    """Return the name of the path whose outputs a scorer takes, "evaluate_grid" or "decision_grid";
    "" if there is none.

    `scorer`: None has no path. `classes`: the sorted labels of a classifier, empty for a regressor
    or for targets of several columns. `has_decisions`: the models of the search have a path of
    decision values, which a scorer takes if there are two classes, the second of them positive. A
    scorer of labels has a path unless its positive label is neither of two classes; one of
    probabilities has none.
    """
    methods = response_methods(scorer)
    is_binary = len(classes) == 2
    if methods == ("predict",):
        takes_labels = not is_binary or positive_label(scorer) in (None, *classes)
        return "evaluate_grid" if takes_labels else ""
    if is_binary and has_decisions and methods[:1] == ("decision_function",):
        is_positive_last = positive_label(scorer) in (None, classes[1])
        return "decision_grid" if is_positive_last else ""
    return ""


def _fitted_attributes(search: PathSearchCV) -> list[str]:
    """Return the names of the attributes that an earlier fit has set: those that end with "_", but
    do not begin with it.
    """
    return [
        name for name in vars(search) if name.endswith("_") and not name.startswith("_")
    ]


def _fitted_model(model: Any, _: Any) -> Any:
    """Return a fitted model itself in place of its outputs, for scorers that take a model.

    The second argument stands for the test rows.
    """
    return model


def _tied_candidates(
    results: list[dict[str, Any]], n_folds: int, metric: str
) -> Indices:
    """Return the numbers of the candidates whose mean score is the best one within `TIED`.

    `results`: those of `path_results`, by candidate, then by fold (`n_folds` for each). `TIED` is a
    share of the best score. Higher scores are better; a mean of NaN is not the best, so none is if
    all are NaN. `metric`: the name of the score that selects; empty if there is only one.
    """
    scores = []
    for result in results:
        test_scores = result["test_scores"]
        scores.append(test_scores[metric] if metric else test_scores)
    by_candidate = np.array(scores, dtype=np.float64).reshape(-1, n_folds)
    means = by_candidate.mean(axis=1)
    best = np.nanmax(means, initial=-np.inf)
    is_tied = means >= best - TIED * abs(best)
    return np.flatnonzero(is_tied)


def _has_single_class(y: Any, folds: Folds) -> bool:
    """Return True if, in at least one fold, all training rows have the same label in `y`."""
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    return not all(np.ptp(codes[train]) for train, _ in folds)
