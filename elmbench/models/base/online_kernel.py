"""What the online sequential kernel extreme learning machines share."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from elmbench.models.base.parameters import check_choice, check_real
from elmbench.models.base.paths import Grid, GridPathMixin
from elmbench.numerics.arrays import Array
from elmbench.numerics.kernels import BLOCK_BYTES, kernel_matrix, kernel_product
from elmbench.numerics.online.states import KERNELS, DependencyState, InverseState


class OnlineKernel(GridPathMixin, BaseEstimator):
    """What all six share: a state that grows by `extend`, and the attributes read from it."""

    model_version: int = 1

    _state: InverseState | DependencyState

    def __init__(self, C: float = 1.0, gamma: float = 1.0, kernel: str = "rbf") -> None:
        self.C = C
        self.gamma = gamma
        self.kernel = kernel

    def _new_state(self, n_features: int, n_outputs: int) -> InverseState | DependencyState:
        raise NotImplementedError

    def _checked(self) -> tuple[float, float]:
        check_choice("kernel", self.kernel, KERNELS)
        return 1.0 / check_real("C", self.C), check_real("gamma", self.gamma)

    def _fit(self, X: Array, T: Array) -> None:
        self._start(X.shape[1], T.shape[1])
        self._update(X, T)

    def _start(self, n_features: int, n_outputs: int) -> None:
        self._state = self._new_state(n_features, n_outputs)

    def _update(self, X: Array, T: Array) -> None:
        self._state.extend(X, T)
        self.n_units_ = self._state.size

    def _outputs(self, X: Array) -> Array:
        return kernel_product(X, self.dictionary_, self.beta_, gamma=self._state.gamma)

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Serve candidates that learn the same model by the first of them.

        Budgets that are not reached, thresholds between which no row's distance lies, every `C` where there is no
        ridge.
        """
        groups: dict[float, list[tuple[int, OnlineKernel]]] = {}
        for i, model in enumerate(grid.models):
            groups.setdefault(model._checked()[1], []).append((i, model))
        for j, (train, test) in enumerate(grid.folds):
            X, (T, decoded) = grid.X[train], cls._coded(grid.y[train])
            for gamma, members in groups.items():
                learnt: list[tuple[Any, Array]] = []
                for i, model in members:
                    state: Any = model._new_state(X.shape[1], T.shape[1])
                    outputs = next((known for other, known in learnt if other.serves(state)), None)
                    if outputs is None:
                        state.extend(X, T)
                        outputs = kernel_product(grid.X[test], _rows(state), state.solution(), gamma=gamma)
                        learnt.append((state, outputs))
                    yield i, j, decoded(outputs)

    @property
    def beta_(self) -> Array:
        """Output weights, of shape (n_units, n_outputs)."""
        check_is_fitted(self, "n_units_")
        return self._state.solution()

    @property
    def dictionary_(self) -> Array:
        """Rows of the dictionary, of shape (n_units, n_features), in the order of `beta_`."""
        check_is_fitted(self, "n_units_")
        return _rows(self._state)

    @property
    def inverse_(self) -> Array:
        """Inverse of the (regularised) kernel matrix of the dictionary, of shape (n_units, n_units)."""
        check_is_fitted(self, "n_units_")
        return self._state.inverse_matrix()

    @property
    def condition_(self) -> float:
        """Condition number in the 1-norm of the matrix whose inverse is `inverse_`, computed when asked for."""
        check_is_fitted(self, "n_units_")
        if self.n_units_ == 0:
            return 1.0
        matrix = kernel_matrix(self.dictionary_, gamma=self._state.gamma)
        np.einsum("ii->i", matrix)[:] += self._state.ridge
        return float(np.linalg.norm(matrix, 1) * np.linalg.norm(self.inverse_, 1))


def _rows(state: InverseState | DependencyState) -> Array:
    """Return the rows of a dictionary, in C order."""
    return np.ascontiguousarray(state.dictionary[:, : state.size].T)


def inverse_bytes(m: int, n_features: int, n_outputs: int) -> int:
    """Return the bytes of a state with `m` rows while its inverse is computed from scratch."""
    return 8 * m * (2 * m + 2 * n_features + 4 * n_outputs + 8) + 3 * BLOCK_BYTES
