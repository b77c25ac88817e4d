"""Random hidden nodes."""

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from elmbench.models.base.parameters import estimator
from elmbench.models.base.paths import Grid
from elmbench.numerics.arrays import Array, Indices, Rows
from elmbench.numerics.nodes.hidden_layer import draw_hidden_nodes, hidden_layer, layer_blocks

CONSTANT_LAYER = (
    "the hidden layer yields the same values for every training row, so there is nothing to tell the classes apart by "
    "and one class is predicted for all rows; with activation='sigmoid' this happens when <w, x> is large, as it is "
    "for many features: use 'nsig', which divides it by their number, or 'rbf'"
)


@estimator
class HiddenNodesMixin:
    """Random hidden nodes and the outputs of their network.

    Weights and biases are uniform on `_interval`; `_layer` returns the outputs of the nodes.
    """

    _interval: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    _layer: ClassVar[Any] = staticmethod(hidden_layer)

    beta_: Array = field(init=False)
    n_hidden: int = 100
    activation: str = "sigmoid"
    random_state: int | np.random.RandomState | None = None

    def _draw_nodes(self, n_features: int) -> None:
        random_state = check_random_state(self.random_state)
        self.weights_, self.biases_ = draw_hidden_nodes(self.n_hidden, n_features, random_state, *self._interval)
        self.n_units_ = self.n_hidden

    def _nodes_key(self) -> tuple[Any, ...]:
        """Return a key that is equal for models that draw the same nodes, apart from their number."""
        return self.activation, self.random_state

    def _hidden(self, X: Rows) -> Array:
        """Return the outputs of the hidden nodes, of shape (n, n_hidden)."""
        return np.asarray(self._layer(X, self.weights_, self.biases_, self.activation))

    def _outputs(self, X: Rows) -> Array:
        """Return h(x)' beta for every row."""
        return np.concatenate([self._hidden(X[rows]) @ self.beta_ for rows in layer_blocks(X.shape[0])])


class NodesFold(NamedTuple):
    """Candidates with the same hidden nodes on a fold.

    `members` are the candidates with their numbers, `sizes` their ascending numbers of nodes, and `largest` is the one
    whose leading nodes are those of the others. `T` and `decode` are as in `Grid.encode`.
    """

    number: int
    train: Indices
    members: list[tuple[int, Any]]
    sizes: list[int]
    largest: Any
    T: Array
    decode: Callable[[Array], NDArray[Any]]
    probes: list[Array]

    def outputs(self, beta: Array) -> Array:
        """Return the products of the leading hidden nodes with `beta` for the test rows."""
        # H beta as the transpose of beta' H': a third of the time, as the columns of H are contiguous.
        return np.hstack([beta.T @ H[:, : len(beta)].T for H in self.probes]).T


def node_folds(grid: Grid) -> Iterator[NodesFold]:
    """Yield every fold for each group of candidates with the same nodes, which are drawn once for a group."""
    for members in grid.group(lambda model: model._nodes_key()):
        largest = max((model for _, model in members), key=lambda model: model.n_hidden)
        largest._draw_nodes(grid.X.shape[1])
        sizes = sorted({model.n_hidden for _, model in members})
        for j, (train, test) in enumerate(grid.folds):
            probes = [largest._hidden(grid.X[test[rows]]) for rows in layer_blocks(len(test))]
            yield NodesFold(j, train, members, sizes, largest, *grid.encode(train), probes)
