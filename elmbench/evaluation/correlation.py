"""How well the term that is optimised orders random operators as the Cauchy-Schwarz divergence does.

Czarnecki and Tabor, Extreme Entropy Machines, Table 1: Spearman's rank correlation between the divergence of the two
classes' projected Gaussians and its leading term, (m+ - m-)^2 / (S+ + S-), over random hidden layers and random linear
operators on each. What the text leaves open is read so:

* The correlation is over all pairs of a layer and an operator at once, not the mean of one a layer: with one hidden
  node all operators of a layer project alike but for the scale, which neither quantity depends on, so there is no
  correlation within a layer, and the table has values there.
* The Gaussians have the empirical means and variances of the projected rows, all of the data set.
* The components of an operator are normal: no direction is preferred.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import labels_of, load_for, scaled_inputs
from elmbench.evaluation.metrics import metric_at
from elmbench.numerics.entropy.divergence import gaussian_divergence, leading_term
from elmbench.numerics.nodes.hidden_layer import draw_hidden_nodes
from elmbench.numerics.nodes.projections import projected_classes, unit_columns
from elmbench.numerics.seeds import generator, integer_seed

NOTHING_VARIES = (
    "nothing varies over the random layers and operators for {}, so there is no correlation; with activation='sigmoid' "
    "this happens when <w, x> is large, as it is for many features: every node yields 1 for every row"
)


def correlate(unit: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Return the rank correlation between the divergence and its leading term, for each size of the hidden layer.

    The nodes of a smaller layer are the first ones of a larger one, and so are the components of the operators.

    Parameters
    ----------
    unit : dict
        A unit of kind "correlation": `grid` with `n_hidden`, `params` with the `activation` of the nodes, `draws` (how
        many `projections`, that is layers, and `operators`), `dcs` (the form of the divergence), `scale`.
    data_dir : str or None

    Returns
    -------
    dict
        In the form of a cell's result; `metrics` are `spearman@h=1` and so on, not a number where nothing varies.

    Raises
    ------
    ElmbenchError
        If the data have more than two classes, or none.
    """
    data = load_for(unit["dataset"], data_dir)
    labels = labels_of(data)
    if labels is None or len(labels) != 2:
        raise ElmbenchError(
            f"{data.name} has {'no' if labels is None else len(labels)} classes, so there is no divergence of two",
            expected="data of two classes",
            next_step="take the data set out of the experiment",
        )
    X = scaled_inputs(unit["dataset"], data_dir, unit["protocol"]["scale"], np.arange(len(data.y)))
    sizes, draws, params = unit["grid"]["n_hidden"], unit["draws"], unit["params"]
    key = (data.name, unit["run"], unit["stream"])
    drawn = generator("operators", *key).normal(size=(max(sizes), draws["operators"]))
    operators = [unit_columns(drawn, size) for size in sizes]
    pairs: list[list[tuple[Any, Any]]] = [[] for _ in sizes]
    for projection in range(draws["projections"]):
        random_state = check_random_state(integer_seed("projection", *key, projection))
        nodes = draw_hidden_nodes(max(sizes), X.shape[1], random_state, 0.0, 1.0)
        found = projected_classes(X, data.y > 0, *nodes, params["activation"], operators)
        for i, (means, variances) in enumerate(zip(*found, strict=True)):
            divergence = gaussian_divergence(means, variances, unit["dcs"])
            pairs[i].append((divergence, leading_term(means, variances)))
    metrics = {
        metric_at("spearman", "n_hidden", size): spearman(*map(np.concatenate, zip(*found, strict=True)))
        for size, found in zip(sizes, pairs, strict=True)
    }
    undefined = [name.partition("@")[2] for name, value in metrics.items() if np.isnan(value)]
    if undefined:
        warnings.warn(NOTHING_VARIES.format(", ".join(undefined)), UserWarning, stacklevel=2)
    return {"status": "ok", "reason": "", "params": params | draws, "metrics": metrics, "n_test": None}


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Spearman's rank correlation of pairs; those of which one is no number are left out.

    NaN where one of the two does not vary.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        May be infinite.
    """
    known = ~(np.isnan(x) | np.isnan(y))
    ranks = np.array([rankdata(x[known]), rankdata(y[known])])
    if not len(ranks[0]) or np.ptp(ranks, axis=1).min() == 0:
        return float("nan")
    return float(np.corrcoef(ranks)[0, 1])
