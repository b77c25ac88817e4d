"""The rank correlation of the optimised term with the Cauchy-Schwarz divergence over random
operators.

Czarnecki and Tabor, Extreme Entropy Machines, Table 1: Spearman's rank correlation between the
divergence of the two classes' projected Gaussians and its leading term, (m+ - m-)^2 / (S+ + S-),
over random hidden layers and random linear operators on each. The text leaves open:

* The correlation is over all pairs of a layer and an operator at once, not the mean of a
  correlation for each layer. With one hidden node, the projections of all operators of a layer
  differ only in scale, which affects neither quantity. So there is no correlation within a layer,
  but the table has values there.
* The Gaussians have the empirical means and variances of the projected rows, all of the data set.
* The components of an operator are normal: no direction is preferred.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from elmbench.evaluation.content import FLAT, content_name
from elmbench.evaluation.folds import (
    RESULT_FORMAT,
    DatasetRef,
    labels_of,
    load_rows,
    scaled_inputs,
)
from elmbench.numerics.entropy.divergence import gaussian_divergence, leading_term
from elmbench.numerics.nodes.hidden_layer import (
    draw_hidden_nodes,
    projected_classes,
    unit_columns,
)
from elmbench.numerics.seeds import generator, integer_seed
from elmbench.specs.grids import SearchGrid
from elmbench.specs.measures import Measure
from elmbench.specs.scaling import Scale
from elmbench.tasks.base import (
    OVERHEAD,
    RATE,
    Context,
    ModelRef,
    Result,
    Task,
    check_two_classes,
)

NOTHING_VARIES = (
    "nothing varies over the random layers and operators for {}, so there is no correlation; with "
    "activation='sigmoid' "
    "this happens when <w, x> is large, as it is for many features: every node yields 1 for every "
    "row"
)


@dataclass(frozen=True)
class Scaling:
    """The part of a protocol that `Correlation` needs: the scaling of the inputs, None for none."""

    scale: Scale | None


@dataclass(frozen=True)
class Correlation(Task):
    """The rank correlation between the divergence and its leading term, by size of hidden layer.

    `dataset`: all of its rows are projected. `params`: {"activation": that of the nodes}. `grid`:
    the sizes, `n_hidden`. `draws`: {"projections": number of random hidden layers, "operators":
    number of linear operators on each}. `dcs` ({"corrected", "as-printed"}): form of the
    divergence.
    """

    kind = "correlation"

    task: str
    dataset: DatasetRef
    protocol: Scaling
    run_number: int = field(metadata=content_name("run"))
    model: ModelRef = field(metadata=FLAT)
    params: dict[str, Any]
    grid: SearchGrid = field(metadata=FLAT)
    draws: dict[str, int]
    dcs: str = "corrected"
    format: int = RESULT_FORMAT

    def seconds(self) -> float:
        """Return the rough duration on one core, by the operations of nodes and operators."""
        sizes: Any = self.grid.values["n_hidden"]
        n_operators = self.draws["operators"]
        n_projections = self.draws["projections"]
        # The nodes of the largest layer give those of all layers; each layer has its own operators.
        operations_of_node = 2 * self.dataset.n_features + 50
        of_nodes = max(sizes) * operations_of_node
        of_operators = 4 * sum(sizes) * n_operators
        operations = self.dataset.n_rows * (of_nodes + of_operators)
        seconds = OVERHEAD + operations / RATE
        return float(n_projections * seconds)

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Draw layers and operators, and correlate the divergences with their leading terms.

        The nodes of a smaller layer are the first ones of a larger one; the same holds for
        operators. The result: `params`, with the numbers of draws; `measured`, {`spearman@h=1`:
        correlation} for each size; `n_test`, None. The correlation is NaN, with a warning, if
        nothing varies. Raises ElmbenchError unless there are two classes. `inputs` are not used.
        """
        data = load_rows(self.dataset, context.data_dir)
        check_two_classes(
            data.name, labels_of(data), "take the data set out of the experiment"
        )
        all_rows = np.arange(len(data.y))
        X = scaled_inputs(self.dataset, context.data_dir, self.protocol.scale, all_rows)
        key = (data.name, self.run_number, self.model.stream)
        samples = self._layer_divergences(X, data.y > 0, key)
        values = {}
        undefined = []
        for sample in samples:
            divergences = np.concatenate(sample.divergences)
            terms = np.concatenate(sample.terms)
            correlation = spearman(divergences, terms)
            measure = Measure.create("spearman", "n_hidden", sample.size)
            values[measure.column] = correlation
            if np.isnan(correlation):
                undefined.append(f"h={sample.size}")
        if undefined:
            message = NOTHING_VARIES.format(", ".join(undefined))
            warnings.warn(message, UserWarning, stacklevel=2)
        return {"params": self.params | self.draws, "measured": values, "n_test": None}

    def _layer_divergences(
        self, X: Any, is_positive: NDArray[np.bool_], key: tuple[Any, ...]
    ) -> list["_LayerSample"]:
        """Return the divergences and their leading terms for each size of the hidden layer.

        The list is in the order of the sizes in the grid. Each item has two lists, `divergences`
        and `terms`, with an array for each random layer, which has a number for each operator. `X`:
        the scaled rows. `is_positive`: a mask of those of the positive class. `key`: seeds the
        draws.
        """
        sizes: Any = self.grid.values["n_hidden"]
        largest = max(sizes)
        operators = self._operators(sizes, key)
        samples = [_LayerSample(size) for size in sizes]
        for projection in range(self.draws["projections"]):
            seed = integer_seed("projection", *key, projection)
            random_state = check_random_state(seed)
            nodes = draw_hidden_nodes(largest, X.shape[1], random_state, 0.0, 1.0)
            activation = self.params["activation"]
            means, variances = projected_classes(
                X, is_positive, *nodes, activation, operators
            )
            for i, sample in enumerate(samples):
                divergence = gaussian_divergence(means[i], variances[i], self.dcs)
                sample.divergences.append(divergence)
                term = leading_term(means[i], variances[i])
                sample.terms.append(term)
        return samples

    def _operators(self, sizes: Any, key: tuple[Any, ...]) -> list[NDArray[np.float64]]:
        """Draw the linear operators; return an array of shape (size, n_operators) for each size.

        Its columns have length 1. They are the first rows of the same draw, which `key` seeds.
        `sizes`: of the hidden layer.
        """
        random = generator("operators", *key)
        n_operators = self.draws["operators"]
        drawn = random.normal(size=(max(sizes), n_operators))
        return [unit_columns(drawn, size) for size in sizes]


@dataclass(frozen=True)
class _LayerSample:
    """The divergences of a hidden layer of one size, and their leading terms."""

    size: int
    #: An array for each random layer, with a number for each operator.
    divergences: list[Any] = field(default_factory=list)
    terms: list[Any] = field(default_factory=list)


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Spearman's rank correlation of x and y without pairs with a NaN.

    Infinite values count. NaN if one side does not vary or no pair is left.
    """
    missing = np.isnan(x) | np.isnan(y)
    present = ~missing
    if not present.any():
        return math.nan
    x_ranks = rankdata(x[present])
    y_ranks = rankdata(y[present])
    x_varies = np.ptp(x_ranks) > 0
    y_varies = np.ptp(y_ranks) > 0
    if not (x_varies and y_varies):
        return math.nan
    correlations = np.corrcoef(x_ranks, y_ranks)
    return float(correlations[0, 1])
