"""A table of results as records, from which every writer makes its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elmbench.specs.measures import Measure
    from elmbench.specs.papers import ChosenReading
    from elmbench.specs.published import PublishedValue

#: Verdicts on a published figure that is compared with the interval of enough runs.
JUDGED = ("reproduced", "consistent", "close", "differs")
#: Verdicts on a figure that is compared with our runs.
COMPARED = (*JUDGED, "too few runs")
#: All verdicts on a published figure (docs/verdicts.md).
VERDICTS = (*COMPARED, "not comparable", "no data", "cited")
#: The sign of each verdict, so that a reader does not depend on colours.
SIGNS = dict(zip(VERDICTS, ("✓", "∈", "≈", "✗", "?", "∥", "–", "”"), strict=True))
#: The ending of an entry without missing or failed cells.
COMPLETE = "ok"
#: The ending of an entry without a model in the suite.
NOT_MEASURED = "not measured"
#: Times and sizes that every table shows.
ALWAYS_SHOWN = ("fit_seconds", "n_units")
#: Kernels that have a weight, and updates of the weights.
COUNTED = ("kernels", "iterations")
#: Times and sizes: shown, never judged.
UNJUDGED = (*ALWAYS_SHOWN, "predict_seconds", *COUNTED)
_ENDINGS = {"out-of-memory": "out of memory", "unavailable": "-"}


def quantity(
    mean: float, std: float | None = None, places: int | None = None, ok: int | None = None
) -> str:
    """Return a mean and its deviation, such as `0.93 ± 0.012` or `0.93 (3 ok)`.

    `places`: decimals to show; three significant figures for None. `ok`: the number of cells that
    the mean is over, if others did not end ok.
    """
    is_noise = std is not None and std < 1e-12 * abs(mean)  # of equal numbers, by round-off
    numbers = [value for value in (mean, 0.0 if is_noise else std) if value is not None]
    if places is None:
        return " ± ".join(map(three_figures, numbers))
    return " ± ".join(format_fixed(value, places) for value in numbers) + (
        "" if ok is None else f" ({ok} ok)"
    )


def verdict_list(counts: Mapping[str, int], *, signs: bool = False) -> str:
    """Return the number of figures with each verdict in words, such as `2 reproduced, 3 differ`."""
    words = ((n, name, f"{SIGNS[name]} " * signs) for name in VERDICTS if (n := counts[name]))
    return ", ".join(
        f"{n} {sign}{'differ' if name == 'differs' and n > 1 else name}" for n, name, sign in words
    )


def ending(status: str) -> str:
    """Return an ending as the papers print it, such as `out of memory` or `-`."""
    return _ENDINGS.get(status, status)


def gain(value: float) -> str:
    """Return the optimism of a selection with its sign."""
    return f"{round(value, 3) + 0.0:+.3f}"


#: The texts of a line by the column's name, the same in every format; missing columns are empty.
Line = Mapping[str, str]
#: The sentence that explains a column.
_LEGEND = {
    "verdict": (
        "Verdicts: reproduced (in the 95 % prediction interval of our runs, widened by half of the "
        "last printed digit), consistent (in it, but so are figures of other models), close (in "
        "one twice as wide), differs, too few runs (fewer than three)."
    ),
    "ratio": (
        "Fit times are of one machine; compare the ratios, over the first model on the same data "
        "set."
    ),
    "optimism": (
        "Optimism: how much better the oracle's mean is than that of nested selection, on the same "
        "folds."
    ),
}


@dataclass(frozen=True)
class Column:
    """A column of a table.

    It may be `numeric` (aligned to the right), `whole` (its words are never broken over two lines)
    or `optional` (left out if there is little room).
    """

    name: str
    heading: str
    numeric: bool = False
    whole: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Note:
    """A remark below a table, in one sentence; its kind is `claim`, `optimism`, `warning`,
    `ending`, ...
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Entry:
    """One measure of one model (a column) on one data set (by the suite's name).

    `shown` is the mean with its digits, or the ending of the cells. Of the model on the data set,
    `optimism` is that of the selection, and `chosen` are the hyperparameters in words; None and
    empty unless the kind of table shows them. `best` and `best_printed` are True if our mean, or
    the printed figure, is the best of the models on the data set; never for times and sizes.
    """

    dataset: str
    model: str
    measure: Measure
    mean: float | None = None
    shown: str = ""
    published: PublishedValue | None = None
    verdict: str = ""
    optimism: float | None = None
    chosen: str = ""
    best: bool = False
    best_printed: bool = False

    @property
    def printed(self) -> str:
        """The figure as the paper prints it: `0.93 ± 0.012`, `2^-20`, `> 600 s`, `-` for a blank;
        empty without one.
        """
        figure = self.published
        if figure is None:
            return ""
        if figure.value is None:
            return "-" if figure.over_seconds is None else f"> {figure.over_seconds:g} s"
        value = figure.text if "^" in figure.text else figure.value
        return f"{value}" + (f" ± {figure.std}" if figure.std is not None else "")

    def texts(self, suffix: str = "") -> dict[str, str]:
        """Return our value, the published one and the verdict, by column, as far as there are
        any.
        """
        texts = {"value": self.shown, "published": self.printed, "verdict": self.verdict}
        return {name + suffix: text for name, text in texts.items() if text}


@dataclass(frozen=True)
class Section:
    """The lines of one selection under one choice of readings.

    `explanation`: of the selection, or the content of the table if nothing is selected. `readings`:
    those with a value other than the default. The lines are made of the entries.
    """

    explanation: str
    readings: tuple[ChosenReading, ...]
    lines: tuple[Line, ...]
    select: str = ""
    entries: tuple[Entry, ...] = ()

    @property
    def heading(self) -> str:
        """The selection, the readings, and whether they leak."""
        reading = "; reading " + ";".join(map(str, self.readings)) if self.readings else ""
        leaks = any(reading.leaks for reading in self.readings)
        return (
            self.explanation
            + reading
            + (" (LEAKING: test rows were learnt in earlier folds)" if leaks else "")
        )


@dataclass(frozen=True)
class ResultTable:
    """A table of a paper under one profile.

    The subtitle names the paper, the profile and its differences from the printed protocol. The
    section of the default readings and of the table's own selection comes first.
    """

    title: str
    subtitle: str
    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    notes: tuple[Note, ...]

    def columns_of(self, section: Section, *, narrow: bool = False) -> list[Column]:
        """Return the columns that are not empty in a section; with `narrow`, without the optional
        ones.
        """
        names = {name for line in section.lines for name, text in line.items() if text}
        return [
            column
            for column in self.columns
            if column.name in names and not (narrow and column.optional)
        ]

    def texts(self, section: Section, columns: Sequence[Column]) -> list[list[str]]:
        """Return the lines of a section as texts, one for each of the columns."""
        return [[line.get(column.name, "") for column in columns] for line in section.lines]

    @property
    def legend(self) -> list[str]:
        """The sentences that explain the verdicts, the times and the optimism that the table
        shows.
        """
        pairs = [
            pair for section in self.sections for line in section.lines for pair in line.items()
        ]
        names = {name for name, text in pairs if not name.startswith("verdict") or text in COMPARED}
        columns = {name.removeprefix("published_").rstrip("0123456789") for name in names}
        return [sentence for column, sentence in _LEGEND.items() if column in columns]


def format_fixed(value: float, places: int) -> str:
    """Return a number with a fixed number of decimals, or in powers of ten if it is very large."""
    return f"{value:.{places}f}" if abs(value) < 1e6 else f"{value:.1e}"


def three_figures(value: float) -> str:
    """Return seconds or a hyperparameter with at most three significant figures, large ones as
    whole numbers.
    """
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.01 else f"{value:.2g}"
