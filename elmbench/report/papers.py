"""The results of tables and papers under all profiles, and the sentences on them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from elmbench.errors import amount
from elmbench.judging.judged_paper import JudgedPaper
from elmbench.judging.judged_table import JudgedTable
from elmbench.judging.table_verdicts import TableVerdict
from elmbench.judging.value_agreement import (
    facts_sentence,
)
from elmbench.judging.verdict_words import verdict_list
from elmbench.report.in_short import in_short
from elmbench.report.shown_results import shown_results
from elmbench.report.table_results import Results
from elmbench.report.verdict_sentences import answer_sentence, table_sentence
from elmbench.results import group_by
from elmbench.results.folders import ResultsDirs
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.experiments import PROFILES
from elmbench.specs.papers import Paper, PaperFinding
from elmbench.specs.profiles import resolve


@dataclass(frozen=True)
class TableResults:
    """A table of a paper and its results under each profile, the most faithful one first; empty if
    it has not been run.
    """

    file: ExperimentFile
    results: tuple[Results, ...]

    @property
    def link(self) -> tuple[str, str]:
        """The address and the label of the table's page: ("miller-table1.html", "Table 1").

        All pages are in one folder, so the address is a bare file name.
        """
        return f"{self.file.id.replace('/', '-')}.html", self.file.spec.label

    @property
    def has_optimism(self) -> bool:
        """True if the table has a column of optimism and the default readings have both selections.

        These are nested and oracle. Only the most faithful profile counts; the table must have
        results.
        """
        first = self.results[0]
        # A table of times has the cells of a table of metrics.
        return len(first.judged.default_optimism) > 0 and any(
            column.name == "optimism" for column in first.table.columns
        )

    @cached_property
    def judged(self) -> JudgedTable:
        """The verdicts on the table and its values, from the results under all profiles."""
        return JudgedTable(self.file, [results.judged for results in self.results])


@dataclass(frozen=True)
class PaperResults:
    """Tables of a paper, in its order, and their results; some or all may have none."""

    paper: Paper
    tables: tuple[TableResults, ...]

    @property
    def page(self) -> str:
        """The address of the paper's page, a bare file name such as "paper-miller.html"."""
        return f"paper-{self.paper.key}.html"

    @property
    def readings_page(self) -> str:
        """The address of the page of the paper's readings, such as "readings-miller.html"."""
        return f"readings-{self.paper.key}.html"

    def link(self, id: str) -> tuple[str, str]:
        """Return the address and label of a table's page: ("miller-table1.html", "Table 1").

        `id`: of one of the paper's tables (else StopIteration).
        """
        return next(table.link for table in self.tables if table.file.id == id)

    @property
    def findings(self) -> list[tuple[PaperFinding, list[tuple[str, str]]]]:
        """The findings of the paper's file with their tables: (finding, [(address, label)]).

        A finding is left out unless all of its tables have results.
        """
        links = {table.file.id: table.link for table in self.run}
        return [
            (finding, [links[id] for id in finding.tables])
            for finding in self.paper.findings
            if links.keys() >= set(finding.tables)
        ]

    @property
    def run(self) -> list[TableResults]:
        """The tables that have results under some profile, in the order of the paper."""
        return [table for table in self.tables if table.results]

    @property
    def results(self) -> list[Results]:
        """The results of all tables under all profiles, the most faithful of a table first."""
        return [results for table in self.tables for results in table.results]

    @cached_property
    def judged(self) -> JudgedPaper:
        """The verdicts on the values and the claims of the paper, from all of its tables."""
        return JudgedPaper(self.paper, [table.judged for table in self.tables])

    @cached_property
    def main_verdicts(self) -> list[tuple[TableResults, TableVerdict]]:
        """Pairs (table, verdict on its main metric), without tables that have no verdict."""
        pairs = [(table, table.judged.main_verdict) for table in self.tables]
        return [(table, verdict) for table, verdict in pairs if verdict is not None]

    @property
    def all_verdicts(self) -> list[tuple[TableResults, TableVerdict]]:
        """Pairs (table, verdict on a metric) for each metric that has a compared value."""
        return [
            (table, verdict)
            for table in self.tables
            for verdict in table.judged.verdicts
        ]

    @cached_property
    def sentences(self) -> list[str]:
        """The answer on the paper, then texts on each table and metric, then counts.

        The counts are those of published values and of facts of data sets by verdict. Without a
        verdict on a main metric there is no answer: the list starts with the texts on tables. The
        list is empty if nothing got a verdict.
        """
        values, facts = self.judged.counts
        sentences = []
        if self.main_verdicts:
            labelled = [
                (table.file.spec.label, verdict)
                for table, verdict in self.main_verdicts
            ]
            sentences = [answer_sentence(labelled)]
        for table, verdict in self.all_verdicts:
            is_main = verdict is table.judged.main_verdict
            corrected_p = self.judged.strict_p.get(table.file.id) if is_main else None
            sentences.append(
                table_sentence(table.file.spec.label, verdict, corrected_p)
            )
        total = values.total()
        if total:
            subject = amount(total, "published value")
            if total > 1:
                subject += ", each counted once"
            sentences.append(f"{subject}: {verdict_list(values)}.")
        if any(facts.values()):
            sentences.append(facts_sentence(facts))
        return list(filter(None, sentences))

    @cached_property
    def in_short(self) -> list[str]:
        """The sentences of the paper's file that say whether it holds, with our numbers.

        A sentence with a value that has not been run is left out.
        """
        tables = {table.file.id: table.judged for table in self.run}
        return in_short(self.paper.in_short, tables)

    @property
    def answer(self) -> str:
        """The first of `sentences` or, if there is none, the reason why nothing is compared."""
        if self.sentences:
            return self.sentences[0]
        labels = ", ".join(table.file.spec.label for table in self.run or self.tables)
        if all(table.file.spec.published is None for table in self.tables):
            return (
                f"No value is compared: no published values of {labels} are available."
            )
        if not self.run:
            return "No table or figure has been run."
        if all(one.resolved.profile == PROFILES[0] for one in self.results):
            return (
                f"No value is compared: {labels} ran on data that stand in for the paper's "
                f"(profile {PROFILES[0]})."
            )
        return f"No value of {labels} is compared."


def read_paper_results(
    files: Iterable[ExperimentFile], dirs: ResultsDirs
) -> list[PaperResults]:
    """Return papers with the results of the tables `files`, in the order of their first tables.

    A table has its results under each profile that it was run with, the most faithful one first.
    Profile `ci` counts only if there is no other; tables without results are included.
    """
    tables = []
    for file in files:
        profiles = [name for name in PROFILES if name in file.profiles]
        run = dirs.profiles(file.id, profiles)
        tables.append(read_paper_table(file, without_ci(run), dirs))
    return papers_of(tables)


def read_paper_table(
    file: ExperimentFile, profiles: Iterable[str], dirs: ResultsDirs
) -> TableResults:
    """Return the results of a table under these profiles, in the order of `profiles`.

    The most faithful profile must come first. The user's results are completed by the committed
    ones.
    """
    results = (shown_results(resolve(file, profile), dirs) for profile in profiles)
    return TableResults(file, tuple(results))


def without_ci(profiles: Sequence[str]) -> list[str]:
    """Return the profiles that say something about the paper, the most faithful one first.

    `profiles`: the least faithful one first, so the order is reversed. Profile `ci` shows on
    different or fewer data that the code still does the same; it is left out unless it is the only
    one.
    """
    telling = [name for name in profiles if name != PROFILES[0]]
    return telling[::-1] or list(profiles)


def papers_of(tables: Iterable[TableResults]) -> list[PaperResults]:
    """Return tables grouped by paper, in the order in which the papers first occur.

    The tables of a paper keep their order. Papers are the same if their keys are.
    """
    by_paper = group_by(tables, lambda table: table.file.paper.key).values()
    return [PaperResults(group[0].file.paper, tuple(group)) for group in by_paper]
