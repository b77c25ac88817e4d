"""OpenML on loopback: its own client asks a server that answers, fails or lies as OpenML may."""

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from loopback import API, Server, add_openml, arff_text, refuse_openml, toy

from elmbench.datasets.fetch import fetch_dataset
from elmbench.datasets.load import load_dataset
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import DatasetSpecs
from elmbench.specs.files import read_yaml, spec_root

Use = Callable[[dict[str, Any]], DatasetSpecs]
FILE = "/data/v1/download/7/rows.arff"
NAMES = ["size", "colour", "flag", "class"]
KINDS = ["NUMERIC", "{red,'light blue'}", "{0,1}", "{no,yes}"]
ROWS = [
    ["0.1", "red", "1", "no"],
    ["-2.5e-7", "'light blue'", "0", "yes"],
    ["?", "red", "0", "no"],
    ["123456789.125", "red", "1", "yes"],
    ["4", "'light blue'", "1", "no"],
]
ARFF = arff_text(NAMES, KINDS, ROWS)
#: Of the prepared rows.
FINGERPRINT = {
    "columns": [0.9072528, 3.8927827, 8.0263251],
    "rows": [0.4082483, 0.0, 0.3333333],
    "target": [0.0, 0.0, 0.1666667, 0.0, 1.0],
}


def seven(known: bool = False, **source: Any) -> dict[str, Any]:
    """Return the entry of the rows in `datasets.yaml`, if they are `known` with their
    fingerprint.
    """
    return toy(
        {"kind": "openml", "id": 7, **source},
        positive=["yes"],
        shape={"instances": 5, "features": 3, "classes": {"no": 3, "yes": 2}},
        prepare=[{"step": "one-hot"}, {"step": "drop-missing-rows"}],
        prepared={"instances": 4, "features": 4},
        fingerprint=FINGERPRINT if known else None,
    )


def parquet_bytes(order: list[int] | None = None) -> bytes:
    """Return the rows as a Parquet file, perhaps with the sizes of other rows."""
    sizes = np.array([0.1, -2.5e-7, np.nan, 123456789.125, 4])
    frame = pd.DataFrame({"size": sizes[order or slice(None)]})
    frame["colour"] = pd.Categorical(["red", "light blue", "red", "red", "light blue"])
    frame["flag"] = pd.Categorical(["1", "0", "0", "1", "1"])
    frame["class"] = pd.Categorical(["no", "yes", "no", "yes", "no"])
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return stream.getvalue()


def check_fetched_toy() -> None:
    fetch_dataset("toy")
    data = load_dataset("toy")
    assert data.feature_names == ("size", "colour=light blue", "colour=red", "flag")
    np.testing.assert_array_equal(
        data.X[:, [0, 1, 3]],
        [[0.1, 0, 1], [-2.5e-7, 1, 0], [123456789.125, 0, 1], [4, 1, 1]],
    )
    np.testing.assert_array_equal(data.y, [-1, 1, 1, -1])
    assert data.source == "OpenML 7"


@pytest.fixture
def rows(openml_server: Server, use_specs: Use) -> Server:
    """A server with the rows as OpenML data set 7, which is the data set `toy`."""
    use_specs(seven())
    add_openml(openml_server, 7, ARFF, gzipped=False)
    return openml_server


@pytest.mark.parametrize("more", [{}, {"gzipped": False}, {"status": "deactivated"}])
def test_nominal_columns_and_missing_values(
    rows: Server, tmp_path: Path, more: dict[str, Any]
) -> None:
    add_openml(rows, 7, ARFF, **more)
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")
    result = fetch_dataset("toy")
    assert (result.name, result.origin, result.downloaded) == ("toy", "OpenML 7", True)
    check_fetched_toy()
    assert [
        path.suffix for path in (tmp_path / "cache" / "datasets" / "toy").iterdir()
    ] == [".parquet"]
    n_requests = len(rows.requests)
    assert not fetch_dataset("toy").downloaded
    assert len(rows.requests) == n_requests


@pytest.mark.parametrize(
    ("target", "default", "message"),
    [
        (None, None, "no default target"),
        ("label", "class", "no column 'label'"),
        (None, "label", "no column 'label'"),
        ("class", None, ""),
        (-1, None, ""),
    ],
)
def test_the_target_is_named_or_openml_names_it(
    rows: Server,
    use_specs: Use,
    target: str | int | None,
    default: str | None,
    message: str,
) -> None:
    use_specs(seven(target=target))
    add_openml(rows, 7, ARFF, target=default)
    if message:
        with pytest.raises(ElmbenchError, match=message):
            fetch_dataset("toy")
    else:
        check_fetched_toy()


def test_columns_that_openml_ignores(rows: Server, use_specs: Use) -> None:
    use_specs(seven(target="class"))
    lines = [[str(index), *row] for index, row in enumerate(ROWS)]
    more = "<oml:row_id_attribute>number</oml:row_id_attribute><oml:ignore_attribute>class</oml:ignore_attribute>"
    add_openml(
        rows,
        7,
        arff_text(["number", *NAMES], ["NUMERIC", *KINDS], lines),
        target="size",
        more=more,
    )
    check_fetched_toy()


@pytest.mark.parametrize("kind", ["NUMERIC", "{no,yes}"])
def test_sparse_arff_rows_of_openml_are_read(
    openml_server: Server, use_specs: Use, kind: str
) -> None:
    content = seven(labels={"0": "no", "1": "yes"} if kind == "NUMERIC" else {})
    content["toy"] |= {"sparse": True, "prepare": [], "prepared": None}
    content["toy"]["shape"]["features"] = 4
    use_specs(content)
    yes = "yes" if kind != "NUMERIC" else "1"
    # Left out: 0, and of a nominal column the first category. The third value has no
    # single-precision equal.
    lines = ["{0 1.5}", f"{{1 2,4 {yes}}}", "{2 0.1}", f"{{4 {yes}}}", "{}"]
    head = [f"@ATTRIBUTE x{index} NUMERIC" for index in range(4)] + [
        f"@ATTRIBUTE class {kind}"
    ]
    # The dense Parquet file that OpenML makes of sparse rows is left alone.
    text = "\n".join(["@RELATION rows", *head, "@DATA", *lines, ""])
    add_openml(openml_server, 7, text, sparse=True, parquet=parquet_bytes())
    fetch_dataset("toy")
    assert not any(path.endswith(".pq") for path in openml_server.paths())
    data = load_dataset("toy")
    # The labels are spelled as they are, not recognised by their counts.
    assert data.notes == ()
    assert sp.issparse(data.X)
    np.testing.assert_array_equal(data.X.nonzero(), [[0, 1, 2], [0, 1, 2]])
    np.testing.assert_array_equal(data.X.data, [1.5, 2, 0.1])
    np.testing.assert_array_equal(data.y, [-1, 1, -1, 1, -1])


def test_sets_that_are_joined(openml_server: Server, use_specs: Use) -> None:
    content = seven(id=[7, 8])
    content["toy"] |= {
        "prepare": [],
        "prepared": None,
        "shape": {**content["toy"]["shape"], "features": 2},
    }
    use_specs(content)
    labels = [row[3] for row in ROWS]
    for number, targets in ((7, labels), (8, labels), (9, ["yes", *labels[1:]])):
        lines = [[str(number * index), label] for index, label in enumerate(targets)]
        add_openml(
            openml_server,
            number,
            arff_text(["size", "class"], ["NUMERIC", "{no,yes}"], lines),
        )
    fetch_dataset("toy")
    data = load_dataset("toy")
    np.testing.assert_array_equal(data.X, np.outer(np.arange(5), [7, 8]))
    assert data.feature_names == ("7:size", "8:size")
    content["toy"]["sources"][0]["id"] = [7, 9]
    use_specs(content)
    with pytest.raises(ElmbenchError, match="OpenML 9 has other targets than OpenML 7"):
        fetch_dataset("toy")


def test_the_client_leaves_nothing_behind(
    rows: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import openml

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = dict(os.environ), openml.config.get_cache_directory()
    add_openml(rows, 7, ARFF, parquet=b"no")
    fetch_dataset("toy")
    assert (dict(os.environ), openml.config.get_cache_directory()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache"]
    assert not [
        path
        for path in tmp_path.rglob("*")
        if "pkl" in path.name or "pickle" in path.name
    ]


@pytest.mark.parametrize("known", [True, False])
def test_parquet_comes_first_if_the_rows_have_a_fingerprint(
    rows: Server, use_specs: Use, known: bool
) -> None:
    use_specs(seven(known))
    add_openml(rows, 7, ARFF, parquet=parquet_bytes())
    check_fetched_toy()
    assert any(path.endswith(".pq") for path in rows.paths()) == known
    assert any(path.endswith(".arff") for path in rows.paths()) != known


@pytest.mark.parametrize(
    "fault", ["no Parquet", "cut short", "missing", "other values"]
)
def test_arff_comes_where_the_parquet_file_is_bad(
    rows: Server, use_specs: Use, fault: str
) -> None:
    use_specs(seven(known=True))
    body = parquet_bytes([3, 1, 2, 0, 4] if fault == "other values" else None)
    add_openml(
        rows,
        7,
        ARFF,
        parquet={"no Parquet": b"<html>", "cut short": body[:-100]}.get(fault, body),
    )
    if fault == "missing":
        del rows.pages["/datasets/0000/0007/dataset_7.pq"]
    if fault != "other values":
        check_fetched_toy()
        return
    with pytest.raises(ElmbenchError, match="is other data than the public file"):
        fetch_dataset("toy")
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")


def test_a_download_with_a_wrong_checksum_is_rejected(
    rows: Server, tmp_path: Path
) -> None:
    add_openml(rows, 7, ARFF, md5="0" * 32)
    with pytest.raises(
        ElmbenchError, match=r"MD5 hash of .* does not match the known hash"
    ) as error:
        fetch_dataset("toy")
    assert not isinstance(error.value, DataUnavailableError)
    assert not list((tmp_path / "cache").rglob("*.parquet"))


@pytest.mark.parametrize(
    ("code", "message"), [(111, "Unknown dataset"), (112, "No access granted")]
)
def test_a_refusal_is_shown_and_the_next_source_is_asked(
    rows: Server, use_specs: Use, code: int, message: str
) -> None:
    refuse_openml(rows, 7, code, message)
    with pytest.raises(
        ElmbenchError, match=f"'toy' cannot be fetched: OpenML 7: .*{message}"
    ) as error:
        fetch_dataset("toy")
    # The server is there and has its reasons.
    assert not isinstance(error.value, DataUnavailableError)
    assert "elmbench data import toy" in str(error.value.next_step)
    content = seven()
    content["toy"]["sources"].append({"kind": "openml", "id": 8})
    use_specs(content)
    add_openml(rows, 8, ARFF)
    assert fetch_dataset("toy").origin == load_dataset("toy").source == "OpenML 8"


@pytest.mark.parametrize(
    "garbled",
    [
        "<html>",
        "<oml:data_set_description xmlns:oml='o'><oml:id>7</oml:id></oml:data_set_description>",
    ],
)
def test_a_description_that_is_none(rows: Server, garbled: str) -> None:
    rows.pages[f"{API}/data/7"].body = garbled.encode()
    with pytest.raises(ElmbenchError, match="OpenML 7"):
        fetch_dataset("toy")


@pytest.mark.parametrize(
    ("path", "fault"),
    [(f"{API}/data/7", "failures"), (FILE, "failures"), (FILE, "cut")],
)
def test_a_server_that_fails(
    rows: Server, tmp_path: Path, path: str, fault: str
) -> None:
    setattr(rows.pages[path], fault, 99)
    with pytest.raises(DataUnavailableError, match="OpenML 7"):
        fetch_dataset("toy")
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    setattr(rows.pages[path], fault, 0)
    check_fetched_toy()


def real_arff(frame: pd.DataFrame, kinds: dict[str, str]) -> str:
    rows = [list(row) for row in frame.itertuples(index=False)]
    return arff_text(
        list(frame.columns),
        [kinds.get(str(name), "NUMERIC") for name in frame.columns],
        rows,
    )


@pytest.mark.parametrize(
    ("name", "number", "target", "words"),
    [
        ("calhousing", 537, "median_house_value", {}),
        ("ionosphere", 59, "class", {}),
        ("abalone", 183, "Class_number_of_rings", {}),
        ("breast-cancer", 15, "Class", {"2": "benign", "4": "malignant"}),
        ("mammography", 310, "class", {"-1": "a", "1": "b"}),
        ("abalone7", 183, "target", {}),
    ],
)
def test_real_rows_are_those_of_the_public_file(
    real_data: Path,
    openml_server: Server,
    use_specs: Use,
    name: str,
    number: int,
    target: str,
    words: dict[str, str],
) -> None:
    if name == "abalone7":
        entry = read_yaml(spec_root() / "datasets.yaml")[name]
        use_specs({name: {**entry, "sources": entry["sources"][1:]}})
    frame = pd.read_csv(
        real_data / f"{name.rstrip('7')}.csv.gz", dtype=str, keep_default_na=False
    )
    frame = frame.rename(columns={"target": target}).replace({target: words})
    kinds = (
        {}
        if name == "calhousing"
        else {target: "{" + ",".join(sorted(set(frame[target]))) + "}"}
    )
    if "Sex" in frame:
        kinds["Sex"] = "{M,F,I}"
    add_openml(openml_server, number, real_arff(frame, kinds), target=target)
    fetch_dataset(name)
    fetched = load_dataset(name)
    assert fetched.source == f"OpenML {number}"
    assert fetched.checksum == load_dataset(name, real_data).checksum


@pytest.mark.exhaustive
def test_the_six_parts_of_mfeat(real_data: Path, openml_server: Server) -> None:
    frame = pd.read_csv(real_data / "mfeat.csv.gz", dtype=str)
    start = 0
    labels = (frame["target"].astype(int) + 1).astype(str)
    for number, width in (
        (12, 216),
        (14, 76),
        (16, 64),
        (18, 6),
        (40979, 240),
        (22, 47),
    ):
        part = frame.iloc[:, start : start + width].assign(**{"class": labels})
        add_openml(
            openml_server, number, real_arff(part, {"class": "{1,2,3,4,5,6,7,8,9,10}"})
        )
        start += width
    fetch_dataset("mfeat")
    assert load_dataset("mfeat").checksum == load_dataset("mfeat", real_data).checksum
