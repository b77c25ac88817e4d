"""Excel workbooks: the first sheet is read by the rules for text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elmbench.datasets.table import Table, to_numbers
from elmbench.datasets.text import ChooseTarget, read_text
from elmbench.errors import ElmbenchError, first_line
from elmbench.specs.datasets.sources import FileOptions

if TYPE_CHECKING:
    import pandas as pd


def read_workbook(content: bytes, path: Path, choose: ChooseTarget, layout: FileOptions) -> Table:
    """Read the first sheet of an Excel workbook."""
    frame, sheets = _read_sheet(content, path)
    if frame.empty:
        raise ElmbenchError(
            f"{path} is empty: {sheets[0]!r}, its first sheet, has no cells",
            expected="rows of data",
            next_step=f"correct or replace {path.name}",
        )
    # Numbers are converted to text, with a decimal point, and read by the rules for text.
    text = frame.to_csv(index=False, header=False).encode()
    remark = f"only the first of {len(sheets)} sheets is read: {sheets[0]}"
    others = f" ({remark})" if len(sheets) > 1 else ""
    try:
        table = read_text(
            text, path, choose, layout.model_copy(update={"separator": ",", "decimal": "."})
        )
    except ElmbenchError as error:
        error.found += others
        raise
    table = replace(table, separator="", origin=f"{path}{others}")
    if _has_fractions(frame, table.target_name):
        # A decimal comma in cells of words is not the mark of cells of numbers.
        numbers = to_numbers(table.target)
        table = table if numbers is None else replace(table, target=numbers)
    return table.add_remark(remark) if others else table


def _read_sheet(content: bytes, path: Path) -> tuple[pd.DataFrame, Sequence[str]]:
    """Return the cells of the first sheet and the names of all sheets."""
    import pandas as pd

    try:
        with pd.ExcelFile(io.BytesIO(content), engine="openpyxl") as workbook:
            frame = pd.read_excel(workbook, header=None, dtype=object, keep_default_na=False)
            is_blank = (frame.isna() | (frame == "")).all(axis=1)
            return frame[~is_blank], [str(name) for name in workbook.sheet_names]
    except ImportError as error:
        problem = f"{path}: openpyxl, which reads Excel files, is not installed"
        next_step = "pip install 'elmbench[excel]', or save as CSV"
        raise ElmbenchError(problem, expected="openpyxl", next_step=next_step) from error
    except Exception as error:  # openpyxl may fail in any way on a sheet that it does not know
        problem = f"{path}: openpyxl cannot read it ({type(error).__name__}: {first_line(error)})"
        next_step = "save its sheet of rows as CSV, or in a workbook of its own"
        raise ElmbenchError(
            problem, expected="an Excel workbook whose sheets have cells", next_step=next_step
        ) from error


def _has_fractions(frame: pd.DataFrame, name: str) -> bool:
    """Return True if the cells of a column are numbers, some of which are not whole.

    `name`: the name in its first cell. A column without a name has none of another column either.
    """
    for _, cells in frame.items():
        if str(cells.iloc[0]).strip() == name:
            values = [cell for cell in cells.iloc[1:] if cell is not None and cell != ""]
            are_numbers = all(isinstance(value, int | float) for value in values)
            return are_numbers and any(value != round(value) for value in values if value == value)
    return False
