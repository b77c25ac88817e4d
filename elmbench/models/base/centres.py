"""Models with kernels at centres as hidden nodes: output weights by normal equations, and their path."""

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from elmbench.models.base.family import check_condition, numeric_gamma
from elmbench.models.base.parameters import estimator
from elmbench.models.base.paths import Grid, PathMixin
from elmbench.numerics.arrays import EPS, Array, Indices, Rows
from elmbench.numerics.centres import kernel_blocks, kernel_product, normal_equations
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.ridge_path import ridge_solutions
from elmbench.numerics.solve import RidgeSystem


@estimator
class CentresMixin(PathMixin):
    """A network f(x) = sum_i beta_i k(x, c_i) on random centres, with ridge regression for its output weights.

    A subclass names the parameter with the number of centres and draws them; fewer centres are the first ones of more.
    """

    _size_name: ClassVar[str]

    C: float = 1.0
    gamma: float | str = "scale"
    random_state: int | np.random.RandomState | None = None

    @abstractmethod
    def _draw(self, X: Rows, eligible: Indices) -> tuple[Rows, float | Array]:
        """Draw centres, from the rows with the eligible numbers or independently of them.

        Return the centres, in the form of `Kernel.select_rows`, and the factor of `gamma` at each, or at all of them.
        """

    @abstractmethod
    def _centres_key(self) -> Hashable:
        """Return a key that is equal for models that draw the same centres, apart from their number and `gamma`."""

    def _make_kernel(self) -> Kernel:
        """Return the kernel, without the widths of its centres."""
        return Kernel(gamma=numeric_gamma(self))

    @property
    def _size(self) -> int:
        return int(getattr(self, self._size_name))

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        self.centres_, factor = self._draw(X, np.arange(X.shape[0]) if scale is None else np.flatnonzero(scale))
        gamma = numeric_gamma(self) * factor
        self._kernel, self.n_units_ = self._make_kernel().with_gamma(gamma), self.centres_.shape[0]
        self.gammas_: Array = np.broadcast_to(gamma, self.n_units_)
        ((gram, moments),) = normal_equations(self._kernel, X, self.centres_, [gamma], T, scale)
        system = RidgeSystem(gram, 1.0 / float(self.C))
        self.beta_ = system.solve(moments)
        # The condition of K is the root of that of its products.
        self.condition_ = check_condition(self, system, EPS**2)

    def _outputs(self, X: Rows) -> Array:
        return kernel_product(self._kernel, X, self.centres_, self.beta_)

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Draw the centres of the largest network only; those of smaller ones are its first ones.

        One pass over the training rows of a fold gives the normal equations for every `gamma`, 8 g L^2 bytes for g
        values and L centres, one reduction serves every `C`, and one pass over the test rows yields all outputs.
        """
        for members in grid.group(lambda model: model._centres_key()):
            largest = max((model for _, model in members), key=lambda model: model._size)
            for j, (train, _) in enumerate(grid.folds):
                kernel = largest._make_kernel()
                X, probes = grid.rows(j, kernel)
                T, decode = grid.encode(train)
                centres, factor = largest._draw(X, np.arange(len(T)))
                # For each gamma and number of centres the ridges, and the candidates of each.
                networks: dict[tuple[float, int], dict[float, list[int]]] = {}
                for i, model in members:
                    ridges = networks.setdefault((float(model.gamma), min(model._size, centres.shape[0])), {})
                    ridges.setdefault(1.0 / float(model.C), []).append(i)
                gammas = list(dict.fromkeys(gamma for gamma, _ in networks))
                products = [gamma * factor for gamma in gammas]
                scale = largest._scale(grid.y[train])
                equations = dict(zip(gammas, normal_equations(kernel, X, centres, products, T, scale), strict=True))
                weights = {}
                for (gamma, size), ridges in networks.items():
                    gram, moments = equations[gamma]
                    system = gram[:size, :size], moments[:size], np.array(list(ridges))
                    weights[gamma, size] = ridge_solutions(*system, grid.solvers)
                parts: dict[int, list[NDArray[Any]]] = {i: [] for i, _ in members}
                for _, g, values in kernel_blocks(kernel, probes, centres, products):
                    for (gamma, size), ridges in networks.items():
                        if gamma == gammas[g]:
                            outputs = np.hsplit(values[:, :size] @ weights[gamma, size], len(ridges))
                            for columns, candidates in zip(outputs, ridges.values(), strict=True):
                                predicted = decode(columns)
                                for i in candidates:
                                    parts[i].append(predicted)
                yield from ((i, j, np.concatenate(blocks)) for i, blocks in parts.items())
