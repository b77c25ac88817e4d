"""Outcomes of `elmbench check` for the terminal."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
from rich.console import Group, RenderableType
from rich.text import Text

from elmbench.layouts.table import VERDICTS, three_figures
from elmbench.reporting.agreement import Agreement
from elmbench.reporting.baseline import BaselineCheck, Difference
from elmbench.reporting.claim_outcomes import CLAIM_VERDICTS
from elmbench.reporting.figures import counts_text
from elmbench.reporting.papers import answer_papers, main_claims, tested_claims
from elmbench.reporting.writers.text import grid
from elmbench.specs.catalogue import PROFILES
from elmbench.workflow.checks import PublishedCheck

_WHOLE = ("experiment", "metric", "own runs")
#: Headings that would be too wide, and those that may be broken over two lines.
_SHORT = {"not comparable": "not comp.", "reproduced": "reprod."}
_BROKEN = ("too few runs", "no data", "not comp.")
#: Differences of a table that are printed.
_SHOWN = 20


def baseline_text(outcomes: Mapping[str, BaselineCheck]) -> RenderableType:
    """Return the number of compared cells of each table, and the first cells that differ."""
    rows = [(name, check.compared, len(check.differences)) for name, check in outcomes.items()]
    parts: list[RenderableType] = [
        grid(("experiment", "cells compared", "differ"), rows, right=("cells compared", "differ"))
    ]
    for name, check in outcomes.items():
        parts += [Text(f"{name}: {_difference_text(difference)}") for difference in check.differences[:_SHOWN]]
        if len(check.differences) > _SHOWN:
            parts.append(Text(f"{name}: and {len(check.differences) - _SHOWN} more; --json has them all"))
    return Group(*parts)


def _difference_text(one: Difference) -> str:
    return f"{one.place}: {one.what} is {one.found}, baseline {one.baseline} (allowed: {one.allowed})"


def published_text(checks: Sequence[PublishedCheck]) -> RenderableType:
    """Return the verdicts on figures and tables, the agreement of each metric, and the sentences on each paper."""
    counts = [(one.experiment, *one.verdicts.values()) for one in checks if any(one.verdicts.values())]
    rows = [(one.experiment, *_agreement_row(metric)) for one in checks for metric in one.metrics]
    right = ("median apart", "rank corr.", "same best", "wrong pairs", "own runs")
    headings = [_SHORT.get(verdict, verdict) for verdict in VERDICTS]
    whole = [heading for heading in ("experiment", *headings) if heading not in _BROKEN]
    parts: list[RenderableType] = []
    if counts:
        parts.append(grid(("experiment", *headings), counts, right=headings, whole=whole))
    if rows:
        parts += [
            Text(""),
            grid(("experiment", "metric", *right), rows, right=right, whole=_WHOLE),
            Text(_LEGEND, style="dim"),
        ]
    figures = [line for one in checks for line in one.figures]
    missing = pd.concat([one.results.missing_runs for one in checks])
    return Group(*parts, Text(""), Text(counts_text(figures, missing)), *_claims(checks), *_papers(checks))


def _papers(checks: Sequence[PublishedCheck]) -> Iterator[Text]:
    """Yield the sentences on each paper, and its main claims if all tables of a claim are checked."""
    answers = {
        answer.paper: answer.sentences
        for answer in answer_papers(results for one in checks for results in one.every_profile)
    }
    papers: dict[str, list[PublishedCheck]] = {}
    for one in checks:
        papers.setdefault(one.results.resolved.file.paper.key, []).append(one)
    for paper, tables in papers.items():
        first, *others = answers.get(paper) or [_no_comparison(tables)]
        yield Text(f"\n{paper}: {first}", style="bold")
        yield from (Text(f"- {sentence}") for sentence in others)
        for main, result, _ in main_claims(tested_claims(results for one in tables for results in one.every_profile)):
            if {*main.tested_by} <= {one.experiment for one in tables}:
                yield Text(f'- claim "{main.says}" ({main.where}): {result}.')


def _no_comparison(tables: Sequence[PublishedCheck]) -> str:
    """Return the sentence on a paper without compared figures."""
    specs = [one.results.resolved.file.spec for one in tables]
    labels = ", ".join(spec.label for spec in specs)
    if all(spec.published is None for spec in specs):
        return f"no published figures of {labels} are available."
    if all(one.profile == PROFILES[0] for one in tables):
        return f"no figure is compared: {labels} ran on data that stand in for the paper's (profile {PROFILES[0]})."
    return f"no figure of {labels} is compared."


_LEGEND = (
    "median apart: abs(ours - published) (of times: the factor between the ratios). same best: data sets on which the "
    "printed best model is the best. wrong pairs: printed figures compared with another model's runs, those called "
    "reproduced of those that are not consistent. own runs: left out and compared with the others; should be near 95 %."
)


def _agreement_row(agreement: Agreement) -> tuple[str, ...]:
    apart = agreement.median_difference
    shown = f"x {agreement.median_factor:.2g}" if apart is None else three_figures(apart)
    order = "" if agreement.rank_correlation is None else f"{agreement.rank_correlation:.2f}"
    best = f"{agreement.same_best} of {agreement.rows}" if agreement.rows else ""
    return agreement.metric, shown, order, best, *map(_share, *_left_out_counts(agreement))


def _left_out_counts(agreement: Agreement) -> tuple[tuple[int, int], tuple[int, int]]:
    return (agreement.pairings_reproduced, agreement.left_out_reproduced), (agreement.pairings, agreement.left_out)


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} {part / whole:.0%}" if whole else ""


def _claims(checks: Sequence[PublishedCheck]) -> Iterator[Text]:
    """Yield the line that counts the claims, if there are any, and each that was decided."""
    claims = [(one.experiment, claim) for one in checks for claim in one.claims]
    counts = {verdict: sum(claim["verdict"] == verdict for _, claim in claims) for verdict in CLAIM_VERDICTS}
    if claims:
        counted = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
        yield Text(f"{len(claims)} claims of the papers: {counted}; --json has them all.")
    for experiment, claim in claims:
        if claim["verdict"] in CLAIM_VERDICTS[:2]:
            yield Text(f'{experiment}: "{claim["says"]}": {claim["verdict"]} (p = {claim["p"]:.2g})', style="dim")
