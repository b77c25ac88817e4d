"""The content of the site: the results, read once from their folders and never from the store, and the documents."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markupsafe import Markup

from elmbench.errors import ElmbenchError
from elmbench.reporting.folders import ResultsDirs
from elmbench.reporting.papers import PaperResults, TableResults, papers_of
from elmbench.reporting.results import read_results
from elmbench.specs.catalogue import PROFILES, ExperimentFile, Watch, load_catalogue
from elmbench.specs.files import spec_root
from elmbench.specs.profiles import resolve

#: The documents in the order of the guide; others follow in the order of their files' names.
_GUIDE = (
    "getting-started", "install", "commands", "data", "results-folder", "own-data", "models", "cluster", "results",
    "verdicts", "trust", "claims", "errata", "add-a-paper", "benchmark",
)  # fmt: skip


def gather(dirs: ResultsDirs, watch: Watch = iter) -> list[PaperResults]:
    """Return the results of every paper; raise ElmbenchError if there are none.

    `watch` yields the tables that it is given, one after the other.
    """
    papers = papers_of(_table(file, dirs) for file in watch(list(load_catalogue().values())))
    if not any(paper.results for paper in papers):
        raise ElmbenchError(
            f"no table has results in {dirs.user}",
            expected="cells.csv of an earlier run",
            next_step="elmbench run table4",
        )
    return papers


def _table(file: ExperimentFile, dirs: ResultsDirs) -> TableResults:
    """Return the results of a table under all profiles that show something about the paper."""
    run = [name for name in file.profiles if dirs.has(name, file.id)]
    # Profile ci shows on other or fewer data that the code still does the same; it says little about the paper.
    names = [name for name in reversed(PROFILES) if name in run and (name != PROFILES[0] or run == [PROFILES[0]])]
    results = (read_results(resolve(file, name), dirs.find(name, file.id)) for name in names)
    return TableResults(file, tuple(results))


class Document(NamedTuple):
    """A document of `docs/`; `link` is its address below the site and its name in the guide."""

    stem: str
    link: tuple[str, str]
    title: str
    content: Markup


def documents() -> list[Document]:
    """Return the documents of `docs/`, those of the guide first and in its order."""
    paths = {path.stem: path for path in sorted((spec_root() / "docs").rglob("*.md"), key=attrgetter("stem"))}
    stems = sorted(paths, key=lambda stem: _GUIDE.index(stem) if stem in _GUIDE else len(_GUIDE))
    return [_document(paths[stem], {*paths}) for stem in stems]


def _document(path: Path, stems: set[str]) -> Document:
    """Return a Markdown document as HTML whose links lead to other pages of the site."""
    text = re.sub(r"^<!--.*?-->$", "", path.read_text("utf-8"), flags=re.M)
    title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), path.stem)
    # HTML in a document is shown as text.
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for link in (child for token in tokens for child in token.children or () if child.type == "link_open"):
        target = str(link.attrs.get("href", ""))
        file = re.fullmatch(r"(?:[\w.-]+/)*([\w-]+)\.md(?:#.*)?", target)
        if file and file[1] in stems:
            link.attrs["href"] = f"docs-{file[1]}.html"
        elif not re.match(r"https?://|#", target):
            link.attrs["href"] = "index.html"  # the file is not on the site
    content = parser.renderer.render(tokens, parser.options, {})
    content = content.replace("<th>", '<th scope="col">').replace("<th ", '<th scope="col" ')
    address = f"docs-{path.stem}.html", path.stem.replace("-", " ") if path.stem in _GUIDE else path.stem
    return Document(path.stem, address, title, Markup(content))
