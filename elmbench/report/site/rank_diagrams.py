"""The diagram of average ranks of a page, as the positions of its lines and names.

A template draws it as SVG in the colours of the page, light or dark. `draw_critical_differences`
draws the same diagram as a file.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from elmbench.judging.rank_statistics import Statistics

#: In units of the drawing, of which a character of a name is about 7 wide.
WIDTH = 720
_LEFT = 180
_RIGHT = 540
_AXIS = 26
_ROW = 20
_BAR_STEP = 8
#: A bar reaches this far beyond its first and last rank.
_OVERHANG = 3


@dataclass(frozen=True)
class Name:
    """The name of a model with its rank, and its line from the axis."""

    text: str
    #: The end of the text at `x`, as in SVG: "start" or "end".
    anchor: str
    x: float
    y: float
    #: The points of the line, as in SVG: "X,Y X,Y X,Y".
    points: str


@dataclass(frozen=True)
class RankDiagram:
    """The diagram of the average ranks of models, with the text that describes it (`label`).

    All positions are in units of the drawing, from its upper left corner.
    """

    label: str
    comparison: Statistics
    width: int = WIDTH

    @property
    def height(self) -> int:
        """The height of the drawing."""
        n_rows = math.ceil(self._n_models / 2)
        return math.ceil(self._top + n_rows * _ROW)

    @property
    def axis(self) -> tuple[float, float, int]:
        """The horizontal positions of the left and right end of the axis, and its vertical one."""
        return self._x(1), self._x(self._n_models), _AXIS

    @property
    def ticks(self) -> list[tuple[float, int]]:
        """The position of each whole rank, and the rank."""
        return [(self._x(rank), rank) for rank in range(1, self._n_models + 1)]

    @cached_property
    def bars(self) -> list[tuple[float, float, int]]:
        """The left end, right end and vertical position of each bar, which joins models that do not
        differ.
        """
        return [
            (
                self._x(first) - _OVERHANG,
                self._x(last) + _OVERHANG,
                _AXIS + number * _BAR_STEP,
            )
            for number, (first, last) in enumerate(self.comparison.cliques(), start=1)
        ]

    @property
    def names(self) -> list[Name]:
        """The models: the better half on the left, from top to bottom, the rest on the right, from
        bottom to top.
        """
        half = math.ceil(self._n_models / 2)
        names = []
        for position, (model, rank) in enumerate(self.comparison.ranks.items()):
            is_left = position < half
            row = position if is_left else self._n_models - 1 - position
            y = self._top + row * _ROW
            end = _LEFT - 12 if is_left else _RIGHT + 12
            x = self._x(rank)
            names.append(
                Name(
                    text=f"{model} {rank:.2f}" if is_left else f"{rank:.2f} {model}",
                    anchor="end" if is_left else "start",
                    x=end - 4 if is_left else end + 4,
                    y=y,
                    points=f"{x:.1f},{_AXIS} {x:.1f},{y} {end},{y}",
                )
            )
        return names

    @property
    def _n_models(self) -> int:
        """The number of ranked models."""
        return len(self.comparison.ranks)

    @property
    def _top(self) -> int:
        """The vertical position of the first row of names, below all bars."""
        return _AXIS + len(self.bars) * _BAR_STEP + 18

    def _x(self, rank: float) -> float:
        """Return the horizontal position of a rank on the axis."""
        share = (rank - 1) / (self._n_models - 1)
        return round(_LEFT + share * (_RIGHT - _LEFT), 1)
