"""The diagram of average ranks of a page, as the positions of its lines and names.

A template draws it as SVG in the colours of the page, light or dark. `draw_critical_differences`
draws the same diagram as a file.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from elmbench.judging.rank_statistics import Statistics

#: In units of the drawing: the length of the axis, its vertical position, the least space for the
#: names on each side, and the width of a character of a name, in wide fonts.
_LENGTH = 360
_AXIS = 26
_MARGIN = 180
_CHARACTER = 8
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

    @property
    def width(self) -> int:
        """The width of the whole drawing: the axis and the names on both sides."""
        return self._axis_left + _LENGTH + self._margin(is_left=False)

    @property
    def height(self) -> int:
        """The height of the whole drawing: the axis, the bars and the rows of names."""
        n_rows = math.ceil(self._n_models / 2)
        return math.ceil(self._first_row + n_rows * _ROW)

    @property
    def axis(self) -> tuple[float, float, int]:
        """The positions of the axis: of its left (rank 1) and right end, and its vertical one."""
        return self._x_of_rank(1), self._x_of_rank(self._n_models), _AXIS

    @property
    def ticks(self) -> list[tuple[float, int]]:
        """Pairs (horizontal position, rank) for each whole rank, from 1 to the number of models."""
        return [(self._x_of_rank(rank), rank) for rank in range(1, self._n_models + 1)]

    @cached_property
    def bars(self) -> list[tuple[float, float, int]]:
        """The bars below the axis: (left end, right end, vertical position) of each.

        A bar joins the models of a longest run that does not differ by Nemenyi's test.
        """
        return [
            (
                self._x_of_rank(first) - _OVERHANG,
                self._x_of_rank(last) + _OVERHANG,
                _AXIS + number * _BAR_STEP,
            )
            for number, (first, last) in enumerate(self.comparison.cliques(), start=1)
        ]

    @property
    def names(self) -> list[Name]:
        """The names of the models with their lines, in the order of the ranks, the best first.

        The better half stands on the left, from top to bottom, the rest on the right, from bottom
        to top.
        """
        half = math.ceil(self._n_models / 2)
        texts = self._name_texts
        names = []
        for position, rank in enumerate(self.comparison.ranks.values()):
            is_left = position < half
            row = position if is_left else self._n_models - 1 - position
            y = self._first_row + row * _ROW
            end = self._axis_left - 12 if is_left else self._axis_left + _LENGTH + 12
            x = self._x_of_rank(rank)
            names.append(
                Name(
                    text=texts[position],
                    anchor="end" if is_left else "start",
                    x=end - 4 if is_left else end + 4,
                    y=y,
                    points=f"{x:.1f},{_AXIS} {x:.1f},{y} {end},{y}",
                )
            )
        return names

    @property
    def _name_texts(self) -> list[str]:
        """The texts of the models with their ranks, the best first.

        They are "SVM 1.50" for the left and "3.20 ELM" for the right half: the rank is on the side
        of the axis.
        """
        half = math.ceil(self._n_models / 2)
        return [
            f"{model} {rank:.2f}" if position < half else f"{rank:.2f} {model}"
            for position, (model, rank) in enumerate(self.comparison.ranks.items())
        ]

    @property
    def _axis_left(self) -> int:
        """The horizontal position of the left end of the axis, after the names on the left."""
        return self._margin(is_left=True)

    def _margin(self, *, is_left: bool) -> int:
        """Return the width of the space for the names on the left or the right of the axis."""
        half = math.ceil(self._n_models / 2)
        texts = self._name_texts[:half] if is_left else self._name_texts[half:]
        longest = max(map(len, texts))
        return max(_MARGIN, 16 + longest * _CHARACTER)

    @property
    def _n_models(self) -> int:
        """The number of ranked models, at least two."""
        return len(self.comparison.ranks)

    @property
    def _first_row(self) -> int:
        """The vertical position of the first row of names, which is below all bars."""
        return _AXIS + len(self.bars) * _BAR_STEP + 18

    def _x_of_rank(self, rank: float) -> float:
        """Return the horizontal position of an average rank, which is 1 to the number of models."""
        share = (rank - 1) / (self._n_models - 1)
        return round(self._axis_left + share * _LENGTH, 1)
