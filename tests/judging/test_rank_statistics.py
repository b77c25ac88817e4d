"""Comparison of models over data sets and the tests of claims, against Demsar's formulas, closed
forms and scipy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_cells import Toy, cell, summary_of
from random_examples import examples
from scipy.stats import (
    binomtest,
    friedmanchisquare,
    permutation_test,
    rankdata,
    studentized_range,
    ttest_ind,
    ttest_rel,
    wilcoxon,
)

from elmbench.judging.rank_statistics import (
    ALPHA,
    compare_models,
    draw_critical_differences,
    rank_statistics,
)
from elmbench.numerics.significance import (
    Region,
    SignificanceResult,
    combine_findings,
    corrected_t_test,
    sign_test,
    signed_rank_test,
    studentized_range_quantile,
    studentized_range_tail,
    welch_test,
    wilcoxon_p,
)

ABOVE = Region(low=0.0)
#: Four classifiers on the 14 data sets of Demsar (2006), Table 6.
DEMSAR = pd.DataFrame(
    {
        "C4.5": [.763, .599, .954, .628, .882, .936, .661, .583, .775, 1.0, .940, .619, .972, .957],
        "C4.5+m": [.768, .591, .971, .661, .888, .931, .668, .583, .838, 1.0, .962, .666, .981,
        .978],
        "C4.5+cf": [.771, .590, .968, .654, .886, .916, .609, .563, .866, 1.0, .965, .614, .9751,
        .946],
        "C4.5+m+cf": [.798, .569, .967, .657, .898, .931, .685, .625, .875, 1.0, .962, .669, .975,
        .970],
    },
    index=[f"set {i}" for i in range(14)],
)  # fmt: skip


def test_the_example_of_demsar() -> None:
    result = rank_statistics(DEMSAR, "measured")
    # The paper prints 3.143, 2.000, 2.893, 1.964, chi-squared 9.28 and a critical distance of 1.25.
    assert {model: round(rank, 3) for model, rank in result.ranks.items()} == {
        "C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143,
    }  # fmt: skip
    assert result.friedman is not None
    assert result.friedman.chi_squared == pytest.approx(
        friedmanchisquare(*DEMSAR.to_numpy().T).statistic
    )
    assert result.critical_distance == pytest.approx(
        2.569 * (4 * 5 / (6 * 14)) ** 0.5, abs=1e-3
    )
    # The p-value of scikit-posthocs 0.17.
    assert result.nemenyi["C4.5"]["C4.5+m+cf"] == pytest.approx(0.0741847951)
    # The two ways to say which pairs differ agree.
    for one, rank in result.ranks.items():
        for other, against in result.ranks.items():
            if other != one:
                assert (result.nemenyi[one][other] < 0.05) == (
                    abs(rank - against) > result.critical_distance
                )


def exact_p(differences: Any, side: str = "two-sided") -> float:
    """Return the share of all signs of some differences that are as extreme as theirs."""

    def positive(signed: Any, axis: int) -> Any:
        return ((np.sign(signed) + 1) / 2 * rankdata(np.abs(signed), axis=axis)).sum(
            axis
        )

    return float(
        permutation_test(
            (differences,),
            positive,
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
            alternative=side,
        ).pvalue
    )


def test_the_pairs_are_those_of_one_data_set() -> None:
    result = rank_statistics(DEMSAR, "measured")
    part = sorted(
        exact_p(DEMSAR[a] - DEMSAR[b])
        for i, a in enumerate(DEMSAR) for b in list(DEMSAR)[i + 1 :]
    )  # fmt: skip
    holm = np.minimum(1, np.maximum.accumulate(np.array(part) * np.arange(6, 0, -1)))
    pairs = {
        frozenset((a, b)): result.wilcoxon[a][b]
        for a in result.ranks
        for b in result.ranks
        if a != b
    }
    np.testing.assert_allclose(sorted(pairs.values()), holm)
    assert result.wins["C4.5+m"]["C4.5"] == "10/2/2"
    assert result.wins["C4.5"]["C4.5+m"] == "2/2/10"
    won = [part.split("/") for part in result.wins["C4.5"].values()]
    expected = sum(int(better) + int(equal) / 2 for better, equal, _ in won) / (3 * 14)
    assert result.win_rates["C4.5"] == pytest.approx(expected)


@pytest.mark.parametrize("n", [2, 5, 9, 13, 14])
@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_signed_ranks_are_those_of_scipy(n: int, side: str) -> None:
    rng = np.random.default_rng(n)
    apart = rng.permutation(np.arange(1, n + 1)) * rng.choice([-0.1, 0.1], n)
    assert wilcoxon_p(apart, side) == pytest.approx(
        wilcoxon(apart, alternative=side).pvalue, rel=1e-12
    )
    tied = rng.integers(-3, 4, n).astype(float)
    assert wilcoxon_p((tied / 100 + 0.7) - 0.7 + 1e-17, side) == pytest.approx(
        exact_p(tied, side), rel=1e-12
    )
    assert signed_rank_test(np.zeros(3), ABOVE).confirming == 1


@pytest.mark.parametrize(("confirmed", "n"), [(0, 4), (4, 4), (3, 8), (17, 20)])
def test_the_sign_test_is_scipys(confirmed: int, n: int) -> None:
    finding, interval = (
        sign_test(confirmed, n),
        binomtest(confirmed, n).proportion_ci(0.95),
    )
    for p, side in ((finding.confirming, "greater"), (finding.contradicting, "less")):
        assert p == pytest.approx(
            binomtest(confirmed, n, alternative=side).pvalue, rel=1e-9
        )
    assert (finding.low, finding.high) == pytest.approx((interval.low, interval.high))


def test_models_that_are_on_few_data_sets_are_left_out() -> None:
    values = DEMSAR.copy()
    values.loc[values.index[2:], "C4.5"] = np.nan
    values.loc["set 0", "C4.5+m"] = np.nan
    result = rank_statistics(values, "measured")
    assert (result.left_out, len(result.datasets)) == (("C4.5",), 13)
    assert "set 0" not in result.datasets


def test_models_that_are_equal_everywhere() -> None:
    result = rank_statistics(
        pd.DataFrame(
            {"a": [0.5, 0.6, 0.3], "b": [0.5, 0.6, 0.1 + 0.2], "c": [0.1, 0.2, 0.1]}
        ),
        "measured",
    )
    assert result.wins["a"]["b"] == "0/3/0"
    assert result.wilcoxon["a"]["b"] == 1.0
    assert (result.ranks["a"], result.ranks["c"]) == (1.5, 3.0)


def test_the_same_folds_in_another_order_have_the_same_rank(toy: Toy) -> None:
    scores = {
        "ELM": [0.1, 0.2, 0.3],
        "K-ELM": [0.3, 0.2, 0.1],
    }  # one sum is .6, the other a little more
    lines = [
        cell(model, fold=fold, mcc=score)
        for model in scores
        for fold, score in enumerate(scores[model])
    ]
    resolved = toy(
        layout="comparison",
        protocol={"metrics": ["mcc"], "outer": {"kind": "kfold", "folds": 3}},
    )
    assert summary_of(resolved, lines).query("metric == 'rank'")["mean"].tolist() == [
        1.5,
        1.5,
    ]


TWO = {"datasets": ["wdbc", "calhousing"], "protocol": {"metrics": ["mcc", "nrmse"]}}


def test_measured_and_published_values_are_ranked_separately(toy: Toy) -> None:
    figures = "WDBC,ELM,mcc,0.9,,\nWDBC,K-ELM,mcc,0.8,,\nCalhousing,ELM,nrmse,0.2,,\nCalhousing,K-ELM,nrmse,0.3,,\n"
    resolved = toy(figures, **TWO)
    lines = [
        cell(m, fold=f, mcc=v)
        for m, v in (("ELM", 0.7), ("K-ELM", 0.8))
        for f in (0, 1)
    ]
    lines += [
        cell(m, fold=f, dataset="calhousing", nrmse=v)
        for m, v in (("ELM", 0.5), ("K-ELM", 0.4))
        for f in (0, 1)
    ]
    measured, published = compare_models(summary_of(resolved, lines), resolved)
    # The smaller error is the better one.
    assert (measured.source, measured.ranks) == ("measured", {"K-ELM": 1.0, "ELM": 2.0})
    assert (published.source, published.ranks) == (
        "published",
        {"ELM": 1.0, "K-ELM": 2.0},
    )
    assert (measured.to_json_dict()["friedman"], measured.to_json_dict()["p"]) == (
        None,
        None,
    )
    assert compare_models(summary_of(resolved, lines[:4]), resolved) == []


def test_the_diagram_is_a_picture() -> None:
    assert draw_critical_differences(
        rank_statistics(DEMSAR, "measured"), "Table"
    ).startswith(b"\x89PNG")


@examples(50)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40), shift=st.floats(-2, 2))
def test_without_a_correction_it_is_the_paired_t_test(
    seed: int, n: int, shift: float
) -> None:
    random = np.random.default_rng(seed)
    one, other = random.normal(shift, 1, n), random.normal(0, 1, n)
    result = corrected_t_test(one - other, 0.0, ABOVE)
    paired = ttest_rel(one, other, alternative="greater")
    assert result.confirming == pytest.approx(paired.pvalue, rel=1e-6, abs=1e-12)
    assert result.contradicting == pytest.approx(1 - paired.pvalue, rel=1e-6, abs=1e-12)
    ends = ttest_rel(one, other).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx(
        (ends.low, ends.high), rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize(
    "test",
    [
        lambda d, r: corrected_t_test(d, 0.1, r),
        lambda d, r: welch_test(d, np.zeros(len(d)), r),
    ],
)
@examples(30)
@given(seed=st.integers(0, 2**32 - 1), shift=st.floats(-1, 1))
def test_the_interval_and_the_p_value_agree(
    test: Callable[..., SignificanceResult], seed: int, shift: float
) -> None:
    values = np.random.default_rng(seed).normal(shift, 0.5, 12)
    result = test(values, ABOVE)
    assert (result.confirming <= 0.025) == (result.low >= 0)
    assert (result.contradicting <= 0.025) == (result.high <= 0)
    band = test(values, Region(-0.5, 0.5))
    assert (band.confirming <= 0.025) == (band.low >= -0.5 and band.high <= 0.5)
    assert (band.contradicting <= 0.025) == (band.low >= 0.5 or band.high <= -0.5)


def test_models_that_do_not_vary_are_as_sure_as_a_test_row_allows() -> None:
    apart, near = (
        corrected_t_test([0.5] * 5, 0.1, ABOVE, floor=0.01),
        corrected_t_test([0.005] * 5, 0.1, ABOVE, floor=0.01),
    )
    assert (apart.low, apart.high) == pytest.approx((0.49, 0.51))
    assert apart.confirming < 0.025 < near.confirming


def test_the_welch_test_equals_scipy() -> None:
    one, other = [1.0, 2.0, 4.0], [0.0, 0.5, 0.25, 0.75]
    result, expected = (
        welch_test(one, other, ABOVE),
        ttest_ind(one, other, equal_var=False, alternative="greater"),
    )
    assert result.confirming == pytest.approx(expected.pvalue)
    assert result.n == 3
    assert welch_test([2.0, 2.0], [1.0, 1.0], ABOVE).confirming < 0.025


def test_several_must_all_be_true() -> None:
    sure, unsure, contrary = sign_test(8, 8), sign_test(5, 8), sign_test(0, 8)
    assert combine_findings([sure, unsure]) == (unsure, unsure.confirming, 1.0)
    decisive, confirming, contradicting = combine_findings([sure, contrary])
    assert (decisive, contradicting) == (contrary, pytest.approx(2 / 256))
    assert confirming == contrary.confirming
    # Of two that are not confirmed at all, one is contradicted the more; four signs in four decide
    # nothing.
    assert combine_findings([sign_test(0, 6), sign_test(0, 8)])[0] == sign_test(0, 8)
    assert combine_findings([sign_test(0, 3), sign_test(0, 4)])[0] == sign_test(0, 3)


@pytest.mark.parametrize("n_models", [2, 5, 20])
def test_the_range_of_ranks_has_the_studentized_range_distribution(
    n_models: int,
) -> None:
    distances = [0.0, 0.4, 2.0, 3.5, 6.0]
    expected = studentized_range.sf(distances, n_models, np.inf)
    tail = studentized_range_tail(distances, n_models)
    assert tail == pytest.approx(expected, rel=1e-9, abs=1e-12)
    quantile = studentized_range_quantile(ALPHA, n_models)
    assert quantile == pytest.approx(
        studentized_range.ppf(1 - ALPHA, n_models, np.inf), rel=1e-9
    )
