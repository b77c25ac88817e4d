"""The online sequential extreme learning machine, which updates the output weights block by
block.
"""

import warnings
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning, pinvh

from elmbench.models.base.family import estimator
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.models.base.weights import WeightedClassifier, WeightedRegressor
from elmbench.models.elm import HiddenNodesMixin
from elmbench.numerics.arrays import EPS, Array, Rows
from elmbench.numerics.nodes.output_weights import (
    pseudo_inverse_of_gram,
    update_as_printed,
    update_symmetric,
)
from elmbench.numerics.solve import RidgeSystem, scaled_rows

DEPENDENT = (
    "the outputs of n_hidden={} nodes are linearly dependent to working precision on the rows of "
    "the first block, so "
    "the output weights may diverge: expected start='ridge', fewer nodes, or more features"
)


class _Block(NamedTuple):
    """Successive rows.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
    T : ndarray of shape (n, n_outputs)
        Their targets.
    scale : ndarray of shape (n,) or None
        Square roots of their weights; None if all are 1.
    """

    X: Rows
    T: Array
    scale: Array | None


def _blocks(
    X: Rows, T: Array, scale: Array | None, edges: Iterable[int]
) -> Iterator[_Block]:
    """Yield the blocks of rows between successive edges, such as [0, 250, n].

    `scale`: roots of the weights of the rows, or None. `edges`: row numbers, ascending; a block
    ends before its second edge, and may be empty.
    """
    for start, stop in pairwise(edges):
        rows = slice(start, stop)
        yield _Block(
            X=X[rows],
            T=T[rows],
            scale=None if scale is None else scale[rows],
        )


@estimator
class _OSELM(HiddenNodesMixin):
    """Base class of `OSELMClassifier` and `OSELMRegressor`, for targets of shape (n, n_outputs)."""

    n_hidden: int = 20
    C: float = 1.0
    initial_batch: int = 250
    batch_size: int = 200
    start: str = "pinv"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "start": [StrOptions({"pinv", "ridge", "toolbox"})]
    }

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Forget all rows, learn the first `initial_batch` ones of `X`, then the others in blocks
        of `batch_size`.
        `T`: targets, (n, n_outputs), -1/+1 for classes, not scaled. `scale`: roots of the weights
        of the rows, (n,); None if all are 1.
        """
        self._start(X, T)
        edges = [0, self.initial_batch, X.shape[0]]
        for block in _blocks(X, T, scale, edges):
            self._update(block.X, block.T, block.scale)

    def _start(self, X: Rows, T: Array) -> None:
        """Forget all rows: draw the hidden nodes, and set the state of a model without rows.

        `X`, `T`: as they will be learnt; only their numbers of columns count.
        """
        n_features = X.shape[1]
        self._draw_nodes(n_features)
        n_nodes = len(self.weights_)
        n_outputs = T.shape[1]
        self.beta_ = np.zeros((n_nodes, n_outputs))
        self.P_: Array = np.zeros((0, 0))
        self.n_seen_ = 0
        self._forget_first_block(n_nodes, n_outputs)

    def _forget_first_block(self, n_nodes: int, n_outputs: int) -> None:
        """Drop the rows of the first block, which hold the outputs of the nodes and the targets.

        `n_nodes`, `n_outputs`: their columns.
        """
        self._first_block = (np.zeros((0, n_nodes)), np.zeros((0, n_outputs)))

    def _update(self, X: Rows, T: Array, scale: Array | None = None) -> None:
        """Learn further rows: they extend the first block as long as it has fewer than
        `initial_batch` rows; later ones update `P_` and `beta_`.

        All rows of a call are treated alike, and a call without rows changes nothing. With the
        start "ridge", the first block has the rows of the first call. `T`: targets, (n, n_outputs),
        not scaled. `scale`: roots of the weights of the rows, (n,); None if all are 1.
        """
        n_rows = X.shape[0]
        if n_rows == 0:
            return
        T = scaled_rows(T, scale)
        grows = self.start != "ridge" and self.n_seen_ < self.initial_batch
        if grows or self.n_seen_ == 0:
            node_outputs = self._hidden(X)
            H = scaled_rows(node_outputs, scale)
            if grows:
                self._extend_first_block(H, T)
            else:
                self._learn_first_block(H, T)
        else:
            self._learn_later_rows(X, T, scale)
        self.n_seen_ += n_rows

    def _learn_first_block(self, H: Array, T: Array) -> None:
        """Set the first `P_` and `beta_` by eqs. (5) and (6) of Scardapane et al., with the ridge
        1/C in the inverse.

        `H`: outputs of the nodes, (n, n_hidden), and `T`: targets, (n, n_outputs), for the rows of
        the first block, both multiplied by the roots of the rows' weights.
        """
        ridge = 1.0 / float(self.C)
        self.P_ = RidgeSystem(H.T @ H, ridge).inverse()
        self.beta_ = self.P_ @ (H.T @ T)

    def _learn_later_rows(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Update `P_` and `beta_` by eqs. (7) and (8) of Scardapane et al., in blocks of
        `batch_size` rows.

        With the start "ridge", `P_` stays symmetric; otherwise, the steps are as printed, and may
        diverge without an error. `X`: only the rows after the first block. `T`: their targets, (n,
        n_outputs), multiplied by `scale`. `scale`: the roots of their weights, (n,), which still
        multiply the outputs of the nodes; None if all are 1.
        """
        is_symmetric = self.start == "ridge"
        step = update_symmetric if is_symmetric else update_as_printed
        n_rows = X.shape[0]
        edges = [*range(0, n_rows, self.batch_size), n_rows]
        for block in _blocks(X, T, scale, edges):
            node_outputs = self._hidden(block.X)
            H = scaled_rows(node_outputs, block.scale)
            P, beta = step(self.P_, self.beta_, H, block.T)
            self.P_ = P
            self.beta_ = beta

    def _extend_first_block(self, H: Array, T: Array) -> None:
        """Set `P_` and `beta_` by eqs. (5) and (6) of Scardapane et al., with a pseudo-inverse,
        from the first block and further rows.

        `H`: outputs of the nodes, (n, n_hidden), and `T`: targets, (n, n_outputs), for the further
        rows only, both multiplied by the roots of the rows' weights. They are kept until the block
        has `initial_batch` rows; then its rows are dropped, and a LinAlgWarning is issued if the
        nodes are linearly dependent on them.
        """
        # A pseudo-inverse of fewer rows than nodes has directions that no later step can add.
        H_before, T_before = self._first_block
        H = np.vstack([H_before, H])
        T = np.vstack([T_before, T])
        # Eq. (5), with the pseudo-inverse for the inverse of H'H.
        if self.start == "toolbox":
            self.P_ = pinvh(H.T @ H)
        else:
            self.P_ = pseudo_inverse_of_gram(H)
        # Eq. (6).
        moments = H.T @ T
        self.beta_ = self.P_ @ moments
        if len(H) < self.initial_batch:
            self._first_block = (H, T)
            return
        self._forget_first_block(n_nodes=H.shape[1], n_outputs=T.shape[1])
        squared_norm = np.vdot(H, H)
        inverse_norm = np.linalg.norm(self.P_)
        round_off = EPS * squared_norm * inverse_norm
        if round_off > 1:
            message = DEPENDENT.format(self.n_hidden)
            warnings.warn(message, LinAlgWarning, stacklevel=6)

    def _outputs(self, X: Rows) -> Array:
        """Return h(x)' beta for every row x of `X`, of shape (n, n_outputs); it is not finite after
        a divergence.
        """
        # The weights of a diverged model need not be finite.
        with np.errstate(all="ignore"):
            return super()._outputs(X)

    @property
    def condition_(self) -> float:
        """The condition number of `P_` in the 1-norm: infinite if it is singular, NaN after a
        divergence.
        """
        with np.errstate(all="ignore"):
            return float(np.linalg.cond(self.P_, 1))


@estimator
class OSELMClassifier(WeightedClassifier, _OSELM):
    """Online sequential extreme learning machine for classification.

    An `ELMClassifier` whose output weights are computed from a first block of rows and updated with
    every later block.

    Parameters
    ----------
    n_hidden : int, default=20
        Number of hidden nodes. More nodes than rows in the first block make the start "pinv"
        unstable.
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge. Only used with `start="ridge"`.
    initial_batch : int, default=250
        Number of rows in the first block of `fit`. Without `start="ridge"`, `partial_fit` collects
        at least as many: until then, each call computes the output weights of all rows so far, so
        that rows one by one give the network of `fit`. With `start="ridge"`, the first block of
        `partial_fit` has the rows of its first call.
    batch_size : int, default=200
        Number of rows in later blocks, also within one call of `partial_fit`.
    start : {"pinv", "ridge", "toolbox"}, default="pinv"
        Replacement of the inverse in eq. (5), which does not exist for fewer rows than nodes.
        "pinv": the pseudo-inverse pinv(H_1) pinv(H_1)', without a ridge; the later steps are then
        eqs. (7) and (8) as printed, which may diverge. A `scipy.linalg.LinAlgWarning` is issued if
        the nodes are dependent in the first block. "toolbox": pinv(H_1'H_1), as in the authors'
        Lynx toolbox (`OnlineSequentialELM.m`); the cutoff acts on this matrix, so its rank is
        lower. The later steps are the same. "ridge": (H_1'H_1 + I/C)^-1; the network then equals
        `ELMClassifier` for any blocks.
    activation, random_state
        As in `ELMClassifier`.
    class_weight : "balanced", dict or None, default=None
        As in `KELMClassifier`; only for `fit`, like `sample_weight`.

    Attributes
    ----------
    beta_ : ndarray of shape (n_hidden, n_outputs)
        Output weights; not finite after a divergence.
    P_ : ndarray of shape (n_hidden, n_hidden)
        The inverse that each block updates.
    n_seen_ : int
        Number of rows learnt so far.
    condition_ : float
        Condition number of `P_`, computed on demand.
    weights_, biases_, classes_, n_units_, n_features_in_
        As in `ELMClassifier`.

    See Also
    --------
    ELMClassifier : The network of all rows at once.
    KOSELMClassifier : A kernel instead of hidden nodes.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Rows may be sparse, as for `ELMClassifier`.

    References
    ----------
    Liang, Huang, Saratchandran, Sundararajan, A fast and accurate online sequential learning
    algorithm for feedforward networks, IEEE Trans. NN 17(6), 2006; Scardapane et al., Online
    Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015, eqs. (5)-(8).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import OSELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(OSELMClassifier(initial_batch=50, random_state=0).fit(X, y).score(X, y), 2)
    0.98
    """

    model_version = 2

    def _update(self, X: Rows, T: Array, scale: Array | None = None) -> None:
        """Learn further rows with targets -1/+1, `T`, (n, n_outputs); raise a ValueError for a
        `class_weight` in `partial_fit`, which is a call without `scale`.

        `scale`: roots of the weights of the rows and their classes, (n,); None if all are 1.
        """
        if self.class_weight is not None and scale is None:
            expected = "expected None for partial_fit, which sees a part of the rows"
            raise ValueError(
                f"class_weight: {expected}, got {self.class_weight!r} instead"
            )
        super()._update(X, T, scale)


class OSELMRegressor(WeightedRegressor, _OSELM):
    """Online sequential ELM for regression: `OSELMClassifier` with `y`, one column or several, as
    targets.

    See Also
    --------
    OSELMClassifier : For classification.
    ELMRegressor : The network of all rows at once.
    KOSELMRegressor : A kernel instead of hidden nodes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import OSELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = OSELMRegressor(initial_batch=50, random_state=0)
    >>> round(model.fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.53
    """

    model_version = 2
