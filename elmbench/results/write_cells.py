"""Writing of the files that come from the store: `cells.csv`, `environment.json` and the
predictions.
"""

import json
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from elmbench.errors import ElmbenchWarning, amount
from elmbench.execution.store import Store
from elmbench.files import encode_text, write_atomically
from elmbench.results.cells import cells_frame, csv, provenance, sort_cells, write_frame
from elmbench.results.folders import CELLS, ENVIRONMENT, IMPORTANCE, results_folder
from elmbench.results.kept_cells import find_kept_cells, outdated_models
from elmbench.specs.profiles import COMPARE, Resolved
from elmbench.tables import kind_of_table
from elmbench.tables.base import Outputs
from elmbench.tasks.plan import Cell


@dataclass(frozen=True)
class WrittenCells:
    """The cells of a table that have been written.

    Attributes
    ----------
    folder : path
        The folder of the files.
    cells : DataFrame
        The lines of `cells.csv`.
    outputs : iterable of Outputs, optional
        The stored results that a figure may show; None if some cells are kept ones: a figure would
        lack them.
    """

    folder: Path
    cells: pd.DataFrame
    outputs: Iterable[Outputs] | None


def write_cells(
    resolved: Resolved,
    store: Store,
    results_dir: Path,
    *,
    planned: list[Cell] | None = None,
    commands: list[str] | None = None,
) -> WrittenCells:
    """Write `cells.csv` and `environment.json` of a table from the store; return what was written.

    A comparison has `predictions.csv` too, and keeps no earlier cells. For other tables, earlier
    cells of `cells.csv` that the store lacks are kept if they still belong to the table (see
    `find_kept_cells`), with a warning about those that do not. `planned`, `commands`: the cells of
    the table, and the commands that requested them; None for all in the store. Cells on data sets
    that are unknown are left out. The stored results are None in the result if cells are kept,
    since the store then lacks some. Raises WriteError if the folder cannot be written.
    """
    experiment = resolved.file.id
    folder = results_folder(results_dir, resolved.profile, experiment)
    if planned is None:
        planned = store.cells(resolved.profile, experiment)
    if commands is None:
        commands = store.commands(resolved.profile, experiment)
    datasets = {cell.dataset for cell in planned}
    known = {name for name in datasets if resolved.has_dataset(name)}
    # Cells on data sets of another --spec-dir stay in the store.
    planned = [cell for cell in planned if cell.dataset in known]
    models = dict.fromkeys(cell.model for cell in planned)
    added_models = [name for name in models if name not in resolved.spec.models]
    values = [
        measure.column for measure in kind_of_table(resolved).values(added_models)
    ]
    cells = cells_frame(planned, store, values, resolved)
    record = provenance(resolved, planned, store, commands)
    outputs: Iterable[Outputs] | None = _stored_outputs(planned, store)
    if resolved.profile != COMPARE:
        kept = find_kept_cells(folder, cells, resolved, store, record)
        if kept.records:
            cells = sort_cells(kept.add_to(cells), resolved)
            record["kept"] = list(kept.records)
            outdated = outdated_models(cells, record, resolved)
            if outdated:
                record["outdated"] = outdated
            outputs = None
        if kept.n_dropped:
            warnings.warn(
                _dropped_text(folder, kept.n_dropped), ElmbenchWarning, stacklevel=2
            )
    _write_frame_of_cells(cells, folder)
    write_atomically(folder / ENVIRONMENT, json.dumps(record, indent=1) + "\n")
    if resolved.profile == COMPARE:
        # It reads data.
        from elmbench.results.predictions_file import write_predictions

        n_lines = int(cells["n_test"].sum())
        write_predictions(planned, store, resolved, folder, n_lines=n_lines)
    return WrittenCells(folder, cells, outputs)


def has_cells(folder: Path, cells: pd.DataFrame) -> bool:
    """Return True if the `cells.csv` in the folder of a table has exactly these cells."""
    path = folder / CELLS
    return path.is_file() and path.read_bytes() == encode_text(csv(cells))


def _dropped_text(folder: Path, count: int) -> str:
    """Return the warning about earlier cells of a `cells.csv` that were not kept.

    `folder`: that of the table. `count`: the number of cells, at least 1.
    """
    cells = amount(count, "earlier cell")
    return (
        f"{folder}/{CELLS}: {cells} left out: the specification, the data or the version of the "
        "model has changed since. Next: the same command with --runs as before"
    )


def _write_frame_of_cells(cells: pd.DataFrame, folder: Path) -> None:
    """Write `cells.csv` in the folder of a table.

    `cells`: the frame. If the cells differ from the earlier ones, the file of the importance of
    columns is removed, because it belongs to these.
    """
    is_same = has_cells(folder, cells)
    write_frame(cells, folder / CELLS)
    if not is_same:
        (folder / IMPORTANCE).unlink(missing_ok=True)


def _stored_outputs(planned: Iterable[Cell], store: Store) -> Iterator[Outputs]:
    """Yield the stored result of each cell under the default readings that ended ok.

    `planned`: the cells of the table. Cells without a result in the store are skipped.
    """
    for cell in planned:
        if cell.key and not cell.reading:
            result = store.result(cell.key)
            if result and result["status"] == "ok":
                yield Outputs(cell, result)
