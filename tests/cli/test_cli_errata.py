"""docs/errata.md: every entry has evidence, its commands work and its tests exist."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "errata.md").read_text("utf-8")
ENTRIES = [" ".join(entry.split()) for entry in re.findall(r"^\d+\. (.*?)(?=^\d+\. |^## |\Z)", TEXT, re.M | re.S)]
COMMANDS = sorted({command for entry in ENTRIES for command in re.findall(r"`(elmbench [^`]+)`", entry)})
TESTS = sorted({test for entry in ENTRIES for test in re.findall(r"`(tests/[^`]+)`", entry)})


def test_every_entry_has_a_command_or_a_test() -> None:
    assert len(ENTRIES) > 40
    for entry in ENTRIES:
        assert re.search(r"`(elmbench (run|table|show) |tests/\S+::test_)", entry), entry


@pytest.mark.parametrize("name", TESTS)
def test_a_test_that_is_named_exists(name: str) -> None:
    path, _, function = name.partition("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert function in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_named_works(elmbench: Callable, command: str) -> None:
    words = shlex.split(command)[1:]
    # What a run would do is enough; tables are those of the committed results.
    words += ["--dry-run"] if words[0] == "run" else ["--results-dir", str(ROOT / "results")]
    result = elmbench(*words)
    if "is not here" in result.err:  # the command is right, its data are not there
        assert (words[0], result.code) == ("run", 2)
        return
    assert result.code == 0, result.err
    assert result.out.strip()


def test_every_reading_of_the_papers_that_a_text_leaves_open_is_named(elmbench: Callable) -> None:
    named = {name for command in COMMANDS for name in re.findall(r"--reading ([\w-]+)=", command)}
    known = {line["reading"] for line in elmbench("list", "readings", "--json").json}
    assert named <= known
    # Of all that the suite knows, those of word counts alone are no erratum.
    assert known - named == {"text-inputs"}
