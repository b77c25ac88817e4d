"""ARFF files, dense and sparse: liac-arff parses them.

Before that, the forms that Weka reads and liac-arff does not are rewritten line by line: columns
get plain names, `integer` and `real [0, 1]` are numeric, dates are strings, and comments at the end
of a line, weights of rows and tabs between values are removed.
"""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.table import Table, check_names, target_of
from elmbench.datasets.user_files.text_files import PUBLIC, ChooseTarget, decode
from elmbench.errors import ElmbenchError, shortened
from elmbench.specs.datasets.source_registry import FileOptions

_QUOTED = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"{{]+)\s*(.*)", re.I)
_NUMERIC = re.compile(r"(numeric|real|integer)\s*(\[.*\])?", re.I)
_DATE = re.compile(r"date\b.*", re.I)
#: A comment, and the quoted values that may hold its mark.
_COMMENT = re.compile(rf"({_QUOTED})|(?:^|\s)%.*")
_TABS = re.compile(rf"({_QUOTED})|[ ]*\t\s*")
_WEIGHT = re.compile(r"\s*,\s*\{\s*([0-9.eE+-]+)\s*\}$")


@dataclass
class _Arff:
    """The lines of an ARFF file in the forms that liac-arff reads.

    The fields besides `text` describe the lines that `lines()` has yielded so far.
    """

    #: The whole file.
    text: str
    #: The names of the columns.
    names: list[str] = field(default_factory=list)
    #: True if some row has a weight.
    has_weights: bool = False
    #: The last line that was read, as it is in the file, and its number from 1.
    line: str = ""
    number: int = 0
    #: True below the line @data, and at the end of the file.
    has_data: bool = False
    has_ended: bool = False

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file in the forms that liac-arff reads.

        Each step updates the fields: the names of columns, the line that was read, and what the
        file has. A generator: to be run once, since it appends to `names`.
        """
        for line in io.StringIO(self.text, newline=None):
            self.line = line.strip()
            self.number += 1
            rest = self.line
            if "%" in rest:
                rest = _COMMENT.sub(lambda match: match[1] or "", rest).strip()
            if self.has_data:
                yield self._row(rest)
            else:
                self.has_data = rest.lower() == "@data"
                yield self._declaration(rest)
        self.has_ended = True

    def _declaration(self, line: str) -> str:
        """Return a line above the data, such as `@attribute NAME TYPE`, as liac-arff reads it.

        A column is renamed to a1, a2, ... in the line, and its name is appended to `names`. Types
        of numbers become NUMERIC, and dates STRING.
        """
        attribute = _ATTRIBUTE.fullmatch(line)
        if attribute is None:
            return line.replace("\t", " ")
        name, kind = attribute.groups()
        self.names.append(
            re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" else name
        )
        if _NUMERIC.fullmatch(kind):
            kind = "NUMERIC"
        elif _DATE.fullmatch(kind):
            kind = "STRING"  # as words, dates are detected as in other files
        return f"@ATTRIBUTE a{len(self.names)} {kind}"

    def _row(self, line: str) -> str:
        """Return the row of data `line` with commas in place of tabs, and without its weight.

        If commas separate the values, tabs are removed. Sets `has_weights` if the row ends with a
        weight such as `, {2.5}`.
        """
        if "\t" in line:
            without_tabs = _TABS.sub("", line)
            separator = "" if "," in without_tabs else ","
            line = _TABS.sub(lambda match: match[1] or separator, line)
        has_weight = line.endswith("}") and _WEIGHT.search(line)
        if has_weight:
            self.has_weights = True
            line = _WEIGHT.sub("", line)
        return line


def read_arff(
    content: bytes, path: Path, choose: ChooseTarget, layout: FileOptions
) -> Table:
    """Read a dense ARFF file into a table; raise ElmbenchError for a line that is not ARFF.

    `content`: of the file at `path`. `choose`: takes the names of the columns and returns that of
    the target. `layout`: only `words`, the columns of categories, is used. Nominal columns are
    categories, except those of number text in a public file. Notes say so if weights of rows are
    ignored, or the text is not UTF-8.
    """
    import arff  # type: ignore[import-untyped]  # liac-arff, which the openml client reads ARFF with
    import pandas as pd

    text, notes = decode(content)
    file = _Arff(text)
    try:
        parsed = arff.load(file.lines())
    except Exception as error:  # liac-arff may fail in any way on a line
        raise _bad_line(path, file) from error
    names = file.names
    target = target_of(names, choose, path)
    kinds = {
        name: "category" if isinstance(kind, list) else np.float64
        for name, (_, kind) in zip(names, parsed["attributes"], strict=True)
        if isinstance(kind, list) or kind == "NUMERIC"
    }
    frame = pd.DataFrame(parsed["data"], columns=names, dtype=object).astype(kinds)
    table = Table.of_frame(
        frame, target, str(path), None if layout is PUBLIC else layout.words
    )
    if file.has_weights:
        notes.append(
            "weights of rows are not read: a column of them can be named by --weights"
        )
    return table.add_remark(*notes)


def read_sparse_arff(
    content: bytes, path: Path, choose: ChooseTarget, _: FileOptions
) -> Table:
    """Read a sparse ARFF file into a table of sparse rows.

    A value that is left out there is 0, or the first word that a nominal column declares. Words of
    features become their positions among the declared ones, from 0; those of the target stay words.
    `choose`: takes the names of the columns and returns that of the target; "" if there is none, so
    that all targets are None. Raises ElmbenchError for a line that is not ARFF, or has a missing
    value or free text. `content`: of the file at `path`.
    """
    import arff

    values = array("d")
    columns = array("q")
    starts = array("q", [0])
    file = _Arff(decode(content)[0])
    try:
        parsed = arff.load(file.lines(), return_type=arff.LOD_GEN, encode_nominal=True)
        for row in parsed[
            "data"
        ]:  # not as coordinates: a last row without entries would be lost
            columns.extend(row.keys())
            values.extend(float(value) for value in row.values())
            starts.append(len(columns))
    except Exception as error:
        raise _bad_line(path, file) from error
    names = file.names
    shape = (len(starts) - 1, len(names))
    X = sp.csr_matrix(
        (np.array(values), np.array(columns), np.array(starts)), shape=shape
    )
    X.check_format(full_check=True)
    check_names(names, path)
    target = choose(names)
    if not target:
        return Table(X, tuple(names), np.full(X.shape[0], None), str(path))
    y: NDArray[Any] = X[:, [names.index(target)]].toarray().ravel()
    kind = parsed["attributes"][names.index(target)][1]
    if isinstance(kind, list):
        y = np.array([kind[int(code)] for code in y], dtype=object)
    return Table(X, tuple(names), y, str(path)).drop_columns([target])


def _bad_line(path: Path, file: _Arff) -> ElmbenchError:
    """Return the error for the last line that was read, at which liac-arff failed.

    It says instead that @data is missing, if the whole file was read without it.
    """
    if file.has_ended and not file.has_data:
        problem = "it has no line @data"
    else:
        problem = f"line {file.number} is not ARFF: {shortened(file.line)!r}"
    return ElmbenchError(
        f"{path} cannot be read: {problem}",
        expected="@relation NAME, lines of @attribute NAME TYPE, @data, and rows of as many values",
        next_step=f"correct {path.name}, or save it as CSV",
    )
