"""Models with kernels at centres as hidden nodes, and the reduced kernel extreme learning machine
of Deng et al.
"""

from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from elmbench.models.base.family import check_condition, estimator, numeric_gamma
from elmbench.models.base.kernels import KernelMixin
from elmbench.models.base.paths import CandidateGrid, PathMixin
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.models.base.weights import (
    WeightedClassifier,
    WeightedRegressor,
    weight_key,
)
from elmbench.numerics.arrays import EPS, Array, Indices, Rows
from elmbench.numerics.error_bounds import network_bounds
from elmbench.numerics.pairwise import OF_DISTANCES, Kernel, kernel_blocks
from elmbench.numerics.ridge_path import ridge_solutions
from elmbench.numerics.solve import RidgeSystem, normal_equations


@estimator
class CentresMixin(PathMixin):
    """A network f(x) = sum_i beta_i k(x, c_i) on random centres, with ridge regression for its
    output weights.

    A subclass names the parameter with the number of centres and draws them; fewer centres are the
    first ones of more.
    """

    _size_name: ClassVar[str]

    C: float = 1.0
    gamma: float | str = "scale"
    random_state: int | np.random.RandomState | None = None

    @abstractmethod
    def _draw(self, X: Rows, eligible: Indices) -> tuple[Rows, float | Array]:
        """Draw centres, from some of the rows or independently of them.

        `X`: the training rows. `eligible`: numbers of the rows that may be centres. Return the
        centres, as rows or, for a precomputed kernel, numbers of rows, and the factor of `gamma` at
        each, (n_centres,), or at all of them, a number.
        """

    def _centres_key(self) -> tuple[Hashable, ...]:
        """Return a key that is equal for models that draw the same centres, apart from their number
        and `gamma`, and have the same class weights.
        """
        return self.random_state, weight_key(self)

    def _make_kernel(self) -> Kernel:
        """Return the Gaussian kernel with the number of `gamma`, without the widths of its centres.

        "scale" or "auto" must have its number `_gamma`, which `fit` sets first.
        """
        return Kernel(gamma=numeric_gamma(self))

    @property
    def _size(self) -> int:
        """The requested number of centres, which may exceed the number of rows."""
        return int(getattr(self, self._size_name))

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Draw the centres and solve the reduced system, (K'K + I/C) beta = K'T, with the kernel K
        between rows and centres; warn if the ridge is lost in round-off and the system singular.

        `T`: targets, (n, n_outputs), -1/+1 for classes, not scaled. `scale`: the square roots of
        the weights of rows, (n,), which multiply the rows of K and T; rows with 0 are no centres;
        None if all are 1.
        """
        eligible = np.arange(X.shape[0]) if scale is None else np.flatnonzero(scale)
        self.centres_, factor = self._draw(X, eligible)
        n_centres = self.centres_.shape[0]
        self.n_units_ = n_centres
        # Each centre may have a width of its own.
        gamma = numeric_gamma(self) * factor
        self.gammas_: Array = np.broadcast_to(gamma, n_centres)
        kernel = self._make_kernel()
        self._kernel = kernel.with_gamma(gamma)
        # (K'K + I/C) beta = K'T for the kernel K between rows and centres.
        blocks = kernel_blocks(self._kernel, X, self.centres_, [gamma])
        ((gram, moments),) = normal_equations(blocks, 1, n_centres, T, scale)
        ridge = 1.0 / float(self.C)
        system = RidgeSystem(gram, ridge)
        self.beta_ = system.solve(moments)
        # The condition of K is the root of that of its products.
        self.condition_ = check_condition(self, system, EPS**2)

    def _outputs(self, X: Rows) -> Array:
        """Return the outputs sum_i beta_i k(x, c_i) over the centres c_i, for the rows x of `X`, of
        shape (n, n_outputs).
        """
        return self._kernel.product(X, self.centres_, self.beta_)

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs), drawing the centres of the largest network only; those
        of smaller ones are its first ones.

        One pass over the training rows of a fold gives the normal equations for every `gamma`, 8 g
        L^2 bytes for g values and L centres, one reduction serves every `C`, and one pass over the
        test rows yields all outputs. `outputs`: the values of the method `grid.output` for the test
        rows.
        """
        for members in grid.group(lambda model: model._centres_key()):
            for fold in range(len(grid.folds)):
                yield from cls._fold_path(grid, fold, dict(members))

    @classmethod
    def _fold_path(
        cls, grid: CandidateGrid, fold: int, models: dict[int, Any]
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs) on one fold for models with the same centres.

        `outputs`: the values of the method `grid.output` for the test rows. `fold`: its number.
        `models`: {number of a candidate: its model}, whose `gamma` is a number.
        """
        train, test = grid.folds[fold]
        rows = grid.X[train]
        T, decode = grid.encode(train)
        largest = max(models.values(), key=lambda model: model._size)
        kernel = largest._make_kernel()
        eligible = np.arange(len(T))
        centres, factor = largest._draw(rows, eligible)
        all_gammas = [float(model.gamma) for model in models.values()]
        gammas = list(dict.fromkeys(all_gammas))
        centre_gammas = [gamma * factor for gamma in gammas]

        blocks = kernel_blocks(kernel, rows, centres, centre_gammas)
        labels = grid.y[train]
        scale = largest._scale(labels)
        n_centres = centres.shape[0]
        equations = normal_equations(blocks, len(gammas), n_centres, T, scale)
        networks = _solve_networks(models, gammas, equations, grid.solvers)

        outputs = _GroupOutputs(grid, decode)
        probes = grid.X[test]
        test_blocks = kernel_blocks(kernel, probes, centres, centre_gammas)
        for _, g, kernel_rows in test_blocks:
            for network in networks[g]:
                outputs.add(network, kernel_rows)
        for network in chain.from_iterable(networks):
            for group in network.groups:
                values = outputs.test_outputs(group, fold)
                for i in group:
                    yield i, fold, values


class _GroupOutputs:
    """The outputs of groups of equal models on one fold, collected from blocks of the test rows.

    They are decoded block by block, so that real outputs of all rows are never held.
    """

    def __init__(
        self, grid: CandidateGrid, decode: Callable[[Array], NDArray[Any]]
    ) -> None:
        self._grid = grid
        self._decode = decode
        # A group goes by the number of its first model.
        self._parts: dict[int, list[NDArray[Any]]] = defaultdict(list)
        self._doubtful: set[int] = set()

    def add(self, network: "_SolvedNetwork", kernel_rows: Array) -> None:
        """Decode the outputs of a network for the next block of test rows, and keep them.

        `kernel_rows`: the kernel of these rows with all centres, (n_rows, n_centres). A group with
        a label that round-off may change is noted.
        """
        n_ridges = network.n_ridges
        outputs = kernel_rows[:, : network.size] @ network.beta
        bounds = network.output_bounds(kernel_rows)
        holds = self._grid.holds(outputs, n_ridges, bounds)
        parts = np.hsplit(outputs, n_ridges)
        for group, part, is_accepted in zip(network.groups, parts, holds, strict=True):
            first = group[0]
            decoded = self._decode(part)
            self._parts[first].append(decoded)
            if not is_accepted:
                self._doubtful.add(first)

    def test_outputs(self, group: list[int], fold: int) -> NDArray[Any]:
        """Return the outputs of a group for all test rows, after all blocks: those of a fit if
        round-off may change a label.

        `group`: the numbers of its candidates, as in the network that was added. `fold`: its
        number.
        """
        first = group[0]
        if first in self._doubtful:
            return self._grid.fitted_outputs(first, fold)
        return np.concatenate(self._parts[first])


@dataclass(frozen=True)
class _SolvedNetwork:
    """The output weights of networks on the same centres, for several ridges.

    Attributes
    ----------
    beta : ndarray of shape (size, n_ridges * n_outputs)
        Output weights; the columns of a ridge stand side by side.
    groups : list of list of int
        For each ridge, the numbers of the candidates, which are equal models.
    """

    beta: Array
    groups: list[list[int]]

    @property
    def size(self) -> int:
        """The number of centres of each network."""
        return len(self.beta)

    @property
    def n_ridges(self) -> int:
        """The number of ridges, each with a network."""
        return len(self.groups)

    def output_bounds(self, kernel_rows: Array) -> Array:
        """Return bounds of the round-off of the outputs, of shape (n, n_ridges).

        `kernel_rows`: the kernel of n rows with all centres, of which the first `size` count.
        """
        return network_bounds(kernel_rows[:, : self.size], self.beta, self.n_ridges)


def _solve_networks(
    models: dict[int, Any],
    gammas: list[float],
    equations: list[tuple[Array, Array]],
    solvers: Counter[str],
) -> list[list[_SolvedNetwork]]:
    """Return a list of networks for each of `gammas`, in their order, solved by (K'K + I/C) beta =
    K'T with the kernel K between training rows and centres.

    `models`: {number of a candidate: its model}. There is a network for each `gamma` and size, with
    the weights of its ridges side by side. `equations`: (K'K, K'T) for each `gamma` with all
    centres; a smaller network has their leading parts. `solvers`: {name of a solver: number of its
    uses}, to which those of this call are added.
    """
    first_gram, _ = equations[0]
    n_centres = len(first_gram)
    networks: list[list[_SolvedNetwork]] = [[] for _ in gammas]
    groups_by_matrix = _group_by_matrix(models, gammas, n_centres)
    for (g, size), by_ridge in groups_by_matrix.items():
        gram, moments = equations[g]
        leading_gram = gram[:size, :size]
        leading_moments = moments[:size]
        ridges = np.array(list(by_ridge))
        groups = list(by_ridge.values())
        beta = ridge_solutions(leading_gram, leading_moments, ridges, solvers)
        network = _SolvedNetwork(beta=beta, groups=groups)
        networks[g].append(network)
    return networks


def _group_by_matrix(
    models: dict[int, Any], gammas: list[float], n_centres: int
) -> dict[tuple[int, int], dict[float, list[int]]]:
    """Return {(position of gamma, number of centres): {ridge: [numbers of candidates]}}.

    `models`: {number of a candidate: its model}. `gammas`: the distinct values of `gamma`, in whose
    list the position counts. `n_centres`: the most centres; larger models have as many. Models of
    the same list are equal.
    """
    groups: dict[tuple[int, int], dict[float, list[int]]] = {}
    for number, model in models.items():
        position = gammas.index(model.gamma)
        size = min(model._size, n_centres)
        ridge = 1.0 / float(model.C)
        by_ridge = groups.setdefault((position, size), {})
        equal_models = by_ridge.setdefault(ridge, [])
        equal_models.append(number)
    return groups


@estimator
class _RKELM(KernelMixin, CentresMixin):
    """Base class of `RKELMClassifier` and `RKELMRegressor`, which draws their centres from the
    rows.
    """

    _size_name = "n_landmarks"

    n_landmarks: int = 100
    widths: str = "equal"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "widths": [StrOptions({"equal", "random"})]
    }

    def _draw(self, X: Rows, eligible: Indices) -> tuple[Rows, float | Array]:
        """Draw `n_landmarks` centres from the eligible rows, without replacement (Algorithm 1, line
        1), or all of them if there are fewer, and their widths.

        `eligible`: numbers of rows of `X`. Return the centres, as rows or, for a precomputed
        kernel, numbers of rows, and the factor of `gamma`: 1.0, or an array, one for each centre,
        with random widths. Random widths of a kernel that has none are a ValueError.
        """
        draws_widths = self.widths == "random"
        if draws_widths and not self._has_kernel(*OF_DISTANCES):
            kernels = ", ".join(map(repr, OF_DISTANCES))
            raise ValueError(
                f"widths: expected a kernel with a width, {kernels}, got {self.kernel!r} instead"
            )
        random_state = check_random_state(self.random_state)
        order = random_state.permutation(len(eligible))
        first = order[: self.n_landmarks]
        landmarks = eligible[first]
        factor: float | Array = 1.0
        if draws_widths:
            widths = random_state.uniform(0.5, 1.5, len(landmarks))
            factor = 1.0 / widths
        kernel = self._make_kernel()
        return kernel.select_rows(X, landmarks), factor

    def _centres_key(self) -> tuple[Hashable, ...]:
        """Return a key that is equal for models that draw the same centres, apart from their number
        and `gamma`, and have the same class weights: seed, class weights, kernel and `widths`.
        """
        return (
            *super()._centres_key(),
            self._make_kernel().with_gamma(1.0).key,
            self.widths,
        )


@estimator
class RKELMClassifier(WeightedClassifier, _RKELM):
    """Reduced kernel extreme learning machine for classification.

    A network f(x) = [k(x, c_1), ..., k(x, c_L)] beta whose centres are random training rows, drawn
    without replacement. Its output weights beta = (K'K + I/C)^-1 K'T minimise ||beta||^2 / 2 + C/2
    ||K beta - T||^2 for targets -1/+1. More than two classes are learnt one against the rest.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of centres, L in the paper; all rows if there are fewer. The centres of a smaller
        network are the first ones of a larger network with the same integer `random_state`.
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge, which the paper calls C.
    gamma : float, "scale" or "auto", default="scale"
        Inverse squared width of the kernel, 1/sigma in the paper; "scale" is 1 / (n_features *
        X.var()). For other kernels see `elmbench.numerics.pairwise.Kernel`.
    kernel : str or callable, default="rbf"
        As in `KELMClassifier`. With "precomputed", the centres are numbers of training rows.
    degree, coef0, kernel_params
        As in `KELMClassifier`.
    widths : {"equal", "random"}, default="equal"
        "equal": all centres have the width 1/gamma. "random": each has its own, sigma_i = u_i /
        gamma with u_i uniform on [0.5, 1.5]; only for kernels of distances.
    random_state : int, RandomState or None, default=None
        Draws the centres and the widths.
    class_weight : "balanced", dict or None, default=None
        As in `KELMClassifier`.

    Attributes
    ----------
    centres_ : ndarray or CSR matrix of shape (n_units, n_features), or ndarray of shape (n_units,)
    gammas_ : ndarray of shape (n_units,)
        The `gamma` of each centre.
    beta_ : ndarray of shape (n_units, n_outputs)
        Output weights.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of centres.
    condition_ : float
        Estimated condition number of K'K + I/C.
    n_features_in_ : int

    See Also
    --------
    KELMClassifier : All rows as centres.
    RSVMClassifier : The hinge loss with the same centres.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Rows are processed a block at a time, so `fit` needs 8 L^2 bytes and some blocks, for any number
    of rows. Sparse rows (CSR) stay sparse.

    With weights w_i, the errors are sum_i w_i (f(x_i) - t_i)^2, and rows of weight zero are no
    centres. For given centres, a weight of 2 repeats the row; but repeated rows lead to other
    random centres. `fit` warns like that of `ELMClassifier`, by K'K.

    References
    ----------
    Deng, Ong, Zheng, A Fast Reduced Kernel Extreme Learning Machine, Neural Networks 76, 2016, eqs.
    (7)-(10) and Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import RKELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(RKELMClassifier(n_landmarks=50, C=100, random_state=0).fit(X, y).score(X, y), 2)
    0.99
    """

    _local = True


class RKELMRegressor(WeightedRegressor, _RKELM):
    """Reduced kernel ELM for regression: `RKELMClassifier` with `y`, one column or several, as
    targets.

    See Also
    --------
    RKELMClassifier : For classification.
    KELMRegressor : All rows as centres.
    RSVMRegressor : The hinge loss with the same centres.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import RKELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RKELMRegressor(n_landmarks=50, C=100, random_state=0)
    >>> round(model.fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.47
    """
