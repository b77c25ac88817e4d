"""Outputs of paths in the place of fitted models, for a search that clones, fits and scores one candidate a fold.

`Paths` holds a search problem: rows, folds and candidates, and what the paths yield for them. `Served` stands for an
estimator in that search; it is given row numbers for rows, so it knows the fold that it is in.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from types import FunctionType
from typing import Any, Self

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, _safe_indexing, check_random_state, check_X_y, get_tags
from sklearn.utils.validation import _num_samples

from elmbench.models.protocols import Folds, GridPath
from elmbench.numerics.arrays import Indices

#: What a path may raise for parameters or rows that it cannot take: then each candidate is fitted, and says it itself.
_REFUSED = (ValueError, TypeError, ArithmeticError, MemoryError)
#: Types of parameters that are told apart by how they are written.
_PLAIN = (str, int, float, bool, type(None))


def candidate_key(params: Mapping[str, Any]) -> str:
    """Return what tells one candidate from another, the same for a clone of it."""
    if all(type(value) in _PLAIN for value in params.values()):
        return repr(sorted((name, type(value).__name__, value) for name, value in params.items()))
    # A function that was defined within another one has no hash, and is the same object in a clone.
    told = {name: id(value) if isinstance(value, FunctionType) else value for name, value in params.items()}
    return str(joblib.hash(told))


def _accuracy(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the accuracy as scikit-learn's `score` does, which looks at the labels for a millisecond first."""
    return float(np.average(y == predicted))


def _r2(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return R^2 as scikit-learn's `score` does, added up in its order."""
    true, found = y[:, np.newaxis], predicted[:, np.newaxis]
    apart = ((true - found) ** 2).sum(axis=0)
    return float(1 - (apart / ((true - true.mean(axis=0)) ** 2).sum(axis=0))[0])


def _is_plain(y: Any, predicted: Any, numbers: bool) -> bool:
    """Tell whether targets and predictions need none of the checks of scikit-learn's scores."""
    if not (isinstance(y, np.ndarray) and y.ndim == 1 and isinstance(predicted, np.ndarray)):
        return False
    if y.shape != predicted.shape or y.dtype.kind != predicted.dtype.kind or len(y) < 2:
        return False
    if not numbers:
        return y.dtype.kind in "iubU"
    # Targets that do not vary have a score of their own.
    return y.dtype == predicted.dtype == np.float64 and bool(np.isfinite(predicted).all() and np.ptp(y) > 0)


@dataclass
class _Group:
    """Candidates that one path evaluates: they differ in parameters of the last step only.

    Attributes
    ----------
    head : Pipeline or None
        The steps before the last one, not fitted.
    model : estimator
        The last step.
    members : dict of str to dict
        Parameters of the last step, by the key of the candidate.
    wanted : bool
        False once outputs that a path does not yield were asked for, or once the path refused.
    """

    head: Pipeline | None
    model: Any
    members: dict[str, dict[str, Any]] = field(default_factory=dict)
    started: bool = False
    wanted: bool = True


class Paths:
    """The paths over the candidates of a search, run when the first candidate of each is asked for.

    Parameters
    ----------
    estimator : estimator
        With a path of its own, or a pipeline whose last step has one.
    X, y : array-likes
        As the user gave them.
    folds : list of (train, test)
        Row numbers.
    candidates : list of dict
        Parameters as for `set_params` of `estimator`.
    train_scores : bool
        Whether outputs for the training rows are wanted too.
    """

    def __init__(
        self, estimator: Any, X: Any, y: Any, folds: Folds, candidates: list[dict[str, Any]], train_scores: bool
    ) -> None:
        self.X, self.y = X, y
        self.folds = [*folds, *((train, train) for train, _ in folds)] if train_scores else list(folds)
        self._splits = len(folds)
        self._places = {(train.tobytes(), test.tobytes()): j for j, (train, test) in enumerate(self.folds)}
        self._keys = [candidate_key(params) for params in candidates]
        self._groups: dict[str, _Group] = _grouped(estimator, candidates, self._keys)
        self._trained = {train.tobytes() for train, _ in folds}
        self._outputs: dict[tuple[str, int], NDArray[Any]] = {}
        self._seconds: dict[tuple[str, int], float] = {}

    def __len__(self) -> int:
        """Return the number of candidates that a path evaluates."""
        return len(self._groups)

    def rows(self, numbers: Indices) -> Any:
        """Return some rows of X, as the user gave them."""
        if len(numbers) == _num_samples(self.X) and np.array_equal(numbers, np.arange(len(numbers))):
            return self.X
        return _safe_indexing(self.X, numbers)

    def serves(self, key: str, train: Indices) -> bool:
        """Tell whether outputs of a candidate that learns these rows come from a path; run it if it has not run."""
        group = self._groups.get(key)
        if group is None or not group.wanted or train.tobytes() not in self._trained:
            return False
        if not group.started:
            group.started = True
            try:
                self._run(group)
            except _REFUSED:
                group.wanted = False
        return group.wanted

    def outputs(self, key: str, train: Indices, test: Indices) -> NDArray[Any] | None:
        """Return the predictions of a candidate for the test rows of a fold, None where no path yields them."""
        place = self._places.get((train.tobytes(), test.tobytes()))
        return None if place is None else self._outputs.get((key, place))

    def unserved(self, key: str) -> None:
        """Take note that more is asked of a candidate than its path yields: the others of its grid are fitted."""
        if key in self._groups:
            self._groups[key].wanted = False

    def seconds(self) -> NDArray[np.float64]:
        """Return the seconds that the paths took, of shape (n_candidates, n_splits); NaN where there is no path."""
        return np.array([[self._seconds.get((key, j), np.nan) for j in range(self._splits)] for key in self._keys])

    def _run(self, group: _Group) -> None:
        names = {name for params in group.members.values() for name in params}
        # A path draws once for all candidates.
        seed = {"random_state": int(check_random_state(None).randint(2**31 - 1))}
        own = {
            name: seed.get(name, value) if value is None else value
            for name, value in group.model.get_params(False).items()
        }
        candidates = [{name: params.get(name, own[name]) for name in names} for params in group.members.values()]
        fixed = {name: value for name, value in own.items() if name not in names}
        keys = list(group.members)
        for X, y, folds, places in self._problems(group):
            started = time.perf_counter()
            for i, j, outputs, _ in type(group.model).evaluate_grid(X, y, folds, candidates, **fixed):
                self._outputs[keys[i], places[j]] = outputs
                now = time.perf_counter()
                split = places[j] % self._splits
                self._seconds[keys[i], split] = self._seconds.get((keys[i], split), 0.0) + now - started
                started = now

    def _problems(self, group: _Group) -> Iterator[tuple[Any, NDArray[Any], Folds, list[int]]]:
        """Yield rows, targets, folds of them and the places of these: all folds at once where no step comes before."""
        if group.head is None:
            X, y = self._checked(group, self.X, self.y)
            yield X, y, self.folds, list(range(len(self.folds)))
            return
        for j, (train, test) in enumerate(self.folds[: self._splits]):
            head = clone(group.head)
            learnt = _safe_indexing(self.y, train)
            own = head.fit_transform(self.rows(train), learnt)
            X, y = self._checked(group, own, learnt)
            others, unseen = self._checked(group, head.transform(self.rows(test)), _safe_indexing(self.y, test))
            n, m = len(train), len(test)
            folds = [(np.arange(n), np.arange(n, n + m)), (np.arange(n), np.arange(n))]
            places = [place for place in (j, j + self._splits) if place < len(self.folds)]
            yield _stacked(X, others), np.concatenate([y, unseen]), folds[: len(places)], places

    def _checked(self, group: _Group, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Return rows in double precision and targets, refused as `fit` would."""
        sparse = "csr" if get_tags(group.model).input_tags.sparse else False
        numbers = is_regressor(group.model)
        checked = check_X_y(X, y, accept_sparse=sparse, dtype=np.float64, multi_output=numbers, y_numeric=numbers)
        return checked[0], np.asarray(checked[1])


def _stacked(upper: Any, lower: Any) -> Any:
    return sp.vstack([upper, lower], format="csr") if sp.issparse(upper) else np.vstack([upper, lower])


def _grouped(estimator: Any, candidates: list[dict[str, Any]], keys: list[str]) -> dict[str, _Group]:
    """Return the group of each candidate that a path evaluates, by its key."""
    last = estimator.steps[-1][0] + "__" if isinstance(estimator, Pipeline) else ""
    groups: dict[tuple[tuple[str, int], ...], _Group] = {}
    found: dict[str, _Group] = {}
    for key, params in zip(keys, candidates, strict=True):
        inner = {name: value for name, value in params.items() if name.startswith(last)}
        inner = {name: value for name, value in inner.items() if "__" not in name[len(last) :]}
        outer = {name: value for name, value in params.items() if name not in inner}
        # The values of a grid are the same objects in each candidate that has them.
        same = tuple((name, id(value)) for name, value in outer.items())
        if same not in groups:
            groups[same] = _Group(*_steps(clone(estimator).set_params(**clone(outer, safe=False))))
        group = groups[same]
        own = {name[len(last) :]: value for name, value in inner.items()}
        if _has_path(group, own):
            group.members[key] = own
            found[key] = group
    return found


def _steps(estimator: Any) -> tuple[Pipeline | None, Any]:
    if not isinstance(estimator, Pipeline) or getattr(estimator, "transform_input", None):
        return None, estimator
    return (estimator[:-1] if len(estimator.steps) > 1 else None), estimator.steps[-1][1]


def _has_path(group: _Group, own: dict[str, Any]) -> bool:
    """Tell whether a path evaluates a candidate: not where its random numbers are those that its clones start from."""
    model = group.model
    if not isinstance(type(model), GridPath) or get_tags(model).input_tags.pairwise:
        return False
    known = model.get_params(deep=False)
    seed = own.get("random_state", known.get("random_state"))
    return set(own) <= set(known) and (seed is None or isinstance(seed, int | np.integer))


class Served:
    """An estimator whose predictions come from a path where one has them, and from a fit where not.

    It learns and predicts row numbers, arrays of shape (n, 1), of the rows of its `paths`.
    """

    def __init__(self, model: Any, paths: Paths) -> None:
        self._model = model
        self.paths = paths
        self._params: dict[str, Any] = {}
        self._key = ""
        self._train: Indices | None = None
        self._by_path = False
        self._fitted: Any = None
        self.offered: tuple[Any, Indices] | None = None

    def __sklearn_clone__(self) -> "Served":
        # Whoever fits takes a clone of the estimator: it is never changed here.
        return Served(self._model, self.paths).set_params(**self._params)

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self._model)

    def __repr__(self) -> str:
        return repr(self._model)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator."""
        params: dict[str, Any] = self._model.get_params(deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Become one candidate."""
        self._params, self._key = params, candidate_key(params)
        return self

    def fit(self, X: NDArray[Any], y: Any) -> Self:
        """Learn some rows, unless a path has learnt them."""
        self._train, self._learnt, self._fitted = X[:, 0], y, None
        self._by_path = self.paths.serves(self._key, self._train)
        if not self._by_path:
            self.fitted()
        return self

    def fitted(self) -> Any:
        """Return the estimator, fitted: now, where only the path has learnt so far."""
        if self._fitted is None:
            assert self._train is not None
            if self._by_path:
                self.paths.unserved(self._key)
            model = clone(self._model).set_params(**self._params)
            self._fitted = model.fit(self.paths.rows(self._train), self._learnt)
        return self._fitted

    @contextmanager
    def offering(self, rows: Any, numbers: Indices) -> Iterator[None]:
        """Take the very object `rows` for the rows of these numbers meanwhile."""
        self.offered = rows, numbers
        try:
            yield
        finally:
            self.offered = None

    def predict(self, X: Any) -> Any:
        """Return predictions, of a path where one has them."""
        if self.offered is None:
            numbers = X[:, 0]
        elif X is self.offered[0]:
            numbers = self.offered[1]
        else:
            return self.fitted().predict(X)
        if self._fitted is None and self._train is not None:
            found = self.paths.outputs(self._key, self._train, numbers)
            if found is not None:
                return found
        return self.fitted().predict(self.paths.rows(numbers))

    def score(self, X: Any, y: Any) -> float:
        """Return what `score` of the estimator does, from predictions where it is scikit-learn's own."""
        last = self._model.steps[-1][1] if isinstance(self._model, Pipeline) else self._model
        own = type(last).score
        if own in (ClassifierMixin.score, RegressorMixin.score):
            predicted, numbers = self.predict(X), own is RegressorMixin.score
            if _is_plain(y, predicted, numbers):
                return (_r2 if numbers else _accuracy)(y, predicted)
            return float(own(self, X, y))
        rows = X if self.offered else self.paths.rows(X[:, 0])
        return float(self.fitted().score(rows, y))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of the training rows."""
        found: NDArray[Any] = np.unique(self._learnt) if self._fitted is None else self._fitted.classes_
        return found

    def __getitem__(self, step: Any) -> Any:
        """Return a step of a pipeline, fitted."""
        return self.fitted()[step]

    def __getattr__(self, name: str) -> Any:
        # Whatever else a scorer asks for, such as probabilities or the size of the model, is that of a fitted model.
        if name.startswith("_") or self._train is None:
            raise AttributeError(f"{type(self._model).__name__} has no attribute {name!r}")
        found = getattr(self.fitted(), name)
        return _of_numbers(found, self) if callable(found) else found


def _of_numbers(method: Any, served: Served) -> Any:
    """Return a method of a fitted estimator that takes row numbers, where these are given."""

    @wraps(method)
    def called(X: Any, *others: Any, **named: Any) -> Any:
        return method(X if served.offered else served.paths.rows(X[:, 0]), *others, **named)

    return called


@dataclass(frozen=True)
class RowScorer:
    """A user's scorer, called with the rows themselves in the place of their numbers."""

    scorer: Any

    def __call__(self, served: Served, X: NDArray[Any], y: Any) -> Any:
        """Return the score of an estimator on some rows."""
        rows = served.paths.rows(X[:, 0])
        with served.offering(rows, X[:, 0]):
            return self.scorer(served, rows, y)
