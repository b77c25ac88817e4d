"""The files of a table that follow from its cells: what is written, and written again."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from elmbench.errors import ElmbenchError, first_line
from elmbench.files import write_atomically
from elmbench.report.table_results import Results, results_of_table
from elmbench.report.writers.markdown import markdown
from elmbench.results.cells import write_frame
from elmbench.results.folders import FIGURE_FORMATS, FigureFormat
from elmbench.specs.profiles import Resolved
from elmbench.tables import kind_of_table
from elmbench.tables.base import Outputs, TableKind
from elmbench.tables.drawing import Figure, figure_bytes

#: The data of the figure of a table.
_FIGURE_DATA = "figure.csv"


def rewrite_results(
    resolved: Resolved, results_dir: Path, figure_format: FigureFormat = "png"
) -> Results:
    """Rewrite the files of a table that follow from its `cells.csv`, and return its results.

    They are `summary.csv`, `optimism.csv`, `claims.csv`, `table.md` and the figure. The files that
    come from the store stay: the cells, `environment.json`, and the data of a figure that shows
    outputs of models.
    """
    results = results_of_table(resolved, results_dir)
    write_table(results, figure_format=figure_format)
    return results


def write_table(
    results: Results,
    outputs: Iterable[Outputs] | None = None,
    figure_format: FigureFormat = "png",
) -> None:
    """Write the files of a table that follow from its cells into its folder.

    They are `summary.csv`, `table.md`, the figure and, if they have lines, `optimism.csv` and
    `claims.csv`; without lines, earlier ones of these two stay. `outputs`: the stored results that
    a figure may show; None if they are not at hand: then such a figure is drawn from the data of
    its last run. `figure_format`: of a second picture, such as "svg"; "png" for none. Pictures in
    the formats of earlier runs are replaced, too.
    """
    folder = results.folder
    write_frame(results.summary, folder / "summary.csv")
    if len(results.optimism):
        write_frame(results.optimism, folder / "optimism.csv")
    if results.judged.claim_outcomes:
        write_frame(results.claims, folder / "claims.csv")
    _write_figure(results, outputs, figure_format)
    write_atomically(
        folder / "table.md", markdown(results.table, results.commands, results.picture)
    )


def _write_figure(
    results: Results, outputs: Iterable[Outputs] | None, figure_format: FigureFormat
) -> None:
    """Write the figure of a table: its data as CSV and its pictures.

    If it has no figure, the files of an earlier one are deleted. `outputs`: the stored results that
    a figure may show; None if they are not at hand: then such a figure is drawn from the data of
    its last run, and that of a plug-in stays as it is. A figure that needs only the cells is always
    drawn anew from them. `figure_format`: of a second picture, such as "svg"; "png" for none.
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
    """Delete the figure that an earlier run may have written into a folder, and its data."""
    pictures = [folder / f"figure.{form}" for form in FIGURE_FORMATS]
    for file in (folder / _FIGURE_DATA, *pictures):
        file.unlink(missing_ok=True)


def _write_pictures(figure: Figure, folder: Path, figure_format: FigureFormat) -> None:
    """Write the pictures of a figure into a folder: `figure.png`, and one in the requested format.

    Pictures in further formats are replaced if an earlier run wrote them. A figure without a
    drawing has only a PNG.
    """
    for form in FIGURE_FORMATS:
        file = folder / f"figure.{form}"
        is_shown = form == figure_format or file.is_file()
        if form == "png":
            write_atomically(file, figure.png)
        elif is_shown and figure.drawing is not None:
            write_atomically(file, figure_bytes(figure.drawing, form))


def _redraw(table: TableKind, data_file: Path) -> Figure:
    """Return the figure of the points in a CSV file; raise ElmbenchError if the file is damaged."""
    try:
        return table.figure_of(pd.read_csv(data_file))
    except (ValueError, KeyError, TypeError) as error:
        raise ElmbenchError(
            f"{data_file} does not hold the data of a figure: {first_line(error)}",
            expected="the file that a run wrote",
            next_step=f"delete it, or run the table again: elmbench run {table.experiment.file.id}",
        ) from error
