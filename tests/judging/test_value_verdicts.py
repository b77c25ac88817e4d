"""The rule of the verdicts and the agreement beside it, against numbers by hand and draws whose
truth is known.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import Toy, cell, frame
from scipy.stats import binom, t

from elmbench.judging.measured_cells import MeasuredCells
from elmbench.judging.published_values import Agreement, agreements, compared_values
from elmbench.judging.summary import summarise
from elmbench.judging.value_verdicts import (
    MOST_RUNS,
    Draws,
    Judgement,
    Printed,
    draws_of,
    draws_of_means,
    judge,
)
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved

#: Three runs of mean 0.9 and deviation 0.01; t(.975, 2) = 4.302653.
DRAWS = Draws(0.9, 0.01, 3, 0.0)
HALF = 4.302653 * 0.01 * math.sqrt(1 + 1 / 3)


def test_the_interval_is_that_of_a_new_draw() -> None:
    assert DRAWS.half_width() == pytest.approx(HALF, rel=1e-6)
    # A published mean of twenty draws varies less, and our mean of three varies all the same.
    assert DRAWS.half_width(20) == pytest.approx(
        4.302653 * 0.01 * math.sqrt(1 / 20 + 1 / 3), rel=1e-6
    )
    assert DRAWS.half_width(runs=10) == pytest.approx(t.ppf(0.975, 9) * 0.01 * math.sqrt(1.1))


@pytest.mark.parametrize(
    ("distance", "verdict"),
    [
        (HALF + 0.005 - 1e-6, "reproduced"),
        (HALF + 0.005 + 1e-6, "close"),
        (2 * (HALF + 0.005) - 1e-6, "close"),
        (2 * (HALF + 0.005) + 1e-6, "differs"),
    ],
)
@pytest.mark.parametrize("side", [-1, 1])
def test_the_verdict_at_its_boundaries(distance: float, verdict: str, side: int) -> None:
    result = judge(DRAWS, Printed(0.9 + side * distance, 0.005))
    assert result.verdict == verdict
    assert (result.high - result.low) / 2 == pytest.approx(HALF + 0.005, rel=1e-6)
    assert result.runs_to_tell is None


@pytest.mark.parametrize("runs", [1, 2])
def test_one_or_two_runs_are_too_few(runs: int) -> None:
    draws = Draws(0.9, math.nan if runs == 1 else 0.001, runs, 0.005)
    # Not even of a figure that is far away: two runs of a metric that counts rows often coincide.
    for value in (0.9, 0.1):
        result = judge(draws, Printed(value, 0.0005, gap=0.05))
        assert result == Judgement("too few runs", runs_to_tell=3)


def test_an_interval_as_wide_as_the_models_lie_apart_is_consistent_at_best() -> None:
    near = Printed(0.9, 0.005)
    width = 2 * (HALF + 0.005)
    assert judge(DRAWS, replace(near, gap=width + 1e-6)).verdict == "reproduced"
    assert judge(DRAWS, replace(near, gap=width - 1e-6)).verdict == "consistent"
    # A figure outside of the interval is close or differs, however far apart the models are.
    for apart in (0.001, 1.0, None):
        assert judge(DRAWS, Printed(0.9 + 0.75 * width, 0.005, gap=apart)).verdict == "close"
        assert judge(DRAWS, Printed(0.5, 0.005, gap=apart)).verdict == "differs"


def test_the_runs_that_would_tell() -> None:
    printed = Printed(0.9, 0.0005, gap=0.06)
    result = judge(DRAWS, printed)
    assert result.verdict == "consistent"
    runs = result.runs_to_tell
    assert runs is not None
    assert judge(replace(DRAWS, runs=runs), printed).verdict == "reproduced"
    assert judge(replace(DRAWS, runs=runs - 1), printed).verdict == "consistent"
    # A single published draw always varies by 1.96 s.
    assert judge(DRAWS, replace(printed, gap=2 * 1.96 * 0.01)).runs_to_tell is None
    assert MOST_RUNS >= 1000


def test_runs_that_do_not_vary_leave_the_weight_of_one_test_row() -> None:
    draws = Draws(1.0, 0.0, 5, 1 / 400)
    assert judge(draws, Printed(1.0 - 1 / 400, 0.0)).verdict == "reproduced"
    assert judge(draws, Printed(1.0 - 2 / 400, 0.0)).verdict == "close"
    assert judge(draws, Printed(1.0 - 3 / 400, 0.0)).verdict == "differs"


def test_draws_are_run_means() -> None:
    cells = pd.DataFrame(
        {"run": [0, 0, 1, 1, 2, 2], "n_test": 50, "value": [0.8, 1.0, 0.5, 0.7, 0.9, 0.9]}
    )
    result = draws_of(cells["value"], cells, Measure("mcc"))
    assert (result.mean, result.runs) == (pytest.approx(0.8), 3)
    assert result.deviation == pytest.approx(np.std([0.9, 0.6, 0.9], ddof=1))
    # A run tests a hundred rows.
    assert result.least_half_width == pytest.approx(1 / 100)
    # One row of a run moves the mean of two folds by half a row.
    assert draws_of(cells["value"], cells, Measure("tp")).least_half_width == pytest.approx(1 / 2)
    assert draws_of(cells["value"], cells, Measure("nrmse")).least_half_width == pytest.approx(
        1e-6 * 0.8
    )


def test_run_means_that_differ_by_round_off_do_not_vary() -> None:
    values = [0.1 + 0.2, 0.3, 0.3]
    assert np.std(values) > 0
    assert draws_of_means(np.array(values), 0.01).deviation == 0


@pytest.mark.parametrize(("runs", "mean_of"), [(3, 1), (10, 1), (20, 20)])
def test_a_new_draw_is_reproduced_95_times_in_100(seed: int, runs: int, mean_of: int) -> None:
    rng, trials = np.random.default_rng(seed), 2000
    reproduced = 0
    for _ in range(trials):
        published = float(rng.normal(0.8, 0.02, mean_of).mean())
        draws = draws_of_means(rng.normal(0.8, 0.02, runs), 0.0)
        reproduced += judge(draws, Printed(published, 0.0, mean_of)).verdict == "reproduced"
    low, high = binom.ppf([1e-7, 1 - 1e-7], trials, 0.95)
    assert low <= reproduced <= high


HOLDOUT = {"outer": {"kind": "holdout", "runs": 4, "sizes": {"wdbc": {"train": 379, "test": 190}}}}
FIGURES = "WDBC,ELM,mcc,0.90,,\nWDBC,K-ELM,mcc,0.94,,\nWDBC,OS-ELM,mcc,0.70,,\n"
MEANS = {
    "ELM": [0.90, 0.91, 0.89, 0.90],
    "K-ELM": [0.93, 0.935, 0.94, 0.935],
    "OS-ELM": [0.6, 0.7, 0.8, 0.71],
}


def result(resolved: Resolved, lines: list[dict[str, Any]]) -> dict[str, Agreement]:
    measured = MeasuredCells(frame(resolved, lines), resolved)
    figures = summarise(measured).dropna(subset="published")
    compared = list(compared_values(figures, measured))
    return {one.metric: one for one in agreements(compared, figures, resolved)}


def lines_of(means: dict[str, list[float]], **values: Any) -> list[dict[str, Any]]:
    return [
        cell(model, run, mcc=mcc, **values)
        for model, part in means.items()
        for run, mcc in enumerate(part)
    ]


def test_differences_and_the_order_of_the_models(toy: Toy) -> None:
    resolved = toy(FIGURES, protocol=HOLDOUT)
    one = result(resolved, lines_of(MEANS))["mcc"]
    assert one.n_values == 3
    distances = [
        abs(np.mean(part) - p) for part, p in zip(MEANS.values(), (0.90, 0.94, 0.70), strict=True)
    ]
    assert one.median_difference == pytest.approx(np.median(distances))
    assert (one.rank_correlation, one.same_best, one.rows) == (pytest.approx(1.0), 1, 1)
    other = result(resolved, lines_of(MEANS | {"ELM": MEANS["K-ELM"], "K-ELM": MEANS["ELM"]}))[
        "mcc"
    ]
    assert (other.rank_correlation, other.same_best, other.rows) == (pytest.approx(0.5), 0, 1)


def test_the_best_error_is_the_smallest(toy: Toy) -> None:
    outer = HOLDOUT["outer"] | {"sizes": {"calhousing": {"train": 100, "test": 100}}}
    protocol = HOLDOUT | {"outer": outer, "metrics": ["nrmse"]}
    figures = "Calhousing,ELM,nrmse,0.5,,\nCalhousing,K-ELM,nrmse,0.3,,\n"
    resolved = toy(figures, protocol=protocol, datasets=["calhousing"])
    lines = [
        cell(model, run, dataset="calhousing", nrmse=value + run / 1000)
        for model, value in {"ELM": 0.5, "K-ELM": 0.3}.items()
        for run in range(4)
    ]
    one = result(resolved, lines)["nrmse"]
    assert (one.same_best, one.rows, one.rank_correlation) == (1, 1, None)


def test_wrong_pairings_are_judged_by_the_same_rule(toy: Toy) -> None:
    one = result(toy(FIGURES, protocol=HOLDOUT), lines_of(MEANS))["mcc"]
    printed = {"ELM": 0.90, "K-ELM": 0.94, "OS-ELM": 0.70}
    verdicts = [
        judge(
            draws_of_means(np.array(part), 1 / 190),
            Printed(
                printed[other], 0.005, 1, float(np.median([abs(printed[model] - p) for p in rest]))
            ),
        ).verdict
        for model, part in MEANS.items()
        for other in printed
        for rest in [[p for name, p in printed.items() if name != model]]
        if other != model
    ]
    shown = [verdict for verdict in verdicts if verdict != "consistent"]
    counts = (len(shown), shown.count("reproduced"), len(verdicts) - len(shown))
    assert (one.pairings, one.pairings_reproduced, one.pairings_untold) == counts
    # The runs of OS-ELM vary so much that they are consistent with each figure.
    assert (one.pairings, one.pairings_untold) == (4, 2)


@pytest.mark.parametrize(
    # The fifth run lies far off the others; each of the others lies among them. Three runs are too
    # few.
    ("runs", "left_out"),
    [([0.90, 0.91, 0.89, 0.90, 0.5], (5, 4)), ([0.9, 0.91, 0.89], (0, 0))],
)
def test_runs_that_are_left_out(toy: Toy, runs: list[float], left_out: tuple[int, int]) -> None:
    one = result(toy("WDBC,ELM,mcc,0.90,,\n", protocol=HOLDOUT), lines_of({"ELM": runs}))["mcc"]
    assert (one.left_out, one.left_out_reproduced) == left_out


def test_each_time_is_compared_by_itself_as_ratios(toy: Toy) -> None:
    figures = "WDBC,ELM,train_seconds,1.0,,\nWDBC,K-ELM,train_seconds,4.0,,\nWDBC,OS-ELM,train_seconds,0.5,,\n"
    # A time that is printed as 0 has no ratio.
    figures += (
        "WDBC,ELM,test_seconds,1.0,,\nWDBC,K-ELM,test_seconds,8.0,,\nWDBC,OS-ELM,test_seconds,0,,\n"
    )
    changes = {"protocol": HOLDOUT | {"metrics": ["mcc", "fit_seconds", "predict_seconds"]}}
    lines = [
        cell(model, run, mcc=0.9, fit_seconds=value, predict_seconds=0.02)
        for model, value in {"ELM": 0.01, "K-ELM": 0.02, "OS-ELM": 0.01}.items()
        for run in range(4)
    ]
    ours = result(toy(figures, **changes), lines)
    fit, predict = ours.pop("fit_seconds"), ours.pop("predict_seconds")
    # Twice the first model's time where four times are printed, once where half is printed.
    assert (fit.median_factor, fit.median_difference, fit.pairings) == (pytest.approx(2.0), None, 0)
    assert fit.rank_correlation == pytest.approx(np.corrcoef([1.5, 3, 1.5], [2, 3, 1])[0, 1])
    assert (predict.n_values, predict.median_factor, ours) == (2, pytest.approx(8.0), {})
    assert (
        result(toy(figures, **changes, profiles={"fast": {"rows": 200}}, profile="fast"), lines)
        == {}
    )
