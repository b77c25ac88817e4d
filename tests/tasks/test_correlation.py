"""The rank correlation of the divergence with its leading term: by brute force, by what is known of
it.
"""

import json
from typing import Any

import numpy as np
import pytest
from made_work import attempted, do
from scipy.stats import spearmanr
from sklearn.utils import check_random_state
from toy_data import MakeUnit

from elmbench.datasets.dataset import Dataset
from elmbench.numerics.seeds import generator, integer_seed
from elmbench.tasks.correlation import spearman


@pytest.fixture
def correlation_unit(make_unit: MakeUnit) -> MakeUnit:
    """Make a unit of kind "correlation"."""

    def make(activation: str = "nsig", **changes: Any) -> dict[str, Any]:
        unit = make_unit("correlation", model="eem", params={"activation": activation})
        unit |= {
            "grid": {"n_hidden": [1, 3, 70]},
            "draws": {"projections": 6, "operators": 5},
            "dcs": "corrected",
        }
        unit["dataset"]["name"] = changes.pop("dataset", "two")
        return unit | changes

    return make


def layer(X: np.ndarray, W: np.ndarray, b: np.ndarray, activation: str) -> np.ndarray:
    """The hidden outputs as the paper prints them."""
    if activation == "rbf":
        return np.exp(-b * ((X[:, np.newaxis] - W) ** 2).sum(axis=2))
    scale = X.shape[1] if activation == "nsig" else 1
    return 1 / (1 + np.exp(-X @ W.T / scale + b))


@pytest.mark.parametrize("dcs", ["corrected", "as-printed"])
@pytest.mark.parametrize("activation", ["sigmoid", "nsig", "rbf"])
def test_correlations_equal_brute_force(
    toys: dict[str, Dataset], correlation_unit: MakeUnit, activation: str, dcs: str
) -> None:
    result = do(correlation_unit(activation, dcs=dcs, run=2))
    X, y = toys["two"].X, toys["two"].y
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    drawn = generator("operators", "two", 2, "eem").normal(size=(70, 5))
    pairs: dict[int, list[tuple[float, float]]] = {1: [], 3: [], 70: []}
    for projection in range(6):
        seed = integer_seed("projection", "two", 2, "eem", projection)
        nodes = check_random_state(seed).uniform(0, 1, size=(70, 4))
        H = layer(X, nodes[:, :3], nodes[:, 3], activation)
        for h, k in [(h, k) for h in pairs for k in range(5)]:
            z = H[:, :h] @ drawn[:h, k]
            S, s = z[y > 0].var(), z[y < 0].var()
            term = (z[y > 0].mean() - z[y < 0].mean()) ** 2 / (S + s)
            mixed = np.log((S + s) / 2 / np.sqrt(S * s))
            divergence = term + (
                mixed if dcs == "corrected" else -0.5 * np.log(np.pi / 2) - mixed
            )
            # All operators on one node yield the same but for round-off, which is to make no order.
            pairs[h].append((round(divergence, 10), round(term, 10)))
    expected = {
        f"spearman@h={h}": spearmanr(*zip(*values, strict=True))[0]
        for h, values in pairs.items()
    }
    assert result["measured"] == pytest.approx(expected, abs=1e-9)
    assert result["params"] == {
        "activation": activation,
        "projections": 6,
        "operators": 5,
    }


def test_runs_differ_and_sizes_are_independent_of_each_other(
    correlation_unit: MakeUnit,
) -> None:
    first = do(correlation_unit())["measured"]
    assert do(correlation_unit())["measured"] == first
    assert do(correlation_unit(run=1))["measured"] != first
    # The operators are drawn for the largest layer, the leading part for smaller ones.
    smaller = do(correlation_unit(grid={"n_hidden": [3, 70]}))["measured"]
    assert smaller == {name: first[name] for name in ("spearman@h=3", "spearman@h=70")}


def test_a_layer_that_never_varies_has_no_correlation(
    toys: dict[str, Dataset], correlation_unit: MakeUnit
) -> None:
    """As ISOLET's sigmoid nodes: no number, a warning, no crash; and JSON as the worker writes
    it.
    """
    toys["two"].X[:] += 1e4
    result = attempted(correlation_unit("sigmoid", protocol={"scale": None}))
    assert result["status"] == "ok"
    assert np.isnan(list(result["measured"].values())).all()
    assert any(
        "nothing varies" in message and "h=1, h=3, h=70" in message
        for message in result["warnings"]
    )
    assert set(json.loads(json.dumps(result))["measured"]) == {
        "spearman@h=1",
        "spearman@h=3",
        "spearman@h=70",
    }


def test_one_layer_has_no_correlation_for_one_node(correlation_unit: MakeUnit) -> None:
    """All operators on one node are the same but for the scale: what is correlated are the
    layers.
    """
    with pytest.warns(UserWarning, match="for h=1, so"):
        result = do(correlation_unit(draws={"projections": 1, "operators": 9}))[
            "measured"
        ]
    assert np.isnan(result["spearman@h=1"])
    assert -1 <= result["spearman@h=3"] <= 1


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 25, 90], 1.0),
        ([1, 2, np.inf, 3], [1, 2, 9, 3], 1.0),
        ([1, np.nan, 2, 3], [3, 50, 2, 1], -1.0),
        ([1, 1, 1], [1, 2, 3], np.nan),
        ([np.nan, np.nan], [1, 2], np.nan),
        ([], [], np.nan),
    ],
)
def test_spearman_ignores_values_that_are_not_finite(
    x: list[float], y: list[float], expected: float
) -> None:
    assert spearman(
        np.array(x, dtype=float), np.array(y, dtype=float)
    ) == pytest.approx(expected, nan_ok=True)
