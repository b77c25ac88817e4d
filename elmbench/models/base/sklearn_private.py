"""The private names of scikit-learn that elmbench uses, each with its reason.

scikit-learn may change them without notice, so no other module imports one, and a test fails when
one disappears. Names that take long to import are imported by the function that needs them.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_sample_weight, _num_samples

__all__ = [
    "INHERITED",
    "Interval",
    "ScorerParts",
    "StrOptions",
    "callbacks_of_fit",
    "check_sample_weight",
    "fit_context",
    "has_callbacks",
    "is_score_method",
    "new_sigmoid",
    "num_samples",
    "positive_label",
    "response_methods",
    "safe_indexing",
    "score_predictions",
    "scorer_parts",
    "scorers_by_name",
    "validate_parameter_constraints",
]

#: Validates parameters before a fit and skips that inside of nested fits; estimators of other
#: packages have no public way to do the same.
fit_context = _fit_context

#: Selects rows of arrays, lists, frames and sparse matrices in the same way as `GridSearchCV`.
safe_indexing = _safe_indexing

#: Counts the rows of anything that has rows, with the errors of `GridSearchCV`.
num_samples = _num_samples

#: Checks the weights of rows, with the errors that `check_estimator` expects.
check_sample_weight = _check_sample_weight

# `Interval`, `StrOptions` and `validate_parameter_constraints` state and check parameters, with
# messages that are the same as for scikit-learn's own estimators.

#: Private methods and attributes that our subclasses inherit, by class, with the reason for each.
INHERITED: Mapping[str, Mapping[str, str]] = {
    "sklearn.base.BaseEstimator": {
        "_validate_params": "a path has the errors of `fit` for parameters out of range",
    },
    "sklearn.base.ClassNamePrefixFeaturesOutMixin": {
        "get_feature_names_out": "reads the attribute `_n_features_out` that we set",
    },
    "sklearn.svm.SVC": {"_parameter_constraints": "our SVM accepts fewer values of C"},
    "sklearn.svm.SVR": {"_parameter_constraints": "our SVM accepts fewer values of C"},
    "sklearn.model_selection.GridSearchCV": {
        "_get_scorers": "scorers are the same as in `GridSearchCV`",
        "_get_routed_params_for_fit": "`groups` reach the splitter",
        "_format_results": "`cv_results_` has the same columns",
        "_select_best_index": "`refit` selects the same candidate",
        "_init_callback_context": "callbacks of a search are called for each candidate",
    },
}


class ScorerParts(NamedTuple):
    """The parts of a scorer, which has no public attributes.

    Attributes
    ----------
    function : callable
        The metric, a function of the true and the predicted values.
    sign : int
        -1 for a loss, otherwise 1.
    options : dict
        Keyword arguments of the metric.
    """

    function: Callable[..., Any]
    sign: int
    options: dict[str, Any]


def scorer_parts(scorer: Any) -> ScorerParts:
    """Return the metric, the sign and the options of a scorer, to score predictions without a
    model.
    """
    return ScorerParts(
        function=scorer._score_func, sign=scorer._sign, options=scorer._kwargs
    )


def scorers_by_name(scorer: Any) -> Any:
    """Return {name: scorer} for a scorer of several metrics, or else the scorer itself."""
    return getattr(scorer, "_scorers", scorer)


def is_score_method(scorer: Any) -> bool:
    """Return True for scikit-learn's scorer that only calls the method `score` of a model, as in a
    search without `scoring`.
    """
    return type(scorer).__name__ == "_PassthroughScorer"


def response_methods(scorer: Any) -> tuple[str, ...]:
    """Return the names of the methods of a model that a scorer tries in turn, such as ("predict",);
    () if they are unknown.
    """
    methods = getattr(scorer, "_response_method", None) or ()
    return (methods,) if isinstance(methods, str) else tuple(methods)


def positive_label(scorer: Any) -> Any:
    """Return the label that a scorer takes as positive; None if it is not set, so that the last of
    the sorted labels counts.
    """
    return scorer._get_pos_label()


def score_predictions(model: Any, X: Any, y: Any, scorer: Any, error_score: Any) -> Any:
    """Return the score of a fitted model for rows `X` and targets `y`, as in `GridSearchCV`.

    The score is a number, or {name: number} for a scorer of several metrics; a ValueError is raised
    for anything else. `error_score`: the number if the scorer fails, with a warning; "raise" raises
    the error.
    """
    from sklearn.model_selection._validation import _score

    return _score(model, X, y, scorer, score_params=None, error_score=error_score)


def callbacks_of_fit(search: Any) -> AbstractContextManager[Any]:
    """Return the context manager in which a fit of a search calls its callbacks."""
    from sklearn.callback._callback_support import callback_management_context

    context: AbstractContextManager[Any] = callback_management_context(search)
    return context


def has_callbacks(search: Any) -> bool:
    """Return True if callbacks of scikit-learn are set on a search."""
    return bool(getattr(search, "_skl_callbacks", ()))


def new_sigmoid() -> Any:
    """Return an unfitted sigmoid of Platt: `fit(scores, is_positive, weights)`, and
    `predict(scores)`, which returns probabilities; all of shape (n,).

    scikit-learn's public class calibrates only whole models.
    """
    from sklearn.calibration import _SigmoidCalibration

    return _SigmoidCalibration()
