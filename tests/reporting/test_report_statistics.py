"""Comparison of models over data sets, against Demsar's formulas and scipy's tests of single pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import cell, frame
from scipy.stats import binomtest, friedmanchisquare, permutation_test, rankdata, wilcoxon

from elmbench.errors import ElmbenchError
from elmbench.reporting.comparisons import sign, wilcoxon_p
from elmbench.reporting.statistics import compare, compare_models, draw_critical_differences
from elmbench.reporting.summary import MeasuredCells, summarise
from elmbench.specs.profiles import Resolved

#: Four classifiers on the 14 data sets of Demsar (2006), Table 6.
DEMSAR = pd.DataFrame(
    {
        "C4.5": [.763, .599, .954, .628, .882, .936, .661, .583, .775, 1.0, .940, .619, .972, .957],
        "C4.5+m": [.768, .591, .971, .661, .888, .931, .668, .583, .838, 1.0, .962, .666, .981, .978],
        "C4.5+cf": [.771, .590, .968, .654, .886, .916, .609, .563, .866, 1.0, .965, .614, .9751, .946],
        "C4.5+m+cf": [.798, .569, .967, .657, .898, .931, .685, .625, .875, 1.0, .962, .669, .975, .970],
    },
    index=[f"set {i}" for i in range(14)],
)  # fmt: skip


def test_the_example_of_demsar() -> None:
    result = compare(DEMSAR, "measured")
    # The paper prints 3.143, 2.000, 2.893, 1.964, chi-squared 9.28 and a critical distance of 1.25.
    assert {model: round(rank, 3) for model, rank in result.ranks.items()} == {
        "C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143,
    }  # fmt: skip
    assert result.friedman is not None
    assert result.friedman[0] == pytest.approx(friedmanchisquare(*DEMSAR.to_numpy().T).statistic)
    assert result.critical_distance == pytest.approx(2.569 * (4 * 5 / (6 * 14)) ** 0.5, abs=1e-3)
    # The two ways to say which pairs differ agree.
    for one, rank in result.ranks.items():
        for other, against in result.ranks.items():
            if other != one:
                assert (result.nemenyi[one][other] < 0.05) == (abs(rank - against) > result.critical_distance)


def exact_p(differences: Any, side: str = "two-sided") -> float:
    """Return the share of all signs of some differences that are as extreme as theirs."""

    def positive(signed: Any, axis: int) -> Any:
        return ((np.sign(signed) + 1) / 2 * rankdata(np.abs(signed), axis=axis)).sum(axis)

    return float(
        permutation_test(
            (differences,), positive, permutation_type="samples", vectorized=True, n_resamples=np.inf, alternative=side
        ).pvalue
    )


def test_the_pairs_are_those_of_one_data_set() -> None:
    result = compare(DEMSAR, "measured")
    part = sorted(
        exact_p(DEMSAR[a] - DEMSAR[b])
        for i, a in enumerate(DEMSAR) for b in list(DEMSAR)[i + 1 :]
    )  # fmt: skip
    holm = np.minimum(1, np.maximum.accumulate(np.array(part) * np.arange(6, 0, -1)))
    pairs = {frozenset((a, b)): result.wilcoxon[a][b] for a in result.ranks for b in result.ranks if a != b}
    np.testing.assert_allclose(sorted(pairs.values()), holm)
    assert result.wins["C4.5+m"]["C4.5"] == "10/2/2"
    assert result.wins["C4.5"]["C4.5+m"] == "2/2/10"
    won = [part.split("/") for part in result.wins["C4.5"].values()]
    expected = sum(int(better) + int(equal) / 2 for better, equal, _ in won) / (3 * 14)
    assert result.win_rates["C4.5"] == pytest.approx(expected)


def test_nemenyi_against_known_values() -> None:
    comparison = compare(DEMSAR, "measured")
    # p-values of scikit-posthocs 0.17.
    assert comparison.nemenyi["C4.5"]["C4.5+m+cf"] == pytest.approx(0.0741847951)


@pytest.mark.parametrize("n", [2, 5, 9, 13, 14])
@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_signed_ranks_are_those_of_scipy(n: int, side: str) -> None:
    rng = np.random.default_rng(n)
    apart = rng.permutation(np.arange(1, n + 1)) * rng.choice([-0.1, 0.1], n)
    assert wilcoxon_p(apart, side) == pytest.approx(wilcoxon(apart, alternative=side).pvalue, rel=1e-12)
    tied = rng.integers(-3, 4, n).astype(float)
    assert wilcoxon_p(tied, side) == pytest.approx(exact_p(tied, side), rel=1e-12)


@pytest.mark.parametrize(("confirmed", "n"), [(0, 4), (4, 4), (3, 8), (17, 20)])
def test_the_sign_test_is_scipys(confirmed: int, n: int) -> None:
    finding, interval = sign(confirmed, n), binomtest(confirmed, n).proportion_ci(0.95)
    for p, side in ((finding.confirming, "greater"), (finding.contradicting, "less")):
        assert p == pytest.approx(binomtest(confirmed, n, alternative=side).pvalue, rel=1e-9)
    assert (finding.low, finding.high) == pytest.approx((interval.low, interval.high))


def test_models_that_are_on_few_data_sets_are_left_out() -> None:
    values = DEMSAR.copy()
    values.loc[values.index[2:], "C4.5"] = np.nan
    values.loc["set 0", "C4.5+m"] = np.nan
    result = compare(values, "measured")
    assert (result.left_out, len(result.datasets)) == (("C4.5",), 13)
    assert "set 0" not in result.datasets


def test_models_that_are_equal_everywhere() -> None:
    result = compare(pd.DataFrame({"a": [0.5, 0.6, 0.7], "b": [0.5, 0.6, 0.7], "c": [0.1, 0.2, 0.3]}), "measured")
    assert result.wins["a"]["b"] == "0/3/0"
    assert result.wilcoxon["a"]["b"] == 1.0
    assert (result.ranks["a"], result.ranks["c"]) == (1.5, 3.0)


TWO = {"datasets": ["wdbc", "calhousing"], "protocol": {"metrics": ["mcc", "nrmse"]}}


def test_measured_and_printed_figures_are_compared_apart(toy: Callable[..., Resolved]) -> None:
    figures = "WDBC,ELM,mcc,0.9,,\nWDBC,K-ELM,mcc,0.8,,\nCalhousing,ELM,nrmse,0.2,,\nCalhousing,K-ELM,nrmse,0.3,,\n"
    resolved = toy(figures, **TWO)
    lines = [cell(m, fold=f, mcc=v) for m, v in (("ELM", 0.7), ("K-ELM", 0.8)) for f in (0, 1)]
    lines += [cell(m, fold=f, dataset="calhousing", nrmse=v) for m, v in (("ELM", 0.5), ("K-ELM", 0.4)) for f in (0, 1)]
    measured, published = compare_models(summarise(MeasuredCells(frame(resolved, lines), resolved)), resolved)
    # The smaller error is the better one.
    assert (measured.source, measured.ranks) == ("measured", {"K-ELM": 1.0, "ELM": 2.0})
    assert (published.source, published.ranks) == ("published", {"ELM": 1.0, "K-ELM": 2.0})
    assert (measured.record()["friedman"], measured.record()["p"]) == (None, None)
    with pytest.raises(ElmbenchError, match="no two models on the same two data sets"):
        compare_models(summarise(MeasuredCells(frame(resolved, lines[:4]), resolved)), resolved)


def test_the_diagram_is_a_picture() -> None:
    assert draw_critical_differences(compare(DEMSAR, "measured"), "Table").startswith(b"\x89PNG")
