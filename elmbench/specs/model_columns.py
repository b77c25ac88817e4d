"""The columns of a table in an experiment file: models, fixed parameters and searched grids."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, model_validator

from elmbench.specs.grids import SearchGrid
from elmbench.specs.papers import Spec
from elmbench.specs.parameters import merge_parameters

#: Names of hyperparameters in the grid of the table, or a grid of the column's own. Names are
#: replaced by their grid in `with_grid`, which every table is read with.
Searched = tuple[str, ...] | SearchGrid


def names_of(search: Searched) -> tuple[str, ...]:
    """Return the names of the hyperparameters that are searched.

    `search`: these names, or a grid.
    """
    return tuple(search.names) if isinstance(search, SearchGrid) else search


def _searched_grid(search: Searched, grids: SearchGrid) -> SearchGrid:
    """Return the grid that is searched: a column's own, or that of its names in `grids`.

    `grids`: those of the table; KeyError if they lack a name.
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

        Changes that search nothing are returned as they are. `grids`: those of the table.
        """
        if self.search is None:
            return self
        return self.model_copy(update={"search": _searched_grid(self.search, grids)})

    def thin(self, step: int) -> ModelOverride:
        """Return the changes with every `step`-th value of their grid, the first included.

        Changes without a grid, or only with names of grids, are returned as they are.
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
        """Return the column with its changes for the data set `dataset`.

        If it has none, return the same object. Changed parameters, and names of printed ones,
        replace those of the same name only; a changed search replaces the whole one.
        """
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
        """Return True if the column is run on the data set `dataset`.

        That is, `only` and `not_run` do not exclude it.
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
        """Return the column with grids in place of the names of searched hyperparameters.

        Its changes on single data sets have grids too. A grid of its own stays. `grids`: those of
        the table. Raises KeyError if they lack a name.
        """
        overrides = {
            name: override.with_grid(grids) for name, override in self.overrides.items()
        }
        search = _searched_grid(self.search, grids)
        return self.model_copy(update={"search": search, "overrides": overrides})

    def thin(self, step: int) -> ModelColumn:
        """Return the column with every `step`-th value of its grid, the first included.

        The grids of its changes on single data sets are thinned too. Raises TypeError before
        `with_grid`.
        """
        overrides = {
            name: override.thin(step) for name, override in self.overrides.items()
        }
        search = self.grid.thin(step)
        return self.model_copy(update={"search": search, "overrides": overrides})
