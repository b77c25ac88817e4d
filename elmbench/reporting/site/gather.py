"""What the site shows, read once from the results folder: never from the store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.table import VERDICTS
from elmbench.reporting.agreement import Agreement, agreements
from elmbench.reporting.figures import verdict_counts
from elmbench.reporting.folders import PICTURE, ResultsDirs
from elmbench.reporting.main_claims import TestedClaim, tested_claims
from elmbench.reporting.papers import PaperAnswer, answer_papers, worth
from elmbench.reporting.readings import ReadingComparison, compare_readings
from elmbench.reporting.results import Results, read_results, records
from elmbench.specs.catalogue import PROFILES, ExperimentFile, Watch, load_catalogue
from elmbench.specs.measures import Measure
from elmbench.specs.papers import Paper
from elmbench.specs.profiles import Resolved, resolve


@dataclass(frozen=True)
class ProfileResults:
    """The results of a table under one profile.

    Attributes
    ----------
    resolved : Resolved
    results : Results
    figures : list of dict
        A line of `summary.csv` for each published figure, under the default readings and the table's own selection.
    agreements : list of Agreement
    environment : dict
        As `environment.json` has it; empty if it is not there.
    """

    resolved: Resolved
    results: Results
    figures: list[dict[Any, Any]]
    agreements: list[Agreement]
    environment: Mapping[str, Any]

    @property
    def profile(self) -> str:
        return self.resolved.profile

    @property
    def picture(self) -> Path | None:
        """The picture of the figure, if there is one."""
        path = self.results.folder / PICTURE
        return path if path.is_file() else None

    @property
    def picture_data(self) -> Path | None:
        """The data of the figure, if they are there."""
        path = self.results.folder / "figure.csv"
        return path if path.is_file() else None


@dataclass(frozen=True)
class TableResults:
    """A table of a paper and its results, the most faithful profile first; none if it has not been run."""

    file: ExperimentFile
    profiles: tuple[ProfileResults, ...]
    #: How many figures the paper prints in it that get a verdict when they are measured.
    printed: int

    @property
    def figures(self) -> list[dict[Any, Any]]:
        """Each published figure once, with the key `profile`: of the most faithful profile that could compare it."""
        found: dict[tuple[str, str, str], dict[Any, Any]] = {}
        for own in self.profiles:
            for line in own.figures:
                place = (line["dataset"], line["model"], line["metric"])
                known = found.get(place)
                if line["verdict"] and (known is None or worth(line["verdict"]) > worth(known["verdict"])):
                    found[place] = line | {"profile": own.profile}
        return list(found.values())

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of figures with each verdict, without facts of data sets, and of those `not run`."""
        counts, facts = verdict_counts(self.figures)
        not_run = self.printed - counts.total() - facts.total()
        return {verdict: counts[verdict] for verdict in VERDICTS} | {"not run": 0 if facts else max(0, not_run)}

    @property
    def facts(self) -> dict[str, int]:
        """The number of facts of data sets with each verdict."""
        return dict(verdict_counts(self.figures)[1])


@dataclass(frozen=True)
class PaperResults:
    """A paper, its tables in their order, and its figures under each value of a reading, by the reading's id."""

    paper: Paper
    tables: tuple[TableResults, ...]
    readings: Mapping[str, list[ReadingComparison]]
    #: The verdicts on the tables in words, and the counts of figures; None without published figures.
    answer: PaperAnswer | None
    claims: Sequence[TestedClaim]

    @property
    def results(self) -> list[Results]:
        """The results of all tables, the fast profile of a table first."""
        return [one.results for table in self.tables for one in reversed(table.profiles)]

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of figures with each verdict, each figure counted once, and of those `not run`."""
        counts = self.answer.record["figures"] if self.answer else dict.fromkeys(VERDICTS, 0)
        return counts | {"not run": sum(table.verdicts["not run"] for table in self.tables)}

    @property
    def facts(self) -> dict[str, int]:
        """The facts of data sets: those `as_printed`, and those compared (`of`)."""
        return dict(self.answer.record["facts"]) if self.answer else {"as_printed": 0, "of": 0}


def added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of counts by name."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def gather(dirs: ResultsDirs, watch: Watch = iter) -> list[PaperResults]:
    """Return what there is to show of every paper.

    Parameters
    ----------
    watch : callable
        Yields the tables that it is given, one after the other.

    Raises
    ------
    ElmbenchError
        If there are no results.
    """
    papers: dict[str, list[TableResults]] = {}
    for file in watch(list(load_catalogue().values())):
        papers.setdefault(file.spec.paper, []).append(_table(file, dirs))
    found = [_paper(tables) for tables in papers.values()]
    if not any(table.profiles for paper in found for table in paper.tables):
        raise ElmbenchError(
            f"no table has results in {dirs.own}",
            expected="cells.csv of an earlier run",
            next_step="elmbench run table4",
        )
    return found


def _paper(tables: list[TableResults]) -> PaperResults:
    paper = tables[0].file.paper
    ids = [table.file.id for table in tables]
    results = [one.results for table in tables for one in table.profiles]
    answer, claims = next(iter(answer_papers(results)), None), tested_claims(results)
    # On the pages of readings the fast profile comes first.
    results.sort(key=lambda one: (ids.index(one.resolved.file.id), PROFILES.index(one.resolved.profile)))
    return PaperResults(paper, tuple(tables), compare_readings(paper.readings, results), answer, claims)


def _table(file: ExperimentFile, dirs: ResultsDirs) -> TableResults:
    run = [name for name in file.profiles if dirs.has(name, file.id)]
    # Profile ci shows on other or fewer data that the code still does the same; it says little of the paper.
    shown = [name for name in reversed(PROFILES) if name in run and (name != PROFILES[0] or run == [PROFILES[0]])]
    profiles = tuple(_profile(resolve(file, name), dirs) for name in shown)
    printed = resolve(file, file.profiles[-1])
    layout = layout_of(printed)
    judged = [
        figure
        for figure in printed.published.values()
        if figure.cited or (figure.value is not None and layout.is_judged(Measure(figure.metric.partition("@")[0])))
    ]
    return TableResults(file, profiles, len(judged))


def _profile(resolved: Resolved, dirs: ResultsDirs) -> ProfileResults:
    results = read_results(resolved, dirs.of(resolved.profile, resolved.file.id))
    return ProfileResults(
        resolved,
        results,
        records(results.figures),
        agreements(results.compared, results.figures, resolved),
        _environment(results.folder),
    )


def _environment(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "environment.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
