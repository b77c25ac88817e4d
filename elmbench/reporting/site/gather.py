"""The content of the site: the results, read once from their folders and never from the store, and the documents."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.table import VERDICTS
from elmbench.reporting.figures import verdict_counts
from elmbench.reporting.folders import ResultsDirs
from elmbench.reporting.papers import PaperAnswer, TestedClaim, answer_paper, chosen_figures, tested_claims
from elmbench.reporting.readings import ReadingComparison, compare_readings
from elmbench.reporting.results import Results, read_results
from elmbench.specs.catalogue import PROFILES, ExperimentFile, Watch, load_catalogue
from elmbench.specs.files import spec_root
from elmbench.specs.measures import Measure
from elmbench.specs.papers import Paper
from elmbench.specs.profiles import resolve

#: The documents in the order of the guide; others follow in the order of their files' names.
_GUIDE = (
    "getting-started", "install", "commands", "data", "results-folder", "own-data", "models", "cluster", "results",
    "verdicts", "trust", "claims", "errata", "add-a-paper", "benchmark",
)  # fmt: skip


@dataclass(frozen=True)
class TableResults:
    """A table of a paper and its results.

    `results`: under each profile, the most faithful one first; empty if the table has not been run. `printed`: the
    number of printed figures that get a verdict when they are measured.
    """

    file: ExperimentFile
    results: tuple[Results, ...]
    printed: int

    @property
    def link(self) -> tuple[str, str]:
        """The address of the table's page, and its label; all pages are in one folder, so a link is a bare name."""
        return f"{self.file.id.replace('/', '-')}.html", self.file.spec.label

    @cached_property
    def figures(self) -> list[dict[Any, Any]]:
        """The line of each published figure in `summary.csv`, under the most faithful profile that could compare it."""
        return [line for _, line in chosen_figures(self.results).values()]

    @cached_property
    def facts(self) -> Counter[str]:
        """The number of facts of data sets with each verdict."""
        return verdict_counts(self.figures)[1]

    @cached_property
    def verdicts(self) -> dict[str, int]:
        """The number of figures with each verdict, without facts of data sets, and of those `not run`."""
        counts, facts = verdict_counts(self.figures)
        not_run = self.printed - counts.total() - facts.total()
        return {verdict: counts[verdict] for verdict in VERDICTS} | {"not run": 0 if facts else max(0, not_run)}


@dataclass(frozen=True)
class PaperResults:
    """The tables of a paper, in its order, and their results."""

    paper: Paper
    tables: tuple[TableResults, ...]

    @property
    def page(self) -> str:
        """The address of the paper's page."""
        return f"paper-{self.paper.key}.html"

    @property
    def readings_page(self) -> str:
        """The address of the page of its readings."""
        return f"readings-{self.paper.key}.html"

    def link(self, id: str) -> tuple[str, str]:
        """Return the address of a table's page and its label, by its id."""
        return next(table.link for table in self.tables if table.file.id == id)

    @property
    def run(self) -> list[TableResults]:
        """The tables that have results."""
        return [table for table in self.tables if table.results]

    @property
    def results(self) -> list[Results]:
        """The results of all tables, the most faithful profile of a table first."""
        return [one for table in self.tables for one in table.results]

    @property
    def fast_first(self) -> list[Results]:
        """The results of all tables, the fast profile of a table first, as on the pages of readings."""
        return [one for table in self.tables for one in reversed(table.results)]

    @cached_property
    def readings(self) -> dict[str, list[ReadingComparison]]:
        """The figures under each value of a reading, by the name of the reading."""
        return compare_readings(self.paper.readings, self.fast_first)

    @cached_property
    def answer(self) -> PaperAnswer:
        """The verdicts on the tables in words, and the counts of figures."""
        return answer_paper(self.paper.key, self.results)

    @cached_property
    def claims(self) -> list[TestedClaim]:
        """The claims of the paper with their outcomes."""
        return tested_claims(self.results)

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of figures with each verdict, each figure counted once, and of those `not run`."""
        return self.answer.figures | {"not run": sum(table.verdicts["not run"] for table in self.tables)}


def gather(dirs: ResultsDirs, watch: Watch = iter) -> list[PaperResults]:
    """Return the results of every paper; raise ElmbenchError if there are none.

    `watch` yields the tables that it is given, one after the other.
    """
    tables: dict[str, list[TableResults]] = {}
    for file in watch(list(load_catalogue().values())):
        tables.setdefault(file.spec.paper, []).append(_table(file, dirs))
    if not any(table.results for of_paper in tables.values() for table in of_paper):
        raise ElmbenchError(
            f"no table has results in {dirs.user}",
            expected="cells.csv of an earlier run",
            next_step="elmbench run table4",
        )
    return [PaperResults(of_paper[0].file.paper, tuple(of_paper)) for of_paper in tables.values()]


def _table(file: ExperimentFile, dirs: ResultsDirs) -> TableResults:
    run = [name for name in file.profiles if dirs.has(name, file.id)]
    # Profile ci shows on other or fewer data that the code still does the same; it says little about the paper.
    shown = [name for name in reversed(PROFILES) if name in run and (name != PROFILES[0] or run == [PROFILES[0]])]
    printed = resolve(file, file.profiles[-1])
    layout = layout_of(printed)
    judged = [
        figure
        for figure in printed.published.values()
        if figure.cited or (figure.value is not None and layout.is_judged(Measure(figure.metric.partition("@")[0])))
    ]
    results = (read_results(resolve(file, name), dirs.of(name, file.id)) for name in shown)
    return TableResults(file, tuple(results), len(judged))


@dataclass(frozen=True)
class Document:
    """A document of `docs/`: the stem of its file, its heading and its text as HTML."""

    stem: str
    title: str
    content: Markup

    @property
    def link(self) -> tuple[str, str]:
        """Its address below the site, and its name in the guide."""
        return f"docs-{self.stem}.html", self.stem.replace("-", " ") if self.stem in _GUIDE else self.stem


def documents() -> list[Document]:
    """Return the documents of `docs/`, those of the guide first and in its order."""
    paths = {path.stem: path for path in sorted((spec_root() / "docs").rglob("*.md"), key=attrgetter("stem"))}
    stems = sorted(paths, key=lambda stem: _GUIDE.index(stem) if stem in _GUIDE else len(_GUIDE))
    return [_document(paths[stem], {*paths}) for stem in stems]


def _document(path: Path, stems: set[str]) -> Document:
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
    return Document(path.stem, title, Markup(content))
