"""Everything that is printed for people fits 80 columns where there is no terminal."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from elmbench.report.entry_tables import entry_tables_of
from elmbench.report.table_results import results_of_table
from elmbench.report.writers.text import lines_text
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.profiles import resolve

pytestmark = pytest.mark.exhaustive

RESULTS = Path(__file__).parents[2] / "results"

COMMANDS = [
    "list experiments", "list datasets", "list models", "list readings",
    *(f"show {name}" for name in load_catalogue()),
    "validate", "env", "data status", "run table4 --profile ci --dry-run", "run --all --profile "
                                                                           "paper --dry-run",
]  # fmt: skip
WITH_RESULTS = [
    "status", "table table4 --profile ci", "table table7 --profile ci", "table table2 --profile ci",
    "check --against published --profile ci",
]  # fmt: skip


def width(text: str) -> int:
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("command", COMMANDS)
def test_output_without_results_fits_80_columns(
    elmbench: Callable, command: str
) -> None:
    result = elmbench(*command.split())
    assert 0 < width(result.out) <= 80


@pytest.mark.parametrize("command", WITH_RESULTS)
def test_output_with_results_fits_80_columns(
    elmbench: Callable, real: Path, command: str
) -> None:
    result = elmbench(*command.split(), "--results-dir", real)
    assert 0 < width(result.out) <= 80


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize(
    "table", ["kos-elm/table4", "rkelm/table7", "ospvm/table12", "eem/table9"]
)
def test_no_heading_is_broken(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch, table: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    result = elmbench("table", table, "--results-dir", RESULTS)
    assert width(result.out) <= columns
    results = results_of_table(resolve(find_experiment(table), "fast"), RESULTS)
    entry_tables = [
        entry_table
        for section in results.table.sections
        for entry_table in entry_tables_of(section, results.resolved)
    ]
    headings = {
        name
        for entry_table in entry_tables
        if entry_table.has_published
        for name in entry_table.columns
    }
    assert headings
    for heading in headings:
        assert heading in result.out


def test_a_table_of_long_names_and_reasons_fits_80_columns(
    elmbench: Callable, toy: Callable, worker: dict
) -> None:
    toy(datasets=["protein-homology", "wdbc"])
    worker["elm"] = {
        "status": "out-of-memory",
        "reason": "would need about 33 GB; the limit is 2 GB",
    }
    worker["fb-kos-elm"] = lambda unit: (
        {"status": "timeout", "reason": "> 600 s"} if unit.get("fold") else {}
    )
    result = elmbench("run", "one", "--profile", "ci", "--with-baselines")
    assert "nystroem-ridge" in result.out
    assert (
        "protein-homology"
        in result.out.partition("nested")[2].partition("unavailable")[0]
    )
    assert "out of memory" in result.out
    assert "0.920 (1 ok)" in result.out
    assert width(result.out) <= 80


def test_a_name_is_not_broken_where_a_text_can_give_way() -> None:
    console = Console(width=22, file=io.StringIO())
    console.print(
        lines_text(
            ("name", "says"),
            [("nystroem-ridge", "so that it may give way")],
            whole=("name",),
        )
    )
    printed = console.file.getvalue()
    assert "nystroem-ridge  so" in printed
    assert width(printed) <= 22


def test_a_wider_terminal_is_used(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    assert 80 < width(elmbench("list", "readings").out) <= 150
