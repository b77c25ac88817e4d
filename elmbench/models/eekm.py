"""The extreme entropy kernel machine: an extreme entropy machine in the features of a kernel at some landmarks."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from elmbench.models.base.entropy import EntropyClassifier, discriminants, odds_of
from elmbench.models.base.parameters import check_choice, check_count, check_real
from elmbench.models.base.paths import Grid, ProjectionPathMixin
from elmbench.numerics.arrays import Array
from elmbench.numerics.entropy.covariance import HELD_BYTES
from elmbench.numerics.entropy.discriminant import Discriminant
from elmbench.numerics.entropy.landmarks import LandmarkFeatures
from elmbench.numerics.kernels import KERNELS, kernel_product, row_blocks, squared_distances
from elmbench.numerics.nodes.hidden_layer import ROW_BLOCK

CONSTANT_KERNEL = (
    "the kernel has the same value for all pairs of rows, so there is nothing to tell the classes apart by and one "
    "class is predicted for all rows: expected a larger gamma"
)


class _Distances:
    """Squared distances from rows to landmarks, of which those of the first rows asked for are kept."""

    def __init__(self, X: Array, landmarks: Array) -> None:
        self._X = X
        self._landmarks = landmarks
        self._kept: dict[bytes, Array] = {}
        self._room = HELD_BYTES

    def __call__(self, rows: NDArray[np.intp]) -> Array:
        key = rows.tobytes()
        if key in self._kept:
            return self._kept[key].copy()
        distances = squared_distances(self._X[rows], self._landmarks)
        if distances.nbytes <= self._room:
            self._room -= distances.nbytes
            self._kept[key] = distances.copy()
        return distances


def _fitted(
    distances: Callable[[NDArray[np.intp]], Array], among: Array, T: Array, kernel: str, gamma: float
) -> tuple[list[Discriminant], Array]:
    """Return the discriminants in the features of landmarks, and beta^ = K^(-1/2) beta of section 6.

    `distances` returns the squared distances of rows, by number, to the landmarks; `among` holds those among these.
    """
    transform = KERNELS[kernel]
    landmarks = LandmarkFeatures(transform(among.copy(), gamma))
    rank = landmarks.map.shape[1]

    def features(rows: NDArray[np.intp]) -> Array:
        return transform(distances(rows), gamma) @ landmarks.map

    found = discriminants(features, T, [rank], CONSTANT_KERNEL, dimension=len(among))[rank]
    return found, landmarks.map @ np.column_stack([d.beta for d in found])


class EEKMClassifier(EntropyClassifier, ProjectionPathMixin, BaseEstimator):
    """Extreme entropy kernel machine.

    An extreme entropy machine, see `EEMClassifier`, in the features K^(-1/2) k(x) of the Nystroem approximation, where
    k(x) holds the kernel between x and h training rows drawn without replacement, the landmarks, and K that among
    them. Eigenvalues of K below 1e-12, such as those that a small `gamma` leaves no digits of, count as 1e-12. More
    than two classes are learnt one against the rest.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of landmarks, h in the paper; all training rows where there are fewer. The landmarks of a smaller
        machine are among those of a larger one with the same integer `random_state`.
    gamma : float, default=1.0
        Inverse squared width of the kernel, exp(-gamma d^2).
    kernel : {"rbf"}, default="rbf"
    priors, costs
        As in `EEMClassifier`.
    random_state : int, RandomState or None, default=None
        Draws the landmarks.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_units_, n_features)
    beta_ : ndarray of shape (n_units_, n_outputs)
        K^(-1/2) beta, the weights of the kernel at the landmarks (beta^ of section 6), one column for two classes, else
        one a class; zero where the means of the classes coincide.
    n_units_ : int
        Number of landmarks.
    means_, variances_, thresholds_, classes_, condition_, n_features_in_
        As in `EEMClassifier`.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines: Robust information theoretic classification, sections 3 and 6, eqs.
    (2) and (4), Algorithms 1 and 2.
    """

    model_version: int = 1

    def __init__(
        self,
        n_landmarks: int = 100,
        gamma: float = 1.0,
        kernel: str = "rbf",
        priors: ArrayLike | Mapping[Any, float] | None = None,
        costs: ArrayLike | Mapping[Any, float] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.kernel = kernel
        self.priors = priors
        self.costs = costs
        self.random_state = random_state

    def _checked(self) -> tuple[str, float, int]:
        gamma = check_real("gamma", self.gamma)
        return check_choice("kernel", self.kernel, KERNELS), gamma, check_count("n_landmarks", self.n_landmarks)

    def _fit(self, X: Array, T: Array) -> None:
        kernel, gamma, n_landmarks = self._checked()
        landmarks = X[check_random_state(self.random_state).permutation(len(X))[:n_landmarks]]
        among = squared_distances(landmarks)
        found, beta = _fitted(lambda rows: squared_distances(X[rows], landmarks), among, T, kernel, gamma)
        self.landmarks_, self.beta_ = landmarks, beta
        self.n_units_ = len(landmarks)
        self._set(found)

    def _projections(self, X: Array) -> Array:
        return kernel_product(X, self.landmarks_, self.beta_, gamma=float(self.gamma), kernel=self.kernel)

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        """Count matrices of the landmarks squared and the features of the rows, up to `HELD_BYTES` of these."""
        size = min(n_samples, params.get("n_landmarks", 100))
        block = 4 * size * min(n_samples, ROW_BLOCK) + 2 * n_features * ROW_BLOCK
        held = min(8 * n_samples * size, HELD_BYTES)
        return held + 8 * (block + 6 * size**2 + 2 * n_samples * n_outputs + size * n_features)

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Draw the landmarks of a fold once, and make the distances to them once for all `gamma`."""
        X, y, models = grid.X, grid.y, grid.models
        checked = [model._checked() for model in models]
        for j, (train, test) in enumerate(grid.folds):
            T, decoded = cls._coded(y[train])
            classes = np.unique(y[train])
            groups: dict[tuple[Any, int], dict[tuple[str, float], list[int]]] = {}
            for i, (kernel, gamma, n_landmarks) in enumerate(checked):
                drawn = models[i].random_state, min(n_landmarks, len(train))
                groups.setdefault(drawn, {}).setdefault((kernel, gamma), []).append(i)
            for (random_state, size), kernels in groups.items():
                rows = X[train]
                landmarks = rows[check_random_state(random_state).permutation(len(rows))[:size]]
                distances, among = _Distances(rows, landmarks), squared_distances(landmarks)
                probes = [squared_distances(X[test[block]], landmarks) for block in row_blocks(len(test), size)]
                for (kernel, gamma), members in kernels.items():
                    found, beta = _fitted(distances, among, T, kernel, gamma)
                    projections = np.concatenate([KERNELS[kernel](probe.copy(), gamma) @ beta for probe in probes])
                    for i in members:
                        odds = odds_of(projections, found, models[i]._log_weights(classes))
                        yield i, j, grid.asked(decoded(odds), projections)
