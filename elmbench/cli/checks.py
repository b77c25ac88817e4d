"""Outcomes of `elmbench check`, and comparisons of models over data sets, for the terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType

from elmbench.cli.options import state
from elmbench.errors import ElmbenchError, amount
from elmbench.files import write_atomically
from elmbench.judging.claim_outcomes import CLAIM_VERDICTS, count_results
from elmbench.judging.published_values import counts_text
from elmbench.judging.rank_statistics import compare_models, draw_critical_differences
from elmbench.judging.verdict_words import VERDICTS
from elmbench.lazy import load_object
from elmbench.report.checked_prints import CheckedPrint, summary_text
from elmbench.report.papers import PaperResults, TableResults
from elmbench.report.table_results import Results
from elmbench.report.verdict_sentences import (
    MEASURE_COLUMNS,
    measure_legend,
    measure_texts,
)
from elmbench.report.writers import FORMATS
from elmbench.report.writers.text import Text, blocks, lines_text
from elmbench.results.cells import csv
from elmbench.specs.profiles import Resolved, command_for
from elmbench.tables import kind_of_table
from elmbench.tables.drawing import title_of
from elmbench.tables.number_texts import p_words, three_digits
from elmbench.tables.result_table import Column, Note, ResultTable, Section

#: Headings that would be too wide.
_SHORT = {
    "not comparable": "not comp.",
    "reproduced": "reprod.",
    "consistent": "consist.",
}
#: Differences of a table that are printed.
_SHOWN = 20


def format_table(
    form: str,
    table: ResultTable,
    frame: pd.DataFrame,
    commands: Sequence[str],
    picture: Path | None = None,
    resolved: Resolved | None = None,
) -> str:
    """Return a table as `csv` (the lines of `frame`) or in another format of
    `elmbench.report.writers`.
    """
    if form == "csv":
        return csv(frame)
    return str(load_object(FORMATS[form])(table, commands, picture, resolved))


def show_statistics(
    results: Results, diagram: Path | None = None, form: str = "text"
) -> None:
    """Print the comparison of the models over the data sets, and draw its first diagram.

    Raises ElmbenchError if there are no two models on the same two data sets.
    """
    resolved = results.resolved
    comparisons = compare_models(results.summary, resolved)
    spec = resolved.file.spec
    table_kind = kind_of_table(resolved)
    several = table_kind.shows_metrics and min(len(spec.datasets), len(spec.models)) > 1
    if not comparisons:
        lacking = "no models to be compared over data sets"
        next_step = "elmbench list experiments"
        if several or table_kind.ranks:
            lacking = "no two models on the same two data sets to be compared"
            next_step = command_for(
                "fast" if resolved.profile == "ci" else resolved.profile,
                resolved.file.id,
            )
        problem = f"{resolved.file.id} ({spec.title}) has {lacking}"
        raise ElmbenchError(
            problem,
            expected="metrics of several models on several data sets",
            next_step=next_step,
        )
    if diagram is not None:
        kind = diagram.suffix.lower().removeprefix(".")
        write_atomically(
            diagram, draw_critical_differences(comparisons[0], title_of(resolved), kind)
        )
        state.remark(f"written to {diagram}")
    if form != "text" and not state.as_json:
        names = comparisons[0].columns
        columns = tuple(Column(name, name, numeric=name != "model") for name in names)
        sections = tuple(
            Section(
                c.heading,
                (),
                tuple(dict(zip(names, row, strict=True)) for row in c.rows),
            )
            for c in comparisons
        )
        notes = tuple(
            Note("statistics", f"{c.source}: {c.differences}") for c in comparisons
        )
        whole = replace(results.table, columns=columns, sections=sections, notes=notes)
        frame = pd.concat([c.frame.assign(source=c.source) for c in comparisons])
        state.write(format_table(form, whole, frame, results.commands))
        return
    parts: list[RenderableType] = []
    for comparison in comparisons:
        table = lines_text(
            comparison.columns,
            comparison.rows,
            right=comparison.columns[1:],
            whole=("model",),
        )
        parts += [Text(f"\n{comparison.heading}"), table, Text(comparison.differences)]
    state.emit([comparison.record() for comparison in comparisons], Group(*parts))


def baseline_text(outcomes: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    """Return the number of compared cells of each table, and the first cells that differ."""
    rows = [
        (name, check["compared"], len(check["differences"]))
        for name, check in outcomes.items()
    ]
    counts = ("cells compared", "differ")
    parts: list[RenderableType] = [
        lines_text(("experiment", *counts), rows, right=counts)
    ]
    for name, check in outcomes.items():
        for difference in check["differences"][:_SHOWN]:
            text = "{cell}: {column} is {value}, baseline {baseline} (allowed: {allowed})".format(
                **difference
            )
            parts.append(Text(f"{name}: {text}"))
        if (rest := len(check["differences"]) - _SHOWN) > 0:
            parts.append(Text(f"{name}: and {rest} more; --json has them all"))
    return Group(*parts)


def findings_text(checked: Sequence[CheckedPrint]) -> RenderableType:
    """Return each finding on the print of tables, and their number."""
    parts: list[RenderableType] = []
    for table in checked:
        for finding in table.findings:
            parts.append(Text(f"{table.table}: {finding.subject}: {finding.says}"))
    parts.append(Text(summary_text(checked)))
    return Group(*parts)


def published_text(papers: Sequence[PaperResults]) -> RenderableType:
    """Return the verdicts on values and tables, the agreement of each metric, and the sentences on
    each paper.
    """
    tables = [table for paper in papers for table in paper.tables]
    # A line has little room.
    shown = [
        verdict
        for verdict in VERDICTS
        if any(table.counts.values[verdict] for table in tables)
    ]
    counts = [
        [table.file.id, *(table.counts.values[name] for name in shown)]
        for table in tables
        if table.counts.values
    ]
    parts: list[RenderableType] = list(_measures(tables))
    if counts:
        headings = _stack_words(_SHORT.get(verdict, verdict) for verdict in shown)
        parts += blocks(("experiment", *headings), counts, state.width)
        if len(counts) > 1:
            parts.append(
                Text(
                    "A value that several tables print counts once in the sentences below.",
                    style="dim",
                )
            )
    parts += _times(tables)
    values = sum((paper.counts.values for paper in papers), Counter[str]())
    facts = sum((paper.counts.facts for paper in papers), Counter[str]())
    counted_once = counts_text(
        values, facts, pd.concat([table.missing_runs for table in tables])
    )
    return Group(
        *parts, Text(""), Text(counted_once), *_claims(papers), *_papers(papers)
    )


def _measures(tables: Iterable[TableResults]) -> Iterator[RenderableType]:
    """Yield the table of the measures of each table and metric, with its legend."""
    verdicts = [
        (table.file.id, verdict) for table in tables for verdict in table.table_verdicts
    ]
    rows = [(id, *measure_texts(verdict)) for id, verdict in verdicts]
    if rows:
        headings = ("experiment", *_stack_words(MEASURE_COLUMNS))
        yield from blocks(headings, rows, state.width, 2)
        yield Text(measure_legend(verdict for _, verdict in verdicts), style="dim")
        yield Text("")


def _times(tables: Iterable[TableResults]) -> Iterator[RenderableType]:
    """Yield the table of the agreement of times, with its legend."""
    rows = [
        (
            table.file.id,
            times.metric,
            str(times.n),
            f"x {three_digits(times.median_factor)}",
            "" if times.rank_correlation is None else f"{times.rank_correlation:.2f}",
        )
        for table in tables
        for times in table.results[0].times
    ]
    if rows:
        columns = _stack_words(
            ("experiment", "metric", "values", "median factor", "rank corr.")
        )
        yield Text("")
        yield from blocks(columns, rows, state.width, 2)
        yield Text(
            "median factor: between our ratio to the first model of a data set and the printed "
            "ratio; times come from another machine. rank corr.: Spearman's correlation of the "
            "models.",
            style="dim",
        )


def _stack_words(headings: Iterable[str]) -> list[str]:
    """Return headings with a word on each line, so that the columns are narrow and no number is
    broken.
    """
    return [heading.replace(" ", "\n") for heading in headings]


def _claims(papers: Sequence[PaperResults]) -> Iterator[Text]:
    """Yield the line that counts the claims, if there are any, and each that was tested."""
    claims = [claim for paper in papers for claim in paper.claims]
    if claims:
        results = count_results(
            sorted((claim.verdict for claim in claims), key=CLAIM_VERDICTS.index)
        )
        n_claims = amount(len(claims), "claim")
        yield Text(f"{n_claims} of the papers: {results}; --json has them all.")
    for claim in claims:
        if claim.is_tested:
            p = "" if claim.p is None else f" ({p_words(claim.p)})"
            yield Text(
                f'{claim.table}: "{claim.claim.says}": {claim.verdict}{p}', style="dim"
            )


def _papers(papers: Sequence[PaperResults]) -> Iterator[Text]:
    """Yield the sentences on each paper, and its main claims if all tables of a claim are
    checked.
    """
    for paper in papers:
        yield Text(f"\n{paper.paper.key}: {paper.answer}", style="bold")
        if paper.in_short:
            yield Text(" ".join(paper.in_short))
        for sentence in paper.sentences[1:]:
            yield Text(f"- {sentence}")
        checked = {table.file.id for table in paper.tables}
        for main, result, _ in paper.main_claims:
            if checked.issuperset(main.tested_by):
                claim = f'claim "{main.says}" ({main.where})'
                yield Text(f"- {claim}: {result}.")
