"""Callbacks of scikit-learn for a search by paths."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from elmbench.models.base.sklearn_private import has_callbacks, safe_indexing
from elmbench.numerics.arrays import Indices


class SearchTasks:
    """The tasks of a search that the callbacks of `GridSearchCV` see: the fit, in it the search
    with one task for each candidate and fold, and the final fit.

    `search` is an estimator with `set_callbacks`. Its fit and its search begin with the
    constructor. A path evaluates a candidate by no fit of its own, so its task begins and ends at
    once. Without callbacks, nothing is recorded for it.
    """

    def __init__(self, search: Any, X: Any, y: Any, *, n_evaluations: int) -> None:
        self._search = search
        self._X = X
        self._y = y
        self._has_callbacks = has_callbacks(search)
        self._root = search._init_callback_context(
            max_subtasks=1 + (search.refit is not False)
        )
        self._root.call_on_fit_task_begin(estimator=search, X=X, y=y)
        self._evaluations = self._root.subcontext(
            task_name="search", max_subtasks=n_evaluations, sequential_subtasks=False
        )
        self._evaluations.call_on_fit_task_begin(estimator=search)
        self._n_left = n_evaluations

    def report_evaluation(self, number: int, train: Indices) -> None:
        """Report the evaluation of a candidate on a fold to the callbacks; the last one ends the
        search.

        `number`: that of the candidate times the number of folds plus that of the fold. `train`:
        numbers of the training rows. Each pair of candidate and fold is reported once.
        """
        self._n_left -= 1
        if self._has_callbacks:
            task = self._evaluations.subcontext(
                task_name="candidate-split-evaluation", task_id=number
            )
            data = {
                "X": lambda: safe_indexing(self._X, train),
                "y": lambda: safe_indexing(self._y, train),
            }
            task.call_on_fit_task_begin(estimator=self._search, **data)
            task.call_on_fit_task_end(estimator=self._search, **data)
        if self._n_left == 0:
            self._evaluations.call_on_fit_task_end(estimator=self._search)

    @contextmanager
    def refit(self, best: Any) -> Iterator[None]:
        """Return a context manager in which the caller fits the best candidate to all rows, and
        which reports the begin and the end of this fit; no end if the fit raises.

        `best`: the unfitted estimator.
        """
        task = self._root.subcontext(task_name="refit-with-best-params")
        data = {"X": self._X, "y": self._y}
        search = self._search
        with task.propagate_callback_context(best):
            task.call_on_fit_task_begin(estimator=search, **data)
            yield
        task.call_on_fit_task_end(estimator=search, **data)

    def end(self) -> None:
        """Report the end of the whole fit to the callbacks."""
        self._root.call_on_fit_task_end(estimator=self._search, X=self._X, y=self._y)
