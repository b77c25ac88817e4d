"""`elmbench baseline update`, the only way in which a baseline changes."""

from __future__ import annotations

from collections.abc import Callable

RUN = ("run", "one", "--profile", "ci", "-q")


def test_it_writes_the_cells_of_profile_ci(elmbench: Callable, toy: Callable, worker: dict) -> None:
    path = toy().with_name("one.baseline.csv")
    elmbench(*RUN)
    result = elmbench("baseline", "update", "one")
    assert (result.code, result.err) == (0, "")
    assert result.out == "toy/one: 12 cells are the baseline now (experiments/toy/one.baseline.csv)\n"
    lines = path.read_text().splitlines()
    assert len(lines) == 13
    assert lines[0] == (
        "dataset,model,run,fold,select,reading,status,params,"
        "mcc,gmean,accuracy,precision,recall,f1,tn,fp,fn,tp,n_units,condition,n_test"
    )
    # Counts stay whole numbers, so that a baseline differs only where a figure does.
    assert ",118,1,5,66,10,100.0,190" in lines[1]
    assert elmbench("baseline", "update", "one", "-q").out == ""
    (written,) = elmbench("baseline", "update", "one", "--json").json
    assert written == {"experiment": "toy/one", "cells": 12, "file": "experiments/toy/one.baseline.csv"}


def test_nothing_else_writes_one(elmbench: Callable, toy: Callable, worker: dict) -> None:
    path = toy()
    elmbench(*RUN)
    elmbench("baseline", "update", "one")
    before = {p: p.read_bytes() for p in path.parent.iterdir()}
    worker["elm"] = lambda unit: {"n_units": 11} if unit["kind"] == "cell" else {}
    elmbench(*RUN, "--force")
    for words in (
        ("check",), ("check", "one", "--against", "published", "--profile", "ci"), ("table", "one", "--profile", "ci"),
        ("status",), ("validate",), ("show", "one"), ("run", "one", "--profile", "paper", "--dry-run"),
    ):  # fmt: skip
        elmbench(*words)
    assert elmbench("check", "one").code == 1
    assert {p: p.read_bytes() for p in path.parent.iterdir()} == before
    assert elmbench("baseline", "update", "one").code == 0
    assert {p for p, content in before.items() if p.read_bytes() != content} == {path.with_name("one.baseline.csv")}
    assert elmbench("check", "one").code == 0


def test_failures_are_refused(elmbench: Callable, toy: Callable, worker: dict) -> None:
    path = toy().with_name("one.baseline.csv")
    worker["k-elm"] = {"status": "failed", "reason": "ValueError: no"}
    elmbench(*RUN)
    result = elmbench("baseline", "update", "one")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: 3 of 12 cells ended failed: no baseline is written\n")
    assert "Next: elmbench run toy/one --profile ci" in result.err
    assert not path.exists()
