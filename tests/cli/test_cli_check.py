"""`elmbench check`: 0 within, 1 differs, 2 usage, 3 nothing to compare."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CELLS = Path("elmbench-results/ci/toy/one/cells.csv")


@pytest.fixture
def ran(elmbench: Callable, toy: Callable, worker: dict) -> Path:
    """The toy experiment, run under profile ci; its file."""
    path = toy()
    assert elmbench("run", "one", "--profile", "ci", "-q").code == 0
    return path


@pytest.fixture
def baseline(elmbench: Callable, ran: Path) -> Path:
    assert elmbench("baseline", "update", "one").code == 0
    return ran.with_name("one.baseline.csv")


def edit(old: str, new: str, path: Path = CELLS, count: int = -1) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))


@pytest.mark.parametrize("words", [(), ("one",), ("toy/one", "--against", "baseline"), ("one", "--profile", "ci")])
def test_within(elmbench: Callable, baseline: Path, words: tuple[str, ...]) -> None:
    result = elmbench("check", *words)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[-1].split() == ["toy/one", "12", "0"]


def test_differs(elmbench: Callable, baseline: Path) -> None:
    edit(",118,1,5,66,", ",118,1,7,64,", count=1)
    result = elmbench("check", "one")
    assert result.code == 1
    text = result.out.replace("\n", " ")
    assert "toy/one: wdbc ELM run 0 fold 0 nested: tn, fp, fn, tp is 118, 1, 7, 64, baseline 118, 1, 5, 66" in text
    assert "(allowed: one test row predicted otherwise)" in text
    # What differs is a result: it is printed in any case.
    assert elmbench("check", "one", "-q").out == result.out
    (line,) = elmbench("check", "one", "--json").json
    assert (line["compared"], len(line["differences"])) == (12, 1)
    assert line["differences"][0]["what"] == "tn, fp, fn, tp"


def test_many_differences_are_counted(elmbench: Callable, baseline: Path) -> None:
    lines = CELLS.read_text().splitlines(keepends=True)
    more = [line.replace(",0,0,nested", f",{run},0,nested") for run in range(1, 31) for line in lines[1:2]]
    CELLS.write_text("".join(lines + more))
    result = elmbench("check", "one")
    assert result.code == 1
    assert " ".join(result.out.split()).count("(allowed: the same cells)") == 20
    assert "toy/one: and 10 more; --json has them all" in result.out
    assert len(elmbench("check", "one", "--json").json[0]["differences"]) == 30


@pytest.mark.parametrize("words", [(), ("one",)])
def test_no_results(elmbench: Callable, baseline: Path, words: tuple[str, ...]) -> None:
    shutil.rmtree("elmbench-results")
    result = elmbench("check", *words)
    assert result.code == 3
    assert result.err.splitlines()[0] == "error: toy/one has no results of profile ci in elmbench-results"
    assert "Next: elmbench run toy/one --profile ci" in result.err
    assert "with the paper: elmbench check toy/one --against published" in " ".join(result.err.split())


@pytest.mark.parametrize(("words", "said"), [((), "no table has a baseline"), (("one",), "toy/one has no baseline")])
def test_no_baseline(elmbench: Callable, ran: Path, words: tuple[str, ...], said: str) -> None:
    result = elmbench("check", *words)
    assert result.code == 3
    assert result.err.startswith(f"error: {said}\n")
    assert "elmbench baseline update" in result.err


def test_an_empty_table_of_cells(elmbench: Callable, baseline: Path) -> None:
    CELLS.write_text(CELLS.read_text().splitlines()[0] + "\n")
    assert elmbench("check", "one").code == 3
    assert elmbench("check", "one", "--against", "published", "--profile", "ci").code == 3


PUBLISHED = ("check", "--against", "published", "--profile", "ci")


def counted(result: Any) -> dict[str, int]:
    """The verdicts of the only table that occur."""
    (table,) = result.json
    return {verdict: n for verdict, n in table["verdicts"].items() if n}


@pytest.fixture
def three_runs(elmbench: Callable, toy: Callable, worker: dict) -> Path:
    """The toy experiment, three runs of profile ci: of ELM a figure is printed that comes out, of K-ELM none such."""
    path = toy()
    assert elmbench("run", "one", "--profile", "ci", "--runs", "3", "-q").code == 0
    return path


def test_against_the_published_figures(elmbench: Callable, three_runs: Path) -> None:
    result = elmbench(*PUBLISHED, "one")
    assert result.code == 0
    lines = [line.split() for line in result.out.splitlines()]
    assert ["toy/one", "1", "0", "0", "1", "0", "0", "0", "0"] in lines
    assert "2 published figures: 1 ✓ reproduced, 1 ✗ differs." in result.out
    # Its figure for K-ELM differs from the paper's, which is no fault unless one says so.
    assert elmbench(*PUBLISHED, "one", "--strict").code == 1
    assert counted(elmbench(*PUBLISHED, "one", "--json")) == {"reproduced": 1, "differs": 1}


def test_json_has_every_figure_and_every_metric(elmbench: Callable, three_runs: Path) -> None:
    result = elmbench(*PUBLISHED, "one", "--json")
    (table,) = result.json
    assert (table["experiment"], table["profile"]) == ("toy/one", "ci")
    first = table["figures"][0]
    assert (first["model"], first["published"], first["verdict"], first["runs"]) == ("ELM", 0.92, "reproduced", 3)
    assert first["mean"] == pytest.approx(0.92)
    assert first["low"] < 0.92 < first["high"]
    joint = table["joint"]
    assert (joint["metric"], joint["inside"], joint["of"], joint["pattern_p"]) == ("mcc", 1, 2, None)
    # One of two figures inside is no evidence, and two models have two orders.
    assert joint["verdict"] == "too small to judge"
    assert (joint["self_test"]["wrong_models"], joint["self_test"]["wrong_reproduced"]) == (1, 0)
    metric = table["metrics"][0]
    assert (metric["metric"], metric["figures"], metric["pairings"], metric["pairings_reproduced"]) == ("mcc", 2, 2, 1)


def test_one_run_is_too_few(elmbench: Callable, ran: Path) -> None:
    result = elmbench(*PUBLISHED, "one", "--strict")
    assert result.code == 0
    assert "2 published figures: 2 ? too few runs. An interval needs 3 runs, 2 more than there are" in " ".join(
        result.out.split()
    )


def test_against_the_published_figures_without_names(elmbench: Callable, three_runs: Path) -> None:
    words = ("check", "--against", "published", "--profile", "fast")
    assert elmbench(*PUBLISHED).code == 0
    result = elmbench(*words)
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("error: nothing was compared")
    assert elmbench(*words, "one").err.startswith("error: toy/one has no results of profile fast")


def test_other_readings_and_selections_do_not_count(elmbench: Callable, three_runs: Path) -> None:
    words = ("run", "one", "--profile", "ci", "--runs", "3", "-q")
    assert elmbench(*words, "--select", "oracle").code == 0
    assert elmbench(*words, "--reading", "order=stored").code == 0
    assert counted(elmbench(*PUBLISHED, "one", "--json")) == {"reproduced": 1, "differs": 1}


def test_cells_that_did_not_end_ok_give_no_data(elmbench: Callable, toy: Callable, worker: dict) -> None:
    toy()
    worker["k-elm"] = {"status": "timeout", "reason": "> 5 s"}
    run = ("run", "one", "--profile", "ci", "--runs", "3", "-q")
    elmbench(*run)
    result = elmbench(*PUBLISHED, "one", "--strict", "--json")
    assert (counted(result), result.code) == ({"reproduced": 1, "no data": 1}, 0)
    worker["elm"] = worker["k-elm"]
    elmbench(*run, "--force")
    assert elmbench(*PUBLISHED, "one", "--strict").code == 3


def test_hyperparameters_are_not_judged(elmbench: Callable, toy: Callable, worker: dict) -> None:
    path = toy(layout="parameters")
    path.with_name("one.csv").write_text("dataset,model,metric,value,std,note\nWDBC,ELM,C,40,,\nWDBC,ELM,L,460,,\n")
    elmbench("run", "one", "--profile", "ci", "-q")
    result = elmbench(*PUBLISHED, "one", "--json")
    assert (counted(result), result.code) == ({}, 3)


def test_the_most_faithful_profile_is_compared(elmbench: Callable, real: Path) -> None:
    shutil.copytree(real / "ci/kos-elm/table4", real / "fast/kos-elm/table4")
    lines = elmbench("check", "--against", "published", "--results-dir", real, "--json").json
    assert {line["experiment"]: line["profile"] for line in lines} == {
        "kos-elm/table2": "ci",
        "kos-elm/table4": "fast",
        "kos-elm/table7": "ci",
    }
