"""What the online sequential kernel extreme learning machines share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from elmbench.models._parameters import check_choice, check_real
from elmbench.numerics.kernels import BLOCK_BYTES, kernel_matrix, row_blocks
from elmbench.numerics.online import KERNELS, DependencyState, InverseState

if TYPE_CHECKING:
    from elmbench.models._base import Array


class OnlineKernel(BaseEstimator):
    """What all six share: a state that grows by `extend`, and the attributes read from it."""

    model_version: int = 1

    C: float
    gamma: float
    kernel: str
    _state: InverseState | DependencyState

    def _new_state(self, n_features: int, n_outputs: int) -> InverseState | DependencyState:
        raise NotImplementedError

    def _checked(self) -> tuple[float, float]:
        """Return the ridge and gamma."""
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
        dictionary, beta, gamma = self.dictionary_, self.beta_, self._state.gamma
        outputs = np.zeros((len(X), beta.shape[1]))
        if len(dictionary) > 0:
            for rows in row_blocks(len(X), len(dictionary)):
                outputs[rows] = kernel_matrix(X[rows], dictionary, gamma=gamma) @ beta
        return outputs

    @property
    def beta_(self) -> Array:
        """Output weights, of shape (n_units, n_outputs)."""
        check_is_fitted(self, "n_units_")
        return self._state.solution()

    @property
    def dictionary_(self) -> Array:
        """Rows of the dictionary, of shape (n_units, n_features), in the order of `beta_`."""
        check_is_fitted(self, "n_units_")
        return np.ascontiguousarray(self._state.dictionary[:, : self._state.size].T)

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


def inverse_bytes(m: int, n_features: int, n_outputs: int) -> int:
    """Return the bytes of a state with `m` rows while its inverse is computed from scratch."""
    return 8 * m * (2 * m + 2 * n_features + 4 * n_outputs + 8) + 3 * BLOCK_BYTES
