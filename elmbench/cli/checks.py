"""Outcomes of `elmbench check`, and comparisons of models over data sets, for the terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.console import Group, RenderableType
from rich.text import Text

from elmbench.cli.state import state
from elmbench.errors import ElmbenchError
from elmbench.files import write_atomically
from elmbench.layouts.figures import title_of
from elmbench.layouts.table import VERDICTS
from elmbench.reporting import grouped
from elmbench.reporting.baseline import BaselineCheck
from elmbench.reporting.claim_outcomes import CLAIM_VERDICTS
from elmbench.reporting.figures import Agreement, counts_text
from elmbench.reporting.papers import answer_paper, main_claims, tested_claims
from elmbench.reporting.results import Results
from elmbench.reporting.statistics import compare_models, draw_critical_differences
from elmbench.reporting.writers.text import grid
from elmbench.specs.catalogue import PROFILES
from elmbench.workflow.checks import PublishedCheck

#: Headings that would be too wide, and those that may be broken over two lines.
_SHORT = {"not comparable": "not comp.", "reproduced": "reprod."}
_BROKEN = ("too few runs", "no data", "not comp.")
#: Differences of a table that are printed.
_SHOWN = 20


def show_statistics(results: Results, diagram: Path | None = None) -> None:
    """Print the comparison of the models over the data sets, and draw its first diagram.

    Raises ElmbenchError if there are no two models on the same two data sets.
    """
    resolved = results.resolved
    comparisons = compare_models(results.summary, resolved)
    if not comparisons:
        raise ElmbenchError(
            f"{resolved.file.id} has no two models on the same two data sets to be compared",
            expected="cells of several models on several data sets that ended ok",
            next_step=f"elmbench run {resolved.file.id} --profile {resolved.profile}",
        )
    if diagram is not None:
        write_atomically(diagram, draw_critical_differences(comparisons[0], title_of(resolved)))
    parts: list[RenderableType] = []
    for one in comparisons:
        table = grid(one.columns, one.rows, right=one.columns[1:], whole=("model",))
        parts += [Text(f"\n{one.heading}"), table, Text(one.differences)]
    state.emit([one.record() for one in comparisons], Group(*parts))


def baseline_text(outcomes: Mapping[str, BaselineCheck]) -> RenderableType:
    """Return the number of compared cells of each table, and the first cells that differ."""
    rows = [(name, check.compared, len(check.differences)) for name, check in outcomes.items()]
    counts = ("cells compared", "differ")
    parts: list[RenderableType] = [grid(("experiment", *counts), rows, right=counts)]
    for name, check in outcomes.items():
        for one in check.differences[:_SHOWN]:
            allowed = f"baseline {one.baseline} (allowed: {one.allowed})"
            parts.append(Text(f"{name}: {one.place}: {one.what} is {one.found}, {allowed}"))
        if len(check.differences) > _SHOWN:
            parts.append(Text(f"{name}: and {len(check.differences) - _SHOWN} more; --json has them all"))
    return Group(*parts)


def published_text(checks: Sequence[PublishedCheck]) -> RenderableType:
    """Return the verdicts on figures and tables, the agreement of each metric, and the sentences on each paper."""
    counts = [(one.experiment, *one.verdicts[0].values()) for one in checks if any(one.verdicts[0].values())]
    rows = [(one.experiment, *metric.texts) for one in checks for metric in one.results.agreements]
    parts: list[RenderableType] = []
    if counts:
        headings = [_SHORT.get(verdict, verdict) for verdict in VERDICTS]
        whole = [heading for heading in ("experiment", *headings) if heading not in _BROKEN]
        parts.append(grid(("experiment", *headings), counts, right=headings, whole=whole))
    if rows:
        columns = ("experiment", *Agreement.COLUMNS)
        table = grid(columns, rows, right=columns[2:], whole=("experiment", "metric", "own runs"))
        parts += [Text(""), table, Text(Agreement.LEGEND, style="dim")]
    figures = [line for one in checks for line in one.figures]
    missing = pd.concat([one.results.missing_runs for one in checks])
    return Group(*parts, Text(""), Text(counts_text(figures, missing)), *_claims(checks), *_papers(checks))


def _claims(checks: Sequence[PublishedCheck]) -> Iterator[Text]:
    """Yield the line that counts the claims, if there are any, and each that was decided."""
    claims = [(one.experiment, claim) for one in checks for claim in one.claims]
    counts = Counter(claim["verdict"] for _, claim in claims)
    if claims:
        counted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in CLAIM_VERDICTS if counts[verdict])
        yield Text(f"{len(claims)} claims of the papers: {counted}; --json has them all.")
    for experiment, claim in claims:
        if claim["verdict"] in CLAIM_VERDICTS[:2]:
            yield Text(f'{experiment}: "{claim["says"]}": {claim["verdict"]} (p = {claim["p"]:.2g})', style="dim")


def _papers(checks: Sequence[PublishedCheck]) -> Iterator[Text]:
    """Yield the sentences on each paper, and its main claims if all tables of a claim are checked."""
    for paper, tables in grouped(checks, lambda one: one.results.resolved.file.paper.key).items():
        results = [one for table in tables for one in table.every_profile]
        first, *others = answer_paper(paper, results).sentences or [_no_comparison(tables)]
        yield Text(f"\n{paper}: {first}", style="bold")
        yield from (Text(f"- {sentence}") for sentence in others)
        for main, result, _ in main_claims(tested_claims(results)):
            if {*main.tested_by} <= {one.experiment for one in tables}:
                yield Text(f'- claim "{main.says}" ({main.where}): {result}.')


def _no_comparison(tables: Sequence[PublishedCheck]) -> str:
    """Return the sentence on a paper without compared figures."""
    specs = [one.results.resolved.file.spec for one in tables]
    labels = ", ".join(spec.label for spec in specs)
    if all(spec.published is None for spec in specs):
        return f"no published figures of {labels} are available."
    if all(one.results.resolved.profile == PROFILES[0] for one in tables):
        return f"no figure is compared: {labels} ran on data that stand in for the paper's (profile {PROFILES[0]})."
    return f"no figure of {labels} is compared."
