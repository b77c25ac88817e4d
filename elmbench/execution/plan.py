"""Planning: which cells a table has under a profile and readings, and which units of work lead to them.

A unit is a plain dictionary of what determines its value; the hash of that is its key. So two tables that need the
same cell share it, and whatever a reading does not touch is not computed again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

from elmbench.datasets import dataset_identity
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.catalogue import Resolved
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.experiments import Model, Selection, Splitter
from elmbench.specs.grids import Value
from elmbench.specs.published import published_parameters
from elmbench.specs.registry import find_model, model_version, registry

Unit = dict[str, Any]

#: Raised when the meaning of a stored result changes without anything in its unit changing.
FORMAT = 1


def key_of(content: Any) -> str:
    """Return the key of a unit: 32 hexadecimal digits of the SHA-256 of its canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Row:
    """A cell as a table shows it, and the unit that it is computed by.

    Attributes
    ----------
    dataset, model : str
        The suite's name of the data set; the column.
    run, fold : int
        Counted from 0.
    select, reading : str
    key : str
        Of the unit; empty for a cell that cannot run.
    family : str
        Hash of all that the cells of one table entry share; a change of it makes older ones stale.
    unavailable : str
        Why it cannot run.
    """

    dataset: str
    model: str
    run: int
    fold: int
    select: str
    reading: str
    key: str
    family: str
    unavailable: str = ""


@dataclass
class Plan:
    """The cells that were asked for and every unit that they need.

    Attributes
    ----------
    rows : list of Row
    units : dict of str to dict
        By key; a unit stands after those that it needs.
    """

    rows: list[Row] = field(default_factory=list)
    units: dict[str, Unit] = field(default_factory=dict)

    def add(self, unit: Unit) -> str:
        key = key_of(unit)
        self.units.setdefault(key, unit)
        return key


@dataclass(frozen=True)
class Request:
    """What a user asks for, besides the experiment, profile and readings.

    Attributes
    ----------
    datasets, models : tuple of str
        Names to keep; all when empty. A model may be a column, or any name of the registry, which adds a column.
    select : tuple of str
        Selections in place of the profile's.
    runs : int or None
        Runs in place of the profile's.
    with_baselines : bool
        Add the registry's baselines as columns.
    data_dir : str or None
    without_data : bool
        Plan as if every data set were here, without loading any: for what a table would cost, never for a run.
    """

    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    select: tuple[Selection, ...] = ()
    runs: int | None = None
    with_baselines: bool = False
    data_dir: str | None = None
    without_data: bool = False


def needs(unit: Unit) -> list[str]:
    """Return the keys of the units whose results this one takes."""
    return [*unit.get("evaluated", ()), *(unit[k] for k in ("given", "chosen") if unit.get(k))]


def make_plan(resolved: Resolved, request: Request) -> Plan:
    """Return the plan of one experiment.

    Raises
    ------
    ElmbenchError
        If a data set or model that is asked for does not exist, or a data file is bad.
    """
    plan = Plan()
    columns = _columns(resolved, request)
    for name in _datasets(resolved, request):
        _DatasetPlanner(plan, resolved, request, load_dataset_specs().find(name)).add_columns(columns)
    return plan


def _datasets(resolved: Resolved, request: Request) -> list[str]:
    available = list(resolved.spec.datasets)
    if not request.datasets:
        return available
    wanted = [load_dataset_specs().find(name).name for name in request.datasets]
    for name in wanted:
        if name not in resolved.file.spec.datasets:
            raise ElmbenchError(
                f"{resolved.file.id} has no data set {name!r}",
                expected=f"one of {', '.join(resolved.file.spec.datasets)}",
                next_step=f"elmbench show {resolved.file.id}",
            )
    return wanted


def _columns(resolved: Resolved, request: Request) -> dict[str, Model]:
    """Return the columns to fill: those of the table, and extra ones from the registry with their default grids."""
    own = resolved.spec.models
    extra = [entry.name for entry in registry().values() if entry.baseline] if request.with_baselines else []
    chosen: dict[str, Model] = {}
    for name in request.models:
        matches = [column for column, model in own.items() if name.lower() == column.lower() or name == model.model]
        if matches:
            chosen |= {column: own[column] for column in matches}
        else:
            extra.append(find_model(name).name)
    if not request.models:
        chosen = dict(own)
    return chosen | {name: extra_column(name) for name in extra if _fits_some(resolved, name)}


def _fits_some(resolved: Resolved, name: str) -> bool:
    tasks = {load_dataset_specs().find(dataset).task for dataset in resolved.spec.datasets}
    return any(getattr(find_model(name), task) is not None for task in tasks)


def extra_column(name: str) -> Model:
    """Return a column for a model of the registry that the table does not have."""
    grid = {key: {"values": list(values)} for key, values in find_model(name).grid.items()}
    return Model.model_validate({"model": name, "search": grid})


class _DatasetPlanner:
    """Adds the cells of one data set to a plan."""

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
        spec = self.resolved.file.spec
        if spec.published is None or spec.published.parameters is None:
            return {}
        table = published_parameters(self.resolved.file.path.parent / spec.published.parameters)
        return {
            model: params
            for (dataset, model), params in table.items()
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
            self._add_description(identities[0], missing)
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
                self._inner() if select == "nested" else None,
                # Over the outer folds of every run: with more runs, another one for all of them.
                choice,
            ]
        )
        for run in range(self.runs):
            for fold in range(self.folds):
                if select == "nested":
                    choice = self._nested(chain, models, run, fold, identities[run])
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
