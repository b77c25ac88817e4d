"""Random hidden nodes."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from elmbench.models.base.paths import Grid
from elmbench.numerics.arrays import Array
from elmbench.numerics.centres import Rows
from elmbench.numerics.nodes.hidden_layer import draw_hidden_nodes, hidden_layer, layer_blocks

CONSTANT_LAYER = (
    "the hidden layer yields the same values for every training row, so there is nothing to tell the classes apart by "
    "and one class is predicted for all rows; with activation='sigmoid' this happens when <w, x> is large, as it is "
    "for many features: use 'nsig', which divides it by their number, or 'rbf'"
)


class HiddenNodesMixin:
    """Random hidden nodes and the outputs of their network.

    Weights and biases are uniform on `_interval`; `_layer` returns the outputs of the nodes.
    """

    _accept_sparse: ClassVar[str] = "csr"
    _interval: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    _layer: ClassVar[Any] = staticmethod(hidden_layer)

    n_hidden: int
    activation: str
    random_state: int | np.random.RandomState | None
    beta_: Array

    def _draw_nodes(self, n_features: int) -> None:
        random_state = check_random_state(self.random_state)
        self.weights_, self.biases_ = draw_hidden_nodes(self.n_hidden, n_features, random_state, *self._interval)

    def _kind(self) -> tuple[Any, ...]:
        """Return a key of the nodes of a model, except for their number."""
        return self.activation, self.random_state

    def _hidden(self, X: Rows) -> Array:
        """Return the outputs of the hidden nodes, of shape (n, n_hidden)."""
        outputs: Array = self._layer(X, self.weights_, self.biases_, self.activation)
        return outputs

    def _outputs(self, X: Rows) -> Array:
        """Return h(x)' beta for every row."""
        outputs = np.empty((X.shape[0], self.beta_.shape[1]))
        for rows in layer_blocks(X.shape[0]):
            outputs[rows] = self._hidden(X[rows]) @ self.beta_
        return outputs

    @property
    def n_units_(self) -> int:
        """The number of hidden nodes."""
        return len(self.weights_)


def by_nodes(grid: Grid) -> Iterator[tuple[Any, list[int], list[tuple[int, Any]]]]:
    """Group candidates by the stream and the kind of their nodes, and draw the nodes of each group.

    Yields the largest candidate, whose leading nodes are those of the others; the ascending numbers of nodes; and the
    candidates of the group with their numbers.
    """
    groups: dict[tuple[Any, ...], list[tuple[int, Any]]] = {}
    for i, model in enumerate(grid.models):
        groups.setdefault(model._kind(), []).append((i, model))
    for members in groups.values():
        largest = max((model for _, model in members), key=lambda model: model.n_hidden)
        largest._draw_nodes(grid.X.shape[1])
        yield largest, sorted({model.n_hidden for _, model in members}), members
