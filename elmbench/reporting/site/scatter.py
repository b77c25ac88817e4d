"""The scatter of published against measured figures, as places in a drawing of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from elmbench.layouts.table import COMPARED
from elmbench.reporting.site.gather import PaperResults
from elmbench.reporting.site.links import table_page
from elmbench.specs.protocol import is_quality

#: The side of the square in which the points lie, its left and upper edge, and the size of the whole.
SIDE, LEFT, TOP, WIDTH, HEIGHT = 360, 52, 12, 430, 430


@dataclass(frozen=True)
class Point:
    """A published figure and ours, where it lies in the drawing, and what it is in words."""

    x: float
    y: float
    verdict: str
    says: str
    page: str


@dataclass(frozen=True)
class Scatter:
    """The points, those that `differ` last so that nothing hides them, and how many figures lie outside of it."""

    points: tuple[Point, ...]
    outside: int

    @property
    def ticks(self) -> list[tuple[str, float, float]]:
        """Each mark of both axes: what it says, how far to the right it is and how far down."""
        return [(f"{i / 5:.1f}", *_place(i / 5, i / 5)) for i in range(6)]

    @property
    def sizes(self) -> dict[str, int]:
        """The side of the square, its left, upper, right and lower edge, and the size of the whole."""
        edges = {"left": LEFT, "top": TOP, "right": LEFT + SIDE, "bottom": TOP + SIDE}
        return {"side": SIDE, "width": WIDTH, "height": HEIGHT} | edges


def scatter(papers: Iterable[PaperResults]) -> Scatter:
    """Return the scores and errors, from 0 to 1, that were held against our runs."""
    points, outside = [], 0
    for paper in papers:
        for table in paper.tables:
            spelling = table.profiles[0].resolved.spelling if table.profiles else str
            for line in table.figures:
                metric, mean, published = line["metric"], line["mean"], line["published"]
                if line["verdict"] not in COMPARED or not is_quality(metric.partition("@")[0]) or mean is None:
                    continue
                if not (0 <= mean <= 1 and 0 <= published <= 1):
                    outside += 1
                    continue
                where = f"{paper.paper.key} {table.file.spec.label}, {spelling(line['dataset'])}, {line['model']}"
                says = f"{where}, {metric}: published {published:g}, ours {mean:.4g}, {line['verdict']}"
                points.append(Point(*_place(published, mean), line["verdict"], says, table_page(table.file.id)))
    order = ("too few runs", "consistent", "reproduced", "close", "differs")
    return Scatter(tuple(sorted(points, key=lambda point: order.index(point.verdict))), outside)


def _place(published: float, mean: float) -> tuple[float, float]:
    return round(LEFT + SIDE * published, 1), round(TOP + SIDE * (1 - mean), 1)
