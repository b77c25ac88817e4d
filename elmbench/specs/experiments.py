"""An experiment file: its profiles, and how its parts fit together."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue, model_validator

from elmbench.errors import ElmbenchError
from elmbench.specs.claims import ALL_OF_THEM, MOST, Claim, Expectation
from elmbench.specs.grids import SearchGrid
from elmbench.specs.limits import parse_limits
from elmbench.specs.model_columns import ModelColumn, names_of
from elmbench.specs.papers import Spec
from elmbench.specs.protocol import ONCE, Protocol, Selection, Selections
from elmbench.specs.published import Published
from elmbench.specs.splits import BOOTSTRAP_632, FIXED_FITS, Count, Folds, OuterOverride

#: The profiles: seconds, minutes, or the protocol as printed.
PROFILES = ("ci", "fast", "paper")


def _check_limit(limit: str) -> str:
    """Return the text of a limit; raise ValueError if it cannot be parsed."""
    try:
        parse_limits(limit)
    except ElmbenchError as error:
        raise ValueError(f"{error.found}; expected {error.expected}") from error
    return limit


LimitText = Annotated[str, AfterValidator(_check_limit)]


def _check_names(
    statement: str, names: Iterable[str], allowed: Collection[str]
) -> None:
    """Raise ValueError for the first of `names` that is not `allowed`.

    `statement`: the beginning of the message, which the name follows, such as `profiles names`.
    """
    for name in names:
        if name not in allowed:
            raise ValueError(
                f"{statement} {name!r}; expected one of {', '.join(allowed) or 'none'}"
            )


class Profile(Spec):
    """Changes of a profile to the printed protocol."""

    #: The data sets; all of the table by default.
    datasets: tuple[str, ...] | None = None
    #: Replace the table's data sets: for the regression check of profile `ci`, if the suite
    #: contains none of them.
    stand_ins: tuple[str, ...] = ()
    #: The columns; all of the table by default.
    models: tuple[str, ...] | None = None
    #: The number of runs.
    runs: Count | None = None
    #: The number of outer folds.
    folds: Folds | None = None
    #: Runs and folds of single data sets.
    overrides: dict[str, OuterOverride] = Field(default_factory=dict, alias="except")
    #: How hyperparameters are chosen.
    select: Selection | Selections | None = None
    #: Keep every n-th value of each grid.
    thin_grids: int | None = Field(default=None, ge=1)
    #: Use this many random rows of each data set, stratified by class.
    rows: int | None = Field(default=None, ge=20)
    #: Search hyperparameters on this many rows of the training part, drawn in the same way.
    tune_rows: int | None = Field(default=None, ge=20)
    #: Test on at most this many random rows of each test part, drawn in the same way.
    test_rows: int | None = Field(default=None, ge=20)


class Experiment(Spec):
    """A table of a paper, the content of `experiments/<paper>/<table>.yaml`."""

    #: The key of the paper and the name of the file, without its ending.
    id: str = Field(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")
    #: Short names of the table for commands.
    aliases: tuple[str, ...] = ()
    #: What the table shows.
    title: str
    #: The paper's name, such as "Table IV".
    label: str
    #: Names of data sets, in the order of the table.
    datasets: tuple[str, ...] = Field(min_length=1)
    #: Options of generated data, by data set.
    data: dict[str, dict[str, float]] = Field(default_factory=dict)
    #: Splits, scaling, selection and metrics.
    protocol: Protocol
    #: The values of each hyperparameter that columns search.
    grids: SearchGrid = Field(default_factory=lambda: SearchGrid({}))
    #: The columns of the table, by the names that the paper gives them.
    models: dict[str, ModelColumn] = Field(default_factory=dict)
    #: The kind of table, by its name (`elmbench.tables`).
    layout: str = "metrics"
    #: Options of the kind of table and of the kind of choice, such as the form of a formula.
    options: dict[str, JsonValue] = Field(default_factory=dict)
    #: Names of readings in `paper.yaml` that concern the table.
    readings: tuple[str, ...] = ()
    #: The data sets whose rows in the paper differ from the public files, and how. Their printed
    #: values are shown, but not compared.
    other_rows: dict[str, str] = Field(default_factory=dict)
    #: The printed values.
    published: Published | None = None
    #: Sentences of the paper about the table.
    claims: tuple[Claim, ...] = ()
    #: Verdicts that are known, with their reasons.
    expect: tuple[Expectation, ...] = ()
    #: The limits of a search or a fit, such as `time=600s,memory=4GB`.
    limit: LimitText = ""
    #: Separate limits for searches, which take as long as all their fits together.
    search_limit: LimitText = ""
    #: null for a profile without results of the table.
    profiles: dict[str, Profile | None] = Field(default_factory=dict)

    @property
    def paper(self) -> str:
        """The key of the paper, which is the first part of the id."""
        return self.id.split("/")[0]

    def with_grids(self) -> Experiment:
        """Return the table with grids in place of the names that its columns search."""
        models = {
            column: model.with_grid(self.grids) for column, model in self.models.items()
        }
        return self.model_copy(update={"models": models})

    @model_validator(mode="after")
    def _datasets_exist(self) -> Experiment:
        """Raise ValueError if a part of the table names a data set that the table lacks.

        Such parts are the protocol, columns, profiles, claims and expectations. Columns may also
        name the data sets of `sizes` and the stand-ins.
        """
        protocol = self.protocol
        profiles = {key: profile for key, profile in self.profiles.items() if profile}
        # A derived table may have fewer data sets and no stand-ins, while `sizes` still names the
        # others.
        sizes = set(protocol.outer.sizes)
        others = sizes.union(*(profile.stand_ins for profile in profiles.values()))
        names_in: dict[str, Iterable[str]] = {
            "protocol.outer.except": protocol.outer.overrides,
            "data": self.data,
            "protocol.raw-targets": protocol.raw_targets,
            "other-rows": set(self.other_rows) - sizes,
            "protocol.metrics-except": set(protocol.metrics_except) - sizes,
            "protocol.scale-except": set(protocol.scale_except) - sizes,
            "published.stand-ins": self.published.stand_ins if self.published else (),
            "claims": {
                part.dataset for claim in self.claims for part in claim.comparisons
            }
            - {MOST, ALL_OF_THEM},
            "expect": {part.dataset for part in self.expect if part.dataset},
        }
        for column, model in self.models.items():
            names_in[f"models.{column}"] = {
                *model.only,
                *model.not_run,
                *model.overrides,
            } - others
        for key, profile in profiles.items():
            names_in[f"profiles.{key}"] = (
                *(profile.datasets or ()),
                *profile.overrides,
            )
        for kind, names in names_in.items():
            _check_names(f"{kind} names", names, self.datasets)
        return self

    @model_validator(mode="after")
    def _columns_and_grids_exist(self) -> Experiment:
        """Raise ValueError if the table names a column or grid that it lacks.

        A column may be like an earlier one only. It is also an error if a column both searches and
        fixes a hyperparameter.
        """
        previous: list[str] = []
        for column, model in self.models.items():
            if model.like is not None and model.like not in previous:
                allowed = ", ".join(previous) or "there is none"
                raise ValueError(
                    f"{column} is like {model.like!r}; expected a column before it: {allowed}"
                )
            previous.append(column)
            for variant in (model, *map(model.adapt, model.overrides)):
                if isinstance(variant.search, tuple):
                    _check_names(
                        f"models.{column}.search names the grid",
                        variant.search,
                        self.grids.names,
                    )
                for name in set(variant.searched).intersection(variant.params):
                    raise ValueError(
                        f"models.{column} both searches and fixes {name!r}; expected one of the two"
                    )
        for index, claim in enumerate(self.claims):
            for part in claim.comparisons:
                columns = (part.model, *(() if part.than == "others" else part.than))
                _check_names(f"claims.{index} names the column", columns, self.models)
        return self

    @model_validator(mode="after")
    def _expectations_have_a_subject(self) -> Experiment:
        """Raise ValueError if an expectation names a column or a claim that does not exist."""
        for index, expectation in enumerate(self.expect):
            if expectation.model:
                subject = f"expect.{index} names the column"
                _check_names(subject, [expectation.model], self.models)
            begins_claim = any(
                claim.says.startswith(expectation.claim) for claim in self.claims
            )
            if expectation.claim and not begins_claim:
                raise ValueError(
                    f"expect.{index}.claim is {expectation.claim!r}; expected the beginning of "
                    "one of the claims"
                )
        return self

    @model_validator(mode="after")
    def _fits_have_fixed_parameters(self) -> Experiment:
        """Raise ValueError if an outer split for fixed hyperparameters has unsuitable columns.

        These search some (unless the only selection is `once`), carry their state over, or limit
        their training rows under the .632 bootstrap.
        """
        kind = self.protocol.outer.kind
        if kind not in FIXED_FITS:
            return self
        for column, model in self.models.items():
            problem = ""
            searches = any(model.adapt(name).searched for name in self.datasets)
            if searches and self.protocol.selections != (ONCE,):
                problem = "searches hyperparameters"
            elif model.carry_over != "none":
                problem = "carries its state over"
            elif kind == BOOTSTRAP_632 and model.train_rows is not None:
                problem = "has train-rows"
            if problem:
                raise ValueError(
                    f"models.{column} {problem}, but protocol.outer is {kind}; expected fits to "
                    f"all rows with fixed hyperparameters, or {FIXED_FITS[kind]}, which searches "
                    "on each fold"
                )
        return self

    @model_validator(mode="after")
    def _searches_are_described(self) -> Experiment:
        """Raise ValueError if columns search, but the protocol does not say how.

        It must then name the inner splits and the selection.
        """
        searching = [
            column
            for column, model in self.models.items()
            if model.searched
            or any(names_of(part.search or ()) for part in model.overrides.values())
        ]
        missing = [
            name
            for name in ("inner", "select")
            if name not in self.protocol.model_fields_set
        ]
        if searching and missing:
            raise ValueError(
                f"models.{searching[0]} searches hyperparameters, but protocol has no "
                f"{' and no '.join(missing)}; expected the inner splits and the selection"
            )
        return self

    @model_validator(mode="after")
    def _profiles_make_sense(self) -> Experiment:
        """Raise ValueError if a profile is unknown, or contradicts the table.

        Only its stand-ins and columns are checked here: stand-ins are for profile `ci` without
        `datasets`, and none is a data set of the table; columns exist, and come with those that
        they are like.
        """
        _check_names("profiles names", self.profiles, PROFILES)
        for key, profile in (
            (key, profile) for key, profile in self.profiles.items() if profile
        ):
            if profile.stand_ins and (key != "ci" or profile.datasets is not None):
                raise ValueError(
                    f"profiles.{key}.stand-ins: expected in profile ci only, and without datasets"
                )
            for name in set(profile.stand_ins).intersection(self.datasets):
                raise ValueError(
                    f"profiles.{key}.stand-ins names {name!r}, a data set of the table: see "
                    "datasets"
                )
            columns = profile.models or ()
            _check_names(f"profiles.{key}.models names", columns, self.models)
            for column in columns:
                if (base := self.models[column].like) not in (None, *columns):
                    raise ValueError(
                        f"profiles.{key}.models names {column!r} without {base!r}, which it is like"
                    )
        return self
