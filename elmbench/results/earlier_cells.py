"""Reading of the `cells.csv` of an earlier run."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from elmbench.errors import ElmbenchError, ElmbenchWarning
from elmbench.execution.store import Store
from elmbench.registry.scorers import find_metric
from elmbench.results.cells import CELL_NAMES, KEY, TIMES, cells_frame, read_cells
from elmbench.results.folders import CELLS, results_folder
from elmbench.specs.profiles import Resolved, command_for
from elmbench.tables import add_metrics, kind_of_table
from elmbench.tasks.plan import Cell


@dataclass(frozen=True)
class EarlierCells:
    """The cells of an earlier run.

    Attributes
    ----------
    folder : path
        The folder of their files.
    cells : DataFrame
        The lines of `cells.csv`, with a column for each measure of the table.
    resolved : Resolved
        The table, with the added metrics.
    left_out : str
        A sentence on cells that are left out, because this installation lacks their data set.
    """

    folder: Path
    cells: pd.DataFrame
    resolved: Resolved
    left_out: str


def read_earlier_cells(
    resolved: Resolved, results_dir: Path, metrics: Sequence[str] = ()
) -> EarlierCells:
    """Read the `cells.csv` of a table.

    `metrics`: more metrics to show; those that `cells.csv` lacks are computed from the predictions
    in the store. The experiment of the result then has them, too. Measures that the specification
    has, but `cells.csv` lacks, are columns of NaN. Cells of unknown data sets are left out, with a
    warning. Raises ElmbenchError if there is no `cells.csv`, or neither it nor the store has the
    predictions for a metric.
    """
    folder = results_folder(results_dir, resolved.profile, resolved.file.id)
    cells = read_cells(folder / CELLS)
    left_out = ""
    if unknown := [
        name for name in cells["dataset"].unique() if not resolved.has_dataset(name)
    ]:
        cells = cells[~cells["dataset"].isin(unknown)].reset_index(drop=True)
        left_out = (
            f"cells.csv: cells of {', '.join(unknown)} are not comparable and left out: this "
            "installation lacks "
        )
        left_out += "the data set (elmbench list datasets)"
        warnings.warn(f"{folder}/{left_out}", ElmbenchWarning, stacklevel=3)
    if metrics:
        resolved = add_metrics(resolved, metrics)
        missing = [name for name in metrics if name not in cells]
        cells = cells.join(_stored_metrics(cells, missing, resolved, results_dir))
    # The specification may have more measures than at the time of the run.
    names = [*(measure.column for measure in kind_of_table(resolved).values()), *TIMES]
    if lacking := [name for name in names if name not in cells]:
        cells = cells.reindex(columns=[*cells, *lacking])
    return EarlierCells(folder, cells, resolved, left_out)


def _stored_metrics(
    cells: pd.DataFrame, names: Sequence[str], resolved: Resolved, results_dir: Path
) -> pd.DataFrame:
    """Return a column for each metric, computed from the stored predictions of cells.

    It has the lines of `cells`; NaN for cells without predictions. `names`: of the metrics; without
    any, the frame has no columns. Raises ElmbenchError if the store lacks the result of a cell that
    ended ok, of a data set that one of the metrics is for.
    """
    store = Store(results_dir)
    profile = resolved.profile
    experiment = resolved.file.id
    if not names:
        planned = []
    elif KEY in cells:
        # The last command that requested cells may not be the one that wrote these.
        lines = (
            cells.loc[cells[KEY] != "", [*CELL_NAMES, KEY]]
            .assign(family="")
            .astype(object)
        )
        planned = [Cell(*line) for line in lines.itertuples(index=False)]
    else:
        planned = store.cells(profile, experiment)
    stored = cells_frame(planned, store, [*names], resolved)
    metrics = cells[CELL_NAMES].merge(
        stored[[*CELL_NAMES, *names]], "left", CELL_NAMES, indicator="origin"
    )
    tasks = cells["dataset"].map(lambda name: resolved.dataset(name).task)
    is_needed = (cells["status"] == "ok") & tasks.isin(
        [find_metric(name).task for name in names]
    )
    if missing := int((is_needed & (metrics["origin"] == "left_only")).sum()):
        raise ElmbenchError(
            f"cells.csv of {experiment} ({profile}) has no column {', '.join(names)}, and "
            f"{store.root} lacks the "
            f"predictions of {missing} of {len(cells)} cells",
            expected="the store of the run that wrote cells.csv",
            next_step=f"{command_for(profile, experiment)}, then this command again",
        )
    return metrics[[*names]].astype(float)
