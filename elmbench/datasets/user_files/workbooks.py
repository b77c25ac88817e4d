"""Excel workbooks: the first sheet is read by the rules for text."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.table import Table, to_numbers
from elmbench.datasets.unpacking import check_members
from elmbench.datasets.user_files.headers import (
    n_title_rows,
    names_of_header,
    remark_on_titles,
)
from elmbench.datasets.user_files.number_text import (
    looks_numeric,
    may_have_thousands,
    parse_number,
)
from elmbench.datasets.user_files.text_files import ChooseTarget, read_text_table
from elmbench.errors import ElmbenchError, first_line
from elmbench.specs.datasets.source_registry import FileOptions

if TYPE_CHECKING:
    import pandas as pd

#: The most cells of a sheet: openpyxl takes minutes for more.
MOST_CELLS = 20_000_000
#: The first rows of a sheet, in which a title is looked for.
_SAMPLE = 20
#: The most rows of a sheet, empty ones included: Excel has no more.
MOST_ROWS = 1_048_576


def read_workbook(
    content: bytes, path: Path, choose: ChooseTarget, layout: FileOptions
) -> Table:
    """Read the first sheet of an Excel workbook, as text with comma-separated fields would be read.

    `choose`: takes the names of the columns and returns that of the target. A note says so if there
    are more sheets. Raises ElmbenchError for a sheet without cells, and a workbook that openpyxl
    cannot read. `content`: of the file at `path`. `layout`: the user's options; its separator is
    ignored, and its decimal mark is that of cells of text.
    """
    frame, sheets = _read_sheet(content, path)
    if frame.empty:
        raise ElmbenchError(
            f"{path} is empty: {sheets[0]!r}, its first sheet, has no cells",
            expected="rows of data",
            next_step=f"correct or replace {path.name}",
        )
    frame, titles = _without_titles(frame, layout)
    # Numbers are converted to text, with a decimal point, and read by the rules for text.
    # The decimal mark of cells of text is that of the layout, or detected later.
    text = frame.to_csv(index=False, header=False).encode()
    remark = f"only the first of {len(sheets)} sheets is read: {sheets[0]}"
    others = f" ({remark})" if len(sheets) > 1 else ""
    try:
        table = read_text_table(
            text,
            path,
            choose,
            layout.model_copy(update={"separator": ",", "decimal": "."}),
            has_plain_numbers=True,
        )
    except ElmbenchError as error:
        error.found += others
        raise
    table = replace(table, separator="", origin=f"{path}{others}")
    cells_by_name = _cells_by_name(frame, n_rows=len(table.target))
    table = _with_text_cells(table, cells_by_name, layout)
    if _has_fractions(cells_by_name.get(table.target_name, [])):
        # A decimal comma in cells of words is not the mark of cells of numbers.
        numbers = to_numbers(table.target)
        table = table if numbers is None else replace(table, target=numbers)
    if titles:
        table = table.add_remark(remark_on_titles(titles))
    return table.add_remark(remark) if others else table


def _without_titles(
    frame: pd.DataFrame, layout: FileOptions
) -> tuple[pd.DataFrame, list[list[str]]]:
    """Return the cells below the title of a sheet, and the rows of the title, if there are any.

    If `layout.header` is False, there is no title, and all cells are returned. `frame`: the cells,
    a row of the sheet each, "" if empty; the columns are numbered. The result has the same columns,
    and rows from 0.
    """
    if layout.header is False:
        return frame, []
    sample = frame.head(_SAMPLE).astype(str).to_numpy().tolist()
    rows = [[word.strip() for word in row] for row in sample]
    n_titles = n_title_rows(rows)
    below = frame.iloc[n_titles:].reset_index(drop=True)
    return below, rows[:n_titles]


def _read_sheet(content: bytes, path: Path) -> tuple[pd.DataFrame, Sequence[str]]:
    """Return the cells of the first sheet as a data frame, and the names of all sheets.

    Blank rows are left out, empty cells are ''. A header, if any, is the first row; the columns are
    numbered. Raises ElmbenchError if openpyxl is missing or fails, or the sheet is too large.
    """
    import pandas as pd

    check_members(content, path, "save its sheet of rows as CSV")
    try:
        from openpyxl import load_workbook  # type: ignore[import-untyped]

        with closing(
            load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        ) as workbook:
            sheets = workbook.worksheets
            # The size in the file may be wrong.
            sheets[0].reset_dimensions()
            frame = pd.DataFrame(_rows_of(sheets[0].rows, path), dtype=object)
            return frame.fillna(""), [str(sheet.title) for sheet in sheets]
    except ElmbenchError:
        raise
    except ImportError as error:
        problem = f"{path}: openpyxl, which reads Excel files, is not installed"
        next_step = "pip install 'elmbench[excel]', or save as CSV"
        raise ElmbenchError(
            problem, expected="openpyxl", next_step=next_step
        ) from error
    except (
        Exception
    ) as error:  # openpyxl may fail in any way on a sheet that it does not know
        problem = f"{path}: openpyxl cannot read it ({type(error).__name__}: {first_line(error)})"
        next_step = "save its sheet of rows as CSV, or in a workbook of its own"
        raise ElmbenchError(
            problem,
            expected="an Excel workbook whose sheets have cells",
            next_step=next_step,
        ) from error


def _rows_of(rows: Iterable[Sequence[Any]], path: Path) -> list[list[Any]]:
    """Return the values of the cells of each row that is not blank, as rows of one length.

    `rows`: cells of openpyxl. Empty cells have the value "". Raises ElmbenchError for too many rows
    or cells.
    """
    table: list[list[Any]] = []
    width = 0
    for number, row in enumerate(rows, start=1):
        if number > MOST_ROWS:
            raise ElmbenchError(
                f"{path}: its first sheet has more than {MOST_ROWS:,} rows",
                expected=f"at most {MOST_ROWS:,} rows, empty ones included",
                next_step="delete the empty rows, or save it as CSV",
            )
        values = [_value_of(cell) for cell in row]
        while values and values[-1] == "":
            values.pop()
        if not any(value != "" for value in values):
            continue
        table.append(values)
        width = max(width, len(values))
        if len(table) * width > MOST_CELLS:
            raise ElmbenchError(
                f"{path}: its first sheet has {len(table):,} rows or more, and {width:,} columns",
                expected=f"at most {MOST_CELLS:,} cells",
                next_step="delete the cells that are far from the others, or save it as CSV",
            )
    return [[*values, *[""] * (width - len(values))] for values in table]


def _with_text_cells(
    table: Table, cells_by_name: Mapping[str, list[Any]], layout: FileOptions
) -> Table:
    """Return the table with words for the columns in which cells of a sheet hold numbers as text.

    In a column of numbers, such cells have points that may separate thousands; in a nominal column
    or the target, they have commas, and the column also has cells of numbers. These cells of
    numbers get the decimal mark of the cells of text, so that the whole column can be read again as
    text. Columns that the user declares as words stay. `cells_by_name`: of the sheet that `table`
    was read from, see `_cells_by_name`. `layout`: gives the decimal mark of cells of text; detected
    if empty.
    """
    decimal = layout.decimal or _decimal_mark_of_texts(cells_by_name.values())
    target = table.target
    features: dict[str, NDArray[np.object_]] = {}
    for name, values in cells_by_name.items():
        if name in table.words:
            continue
        is_target = name == table.target_name
        is_nominal = is_target or name in table.nominal
        has_words = _mixes_commas_with_numbers if is_nominal else _has_thousands
        if not has_words(values):
            continue
        spellings = [_spelling(value, decimal) for value in values]
        words = np.array(spellings, dtype=object)
        if is_target:
            target = words
        elif name in table.index:
            features[name] = words
    with_words = table.with_words(features)
    return replace(with_words, target=target)


def _cells_by_name(sheet: pd.DataFrame, *, n_rows: int) -> dict[str, list[Any]]:
    """Return {name of a column: values of its cells in the rows of data} for a sheet.

    The names are those that `read_text_table` gives to the columns. `sheet`: its cells, a row each.
    `n_rows`: the number of rows of data. If the sheet has one row more, this row, the first, holds
    the names; else they are x0, x1, ...
    """
    first_row = len(sheet) - n_rows
    names = [f"x{position}" for position in range(sheet.shape[1])]
    if first_row:
        header = [str(title).strip() for title in sheet.iloc[0]]
        names = names_of_header(header)
    return {
        name: cells.iloc[first_row:].tolist()
        for name, (_, cells) in zip(names, sheet.items(), strict=True)
    }


def _decimal_mark_of_texts(columns: Iterable[Sequence[Any]]) -> str:
    """Return "," if only a decimal comma can read some text of the cells as a number, else ".".

    `columns`: the values of the cells of each column; only texts count.
    """
    texts = {value for values in columns for value in values if isinstance(value, str)}
    with_comma = [text for text in texts if "," in text]
    if any(
        parse_number(text, ",") is not None and parse_number(text, ".") is None
        for text in with_comma
    ):
        return ","
    return "."


def _has_thousands(values: Sequence[Any]) -> bool:
    """Return True if the points in the cells of text of a column may all separate thousands.

    There must be such a cell with a point. `values`: of the cells of the column.
    """
    return may_have_thousands(value for value in values if isinstance(value, str))


def _mixes_commas_with_numbers(values: Sequence[Any]) -> bool:
    """Return True if a column has cells of numbers, and cells of text such as 1,5 with a comma.

    `values`: of the cells of the column.
    """
    has_numbers = any(isinstance(value, int | float) for value in values)
    texts = (value for value in values if isinstance(value, str))
    return has_numbers and any("," in text and looks_numeric(text) for text in texts)


def _spelling(value: Any, decimal: str) -> str | None:
    """Return the value of a cell as text, None for ""; a number has `decimal` in place of its
    point.
    """
    if value == "":
        return None
    if isinstance(value, str):
        return value
    return str(value).replace(".", decimal)


def _value_of(cell: Any) -> Any:
    """Return the value of a cell of openpyxl; an integer for a whole float.

    "" if the cell is empty or holds an error such as #N/A.
    """
    value = cell.value
    if value is None or cell.data_type == "e":
        return ""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _has_fractions(values: Sequence[Any]) -> bool:
    """Return True if all cells of a column that are not empty are numbers, some of them not whole.

    `values`: of the cells of the column, "" for an empty one. NaN is ignored; if all cells are
    empty, the result is False.
    """
    present = [value for value in values if value != ""]
    if not all(isinstance(value, int | float) for value in present):
        return False
    numbers = [value for value in present if value == value]  # without NaN
    return any(value != round(value) for value in numbers)
