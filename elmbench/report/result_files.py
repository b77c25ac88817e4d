"""The files of a table below the results folder: what is written, and written again."""

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from elmbench.errors import ElmbenchError, ElmbenchWarning, amount, first_line
from elmbench.execution.store import Store
from elmbench.files import encode_text, write_atomically
from elmbench.report.table_results import (
    CELLS,
    Results,
    in_order,
    is_known_dataset,
    results_of_table,
)
from elmbench.report.writers.markdown import markdown
from elmbench.results.cells import (
    cells_frame,
    csv,
    provenance,
    write_frame,
)
from elmbench.results.folders import (
    ENVIRONMENT,
    FIGURE_FORMATS,
    FigureFormat,
    results_folder,
)
from elmbench.results.kept_cells import find_kept_cells, outdated_models
from elmbench.specs.profiles import COMPARE, Resolved
from elmbench.tables import kind_of_table
from elmbench.tables.base import Outputs, TableKind
from elmbench.tables.drawing import Figure, figure_bytes
from elmbench.tasks.plan import Cell

#: The data of the figure of a table.
_FIGURE_DATA = "figure.csv"
#: The permutation importance of the columns of a comparison.
IMPORTANCE = "importance.csv"


def write_results(
    resolved: Resolved,
    store: Store,
    results_dir: Path,
    *,
    planned: list[Cell] | None = None,
    commands: list[str] | None = None,
    figure_format: FigureFormat = "png",
) -> Results:
    """Write `cells.csv`, `summary.csv`, `table.md`, `environment.json` and the figures from the
    store.

    Also `predictions.csv` of a comparison, `optimism.csv`, if both selections were run, and
    `claims.csv`, if the paper has claims about the table. Earlier cells of `cells.csv` that the
    store lacks are kept if they still belong to the table (see `find_kept_cells`). `planned`,
    `commands`: the cells of the table, and the commands that requested them; by default, all in the
    store. `figure_format`: see `_write_figure`. Raises WriteError if the folder cannot be written.
    """
    experiment = resolved.file.id
    folder = results_folder(results_dir, resolved.profile, experiment)
    if planned is None:
        planned = store.cells(resolved.profile, experiment)
    if commands is None:
        commands = store.commands(resolved.profile, experiment)
    datasets = {cell.dataset for cell in planned}
    known = {name for name in datasets if is_known_dataset(name, resolved)}
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
            cells = in_order(kept.add_to(cells), resolved)
            record["kept"] = list(kept.records)
            outdated = outdated_models(cells, record, resolved)
            if outdated:
                record["outdated"] = outdated
            # A figure of the outputs of models would lack the kept cells.
            outputs = None
        if kept.n_dropped:
            warnings.warn(
                _dropped_text(folder, kept.n_dropped), ElmbenchWarning, stacklevel=2
            )
    results = Results(folder, cells, resolved)
    _write_cells(folder, cells)
    write_atomically(folder / ENVIRONMENT, json.dumps(record, indent=1) + "\n")
    if resolved.profile == COMPARE:
        # It reads data.
        from elmbench.results.predictions_file import (
            predictions_frame,
            write_predictions,
        )

        write_predictions(predictions_frame(planned, store, resolved), folder)
    _write_table(results, results.commands, outputs, figure_format)
    return results


def rewrite_results(
    resolved: Resolved, results_dir: Path, figure_format: FigureFormat = "png"
) -> Results:
    """Rewrite `summary.csv`, `optimism.csv`, `claims.csv`, `table.md` and the figure from the
    `cells.csv` of a run.

    The files that come from the store stay: the cells, `environment.json` and the data of a figure
    of the outputs of models.
    """
    results = results_of_table(resolved, results_dir)
    _write_table(results, results.commands, figure_format=figure_format)
    return results


def has_cells(folder: Path, cells: pd.DataFrame) -> bool:
    """Return True if the folder of a table has exactly these cells."""
    path = folder / CELLS
    return path.is_file() and path.read_bytes() == encode_text(csv(cells))


def _dropped_text(folder: Path, count: int) -> str:
    """Return the warning about earlier cells that were not kept."""
    cells = amount(count, "earlier cell")
    return (
        f"{folder}/{CELLS}: {cells} left out: the specification, the data or the version of the "
        "model has changed since. Next: the same command with --runs as before"
    )


def _write_cells(folder: Path, cells: pd.DataFrame) -> None:
    """Write `cells.csv`; remove the importance of columns if it belongs to earlier cells."""
    is_same = has_cells(folder, cells)
    write_frame(cells, folder / CELLS)
    if not is_same:
        (folder / IMPORTANCE).unlink(missing_ok=True)


def _stored_outputs(planned: Iterable[Cell], store: Store) -> Iterator[Outputs]:
    """Yield each cell under the default readings that ended ok, with its result from the store."""
    for cell in planned:
        if cell.key and not cell.reading:
            result = store.result(cell.key)
            if result and result["status"] == "ok":
                yield Outputs(cell, result)


def _write_table(
    results: Results,
    commands: Sequence[str],
    outputs: Iterable[Outputs] | None = None,
    figure_format: FigureFormat = "png",
) -> None:
    """Write the files that follow from the cells: `summary.csv`, `table.md`, the figure and, if
    they have lines, `optimism.csv` and `claims.csv`.

    `commands`: those that `table.md` names. `outputs`, `figure_format`: see `_write_figure`.
    """
    folder = results.folder
    write_frame(results.summary, folder / "summary.csv")
    if len(results.optimism):
        write_frame(results.optimism, folder / "optimism.csv")
    if results.judged.claim_outcomes:
        write_frame(results.claims, folder / "claims.csv")
    _write_figure(results, outputs, figure_format)
    write_atomically(
        folder / "table.md", markdown(results.table, commands, results.picture)
    )


def _write_figure(
    results: Results, outputs: Iterable[Outputs] | None, figure_format: FigureFormat
) -> None:
    """Write the figure of a table, its data and its pictures (see `_write_pictures`); remove an
    earlier figure if it has none.

    `outputs`: the stored results that a figure may show; None if they are not at hand: then such a
    figure is drawn from the data of its last run.
    """
    data_file = results.folder / _FIGURE_DATA
    table = kind_of_table(results.resolved)
    if outputs is not None or not table.draws_from_store:
        figure = table.figure(results.cells, outputs or ())
        if figure is not None:
            write_frame(figure.data, data_file)
    elif type(table).draw is TableKind.draw:
        # A plug-in draws it in another way: the figure of its last run stays.
        return
    else:
        # Its data come from the outputs of models, which are not at hand.
        figure = _redraw(table, data_file) if data_file.is_file() else None
    if figure is None:
        _remove_figure(results.folder)
    else:
        _write_pictures(figure, results.folder, figure_format)


def _remove_figure(folder: Path) -> None:
    """Remove the figure that an earlier run may have had, and its data."""
    pictures = [folder / f"figure.{form}" for form in FIGURE_FORMATS]
    for file in (folder / _FIGURE_DATA, *pictures):
        file.unlink(missing_ok=True)


def _write_pictures(figure: Figure, folder: Path, figure_format: FigureFormat) -> None:
    """Write the pictures of a figure: as PNG, in the requested format, and in the formats of
    earlier runs.
    """
    for form in FIGURE_FORMATS:
        file = folder / f"figure.{form}"
        is_shown = form == figure_format or file.is_file()
        if form == "png":
            write_atomically(file, figure.png)
        elif is_shown and figure.drawing is not None:
            write_atomically(file, figure_bytes(figure.drawing, form))


def _redraw(table: TableKind, data_file: Path) -> Figure:
    """Return the figure of the data in a file; raise ElmbenchError if they are damaged."""
    try:
        return table.figure_of(pd.read_csv(data_file))
    except (ValueError, KeyError, TypeError) as error:
        raise ElmbenchError(
            f"{data_file} does not hold the data of a figure: {first_line(error)}",
            expected="the file that a run wrote",
            next_step=f"delete it, or run the table again: elmbench run {table.experiment.file.id}",
        ) from error
