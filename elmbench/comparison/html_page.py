"""The page of a comparison, and the permutation importance of the columns that it shows."""

import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd

from elmbench.datasets.load import load_from_spec
from elmbench.evaluation.model_order import rank_models
from elmbench.files import write_atomically
from elmbench.report.site.pages import comparison_html
from elmbench.report.table_results import Results
from elmbench.results.cells import write_frame
from elmbench.results.folders import IMPORTANCE
from elmbench.results.predictions_file import predictions_frame
from elmbench.results.write_cells import has_cells
from elmbench.runs.prepare import PreparedRun
from elmbench.tasks.fit import Fit
from elmbench.tasks.importance import Importance
from elmbench.tasks.plan import Plan


def plan_importance(run: PreparedRun, results: Results) -> PreparedRun:
    """Plan the permutation importance of the columns of a comparison; compute nothing yet.

    It is that for the best model on each data set, on its test folds. Data sets with sparse rows or
    without a ranked model are left out. `run`: the carried-out plan of the comparison. A budget
    that it has spent does not count.
    """
    ((resolved, plan),) = run.tables
    best = {
        name: rank_models(results.summary, name, resolved).models[:1]
        for name, spec in resolved.datasets.items()
        if not spec.sparse
    }
    importance_plan = Plan()
    for cell in plan.cells:
        task = run.tasks.get(cell.key)
        if cell.model in best.get(cell.dataset, ()) and isinstance(task, Fit):
            metric = resolved.metric_of(cell.dataset)
            shared = {field.name: getattr(task, field.name) for field in fields(Fit)}
            importance_plan.cells.append(
                replace(
                    cell, key=importance_plan.add(Importance(**shared, metric=metric))
                )
            )
    return replace(
        run,
        options=replace(run.options, until=math.inf),
        tables=[(resolved, importance_plan)],
    )


def reasons_of_failures(run: PreparedRun) -> list[str]:
    """Return the different reasons of planned tasks that have not ended ok; [] if there are none.

    `run`: a carried-out plan. Tasks without a result are skipped.
    """
    results = [run.store.result(key) or {} for key in run.tasks]
    return list(
        dict.fromkeys(result["reason"] for result in results if result.get("reason"))
    )


def importance_of(run: PreparedRun) -> pd.DataFrame:
    """Return a line for each column of each data set, the most important column of each first.

    The columns are `column`, `importance` (the mean loss of the metric when the column is shuffled,
    over the test parts), `std` (its deviation over them, NaN for one), `folds` (their number),
    `dataset`, `model` and `metric`. Test parts without a result do not count; the frame is empty if
    no part has one. `run`: the carried-out plan of `plan_importance`.
    """
    ((resolved, plan),) = run.tables
    parts = []
    for name, spec in resolved.datasets.items():
        cells = [cell for cell in plan.cells if cell.dataset == name]
        results = [run.store.result(cell.key) or {} for cell in cells]
        losses = np.array(
            [result["importances"] for result in results if "importances" in result]
        )
        if len(losses):
            columns = {
                "column": load_from_spec(spec).feature_names,
                "importance": losses.mean(axis=0),
            }
            labels = {
                "dataset": name,
                "model": cells[0].model,
                "metric": resolved.metric_of(name),
            }
            lines = pd.DataFrame(
                columns | {"std": pd.DataFrame(losses).std(), "folds": len(losses)}
            ).assign(**labels)
            parts.append(
                lines.sort_values("importance", ascending=False, kind="stable")
            )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def write_page(
    run: PreparedRun, importance: PreparedRun, results: Results, path: Path
) -> None:
    """Write the HTML page of a comparison to `path`, and `importance.csv` beside its tables.

    The latter is left out if there is no importance, or if another command has replaced the tables.
    `run`: the carried-out plan of the comparison. `importance`: that of `plan_importance`.
    """
    losses = importance_of(importance)
    with run.store.writing_tables():
        if len(losses) and has_cells(results.folder, results.cells):
            write_frame(losses, results.folder / IMPORTANCE)
    ((resolved, plan),) = run.tables
    write_atomically(
        path,
        comparison_html(
            results, predictions_frame(plan.cells, run.store, resolved), losses
        ),
    )
