"""The cells of one data set of a table, and the units of work that lead to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from elmbench.datasets import dataset_identity
from elmbench.errors import DataUnavailableError
from elmbench.execution.units import FORMAT, Plan, Request, Row, Unit, key_of
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.experiments import Model, Selection, Splitter
from elmbench.specs.grids import Value
from elmbench.specs.profiles import Resolved
from elmbench.specs.registry import find_model, model_version


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
        protocol = resolved.spec.protocol
        override = protocol.outer.overrides.get(dataset.name)
        self.folds = (override.folds if override else None) or protocol.outer.folds
        self.runs = request.runs or (override.runs if override else None) or protocol.outer.runs
        self.options = dict(resolved.spec.data.get(dataset.name, {}))
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
        done: set[tuple[str, str]] = set()
        for select in self.request.select or self.resolved.spec.protocol.selections:
            for column, model in columns.items():
                params = self._printed(_chain(column, models), models) if select == "published" else None
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
        return dataset_identity(self.dataset.name, self.request.data_dir, run=run, options=self.options)

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
        chain = _chain(column, models)
        choice = self._oracle(chain, models, identities) if select == "oracle" else None
        family = key_of(
            [
                self._common(0, 0, identities[0]),
                self._stages(chain, models),
                models[column].carry_over,
                select,
                params,
                self._inner() | self._fitted_singly(*map(models.__getitem__, chain)) if select == "nested" else None,
                # Over the outer folds of every run: with more runs, another one for all of them.
                choice,
            ]
        )
        for run in range(self.runs):
            for fold in range(self.folds):
                if select == "nested":
                    choice = self._nested(chain, models, run, fold, identities[run])
                if self.resolved.spec.layout == "parameters" and choice is not None:
                    # What was chosen is all that is shown, so nothing is fitted with it.
                    self.plan.rows.append(self._row(column, run, fold, select, choice, family))
                    continue
                unit = {
                    **self._common(run, fold, identities[run]),
                    **self._model(column, models),
                    "kind": "cell",
                    # What the column fixes stands, whatever the paper prints elsewhere.
                    "params": (params or {}) | models[column].params,
                    "carry_over": models[column].carry_over,
                    "chosen": choice,
                    **({"keep_outputs": True} if self.resolved.spec.layout == "precision-recall" else {}),
                }
                key = self.plan.add(unit)
                self.plan.rows.append(self._row(column, run, fold, select, key, family))

    def _add_description(self, identity: str, missing: str) -> None:
        """Add the cell that says what the data set holds."""
        if missing:
            row = self._row("data", 0, 0, "published", key="", family="unavailable")
            self.plan.rows.append(replace(row, unavailable=missing))
            return
        common = self._common(0, 0, identity)
        unit = {name: common[name] for name in ("format", "task", "dataset")} | {"kind": "description"}
        key = self.plan.add(unit)
        self.plan.rows.append(self._row("data", 0, 0, "published", key, family=key))

    def _common(self, run: int, fold: int, identity: str) -> Unit:
        protocol = self.resolved.spec.protocol
        return {
            "format": FORMAT,
            "task": self.dataset.task,
            "dataset": {
                "name": self.dataset.name,
                "identity": identity,
                "run": run if self.dataset.redraw == "run" else 0,
                "options": self.options,
                "rows": self.resolved.settings.rows,
            },
            "protocol": {
                "scale": protocol.scale.model_dump(by_alias=True, mode="json") if protocol.scale else None,
                "outer": self._splitter(protocol.outer, self.folds),
                "order": protocol.order,
            },
            "run": run,
            "fold": fold,
        }

    def _splitter(self, declared: Splitter, folds: int) -> dict[str, Any]:
        kind = declared.kind if self.dataset.task == "classification" else "kfold"
        return {"kind": kind, "folds": folds}

    def _model(self, column: str, models: dict[str, Model]) -> Unit:
        entry = find_model(models[column].model)
        return {
            "model": entry.name,
            "version": model_version(entry, self.dataset.task),
            "stream": models[_chain(column, models)[0]].model,
        }

    def _stages(self, chain: list[str], models: dict[str, Model]) -> list[Any]:
        return [
            [self._model(column, models), models[column].params, *_ordered(self._grid(models[column])).values()]
            for column in chain
        ]

    def _fitted_singly(self, *models: Model) -> Unit:
        """Return what marks searches whose models are kept from sharing work; nothing where they have none to share.

        The scores are to be the same, and whether they are is seen where each way leaves results of its own. A search
        that takes the usual way has the key that it would have if there were no other.
        """
        searched = [find_model(model.model).factory(self.dataset.task) for model in models if self._grid(model)]
        able = any(hasattr(factory, "evaluate_grid") for factory in searched)
        return {"paths": False} if able and not self.request.paths else {}

    def _grid(self, model: Model) -> dict[str, list[Value]]:
        search = model.search
        grids = search if isinstance(search, dict) else {n: self.resolved.spec.grids[n] for n in search}
        return {name: grid.expand() for name, grid in grids.items()}

    def _printed(self, chain: list[str], models: dict[str, Model]) -> dict[str, Any] | None:
        """Return the printed hyperparameters of a column and of those that it is like; None unless all are there."""
        params: dict[str, Any] = {}
        for column in chain:
            printed = self.published.get(column, {})
            if set(self._grid(models[column])) - set(printed):
                return None
            params |= printed
        return params

    def _nested(self, chain: list[str], models: dict[str, Model], run: int, fold: int, identity: str) -> str | None:
        """Add the searches on the inner folds of one outer fold; return the key of the last one."""
        last: str | None = None
        for column in chain:
            grid = self._grid(models[column])
            if grid:
                last = self.plan.add(
                    {
                        **self._common(run, fold, identity),
                        **self._model(column, models),
                        "kind": "search",
                        "params": models[column].params,
                        **_ordered(grid),
                        **self._fitted_singly(models[column]),
                        **self._inner(),
                        "given": last,
                    }
                )
        return last

    def _inner(self) -> dict[str, Any]:
        """Return how hyperparameters are searched on inner folds."""
        protocol = self.resolved.spec.protocol
        return {
            "inner": self._splitter(protocol.inner, protocol.inner.folds),
            "metric": protocol.metric_for(self.dataset.task),
            "tune_rows": self.resolved.settings.tune_rows,
        }

    def _oracle(self, chain: list[str], models: dict[str, Model], identities: list[str]) -> str | None:
        """Add the evaluations of every candidate on the outer folds; return the key of the choice over all of them."""
        places = [(run, fold) for run in range(self.runs) for fold in range(self.folds)]
        last: str | None = None
        for column in chain:
            grid = self._grid(models[column])
            if not grid:
                continue
            shared = {
                **self._model(column, models),
                "params": models[column].params,
                **_ordered(grid),
                **self._fitted_singly(models[column]),
                "metric": self.resolved.spec.protocol.metric_for(self.dataset.task),
                "given": last,
            }
            evaluated = [
                self.plan.add({**self._common(run, fold, identities[run]), **shared, "kind": "grid"})
                for run, fold in places
            ]
            last = self.plan.add({"kind": "choice", **_ordered(grid), "given": last, "evaluated": evaluated})
        return last


def _ordered(grid: dict[str, list[Value]]) -> dict[str, Any]:
    """Return a grid as units have it: of equal candidates the first wins, so the order of names is part of a key."""
    return {"grid": grid, "grid_order": list(grid)}


def _chain(column: str, models: dict[str, Model]) -> list[str]:
    like = models[column].like
    return [*(_chain(like, models) if like else []), column]
