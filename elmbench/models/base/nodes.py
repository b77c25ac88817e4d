"""What the models with random hidden nodes share."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from elmbench.models.base.parameters import check_choice, check_count
from elmbench.models.base.paths import Grid
from elmbench.numerics.arrays import Array
from elmbench.numerics.centres import Rows
from elmbench.numerics.nodes.eem_nodes import NODES, node_outputs
from elmbench.numerics.nodes.hidden_layer import ACTIVATIONS, draw_hidden_nodes, hidden_layer, layer_blocks

CONSTANT_LAYER = (
    "the hidden layer yields the same values for every training row, so there is nothing to tell the classes apart by "
    "and one class is predicted for all rows; with activation='sigmoid' this happens when <w, x> is large, as it is "
    "for many features: use 'nsig', which divides it by their number, or 'rbf'"
)


class HiddenNodesMixin:
    """Random hidden nodes, with weights and biases uniform on [-1, 1], and the outputs of the network that has them."""

    _activations: ClassVar[Iterable[str]] = ACTIVATIONS
    _interval: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    n_hidden: int
    activation: str
    random_state: int | np.random.RandomState | None
    beta_: Array

    def _draw_nodes(self, n_features: int) -> None:
        n_hidden = check_count("n_hidden", self.n_hidden)
        check_choice("activation", self.activation, self._activations)
        random_state = check_random_state(self.random_state)
        self.weights_, self.biases_ = draw_hidden_nodes(n_hidden, n_features, random_state, *self._interval)

    def _kind(self) -> tuple[Any, ...]:
        """Return what tells the nodes of two models apart but for their number."""
        return self.activation, self.random_state

    def _hidden(self, X: Rows) -> Array:
        """Return the outputs of the hidden nodes, of shape (n, n_hidden)."""
        return hidden_layer(X, self.weights_, self.biases_, self.activation)

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


class EEMNodesMixin(HiddenNodesMixin):
    """Random hidden nodes G(x, w, b) with w and b uniform on [0, 1], section 7 of Czarnecki & Tabor."""

    _accept_sparse: ClassVar[str] = "csr"
    _activations = NODES
    _interval = (0.0, 1.0)

    def _hidden(self, X: Rows) -> Array:
        return node_outputs(X, self.weights_, self.biases_, self.activation)


def by_nodes(grid: Grid) -> Iterator[tuple[Any, list[int], list[tuple[int, Any]]]]:
    """Group candidates by the stream and the kind of their nodes, and draw the nodes of each group.

    Yields the candidate with the most nodes, which are drawn and whose leading nodes are those of the others; the
    ascending numbers of nodes; the group's candidates with their places in the grid.
    """
    groups: dict[tuple[Any, ...], list[tuple[int, Any]]] = {}
    for i, model in enumerate(grid.models):
        check_count("n_hidden", model.n_hidden)
        groups.setdefault(model._kind(), []).append((i, model))
    for members in groups.values():
        largest = max((model for _, model in members), key=lambda model: model.n_hidden)
        largest._draw_nodes(grid.X.shape[1])
        yield largest, sorted({model.n_hidden for _, model in members}), members
