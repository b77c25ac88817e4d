"""The results of tables and papers under all profiles, with the evidence on published figures and claims."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from elmbench.layouts import layout_of
from elmbench.layouts.table import JUDGED, VERDICTS
from elmbench.reporting import group_by
from elmbench.reporting.claim_outcomes import ClaimOutcome, correct_by_holm
from elmbench.reporting.figures import ComparedFigure, facts_sentence, missing_runs, verdict_counts
from elmbench.reporting.joint import JointVerdict, judge_table, main_verdict
from elmbench.reporting.readings import compare_readings
from elmbench.reporting.results import Results
from elmbench.reporting.sentences import answer_sentence, result_in_words, table_sentence
from elmbench.specs.catalogue import PROFILES, ExperimentFile
from elmbench.specs.measures import FACTS, Measure
from elmbench.specs.papers import MainClaim, Paper
from elmbench.specs.profiles import resolve
from elmbench.specs.published import ALL

#: The ranks of verdicts by their evidence: a figure counts under the profile with the highest rank.
_WORTH = dict.fromkeys(VERDICTS, 0) | {"not comparable": 1, "too few runs": 2} | dict.fromkeys(JUDGED, 3)


@dataclass(frozen=True)
class TableResults:
    """A table of a paper and its results under each profile, the most faithful one first; empty if it has not been run.

    Each published figure counts under one profile that has enough runs of it; if several have, under the one nearest
    to the printed protocol.
    """

    file: ExperimentFile
    results: tuple[Results, ...]

    @property
    def link(self) -> tuple[str, str]:
        """The address of the table's page, and its label; all pages are in one folder, so a link is a bare name."""
        return f"{self.file.id.replace('/', '-')}.html", self.file.spec.label

    @property
    def has_gains(self) -> bool:
        """True if both selections were run under the default readings."""
        return len(self.results[0].default_gains) > 0

    @cached_property
    def sources(self) -> dict[tuple[str, str, str], tuple[Results, dict[Any, Any]]]:
        """The results that each figure (data set, model, measure) counts under, and its line of `summary.csv` there."""
        sources: dict[tuple[str, str, str], tuple[Results, dict[Any, Any]]] = {}
        for results in sorted(self.results, key=lambda results: -PROFILES.index(results.resolved.profile)):
            for line in results.figures.to_dict("records"):
                figure = line["dataset"], line["model"], line["metric"]
                verdict = line["verdict"]
                if verdict and (figure not in sources or _WORTH[verdict] > _WORTH[sources[figure][1]["verdict"]]):
                    sources[figure] = results, line
        return sources

    @cached_property
    def figures(self) -> list[dict[Any, Any]]:
        """The line of each figure in `summary.csv`, and its profile."""
        return [line | {"profile": results.resolved.profile} for results, line in self.sources.values()]

    @cached_property
    def missing_runs(self) -> pd.DataFrame:
        """The models that have too few runs for an interval, with the runs and minutes that they lack."""
        missing = []
        for results in self.results:
            figures = zip(*(results.figures[name] for name in ("dataset", "model", "metric")), strict=True)
            is_counted = [figure in self.sources and self.sources[figure][0] is results for figure in figures]
            missing.append(missing_runs(results.figures[np.array(is_counted, dtype=bool)], results.cells))
        return pd.concat(missing)

    @cached_property
    def compared_figures(self) -> list[tuple[str, ComparedFigure]]:
        """The figures that are compared with our runs, with their profiles."""
        return [
            (results.resolved.profile, figure)
            for results in self.results
            for figure in results.compared_figures
            if self.sources[figure.dataset, figure.model, figure.measure.column][0] is results
        ]

    @property
    def profiles(self) -> list[str]:
        """The names of the profiles of the compared figures, which are part of the seed of permutations."""
        return sorted({profile for profile, _ in self.compared_figures})

    @cached_property
    def joints(self) -> list[tuple[JointVerdict, tuple[str, ...]]]:
        """The verdict on each metric, and the profiles of its figures."""
        joints = []
        for joint in judge_table((figure for _, figure in self.compared_figures), self.file.id, *self.profiles):
            profiles = {profile for profile, figure in self.compared_figures if figure.measure.metric == joint.metric}
            joints.append((joint, tuple(name for name in reversed(PROFILES) if name in profiles)))
        return joints

    @cached_property
    def counts(self) -> tuple[Counter[str], Counter[str]]:
        """The numbers of figures and of facts of data sets with each verdict."""
        return verdict_counts(self.figures)

    @cached_property
    def verdicts(self) -> dict[str, int]:
        """The number of figures with each verdict, without facts of data sets, and of those `not run`."""
        figures, facts = self.counts
        printed = resolve(self.file, self.file.profiles[-1])
        layout, models = layout_of(printed), {*layout_of(printed).models(printed)}
        judged = sum(
            figure.cited or (figure.value is not None and layout.is_judged(Measure(figure.metric.partition("@")[0])))
            for (dataset, model, _), figure in printed.published.items()
            # A table may show some of the figures of a file.
            if dataset in (ALL, *printed.datasets)
            and (model in models or figure.cited or model not in self.file.all_columns)
        )
        not_run = 0 if facts else max(0, judged - figures.total())
        return {verdict: figures[verdict] for verdict in VERDICTS} | {"not run": not_run}


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
        """Return the address of a table's page and its label, by its id."""
        return next(table.link for table in self.tables if table.file.id == id)

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
        """The figures under each value of each reading (see `compare_readings`)."""
        return compare_readings(self.paper.readings, self.results)

    @cached_property
    def sentences(self) -> list[str]:
        """The answer on the paper, then sentences on each table and metric, and on the counts of figures and facts.

        There are none without published figures.
        """
        joints = [(table, joint, names) for table in self.tables for joint, names in table.joints]
        figures, facts = self.counts
        sentences = []
        if joints:
            main = [main_verdict([joint for joint, _ in table.joints]) for table in self.tables if table.joints]
            few_runs = sum(joint.verdict == "pattern only" and not joint.of for joint in main)
            sentences = [answer_sentence(Counter(joint.verdict for joint in main), few_runs)]
        sentences += [table_sentence(table.file.spec.label, joint, names) for table, joint, names in joints]
        if total := figures.total():
            listed = ", ".join(f"{figures[verdict]} {verdict}" for verdict in VERDICTS if figures[verdict])
            sentences.append(f"{total} published figure{'s' * (total > 1)}, each counted once: {listed}.")
        return [*sentences, *filter(None, [facts_sentence(facts)])]

    @cached_property
    def counts(self) -> tuple[Counter[str], Counter[str]]:
        """The numbers of figures and of facts with each verdict; those that several tables print count once."""
        best: dict[tuple[Any, ...], str] = {}
        for table in self.tables:
            for (dataset, model, metric), (results, line) in table.sources.items():
                spec, paper = results.resolved.spec, results.resolved.published[dataset, model, metric]
                # An equal number for another variant of the model, or by another criterion, is another figure.
                params = spec.models[model].params if model in spec.models else {}
                variant = json.dumps(params, sort_keys=True, default=str), spec.protocol.criterion
                figure = metric.partition("@")[0] in FACTS, paper.dataset, model, metric, paper.value, variant
                if figure not in best or _WORTH[line["verdict"]] > _WORTH[best[figure]]:
                    best[figure] = line["verdict"]
        figures, facts = (Counter(best[key] for key in best if key[0] == is_fact) for is_fact in (False, True))
        return figures, facts

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of figures with each verdict, each figure counted once, and of those `not run`."""
        not_run = sum(table.verdicts["not run"] for table in self.tables)
        return {verdict: self.counts[0][verdict] for verdict in VERDICTS} | {"not run": not_run}

    @cached_property
    def claims(self) -> list[ClaimOutcome]:
        """The claims of the paper, each once, with decisions that hold together by Holm's correction.

        A claim counts under the first profile that tested it: that profile may lack the data set of a claim.
        """
        claims: dict[tuple[str, str], ClaimOutcome] = {}
        for outcome in (outcome for results in self.results for outcome in results.claims):
            claims.setdefault((outcome.table, outcome.claim.model_dump_json()), outcome)
        return correct_by_holm(list(claims.values()))

    @cached_property
    def main_claims(self) -> list[tuple[MainClaim, str, list[ClaimOutcome]]]:
        """Each main claim of the paper that was tested, with its result in words and the claims that tested it."""
        main_claims = []
        for main in self.paper.main_claims:
            parts = [
                outcome
                for table, beginnings in main.tested_by.items()
                for outcome in self.claims
                if outcome.table == table and outcome.claim.says.startswith(beginnings)
            ]
            if parts:
                main_claims.append((main, result_in_words(parts), parts))
        return main_claims


def papers_of(tables: Iterable[TableResults]) -> list[PaperResults]:
    """Return tables by paper, in the order in which the papers first occur."""
    by_paper = group_by(tables, lambda table: table.file.paper.key).values()
    return [PaperResults(group[0].file.paper, tuple(group)) for group in by_paper]


def answer_papers(results: Iterable[Results]) -> list[PaperResults]:
    """Return the evidence on each paper with published figures, from results of its tables.

    `sentences` of a paper has the evidence in words, `counts` the numbers of figures and facts with each verdict.
    """
    by_table = group_by(results, lambda table: table.resolved.file.id).values()
    papers = papers_of(TableResults(group[0].resolved.file, tuple(group)) for group in by_table)
    return [paper for paper in papers if paper.sentences]
