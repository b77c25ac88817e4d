"""`elmbench --help`: at once, complete, within 80 columns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

VERBS = [
    "run", "compare", "predict", "list", "show", "validate", "env",
    "status", "merge", "table", "check", "report", "baseline", "data",
]  # fmt: skip
COMMANDS = [*VERBS, "baseline update", "data status", "data fetch", "data import"]


def test_help_lists_every_verb(elmbench: Callable) -> None:
    result = elmbench("--help")
    assert result.code == 0
    listed = [line.split()[0] for line in result.out.partition("Commands:")[2].splitlines() if line.startswith("  ")]
    assert listed[: len(VERBS)] == VERBS
    # Nothing more than the epilogue comes after.
    assert listed[len(VERBS) :] == ["The"]


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_of_every_command_fits_80_columns(elmbench: Callable, command: str, flag: str) -> None:
    result = elmbench(*command.split(), flag)
    assert (result.code, result.err) == (0, "")
    assert f"Usage: elmbench {command}".strip() in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_help_of_compare_fits_a_screen(elmbench: Callable) -> None:
    assert len(elmbench("compare", "--help").out.splitlines()) <= 40


def test_no_verb_shows_help(elmbench: Callable) -> None:
    result = elmbench()
    assert "Commands:" in result.out + result.err
