"""The figures beside the verdicts: differences, order, times as ratios, wrong pairings, our own runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from made_cells import cell, frame

from elmbench.reporting.agreement import Agreement, agreements
from elmbench.reporting.figures import compared_figures
from elmbench.reporting.summary import MeasuredCells, summarise
from elmbench.reporting.verdicts import Printed, draws_of_means, judge
from elmbench.specs.profiles import Resolved

Toy = Callable[..., Resolved]
HOLDOUT = {"outer": {"kind": "holdout", "runs": 4, "sizes": {"wdbc": {"train": 379, "test": 190}}}}
FIGURES = "WDBC,ELM,mcc,0.90,,\nWDBC,K-ELM,mcc,0.94,,\nWDBC,OS-ELM,mcc,0.70,,\n"
MEANS = {"ELM": [0.90, 0.91, 0.89, 0.90], "K-ELM": [0.93, 0.935, 0.94, 0.935], "OS-ELM": [0.6, 0.7, 0.8, 0.71]}


def result(resolved: Resolved, lines: list[dict[str, Any]]) -> dict[str, Agreement]:
    measured = MeasuredCells(frame(resolved, lines), resolved)
    figures = summarise(measured).dropna(subset="published")
    compared = list(compared_figures(figures, measured))
    return {one.metric: one for one in agreements(compared, figures, resolved)}


def lines_of(means: dict[str, list[float]], **values: Any) -> list[dict[str, Any]]:
    return [cell(model, run, mcc=mcc, **values) for model, part in means.items() for run, mcc in enumerate(part)]


def test_differences_and_the_order_of_the_models(toy: Toy) -> None:
    resolved = toy(FIGURES, protocol=HOLDOUT)
    one = result(resolved, lines_of(MEANS))["mcc"]
    assert one.figures == 3
    distances = [abs(np.mean(part) - p) for part, p in zip(MEANS.values(), (0.90, 0.94, 0.70), strict=True)]
    assert one.median_difference == pytest.approx(np.median(distances))
    assert (one.rank_correlation, one.same_best, one.rows) == (pytest.approx(1.0), 1, 1)
    other = result(resolved, lines_of(MEANS | {"ELM": MEANS["K-ELM"], "K-ELM": MEANS["ELM"]}))["mcc"]
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
            Printed(printed[other], 0.005, 1, float(np.median([abs(printed[model] - p) for p in rest]))),
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
    # The fifth run lies far off the others; each of the others lies among them. Three runs are too few.
    ("runs", "left_out"),
    [([0.90, 0.91, 0.89, 0.90, 0.5], (5, 4)), ([0.9, 0.91, 0.89], (0, 0))],
)
def test_runs_that_are_left_out(toy: Toy, runs: list[float], left_out: tuple[int, int]) -> None:
    one = result(toy("WDBC,ELM,mcc,0.90,,\n", protocol=HOLDOUT), lines_of({"ELM": runs}))["mcc"]
    assert (one.left_out, one.left_out_reproduced) == left_out


def test_times_are_compared_as_ratios(toy: Toy) -> None:
    figures = "WDBC,ELM,train_seconds,1.0,,\nWDBC,K-ELM,train_seconds,4.0,,\nWDBC,OS-ELM,train_seconds,0.5,,\n"
    resolved = toy(figures, protocol=HOLDOUT)
    seconds = {"ELM": 0.01, "K-ELM": 0.02, "OS-ELM": 0.01}
    lines = [cell(model, run, mcc=0.9, fit_seconds=value) for model, value in seconds.items() for run in range(4)]
    one = result(resolved, lines)["fit_seconds"]
    # Twice the first model's time where four times are printed, once where half is printed.
    assert (one.median_factor, one.median_difference, one.pairings) == (pytest.approx(2.0), None, 0)
    assert one.rank_correlation == pytest.approx(np.corrcoef([1.5, 3, 1.5], [2, 3, 1])[0, 1])


def test_each_time_is_compared_by_itself(toy: Toy) -> None:
    times = {"train_seconds": (1.0, 4.0), "test_seconds": (1.0, 8.0)}
    protocol = HOLDOUT | {"metrics": ["mcc", "fit_seconds", "predict_seconds"]}
    figures = "".join(
        f"WDBC,{model},{time},{value},,\n"
        for time, values in times.items()
        for model, value in zip(("ELM", "K-ELM", "OS-ELM"), (*values, 0), strict=True)
    )
    lines = [
        cell(model, run, mcc=0.9, fit_seconds=0.01, predict_seconds=0.02)
        for model in ("ELM", "K-ELM", "OS-ELM")
        for run in range(4)
    ]
    ours = result(toy(figures, protocol=protocol), lines)
    # A time that is printed as 0 has no ratio.
    assert {name: (one.figures, one.median_factor) for name, one in ours.items()} == {
        "fit_seconds": (2, pytest.approx(4.0)),
        "predict_seconds": (2, pytest.approx(8.0)),
    }
    assert result(toy(figures, protocol=protocol, profiles={"fast": {"rows": 200}}, profile="fast"), lines) == {}
