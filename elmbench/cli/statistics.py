"""The comparison of models over data sets for the terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from elmbench.reporting.statistics import ALPHA, Statistics
from elmbench.reporting.writers.text import grid


def statistics_text(comparisons: Sequence[Statistics]) -> RenderableType:
    """Return the ranks, the tests and the wins of each comparison."""
    parts: list[RenderableType] = []
    for found in comparisons:
        parts += [Text(f"\n{_heading(found)}"), _ranks(found), Text(_pairs(found))]
    return Group(*parts)


def _heading(found: Statistics) -> str:
    text = f"{found.source}: {len(found.ranks)} models on {len(found.datasets)} data sets"
    text += f" (without {', '.join(found.left_out)})" if found.left_out else ""
    if found.friedman is None:
        return text
    return f"{text}; Friedman's chi-squared {found.friedman[0]:.3g}, p = {found.friedman[1]:.2g}"


def _ranks(found: Statistics) -> RenderableType:
    """Return a line for each model: its rank, and what the best model has against it."""
    best = next(iter(found.ranks))
    rows: list[tuple[str, ...]] = [(best, f"{found.ranks[best]:.2f}", "", "", "")]
    for model in list(found.ranks)[1:]:
        p = [f"{test[best][model]:.2g}" for test in (found.nemenyi, found.wilcoxon)]
        rows.append((model, f"{found.ranks[model]:.2f}", found.wins[best][model], *p))
    headings = ("model", "average rank", "best wins/ties/loses", "p Nemenyi", "p Wilcoxon-Holm")
    return grid(headings, rows, right=headings[1:], whole=("model",))


def _pairs(found: Statistics) -> str:
    """Return which pairs of models differ."""
    text = f"Ranks more than {found.critical_distance:.2f} apart differ (Nemenyi, {ALPHA:g})"
    models = list(found.ranks)
    pairs = [
        f"{one} before {other}"
        for i, one in enumerate(models)
        for other in models[i + 1 :]
        if found.nemenyi[one][other] < ALPHA
    ]
    return f"{text}: {', '.join(pairs)}." if pairs else f"{text}; none do."
