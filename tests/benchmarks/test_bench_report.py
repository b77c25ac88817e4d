"""The files of the benchmark, and the command."""

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.measure import Record, Rounds, make_record
from benchmarks.report import line, markdown, write_report

ORDER = ["first", "second", "third"]
HEAD = {"row": "first", "environment": "here"}
GOOD = make_record(
    "a search",
    "one by one",
    Rounds([1.0, 1.0], [50.0, 60.0]),
    target=30.0,
    subset="3 of 9",
)


def test_a_new_measurement_replaces_the_earlier_row(tmp_path: Path) -> None:
    write_report(tmp_path, "second", [GOOD], "there", ORDER)
    write_report(
        tmp_path,
        "first",
        [make_record("x", "", skipped="no data", target=2.0)],
        "there",
        ORDER,
    )
    write_report(
        tmp_path,
        "second",
        [make_record("again", "", Rounds([1.0], [1.0])), GOOD],
        "here",
        ORDER,
    )
    records = json.loads((tmp_path / "bench.json").read_text())
    assert [(r["row"], r["name"], r["environment"]) for r in records] == [
        ("first", "x", "there"), ("second", "again", "here"), ("second", "a search", "here"),
    ]  # fmt: skip
    assert records[2]["ratio"] == 55.0


def test_a_row_keeps_the_ratios_of_earlier_commits(tmp_path: Path) -> None:
    slow = make_record("a search", "another side", Rounds([1.0], [10.0]))
    for commit, results in (
        ("aaaaaaaaa", [slow, GOOD]),
        ("bbbbbbbbb", [GOOD, slow]),
        ("bbbbbbbbb", [slow, GOOD]),
    ):
        write_report(tmp_path, "first", results, f"commit {commit}; there", ORDER)
    records = json.loads((tmp_path / "bench.json").read_text())
    assert [one["before"] for one in records] == [
        [{"commit": "aaaaaaa", "ratio": 10.0}], [{"commit": "aaaaaaa", "ratio": 55.0}],
    ]  # fmt: skip
    assert "| 10 (aaaaaaa) |" in (tmp_path / "bench.md").read_text()


def test_the_report_names_the_targets_that_are_met() -> None:
    missed = make_record(
        "a fit", "a bound", Rounds([1.0], [0.5]), target=0.8, note="why"
    )
    other = make_record(
        "b", "c", Rounds([1.0], [2.0]), same_choice=False, largest_difference=1e-3
    )
    skipped = make_record("d", "e", skipped="no data")
    text = markdown([HEAD | one for one in (GOOD, missed, other, skipped)])
    assert "Targets met: 1 of 2." in text
    assert (
        "| a search | one by one, *extrapolated* | 55 | 50 to 60 | 30 | met | 1 | 55 |  |"
        in text
    )
    assert "| a fit | a bound | 0.5 | 0.5 to 0.5 | 0.8 | **missed** |" in text
    assert "**another choice**, within 0.001" in text
    assert "- a search: 3 of 9" in text
    assert "- a fit: why\n" in text
    assert "- d: no data" in text
    assert text.count("here.") == 1
    assert "not measured" in line(skipped)


def test_the_command_measures_what_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(trial: bool) -> list[Record]:
        raise RuntimeError("no luck")

    rows = {"good": lambda trial: [GOOD], "bad": fail, "left out": fail}
    monkeypatch.setattr(command, "all_rows", lambda: rows)
    monkeypatch.setattr(
        sys, "argv", ["benchmarks", "good", "bad", "--out", str(tmp_path / "b")]
    )
    command.main()
    records = json.loads((tmp_path / "b" / "bench.json").read_text())
    assert [(r["row"], r["ratio"], r["skipped"]) for r in records] == [
        ("good", 55.0, None), ("bad", None, "failed: RuntimeError: no luck"),
    ]  # fmt: skip
    output = capsys.readouterr().out
    assert re.search(r"\[1/2, \d+ s\] good", output)
    assert "| 30 | met |" in output
    assert "no luck" in output
    monkeypatch.setattr(sys, "argv", ["benchmarks", "good", "--trial"])
    monkeypatch.chdir(tmp_path)
    command.main()
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert "| met |" not in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["benchmarks", "nothing"])
    with pytest.raises(SystemExit):
        command.main()
    assert "unknown row nothing" in capsys.readouterr().err
