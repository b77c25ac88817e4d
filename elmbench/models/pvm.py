"""The batch projection vector machine: hidden nodes along the singular directions of the data."""

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from elmbench.models.base.family import (
    COUNT,
    FamilyClassifier,
    NumberInterval,
    estimator,
)
from elmbench.models.base.paths import CandidateGrid, PathMixin
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.numerics.arrays import EPS, Array, Rows
from elmbench.numerics.kernels import row_blocks
from elmbench.numerics.nodes.hidden_layer import ACTIVATIONS
from elmbench.numerics.nodes.output_weights import leading_solutions
from elmbench.numerics.projection import (
    RATIOS,
    Spectrum,
    StreamedDecomposition,
    extended_spectrum,
    singular_directions,
)


def least_squares(
    inputs: Array, activation: str, T: Array, sizes: list[int]
) -> Iterator[tuple[int, Array, float]]:
    """Yield each number of leading nodes, their output weights by least squares, (size, n_outputs),
    and the condition number of their outputs.

    `inputs`: those of the nodes, before the activation, (n, L). `activation`: its name in
    `ACTIVATIONS`. `T`: targets, (n, n_outputs). `sizes`: these numbers, ascending; those above n
    come first. Singular values up to n times the machine precision times the largest one count as
    zero, as in MATLAB's pinv.
    """
    H = ACTIVATIONS[activation](np.array(inputs, order="F"))
    return leading_solutions(H, T, sizes, len(inputs) * EPS)


def project_rows(X: Rows, mean: Array, weights: Array, biases: Array) -> Array:
    """Return (x - mean)' w + b for all rows x of `X` and nodes, of shape (n, L).

    `mean`: of shape (d,). `weights`: a row w for each node, (L, d). `biases`: the b, (L,). Dense
    rows are centred a block at a time; sparse ones stay sparse.
    """
    if sp.issparse(X):
        # x'w + (b - mean'w).
        shifted_biases = biases - weights @ mean
        products = np.asarray(X @ weights.T)
        return products + shifted_biases
    n_rows, n_features = X.shape
    inputs = np.empty((n_rows, len(weights)))
    for rows in row_blocks(n_rows, n_features):
        centred = X[rows] - mean
        inputs[rows] = centred @ weights.T
    inputs += biases
    return inputs


@estimator
class ProjectionClassifier(FamilyClassifier):
    """Base class of networks with nodes g((x - mean)' w + b) along singular directions, and least
    squares on them.
    """

    n_hidden: int | None = None
    theta: float = 0.96
    ratio: str = "linear"
    activation: str = "sigmoid"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_hidden": [COUNT, None],
        "theta": [NumberInterval(Real, 0, 1, closed="right")],
        "ratio": [StrOptions(set(RATIOS))],
    }

    def _node_spectrum(self, spectrum: Spectrum) -> Spectrum:
        """Return the leading part of a spectrum, whose singular values have hidden nodes.

        These are the first `n_hidden`, or all if there are fewer; if `n_hidden` is None, the fewest
        that `theta` demands.
        """
        n_nodes = self.n_hidden
        if n_nodes is None:
            n_nodes = spectrum.node_count(self.theta, self.ratio)
        return spectrum.leading(n_nodes)

    def _solve(self, inputs: Array, T: Array) -> None:
        """Solve for the output weights by least squares, eq. (10): set `beta_`, `condition_` and
        `n_units_`.

        `inputs`: those of the nodes for all rows, before the activation, (n, L). `T`: targets
        -1/+1, (n, n_outputs).
        """
        n_nodes = inputs.shape[1]
        self.n_units_ = n_nodes
        self._activation = self.activation
        ((_, self.beta_, self.condition_),) = least_squares(
            inputs, self.activation, T, [n_nodes]
        )

    def _outputs(self, X: Rows) -> Array:
        """Return g(W (x - mean) + b)' beta for every row x of `X`, of shape (n, n_outputs)."""
        inputs = project_rows(X, self.mean_, self.weights_, self.biases_)
        activate = ACTIVATIONS[self._activation]
        return activate(inputs) @ self.beta_


def centred_decomposition(X: Rows) -> tuple[Array, Spectrum, Array]:
    """Return the mean of the rows, of shape (d,), the spectrum of the centred rows with the ones,
    eq. (6) of Chen et al., and its directions as rows, (number, d).

    The directions are those of the spectrum, in its order, and for dense rows also those within
    round-off. Dense rows are decomposed at once. Sparse ones are decomposed as a stream of blocks,
    which is as exact and needs only one dense block.
    """
    n, d = X.shape
    if not sp.issparse(X):
        # Relative to the first row, so that a mean that is large compared with the spread costs no
        # digits.
        first_row = X[0]
        centred = X - first_row
        shift = centred.mean(axis=0)
        centred -= shift
        mean = first_row + shift
        values, directions = singular_directions(centred)
        spectrum = extended_spectrum(values, n, mean)
        return mean, spectrum, directions
    stream = StreamedDecomposition(d)
    for rows in gen_batches(n, 256):
        block = X[rows].toarray()
        stream.update(block)
    values, rotation = stream.decomposition()
    spectrum = extended_spectrum(values, n, stream.mean)
    leading = rotation[: spectrum.n_directions]
    _, directions = stream.fix_signs(leading)
    return stream.mean, spectrum, directions


class PVMClassifier(ProjectionClassifier, PathMixin):
    """Batch projection vector machine.

    A network f(x) = g(W [x - mean; 1])' beta whose input weights W are the leading left singular
    vectors of the centred training samples extended by a row of ones, U_d' of eq. (6), and whose
    output weights are those of least squares, the pseudo-inverse of the hidden outputs times
    targets -1/+1, eq. (10). More than two classes are learnt one against the rest. There are no
    random numbers, and the only regularisation is the number of nodes.

    Parameters
    ----------
    n_hidden : int or None, default=None
        Number of hidden nodes, at most the number of non-zero singular values. None determines it
        by `theta`.
    theta : float, default=0.96
        In (0, 1]: the nodes are the fewest whose singular values add up to this part of the sum of
        all, eq. (27). Only used if `n_hidden` is None.
    ratio : {"linear", "squared"}, default="linear"
        Terms of eq. (27): the singular values, as printed, or their squares.
    activation : {"sigmoid", "tanh", "relu"}, default="sigmoid"

    Attributes
    ----------
    singular_values_ : ndarray of shape (rank,)
        Singular values of the extended data above round-off, the largest first.
    weights_ : ndarray of shape (n_units, n_features)
        Input weights, the first singular vectors, with a positive entry of largest magnitude.
    biases_ : ndarray of shape (n_units,)
        See the notes.
    mean_ : ndarray of shape (n_features,)
    beta_ : ndarray of shape (n_units, n_outputs)
        Output weights.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of hidden nodes.
    condition_ : float
        Estimated condition number of the hidden outputs.
    n_features_in_ : int

    See Also
    --------
    OSPVMClassifier : The same network, learnt chunk by chunk.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    The row of ones is orthogonal to centred data, so it is a singular vector with the value
    sqrt(n_samples). Its node is constant, with zero input weights and the bias 1; all other biases
    are zero. The node is absent if sqrt(n_samples) is not among the leading singular values.

    `fit` needs about twice the memory of the training rows. Sparse rows (CSR) are made dense 256 at
    a time. Their directions are dense: with fewer rows than features, they have as many floats as
    the dense rows would.

    References
    ----------
    Deng, Zheng, Lian, Chen, Wang, Projection Vector Machine, IJCNN 2010; Chen, Jia, Zhang, Deng,
    Wei, Online Sequential Projection Vector Machine with Adaptive Data Mean Update, Computational
    Intelligence and Neuroscience, 2016, section 2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import PVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(PVMClassifier(theta=0.99).fit(X, y).score(X, y), 2)
    0.83
    """

    def _fit(self, X: Rows, T: Array) -> None:
        """Set the mean and the hidden nodes from the directions of the rows, and solve for the
        output weights.

        `T`: targets -1/+1, (n, n_outputs), one column for two classes. Rows have no weights.
        """
        self.mean_, spectrum, directions = centred_decomposition(X)
        self.singular_values_ = spectrum.values
        nodes = self._node_spectrum(spectrum)
        self.weights_, self.biases_ = nodes.nodes(directions)
        inputs = project_rows(X, self.mean_, self.weights_, self.biases_)
        self._solve(inputs, T)

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs), decomposing the rows of a fold once.

        One QR decomposition serves all numbers of nodes of an activation. `outputs`: the values of
        the method `grid.output` for the test rows.
        """
        models_by_activation = _group_by_activation(grid.models)
        for fold, (train, test) in enumerate(grid.folds):
            rows = grid.X[train]
            T, decode = grid.encode(train)
            mean, spectrum, directions = centred_decomposition(rows)
            spectra = [model._node_spectrum(spectrum) for model in grid.models]
            sizes = [len(nodes.values) for nodes in spectra]
            # The nodes of the largest network; the others have its first ones.
            largest = spectrum.leading(max(sizes))
            weights, biases = largest.nodes(directions)
            inputs = project_rows(rows, mean, weights, biases)
            test_inputs = project_rows(grid.X[test], mean, weights, biases)
            for activation, numbers in models_by_activation.items():
                activate = ACTIVATIONS[activation]
                test_outputs = activate(test_inputs.copy())
                distinct_sizes = sorted({sizes[number] for number in numbers})
                solutions = least_squares(inputs, activation, T, distinct_sizes)
                for size, beta, _ in solutions:
                    leading = test_outputs[:, :size]
                    outputs = leading @ beta
                    # These models have the same nodes.
                    group = [number for number in numbers if sizes[number] == size]
                    yield from grid.results([group], fold, outputs, decode)


def _group_by_activation(models: Sequence[Any]) -> dict[str, list[int]]:
    """Return {activation: positions of the models with it in the list}."""
    groups: dict[str, list[int]] = {}
    for number, model in enumerate(models):
        members = groups.setdefault(model.activation, [])
        members.append(number)
    return groups
