"""The contents of an experiment file: protocol, models and grids, readings, published values,
profiles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, model_validator

from elmbench.errors import ElmbenchError
from elmbench.specs.grids import SearchGrid
from elmbench.specs.limits import parse_limits
from elmbench.specs.measures import WrittenMeasure
from elmbench.specs.papers import Spec
from elmbench.specs.parameters import merge_parameters
from elmbench.specs.protocol import (
    BOOTSTRAP_632,
    FIXED_FITS,
    ONCE,
    Count,
    Folds,
    OuterOverride,
    Protocol,
    Selection,
    Selections,
)
from elmbench.specs.published import Published

#: The profiles: seconds, minutes, or the protocol as printed.
PROFILES = ("ci", "fast", "paper")
#: Values of a claim's data set for most or all data sets of the table.
MOST = "most"
ALL_OF_THEM = "all"


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
    """Raise ValueError if a name is not allowed; the message begins with `statement`."""
    for name in names:
        if name not in allowed:
            raise ValueError(
                f"{statement} {name!r}; expected one of {', '.join(allowed) or 'none'}"
            )


#: Names of hyperparameters in the grid of the table, or a grid of the column's own. Names are
#: replaced by their grid in `with_grid`, which every table is read with.
Searched = tuple[str, ...] | SearchGrid


def names_of(search: Searched) -> tuple[str, ...]:
    """Return the names of the hyperparameters that are searched, whether `search` is names or a
    grid.
    """
    return tuple(search.names) if isinstance(search, SearchGrid) else search


def _searched_grid(search: Searched, grids: SearchGrid) -> SearchGrid:
    """Return the grid that is searched: a column's own, or that of its names in `grids`, those of
    the table.
    """
    return search if isinstance(search, SearchGrid) else grids.select(search)


#: A hyperparameter that the paper prints, or its inverse, such as `C` or `1/sigma`.
PrintedName = Annotated[str, Field(pattern=r"^(1/)?[A-Za-z_]+$")]


class StandIn(Spec):
    """A model or parameters of our own in place of the paper's, in a few words each."""

    #: The model of the paper that ours replaces.
    model: str = ""
    #: The parameters of the paper that ours replace, such as those that it does not print.
    parameters: str = ""

    @model_validator(mode="after")
    def _replaces_something(self) -> StandIn:
        """Raise ValueError if neither a model nor parameters are named."""
        if not (self.model or self.parameters):
            raise ValueError("expected model, parameters or both, each in a few words")
        return self


class ModelOverride(Spec):
    """Changes to a column on one data set; each entry replaces the column's entry of that name."""

    #: The hyperparameters that are searched.
    search: Searched | None = None
    #: Parameters of the model.
    params: dict[str, JsonValue] = Field(default_factory=dict)
    #: Printed names of hyperparameters.
    printed: dict[str, PrintedName] = Field(default_factory=dict)
    #: What the column replaces on this data set by a model or parameters of our own.
    stands_in_for: StandIn | None = None

    def with_grid(self, grids: SearchGrid) -> ModelOverride:
        """Return the changes with a grid in place of the names of searched hyperparameters.
        `grids`: those of the table.
        """
        if self.search is None:
            return self
        return self.model_copy(update={"search": _searched_grid(self.search, grids)})

    def thin(self, step: int) -> ModelOverride:
        """Return the changes with every `step`-th value of their grid, the first included. Changes
        without a grid are returned as they are.
        """
        if not isinstance(self.search, SearchGrid):
            return self
        return self.model_copy(update={"search": self.search.thin(step)})


class ModelColumn(Spec):
    """One column of a table."""

    #: A model of `elmbench list models`, or the address `package.module:Class` of one.
    model: str
    #: The column from which this one takes hyperparameters before it searches its own.
    like: str | None = None
    #: The hyperparameters that are searched: names in `grids`, or a grid of the column's own.
    search: Searched = ()
    #: Parameters of the model that differ from its defaults.
    params: dict[str, JsonValue] = Field(default_factory=dict)
    #: The printed name of each hyperparameter, if it has another name or is the inverse: `gamma:
    #: 1/sigma`. A hyperparameter that is not searched has the printed value under every selection.
    printed: dict[str, PrintedName] = Field(default_factory=dict)
    #: Changes on single data sets, by name.
    overrides: dict[str, ModelOverride] = Field(default_factory=dict, alias="except")
    #: What the column replaces by a model or parameters of our own. Its values are shown, but not
    #: compared with the published ones.
    stands_in_for: StandIn | None = None
    #: The data sets that the column is for; all of the table if none is named.
    only: tuple[str, ...] = ()
    #: The data sets with published values that are not run, and the reasons.
    not_run: dict[str, str] = Field(default_factory=dict)
    #: With `folds`, a sequential model keeps its state from one outer fold of a run to the next, so
    #: it has seen test rows.
    carry_over: Literal["none", "folds"] = "none"
    #: The most training rows that the model learns in a fold, drawn at random; all by default.
    train_rows: int | None = Field(default=None, ge=1)

    def adapt(self, dataset: str) -> ModelColumn:
        """Return the column with its changes for one data set; the same column without any."""
        override = self.overrides.get(dataset)
        if override is None:
            return self
        change = {
            "params": merge_parameters(fixed=self.params, dataset=override.params),
            "printed": self.printed | override.printed,
            "search": self.search if override.search is None else override.search,
            "stands_in_for": override.stands_in_for or self.stands_in_for,
        }
        return self.model_copy(update=change)

    def runs_on(self, dataset: str) -> bool:
        """Return True if the column is run on a data set: `only` and `not_run` do not
        exclude it.
        """
        return (not self.only or dataset in self.only) and dataset not in self.not_run

    @property
    def searched(self) -> tuple[str, ...]:
        """The names of the hyperparameters that the column searches itself."""
        return names_of(self.search)

    @property
    def grid(self) -> SearchGrid:
        """The values of the hyperparameters that the column searches itself.

        Raises TypeError before `with_grid`: the column then knows the names alone.
        """
        if not isinstance(self.search, SearchGrid):
            raise TypeError(f"{self.search} are names of grids, without their values")
        return self.search

    def with_grid(self, grids: SearchGrid) -> ModelColumn:
        """Return the column with grids in place of the names of searched hyperparameters, also in
        its changes on single data sets.

        `grids`: those of the table.
        """
        overrides = {
            name: override.with_grid(grids) for name, override in self.overrides.items()
        }
        search = _searched_grid(self.search, grids)
        return self.model_copy(update={"search": search, "overrides": overrides})

    def thin(self, step: int) -> ModelColumn:
        """Return the column with every `step`-th value of its grid, the first included, and of the
        grids of its changes on single data sets. Raises TypeError before `with_grid`.
        """
        overrides = {
            name: override.thin(step) for name, override in self.overrides.items()
        }
        search = self.grid.thin(step)
        return self.model_copy(update={"search": search, "overrides": overrides})


#: Relations of a claim that need a margin, `within`.
MARGINS = ("close", "no-worse", "no-better")


class OtherComparison(Spec):
    """Another comparison in the sentence of a claim; missing entries come from the claim."""

    #: A data set, or `most` or `all`.
    dataset: str | None = None
    #: The measure that is compared.
    metric: WrittenMeasure | None = None
    #: The column that the sentence is about.
    model: str | None = None
    #: The columns that it is compared with.
    than: tuple[str, ...] | None = None


class Claim(Spec):
    """A sentence of the paper about a table, and the values that confirm or contradict it.

    The claim is that `metric` of `model` is `is` the same metric (or `than-metric`) of every column
    in `than`, or of all `others`. docs/claims.md defines the relations and how each is tested.
    """

    #: The wording of the paper; [...] marks omissions.
    says: str = Field(min_length=1)
    #: A data set, or `most` or `all` of the table's.
    dataset: str
    #: The measure that is compared.
    metric: WrittenMeasure
    #: The column that the sentence is about.
    model: str
    #: The relation of its value to those of the other columns.
    relation: Literal["above", "below", "close", "no-worse", "no-better", "between"] = (
        Field(alias="is")
    )
    #: The columns that it is compared with.
    than: tuple[str, ...] | Literal["others"]
    #: The measure of those columns, if it is a different one.
    than_metric: WrittenMeasure | None = None
    #: The margin of `close`, `no-worse` and `no-better`.
    within: float = Field(default=0.0, ge=0)
    #: Both ends of the ratio of the two values.
    between: tuple[float, float] | None = None
    #: On `most` data sets: count those on which it is true, instead of Wilcoxon's test of the
    #: differences.
    test: Literal["sign"] | None = None
    #: The other comparisons of the sentence; all must be true.
    also: tuple[OtherComparison, ...] = ()
    #: The reason why the paper's own values do not support the sentence.
    slip: str = ""

    @property
    def comparisons(self) -> tuple[Claim, ...]:
        """The comparisons of the claim, each as a separate claim: its own first, then one for each
        entry of `also`.
        """
        first = self.model_copy(update={"also": ()})
        changes = (
            {name: value for name, value in entry if value is not None}
            for entry in self.also
        )
        return (first, *(first.model_copy(update=change) for change in changes))

    @model_validator(mode="after")
    def _can_be_tested(self) -> Claim:
        """Raise ValueError if the parts of the claim do not fit together: `test` is for most data
        sets, `within` and `between` are for their relations, and ratios and margins for some
        measures only.
        """
        if self.test is not None and self.dataset != MOST:
            raise ValueError(
                f"test: {self.test} counts data sets; expected dataset: {MOST}, not {self.dataset}"
            )
        if (self.relation in MARGINS) != (self.within > 0):
            margins = f"expected a margin for {', '.join(MARGINS)} only"
            raise ValueError(
                f"is: {self.relation} with within: {self.within:g}; {margins}"
            )
        low, high = self.between or (0.0, 0.0)
        if (self.relation == "between") != (0 <= low < high):
            ends = "expected the two ends of a ratio for between only"
            raise ValueError(
                f"is: {self.relation} with between: {self.between}; {ends}"
            )
        is_time = self.metric.metric.endswith("_seconds")
        if is_time and self.relation in MARGINS:
            raise ValueError(
                f"{self.metric.column} is a time; expected is: above, below or between"
            )
        if (
            self.relation == "between"
            and not is_time
            and self.metric.metric not in ("nrmse", "rmse")
        ):
            raise ValueError(
                f"is: between of {self.metric.column}; expected a time or an error, which have "
                "ratios"
            )
        return self


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


class Expectation(Spec):
    """A verdict that is known, with its reason: `elmbench check --strict` accepts it, and objects
    when it changes.

    It is about a claim, about one published value (`dataset`, `model` and `metric`), or about a
    metric of the whole table.
    """

    #: The verdict in the words of `elmbench check`.
    verdict: str = Field(min_length=1)
    #: The reason, in one sentence.
    reason: str = Field(min_length=1)
    #: The beginning of a claim.
    claim: str = ""
    #: A metric of the table.
    metric: str = ""
    #: The data set of one published value.
    dataset: str = ""
    #: The column of one published value.
    model: str = ""

    @property
    def subject(self) -> str:
        """The subject of the expectation in words, such as 'the verdict on accuracy'."""
        if self.claim:
            return f"the claim {self.claim!r}"
        if self.model:
            return f"{self.metric} of {self.model} on {self.dataset}"
        return f"the verdict on {self.metric}"

    def is_of_table(self, metric: str) -> bool:
        """Return True if the expectation is about a metric of the whole table."""
        return self.metric == metric and not self.model

    @model_validator(mode="after")
    def _has_one_subject(self) -> Expectation:
        """Raise ValueError unless it is about a claim, the metric of the table, or one value."""
        names = (self.claim, self.metric, self.dataset, self.model)
        given = tuple(bool(name) for name in names)
        of_claim = (True, False, False, False)
        of_table = (False, True, False, False)
        of_value = (False, True, True, True)
        if given not in (of_claim, of_table, of_value):
            raise ValueError(
                "expected a claim, a metric, or a dataset with a model and a metric"
            )
        return self


class Experiment(Spec):
    """`experiments/<paper>/<table>.yaml`."""

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
        return self.id.split("/")[0]

    def with_grids(self) -> Experiment:
        """Return the table with grids in place of the names of hyperparameters that its columns
        search.
        """
        models = {
            column: model.with_grid(self.grids) for column, model in self.models.items()
        }
        return self.model_copy(update={"models": models})

    @model_validator(mode="after")
    def _datasets_exist(self) -> Experiment:
        """Raise ValueError if the protocol, a column, a profile, a claim or another part names a
        data set that the table lacks.
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
        """Raise ValueError if a column is like a later one, searches a grid that does not exist,
        both searches and fixes a hyperparameter, or if a claim names a column that does not exist.
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
        """Raise ValueError if the outer split is for fixed hyperparameters, but a column searches
        some, carries its state over, or limits its training rows under the .632 bootstrap.
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
        """Raise ValueError if a column searches hyperparameters, but the protocol does not name the
        inner splits and the selection.
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
        """Raise ValueError if a profile is unknown, or its stand-ins or columns contradict the
        table.
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
