"""The grids of a search by paths: candidates that differ in parameters of the last step, and their
outputs on folds.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, check_X_y, get_tags

from elmbench.models.base.sklearn_private import safe_indexing
from elmbench.models.candidate_problem import CandidateProblem
from elmbench.models.path_callbacks import SearchTasks
from elmbench.models.protocols import Folds, GridPath
from elmbench.numerics.arrays import Array


@dataclass
class PathGrid:
    """Candidates that differ in parameters of the last step only.

    Attributes
    ----------
    head : Pipeline or None
        The unfitted steps before the last one.
    model : estimator
        The unfitted last step.
    params : dict
        All parameters of `model`.
    members : list of (int, dict)
        The numbers of the candidates, each with its parameters of the last step.
    """

    head: Pipeline | None
    model: Any
    params: dict[str, Any]
    members: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


def all_outputs(
    X: Any,
    y: Any,
    folds: Folds,
    grids: list[PathGrid],
    tasks: SearchTasks,
    *,
    n_candidates: int,
    method: str,
) -> tuple[list[list[Any]], Array]:
    """Return the outputs of paths for all candidates on all folds, and the seconds that they took.

    `outputs[fold][candidate]` are those for the test rows of the fold. The seconds have the shape
    (n_candidates, n_folds); work for several candidates counts for the first. `folds`: pairs of
    training and test row numbers. `grids`: each candidate is a member of one. `method`: the path,
    "evaluate_grid" for predictions or "decision_grid" for decision values. Each evaluation is
    reported to `tasks`.
    """
    outputs: list[list[Any]] = [[None] * n_candidates for _ in folds]
    n_folds = len(folds)
    fit_times = np.zeros((n_candidates, n_folds))
    for grid in grids:
        candidates, fixed = _separate_params(grid)
        started = time.perf_counter()
        for rows, targets, parts, numbers in _fold_problems(grid, X, y, folds):
            problem = CandidateProblem(
                factory=type(grid.model),
                X=rows,
                y=targets,
                folds=parts,
                candidates=candidates,
                fixed=fixed,
            )
            for evaluation in problem.evaluate_by_path(method):
                candidate, _ = grid.members[evaluation.candidate]
                fold = numbers[evaluation.fold]
                outputs[fold][candidate] = evaluation.outputs
                fit_times[candidate, fold] = time.perf_counter() - started
                task_number = candidate * n_folds + fold
                train, _ = folds[fold]
                tasks.report_evaluation(task_number, train)
                started = time.perf_counter()
    return outputs, fit_times


def _separate_params(grid: PathGrid) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return a list with a dict {parameter: value} for each candidate, and one of the fixed
    parameters.

    The dicts of the candidates have the parameters that at least one member of the grid sets, with
    the value in `grid.params` if the candidate does not set it; the fixed ones are all others of
    `grid.params`. A `random_state` of None there becomes a random number, so that it is the same
    for all candidates.
    """
    params = dict(grid.params)
    if params.get("random_state", 0) is None:
        random_state = check_random_state(None)
        seed = random_state.randint(2**31 - 1)
        params["random_state"] = int(seed)
    members = [member for _, member in grid.members]
    names = {name for member in members for name in member}
    # A candidate that does not set one of these has its default.
    defaults = {}
    fixed = {}
    for name, value in params.items():
        if name in names:
            defaults[name] = value
        else:
            fixed[name] = value
    candidates = [defaults | member for member in members]
    return candidates, fixed


def path_grids(estimator: Any, candidates: list[dict[str, Any]]) -> list[PathGrid]:
    """Group the candidates by their parameters of other steps than the last one; return a
    `PathGrid` for each group.

    `estimator`: of a search, with or without a pipeline. `candidates`: {parameter: value} of each,
    with names such as "svc__C" for steps; values of other steps count as equal if they are the same
    object. The list is empty if at least one candidate has no path, so that all must be fitted.
    """
    grids: dict[tuple[tuple[str, int], ...], PathGrid] = {}
    for number, params in enumerate(candidates):
        inner, outer = _split_params(estimator, params)
        # The values of a grid are the same objects in each candidate that has them.
        key = tuple((name, id(value)) for name, value in outer.items())
        if key not in grids:
            base = clone(estimator)
            if outer:
                outer_params = clone(outer, safe=False)
                base.set_params(**outer_params)
            head, model = split_last_step(base)
            has_path = isinstance(type(model), GridPath)
            if not has_path:
                return []
            model_params = model.get_params(deep=False)
            grids[key] = PathGrid(head=head, model=model, params=model_params)
        grid = grids[key]
        if not inner.keys() <= grid.params.keys():
            return []
        all_params = grid.params | inner
        if not _can_have_path(all_params):
            return []
        grid.members.append((number, inner))
    return list(grids.values())


def _split_params(
    estimator: Any, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of the last step of a pipeline, without its prefix, and all others, as
    two dicts {name: value}.

    `params`: {name: value} for the estimator, with names such as "svc__C" for steps. An estimator
    that is not a pipeline counts as the last step. Nested parameters of the last step (`a__b`) are
    among the others.
    """
    prefix = estimator.steps[-1][0] + "__" if isinstance(estimator, Pipeline) else ""
    inner = {}
    outer = {}
    for name, value in params.items():
        inner_name = name.removeprefix(prefix)
        if name.startswith(prefix) and "__" not in inner_name:
            inner[inner_name] = value
        else:
            outer[name] = value
    return inner, outer


def _can_have_path(params: dict[str, Any]) -> bool:
    """Return True if parameters of a model allow a path: False for a `RandomState`, and for any
    parameter "precomputed".

    `params`: {name: value} of all parameters of the model. A path has the random numbers of a fit
    from a seed only, and takes rows, not a kernel.
    """
    if not isinstance(params.get("random_state"), int | np.integer | None):
        return False
    texts = [value for value in params.values() if isinstance(value, str)]
    return "precomputed" not in texts


def split_last_step(estimator: Any) -> tuple[Pipeline | None, Any]:
    """Return the steps before the last one, as a pipeline, or None if there are none, and the
    estimator of the last step.

    An estimator that is not a pipeline, or a pipeline with `transform_input`, counts as the last
    step.
    """
    if not isinstance(estimator, Pipeline) or getattr(
        estimator, "transform_input", None
    ):
        return None, estimator
    return (estimator[:-1] if len(estimator.steps) > 1 else None), estimator.steps[-1][
        1
    ]


def _fold_problems(
    grid: PathGrid, X: Any, y: Any, folds: Folds
) -> Iterator[tuple[Any, NDArray[Any], Folds, Sequence[int]]]:
    """Yield rows for the model of a grid, their targets, folds of these rows, and the numbers of
    these folds in `folds`.

    `X`, `y`: all rows and targets of the search. `folds`: pairs of row numbers. If the grid has no
    `head`, that is one item with all rows and folds. Otherwise, a clone of the head is fitted to
    the training rows of each fold, and there is one item for each fold: its transformed training
    rows, then its test rows.
    """
    if grid.head is None:
        yield *_check_rows(grid.model, X, y), folds, range(len(folds))
        return
    for j, (train, test) in enumerate(folds):
        head = clone(grid.head)
        blocks = [
            head.fit_transform(safe_indexing(X, train), safe_indexing(y, train)),
            head.transform(safe_indexing(X, test)),
        ]
        rows = (
            sp.vstack(blocks, format="csr")
            if sp.issparse(blocks[0])
            else np.vstack(blocks)
        )
        parts = np.arange(len(train)), np.arange(len(train), rows.shape[0])
        yield (
            *_check_rows(
                grid.model, rows, safe_indexing(y, np.concatenate([train, test]))
            ),
            [parts],
            [j],
        )


def _check_rows(model: Any, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
    """Return validated rows, dense or CSR, in double precision, and targets as an array; raise the
    errors of `fit` for invalid ones.

    Sparse rows are an error if the tags of `model` exclude them; targets must be numbers if it is a
    regressor.
    """
    sparse = "csr" if get_tags(model).input_tags.sparse else False
    values = is_regressor(model)
    X, y = check_X_y(
        X,
        y,
        accept_sparse=sparse,
        dtype=np.float64,
        multi_output=values,
        y_numeric=values,
    )
    return X, np.asarray(y)
