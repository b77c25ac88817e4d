"""A user's file: every format, the detected settings, and what is refused."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from loopback import Server, add_openml, arff_text
from sentences import sentence
from sklearn.datasets import dump_svmlight_file
from user_files import N, described, loaded, write

from elmbench.datasets import faults, user_data
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.user_data import UserData, local_file
from elmbench.errors import ElmbenchError

ROWS = np.random.default_rng(0).normal(size=(N, 3)).round(6)
WORDS = np.array(["good", "bad", "ugly"])[np.arange(N) % 3]
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "c"]).assign(kind=WORDS)


def written(folder: Path, form: str) -> str:
    if form.endswith("svm"):
        dump_svmlight_file(
            ROWS, np.arange(N) % 3, str(folder / f"My data.{form}"), zero_based=False
        )
        return str(folder / f"My data.{form}")
    return write(folder, FRAME, f"My data.{form}")


@pytest.mark.parametrize(
    "form", ["csv", "csv.gz", "parquet", "arff", "npz", "svm", "libsvm"]
)
def test_every_format_gives_the_same_rows(tmp_path: Path, form: str) -> None:
    spec = describe(UserData(written(tmp_path, form)))
    assert (spec.name, spec.task, spec.shape.instances, spec.shape.features) == (
        "my-data",
        "classification",
        N,
        3,
    )
    data = load_from_spec(spec)
    np.testing.assert_allclose(data.X, ROWS, atol=1e-12)
    assert data.classes == (
        ("0", "1", "2") if form.endswith("svm") else ("bad", "good", "ugly")
    )
    if not form.endswith("svm"):
        np.testing.assert_array_equal(np.array(data.classes)[data.y], WORDS)


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (np.arange(N) % 2, "classification"),
        (np.arange(N) % 2 + 0.5, "regression"),
        (np.arange(N), "regression"),
        (np.arange(N) % 4 == 0, "classification"),
        (WORDS, "classification"),
        (ROWS[:, 0], "regression"),
    ],
)
def test_the_task_is_found_by_the_target_or_named(
    tmp_path: Path, target: Any, task: str
) -> None:
    spec = described(tmp_path, FRAME.assign(kind=target), "kind")
    assert spec.task == task
    assert "detected by its values" in spec.notes[0]
    if task == "classification" and len(set(target)) == 2:
        assert set(load_from_spec(spec).y) == {-1, 1}
    assert (
        described(
            tmp_path, FRAME.assign(kind=np.arange(N) % 5), "kind", task="regression"
        ).task
        == "regression"
    )
    assert (
        described(tmp_path, FRAME, "a", task="classification").task == "classification"
    )


@pytest.mark.parametrize(
    ("names", "target"),
    [
        (["a", "y", "c", "kind"], "y"),
        (["class", "b", "y", "kind"], "class"),
        (["a", "b", "c", "kind"], "kind"),
    ],
)
def test_the_target_is_found_by_its_name_or_is_the_last(
    tmp_path: Path, names: list[str], target: str
) -> None:
    frame = FRAME.assign(kind=np.arange(N) % 3).set_axis(names, axis=1)
    assert loaded(tmp_path, frame).feature_names == tuple(
        name for name in names if name != target
    )
    # A column with another use is not the default target.
    for use in ({"drop": (target,)}, {"groups": target}, {"ordered_by": target}):
        assert described(
            tmp_path,
            frame.rename(columns={"y": "z"}).assign(**{target: frame[target]}),
            **use,
        ).sources


def test_an_index_of_pandas_is_not_the_default_target(tmp_path: Path) -> None:
    for name, features in ((None, ("a", "b", "c")), ("id", ("a", "b", "c", "id"))):
        rows = FRAME.rename_axis(name).rename(index=lambda number: 2 * number)
        data = loaded(tmp_path, rows, name="x.parquet")
        assert (data.task, data.feature_names) == ("classification", features)


def test_nested_columns_are_left_out(tmp_path: Path) -> None:
    frame = FRAME.assign(list=[[1, 2]] * N, record=[{"x": 1}] * N)
    for drop in ((), ("list",), ("list", "record")):
        spec = described(tmp_path, frame, "kind", name="x.parquet", drop=drop)
        assert (
            sentence("datasets.user.nested-columns-not-read", columns="list, record")
            in spec.notes
        )
        assert load_from_spec(spec).feature_names == tuple(
            name for name in FRAME if name != "kind"
        )


def test_the_checksum_depends_on_groups_and_categories(tmp_path: Path) -> None:
    frame = FRAME.assign(g=np.arange(N) % 4, h=np.arange(N) % 5, w=WORDS)
    by_g, by_h = (loaded(tmp_path, frame, "kind", groups=name) for name in "gh")
    assert by_g.X.shape == by_h.X.shape
    assert by_g.checksum != by_h.checksum
    assert by_g.columns.words == ("w",)
    assert len(np.unique(by_g.groups)) == 4


REFUSED = {
    "no such column": (FRAME, {"target": "knd"}, "did you mean 'kind'"),
    "one class": (FRAME.assign(kind="x"), {}, "every row has the target 'x'"),
    "ranges": (
        FRAME.assign(kind=[f"{i} to {i + 9}" for i in range(N)]),
        {},
        f"has {N} different labels in {N} rows",
    ),
    "missing values": (
        FRAME.assign(a=[np.nan] * 5 + [1.0] * (N - 5)),
        {"impute": False},
        ": 5 missing values in 5 rows",
    ),
    "few rows": (FRAME[:10], {}, "10 rows"),
    "infinite": (
        FRAME.assign(b=[np.inf, *ROWS[1:, 1]]),
        {},
        "a value in the column 'b' is infinite",
    ),
    "huge": (
        FRAME.assign(b=ROWS[:, 1] * 1e306),
        {},
        "'b' is infinite or too large to be squared",
    ),
    "target dropped": (FRAME, {"drop": ("kind",)}, "2 options name the column 'kind'"),
    "no target": (
        FRAME.assign(kind=""),
        {},
        f"the target 'kind' is missing in {N} of {N} rows\\n.*\\n.* --target",
    ),
    "separator": (FRAME, {"separator": "||"}, "'||' has 2 characters"),
    "regression": (
        FRAME.assign(kind=["1,5", "2", "a"] * (N // 3)),
        {"task": "regression"},
        "regression holds 'a'",
    ),
    "constant": (
        FRAME.assign(kind=0.1),
        {},
        "the target is constant, infinite, too large or too small, such as 0.1",
    ),
    "several columns": (
        FRAME,
        {"drop": ("a, b",)},
        "no column 'a, b'(\n.*)*give the option once for each of a, b",
    ),
    "two uses": (
        FRAME,
        {"groups": "a", "weights": "a"},
        "2 options name the column 'a'",
    ),
    "row without a group": (
        FRAME.assign(b=[None, *WORDS[1:]]),
        {"groups": "b"},
        f"group is missing in 1 of {N} rows",
    ),
    "no group": (FRAME, {"groups": "clan"}, "no column 'clan'"),
    "no order": (
        FRAME.assign(b=[np.nan, *ROWS[1:, 1]]),
        {"ordered_by": "when"},
        "no column 'when'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused(tmp_path: Path, case: str) -> None:
    frame, asked, message = REFUSED[case]
    with pytest.raises(ElmbenchError, match=message) as caught:
        described(tmp_path, frame, **({"target": "kind"} | asked))
    assert caught.value.next_step
    if case == "missing values":
        assert "leave --no-impute out" in caught.value.next_step


@pytest.mark.parametrize("rows", ["", ",".join(["1"] * 10**6)])
def test_a_million_columns_are_refused_before_they_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str
) -> None:
    monkeypatch.delattr(pd, "read_csv")
    with pytest.raises(ElmbenchError, match=r"x\.csv has 1,000,000 columns") as caught:
        described(tmp_path, ",".join(f"c{i}" for i in range(10**6)) + "\n" + rows)
    assert caught.value.expected == "at most 100,000 columns"


def test_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    for path in (str(loop), "~nobody-of-that-name/x.csv", str(tmp_path / "x.csv")):
        with pytest.raises(ElmbenchError, match="does not exist"):
            describe(UserData(path))
    with pytest.raises(ElmbenchError, match="unknown kind of file"):
        described(tmp_path, "a", name="x.xls")


def test_the_format_follows_from_the_extension_of_a_link_or_its_target(
    tmp_path: Path,
) -> None:
    blob = Path(written(tmp_path, "csv.gz")).rename(tmp_path / "8f14e45f")
    link = tmp_path / "flowers.csv.gz"
    link.symlink_to(blob)
    spec = describe(UserData(str(link)))
    assert (spec.title, load_from_spec(spec).X.shape) == ("flowers.csv.gz", (N, 3))
    (tmp_path / "latest").symlink_to(link)
    (tmp_path / "latest-2").symlink_to(written(tmp_path, "parquet"))
    assert load_from_spec(describe(UserData(str(tmp_path / "latest-2")))).X.shape == (
        N,
        3,
    )
    with pytest.raises(ElmbenchError, match="latest: unknown kind of file"):
        describe(UserData(str(tmp_path / "latest")))


@pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="the system has no /proc/self/fd"
)
def test_a_link_of_this_process_alone_is_followed(tmp_path: Path) -> None:
    path = written(tmp_path, "csv")
    with open(path, "rb") as stream:
        name = f"/dev/fd/{stream.fileno()}"
        assert local_file(name).path == Path(path).resolve()


@pytest.mark.parametrize("name", ["My data.CSV.GZ", "My data.Csv", "My data.PARQUET"])
def test_file_extensions_may_have_capitals(tmp_path: Path, name: str) -> None:
    path = Path(written(tmp_path, name.partition(".")[2].lower())).rename(
        tmp_path / name
    )
    spec = describe(UserData(str(path)))
    assert (spec.name, load_from_spec(spec).X.shape) == ("my-data", (N, 3))


def libsvm(queries: bool = False, missing: str = "") -> str:
    """Return LIBSVM text of three features, whose first value of each fifth row is `missing`."""
    lines = []
    for i, row in enumerate(ROWS):
        values = [f"{position}:{value}" for position, value in enumerate(row, start=1)]
        if missing and i % 5 == 0:
            values[0] = f"1:{missing}"
        query = f"qid:{i // 4} " if queries else ""
        lines.append(f"{i % 3} {query}{' '.join(values)} # row {i}")
    return "\n".join(lines) + "\n"


def test_query_ids_of_libsvm_text_are_groups_if_they_are_named(tmp_path: Path) -> None:
    spec = described(tmp_path, libsvm(queries=True), name="x.svm")
    assert any("query ids are not read" in note for note in spec.notes)
    assert load_from_spec(spec).groups is None
    test = write(tmp_path, libsvm(queries=True), "test.svm")
    spec = described(
        tmp_path, libsvm(queries=True), name="x.svm", groups="qid", test=test
    )
    data = load_from_spec(spec)
    np.testing.assert_array_equal(data.X, np.vstack([ROWS, ROWS]))
    queries = np.tile(np.arange(N) // 4, 2)
    numbers = np.unique(queries.astype(str), return_inverse=True)[1]
    np.testing.assert_array_equal(data.groups, numbers)
    assert data.feature_names == ("x0", "x1", "x2")
    assert not any("query ids" in note for note in spec.notes)
    some = libsvm(queries=True).replace("qid:0 ", "")
    for text, count in ((some, N - 4), (libsvm(), 0)):
        with pytest.raises(
            ElmbenchError, match=rf"a query id \(qid\) in {count} of {N} rows"
        ):
            described(tmp_path, text, name="x.svm", groups="qid")


def test_missing_values_of_sparse_rows_are_imputed_if_they_become_dense(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = libsvm(missing="nan")
    with pytest.raises(ElmbenchError, match="12 missing values in 12 rows") as caught:
        described(tmp_path, text, name="x.svm", impute=False)
    assert "leave --no-impute out" in str(caught.value.next_step)
    spec = described(tmp_path, text, name="x.svm")
    assert (
        sentence("datasets.user.missing-values-imputed", column="x0") in spec.notes[0]
    )
    data = load_from_spec(spec)
    assert data.is_raw
    np.testing.assert_array_equal(data.X["x0"].isna(), np.arange(N) % 5 == 0)
    monkeypatch.setattr(faults, "DENSE_VALUES", 1)
    with pytest.raises(ElmbenchError, match="12 missing values in 12 rows") as caught:
        described(tmp_path, text, name="x.svm")
    assert sentence("datasets.user.sparse-rows-not-imputed") in str(
        caught.value.next_step
    )


def test_a_name_that_is_very_long(tmp_path: Path) -> None:
    """The file's is made a part of others', with more put to it."""
    spec = described(
        tmp_path, "a,kind\n" + "1,no\n2,yes\n" * 10, name=f"{'ab ' * 83}.csv"
    )
    assert spec.name == "-".join(["ab"] * 20)
    names = [
        user_data.name_of(f"{name}.csv") for name in ("数据", "測試", "Größe", "grosse")
    ]
    assert len({*names}) == 4
    assert all(re.fullmatch("[a-z0-9-]+", name) for name in names)


def test_sets_of_scikit_learn(tmp_path: Path) -> None:
    spec = describe(UserData("sklearn:wine"))
    assert (spec.name, spec.title, spec.shape.instances) == (
        "sklearn-wine",
        "sklearn:wine",
        178,
    )
    assert describe(UserData("sklearn:wine", "alcohol")).task == "regression"
    with pytest.raises(ElmbenchError, match="no column 'nope'"):
        describe(UserData("sklearn:wine", "nope"))
    with pytest.raises(ElmbenchError, match="did you mean 'wine'"):
        describe(UserData("sklearn:win"))
    with pytest.raises(ElmbenchError, match="is not an OpenML data set"):
        describe(UserData("openml:wine"))


@pytest.fixture
def seven(openml_server: Server) -> Server:
    """A server with the rows as OpenML data set 7."""
    kinds = ["NUMERIC"] * 3 + ["{good,bad,ugly}"]
    add_openml(
        openml_server,
        7,
        arff_text(list(FRAME), kinds, FRAME.astype(str).to_numpy().tolist()),
        target="kind",
    )
    return openml_server


def test_a_set_of_openml_is_fetched_once_for_each_target(seven: Server) -> None:
    spec = describe(UserData("openml:7"))
    assert (spec.name, spec.title, spec.task) == (
        "openml-7",
        "openml:7",
        "classification",
    )
    assert spec.shape.classes == {"bad": 20, "good": 20, "ugly": 20}
    np.testing.assert_array_equal(load_from_spec(spec).X, ROWS)
    asked = len(seven.requests)
    assert describe(UserData("openml:7")) == spec
    assert len(seven.requests) == asked
    other = describe(UserData("openml:7", target="b"))
    assert (other.name, other.task) == ("openml-7", "regression")
    np.testing.assert_array_equal(load_from_spec(other).y, ROWS[:, 1])
    with pytest.raises(ElmbenchError, match="no column 'q'"):
        describe(UserData("openml:7", target="q"))
    rows = [[str(i % 9), "12"[i % 2], "no" if i % 3 else "yes"] for i in range(N)]
    add_openml(
        seven,
        8,
        arff_text(["a", "code", "kind"], ["NUMERIC", "{1,2}", "{no,yes}"], rows),
        target="kind",
    )
    assert load_from_spec(describe(UserData("openml:8"))).columns.words == ("code",)


def test_sparse_rows_of_openml_are_never_made_dense(
    openml_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of texts have tens of thousands of columns."""
    head = [f"@ATTRIBUTE x{index} NUMERIC" for index in range(50)] + [
        "@ATTRIBUTE class {no,yes}"
    ]
    lines = [
        f"{{{index} {index + 1}{',50 yes' * (index % 3 > 0)}}}" for index in range(40)
    ]
    add_openml(
        openml_server,
        7,
        "\n".join(["@RELATION rows", *head, "@DATA", *lines, ""]),
        sparse=True,
    )
    monkeypatch.setattr(faults, "DENSE_VALUES", 1999)
    spec = describe(UserData("openml:7"))
    assert (spec.sparse, spec.shape.classes) == (True, {"no": 14, "yes": 26})
    result = load_from_spec(spec)
    assert sp.issparse(result.X)
    np.testing.assert_array_equal(result.X.toarray(), np.diag(np.arange(1.0, 51))[:40])
    np.testing.assert_array_equal(result.y, np.where(np.arange(40) % 3 > 0, 1, -1))


@pytest.mark.parametrize("form", ["svm", "npz"])
def test_sparse_rows_with_more_columns_than_can_be_named(
    tmp_path: Path, form: str
) -> None:
    path = tmp_path / f"wide.{form}"
    if form == "svm":
        path.write_text("1 1:1\n2 2000000000:1\n")
    else:
        wide = sp.csr_matrix(([1.0, 1.0], ([0, 1], [0, 1])), shape=(2, 2**62))
        parts = {
            name: getattr(wide, name) for name in ("data", "indices", "indptr", "shape")
        }
        np.savez(path, **parts, target=np.array([1.0, 2.0]))
    with pytest.raises(ElmbenchError, match="columns, more than 20,000,000"):
        describe(UserData(str(path)))


@pytest.mark.parametrize("form", ["%m/%d/%Y", "%d.%m.%y %H:%M"])
def test_rows_are_sorted_by_dates_as_they_are_written(
    tmp_path: Path, form: str
) -> None:
    days = pd.date_range("2023-01-01", "2024-12-30", periods=N).floor("D")
    mixed = np.random.default_rng(1).permutation(N)
    frame = FRAME.assign(a=np.arange(N), day=days.strftime(form)).iloc[mixed]
    spec = described(tmp_path, frame, "kind", ordered_by="day")
    assert "sorted by day, 2023-01-01 to 2024-12-30" in spec.notes[0]
    np.testing.assert_array_equal(load_from_spec(spec).X[:, 0], np.arange(N))


def test_a_column_without_a_name_never_gets_that_of_another(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 7},{i * i},{i % 2}\n" for i in range(N))
    data = loaded(tmp_path, f"column 2,,b,y\n{rows}")
    assert data.feature_names == ("column 2", "column 2-2", "b")
    np.testing.assert_array_equal(data.X[:, 1], np.arange(N) % 7)


def test_dates_of_arff_are_dates(tmp_path: Path) -> None:
    days = pd.date_range("2023-01-01", periods=N)
    head = "@relation r\n@attribute 'a day' DATE 'yyyy-MM-dd'\n@attribute y numeric\n@data\n"
    data = loaded(
        tmp_path,
        head + "".join(f'"{day:%Y-%m-%d}",{day.day}\n' for day in days),
        name="x.arff",
    )
    assert data.X["a day"].tolist() == days.tolist()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["week 9", "week 10"], "holds 'week 9'"),
        (["32.1.2023", "1.1.2023"], r"holds '32\.1\.2023'"),
        (["1.1.2023", "n.a."], "has missing values"),
    ],
)
def test_an_order_of_words_is_refused(
    tmp_path: Path, words: list[str], problem: str
) -> None:
    with pytest.raises(ElmbenchError, match=f"sorted by, {problem}"):
        described(
            tmp_path, FRAME.assign(day=words * (N // 2)), "kind", ordered_by="day"
        )
