"""The guide in docs/: its commands and programs are run as they stand, in their order, and its links lead somewhere."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import elmbench.models
from elmbench.models.protocols import GridPath
from elmbench.registry import TASKS, find_model, list_models, plugins
from elmbench.reporting.site.markdown import documents

DOCS = Path(__file__).parents[2] / "docs"


def blocks(name: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```$", (DOCS / name).read_text("utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize("name", ["getting-started.md", "models.md", "results-folder.md"])
def test_what_a_page_says_is_run_in_its_order(
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
            assert result.code == 0, f"{line}: {result.err}"
            assert result.out, line
            commands += 1
    assert commands > 10 or name != "getting-started.md"


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
    monkeypatch.setattr(plugins, "_by_address", {})
    yield
    sys.modules.pop("my_models", None)


@pytest.mark.parametrize("block", [text for kind, text in OWN_DATA if kind == "sh"])
@pytest.mark.usefixtures("folder", "worker")
def test_the_commands_of_a_block_run_one_after_the_other(elmbench: Callable, block: str) -> None:
    for command in block.splitlines():
        name, *words = shlex.split(command)
        assert name == "elmbench"
        result = elmbench(*words)
        assert result.code == 0, result.err
        assert result.out


@pytest.mark.usefixtures("folder", "worker")
def test_the_programs_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for kind, text in OWN_DATA:
        if kind == "python" and not text.startswith("#"):
            exec(text, names)
    output = capsys.readouterr().out
    for text in ("Comparison: data.parquet", "'kelmclassifier__C'", "landmarks: [", "rows kept: 150"):
        assert text in output


@pytest.mark.parametrize(
    "path", [*sorted(DOCS.rglob("*.md")), *(DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md"))],
    ids=lambda path: path.name,
)  # fmt: skip
def test_links_lead_to_files(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text("utf-8")):
        assert target.startswith("https://") or (path.parent / target).is_file(), target


def test_every_page_of_the_guide_is_reached_from_its_first() -> None:
    listed = set(re.findall(r"\((\S+\.md)\)", (DOCS / "getting-started.md").read_text("utf-8")))
    assert {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {"getting-started.md"} == listed


def test_documents_in_folders_are_pages_of_the_site_and_linked_there() -> None:
    pages = {document.stem: document for document in documents()}
    assert {path.stem for path in DOCS.rglob("*.md")} == set(pages)
    assert 'href="docs-verdicts.html"' in pages["kos-elm"].content
    assert 'href="docs-kos-elm.html"' in pages["results"].content
    assert "make pages:" not in pages["kos-elm"].content


def test_the_models_are_those_that_there_are() -> None:
    text = (DOCS / "models.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\S+)` \| (.+?) \| (`.+?`) \| (`.+?`) \| (yes)? ?\|$", text, flags=re.M)
    named: set[str] = set()
    for name, title, classes, parameters, path in rows:
        entry = find_model(name)
        assert title == entry.title
        estimators = [getattr(elmbench.models, model) for model in re.findall(r"`(\w+)`", classes)]
        assert (
            estimators == [entry.factory(task) for task in TASKS if getattr(entry, task) is not None][: len(estimators)]
        )
        known = {key for model in estimators for key in inspect.signature(model).parameters}
        assert sorted(re.findall(r"`(\w+)`", parameters)) == sorted(known), name
        assert bool(path) == all(isinstance(model, GridPath) for model in estimators), name
        named |= {model.__name__ for model in estimators}
    assert named == set(elmbench.models.__all__)
    for name in list_models():
        assert f"`{name}`" in text
