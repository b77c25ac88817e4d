"""The documents: commands and programs are run, planned or, if they would leave this machine,
parsed; links exist.
"""

import ast
import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from sklearn.datasets import load_iris

import elmbench.models
from elmbench.cli.app import app, hoist
from elmbench.models.protocols import GridPath
from elmbench.registry import TASKS, find_model, list_models, plugins
from elmbench.specs.catalogue import find_experiment

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DATA = os.environ.get("ELMBENCH_DATA_DIR")
#: Data sets that come with the suite.
INCLUDED = {"wdbc", "mackey-glass"}
#: Commands that need the network, files of a user's own or minutes, or that change a baseline.
PARSED = {"baseline", "compare", "data", "merge", "pages", "predict", "report"}
#: Pages whose commands are run as they stand, here or in other tests.
ELSEWHERE = {
    "getting-started.md",
    "own-data.md",
    "models.md",
    "add-a-paper.md",
    "cluster.md",
}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += [
    path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name not in ELSEWHERE
]


def commands_of(page: Path) -> Iterator[str]:
    """Yield the commands in the blocks of a page, one for each of several words or commands in a
    line.
    """
    for block in re.findall(
        r"^```\w*\n(.*?)^```$", page.read_text("utf-8"), flags=re.M | re.S
    ):
        for line in block.splitlines():
            if line.startswith("elmbench "):
                for command in re.split(r"\s+#|\s{2,}", line)[0].split(" · "):
                    head, _, last = command.removeprefix("elmbench ").rpartition(" ")
                    yield from (f"{head} {word}".strip() for word in last.split("|"))


COMMANDS = list(
    dict.fromkeys(command for page in PAGES for command in commands_of(page))
)
#: Those of README.md but for the check of every table, which takes a while.
FIRST = {
    command for command in commands_of(PAGES[0]) if not command.startswith("check")
}


def parse(words: list[str]) -> None:
    """Parse a command to its end, and do nothing."""
    command, context = typer.main.get_command(app), None
    _, words = hoist(words, command.params)
    while hasattr(command, "commands"):
        name, *words = words
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
        command = command.commands[name]
    command.make_context("elmbench", words, parent=context)


@pytest.mark.parametrize(
    "text",
    re.findall(r"\(`(elmbench (?:table|run) [^`]+)`\)", PAGES[0].read_text("utf-8")),
)
def test_evidence_in_the_readme_is_named_by_its_command(text: str) -> None:
    assert find_experiment(text.split()[2]).id


def test_the_page_of_commands_has_every_command() -> None:
    names = {
        shlex.split(command)[0]
        for command in commands_of(ROOT / "docs" / "commands.md")
    }
    assert names == set(typer.main.get_command(app).commands) - {"baseline"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_targets_of_make_exist(page: Path) -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    )
    text = page.read_text("utf-8")
    for words in re.findall(r"(?:^|`)make ((?:[a-z-]+ ?)+)", text, re.M):
        assert set(words.split()) <= targets, words


@pytest.mark.parametrize(
    "command",
    [
        command
        if command in FIRST
        else pytest.param(command, marks=pytest.mark.exhaustive)
        for command in COMMANDS
    ],
)
def test_a_command_is_one(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
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
    assert all(line.endswith(" left") for line in result.err.splitlines())
    assert result.out


def blocks(name: str) -> list[tuple[str, str]]:
    return re.findall(
        r"^```(\w+)\n(.*?)^```$", (DOCS / name).read_text("utf-8"), flags=re.M | re.S
    )


@pytest.mark.parametrize("name", ["getting-started.md", "models.md"])
def test_the_commands_of_a_page_run_in_their_order(
    elmbench: Callable, worker: dict, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    commands = 0
    for kind, text in blocks(name):
        if kind == "python":
            exec(text, {})
            assert capsys.readouterr().out
        for line in text.splitlines() if kind == "sh" else ():
            program, *words = shlex.split(line)
            assert program == "elmbench"
            result = elmbench(*words)
            assert result.out, line
            commands += 1
    assert commands > 10 or name != "getting-started.md"


def test_shown_output_is_that_of_the_commands(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ELMBENCH_DATA_DIR", raising=False)
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", os.path.abspath("cache"))
    page = (DOCS / "getting-started.md").read_text("utf-8")
    shown = re.findall(r"^```\n((?:id|experiment) .*?)^```$", page, flags=re.M | re.S)
    commands = ["list experiments", "check table4 --against published"]
    for block, command in zip(shown, commands, strict=True):
        result = elmbench(*command.split(), "--results-dir", ROOT / "results")
        printed = [line.rstrip() for line in result.out.splitlines()]
        lines = block.splitlines()
        # Headings may stand on two lines.
        assert set(lines[1:]) <= set(printed), command


OWN_DATA = blocks("own-data.md")


@pytest.fixture
def folder(elmbench: Callable, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the files of own-data.md: those whose first line is their name, and the flowers."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    words = y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))
    X.assign(species=words).to_csv("flowers.csv", index=False)
    for _, text in OWN_DATA:
        named = re.match(r"# (\S+\.\w+)\n", text)
        if named:
            Path(named[1]).parent.mkdir(exist_ok=True)
            Path(named[1]).write_text(text)
    monkeypatch.setattr(sys, "path", list(sys.path))
    plugins.load_address.cache_clear()
    yield
    sys.modules.pop("my_models", None)


@pytest.mark.parametrize("block", [text for kind, text in OWN_DATA if kind == "sh"])
@pytest.mark.usefixtures("folder", "worker")
def test_the_commands_of_a_block_run_one_after_the_other(
    elmbench: Callable, block: str
) -> None:
    for command in block.splitlines():
        name, *words = shlex.split(command)
        assert name == "elmbench"
        result = elmbench(*words)
        assert result.out


@pytest.mark.usefixtures("folder")
def test_the_python_programs_of_the_guide_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names: dict[str, object] = {}
    for kind, text in OWN_DATA:
        if kind == "python" and not text.startswith("#"):
            exec(text, names)
    output = capsys.readouterr().out
    for text in (
        "Comparison: data\n",
        "'kelmclassifier__C'",
        "landmarks: [",
        "rows kept: 150",
    ):
        assert text in output


@pytest.mark.parametrize(
    "path", [*sorted(DOCS.rglob("*.md")), *PAGES[:2]], ids=lambda path: path.name
)
def test_links_lead_to_files(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text("utf-8")):
        assert target.startswith("https://") or (path.parent / target).is_file(), target


def test_every_page_of_the_guide_is_reached_from_its_first() -> None:
    listed = set(
        re.findall(r"\((\S+\.md)\)", (DOCS / "getting-started.md").read_text("utf-8"))
    )
    assert {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {
        "getting-started.md"
    } == listed


def test_the_models_are_those_that_there_are() -> None:
    text = (DOCS / "models.md").read_text("utf-8")
    rows = re.findall(
        r"^\| `(\S+)` \| (.+?) \| (`.+?`) \| (`.+?`) \| (yes)? ?\|$", text, flags=re.M
    )
    named: set[str] = set()
    for name, title, classes, parameters, path in rows:
        entry = find_model(name)
        assert title == entry.title
        estimators = [
            getattr(elmbench.models, model) for model in re.findall(r"`(\w+)`", classes)
        ]
        assert (
            estimators
            == [
                entry.factory(task)
                for task in TASKS
                if getattr(entry, task) is not None
            ][: len(estimators)]
        )
        known = {
            key for model in estimators for key in inspect.signature(model).parameters
        }
        assert sorted(re.findall(r"`(\w+)`", parameters)) == sorted(known), name
        assert bool(path) == all(isinstance(model, GridPath) for model in estimators), (
            name
        )
        named |= {model.__name__ for model in estimators}
    assert named == set(elmbench.models.__all__)
    for name in list_models():
        assert f"`{name}`" in text


ERRATA = (DOCS / "errata.md").read_text("utf-8")
ENTRIES = [
    " ".join(entry.split())
    for entry in re.findall(r"^\d+\. (.*?)(?=^\d+\. |^## |\Z)", ERRATA, re.M | re.S)
]
ERRATA_COMMANDS = sorted(
    {
        command
        for entry in ENTRIES
        for command in re.findall(r"`(elmbench [^`]+)`", entry)
    }
)
TESTS = sorted(
    {test for entry in ENTRIES for test in re.findall(r"`(tests/[^`]+)`", entry)}
)


def test_every_erratum_has_a_command_or_a_test() -> None:
    assert len(ENTRIES) > 40
    for entry in ENTRIES:
        assert re.search(r"`(elmbench (run|table|show) |tests/\S+::test_)", entry), (
            entry
        )


@pytest.mark.parametrize("name", TESTS)
def test_the_test_of_an_erratum_exists(name: str) -> None:
    path, _, function = name.partition("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert function in [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef)
    ]


@pytest.mark.parametrize("command", ERRATA_COMMANDS)
def test_the_command_of_an_erratum_prints_its_evidence(
    elmbench: Callable, command: str
) -> None:
    words = shlex.split(command)[1:]
    # What a run would do is enough; tables are those of the committed results.
    words += (
        ["--dry-run"] if words[0] == "run" else ["--results-dir", str(ROOT / "results")]
    )
    result = elmbench(*words, code=None)
    if "is not here" in result.err:  # the command is right, its data are not there
        assert (words[0], result.code) == ("run", 2)
    else:
        assert result.code == 0, result.err
        assert result.out.strip()


def test_every_reading_of_the_papers_that_a_text_leaves_open_is_named(
    elmbench: Callable,
) -> None:
    named = {
        name
        for command in ERRATA_COMMANDS
        for name in re.findall(r"--reading ([\w-]+)=", command)
    }
    known = {line["reading"] for line in elmbench("list", "readings", "--json").json}
    assert named <= known
    # Of all that the suite knows, those of word counts alone are no erratum.
    assert known - named == {"text-inputs"}
