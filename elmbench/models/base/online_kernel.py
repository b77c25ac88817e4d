"""Kernel extreme learning machines that learn row by row."""

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from elmbench.models.base import paths
from elmbench.models.base.kernel import KernelMixin
from elmbench.models.base.parameters import estimator
from elmbench.models.base.paths import Grid
from elmbench.models.base.singular import warn_of_singular
from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.kernels import BLOCK_BYTES
from elmbench.numerics.online.looked_up import PIECE, LookedUp
from elmbench.numerics.online.states import DependencyState, InverseState
from elmbench.numerics.pairwise import PRECOMPUTED, Kernel
from elmbench.numerics.rows import Rows
from elmbench.numerics.solve import RidgeSystem

State = InverseState | DependencyState | LookedUp


@estimator
class OnlineKernel(KernelMixin):
    """A kernel model that learns row by row, by a state that grows by `extend`."""

    model_version = 1

    evaluate_grid = classmethod(paths.evaluate_grid)

    C: float = 1.0
    gamma: float | str = "auto"

    def _new_state(self, n_features: int, n_outputs: int) -> InverseState | DependencyState:
        raise NotImplementedError

    def _state_for(self, X: Rows, n_outputs: int, kernel: Kernel) -> State:
        """Return the state that has learnt nothing yet: for such rows with the Gaussian kernel, or any kernel."""
        if kernel.is_plain(X):
            return self._new_state(X.shape[1], n_outputs)
        return LookedUp(self._new_state(1, n_outputs), kernel)

    def _fit(self, X: Rows, T: Array) -> None:
        self._start(X.shape[1], T.shape[1])
        self._update(X, T)
        assert self._state is not None
        if 0 < self._state.ridge <= EPS:  # a look at all of the matrix costs too much where there is no need for it
            system = RidgeSystem(np.array(self._state.among(), order="F"), self._state.ridge)
            if system.is_lost(EPS):
                warn_of_singular(self, system.condition)

    def _start(self, n_features: int, n_outputs: int) -> None:
        self._kernel = self._make_kernel()
        self._state: State | None = None

    def _update(self, X: Rows, T: Array) -> None:
        if self._state is None:
            self._state = self._state_for(X, T.shape[1], self._kernel)
        elif sp.issparse(X) and not isinstance(self._state, LookedUp):
            X = X.toarray()
        self._state.extend(X, T)
        self.n_units_ = self._state.size

    def _outputs(self, X: Rows) -> Array:
        return self._kernel.product(X, self.dictionary_, self.beta_)

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Serve candidates that learn the same model by the first of them.

        Budgets that are not reached, thresholds between which no row's distance lies, every `C` where there is no
        ridge, every `gamma` where the kernel has none.
        """
        groups: dict[Hashable, tuple[Kernel, list[tuple[int, OnlineKernel]]]] = {}
        for i, model in enumerate(grid.models):
            kernel = model._make_kernel()
            groups.setdefault(kernel.key, (kernel, []))[1].append((i, model))
        for j, (learnt_rows, _) in enumerate(grid.folds):
            T, decoded = cls._coded(grid.y[learnt_rows])
            for kernel, members in groups.values():
                X, probes = grid.rows(j, kernel)
                learnt: list[tuple[Any, Array]] = []
                for i, model in members:
                    state: Any = model._state_for(X, T.shape[1], kernel)
                    outputs = next((known for other, known in learnt if other.serves(state)), None)
                    if outputs is None:
                        state.extend(X, T)
                        outputs = kernel.product(probes, state.rows, state.solution())
                        learnt.append((state, outputs))
                    yield i, j, decoded(outputs)

    @property
    def _learnt(self) -> State:
        check_is_fitted(self, "n_units_")
        assert self._state is not None
        return self._state

    @property
    def beta_(self) -> Array:
        """Output weights, of shape (n_units, n_outputs)."""
        return self._learnt.solution()

    @property
    def dictionary_(self) -> Rows:
        """Rows of the dictionary, of shape (n_units, n_features), in the order of `beta_`; sparse if the first were.

        Where the kernel is precomputed, their numbers, of shape (n_units,).
        """
        return self._learnt.rows

    @property
    def inverse_(self) -> Array:
        """Inverse of the (regularised) kernel matrix of the dictionary, of shape (n_units, n_units)."""
        return self._learnt.inverse_matrix()

    @property
    def condition_(self) -> float:
        """Condition number in the 1-norm of the matrix whose inverse is `inverse_`, computed when asked for."""
        if self._learnt.size == 0:
            return 1.0
        matrix = self._learnt.among().copy()
        np.einsum("ii->i", matrix)[:] += self._learnt.ridge
        return float(np.linalg.norm(matrix, 1) * np.linalg.norm(self.inverse_, 1))


def inverse_bytes(m: int, n_features: int, n_outputs: int) -> int:
    """Return the bytes of a state with `m` rows while its inverse is computed from scratch."""
    return 8 * m * (2 * m + 2 * n_features + 4 * n_outputs + 8) + 3 * BLOCK_BYTES


def looked_up_bytes(kernel: Any, m: int, n_samples: int) -> int:
    """Return the bytes of the kernel's values that are looked up while a dictionary of up to `m` rows learns.

    Those of the Gaussian kernel are computed as they are needed.
    """
    if isinstance(kernel, str) and kernel == "rbf":
        return 0
    if isinstance(kernel, str) and kernel == PRECOMPUTED:
        return 16 * n_samples**2
    piece = min(n_samples, max(PIECE, m))
    return 8 * (m**2 + (m + piece) ** 2 + 2 * piece * (piece + m))
