"""Findings are in words that the evidence bears."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from elmbench.reporting.papers import PaperResults, TableResults
from elmbench.reporting.site import findings
from elmbench.reporting.site.findings import find
from elmbench.specs.profiles import Resolved

Toy = Callable[..., Resolved]


def compared(reading: str, nearest: str, **means: float) -> list[dict[str, Any]]:
    """Return the lines of a figure of .9 under the values of a reading."""
    figure = {
        "reading": reading,
        "experiment": "toy/one",
        "dataset": "WDBC",
        "model": "ELM",
        "metric": "mcc",
    }
    figure |= {"label": reading, "published": 0.9, "low": 0.86, "high": 0.89}
    return [
        figure
        | {"value": value, "leaks": value == "folds", "nearest": value == nearest, "mean": mean}
        for value, mean in means.items()
    ]


def leaks(toy: Toy, *comparisons: list[dict[str, Any]]) -> list[str]:
    file = toy().file
    gathered = PaperResults(file.paper, (TableResults(file, ()),))
    vars(gathered)["readings"] = pd.DataFrame([line for lines in comparisons for line in lines])
    result = find([gathered])
    return [f"{one.title}; {' '.join(one.evidence)}" for one in result]


def test_a_leak_comes_within_a_distance_and_its_interval_says_whether_the_print_is_inside(
    toy: Toy,
) -> None:
    (result,) = leaks(toy, compared("carry-over", "folds", none=0.8, folds=0.88))
    assert (
        "ELM comes within 0.020 of its published 0.9 on WDBC only if test rows leak: "
        "carry-over=folds"
    ) in result
    assert "0.8600 to 0.8900 on WDBC, where 0.9 is outside" in result


def test_a_leak_explains_nothing_that_another_reading_does_as_well(toy: Toy) -> None:
    leaking = compared("carry-over", "folds", none=0.8, folds=0.88)
    assert not leaks(toy, leaking, compared("order", "", shuffled=0.8, stored=0.91))
    assert leaks(toy, leaking, compared("order", "", shuffled=0.8, stored=0.93))


def test_the_choice_of_hyperparameters_is_judged_model_by_model(
    monkeypatch: pytest.MonkeyPatch, toy: Toy
) -> None:
    file = toy().file
    results: Any = SimpleNamespace()
    paper = PaperResults(file.paper, (TableResults(file, (results,)),))
    columns = [
        "table",
        "model",
        "oracle nearer",
        "nested nearer",
        "equal",
        "oracle − print",
        "nested − print",
    ]

    def title(*counts: tuple[str, int, int]) -> str:
        choices = pd.DataFrame(
            [("Table I", *count, 0, 0.0, -0.01) for count in counts], columns=columns
        )
        monkeypatch.setattr(findings, "_choices", lambda _: choices)
        result = findings._choice(paper)
        return f"{result.title} {' '.join(result.evidence)}" if result else ""

    # Together they are 29 against 15, less than twice as many.
    result = title(("EEM", 21, 2), ("W-ELM", 8, 13))
    assert result.startswith(
        "The figures of EEM in Table I of TOY are nearer to hyperparameters chosen on the test "
        "folds"
    )
    assert "an inference" in result
    assert "The other models do not show it: W-ELM 8:13." in result
    # A few figures more may be chance.
    assert not title(("EEM", 5, 2), ("W-ELM", 8, 13))


def test_a_table_has_no_reading_if_most_figures_lie_outside_under_all_of_them() -> None:
    def share(outside: dict[str, int]) -> float | None:
        rows = [
            {
                "dataset": f"d{i}",
                "model": "m",
                "metric": "mcc",
                "select": "published",
                "reading": reading,
                "mean": 0.5,
            }
            | {"published": 0.9 if i < n else 0.5, "low": 0.4, "high": 0.6, "ended": "", "runs": 3}
            for reading, n in outside.items()
            for i in range(12)
        ]
        summary = pd.DataFrame(rows).assign(ended=findings.COMPLETE)
        resolved = SimpleNamespace(profile="paper", compares=lambda name: True)
        results: Any = SimpleNamespace(summary=summary, resolved=resolved)
        result = findings._outside(results)
        return result[0] if result else None

    assert share({"": 12, "a=b": 10}) == pytest.approx(10 / 12)
    # Most lie outside under each reading by itself, but not under all.
    assert share({"": 12, "a=b": 5}) is None
    assert share({"": 12}) is None
