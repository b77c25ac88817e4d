"""Commands in README.md, CONTRIBUTING.md and docs/ are run, planned or, if they would leave this machine, parsed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

from elmbench.cli import app, commands
from elmbench.specs.catalogue import find_experiment

ROOT = Path(__file__).parents[2]
DATA = os.environ.get("ELMBENCH_DATA_DIR")
#: Data sets that come with the suite.
INCLUDED = {"wdbc", "mackey-glass"}
#: Commands that need the network, files of a user's own or minutes, or that change a baseline.
PARSED = {"baseline", "compare", "data", "merge", "predict", "report"}
#: Pages whose commands other tests run as they stand.
ELSEWHERE = {"getting-started.md", "own-data.md", "models.md", "add-a-paper.md", "cluster.md"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name not in ELSEWHERE]


def commands_of(page: Path) -> Iterator[str]:
    """Yield the commands in the blocks of a page, one for each of several words or commands in a line."""
    for block in re.findall(r"^```\w*\n(.*?)^```$", page.read_text("utf-8"), flags=re.M | re.S):
        for line in block.splitlines():
            if line.startswith("elmbench "):
                for command in re.split(r"\s+#|\s{2,}", line)[0].split(" · "):
                    head, _, last = command.removeprefix("elmbench ").rpartition(" ")
                    yield from (f"{head} {word}".strip() for word in last.split("|"))


COMMANDS = list(dict.fromkeys(command for page in PAGES for command in commands_of(page)))
#: Those of README.md but for the check of every table, which takes a while.
FIRST = {command for command in commands_of(PAGES[0]) if not command.startswith("check")}


def whole() -> Any:
    """The command with all its verbs."""
    commands.declare([])
    return typer.main.get_command(app.app)


def parse(words: list[str]) -> None:
    """Parse a command to its end, and do nothing."""
    command, context = whole(), None
    while hasattr(command, "commands"):
        name, *words = words
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
        command = command.commands[name]
    command.make_context("elmbench", words, parent=context)


@pytest.mark.parametrize("text", re.findall(r"\(`(elmbench (?:table|run) [^`]+)`\)", PAGES[0].read_text("utf-8")))
def test_evidence_in_the_readme_is_named_by_its_command(text: str) -> None:
    assert find_experiment(text.split()[2]).id


def test_the_page_of_commands_has_every_command() -> None:
    names = {shlex.split(command)[0] for command in commands_of(ROOT / "docs" / "commands.md")}
    assert names == set(whole().commands) - {"baseline"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_targets_of_make_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    text = page.read_text("utf-8")
    for words in re.findall(r"(?:^|`)make ((?:[a-z-]+ ?)+)", text, re.M):
        assert set(words.split()) <= targets, words


@pytest.mark.parametrize(
    "command",
    [command if command in FIRST else pytest.param(command, marks=pytest.mark.exhaustive) for command in COMMANDS],
)
def test_a_command_is_one(elmbench: Callable, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    verb, *words = shlex.split(command)
    parse([verb, *words])
    if verb in PARSED:
        return
    monkeypatch.setenv("ELMBENCH_RESULTS_DIR", str(ROOT / "results"))
    if verb == "run":
        named = {word for option, word in pairwise(words) if option == "-d"}
        if named - INCLUDED and DATA is None:
            pytest.skip("ELMBENCH_DATA_DIR names no folder of data files")
        if DATA is not None:
            monkeypatch.setenv("ELMBENCH_DATA_DIR", DATA)
        words = [*words, "--dry-run", "--results-dir", "none"]
    result = elmbench(verb, *words)
    assert result.code == 0, result.err
    assert all(line.endswith(" left") for line in result.err.splitlines())
    assert result.out
