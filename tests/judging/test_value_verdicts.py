"""The rule of the verdicts and the agreement beside it, against numbers by hand and draws whose
truth is known.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import Toy, cell, frame, summarise
from scipy.stats import binom, t

from elmbench.judging.measured_cells import ComparedValue, MeasuredCells
from elmbench.judging.summary import summary_lines
from elmbench.judging.table_verdicts import judge_table
from elmbench.judging.value_agreement import (
    agreements_of_times,
    compared_values,
    count_own_runs_inside,
)
from elmbench.judging.value_verdicts import (
    MOST_RUNS,
    Draws,
    Judgement,
    Tolerance,
    draws_of,
    draws_of_means,
    judge,
)
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved

#: Three runs of mean 0.9 and deviation 0.01; t(.975, 2) = 4.302653.
DRAWS = Draws(0.9, 0.01, 3, 0.0)
HALF = 4.302653 * 0.01 * math.sqrt(1 + 1 / 3)
#: A margin wider than the interval.
MARGIN = 0.12


def test_the_interval_is_that_of_a_new_draw() -> None:
    assert DRAWS.half_width() == pytest.approx(HALF, rel=1e-6)
    # A published mean of twenty draws varies less, and our mean of three varies all the same.
    assert DRAWS.half_width(20) == pytest.approx(
        4.302653 * 0.01 * math.sqrt(1 / 20 + 1 / 3), rel=1e-6
    )
    assert DRAWS.half_width(runs=10) == pytest.approx(
        t.ppf(0.975, 9) * 0.01 * math.sqrt(1.1)
    )


@pytest.mark.parametrize(
    ("distance", "verdict"),
    [
        (HALF + 0.005 - 1e-6, "reproduced"),
        (HALF + 0.005 + 1e-6, "close"),
        (MARGIN + 0.005 - 1e-6, "close"),
        (MARGIN + 0.005 + 1e-6, "differs"),
    ],
)
@pytest.mark.parametrize("side", [-1, 1])
def test_the_verdict_at_its_boundaries(
    distance: float, verdict: str, side: int
) -> None:
    result = judge(DRAWS, 0.9 + side * distance, Tolerance(0.005, margin=MARGIN))
    assert result.verdict == verdict
    assert (result.high - result.low) / 2 == pytest.approx(HALF + 0.005, rel=1e-6)
    assert result.runs_to_tell is None


@pytest.mark.parametrize("runs", [1, 2])
def test_one_or_two_runs_are_too_few(runs: int) -> None:
    draws = Draws(0.9, math.nan if runs == 1 else 0.001, runs, 0.005)
    # Not even of a figure that is far away: two runs of a metric that counts rows often coincide.
    for value in (0.9, 0.1):
        result = judge(draws, value, Tolerance(0.0005, gap=0.05))
        assert result == Judgement("too few runs", runs_to_tell=3)


def test_an_interval_as_wide_as_the_models_lie_apart_is_consistent_at_best() -> None:
    near = Tolerance(0.005)
    width = 2 * (HALF + 0.005)
    assert judge(DRAWS, 0.9, replace(near, gap=width + 1e-6)).verdict == "reproduced"
    assert judge(DRAWS, 0.9, replace(near, gap=width - 1e-6)).verdict == "consistent"
    # A value outside of the interval is close or differs, however far apart the models are.
    for apart in (0.001, 1.0, None):
        tolerance = Tolerance(0.005, gap=apart, margin=0.1)
        assert judge(DRAWS, 0.9 + 0.75 * width, tolerance).verdict == "close"
        assert judge(DRAWS, 0.5, tolerance).verdict == "differs"


def test_an_interval_wider_than_the_margin_is_consistent_at_best() -> None:
    """A single published value has no other models, and still no interval is good enough for it."""
    width = 2 * (HALF + 0.005)
    alone = Tolerance(0.005)
    assert (
        judge(DRAWS, 0.9, replace(alone, margin=width + 1e-6)).verdict == "reproduced"
    )
    assert (
        judge(DRAWS, 0.9, replace(alone, margin=width - 1e-6)).verdict == "consistent"
    )
    # An interval from -.25 to 1.86 says nothing about an accuracy of .307.
    wide = Draws(0.801, 0.21, 3, 0.0)
    result = judge(wide, 0.307, Tolerance(0.0005, margin=0.01, least=0.0, greatest=1.0))
    assert (result.verdict, result.low, result.high) == ("consistent", 0.0, 1.0)


def test_more_runs_never_turn_reproduced_into_differs_at_the_same_mean() -> None:
    tolerance = Tolerance(0.0005, mean_of=20, margin=0.02)
    verdicts = [
        judge(replace(DRAWS, runs=runs), 0.905, tolerance).verdict
        for runs in (2, 3, 20, 200, 2000)
    ]
    assert verdicts == [
        "too few runs",
        "consistent",
        "reproduced",
        "reproduced",
        "close",
    ]


def test_the_runs_that_would_tell() -> None:
    tolerance = Tolerance(0.0005, gap=0.06)
    result = judge(DRAWS, 0.9, tolerance)
    assert result.verdict == "consistent"
    runs = result.runs_to_tell
    assert runs is not None
    enough = replace(DRAWS, runs=runs)
    assert judge(enough, 0.9, tolerance).verdict == "reproduced"
    too_few = replace(DRAWS, runs=runs - 1)
    assert judge(too_few, 0.9, tolerance).verdict == "consistent"
    # A single published draw always varies by 1.96 s.
    narrow = replace(tolerance, gap=2 * 1.96 * 0.01)
    assert judge(DRAWS, 0.9, narrow).runs_to_tell is None
    assert MOST_RUNS >= 1000


def test_runs_that_do_not_vary_leave_the_weight_of_one_test_row() -> None:
    draws = Draws(1.0, 0.0, 5, 1 / 400)
    tolerance = Tolerance(0.0, margin=0.01)
    assert judge(draws, 1 - 1 / 400, tolerance).verdict == "reproduced"
    assert judge(draws, 1 - 2 / 400, tolerance).verdict == "close"
    assert judge(draws, 1 - 5 / 400, tolerance).verdict == "differs"


def test_draws_are_means_of_runs() -> None:
    cells = pd.DataFrame(
        {
            "run": [0, 0, 1, 1, 2, 2],
            "n_test": 50,
            "value": [0.8, 1.0, 0.5, 0.7, 0.9, 0.9],
        }
    )
    result = draws_of(cells["value"], cells, Measure("mcc"))
    assert (result.mean, result.runs) == (pytest.approx(0.8), 3)
    assert result.deviation == pytest.approx(np.std([0.9, 0.6, 0.9], ddof=1))
    # A run tests a hundred rows.
    assert result.least_half_width == pytest.approx(1 / 100)
    # One row of a run moves the mean of two folds by half a row.
    assert draws_of(
        cells["value"], cells, Measure("tp")
    ).least_half_width == pytest.approx(1 / 2)
    assert draws_of(
        cells["value"], cells, Measure("nrmse")
    ).least_half_width == pytest.approx(1e-6 * 0.8)


def test_run_means_that_differ_by_round_off_do_not_vary() -> None:
    values = [0.1 + 0.2, 0.3, 0.3]
    assert np.std(values) > 0
    assert draws_of_means(np.array(values), 0.01).deviation == 0


@pytest.mark.parametrize(("runs", "mean_of"), [(3, 1), (10, 1), (20, 20)])
def test_a_new_draw_is_reproduced_95_times_in_100(
    seed: int, runs: int, mean_of: int
) -> None:
    rng, trials = np.random.default_rng(seed), 2000
    reproduced = 0
    for _ in range(trials):
        published = float(rng.normal(0.8, 0.02, mean_of).mean())
        draws = draws_of_means(rng.normal(0.8, 0.02, runs), 0.0)
        reproduced += (
            judge(draws, published, Tolerance(0.0, mean_of)).verdict == "reproduced"
        )
    low, high = binom.ppf([1e-7, 1 - 1e-7], trials, 0.95)
    assert low <= reproduced <= high


HOLDOUT = {
    "outer": {
        "kind": "holdout",
        "runs": 4,
        "sizes": {"wdbc": {"train": 379, "test": 190}},
    }
}


def compared_of(
    resolved: Resolved, lines: list[dict[str, Any]]
) -> tuple[list[ComparedValue], pd.DataFrame]:
    """Return the compared values of some cells, and the lines with a published value."""
    measured = MeasuredCells(frame(resolved, lines), resolved)
    compared = list(compared_values(summary_lines(measured), measured))
    return compared, summarise(measured).dropna(subset="published")


def lines_of(means: dict[str, list[float]], **values: Any) -> list[dict[str, Any]]:
    return [
        cell(model, run, mcc=mcc, **values)
        for model, part in means.items()
        for run, mcc in enumerate(part)
    ]


@pytest.mark.parametrize(
    # The fifth run lies far off the others; each of the others lies among them. Three runs are too
    # few.
    ("runs", "left_out"),
    [([0.90, 0.91, 0.89, 0.90, 0.5], (4, 5)), ([0.9, 0.91, 0.89], (0, 0))],
)
def test_runs_that_are_left_out(
    toy: Toy, runs: list[float], left_out: tuple[int, int]
) -> None:
    resolved = toy("WDBC,ELM,mcc,0.90,,\n", protocol=HOLDOUT)
    compared, _ = compared_of(resolved, lines_of({"ELM": runs}))
    assert count_own_runs_inside(compared) == left_out


def test_the_file_of_a_paper_sets_margins_and_proposed_models(toy: Toy) -> None:
    figures = "WDBC,ELM,mcc,0.900,,\nWDBC,FB-KOS-ELM,mcc,0.800,,\n"
    plain = toy(figures, protocol=HOLDOUT)
    means = [0.9149, 0.9151, 0.9149, 0.9151]
    lines = lines_of({"ELM": means, "FB-KOS-ELM": means})
    compared, published = compared_of(plain, lines)
    assert published["verdict"].tolist() == ["close", "differs"]
    assert [value.is_proposed for value in compared] == [False, False]
    keys = {"margins": {"mcc": 0.01}, "proposed": ("fb-kos-elm",)}
    paper = plain.file.paper.model_copy(update=keys)
    changed = replace(plain, file=replace(plain.file, paper=paper))
    compared, published = compared_of(changed, lines)
    assert published["verdict"].tolist() == ["differs", "differs"]
    assert [value.unit.margin for value in compared] == [0.01, 0.01]
    assert [value.is_proposed for value in compared] == [False, True]
    (verdict,) = judge_table(compared, changed)
    assert (verdict.unit.margin, verdict.proposed_order.n) == (0.01, 1)


def test_each_time_is_compared_by_itself_as_ratios(toy: Toy) -> None:
    figures = "WDBC,ELM,train_seconds,1.0,,\nWDBC,K-ELM,train_seconds,4.0,,\nWDBC,OS-ELM,train_seconds,0.5,,\n"
    # A time that is printed as 0 has no ratio.
    figures += "WDBC,ELM,test_seconds,1.0,,\nWDBC,K-ELM,test_seconds,8.0,,\nWDBC,OS-ELM,test_seconds,0,,\n"
    changes = {
        "protocol": HOLDOUT | {"metrics": ["mcc", "fit_seconds", "predict_seconds"]}
    }
    lines = [
        cell(model, run, mcc=0.9, fit_seconds=value, predict_seconds=0.02)
        for model, value in {"ELM": 0.01, "K-ELM": 0.02, "OS-ELM": 0.01}.items()
        for run in range(4)
    ]
    resolved = toy(figures, **changes)
    _, published = compared_of(resolved, lines)
    fit, predict = agreements_of_times(published, resolved)
    # Twice the first model's time where four times are printed, once where half is printed.
    assert (fit.metric, fit.n, fit.median_factor) == (
        "fit_seconds",
        3,
        pytest.approx(2.0),
    )
    assert fit.rank_correlation == pytest.approx(
        np.corrcoef([1.5, 3, 1.5], [2, 3, 1])[0, 1]
    )
    assert (predict.n, predict.median_factor) == (2, pytest.approx(8.0))
    cut = toy(figures, **changes, profiles={"fast": {"rows": 200}}, profile="fast")
    assert [*agreements_of_times(compared_of(cut, lines)[1], cut)] == []
