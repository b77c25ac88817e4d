"""`elmbench check`: 0 within, 1 differs, 2 usage, 3 nothing to compare."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

CELLS = Path("results/ci/toy/one/cells.csv")


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
    found = elmbench("check", *words)
    assert (found.code, found.err) == (0, "")
    assert found.out.splitlines()[-1].split() == ["toy/one", "12", "0"]


def test_differs(elmbench: Callable, baseline: Path) -> None:
    edit(",118,1,5,66,", ",118,1,7,64,", count=1)
    found = elmbench("check", "one")
    assert found.code == 1
    text = found.out.replace("\n", " ")
    assert "toy/one: wdbc ELM run 0 fold 0 nested: tn, fp, fn, tp is 118, 1, 7, 64, baseline 118, 1, 5, 66" in text
    assert "(allowed: one test row predicted otherwise)" in text
    # What differs is a result: it is printed in any case.
    assert elmbench("check", "one", "-q").out == found.out
    (line,) = elmbench("check", "one", "--json").json
    assert (line["compared"], len(line["differences"])) == (12, 1)
    assert line["differences"][0]["what"] == "tn, fp, fn, tp"


def test_many_differences_are_counted(elmbench: Callable, baseline: Path) -> None:
    lines = CELLS.read_text().splitlines(keepends=True)
    more = [line.replace(",0,0,nested", f",{run},0,nested") for run in range(1, 31) for line in lines[1:2]]
    CELLS.write_text("".join(lines + more))
    found = elmbench("check", "one")
    assert found.code == 1
    assert " ".join(found.out.split()).count("(allowed: the same cells)") == 20
    assert "toy/one: and 10 more; --json has them all" in found.out
    assert len(elmbench("check", "one", "--json").json[0]["differences"]) == 30


def test_no_cell_in_common_is_nothing_compared(elmbench: Callable, baseline: Path) -> None:
    edit("nested", "oracle")
    assert elmbench("check", "one").code == 3


@pytest.mark.parametrize("words", [(), ("one",)])
def test_no_results(elmbench: Callable, baseline: Path, words: tuple[str, ...]) -> None:
    shutil.rmtree("results")
    found = elmbench("check", *words)
    assert found.code == 3
    assert found.err.splitlines()[0] == "error: toy/one has no results of profile ci in results"
    assert "Next: elmbench run toy/one --profile ci" in found.err


@pytest.mark.parametrize(("words", "said"), [((), "no table has a baseline"), (("one",), "toy/one has no baseline")])
def test_no_baseline(elmbench: Callable, ran: Path, words: tuple[str, ...], said: str) -> None:
    found = elmbench("check", *words)
    assert found.code == 3
    assert found.err.startswith(f"error: {said}\n")
    assert "elmbench baseline update" in found.err


def test_an_empty_table_of_cells(elmbench: Callable, baseline: Path) -> None:
    CELLS.write_text(CELLS.read_text().splitlines()[0] + "\n")
    assert elmbench("check", "one").code == 3
    assert elmbench("check", "one", "--against", "published", "--profile", "ci").code == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nope",), "unknown experiment 'nope'"),
        (("one", "--against", "memory"), "unknown reference 'memory'"),
        (("one", "--against", "published", "--profile", "slow"), "unknown profile 'slow'"),
    ],
)
def test_usage(elmbench: Callable, ran: Path, words: tuple[str, ...], said: str) -> None:
    found = elmbench("check", *words)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith(f"error: {said}")


def test_a_damaged_file_is_an_error(elmbench: Callable, baseline: Path) -> None:
    baseline.write_text("a,b\n")
    found = elmbench("check", "one")
    assert found.code == 2
    assert "lacks the columns dataset" in found.err


def test_against_the_published_figures(elmbench: Callable, ran: Path) -> None:
    words = ("check", "one", "--against", "published", "--profile", "ci")
    found = elmbench(*words)
    assert found.code == 0
    assert found.out.splitlines()[-1].split() == ["toy/one", "1", "0", "1", "0", "0"]
    # Its figure for K-ELM differs from the paper's, which is no fault unless one says so.
    assert elmbench(*words, "--strict").code == 1
    assert elmbench(*words, "--json").json == [
        {"experiment": "toy/one", "agrees": 1, "near": 0, "differs": 1, "cited": 0, "not run": 0}
    ]


def test_against_the_published_figures_without_names(elmbench: Callable, ran: Path) -> None:
    words = ("check", "--against", "published")
    assert elmbench(*words, "--profile", "ci").code == 0
    found = elmbench(*words)
    assert (found.code, found.out) == (3, "")
    assert found.err.startswith("error: nothing was compared")
    assert elmbench(*words, "one").err.startswith("error: toy/one has no results of profile fast")


def test_other_readings_and_selections_do_not_count(elmbench: Callable, ran: Path) -> None:
    words = ("run", "one", "--profile", "ci", "-q")
    assert elmbench(*words, "--select", "oracle").code == 0
    assert elmbench(*words, "--reading", "order=stored").code == 0
    found = elmbench("check", "one", "--against", "published", "--profile", "ci", "--json").json
    assert found == [{"experiment": "toy/one", "agrees": 1, "near": 0, "differs": 1, "cited": 0, "not run": 0}]


def test_cells_that_did_not_end_ok_are_counted_as_not_run(elmbench: Callable, toy: Callable, worker: dict) -> None:
    toy()
    worker["k-elm"] = {"status": "timeout", "reason": "> 5 s"}
    elmbench("run", "one", "--profile", "ci", "-q")
    words = ("check", "one", "--against", "published", "--profile", "ci", "--strict")
    found = elmbench(*words, "--json")
    assert found.json == [{"experiment": "toy/one", "agrees": 1, "near": 0, "differs": 0, "cited": 0, "not run": 1}]
    assert found.code == 0
    worker["elm"] = worker["k-elm"]
    elmbench("run", "one", "--profile", "ci", "-q", "--force")
    assert elmbench(*words).code == 3


def test_hyperparameters_are_not_judged(elmbench: Callable, toy: Callable, worker: dict) -> None:
    path = toy(layout="parameters")
    path.with_name("one.csv").write_text("dataset,model,metric,value,std,note\nWDBC,ELM,C,40,,\nWDBC,ELM,L,460,,\n")
    elmbench("run", "one", "--profile", "ci", "-q")
    found = elmbench("check", "one", "--against", "published", "--profile", "ci", "--json")
    assert found.json == [{"experiment": "toy/one", "agrees": 0, "near": 0, "differs": 0, "cited": 0, "not run": 0}]
    assert found.code == 3
