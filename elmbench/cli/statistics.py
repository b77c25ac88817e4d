"""The comparison of models over data sets for the terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from elmbench.reporting.statistics import ALPHA, Statistics
from elmbench.reporting.writers.text import grid


def statistics_text(comparisons: Sequence[Statistics]) -> RenderableType:
    """Return the ranks, the tests and the wins of each comparison."""
    parts: list[RenderableType] = []
    for comparison in comparisons:
        parts += [Text(f"\n{_heading(comparison)}"), _ranks(comparison), Text(_pairs(comparison))]
    return Group(*parts)


def _heading(comparison: Statistics) -> str:
    text = f"{comparison.source}: {len(comparison.ranks)} models on {len(comparison.datasets)} data sets"
    text += f" (without {', '.join(comparison.left_out)})" if comparison.left_out else ""
    if comparison.friedman is None:
        return text
    return f"{text}; Friedman's chi-squared {comparison.friedman[0]:.3g}, p = {comparison.friedman[1]:.2g}"


def _ranks(comparison: Statistics) -> RenderableType:
    """Return a line for each model: its rank, and what the best model has against it."""
    best = next(iter(comparison.ranks))
    rows: list[tuple[str, ...]] = [(best, f"{comparison.ranks[best]:.2f}", "", "", "")]
    for model in list(comparison.ranks)[1:]:
        p = [f"{test[best][model]:.2g}" for test in (comparison.nemenyi, comparison.wilcoxon)]
        rows.append((model, f"{comparison.ranks[model]:.2f}", comparison.wins[best][model], *p))
    headings = ("model", "average rank", "best wins/ties/loses", "p Nemenyi", "p Wilcoxon-Holm")
    return grid(headings, rows, right=headings[1:], whole=("model",))


def _pairs(comparison: Statistics) -> str:
    """Return which pairs of models differ."""
    text = f"Ranks more than {comparison.critical_distance:.2f} apart differ (Nemenyi, {ALPHA:g})"
    models = list(comparison.ranks)
    pairs = [
        f"{one} before {other}"
        for i, one in enumerate(models)
        for other in models[i + 1 :]
        if comparison.nemenyi[one][other] < ALPHA
    ]
    return f"{text}: {', '.join(pairs)}." if pairs else f"{text}; none do."
