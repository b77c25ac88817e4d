"""The text of a comparison of tables with their papers, as blocks of any width."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from elmbench.errors import amount
from elmbench.judging.claim_outcomes import count_results
from elmbench.judging.judged_table import JudgedTable
from elmbench.judging.value_agreement import counts_text
from elmbench.judging.verdict_words import CLAIM_VERDICTS, VERDICTS
from elmbench.report.checks.checked_tables import NothingToCompareError
from elmbench.report.papers import PaperResults
from elmbench.report.printed_blocks import Block
from elmbench.report.verdict_sentences import (
    MEASURE_COLUMNS,
    measure_legend,
    measure_texts,
)
from elmbench.tables.number_texts import p_words, three_digits

#: Headings that would be too wide.
_SHORT = {
    "not comparable": "not comp.",
    "reproduced": "reprod.",
    "consistent": "consist.",
}


def check_blocks(papers: Sequence[PaperResults]) -> list[Block]:
    """Return the text of a comparison of tables with their papers, as blocks in order.

    They are tables of measures, counts and times, each only if it has lines, a sentence of counts,
    sentences on claims, and those on each paper. `papers`: all of their tables must have results.
    Raises NothingToCompareError if there are no tables.
    """
    tables = [table.judged for paper in papers for table in paper.tables]
    if not tables:
        raise NothingToCompareError(
            "no table is to be compared",
            expected="the results of at least one table",
            next_step="elmbench list experiments",
        )
    values = sum((paper.judged.counts.values for paper in papers), Counter[str]())
    facts = sum((paper.judged.counts.facts for paper in papers), Counter[str]())
    missing_runs = pd.concat([table.missing_runs for table in tables])
    return [
        *_measure_blocks(tables),
        *_count_blocks(tables),
        *_time_blocks(tables),
        Block(),
        Block(text=counts_text(values, facts, missing_runs)),
        *_claim_blocks(papers),
        *_paper_blocks(papers),
    ]


def _count_blocks(tables: Sequence[JudgedTable]) -> Iterator[Block]:
    """Yield the table with the number of values with each verdict, a line for each table.

    The columns are the table's id and the verdicts. Verdicts that no value has get no column. With
    several lines, a sentence follows: the counts below take each value once. There is no block if
    no table has a verdict.
    """
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
    if not counts:
        return
    headings = _stack_words(_SHORT.get(verdict, verdict) for verdict in shown)
    yield Block(headings=["experiment", *headings], rows=counts)
    if len(counts) > 1:
        yield Block(
            text="A value that several tables print counts once in the sentences below.",
            style="dim",
        )


def _measure_blocks(tables: Iterable[JudgedTable]) -> Iterator[Block]:
    """Yield the table of measures, a line for each table and metric, its legend and an empty block.

    The columns after the table's id are `MEASURE_COLUMNS`. There is no block without a verdict.
    """
    verdicts = [
        (table.file.id, verdict) for table in tables for verdict in table.verdicts
    ]
    rows = [(id, *measure_texts(verdict)) for id, verdict in verdicts]
    if rows:
        headings = ["experiment", *_stack_words(MEASURE_COLUMNS)]
        yield Block(headings=headings, rows=rows, n_labels=2)
        legend = measure_legend(verdict for _, verdict in verdicts)
        yield Block(text=legend, style="dim")
        yield Block()


def _time_blocks(tables: Iterable[JudgedTable]) -> Iterator[Block]:
    """Yield the table with the agreement of our times with the printed ones, and its legend.

    An empty block comes first. The columns are the table's id, the metric, the number of values,
    the median factor between our ratio and the printed one, and the rank correlation. It has a line
    for each table and kind of time, under the most faithful profile. There is no block if no table
    has printed times; each table must have results.
    """
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
        yield Block()
        yield Block(headings=columns, rows=rows, n_labels=2)
        yield Block(
            text="median factor: between our ratio to the first model of a data set and the "
            "printed ratio; times come from another machine. rank corr.: Spearman's correlation "
            "of the models.",
            style="dim",
        )


def _stack_words(headings: Iterable[str]) -> list[str]:
    """Return headings with each word on a line of its own, so that the columns are narrow."""
    return [heading.replace(" ", "\n") for heading in headings]


def _claim_blocks(papers: Sequence[PaperResults]) -> Iterator[Block]:
    """Yield a line that counts the claims about tables by verdict, and one for each tested one.

    The first line counts claims that were not tested, too. There is no block without a claim.
    """
    claims = [claim for paper in papers for claim in paper.judged.claims]
    if claims:
        results = count_results(
            sorted((claim.verdict for claim in claims), key=CLAIM_VERDICTS.index)
        )
        n_claims = amount(len(claims), "claim")
        yield Block(text=f"{n_claims} of the papers: {results}; --json has them all.")
    for claim in claims:
        if claim.is_tested:
            p = "" if claim.p is None else f" ({p_words(claim.p)})"
            yield Block(
                text=f'{claim.table}: "{claim.claim.says}": {claim.verdict}{p}',
                style="dim",
            )


def _paper_blocks(papers: Sequence[PaperResults]) -> Iterator[Block]:
    """Yield the sentences on each paper, the answer in bold first, and its main claims.

    A main claim is left out unless all tables that test it are among those checked.
    """
    for paper in papers:
        yield Block(text=f"\n{paper.paper.key}: {paper.answer}", style="bold")
        if paper.in_short:
            yield Block(text=" ".join(paper.in_short))
        for sentence in paper.sentences[1:]:
            yield Block(text=f"- {sentence}")
        checked = {table.file.id for table in paper.tables}
        for main, result, _ in paper.judged.main_claims:
            if checked.issuperset(main.tested_by):
                claim = f'claim "{main.says}" ({main.where})'
                yield Block(text=f"- {claim}: {result}.")
