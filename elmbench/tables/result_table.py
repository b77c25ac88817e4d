"""A table of results as records, from which every writer makes its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elmbench.errors import amount

if TYPE_CHECKING:
    from elmbench.specs.measures import Measure
    from elmbench.specs.papers import ChosenReading
    from elmbench.specs.published import PublishedValue


#: The sign after a value of the committed results, in a table that has values of the user's too.
COMMITTED_SIGN = "†"
#: The texts of a line by the column's name, the same in every format; missing columns are empty.
Line = Mapping[str, str]


#: The kind of the notes that are shown above a table.
QUESTION = "question"
#: The kinds of the notes that conclude a comparison.
CONCLUSION = ("best", "power")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    It may be `numeric` (aligned to the right), `whole` (its words are never broken over two lines)
    or `optional` (left out if there is little room). `brief`: its heading in a terminal, where its
    values have no deviations; by default it is shown as in the other formats.
    """

    name: str
    heading: str
    numeric: bool = False
    whole: bool = False
    optional: bool = False
    brief: str = ""


@dataclass(frozen=True)
class Note:
    """A remark below a table, in one sentence.

    Its kind is `claim`, `optimism`, `warning`, `ending`, ...; a `question`, whether the table
    answers the user's, is shown above it.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Entry:
    """One measure of one model (a column) on one data set (by the suite's name).

    `shown` is the mean with its digits, or the ending of the cells. Of the model on the data set,
    `optimism` is that of the selection, and `chosen` are the hyperparameters in words; None and
    empty unless the kind of table shows them. `best` and `best_published` are True if our mean, or
    the published value, is the best of the models on the data set; never for times and sizes.
    """

    dataset: str
    model: str
    measure: Measure
    mean: float | None = None
    shown: str = ""
    published: PublishedValue | None = None
    verdict: str = ""
    #: The test rows by which the published value is off in which nothing is random.
    rows_off: int | None = None
    optimism: float | None = None
    chosen: str = ""
    best: bool = False
    best_published: bool = False

    @property
    def published_text(self) -> str:
        """The published value as the paper prints it; empty without one."""
        return "" if self.published is None else self.published.shown

    @property
    def verdict_text(self) -> str:
        """The verdict, with the test rows by which a value is off.

        Such as `close, 2 test rows off`; empty without a verdict.
        """
        if self.rows_off is None:
            return self.verdict
        return f"{self.verdict}, {amount(self.rows_off, 'test row')} off"

    def texts(self, suffix: str = "") -> dict[str, str]:
        """Return our value, the published one and the verdict as texts, without empty ones.

        The keys are the columns `value`, `published` and `verdict`, each followed by `suffix`, such
        as `2` for a second metric.
        """
        texts = {
            "value": self.shown,
            "published": self.published_text,
            "verdict": self.verdict_text,
        }
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
        """The explanation, the readings other than the default, and a warning of leaks.

        The warning follows if a reading lets test rows reach a model.
        """
        reading = (
            "; reading " + ";".join(map(str, self.readings)) if self.readings else ""
        )
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
        """Return the columns that are not empty in a section.

        `narrow`: leave out the optional ones too.
        """
        names = {name for line in section.lines for name, text in line.items() if text}
        return [
            column
            for column in self.columns
            if column.name in names and not (narrow and column.optional)
        ]

    def texts(self, section: Section, columns: Sequence[Column]) -> list[list[str]]:
        """Return the lines of a section as lists of texts, one text for each of `columns`.

        Missing texts are empty.
        """
        return [
            [line.get(column.name, "") for column in columns] for line in section.lines
        ]
