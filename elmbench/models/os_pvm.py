"""The online sequential projection vector machine: mean, directions, hidden nodes and output
weights of a stream.
"""

import itertools
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from elmbench.models.base.family import estimator
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.models.pvm import ProjectionClassifier
from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.projection import (
    StreamedDecomposition,
    extended_spectrum,
    uncentred_spectrum,
)


@estimator
class OSPVMClassifier(ProjectionClassifier):
    """Online sequential projection vector machine.

    The network of `PVMClassifier`, updated with every chunk of rows: the mean, the singular values
    and directions of the rows so far, the number of hidden nodes, their input weights, and the
    output weights.

    Parameters
    ----------
    n_hidden, theta, ratio, activation
        As in `PVMClassifier`.
    mode : {"exact", "truncate"}, default="exact"
        "exact" keeps all non-zero singular values: after any chunks, the model is the
        `PVMClassifier` of the rows so far, within round-off. "truncate" keeps only those of the
        hidden nodes after every chunk; these are fewer than the nodes of `PVMClassifier` and depend
        on the chunks.
    update_mean : bool, default=True
        Subtract the mean of all rows so far; if False, that of the first chunk. In that case, the
        ones are not orthogonal to the data and are decomposed with them, so every node has a bias.
    initial_batch : int, default=40
        Number of rows in the first chunk of `fit`.
    batch_size : int, default=16
        Number of rows in the later chunks of `fit`. `partial_fit` learns all rows of a call as one
        chunk.

    Attributes
    ----------
    n_seen_ : int
        Number of rows learnt so far.
    singular_values_, weights_, biases_, mean_, beta_, classes_, n_units_, condition_,
    n_features_in_
        As in `PVMClassifier`; in mode "truncate" the singular values are those of the hidden nodes.

    See Also
    --------
    PVMClassifier : The network of all rows at once.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    The output weights need the hidden outputs of all rows for the current directions. For this, the
    model keeps the coordinates of the rows in the basis of its r directions: with n rows of d
    features, r is at most d and n - 1 in mode "exact", and the number of hidden nodes in mode
    "truncate". A model takes 8 (n r + r d + r^2) bytes and 8 bytes for each weight and target. The
    rows themselves are not kept; sparse ones (CSR) are made dense by chunks. In mode "exact", a
    chunk of `fit` only takes time for its own rows; in mode "truncate", it takes a product of
    shapes (n, r) and (r, r). The least squares of all rows are solved at the end of `fit` and of
    each call of `partial_fit`.

    Eqs. (17) and (18) as printed lose the row of ones; see `StreamedDecomposition` for the
    replacement.

    References
    ----------
    Chen, Jia, Zhang, Deng, Wei, Online Sequential Projection Vector Machine with Adaptive Data Mean
    Update, Computational Intelligence and Neuroscience, 2016, section 3 and Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import OSPVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(OSPVMClassifier(theta=0.99).fit(X, y).score(X, y), 2)
    0.83
    """

    mode: str = "exact"
    update_mean: bool = True
    initial_batch: int = 40
    batch_size: int = 16

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "mode": [StrOptions({"exact", "truncate"})]
    }

    def _fit(self, X: Rows, T: Array) -> None:
        """Forget all rows, learn those of `X` chunk by chunk, then compute the hidden nodes and the
        output weights.

        The first chunk has `initial_batch` rows, the others `batch_size`. `T`: targets -1/+1, (n,
        n_outputs).
        """
        self._start(X, T)
        n_rows = X.shape[0]
        later_chunks = range(self.initial_batch, n_rows, self.batch_size)
        edges = [0, *later_chunks, n_rows]
        for start, stop in itertools.pairwise(edges):
            rows = slice(start, stop)
            targets = T[rows]
            self._learn(X[rows], targets)
        self._solve_nodes()

    def _start(self, X: Rows, T: Array) -> None:
        """Forget all rows: set the state of a model without rows.

        `X`, `T`: as they will be learnt; only the number of columns of `X` counts.
        """
        n_columns = X.shape[1]
        if not self.update_mean:
            n_columns += 1  # of ones
        is_centred = bool(self.update_mean)
        self._stream = StreamedDecomposition(n_columns, centred=is_centred)
        self._coordinates: list[Array] = []
        self._targets: list[Array] = []
        self.n_seen_ = 0

    def _update(self, X: Rows, T: Array) -> None:
        """Learn further rows as one chunk, and compute the hidden nodes and the output weights of
        all rows so far.

        `X`, `T`: only the further rows and their targets -1/+1, (n, n_outputs).
        """
        self._learn(X, T)
        self._solve_nodes()

    def _learn(self, X: Rows, T: Array) -> None:
        """Update the mean and the directions with a chunk of rows (Algorithm 1, lines 1 to 10).

        `T`: targets -1/+1 of the rows, (n, n_outputs), which are kept. In mode "truncate",
        directions are dropped after it. The output weights are left to `_solve_nodes`.
        """
        coordinates = self._stream.update(self._stream_rows(X))
        self._coordinates.append(coordinates)
        self._targets.append(T)
        self.n_seen_ += X.shape[0]
        if self.mode == "truncate":
            self._truncate()

    def _stream_rows(self, X: Rows) -> Array:
        """Return the rows of a chunk as the stream takes them: dense and, unless the mean is
        updated, less the mean of the first chunk and with a last feature of ones.

        For the first chunk, it sets `mean_` to that mean, unless the mean is updated.
        """
        dense = X.toarray() if sp.issparse(X) else X
        if self.update_mean:
            return dense
        if self.n_seen_ == 0:  # the mean stays that of the first chunk
            self.mean_ = dense.mean(axis=0)
        ones = np.ones(len(dense))
        return np.column_stack([dense - self.mean_, ones])

    def _truncate(self) -> None:
        """Drop the directions that `n_hidden` or `theta` does not choose, and the coordinates of
        all rows along them; set `_nodes` and `singular_values_` to the chosen ones.
        """
        values, rotation = self._stream.decomposition()
        self._choose_nodes(values)
        k = self._nodes.n_directions
        coordinates = self._all_coordinates()
        leading_values = values[:k]
        leading_rotation = rotation[:k]
        change = self._stream.truncate(leading_values, leading_rotation)
        self._coordinates = [coordinates @ change]

    def _choose_nodes(self, values: Array) -> None:
        """Choose the singular values that have hidden nodes: set `_nodes` and `singular_values_`.

        `values`: the singular values of the rows so far, descending, without that of the ones if
        the mean is updated. In the mode "exact", `singular_values_` has all values of the spectrum,
        else those of the nodes.
        """
        n_rows = self.n_seen_
        if self.update_mean:
            spectrum = extended_spectrum(values, n_rows, self._stream.mean)
        else:
            n_columns = self.n_features_in_ + 1
            spectrum = uncentred_spectrum(values, n_rows, n_columns)
        self._nodes = self._node_spectrum(spectrum)
        shows_all = self.mode == "exact"
        shown = spectrum if shows_all else self._nodes
        self.singular_values_ = shown.values

    def _all_coordinates(self) -> Array:
        """Return the coordinates of all rows so far along the r directions, of shape (n, r).

        Rows of earlier chunks have zeros for directions that later chunks have added.
        """
        n_directions = len(self._stream.basis)
        blocks = []
        for block in self._coordinates:
            n_missing = n_directions - block.shape[1]
            zeros = ((0, 0), (0, n_missing))
            extended = np.pad(block, zeros)
            blocks.append(extended)
        return np.vstack(blocks)

    def _solve_nodes(self) -> None:
        """Compute the hidden nodes and the output weights from all rows so far (Algorithm 1, lines
        10 to 12).

        It sets `weights_`, `biases_`, `beta_`, `condition_` and `n_units_`, in the mode "exact"
        also `singular_values_`, and `mean_` if the mean is updated.
        """
        values, rotation = self._stream.decomposition()
        if self.mode == "exact":  # otherwise theta has chosen the values that are left
            self._choose_nodes(values)
        leading = rotation[: self._nodes.n_directions]
        signed_rotation, directions = self._stream.fix_signs(leading)
        if self.update_mean:
            self.mean_ = self._stream.mean
            self.weights_, self.biases_ = self._nodes.nodes(directions)
        else:
            # The last feature is that of the ones.
            self.weights_ = directions[:, :-1].copy()
            self.biases_ = directions[:, -1].copy()
        # The inputs of the nodes for all rows.
        coordinates = self._all_coordinates()
        centred = coordinates - self._stream.offset
        projections = centred @ signed_rotation.T
        inputs = self._nodes.node_rows(projections.T, 1.0).T
        targets = np.concatenate(self._targets)
        self._coordinates = [coordinates]
        self._targets = [targets]
        self._solve(inputs, targets)
