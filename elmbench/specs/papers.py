"""The contents of `experiments/<paper>/paper.yaml`: the citation, the main claims, the findings
and the readings.
"""

from dataclasses import dataclass
from string import Formatter
from typing import Annotated, Any, NamedTuple, Self

from pydantic import ConfigDict, Field, StrictFloat, field_validator, model_validator

from elmbench.metrics import Unit, unit_of
from elmbench.specs.files import SpecPart


class Spec(SpecPart):
    """A part of a paper's specs, whose keys have hyphens."""

    model_config = ConfigDict(
        alias_generator=lambda name: name.replace("_", "-"), allow_inf_nan=False
    )


class ReadingValue(Spec):
    """One interpretation of a passage."""

    #: The interpretation in a few words.
    says: str
    #: Changes to the experiment.
    set: dict[str, Any] = Field(default_factory=dict)
    #: Test rows reach a model before it is tested on them.
    leaks: bool = False


class Reading(Spec):
    """A passage with several interpretations; the first value is the default."""

    #: The passage as a question.
    question: str
    #: The interpretations by name, the default one first.
    values: dict[str, ReadingValue] = Field(min_length=2)

    @field_validator("values")
    @classmethod
    def _default_changes_nothing(
        cls, values: dict[str, ReadingValue]
    ) -> dict[str, ReadingValue]:
        """Return the values of a reading, {name: value}, as they are.

        Raises ValueError if the first one, which is the default, changes the table.
        """
        first = next(iter(values))
        if values[first].set:
            raise ValueError(
                f"the first value, {first!r}, sets something; expected nothing, as it is the "
                "default"
            )
        return values

    @property
    def default(self) -> str:
        """The name of the default value, which is the first one."""
        return next(iter(self.values))


class MainClaim(Spec):
    """A sentence of the abstract or the conclusion, and the claims of the tables that test it."""

    #: The wording of the paper; [...] marks omissions, other brackets additions.
    says: str = Field(min_length=1)
    #: The part of the paper.
    where: str
    #: For each table the beginnings of its claims.
    tested_by: dict[str, tuple[str, ...]] = Field(min_length=1)


class PaperFinding(Spec):
    """A finding of the committed results about a paper; a test compares its numbers with them."""

    #: One sentence without its full stop.
    title: str = Field(min_length=1)
    #: Sentences with the numbers that show it.
    evidence: tuple[str, ...] = Field(min_length=1)
    #: The ids of the tables that show it.
    tables: tuple[str, ...] = Field(min_length=1)


class PooledMeasures(Spec):
    """The compared values of one metric in some tables, taken together."""

    #: The ids of the tables.
    tables: tuple[str, ...] = Field(min_length=1)
    #: The metric.
    metric: str
    #: The columns of the tables that count; all by default.
    models: tuple[str, ...] = ()
    #: The data sets that count, by the suite's names; all by default.
    datasets: tuple[str, ...] = ()


class QuotedValue(Spec):
    """One value of a table, ours and the published one."""

    #: The id of the table.
    table: str
    #: The data set, by the suite's name.
    dataset: str
    #: The column of the table.
    model: str
    #: The metric.
    metric: str
    #: The reading under which our value was run; the default readings if it is empty.
    reading: str = ""


class MeasureTexts(NamedTuple):
    """What a sentence may show of pooled measures."""

    #: The median and the largest distance of our values from the published ones, with their unit.
    median: str
    largest: str
    #: The numbers of values within and beyond their margin, and of all values.
    within: int
    beyond: int
    n: int
    #: The number of pairs of models in the published order, of all pairs that our runs separate,
    #: and of the others.
    same: int
    decided: int
    unseparated: int


class ValueTexts(NamedTuple):
    """What a sentence may show of a quoted value: ours and the published one."""

    ours: str
    published: str


class ShortSentence(Spec):
    """A sentence on whether the paper holds, whose numbers come from the results."""

    #: The sentence, with placeholders such as `{accuracy.within}` or `{best.ours}`.
    says: str = Field(min_length=1)
    #: The measures that it names.
    measures: dict[str, PooledMeasures] = Field(default_factory=dict)
    #: The values that it names.
    values: dict[str, QuotedValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _placeholders_are_known(self) -> Self:
        """Raise ValueError if a placeholder of the sentence names no measure or value."""
        known = {
            f"{name}.{text}" for name in self.measures for text in MeasureTexts._fields
        }
        known |= {
            f"{name}.{text}" for name in self.values for text in ValueTexts._fields
        }
        for _, field, _, _ in Formatter().parse(self.says):
            if field is not None and field not in known:
                raise ValueError(
                    f"placeholder {field!r}; expected one of {', '.join(sorted(known)) or 'none'}"
                )
        return self

    @property
    def tables(self) -> set[str]:
        """The ids of the tables that the measures and values of the sentence are from."""
        pooled = {id for measures in self.measures.values() for id in measures.tables}
        return pooled | {value.table for value in self.values.values()}


@dataclass(frozen=True)
class ChosenReading:
    """A reading with a value other than its default."""

    id: str
    value: str
    #: Test rows reach a model before it is tested on them.
    leaks: bool = False

    def __str__(self) -> str:
        """Return the reading in the notation of CSV files, `id=value`."""
        return f"{self.id}={self.value}"


#: The widest margin of a paper, as a multiple of the standard margin of its metric.
WIDEST_MARGIN = 5
#: A margin; every measure of a table divides by it.
Margin = Annotated[StrictFloat, Field(gt=0)]


class Paper(Spec):
    """`experiments/<paper>/paper.yaml`: what the tables of one paper share."""

    #: The name of the paper's folder, which begins the ids of its tables.
    key: str
    #: The title of the paper.
    title: str
    #: Its authors.
    authors: str
    #: The year of its publication.
    year: int
    #: Empty if the paper has none.
    doi: str = ""
    #: The sentences of its abstract and conclusion that claims of its tables test.
    main_claims: tuple[MainClaim, ...] = ()
    #: Whether the paper holds, in a sentence or two.
    in_short: tuple[ShortSentence, ...] = ()
    #: Findings about the paper that the site shows.
    findings: tuple[PaperFinding, ...] = ()
    #: Passages that the paper leaves open, by name; a table lists those that concern it.
    readings: dict[str, Reading] = Field(default_factory=dict)
    #: The models that the paper proposes, by their names in the registry.
    proposed: tuple[str, ...] = ()
    #: Margins of metrics that replace the standard ones, at most five times as wide. The margin of
    #: an error is a share of the published value.
    margins: dict[str, Margin] = Field(default_factory=dict)

    @property
    def citation(self) -> str:
        """The authors and the year, with the DOI if there is one."""
        citation = f"{self.authors} ({self.year})"
        return f"{citation}, doi:{self.doi}" if self.doi else citation

    @property
    def name(self) -> str:
        """The short name of a paper, its key in capitals; the key as it is if there is no paper."""
        return self.key.upper() if self.title else self.key

    @classmethod
    def unpublished(cls, key: str) -> Self:
        """Return a paper with only a key, for tables that belong to no paper."""
        return cls(key=key, title="", authors="", year=0)

    def unit_of(self, metric: str) -> Unit:
        """Return the unit of the measure `metric`, with the paper's margin if its file has one.

        An unknown name is no error: it has the unit of a share.
        """
        unit = unit_of(metric)
        return unit._replace(margin=self.margins.get(metric, unit.margin))

    def choose(self, id: str, value: str) -> ChosenReading:
        """Return the reading `id` with the value of the name `value`.

        It leaks if the paper's file says so of the value. A reading or value that the paper no
        longer declares does not leak, and is no error.
        """
        reading = self.readings.get(id)
        declared = reading.values.get(value) if reading else None
        return ChosenReading(id, value, declared is not None and declared.leaks)

    def read_label(self, text: str) -> tuple[ChosenReading, ...]:
        """Return the readings that a text `id=value;id=value` names; none for an empty text.

        This is the form of the column `reading` of CSV files. Ids and values are not checked.
        """
        pairs = (part.partition("=") for part in text.split(";") if part)
        return tuple(self.choose(id, value) for id, _, value in pairs)
