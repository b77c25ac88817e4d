"""The cells of one data set of a table, and the units of work that lead to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from elmbench.datasets import checksum_of
from elmbench.errors import DataUnavailableError
from elmbench.execution.declarations import UnitMaker, chain_of
from elmbench.execution.units import Plan, Request, Row, key_of
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.experiments import Model, Selection
from elmbench.specs.profiles import Resolved
from elmbench.specs.registry import find_model


class DatasetPlanner:
    """Adds the cells of one data set to a plan.

    Parameters
    ----------
    plan : Plan
        What is added to.
    resolved : Resolved
        The experiment under a profile and readings.
    request : Request
    dataset : DatasetSpec
    """

    def __init__(self, plan: Plan, resolved: Resolved, request: Request, dataset: DatasetSpec) -> None:
        self.plan = plan
        self.resolved = resolved
        self.request = request
        self.dataset = dataset
        self.units = UnitMaker(plan, resolved, request, dataset)
        # A rank correlation is taken over all rows: there are no folds.
        self.runs = self.units.runs
        self.folds = 1 if resolved.spec.layout == "spearman" else self.units.folds
        self.published = self._published()

    def _published(self) -> dict[str, dict[str, Any]]:
        """Return the paper's hyperparameters for this data set, by column."""
        return {
            model: params
            for (dataset, model), params in self.resolved.file.printed_parameters.items()
            if load_dataset_specs().find(dataset).name == self.dataset.name
        }

    def add_columns(self, columns: dict[str, Model]) -> None:
        """Add every cell of these columns."""
        models = self.resolved.spec.models | columns
        missing, identities = "", [""]
        try:
            identities = [self._identity(run) for run in range(self.runs)]
        except DataUnavailableError as error:
            missing = f"{error.found}; {error.next_step}" if error.next_step else error.found
        if self.resolved.spec.layout == "datasets":
            # Nothing is fitted for such a table, whatever models are asked for.
            self._add_description(identities[0], missing)
            return
        if self.resolved.spec.layout in ("curves", "spearman"):
            for column, model in columns.items():
                if not self._has_a_place(column, model):
                    continue
                if missing:
                    self._add_unavailable(column, self._first_selection(), missing)
                else:
                    self._add_measured(column, models, identities)
            return
        done: set[tuple[str, str]] = set()
        for select in self.request.select or self.resolved.spec.protocol.selections:
            for column, model in columns.items():
                params = self._printed(chain_of(column, models), models) if select == "published" else None
                # A column that the paper prints no hyperparameters for is searched.
                how: Selection = "nested" if select == "published" and params is None else select
                if getattr(find_model(model.model), self.dataset.task) is None or (column, how) in done:
                    continue
                done.add((column, how))
                if missing:
                    self._add_unavailable(column, how, missing)
                else:
                    self._add_column(column, models, how, params, identities)

    def _identity(self, run: int) -> str:
        run = run if self.dataset.redraw == "run" else 0
        if self.request.without_data:
            return "not loaded"
        return checksum_of(self.dataset, self.request.data_dir, run, self.units.options)

    def _add_unavailable(self, column: str, select: str, reason: str) -> None:
        for run in range(self.runs):
            for fold in range(self.folds):
                row = self._row(column, run, fold, select, key="", family="unavailable")
                self.plan.rows.append(replace(row, unavailable=reason))

    def _row(self, column: str, run: int, fold: int, select: str, key: str, family: str) -> Row:
        return Row(self.dataset.name, column, run, fold, select, self.resolved.reading, key, family)

    def _add_column(
        self,
        column: str,
        models: dict[str, Model],
        select: Selection,
        params: dict[str, Any] | None,
        identities: list[str],
    ) -> None:
        chain = chain_of(column, models)
        choice = self.units.oracle(chain, models, identities) if select == "oracle" else None
        singly = self.units.fitted_singly(*map(models.__getitem__, chain))
        family = key_of(
            [
                self.units.common(0, 0, identities[0]),
                self.units.stages(chain, models),
                models[column].carry_over,
                select,
                params,
                self.units.chosen_within() | singly if select == "nested" else None,
                # Over the outer folds of every run: with more runs, another one for all of them.
                choice,
            ]
        )
        for run in range(self.runs):
            for fold in range(self.folds):
                if select == "nested":
                    choice = self.units.nested(chain, models, run, fold, identities[run])
                if self.resolved.spec.layout == "parameters" and choice is not None:
                    # What was chosen is all that is shown, so nothing is fitted with it.
                    self.plan.rows.append(self._row(column, run, fold, select, choice, family))
                    continue
                unit = {
                    **self.units.common(run, fold, identities[run]),
                    **self.units.model(column, models),
                    "kind": "cell",
                    # What the column fixes stands, whatever the paper prints elsewhere.
                    "params": (params or {}) | models[column].params,
                    "carry_over": models[column].carry_over,
                    "chosen": choice,
                    **({"keep_outputs": True} if self.resolved.spec.layout == "precision-recall" else {}),
                }
                key = self.plan.add(unit)
                self.plan.rows.append(self._row(column, run, fold, select, key, family))

    def _has_a_place(self, column: str, model: Model) -> bool:
        """Tell whether a column that the table may not have itself varies what the table goes through."""
        own = column in self.resolved.spec.models
        able = getattr(find_model(model.model), self.dataset.task) is not None
        return able and (own or (self.resolved.spec.layout == "curves" and len(self.units.grid(model)) == 1))

    def _add_measured(self, column: str, models: dict[str, Model], identities: list[str]) -> None:
        """Add the cells of a column whose hyperparameters the table itself goes through: none is chosen."""
        select = self._first_selection()
        family = key_of(self.units.measured(column, models, 0, 0, identities[0]))
        for run in range(self.runs):
            for fold in range(self.folds):
                key = self.plan.add(self.units.measured(column, models, run, fold, identities[run]))
                self.plan.rows.append(self._row(column, run, fold, select, key, family))

    def _first_selection(self) -> Selection:
        """Return what cells are filed under in a table that chooses nothing, whatever selection is asked for."""
        return self.resolved.spec.protocol.selections[0]

    def _add_description(self, identity: str, missing: str) -> None:
        """Add the cell that says what the data set holds."""
        if missing:
            row = self._row("data", 0, 0, "published", key="", family="unavailable")
            self.plan.rows.append(replace(row, unavailable=missing))
            return
        common = self.units.common(0, 0, identity)
        unit = {name: common[name] for name in ("format", "task", "dataset")} | {"kind": "description"}
        key = self.plan.add(unit)
        self.plan.rows.append(self._row("data", 0, 0, "published", key, family=key))

    def _printed(self, chain: list[str], models: dict[str, Model]) -> dict[str, Any] | None:
        """Return the printed hyperparameters of a column and of those that it is like; None unless all are there."""
        params: dict[str, Any] = {}
        for column in chain:
            printed = self.published.get(column, {})
            if set(self.units.grid(models[column])) - set(printed):
                return None
            params |= printed
        return params
