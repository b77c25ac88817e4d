"""`elmbench check`: 0 within, 1 differs, 2 usage, 3 nothing to compare; and `baseline update`, its
only writer.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_cells import RESULTS
from sentences import sentence

CELLS = Path("elmbench-results/ci/toy/one/cells.csv")
RUN = ("run", "one", "--profile", "ci", "-q")


@pytest.fixture
def ran(elmbench: Callable, one: Path, worker: dict) -> Path:
    """The toy experiment, run under profile ci; its file."""
    elmbench(*RUN)
    return one


@pytest.fixture
def baseline(elmbench: Callable, ran: Path) -> Path:
    elmbench("baseline", "update", "one")
    return ran.with_name("one.baseline.csv")


@pytest.mark.parametrize(
    "words",
    [(), ("one",), ("toy/one", "--against", "baseline"), ("one", "--profile", "ci")],
)
def test_cells_equal_to_the_baseline_pass(
    elmbench: Callable, baseline: Path, words: tuple[str, ...]
) -> None:
    result = elmbench("check", *words)
    assert result.err == ""
    assert result.out.splitlines()[-1].split() == ["toy/one", "12", "0"]


def test_a_cell_that_differs_from_the_baseline_fails(
    elmbench: Callable, baseline: Path
) -> None:
    text = CELLS.read_text()
    assert ",96,4,4,96," in text
    CELLS.write_text(text.replace(",96,4,4,96,", ",96,4,6,94,", 1))
    result = elmbench("check", "one", code=1)
    text = " ".join(result.out.split())
    assert (
        sentence(
            "cli.check.cell-differs-from-baseline",
            counts="96, 4, 6, 94",
            baseline="96, 4, 4, 96",
        )
        in text
    )
    assert "(allowed: one test row predicted otherwise)" in text
    # What differs is a result: it is printed in any case.
    assert elmbench("check", "one", "-q", code=1).out == result.out
    (line,) = elmbench("check", "one", "--json", code=1).json
    assert (line["compared"], len(line["differences"])) == (12, 1)
    assert line["differences"][0]["column"] == "tn, fp, fn, tp"


def test_many_differences_are_counted(elmbench: Callable, baseline: Path) -> None:
    lines = CELLS.read_text().splitlines(keepends=True)
    more = [
        line.replace(",0,0,nested", f",{run},0,nested")
        for run in range(1, 31)
        for line in lines[1:2]
    ]
    CELLS.write_text("".join(lines + more))
    result = elmbench("check", "one", code=1)
    assert " ".join(result.out.split()).count("(allowed: the same cells)") == 20
    assert "toy/one: and 10 more; --json has them all" in result.out
    assert len(elmbench("check", "one", "--json", code=1).json[0]["differences"]) == 30


def test_a_check_without_results_names_the_run_to_type(
    elmbench: Callable, baseline: Path
) -> None:
    CELLS.write_text(CELLS.read_text().splitlines()[0] + "\n")
    elmbench("check", "one", code=3)
    elmbench(*PUBLISHED, "one", code=3)
    assert (
        "--profile fast has no baselines"
        in elmbench("check", "one", "--profile", "fast", code=2).err
    )
    shutil.rmtree("elmbench-results")
    for words, who, table in (
        ((), "no table has", "--all"),
        (("one",), "toy/one has no", "toy/one"),
    ):
        result = elmbench("check", *words, code=3)
        assert (
            result.err.splitlines()[0]
            == f"error: {who} results of profile ci in elmbench-results"
        )
        assert f"Next: elmbench run {table} --profile ci" in result.err
        named = " toy/one" if words else ""
        assert f"with the paper: elmbench check{named} --against published" in " ".join(
            result.err.split()
        )


def test_a_check_without_a_baseline_names_the_command_to_type(
    elmbench: Callable, ran: Path
) -> None:
    result = elmbench("check", "one", code=3)
    assert result.err.startswith("error: toy/one has no baseline\n")
    assert "elmbench baseline update" in result.err


def test_a_baseline_has_the_cells_of_profile_ci(elmbench: Callable, ran: Path) -> None:
    result = elmbench("baseline", "update", "one")
    assert result.err == ""
    path = ran.with_name("one.baseline.csv")
    assert result.out.replace("\n", "").replace(
        " ", ""
    ) == f"toy/one:thebaselineisnow12cells({path})".replace(" ", "")
    lines = path.read_text().splitlines()
    assert len(lines) == 13
    assert lines[0] == (
        "dataset,model,run,fold,select,reading,status,params,"
        "mcc,gmean,accuracy,precision,recall,f1,tn,fp,fn,tp,n_units,condition,n_test"
    )
    # Counts stay whole numbers, so that a baseline differs only where a figure does.
    assert ",96,4,4,96,10,100.0,200" in lines[1]
    assert elmbench("baseline", "update", "one", "-q").out == ""
    (written,) = elmbench("baseline", "update", "one", "--json").json
    assert written == {"experiment": "toy/one", "cells": 12, "file": str(path)}


def test_only_baseline_update_writes_a_baseline(
    elmbench: Callable, baseline: Path, worker: dict
) -> None:
    before = {p: p.read_bytes() for p in baseline.parent.iterdir()}
    worker["elm"] = lambda unit: {"n_units": 11} if unit["kind"] == "cell" else {}
    elmbench(*RUN, "--force")
    for words in (
        "check", "check one --against published --profile ci", "table one --profile ci", "status",
        "validate",
        "show one", "run one --profile paper --dry-run",
    ):  # fmt: skip
        elmbench(*words.split(), code=None)
    elmbench("check", "one", code=1)
    assert {p: p.read_bytes() for p in baseline.parent.iterdir()} == before
    elmbench("baseline", "update", "one")
    assert {p for p, content in before.items() if p.read_bytes() != content} == {
        baseline
    }
    elmbench("check", "one")


def test_no_baseline_is_written_from_failed_cells(
    elmbench: Callable, toy: Callable, worker: dict
) -> None:
    path = toy().with_name("one.baseline.csv")
    worker["k-elm"] = {"status": "failed", "reason": "ValueError: no"}
    elmbench(*RUN, code=1)
    result = elmbench("baseline", "update", "one", code=2)
    assert result.out == ""
    assert result.err.startswith(
        sentence("cli.check.no-baseline-of-failed-cells", failed=3, cells=12)
    )
    assert "Next: elmbench run toy/one --profile ci" in result.err
    assert not path.exists()


PUBLISHED = ("check", "--against", "published", "--profile", "ci")


def counted(result: Any) -> dict[str, int]:
    """The verdicts of the only table that occur."""
    (table,) = result.json
    return {verdict: n for verdict, n in table["verdicts"].items() if n}


@pytest.fixture
def three_runs(elmbench: Callable, toy: Callable, worker: dict) -> Path:
    """The toy experiment, three runs of profile ci: of ELM a figure is printed that comes out, of
    K-ELM none such.
    """
    path = toy()
    elmbench(*RUN, "--runs", "3")
    return path


def test_a_check_against_published_values(elmbench: Callable, three_runs: Path) -> None:
    result = elmbench(*PUBLISHED, "one")
    lines = [line.split() for line in result.out.splitlines()]
    assert ["experiment", "reprod.", "differs"] in lines
    assert ["toy/one", "1", "1"] in lines
    assert "2 published values: 1 ✓ reproduced, 1 ✗ differs." in result.out
    # Its figure for K-ELM differs from the paper's, which is no fault unless one says so.
    elmbench(*PUBLISHED, "one", "--strict", code=1)
    result = elmbench(*PUBLISHED, "one", "--json")
    assert counted(result) == {"reproduced": 1, "differs": 1}
    (table,) = result.json
    assert (table["experiment"], table["profile"]) == ("toy/one", "ci")
    first = table["values"][0]
    assert (first["model"], first["published"], first["verdict"], first["runs"]) == (
        "ELM",
        0.92,
        "reproduced",
        3,
    )
    assert first["mean"] == pytest.approx(0.92)
    assert first["low"] < 0.92 < first["high"]
    (measures,) = table["measures"]
    assert measures["metric"] == "mcc"
    assert (measures["values"]["n"], measures["values"]["within_margin"]) == (2, 1)
    # Two models of one data set: no verdict may rest on one of them.
    assert table["verdict"] == measures["verdict"] != "holds"
    # Other readings and selections do not count.
    elmbench(*RUN, "--runs", "3", "--select", "oracle")
    elmbench(*RUN, "--runs", "3", "--reading", "order=stored")
    assert counted(elmbench(*PUBLISHED, "one", "--json")) == {
        "reproduced": 1,
        "differs": 1,
    }


def test_a_single_run_decides_no_published_value(elmbench: Callable, ran: Path) -> None:
    # Nothing was decided.
    result = elmbench(*PUBLISHED, "one", "--strict", code=3)
    words = " ".join(result.out.split())
    assert (
        sentence("cli.check.too-few-runs-for-intervals", values=2, undecided=2) in words
    )
    # Without names, all tables that have results are checked.
    fast = ("check", "--against", "published", "--profile", "fast")
    elmbench(*PUBLISHED)
    result = elmbench(*fast, code=3)
    assert result.out == ""
    assert result.err.startswith("error: elmbench-results holds no result to compare")
    assert elmbench(*fast, "one", code=3).err.startswith(
        "error: toy/one has no results of profile fast"
    )


def test_cells_that_did_not_end_ok_give_no_data(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    worker["k-elm"] = {"status": "timeout", "reason": "> 5 s"}
    elmbench(*RUN, "--runs", "3")
    assert counted(elmbench(*PUBLISHED, "one", "--strict", "--json")) == {
        "reproduced": 1,
        "no data": 1,
    }
    worker["elm"] = worker["k-elm"]
    elmbench(*RUN, "--runs", "3", "--force")
    elmbench(*PUBLISHED, "one", "--strict", code=3)


def test_hyperparameters_are_not_judged(
    elmbench: Callable, toy: Callable, worker: dict
) -> None:
    path = toy(layout="parameters")
    path.with_name("one.csv").write_text(
        "dataset,model,metric,value,std,note\nWDBC,ELM,C,40,,\nWDBC,ELM,L,460,,\n"
    )
    elmbench(*RUN)
    result = elmbench(*PUBLISHED, "one", "--json", code=3)
    assert counted(result) == {}
    assert result.err.startswith("error: no published value of toy/one is compared")


def test_the_most_faithful_profile_of_what_was_run_is_compared(
    elmbench: Callable, real: Path
) -> None:
    shutil.copytree(real / "ci/kos-elm/table4", real / "fast/kos-elm/table4")
    lines = elmbench(
        "check", "--against", "published", "--results-dir", real, "--json"
    ).json
    assert {line["experiment"]: line["profile"] for line in lines} == {
        "kos-elm/table2": "ci", "kos-elm/table4": "fast", "kos-elm/table7": "ci",
    }  # fmt: skip
    lines = elmbench("check", "--results-dir", real, "--json", code=None).json
    assert {line["experiment"] for line in lines} <= {
        "kos-elm/table2",
        "kos-elm/table4",
        "kos-elm/table7",
    }
    elmbench("check", "kos-elm/table3", "--results-dir", real, code=3)


@pytest.mark.parametrize(
    ("columns", "table", "metric", "figures"),
    [
        # Blocks of columns, each with the names of tables.
        (80, "ospvm/table12", "train_accuracy", ["0.1 points 4/4 – – 1.000", "holds"]),
        (50, "rkelm/table3", "rmse", ["3.1 % 17/35 46/49 +7", "0.85 <.001 undecided"]),
    ],
)
def test_no_number_and_no_name_is_broken_over_two_lines(
    elmbench: Callable,
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    table: str,
    metric: str,
    figures: list[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = elmbench(
        "check",
        table,
        "rkelm/figure3-regression",
        "--against",
        "published",
        "--results-dir",
        RESULTS,
    ).out
    lines = [line.split() for line in out.splitlines()]
    assert [
        " ".join(line[2:]) for line in lines if line[:2] == [table, metric]
    ] == figures
    assert max(map(len, out.splitlines())) <= columns


@pytest.fixture
def contradictory(elmbench: Callable, toy: Callable) -> Path:
    """The toy experiment, with a mean that cannot have its deviation."""
    path = toy()
    (path.parent / "one.csv").write_text(
        "dataset,model,metric,value,std,note\n"
        "WDBC,ELM,accuracy,0.99,0.9,\n"
        "WDBC,K-ELM,accuracy,0.95,0.01,\n"
    )
    return path


def test_the_print_is_checked_without_results(
    elmbench: Callable, contradictory: Path
) -> None:
    for words in (("one",), ("toy",), ()):
        result = elmbench("check", *words, "--print-only")
        assert sentence("cli.check.impossible-mean", mean="0.99") in result.out
        assert result.out.endswith("1 finding in 2 published values of 1 table.\n")
    elmbench("check", "--print-only", "--strict", code=1)
    (record,) = elmbench("check", "one", "--print-only", "--json").json
    assert (record["experiment"], record["values"]) == ("toy/one", 2)
    (finding,) = record["findings"]
    assert finding["check"] == "deviations"
    assert (finding["dataset"], finding["model"]) == ("WDBC", "ELM")


def test_a_sound_print_passes_and_no_print_is_nothing_to_compare(
    elmbench: Callable, toy: Callable
) -> None:
    toy()
    result = elmbench("check", "--print-only", "--strict")
    assert result.out == "0 findings in 3 published values of 1 table.\n"
    toy(published=None)
    result = elmbench("check", "--print-only", code=3)
    assert "no table has published values" in result.err
