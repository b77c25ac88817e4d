"""The results of tables and papers under all profiles, with the evidence on published values and
claims.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from elmbench.errors import amount
from elmbench.judging.claim_outcomes import (
    ClaimOutcome,
    correct_by_holm,
    result_in_words,
)
from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.readings import TableCells, compare_readings
from elmbench.judging.summary import PUBLISHED_KEY, drop_stand_ins
from elmbench.judging.summary_line import COLUMNS
from elmbench.judging.table_verdicts import TableVerdict, judge_table, main_verdict
from elmbench.judging.value_agreement import (
    VerdictCounts,
    facts_sentence,
    missing_runs,
    verdict_counts,
)
from elmbench.judging.verdict_words import JUDGED, VERDICTS, verdict_list
from elmbench.numerics.significance import holm
from elmbench.report.in_short import in_short
from elmbench.report.shown_results import shown_results
from elmbench.report.table_results import Results
from elmbench.report.verdict_sentences import answer_sentence, table_sentence
from elmbench.results import group_by
from elmbench.results.folders import ResultsDirs
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.experiments import PROFILES
from elmbench.specs.measures import Measure
from elmbench.specs.papers import MainClaim, Paper, PaperFinding
from elmbench.specs.profiles import Resolved, resolve
from elmbench.specs.published import ALL, PublishedValue
from elmbench.tables import kind_of_table

#: The ranks of verdicts by their evidence: a value counts under the profile with the highest rank.
_WORTH = (
    dict.fromkeys(VERDICTS, 0)
    | {"not comparable": 1, "too few runs": 2}
    | dict.fromkeys(JUDGED, 3)
)
_NO_VALUES = pd.DataFrame(columns=[*COLUMNS, "profile"])


class TestedClaim(NamedTuple):
    """A main claim of a paper that was tested, its result in words, and the claims about tables
    that tested it.
    """

    claim: MainClaim
    result: str
    outcomes: list[ClaimOutcome]


@dataclass(frozen=True)
class TableResults:
    """A table of a paper and its results under each profile, the most faithful one first; empty if
    it has not been run.

    Each published value counts under one profile that has enough runs of it; if several have,
    under the one nearest to the printed protocol.
    """

    file: ExperimentFile
    results: tuple[Results, ...]

    @property
    def link(self) -> tuple[str, str]:
        """The address of the table's page, a bare name since all pages are in one folder, and the
        table's label.
        """
        return f"{self.file.id.replace('/', '-')}.html", self.file.spec.label

    @property
    def has_optimism(self) -> bool:
        """True if the table shows optimism and both nested and oracle selection were run under the
        default readings.
        """
        first = self.results[0]
        # A table of times has the cells of a table of metrics.
        return len(first.default_optimism) > 0 and any(
            column.name == "optimism" for column in first.table.columns
        )

    @cached_property
    def published_values(self) -> pd.DataFrame:
        """The line of each published value in `summary.csv` of the profile that it counts under,
        and the profile.
        """
        lines = pd.concat(
            [
                one.published_values.assign(profile=one.resolved.profile)
                for one in self.results
            ]
            or [_NO_VALUES]
        )
        if self.results:
            lines = drop_stand_ins(
                lines[lines["verdict"] != ""], self.results[0].resolved
            )
        keys = lines[PUBLISHED_KEY].itertuples(index=False, name=None)
        worth = [_WORTH[verdict] for verdict in lines["verdict"]]
        # The position of the line that each published value counts under, in the order of the
        # first lines.
        best: dict[tuple[str, ...], int] = {}
        for position, key in enumerate(keys):
            if worth[position] > worth[best.setdefault(key, position)]:
                best[key] = position
        return lines.iloc[list(best.values())].reset_index(drop=True)

    @cached_property
    def missing_runs(self) -> pd.DataFrame:
        """The models that have too few runs for an interval, with the columns of the function
        `missing_runs`.
        """
        profile = self.published_values["profile"]
        lacking = [
            missing_runs(
                self.published_values[profile == one.resolved.profile], one.cells
            )
            for one in self.results
        ]
        return pd.concat(lacking)

    @cached_property
    def compared_values(self) -> list[ComparedValue]:
        """The published values that are compared with our runs."""
        counted = {
            *self.published_values[[*PUBLISHED_KEY, "profile"]].itertuples(
                index=False, name=None
            )
        }
        compared = (figure for one in self.results for figure in one.compared_values)
        return [
            f
            for f in compared
            if (f.dataset, f.model, f.measure.column, f.profile) in counted
        ]

    @cached_property
    def table_verdicts(self) -> list[TableVerdict]:
        """The verdict on each metric."""
        if not self.results:
            return []
        first = self.results[0]
        profiles = {value.profile for value in self.compared_values}
        is_of_first = profiles <= {first.resolved.profile}
        # The compared values of the table are some of its results'.
        if is_of_first and len(first.compared_values) == len(self.compared_values):
            return first.verdicts
        return judge_table(self.compared_values, first.resolved)

    def judge(self) -> None:
        """Compute and keep the verdicts and the outcomes of claims, so that later uses are fast."""
        _ = self.table_verdicts, self.counts
        for results in self.results:
            _ = results.claim_outcomes

    @property
    def main_verdict(self) -> TableVerdict | None:
        """The verdict on the metric that the table is about; None if nothing is compared."""
        if not self.results:
            return None
        return main_verdict(self.table_verdicts, self.results[0].resolved)

    @cached_property
    def counts(self) -> VerdictCounts:
        """The numbers of published values and of facts of data sets with each verdict."""
        return verdict_counts(self.published_values)

    @cached_property
    def verdicts(self) -> dict[str, int]:
        """The number of published values with each verdict, without facts of data sets, and of
        those `not run`.
        """
        values, facts = self.counts
        not_run = 0 if facts else max(0, self._n_to_judge() - values.total())
        return {verdict: values[verdict] for verdict in VERDICTS} | {"not run": not_run}

    def _n_to_judge(self) -> int:
        """Return the number of published values that get a verdict once the table has been run."""
        printed = resolve(self.file, self.file.profiles[-1])
        table = kind_of_table(printed)
        models = set(table.models())
        datasets = {ALL, *printed.datasets} - set(printed.stand_ins)

        def is_shown(dataset: str, model: str, published: PublishedValue) -> bool:
            """Return True if the table shows a value: it may show some of those in a file."""
            is_in_file_alone = model in self.file.all_columns and model not in models
            is_of_model = published.cited or not is_in_file_alone
            return dataset in datasets and is_of_model

        def is_judged(published: PublishedValue) -> bool:
            """Return True if a value gets a verdict: it is cited, or a number of a judged
            metric.
            """
            if published.cited:
                return True
            metric, _, _ = published.metric.partition("@")
            has_value = published.value is not None
            return has_value and table.is_judged(Measure(metric))

        n_judged = 0
        for (dataset, model, _), published in printed.published.items():
            if is_shown(dataset, model, published) and is_judged(published):
                n_judged += 1
        return n_judged


class PublishedOnce(NamedTuple):
    """A published value that counts once, even if several tables print it, also under two names.

    An equal number for another variant of the model, or by another criterion, is a different value.
    `model` is the name in the registry of a model that the suite has.
    """

    metric: str
    dataset: str
    model: str
    value: Any
    params: str
    criterion: str


def identify_published_value(
    line: Mapping[Any, Any], resolved: Resolved
) -> PublishedOnce:
    """Return what identifies the published value in a line of `summary.csv`: equal for tables that
    print the same value.
    """
    model = line["model"]
    spec = resolved.spec
    published = resolved.published[line["dataset"], model, line["metric"]]
    column = spec.models.get(model)
    if column is None:
        name = model
        params = {}
    else:
        name = column.model
        params = column.adapt(line["dataset"]).params
    return PublishedOnce(
        metric=line["metric"],
        dataset=published.dataset,
        model=name,
        value=published.value,
        params=json.dumps(params, sort_keys=True, default=str),
        criterion=spec.protocol.criterion,
    )


@dataclass(frozen=True)
class PaperResults:
    """Tables of a paper, in its order, and their results."""

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
        """Return the address of a table's page and the table's label; `id` is one of the tables."""
        return next(table.link for table in self.tables if table.file.id == id)

    @property
    def findings(self) -> list[tuple[PaperFinding, list[tuple[str, str]]]]:
        """The findings whose tables all have results, each with the links (address, label) of these
        tables.
        """
        links = {table.file.id: table.link for table in self.run}
        return [
            (finding, [links[id] for id in finding.tables])
            for finding in self.paper.findings
            if links.keys() >= set(finding.tables)
        ]

    @property
    def run(self) -> list[TableResults]:
        """The tables that have results."""
        return [table for table in self.tables if table.results]

    @property
    def results(self) -> list[Results]:
        """The results of all tables, the most faithful profile of a table first."""
        return [results for table in self.tables for results in table.results]

    @cached_property
    def readings(self) -> pd.DataFrame:
        """The published values under each value of each reading (see `compare_readings`)."""
        tables = [
            TableCells(results.cells, results.resolved) for results in self.results
        ]
        return compare_readings(self.paper.readings, tables)

    @cached_property
    def main_verdicts(self) -> list[tuple[TableResults, TableVerdict]]:
        """Each table that has a verdict on its main metric, and this verdict."""
        pairs = [(table, table.main_verdict) for table in self.tables]
        return [(table, verdict) for table, verdict in pairs if verdict is not None]

    @property
    def all_verdicts(self) -> list[tuple[TableResults, TableVerdict]]:
        """Each table and the verdict on each of its metrics."""
        return [
            (table, verdict)
            for table in self.tables
            for verdict in table.table_verdicts
        ]

    @cached_property
    def strict_p(self) -> dict[str, float]:
        """The p-value of the strict test of the main metric of each table, by the table's id, after
        Holm's correction for their number.
        """
        tested = {
            table.file.id: verdict.strict[0].p
            for table, verdict in self.main_verdicts
            if verdict.strict
        }
        return dict(zip(tested, holm(list(tested.values())), strict=True))

    @cached_property
    def sentences(self) -> list[str]:
        """The answer on the paper, then sentences on each table and metric, and on the counts of
        values and facts.

        There are none without published values.
        """
        values, facts = self.counts
        sentences = []
        if self.main_verdicts:
            labelled = [
                (table.file.spec.label, verdict)
                for table, verdict in self.main_verdicts
            ]
            sentences = [answer_sentence(labelled)]
        for table, verdict in self.all_verdicts:
            is_main = verdict is table.main_verdict
            corrected_p = self.strict_p.get(table.file.id) if is_main else None
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
        """The sentences of the paper's file that say whether it holds; those whose values have not
        been run are left out.
        """
        tables = {table.file.id: table for table in self.run}
        return in_short(self.paper.in_short, tables)

    @property
    def answer(self) -> str:
        """The sentence on the whole paper, or why nothing is compared."""
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

    @cached_property
    def counts(self) -> VerdictCounts:
        """The numbers of published values and of facts with each verdict; those that several tables
        print count once.
        """
        best: dict[PublishedOnce, str] = {}
        for table in self.run:
            experiments = {one.resolved.profile: one.resolved for one in table.results}
            for line in table.published_values.to_dict("records"):
                experiment = experiments[line["profile"]]
                value = identify_published_value(line, experiment)
                verdict = line["verdict"]
                earlier = best.get(value, verdict)
                best[value] = max(earlier, verdict, key=_WORTH.__getitem__)
        metrics = [value.metric for value in best]
        verdicts = list(best.values())
        lines = {"metric": metrics, "verdict": verdicts}
        frame = pd.DataFrame(lines, dtype=object)
        return verdict_counts(frame)

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of published values with each verdict, each counted once, and of those `not
        run`.
        """
        not_run = sum(table.verdicts["not run"] for table in self.tables)
        return {verdict: self.counts.values[verdict] for verdict in VERDICTS} | {
            "not run": not_run
        }

    @cached_property
    def claims(self) -> list[ClaimOutcome]:
        """The claims of the paper, each once; Holm's correction bounds the chance that any decision
        is wrong.

        A claim counts under the first profile that has what its test needs: another one may lack
        data sets or runs.
        """
        outcomes = (
            outcome for results in self.results for outcome in results.claim_outcomes
        )
        claims = group_by(
            outcomes, lambda outcome: (outcome.table, outcome.claim.model_dump_json())
        )
        return correct_by_holm(
            [
                min(group, key=lambda outcome: not outcome.is_tested)
                for group in claims.values()
            ]
        )

    @cached_property
    def main_claims(self) -> list[TestedClaim]:
        """The main claims of the paper that were tested."""

        def parts_of(main: MainClaim) -> list[ClaimOutcome]:
            """Return the outcomes of the claims about tables that test a main claim."""
            pairs = (
                (outcome, words)
                for table, words in main.tested_by.items()
                for outcome in by_table.get(table, ())
            )
            return [
                outcome
                for outcome, words in pairs
                if outcome.claim.says.startswith(words)
            ]

        by_table = group_by(self.claims, lambda outcome: outcome.table)
        tested = (
            (main, parts)
            for main in self.paper.main_claims
            if (parts := parts_of(main))
        )
        return [
            TestedClaim(claim=main, result=result_in_words(parts), outcomes=parts)
            for main, parts in tested
        ]


def read_paper_results(
    files: Iterable[ExperimentFile], dirs: ResultsDirs
) -> list[PaperResults]:
    """Return the results of tables by paper, each under the profiles that it was run with (see
    `without_ci`); tables without results are included.
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
    """Return the results of a table under some profiles, the most faithful one first."""
    results = (shown_results(resolve(file, profile), dirs) for profile in profiles)
    return TableResults(file, tuple(results))


def without_ci(profiles: Sequence[str]) -> list[str]:
    """Return the profiles that say something about the paper, the most faithful one first.

    `profiles`: the least faithful one first. Profile ci shows on different or fewer data that the
    code still does the same; it counts if there is no other one.
    """
    telling = [name for name in profiles if name != PROFILES[0]]
    return telling[::-1] or list(profiles)


def papers_of(tables: Iterable[TableResults]) -> list[PaperResults]:
    """Return tables by paper, in the order in which the papers first occur."""
    by_paper = group_by(tables, lambda table: table.file.paper.key).values()
    return [PaperResults(group[0].file.paper, tuple(group)) for group in by_paper]
