"""The units of work of one data set of a table: what each is made of, and how its hyperparameters are found."""

from __future__ import annotations

from typing import Any

from elmbench.execution.units import FORMAT, Plan, Request, Unit
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.experiments import Model
from elmbench.specs.grids import Value
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import Outer, Splitter
from elmbench.specs.registry import find_model, model_version


class UnitMaker:
    """Declares units of one data set and adds searches to a plan.

    Parameters
    ----------
    plan : Plan
        What is added to.
    resolved : Resolved
        The experiment under a profile and readings.
    request : Request
    dataset : DatasetSpec

    Attributes
    ----------
    folds, runs : int
        Of this data set.
    options : dict
        Of generated data.
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

    def common(self, run: int, fold: int, identity: str) -> Unit:
        """Return what every unit of an outer fold says: the data, how they are split and scaled."""
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
                "scale": protocol.scale.content() if protocol.scale else None,
                "outer": self._splitter(protocol.outer, self.folds),
                "order": protocol.order,
            },
            "run": run,
            "fold": fold,
        }

    def _splitter(self, declared: Splitter | Outer, folds: int) -> dict[str, Any]:
        kind = declared.kind if self.dataset.task == "classification" else "kfold"
        return {"kind": kind, "folds": folds}

    def model(self, column: str, models: dict[str, Model]) -> Unit:
        """Return what a unit says of a column's model; of a chain, all have the random stream of the first."""
        entry = find_model(models[column].model)
        return {
            "model": entry.name,
            "version": model_version(entry, self.dataset.task),
            "stream": models[chain_of(column, models)[0]].model,
        }

    def stages(self, chain: list[str], models: dict[str, Model]) -> list[Any]:
        """Return what determines the hyperparameters of a column, data and folds left aside."""
        return [
            [self.model(column, models), models[column].params, *ordered(self.grid(models[column])).values()]
            for column in chain
        ]

    def fitted_singly(self, *models: Model) -> Unit:
        """Return what marks searches whose models are kept from sharing work; nothing where they have none to share.

        The scores are to be the same, and whether they are is seen where each way leaves results of its own. A search
        that takes the usual way has the key that it would have if there were no other.
        """
        searched = [find_model(model.model).factory(self.dataset.task) for model in models if self.grid(model)]
        able = any(hasattr(factory, "evaluate_grid") for factory in searched)
        return {"paths": False} if able and not self.request.paths else {}

    def grid(self, model: Model) -> dict[str, list[Value]]:
        """Return the values that are searched, by name; nothing where a column searches none of its own."""
        search = model.search
        grids = search if isinstance(search, dict) else {n: self.resolved.spec.grids[n] for n in search}
        return {name: grid.expand() for name, grid in grids.items()}

    def inner(self) -> dict[str, Any]:
        """Return how hyperparameters are searched on inner folds."""
        protocol = self.resolved.spec.protocol
        return {
            "inner": self._splitter(protocol.inner, protocol.inner.folds),
            "metric": protocol.metric_for(self.dataset.task),
            "tune_rows": self.resolved.settings.tune_rows,
        }

    def chosen_within(self) -> dict[str, Any]:
        """Return how hyperparameters are chosen from a training part alone: on inner folds, or by a divergence."""
        protocol = self.resolved.spec.protocol
        if protocol.criterion == "score":
            return self.inner()
        form = (
            {"dcs": self.resolved.spec.options.get("dcs", "corrected")} if protocol.criterion == "dcs-gaussians" else {}
        )
        return {"criterion": protocol.criterion, **form, "tune_rows": self.resolved.settings.tune_rows}

    def nested(self, chain: list[str], models: dict[str, Model], run: int, fold: int, identity: str) -> str | None:
        """Add the searches on the training part of one outer fold; return the key of the last one."""
        last: str | None = None
        how = self.chosen_within()
        for column in chain:
            grid = self.grid(models[column])
            if not grid:
                continue
            unit = {
                **self.common(run, fold, identity),
                **self.model(column, models),
                "params": models[column].params,
                **ordered(grid),
                **self.fitted_singly(models[column]),
                "given": last,
            }
            if "inner" in how:
                last = self.plan.add(unit | {"kind": "search", **how})
                continue
            # What is evaluated serves every criterion; which one is used concerns the choice alone.
            evaluated = self.plan.add(unit | {"kind": "divergence", "tune_rows": how["tune_rows"]})
            criterion = {name: value for name, value in how.items() if name != "tune_rows"}
            choice = {"kind": "choice", **ordered(grid), **criterion, "given": last, "evaluated": [evaluated]}
            last = self.plan.add(choice)
        return last

    def oracle(self, chain: list[str], models: dict[str, Model], identities: list[str]) -> str | None:
        """Add the evaluations of every candidate on the outer folds; return the key of the choice over all of them."""
        places = [(run, fold) for run in range(self.runs) for fold in range(self.folds)]
        last: str | None = None
        for column in chain:
            grid = self.grid(models[column])
            if not grid:
                continue
            shared = {
                **self.model(column, models),
                "params": models[column].params,
                **ordered(grid),
                **self.fitted_singly(models[column]),
                "metric": self.resolved.spec.protocol.metric_for(self.dataset.task),
                "given": last,
            }
            evaluated = [
                self.plan.add({**self.common(run, fold, identities[run]), **shared, "kind": "grid"})
                for run, fold in places
            ]
            last = self.plan.add({"kind": "choice", **ordered(grid), "given": last, "evaluated": evaluated})
        return last

    def measured(self, column: str, models: dict[str, Model], run: int, fold: int, identity: str) -> Unit:
        """Return the unit that goes through the values of a column's one hyperparameter without choosing any."""
        model, protocol = models[column], self.resolved.spec.protocol
        unit = {
            **self.common(run, fold, identity),
            **self.model(column, models),
            "params": model.params,
            **ordered(self.grid(model)),
        }
        if self.resolved.spec.layout == "curves":
            metric = protocol.metric_for(self.dataset.task)
            return unit | {"kind": "curve", **self.fitted_singly(model), "metric": metric}
        del unit["fold"]
        scale = {"protocol": {"scale": unit["protocol"]["scale"]}}
        options = self.resolved.spec.options
        draws = {name: options.get(name, 100) for name in ("projections", "operators")}
        return unit | {"kind": "correlation", **scale, "draws": draws, "dcs": options.get("dcs", "corrected")}


def ordered(grid: dict[str, list[Value]]) -> dict[str, Any]:
    """Return a grid as units have it: of equal candidates the first wins, so the order of names is part of a key."""
    return {"grid": grid, "grid_order": list(grid)}


def chain_of(column: str, models: dict[str, Model]) -> list[str]:
    """Return the columns that a column takes hyperparameters over from, the first one first, and itself."""
    like = models[column].like
    return [*(chain_of(like, models) if like else []), column]
