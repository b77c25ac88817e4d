"""ARFF as Weka, R and people write it: forms, encodings and names."""

from pathlib import Path

import numpy as np
import pytest
from user_files import N, described

from elmbench.datasets.load import load_from_spec
from elmbench.datasets.sources.file import FileSource, read_user_file
from elmbench.datasets.table import Table
from elmbench.errors import ElmbenchError

DOSES = np.random.default_rng(0).normal(size=N).round(3)
SIZES = np.random.default_rng(1).normal(50, 20, size=N).round(2)
KINDS = ["a", "b c", "50%"] * (N // 3)
HEAD = """% rows of a test
@relation rows
@attribute dose integer
@attribute size real
@attribute kind {a, 'b c', '50%'}
@data
"""
ROWS = "".join(f"{d},{s},'{k}'\n" for d, s, k in zip(DOSES, SIZES, KINDS, strict=True))


def read(folder: Path, content: str | bytes) -> Table:
    path = folder / "x.arff"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_user_file(FileSource(kind="file", path=str(path), target="kind"))


def replaced(*pairs: tuple[str, str]) -> str:
    text = HEAD + ROWS
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


FORMS = {
    "integers with fractions": HEAD + ROWS,
    "capitals": replaced(
        ("@attribute", "@ATTRIBUTE"), ("@data", "@DATA"), ("integer", "INTEGER")
    ),
    "a range": replaced(("integer", "integer [-9, 9]"), ("real", "real [0,1]")),
    "tabs in the header": replaced(
        ("@attribute ", "@attribute\t"), (" real", "\treal")
    ),
    "tabs between values": HEAD + ROWS.replace(",", "\t"),
    "tabs beside commas": HEAD + ROWS.replace(",", "\t, "),
    "tabs at the end": HEAD + ROWS.replace("\n", " \t\n"),
    "comments after declarations": replaced(
        ("integer", "integer % mg"), ("'50%'}", "'50%'} % 3")
    ),
    "comments after rows": HEAD + ROWS.replace("\n", " % it's a note\n"),
    "comments between rows": HEAD + ROWS.replace("\n", "\n% {1}\n\n"),
    "Windows": replaced(("\n", "\r\n")),
    "double quotes": replaced(("'", '"')),
    "spaces": replaced((",", " , ")),
    "byte order mark": b"\xef\xbb\xbf" + (HEAD + ROWS).encode(),
    "UTF-16": (HEAD + ROWS).encode("utf-16"),
    "Latin-1": "% café\n".encode("latin-1") + (HEAD + ROWS).encode(),
    "weights": HEAD + ROWS.replace("\n", ", {2.5}\n"),
    "sparse rows": HEAD
    + "".join(
        f"{{0 {d},1 {s},2 '{k}'}}\n"
        for d, s, k in zip(DOSES, SIZES, KINDS, strict=True)
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_rows(tmp_path: Path, form: str) -> None:
    table = read(tmp_path, FORMS[form])
    np.testing.assert_array_equal(table.X, np.column_stack([DOSES, SIZES]))
    assert table.names == ("dose", "size")
    assert table.target.tolist() == KINDS
    remarks = {
        "Latin-1": "line 1 is not UTF-8",
        "weights": "weights of rows are not read",
    }
    assert any(remarks.get(form, "-") in note for note in table.notes) == (
        form in remarks
    )


@pytest.mark.parametrize(
    "name", ["issue date", "date", "the 'date' real", "a, {b} %c", "größe"]
)
def test_a_name_may_hold_any_words(tmp_path: Path, name: str) -> None:
    quoted = name.replace("'", "\\'")
    text = replaced(("dose integer", f"'{quoted}' {{1,2,3}}"), ("kind", "'kind'"))
    head, _, _ = text.partition("@data")
    rows = "".join(f"{i % 3 + 1},{s},a\n" for i, s in enumerate(SIZES))
    table = read(tmp_path, head + "@data\n" + rows)
    assert table.names == (name, "size")
    assert table.nominal[name].tolist() == ["1", "2", "3"] * (N // 3)


def test_names_that_begin_with_one_another(tmp_path: Path) -> None:
    head = """@relation r
@attribute 'order' numeric
@attribute 'order date' date 'yyyy-MM-dd'
@attribute 'order date known' {no,yes}
@data
"""
    rows = "".join(
        f"{i},'2020-{i % 12 + 1:02}-01',{'yes' if i % 2 else 'no'}\n" for i in range(N)
    )
    spec = described(tmp_path, head + rows, name="x.arff")
    data = load_from_spec(spec)
    assert data.classes == ("no", "yes")
    assert data.feature_names[:2] == ("order", "order date")


BAD = {
    "a word": (
        HEAD + ROWS.replace(f",{SIZES[0]}", ",many", 1),
        "line 7 is not ARFF: .*many",
    ),
    "an unknown type": (
        HEAD.replace("real", "length") + ROWS,
        "line 4 is not ARFF: '@attribute s",
    ),
    "a category that is not declared": (
        HEAD + ROWS + "1,2,d\n",
        "line 67 is not ARFF: '1,2,d'",
    ),
    "too few values": (HEAD + ROWS + "1,2\n", "line 67 is not ARFF: '1,2'"),
    "no rows": (HEAD.replace("@data\n", ""), "it has no line @data"),
    "a name twice": (
        HEAD.replace("size", "dose") + ROWS,
        r"'dose' appears twice \(columns 1 and",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_line_that_is_not_arff_is_named(tmp_path: Path, case: str) -> None:
    text, problem = BAD[case]
    with pytest.raises(ElmbenchError, match=problem) as caught:
        read(tmp_path, text)
    assert caught.value.next_step
    assert "x.arff" in caught.value.found
