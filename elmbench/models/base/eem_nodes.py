"""What the models with the random nodes of Czarnecki & Tabor share."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from elmbench.models.base.parameters import check_choice, check_count
from elmbench.numerics.arrays import Array
from elmbench.numerics.nodes.eem_nodes import NODES, node_outputs
from elmbench.numerics.nodes.hidden_layer import draw_hidden_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

CONSTANT_LAYER = (
    "the hidden layer yields the same values for every training row, so there is nothing to tell the classes apart by "
    "and one class is predicted for all rows; with activation='sigmoid' this happens when <w, x> is large, as it is "
    "for many features: use 'nsig', which divides it by their number, or 'rbf'"
)


class EEMNodesMixin:
    """Random hidden nodes G(x, w, b) with w and b uniform on [0, 1], section 7 of the paper."""

    n_hidden: int
    activation: str
    random_state: int | np.random.RandomState | None

    def _draw_nodes(self, n_features: int) -> None:
        """Set `weights_` and `biases_`."""
        n_hidden = check_count("n_hidden", self.n_hidden)
        check_choice("activation", self.activation, NODES)
        random_state = check_random_state(self.random_state)
        self.weights_, self.biases_ = draw_hidden_nodes(n_hidden, n_features, random_state, 0.0, 1.0)

    def _layer(self, X: Array) -> Array:
        """Return the outputs of the hidden nodes, of shape (n, padded(n_hidden))."""
        return node_outputs(X, self.weights_, self.biases_, self.activation)

    @property
    def n_units_(self) -> int:
        """The number of hidden nodes."""
        return len(self.weights_)


def warn_of_constant_layer() -> None:
    """Say that one class is all that can be predicted."""
    warnings.warn(CONSTANT_LAYER, UserWarning, stacklevel=2)


def by_nodes(models: Sequence[Any]) -> list[tuple[Any, list[int], list[tuple[int, Any]]]]:
    """Group candidates of a grid by the stream and the kind of their nodes.

    Returns
    -------
    list of (model, sizes, members)
        The candidate with the most nodes, whose leading nodes are those of the others; the ascending numbers of nodes;
        the group's candidates with their places in `models`.
    """
    groups: dict[tuple[str, Any], list[tuple[int, Any]]] = {}
    for i, model in enumerate(models):
        check_count("n_hidden", model.n_hidden)
        groups.setdefault((model.activation, model.random_state), []).append((i, model))
    found = []
    for members in groups.values():
        largest = max((model for _, model in members), key=lambda model: model.n_hidden)
        found.append((largest, sorted({model.n_hidden for _, model in members}), members))
    return found
