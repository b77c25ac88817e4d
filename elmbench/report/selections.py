"""The ways in which hyperparameters are chosen, in words."""

from elmbench.errors import amount
from elmbench.evaluation.splits import part_sizes
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import ONCE
from elmbench.specs.splits import LEAVE_ONE_OUT, SIZED

#: The description of each selection; `nested` may go by a criterion other than the score on inner
#: folds.
_HOW = {
    "published": "hyperparameters fixed at the paper's",
    "nested": "hyperparameters chosen on inner folds of the training part",
    "oracle": "hyperparameters of the best mean over the outer test folds",
    "dcs-gaussians": "hyperparameters of the largest D_CS of the two classes' projected training "
    "rows, as Gaussians",
    "dcs-kde": "hyperparameters of the largest D_CS of the two classes' projected training rows, "
    "by kernel densities",
}


def selection_text(select: str, resolved: Resolved) -> str:
    """Return how a selection of a table chooses the hyperparameters, in words.

    `select`: "published", "nested", "once" or "oracle" (else KeyError). If the table chooses by a
    criterion other than a score, `nested` is described by it.
    """
    criterion = resolved.spec.protocol.criterion
    if select == "nested" and criterion in _HOW:
        return _HOW[criterion]
    return _once_text(resolved) if select == ONCE else _HOW[select]


def _once_text(resolved: Resolved) -> str:
    """Return how hyperparameters are selected once, for the selection `once`, in words.

    The words give the number of rows of the selection (a range if the data sets differ), and the
    splits that then test the hyperparameters.
    """
    inner = resolved.spec.protocol.inner
    sizes = _sizes_of_selection(resolved)
    rows = amount(max(sizes), "row")
    if len(sizes) > 1:
        rows = f"{min(sizes)} to {rows}"
    is_holdout = inner.kind in SIZED
    part = "a holdout" if is_holdout else amount(inner.folds, "inner split")
    return (
        f"hyperparameters selected once on {part} of {rows}, then fixed in "
        f"{_outer_text(resolved)}; the test parts contain rows of the selection"
    )


def _sizes_of_selection(resolved: Resolved) -> set[int]:
    """Return the distinct numbers of rows on which candidates are compared, over all data sets.

    Candidates are hyperparameters. For a holdout it is the number of its test rows, else of all
    rows of the inner splits, at most the limits of the profile.
    """
    inner = resolved.spec.protocol.inner
    settings = resolved.settings
    sizes = set()
    for dataset in resolved.datasets.values():
        limits = [dataset.shape.instances, settings.rows, settings.tune_rows]
        n_rows = min(limit for limit in limits if limit is not None)
        if inner.kind in SIZED:
            split = inner.split(dataset.name, dataset.task)
            _, n_rows = part_sizes(split, n_rows)
        sizes.add(n_rows)
    return sizes


def _outer_text(resolved: Resolved) -> str:
    """Return the outer splits and runs in words: "5 outer folds (kfold), 10 runs".

    A single run is not named. Splits without a number of folds are "one test part", or "one task"
    if each row is a test part.
    """
    outer = resolved.spec.protocol.outer
    text = "one test part"
    if outer.folds > 1:
        text = amount(outer.folds, "outer fold")
    elif outer.kind == LEAVE_ONE_OUT:
        text = "one task"
    runs = f", {amount(outer.runs, 'run')}" if outer.runs > 1 else ""
    return f"{text} ({outer.kind}){runs}"
