"""LIBSVM files, archives and Ding's sets on loopback, with the faults of real servers and real
archives.
"""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from loopback import Page, Server, tar_bytes, toy, zip_bytes

from elmbench.datasets.dataset import Dataset
from elmbench.datasets.fetch import fetch_dataset
from elmbench.datasets.load import load_dataset
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import DatasetSpecs

pytestmark = pytest.mark.exhaustive

Use = Callable[[dict[str, Any]], DatasetSpecs]
LIBSVM = "/~cjlin/libsvmtools/datasets"


TEXT = b"+1 1:0.5 3:2\n-1 2:1e-3\n-1 1:7\n"
ROWS = np.array([[0.5, 0, 2, 0], [0, 1e-3, 0, 0], [7, 0, 0, 0]])


def check_fetched_toy() -> None:
    fetch_dataset("toy")
    data = load_dataset("toy")
    np.testing.assert_array_equal(
        data.X if isinstance(data.X, np.ndarray) else data.X.toarray(), ROWS
    )
    np.testing.assert_array_equal(data.y, [1, -1, -1])


def cached_files(tmp_path: Path) -> list[str]:
    return sorted(
        str(path.relative_to(tmp_path / "cache"))
        for path in (tmp_path / "cache").rglob("*")
        if path.is_file()
    )


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("ending", ["", ".bz2", ".xz", ".numer"])
def test_libsvm_files_have_a_fixed_width(
    server: Server, use_specs: Use, ending: str, sparse: bool
) -> None:
    packed = {".bz2": bz2.compress(TEXT), ".xz": lzma.compress(TEXT)}.get(ending, TEXT)
    server.pages["/toy" + ending] = Page(packed)
    use_specs(
        toy({"kind": "libsvm", "url": f"{server.url}/toy{ending}"}, sparse=sparse)
    )
    assert fetch_dataset("toy").origin == f"LIBSVM toy{ending}"
    check_fetched_toy()
    assert not fetch_dataset("toy").downloaded


def unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def fetch_public(name: str, real_data: Path) -> Dataset:
    """Fetch a data set, whose rows must be those of the public file; return it."""
    fetch_dataset(name)
    fetched = load_dataset(name)
    assert fetched.checksum == load_dataset(name, real_data).checksum
    return fetched


@pytest.mark.parametrize("name", ["heart", "german", "adult", "webpage"])
def test_libsvm_files_give_the_public_rows(
    real_data: Path, loopback_specs: Server, name: str
) -> None:
    names = {
        "german": ["german.numer"],
        "adult": ["a9a", "a9a.t"],
        "webpage": ["w8a"],
    }.get(name, [name])
    for address, path in zip(
        names, sorted(real_data.glob(f"{name}.*"), reverse=True), strict=True
    ):
        content = unpacked(path)
        if name == "webpage":  # repeated lines of the public file are dropped
            lines = content.splitlines()
            content = b"\n".join([*lines, *lines[100:5000], b""])
        loopback_specs.pages[f"{LIBSVM}/binary/{address}"] = Page(content)
    assert (fetch_public(name, real_data).splits is not None) == (name == "adult")


def test_libsvm_breast_cancer_is_prepared_already(
    real_data: Path, loopback_specs: Server
) -> None:
    frame = pd.read_csv(real_data / "breast-cancer.csv.gz", na_values="?").dropna()
    lines = [
        f"{row[-1]:.6f} 1:{1000000 + index} "
        + " ".join(f"{at}:{value}" for at, value in enumerate(row[:-1], start=2))
        for index, row in enumerate(frame.itertuples(index=False))
    ]
    loopback_specs.pages[f"{LIBSVM}/binary/breast-cancer"] = Page(
        "\n".join(lines).encode()
    )
    assert fetch_public("breast-cancer", real_data).source == "LIBSVM breast-cancer"


@pytest.mark.parametrize(("name", "number"), [("arcene", 167), ("dexter", 168)])
def test_uci_archives_of_two_parts(
    real_data: Path, loopback_specs: Server, name: str, number: int
) -> None:
    folder, members = name.upper(), {}
    for part, member in (("train", "train"), ("test", "valid")):
        (path,) = real_data.glob(f"{name}.{part}.*")
        if name == "arcene":
            rows, labels = zip(
                *(line.rsplit(b",", 1) for line in unpacked(path).split()[1:]),
                strict=True,
            )
            rows = [row.replace(b",", b" ") for row in rows]
        else:
            labels, rows = zip(
                *(line.split(b" ", 1) for line in unpacked(path).splitlines()),
                strict=True,
            )
        # Each line ends in a blank; the labels of the second part of Arcene lie outside the folder.
        members[f"{folder}/{name}_{member}.data"] = b"".join(
            row + b" \n" for row in rows
        )
        outside = (name, part) == ("arcene", "test")
        members[("" if outside else f"{folder}/") + f"{name}_{member}.labels"] = (
            b"\n".join(labels) + b"\n"
        )
    loopback_specs.pages[f"/static/public/{number}/{name}.zip"] = Page(
        zip_bytes(members)
    )
    fetch_public(name, real_data)


def test_secom_is_read_from_the_archive_of_uci(loopback_specs: Server) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1567, 590)).round(4)
    X[3, 5] = np.nan
    rows = "\n".join(
        " ".join("NaN" if v != v else f"{v:.4f}" for v in row) for row in X
    )
    labels = "\n".join(
        f'{label} "19/07/2008 11:55:00"' for label in np.repeat([-1, 1], [1463, 104])
    )
    members = {
        "secom.names": b"",
        "secom.data": rows.encode(),
        "secom_labels.data": labels.encode(),
    }
    loopback_specs.pages["/static/public/179/secom.zip"] = Page(zip_bytes(members))
    fetch_dataset("Secom")
    data = load_dataset("secom")
    assert (data.y == 1).sum() == 104
    assert data.X[3, 5] == pytest.approx(np.nanmean(X[:, 5]))
    np.testing.assert_array_equal(data.X[4:], X[4:])


def test_uci_libras_where_imbalanced_learn_is_out_of_reach(
    loopback_specs: Server,
) -> None:
    X = np.random.default_rng(0).random((360, 90)).round(5)
    rows = [
        ",".join(f"{v:.5f}" for v in row) + f",{index // 24 + 1}"
        for index, row in enumerate(X)
    ]
    content = zip_bytes(
        {
            "movement_libras_1.data": b"1,2",
            "movement_libras.data": "\n".join(rows).encode(),
        }
    )
    loopback_specs.pages["/static/public/181/libras+movement.zip"] = Page(content)
    assert fetch_dataset("libras-move").origin.endswith("libras+movement.zip")
    data = load_dataset("libras-move")
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(np.flatnonzero(data.y == 1), np.arange(24))


def test_the_columns_and_the_split_of_a_table(server: Server, use_specs: Use) -> None:
    source = {
        "kind": "archive",
        "url": f"{server.url}/bio.tar.gz",
        "members": {"all": {"features": "bio_train.dat"}},
        "separator": "space",
        "target": 2,
        "drop": [0, 1],
        "labels": {0: -1, 1: 1},
        "split_in_order": True,
    }
    shape = {"instances": 3, "features": 4, "classes": {-1: 2, 1: 1}, "split": [2, 1]}
    use_specs(toy(source, shape=shape))
    lines = [
        "279\t1\t1\t0.5\t0\t2\t0",
        "279\t2\t0\t0\t1e-3\t0\t0",
        "280\t3\t0\t7\t0\t0\t0",
        "",
    ]
    server.pages["/bio.tar.gz"] = Page(
        tar_bytes({"data/bio_train.dat": "\n".join(lines).encode()})
    )
    check_fetched_toy()
    splits = load_dataset("toy").splits
    np.testing.assert_array_equal(splits["test"], [2])


def test_a_table_that_is_compressed_alone(server: Server, use_specs: Use) -> None:
    use_specs(toy({"kind": "archive", "url": f"{server.url}/rows.gz"}))
    server.pages["/rows.gz"] = Page(
        gzip.compress(b"0.5,0,2,0,1\n0,1e-3,0,0,-1\n7,0,0,0,-1\n")
    )
    check_fetched_toy()


def ding_archive(members: dict[int, tuple[np.ndarray, np.ndarray]]) -> bytes:
    contents = {}
    for number, (data, label) in members.items():
        stream = io.BytesIO()
        np.savez(stream, data=data, label=label)
        contents[f"x{number}data.npz"] = stream.getvalue()
    return tar_bytes(contents)


def test_data_sets_of_ding_are_read_from_one_archive(
    real_data: Path, loopback_specs: Server
) -> None:
    members = {}
    for number, name in ((8, "car-eval-34"), (1, "ecoli")):
        frame = pd.read_csv(real_data / f"{name}.csv.gz")
        members[number] = (
            frame.drop(columns="target").to_numpy(float),
            frame["target"].to_numpy(),
        )
    path = "/record/61452/files/benchmark-imbalanced-learn.tar.gz"
    loopback_specs.pages[path] = Page(ding_archive(members))
    for name in ("car-eval-34", "ecoli"):
        fetch_public(name, real_data)
    assert loopback_specs.paths() == [path]  # the archive is kept for the second one
    with pytest.raises(ElmbenchError, match=r"0 files named 'x18data\.npz'"):
        fetch_dataset("oil-spill")


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_members_never_leave_their_folder(
    server: Server, use_specs: Use, kind: str, tmp_path: Path
) -> None:
    rows = b"0.5,0,2,0,1\n0,1e-3,0,0,-1\n7,0,0,0,-1\n"
    members = {
        "../../../evil.csv": b"evil",
        "/tmp/../evil.csv": b"evil",
        "a/../../rows.csv": rows,
    }
    server.pages["/a"] = Page(
        zip_bytes(members) if kind == "zip" else tar_bytes(members)
    )
    use_specs(
        toy(
            {
                "kind": "archive",
                "url": f"{server.url}/a",
                "members": {"all": {"features": "rows.csv"}},
            }
        )
    )
    check_fetched_toy()
    assert not list(tmp_path.rglob("evil*"))
    assert not list(tmp_path.rglob("rows.csv"))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"x.data": b"1,2\n", "y/x.data": b"1,2\n"}, "2 files named 'x.data'"),
        ({"z.data": b""}, "0 files named 'x.data'"),
        ({}, "archive cannot be read"),
        ({"x.data": b"1,2,3,4,1\n1,2\n"}, "found 2 fields in line 2"),
        ({"x.data": b""}, "no rows"),
    ],
)
def test_archives_that_are_not_what_they_should_be(
    server: Server,
    use_specs: Use,
    members: dict[str, bytes],
    message: str,
    tmp_path: Path,
) -> None:
    server.pages["/a"] = Page(
        zip_bytes(members) if members else b"<html>maintenance</html>"
    )
    use_specs(
        toy(
            {
                "kind": "archive",
                "url": f"{server.url}/a",
                "members": {"all": {"features": "x.data"}},
            }
        )
    )
    with pytest.raises(ElmbenchError, match=message):
        fetch_dataset("toy")
    assert not [name for name in cached_files(tmp_path) if name.startswith("datasets")]


def test_rows_that_are_not_the_data_set_are_not_kept(
    server: Server, use_specs: Use, tmp_path: Path
) -> None:
    server.pages["/toy"] = Page(TEXT + b"-1 1:3\n")
    use_specs(toy({"kind": "libsvm", "url": f"{server.url}/toy"}))
    with pytest.raises(ElmbenchError, match="4 rows"):
        fetch_dataset("toy")
    assert cached_files(tmp_path) == []
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")
