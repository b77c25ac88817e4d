"""A user's file: every format, the detected settings, and what is refused."""

from __future__ import annotations

import bz2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from loopback import Server, add_openml, arff_text
from sklearn.datasets import dump_svmlight_file

from elmbench.datasets import local_files, user_data, user_table
from elmbench.datasets.load import load
from elmbench.datasets.user_data import UserData, describe
from elmbench.errors import ElmbenchError

N = 60
ROWS = np.random.default_rng(0).normal(size=(N, 3)).round(6)
WORDS = np.array(["good", "bad", "ugly"])[np.arange(N) % 3]
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "c"]).assign(kind=WORDS)


def written(folder: Path, form: str) -> Path:
    path = folder / f"My data.{form}"
    if form.startswith("csv"):
        FRAME.to_csv(path, index=False)
    elif form == "parquet":
        FRAME.to_parquet(path)
    elif form == "arff":
        lines = ["@relation r", *(f"@attribute {name} numeric" for name in "abc")]
        lines += ["@attribute kind {good,bad,ugly}", "@data"]
        path.write_text("\n".join([*lines, *(",".join(map(str, row)) for row in FRAME.to_numpy())]))
    elif form == "npz":
        np.savez(path, X=ROWS, y=WORDS)
    else:
        dump_svmlight_file(ROWS, np.arange(N) % 3, str(path), zero_based=False)
    return path


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "arff", "npz", "svm", "libsvm"])
def test_every_format_gives_the_same_rows(tmp_path: Path, form: str) -> None:
    spec = describe(UserData(str(written(tmp_path, form))))
    assert (spec.name, spec.task, spec.shape.instances, spec.shape.features) == ("my-data", "classification", N, 3)
    data = load(spec)
    np.testing.assert_allclose(data.X, ROWS, atol=1e-12)
    assert data.classes is not None
    named = ["0", "1", "2"] if form.endswith("svm") else ["bad", "good", "ugly"]
    assert list(data.classes) == named
    if named[0] == "bad":
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
def test_the_task_is_found_by_the_target(tmp_path: Path, target: Any, task: str) -> None:
    path = tmp_path / "x.csv"
    FRAME.assign(kind=target).to_csv(path, index=False)
    spec = describe(UserData(str(path), "kind"))
    assert spec.task == task
    assert "detected by its values" in spec.notes[0]
    if task == "classification" and len(set(target)) == 2:
        assert set(load(spec).y) == {-1, 1}


def test_the_task_may_be_said(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    FRAME.assign(kind=np.arange(N) % 5).to_csv(path, index=False)
    assert describe(UserData(str(path), "kind", "regression")).task == "regression"
    assert describe(UserData(str(path), "a", "classification")).task == "classification"


@pytest.mark.parametrize(
    ("names", "target"),
    [(["a", "y", "c", "kind"], "y"), (["class", "b", "y", "kind"], "class"), (["a", "b", "c", "kind"], "kind")],
)
def test_the_target_is_found_by_its_name_or_is_the_last(tmp_path: Path, names: list[str], target: str) -> None:
    frame = FRAME.drop(columns="kind").assign(kind=np.arange(N) % 3)
    frame.columns = names
    frame.to_csv(tmp_path / "x.csv", index=False)
    spec = describe(UserData(str(tmp_path / "x.csv")))
    assert load(spec).feature_names == tuple(name for name in names if name != target)


def test_the_checksum_tells_groups_and_categories_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    FRAME.assign(g=np.arange(N) % 4, h=np.arange(N) % 5, w=WORDS).to_csv(path, index=False)
    by_g, by_h = (load(describe(UserData(str(path), "kind", groups=name))) for name in "gh")
    assert by_g.X.shape == by_h.X.shape
    assert by_g.checksum != by_h.checksum
    assert by_g.nominal == (4,)
    assert by_g.groups is not None
    assert len(np.unique(by_g.groups)) == 4


REFUSED = {
    "no such column": (FRAME, {"target": "knd"}, "did you mean 'kind'"),
    "one class": (FRAME.assign(kind="x"), {}, "every row has the target 'x'"),
    "missing values": (FRAME.assign(a=[np.nan] * 5 + [1.0] * (N - 5)), {}, "5 values are missing, in 5 rows"),
    "missing targets": (FRAME.assign(kind=[None, *WORDS[1:]]), {}, "the target is missing in 1 of 60"),
    "few rows": (FRAME[:10], {}, "10 rows"),
    "infinite": (FRAME.assign(b=[np.inf, *ROWS[1:, 1]]), {}, "infinite value in the column 'b'"),
    "no group": (FRAME, {"groups": "clan"}, "no column 'clan'"),
    "no order": (FRAME.assign(b=[np.nan, *ROWS[1:, 1]]), {"ordered_by": "when"}, "no column 'when'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused(tmp_path: Path, case: str) -> None:
    frame, asked, message = REFUSED[case]
    frame.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ElmbenchError, match=message) as caught:
        describe(UserData(str(tmp_path / "x.csv"), **({"target": "kind"} | asked)))
    assert caught.value.next_step
    if case == "missing values":
        assert "--impute" in caught.value.next_step


@pytest.mark.parametrize(("name", "message"), [("x.xls", "unknown kind of file"), ("x.csv", "is not there")])
def test_a_file_that_is_not_read(tmp_path: Path, name: str, message: str) -> None:
    if name != "x.csv":
        (tmp_path / name).write_text("a")
    with pytest.raises(ElmbenchError, match=message):
        describe(UserData(str(tmp_path / name)))


@pytest.mark.parametrize("rows", ["", ",".join(["1"] * 10**6)])
def test_a_million_columns_are_refused_before_they_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str
) -> None:
    monkeypatch.delattr(pd, "read_csv")
    (tmp_path / "x.csv").write_text(",".join(f"c{i}" for i in range(10**6)) + "\n" + rows)
    with pytest.raises(ElmbenchError, match=r"x\.csv has 1,000,000 columns") as caught:
        describe(UserData(str(tmp_path / "x.csv")))
    assert caught.value.expected == "at most 100,000 columns"


def test_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    for index in (str(loop), "~nobody-of-that-name/x.csv", "x\0.csv"):
        with pytest.raises(ElmbenchError, match="is not a path"):
            describe(UserData(index))


def test_a_name_that_is_very_long(tmp_path: Path) -> None:
    """The file's is made a part of others', with more put to it."""
    path = tmp_path / f"{'ab ' * 83}.csv"
    path.write_text("a,kind\n" + "1,no\n2,yes\n" * 10)
    assert describe(UserData(str(path))).name == "-".join(["ab"] * 20)


def test_sets_of_scikit_learn(tmp_path: Path) -> None:
    spec = describe(UserData("sklearn:wine"))
    assert (spec.name, spec.title, spec.shape.instances) == ("sklearn-wine", "sklearn:wine", 178)
    assert describe(UserData("sklearn:diabetes")).task == "regression"
    with pytest.raises(ElmbenchError, match="did you mean 'wine'"):
        describe(UserData("sklearn:win"))
    with pytest.raises(ElmbenchError, match="is not an OpenML data set"):
        describe(UserData("openml:wine"))


def test_a_set_of_openml_is_fetched_once_for_each_target(openml_server: Server, tmp_path: Path) -> None:
    names, kinds = ["a", "b", "c", "kind"], ["NUMERIC"] * 3 + ["{good,bad,ugly}"]
    add_openml(openml_server, 7, arff_text(names, kinds, FRAME.astype(str).to_numpy().tolist()), target="kind")
    spec = describe(UserData("openml:7"))
    assert (spec.name, spec.title, spec.task) == ("openml-7", "openml:7", "classification")
    assert spec.shape.classes == {"bad": 20, "good": 20, "ugly": 20}
    np.testing.assert_array_equal(load(spec).X, ROWS)
    asked = len(openml_server.requests)
    assert describe(UserData("openml:7")) == spec
    assert len(openml_server.requests) == asked
    other = describe(UserData("openml:7", target="b"))
    assert (other.name, other.task) == ("openml-7", "regression")
    np.testing.assert_array_equal(load(other).y, ROWS[:, 1])
    with pytest.raises(ElmbenchError, match="no column 'q'"):
        describe(UserData("openml:7", target="q"))


def test_a_set_of_openml_that_is_far_too_large(
    openml_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_files, "MOST_BYTES", 1000)
    names, kinds = ["a", "b", "c", "kind"], ["NUMERIC"] * 3 + ["{good,bad,ugly}"]
    add_openml(openml_server, 7, arff_text(names, kinds, FRAME.astype(str).to_numpy().tolist()), target="kind")
    with pytest.raises(ElmbenchError, match="holds more than the 0"):
        describe(UserData("openml:7"))
    assert not list((tmp_path / "cache" / "own").glob("*.parquet"))


def test_sparse_rows_of_openml_are_never_made_dense(
    openml_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of texts have tens of thousands of columns."""
    head = [f"@ATTRIBUTE x{index} NUMERIC" for index in range(50)] + ["@ATTRIBUTE class {no,yes}"]
    lines = [f"{{{index} {index + 1}{',50 yes' * (index % 3 > 0)}}}" for index in range(40)]
    add_openml(openml_server, 7, "\n".join(["@RELATION rows", *head, "@DATA", *lines, ""]), sparse=True)
    monkeypatch.setattr(user_data, "DENSE_VALUES", 1999)
    spec = describe(UserData("openml:7"))
    assert (spec.sparse, spec.shape.classes) == (True, {"no": 14, "yes": 26})
    result = load(spec)
    assert sp.issparse(result.X)
    np.testing.assert_array_equal(result.X.toarray(), np.diag(np.arange(1.0, 51))[:40])
    np.testing.assert_array_equal(result.y, np.where(np.arange(40) % 3 > 0, 1, -1))


@pytest.mark.parametrize("form", ["svm", "npz"])
def test_sparse_rows_with_more_columns_than_can_be_named(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"wide.{form}"
    if form == "svm":
        path.write_text("1 1:1\n2 2000000000:1\n")
    else:
        wide = sp.csr_matrix(([1.0, 1.0], ([0, 1], [0, 1])), shape=(2, 2**62))
        parts = {name: getattr(wide, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez(path, **parts, target=np.array([1.0, 2.0]))
    with pytest.raises(ElmbenchError, match="holds more than"):
        describe(UserData(str(path)))


def test_a_file_that_unpacks_to_far_more_than_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_table, "MOST_AT_LEAST", 10_000)
    path = tmp_path / "mine.csv.bz2"
    path.write_bytes(bz2.compress(b"a,target\n" + b"1,1\n" * 1_000_000))
    with pytest.raises(ElmbenchError, match="holds more than"):
        describe(UserData(str(path)))
    assert describe(UserData(str(written(tmp_path, "csv.gz")))).shape.instances == N


@pytest.mark.parametrize("form", ["%m/%d/%Y", "%d.%m.%y %H:%M"])
def test_rows_are_sorted_by_dates_as_they_are_written(tmp_path: Path, form: str) -> None:
    days = pd.date_range("2023-01-01", "2024-12-30", periods=N).floor("D")
    mixed = np.random.default_rng(1).permutation(N)
    FRAME.assign(a=np.arange(N), day=days.strftime(form)).iloc[mixed].to_csv(tmp_path / "x.csv", index=False)
    spec = describe(UserData(str(tmp_path / "x.csv"), "kind", ordered_by="day"))
    assert "sorted by day, 2023-01-01 to 2024-12-30" in spec.notes[0]
    np.testing.assert_array_equal(load(spec).X[:, 0], np.arange(N))


@pytest.mark.parametrize("words", [["week 9", "week 10"], ["1.1.2023", "32.1.2023"]])
def test_an_order_of_words_is_refused(tmp_path: Path, words: list[str]) -> None:
    FRAME.assign(day=words * (N // 2)).to_csv(tmp_path / "x.csv", index=False)
    odd = words[1] if "32" in words[1] else words[0]
    with pytest.raises(ElmbenchError, match=f"sorted by, holds '{odd}'"):
        describe(UserData(str(tmp_path / "x.csv"), "kind", ordered_by="day"))
