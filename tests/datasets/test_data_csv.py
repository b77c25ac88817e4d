"""CSV text: numbers to the last bit, words as they are spelled, and processes that end well after reading it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from elmbench.datasets.readers import csv_columns

#: Loads a file by name and ends: the threads of Arrow's CSV reader outlived the interpreter, and aborted some exits.
CHILD = """
import sys
import elmbench
try:
    print(len(elmbench.load_dataset("wdbc", sys.argv[1]).y))
except elmbench.errors.ElmbenchError as error:
    print(error.found)
from elmbench.datasets.sources import archive
print("pyarrow.csv" in sys.modules)
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("n_lines", [None, 1])
def test_a_process_that_read_csv_files_ends_with_exit_code_0(
    folder: Path, wdbc_lines: list[str], n_lines: int | None
) -> None:
    (folder / "wdbc.csv").write_text("\n".join(wdbc_lines[:n_lines]) + "\n")
    command = [sys.executable, "-c", CHILD, str(folder)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [child.communicate()[0].splitlines() for child in children]
    assert [child.returncode for child in children] == [0] * 4
    first = "569" if n_lines is None else f"{folder / 'wdbc.csv'}: 0 rows"
    assert said == [[first, "False"]] * 4  # not by that reader, whose aborts are rare


def test_numbers_are_read_to_the_nearest_double() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal(3000) * 10.0 ** rng.integers(-300, 300, 3000)
    text = "".join(f"{value!r},{value:.25e}\n" for value in values.tolist()).encode()
    first, second = csv_columns(text, 2, header=False)
    np.testing.assert_array_equal(first, values)
    np.testing.assert_array_equal(second, values)


def test_missing_words_quotes_and_kept_text() -> None:
    text = b'a,"b, c",d,e,target\r\n1,"x, ""y""",?,true,01\r\n\r\n,NA,,false,"1"\r\n+2.5, z ,nan,?,?\r\n'
    a, b, d, e, target = csv_columns(text, 5, header=True, text=(4,))
    np.testing.assert_array_equal(a, [1, np.nan, 2.5])
    assert b.tolist() == ['x, "y"', None, " z "]
    assert np.isnan(d).all()
    assert e.tolist() == ["true", "false", None]
    assert target.tolist() == ["01", "1", None]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"1,2\n3\n", "expected 2 fields, found 1 in line 2"),
        (b'1,2\n3,"4,5",6\n', "expected 2 fields, found 3 in line 2"),
        (b"1,2\n3,\xff\n", "utf-8"),
    ],
)
def test_text_that_is_no_table(text: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        csv_columns(text, 2, header=False)
