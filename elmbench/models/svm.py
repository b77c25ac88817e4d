"""scikit-learn's support vector machine with the Gaussian kernel, and its path over a grid."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.svm import SVC, SVR
from sklearn.utils import indexable

from elmbench.models.base.family import POSITIVE, NumberInterval
from elmbench.models.base.paths import CandidateGrid, PathMixin
from elmbench.models.base.sklearn_private import check_sample_weight, safe_indexing
from elmbench.models.base.weights import weight_key
from elmbench.numerics.pairwise import Kernel

MOST_BYTES = 2**30
"""Size of the kernel matrices of a fold up to which all values of C share them; LIBSVM needs only
parts of them.
"""


class _StopRecorder:
    """Mixin that records whether LIBSVM stopped at `max_iter`."""

    n_iter_: Any
    support_: Any
    max_iter: int

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit to rows `X`, dense or sparse, and `y`; a `ConvergenceWarning` is issued if LIBSVM was
        stopped.

        It also sets `capped_`, the share of stopped problems from 0 to 1, `solvers_`, {"capped": 1}
        or {}, and `n_units_`, the number of support vectors. `sample_weight`, (n_samples,),
        multiplies C for each row; None: all are 1. A row of weight 0 is left out, also a class that
        has no other rows. A ValueError is raised for a negative weight, and if all are zero.
        """
        rows = None
        if sample_weight is not None:
            weights = check_sample_weight(sample_weight, X, ensure_non_negative=True)
            # LIBSVM leaves rows without weight out too, but not classes without any left.
            if not weights.all():
                rows = np.flatnonzero(weights)
                weights = weights[rows]
                X, y = indexable(X, y)
                X = safe_indexing(X, rows)
                y = safe_indexing(y, rows)
            sample_weight = weights
        super().fit(X, y, sample_weight)  # type: ignore[misc]
        if rows is not None:
            self.support_ = rows[self.support_].astype(self.support_.dtype)
        self.capped_ = float(np.mean(self.n_iter_ == self.max_iter))
        self.solvers_ = {"capped": 1} if self.capped_ > 0 else {}
        self.n_units_ = len(self.support_)
        return self


class EpsilonSVR(_StopRecorder, SVR):
    """scikit-learn's `SVR`, which records whether it stopped at `max_iter`."""

    # LIBSVM never ends with the infinite C that scikit-learn accepts.
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NumberInterval.replace_intervals(SVR._parameter_constraints),
        "C": [POSITIVE],
    }


class SVMClassifier(_StopRecorder, PathMixin, SVC):
    """Support vector machine with the Gaussian kernel: scikit-learn's `SVC`, which is LIBSVM.

    Its path over a grid computes the kernel once for all values of C. Outputs agree with those of
    single fits within LIBSVM's tolerance.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors.
    gamma : float, "scale" or "auto", default="scale"
        Inverse squared width of the kernel, exp(-gamma d^2); "scale" is 1 / (n_features * X.var()).
    class_weight : "balanced", dict or None, default=None
        Factor of C for each class, by label; "balanced" is inversely proportional to the number of
        its rows.
    max_iter : int, default=-1
        Steps after which LIBSVM is stopped, in each problem of two classes; -1 for no limit.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_units_, n_features)
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of support vectors.
    capped_ : float
        Share of the problems of two classes that were stopped at `max_iter`.
    solvers_ : dict of str to int
        ``{"capped": 1}`` if any was stopped, else empty.
    n_features_in_ : int

    See Also
    --------
    LSSVMClassifier : Squared errors.
    RSVMClassifier : Some of the rows as centres.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    References
    ----------
    Chang and Lin, LIBSVM: a library for support vector machines, ACM TIST 2(3), 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import SVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(SVMClassifier(C=10).fit(X, y).score(X, y), 2)
    0.99
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NumberInterval.replace_intervals(SVC._parameter_constraints),
        "C": [POSITIVE],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        gamma: float | str = "scale",
        class_weight: str | Mapping[Any, float] | None = None,
        max_iter: int = -1,
    ) -> None:
        super().__init__(
            C=C, gamma=gamma, kernel="rbf", class_weight=class_weight, max_iter=max_iter
        )

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs), computing the kernel of each fold once for each
        `gamma`, unless it takes over `MOST_BYTES`.

        If all dual coefficients stay below half of their bound, any larger C has the same fit,
        which is not repeated. `outputs`: the values of the method `grid.output` for the test rows.
        """
        groups = grid.group(
            lambda model: (model.gamma, weight_key(model), model.max_iter)
        )
        for fold in range(len(grid.folds)):
            for members in groups:
                yield from _group_path(grid, fold, members)


def _group_path(
    grid: CandidateGrid, fold: int, members: list[tuple[int, SVMClassifier]]
) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Yield (candidate, fold, outputs) on one fold for models that differ in C only, in ascending
    order of C.

    `outputs`: the values of the method `grid.output` for the test rows. `fold`: its number.
    `members`: pairs of the number of a candidate and its unfitted model, whose `gamma` is a number.
    """
    train, test = grid.folds[fold]
    rows = grid.X[train]
    probes = grid.X[test]
    labels = grid.y[train]
    kernel_name = "rbf"
    n_kernel_values = len(train) * (len(train) + len(test))
    if 8 * n_kernel_values <= MOST_BYTES:
        _, first = members[0]
        kernel = Kernel(gamma=first.gamma)
        probes = kernel.matrix(probes, rows)
        rows = kernel.matrix(rows)
        kernel_name = "precomputed"
    is_final = False
    for candidate, model in sorted(members, key=lambda member: member[1].C):
        if not is_final:
            machine = clone(model)
            machine.kernel = kernel_name
            machine.fit(rows, labels)
            outputs = _outputs_of(machine, grid.output, probes)
            is_final = _coefficients_are_far_below_bound(machine)
        grid.solvers.update(machine.solvers_)
        yield candidate, fold, outputs


def _outputs_of(machine: SVMClassifier, method: str, probes: Any) -> NDArray[Any]:
    """Return the outputs of a method of a fitted machine for the test rows.

    `method`: "predict", for labels, or "decision_function", for values of shape (n_test,) for two
    classes, else (n_test, n_classes). `probes`: the rows, or their kernel with all training rows if
    the machine's kernel is "precomputed". A decision value of zero becomes the least positive
    number, because `predict` takes the second class there.
    """
    output_of = getattr(machine, method)
    outputs: NDArray[Any] = output_of(probes)
    if method == "decision_function":
        is_zero = outputs == 0.0
        outputs[is_zero] = np.finfo(np.float64).tiny
    return outputs


def _coefficients_are_far_below_bound(machine: SVMClassifier) -> bool:
    """Return True if all dual coefficients of a fitted machine stay below half of their bound.

    The bound is C times the least class weight. As no coefficient would change then, machines with
    a larger C have the same fit, which need not be repeated.
    """
    half_bound = machine.C * machine.class_weight_.min() / 2
    largest = np.abs(machine.dual_coef_).max()
    return bool(largest < half_bound)
