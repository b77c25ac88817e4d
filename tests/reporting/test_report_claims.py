"""Sentences of a paper, held against the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from made_cells import cell, folds, notes_of, table_of

from elmbench.specs.profiles import Resolved

Toy = Callable[..., Resolved]

CLAIM: dict[str, Any] = {"says": "it is so", "dataset": "wdbc", "metric": "mcc", "model": "ELM", "is": "above"}


def claimed(toy: Toy, lines: list[dict[str, Any]], figures: str = "", **claim: Any) -> str:
    """What is said of a claim."""
    (note,) = [n for n in notes_of(table_of(toy(figures, claims=[CLAIM | claim]), lines)) if n.startswith("claim")]
    assert note.startswith('claim "it is so" (wdbc): ')
    return note.partition("(wdbc): ")[2]


@pytest.mark.parametrize(
    ("claim", "elm", "kelm", "holds"),
    [
        ({"is": "above"}, 0.91, 0.90, True),
        ({"is": "above"}, 0.90, 0.90, False),
        ({"is": "above"}, 0.89, 0.90, False),
        ({"is": "below"}, 0.89, 0.90, True),
        ({"is": "below"}, 0.90, 0.90, False),
        ({"is": "close", "within": 0.0625}, 0.5625, 0.5, True),
        ({"is": "close", "within": 0.0625}, 0.4375, 0.5, True),
        ({"is": "close", "within": 0.0625}, 0.57, 0.5, False),
        # Half of the other: the factor is on the other's side.
        ({"is": "above", "factor": 0.5}, 0.46, 0.90, True),
        ({"is": "above", "factor": 0.5}, 0.44, 0.90, False),
        ({"is": "below", "factor": 0.85}, 0.76, 0.90, True),
        ({"is": "below", "factor": 0.85}, 0.77, 0.90, False),
    ],
)
def test_relations(toy: Toy, claim: dict[str, Any], elm: float, kelm: float, holds: bool) -> None:
    lines = [*folds("ELM", elm, elm), *folds("K-ELM", kelm, kelm)]
    said = claimed(toy, lines, than=["K-ELM"], **claim)
    assert said.startswith("holds: " if holds else "does not hold: ")
    assert said.endswith(f"mcc {elm:.4g} against K-ELM {kelm:.4g}")


def test_others_are_all_other_columns(toy: Toy) -> None:
    others = {"K-ELM": 0.5, "OS-ELM": 0.6, "FB-KOS-ELM": 0.7}
    lines = [line for model, value in others.items() for line in folds(model, value, value)]
    assert claimed(toy, [*folds("ELM", 0.8, 0.8), *lines], than="others").startswith("holds")
    assert claimed(toy, [*folds("ELM", 0.65, 0.65), *lines], than="others").startswith("does not hold")


def test_a_missing_column_decides_nothing(toy: Toy) -> None:
    lines = [*folds("ELM", 0.8, 0.8), *folds("K-ELM", 0.5, 0.5)]
    assert claimed(toy, lines, than=["K-ELM"]).startswith("holds")
    undecided = "not decided, cells are missing"
    assert claimed(toy, lines, than=["K-ELM", "OS-ELM"]) == undecided
    assert claimed(toy, lines, than="others") == undecided
    assert claimed(toy, lines[2:], than=["K-ELM"]) == undecided


def test_a_column_that_the_paper_leaves_out_is_not_waited_for(toy: Toy) -> None:
    lines = [*folds("ELM", 0.8, 0.8), *folds("K-ELM", 0.5, 0.5)]
    figures = "WDBC,OS-ELM,mcc,,,excluded\nWDBC,FB-KOS-ELM,mcc,,,excluded\n"
    assert claimed(toy, lines, figures, than="others").startswith("holds")


@pytest.mark.parametrize("model", ["ELM", "K-ELM"])
def test_a_mean_over_some_of_the_folds_decides_nothing(toy: Toy, model: str) -> None:
    other = "K-ELM" if model == "ELM" else "ELM"
    lines = [cell(model, fold=0, mcc=0.9), cell(model, fold=1, status="timeout", reason="> 5 s")]
    assert "not decided" in claimed(toy, [*lines, *folds(other, 0.8, 0.8)], than=["K-ELM"])
    # Nor does one whose other folds have not been run yet.
    assert "not decided" in claimed(toy, [*lines[:1], *folds(other, 0.8, 0.8)], than=["K-ELM"])


def test_default_readings_and_the_own_selection_decide(toy: Toy) -> None:
    lines = [*folds("ELM", 0.8, 0.8), *folds("K-ELM", 0.5, 0.5)]
    contrary = [line | {"mcc": 1 - line["mcc"]} for line in lines]
    other_reading = [line | {"reading": "order=stored"} for line in contrary]
    other_selection = [line | {"select": "oracle"} for line in contrary]
    assert claimed(toy, other_reading + other_selection + lines, than=["K-ELM"]).startswith("holds")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0.6, 0.6, 0.4], "holds: on 2 of 3"),
        ([0.6, 0.4, 0.4], "does not hold: on 1 of 3"),
        # Half of them is not most of them; one that is not whole does not count.
        ([0.6, 0.4, None], "does not hold: on 1 of 2"),
        ([0.6, 0.6, None], "holds: on 2 of 2"),
        ([None, None, None], "not decided, cells are missing"),
    ],
)
def test_a_claim_on_most_data_sets(toy: Toy, values: list[float | None], said: str) -> None:
    names = ["wdbc", "sylva", "heart"]
    lines = []
    for name, value in zip(names, values, strict=True):
        lines += folds("K-ELM", 0.5, 0.5, dataset=name)
        lines += folds("ELM", *([0.9] if value is None else [value, value]), dataset=name)
    resolved = toy(datasets=names, claims=[CLAIM | {"dataset": "most", "than": ["K-ELM"]}])
    (note,) = [n for n in notes_of(table_of(resolved, lines)) if n.startswith("claim")]
    assert note == f'claim "it is so" (most data sets; mcc of ELM above K-ELM): {said}'


def test_a_claim_on_times_is_not_held_against_fewer_rows(toy: Toy) -> None:
    lines = [*folds("ELM", 1, 1, fit_seconds=2.0), *folds("K-ELM", 1, 1, fit_seconds=1.0)]
    lines += [line | {"dataset": "heart"} for line in lines]  # of 270 rows

    def said(metric: str, dataset: str) -> str:
        claims = [CLAIM | {"metric": metric, "dataset": dataset, "than": ["K-ELM"]}]
        names = ["wdbc"] if dataset == "wdbc" else ["wdbc", "heart"]
        resolved = toy(profile="ci", datasets=names, profiles={"ci": {"rows": rows}}, claims=claims)
        own = [line for line in lines if line["dataset"] in names]
        return notes_of(table_of(resolved, own))[0].partition("): ")[2]

    rows = 300
    assert said("fit_seconds", "wdbc") == "not decided, 300 of its rows were run"
    assert said("fit_seconds", "most") == "holds: on 1 of 1"
    assert said("mcc", "most") == "does not hold: on 0 of 2"
    rows = 200
    assert said("fit_seconds", "most") == "not decided, at most 200 rows of each were run"
    rows = 569
    assert said("fit_seconds", "wdbc").startswith("holds")


def test_what_stands_in_for_the_papers_data_decides_nothing(toy: Toy) -> None:
    profiles = {"ci": {"stand-ins": ["wdbc"]}}
    claims = [CLAIM | {"dataset": "most", "than": ["K-ELM"]}]
    resolved = toy(profile="ci", datasets=["heart"], profiles=profiles, claims=claims)
    lines = [*folds("ELM", 0.8, 0.8), *folds("K-ELM", 0.5, 0.5)]
    assert not notes_of(table_of(resolved, lines))
    lines += [line | {"dataset": "heart"} for line in lines]
    assert notes_of(table_of(resolved, lines))[0].endswith("on 1 of 1")


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ({"is": "below", "factor": 0.1}, "mcc of ELM below 0.1 times K-ELM, OS-ELM"),
        ({"is": "close", "within": 0.02}, "mcc of ELM within 0.02 of K-ELM, OS-ELM"),
    ],
)
def test_a_claim_on_most_data_sets_says_what_is_compared(toy: Toy, claim: dict[str, Any], said: str) -> None:
    resolved = toy(claims=[CLAIM | claim | {"dataset": "most", "than": ["K-ELM", "OS-ELM"]}])
    (note,) = [n for n in notes_of(table_of(resolved, folds("ELM", 0.8, 0.8))) if n.startswith("claim")]
    assert f"(most data sets; {said}): not decided" in note


def test_claims_on_data_sets_that_were_not_run_are_passed_over(toy: Toy) -> None:
    resolved = toy(datasets=["wdbc", "sylva"], claims=[CLAIM | {"dataset": "sylva", "than": ["K-ELM"]}])
    assert not notes_of(table_of(resolved, folds("ELM", 0.8, 0.8)))
