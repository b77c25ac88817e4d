"""Writing of the files of a table: first its cells, from the store, then what follows from them."""

from pathlib import Path

from elmbench.execution.store import Store
from elmbench.report.result_files import write_table
from elmbench.report.table_results import Results
from elmbench.results.folders import FigureFormat
from elmbench.results.write_cells import write_cells
from elmbench.specs.profiles import Resolved
from elmbench.tasks.plan import Cell


def write_results(
    resolved: Resolved,
    store: Store,
    results_dir: Path,
    *,
    planned: list[Cell] | None = None,
    commands: list[str] | None = None,
    figure_format: FigureFormat = "png",
) -> Results:
    """Write all files of a table from the store, and return its results.

    These are `cells.csv` and what follows from it, such as tables, figures and verdicts. `planned`,
    `commands`: the cells of the table, and the commands that requested them, which
    `environment.json` lists; None for all in the store. `figure_format`: another format of figures
    beside PNG, or "png". Cells of an earlier `cells.csv` that the store lacks are kept if they
    still belong to the table, except in a comparison (see `write_cells`). Raises WriteError if the
    folder cannot be written.
    """
    written = write_cells(
        resolved, store, results_dir, planned=planned, commands=commands
    )
    results = Results(written.folder, written.cells, resolved)
    write_table(results, written.outputs, figure_format)
    return results
