"""What an experiment file says: protocol, models and grids, readings, published values, profiles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from elmbench.errors import ElmbenchError
from elmbench.specs.grids import Grid
from elmbench.specs.limits import parse_limits
from elmbench.specs.papers import Spec
from elmbench.specs.protocol import Metric, OuterOverride, Protocol, Selection

#: A metric of a network of one size, as layout `curves` has it.
OfSize = Annotated[str, Field(pattern=r"^[a-z]+@h=[0-9]+$")]
#: What may be asked for: seconds, minutes, or the protocol as printed.
PROFILES = ("ci", "fast", "paper")
#: What a claim on the greater part of the data sets has in place of one.
MOST = "most"


class Model(Spec):
    """One column of a table."""

    model: str
    #: The column whose hyperparameters this one takes over before it searches its own.
    like: str | None = None
    search: tuple[str, ...] | dict[str, Grid] = ()
    params: dict[str, JsonValue] = Field(default_factory=dict)
    #: What a sequential model keeps from one outer fold of a run to the next: with `folds` it has seen test rows.
    carry_over: Literal["none", "folds"] = "none"


class Published(Spec):
    """CSV files beside the experiment file."""

    values: str | None = None
    parameters: str | None = None
    #: Metrics that the paper prints under another's name: as printed -> as it must be meant.
    meant: dict[str, str] = Field(default_factory=dict)


class Claim(Spec):
    """A sentence of the paper about a table, and what of the results would bear it out.

    `metric` of `model` lies `is` (above, below or close) `factor` times that (or `than-metric`) of every column of
    `than`, or of all `others`; close means at most `within` apart. On data set `most` it is held against all of the
    table's, and stands where it is true of more than half of those that were run.
    """

    says: str
    dataset: str
    metric: Metric | OfSize
    model: str
    relation: Literal["above", "below", "close"] = Field(alias="is")
    than: tuple[str, ...] | Literal["others"]
    than_metric: Metric | OfSize | None = None
    factor: float = 1.0
    within: float = 0.0


class Profile(Spec):
    """What a profile changes about the printed protocol."""

    datasets: tuple[str, ...] | None = None
    #: Data sets that the table does not have, in place of its own: for the regression check of profile `ci`, where
    #: none of its own ships with the suite.
    stand_ins: tuple[str, ...] = ()
    models: tuple[str, ...] | None = None
    runs: int | None = Field(default=None, ge=1)
    folds: int | None = Field(default=None, ge=2)
    #: Runs and folds of single data sets.
    overrides: dict[str, OuterOverride] = Field(default_factory=dict, alias="except")
    select: Selection | tuple[Selection, ...] | None = None
    #: Keep every n-th value of each grid.
    thin_grids: int | None = Field(default=None, ge=1)
    #: Keep so many rows of each data set, drawn at random (by class where there are classes).
    rows: int | None = Field(default=None, ge=20)
    #: Search hyperparameters on so many rows of the training part (drawn in the same way).
    tune_rows: int | None = Field(default=None, ge=20)


class Experiment(Spec):
    """`experiments/<paper>/<table>.yaml`."""

    id: str = Field(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")
    aliases: tuple[str, ...] = ()
    title: str
    #: How the paper calls it, such as "Table IV".
    label: str
    datasets: tuple[str, ...] = Field(min_length=1)
    #: Options of generated data, by data set.
    data: dict[str, dict[str, float]] = Field(default_factory=dict)
    protocol: Protocol
    grids: dict[str, Grid] = Field(default_factory=dict)
    models: dict[str, Model] = Field(default_factory=dict)
    #: The kind of table, by its name (`elmbench.layouts`).
    layout: str = "metrics"
    #: Options of the kind of table and of the kind of choice, such as the form of a formula.
    options: dict[str, JsonValue] = Field(default_factory=dict)
    readings: tuple[str, ...] = ()
    published: Published | None = None
    claims: tuple[Claim, ...] = ()
    #: Of time and memory for every search and every fit, such as `time=600s,memory=4GB`.
    limit: str = ""
    #: Of every search, where that is to be another: a grid takes as long as all its fits together.
    search_limit: str = ""
    #: A table that has nothing to show under a profile has null there.
    profiles: dict[str, Profile | None] = Field(default_factory=dict)

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    @property
    def table(self) -> str:
        return self.id.split("/")[1]

    @field_validator("limit", "search_limit")
    @classmethod
    def _limit_reads(cls, limit: str) -> str:
        try:
            parse_limits(limit)
        except ElmbenchError as error:
            raise ValueError(f"{error.found}; expected {error.expected}") from error
        return limit

    @field_validator("models")
    @classmethod
    def _like_is_a_column_before(cls, models: dict[str, Model]) -> dict[str, Model]:
        seen: list[str] = []
        for column, model in models.items():
            if model.like is not None and model.like not in seen:
                allowed = ", ".join(seen) or "none stands before it"
                raise ValueError(f"{column} is like {model.like!r}; expected a column that stands before it: {allowed}")
            seen.append(column)
        return models

    @model_validator(mode="after")
    def _names_exist(self) -> Experiment:
        for column, model in self.models.items():
            for name in model.search:
                if isinstance(model.search, tuple) and name not in self.grids:
                    raise ValueError(
                        f"models.{column}.search names the grid {name!r}; expected one of {', '.join(self.grids)}"
                    )
                if name in model.params:
                    raise ValueError(f"models.{column} both searches and fixes {name!r}; expected one of the two")
            if self.layout in ("curves", "rank-correlation"):
                self._varies_one_hyperparameter(column, model)
        if not self.models and self.layout != "datasets":
            raise ValueError("models is empty; expected at least one column")
        places: dict[str, Iterable[str]] = {"protocol.outer.except": self.protocol.outer.overrides, "data": self.data}
        places |= {
            f"profiles.{key}": (*(profile.datasets or ()), *profile.overrides)
            for key, profile in self.profiles.items()
            if profile
        }
        places |= {"claims": [claim.dataset for claim in self.claims if claim.dataset != MOST]}
        for kind, names in places.items():
            for name in names:
                if name not in self.datasets:
                    raise ValueError(f"{kind} names {name!r}; expected one of {', '.join(self.datasets)}")
        return self

    def _varies_one_hyperparameter(self, column: str, model: Model) -> None:
        names = list(model.search)
        if len(names) != 1 or (self.layout == "rank-correlation" and names != ["n_hidden"]):
            expected = "n_hidden" if self.layout == "rank-correlation" else "one hyperparameter"
            raise ValueError(f"models.{column} searches {', '.join(names) or 'nothing'}; expected {expected}")
        if model.like is not None:
            raise ValueError(f"models.{column} is like {model.like!r}; expected a column that takes over nothing")
        if self.layout == "rank-correlation" and "activation" not in model.params:
            raise ValueError(f"models.{column}.params lacks activation; expected that of the random hidden nodes")

    @model_validator(mode="after")
    def _profiles_make_sense(self) -> Experiment:
        for key, profile in self.profiles.items():
            if key not in PROFILES:
                raise ValueError(f"profiles names {key!r}; expected one of {', '.join(PROFILES)}")
            if profile and profile.stand_ins:
                if key != "ci" or profile.datasets is not None:
                    raise ValueError(f"profiles.{key}.stand-ins: expected in profile ci only, and without datasets")
                for name in set(profile.stand_ins).intersection(self.datasets):
                    raise ValueError(f"profiles.{key}.stand-ins names {name!r}, a data set of the table: see datasets")
            kept = (profile.models if profile else None) or ()
            for column in kept:
                if column not in self.models:
                    raise ValueError(
                        f"profiles.{key}.models names {column!r}; expected one of {', '.join(self.models)}"
                    )
                like = self.models[column].like
                if like is not None and like not in kept:
                    raise ValueError(f"profiles.{key}.models names {column!r} without {like!r}, which it is like")
        return self
