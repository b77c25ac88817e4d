"""Files made to end, hang or flood the process: one message each, in bounded time and memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import resource
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

from elmbench.datasets.sizes import unpacked_bytes
from elmbench.specs.datasets import load_dataset_specs

#: What wdbc may unpack to.
MOST = unpacked_bytes(569, 30, False)


def message(folder: Path, name: str = "wdbc") -> str:
    return refused(folder, name).found


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def csr(**changed: Any) -> bytes:
    """Return an archive of three sparse rows of 30 features, some of its parts changed."""
    parts = {
        "data": np.ones(4),
        "indices": np.array([0, 29, 3, 4]),
        "indptr": np.array([0, 2, 3, 4]),
        "shape": np.array([3, 30]),
        "target": np.array([1.0, 2.0, 1.0]),
    }
    return npz(**parts | changed)


def encrypted(content: bytes) -> bytes:
    """Return an archive that says of its parts that they are encrypted."""
    found = bytearray(content)
    for start, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for match in re.finditer(re.escape(start), content):
            found[match.start() + offset] |= 1
    return bytes(found)


def long_header() -> bytes:
    """Return an archive whose array is said to have 10^12 entries, and has one."""
    part = io.BytesIO()
    np.lib.format.write_array_header_1_0(part, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 30)})
    part.write(b"\0" * 8)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", part.getvalue())
    return stream.getvalue()


def parquet(**columns: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def bomb(pack: Callable[[bytes], bytes], fill: bytes = b"1,") -> bytes:
    return pack(fill * (40_000_000 // len(fill)))


COLUMNS = {f"V{place}": np.zeros(3) for place in range(30)}
HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "indices that are too large": ("npz", lambda: csr(indices=np.array([0, 30, 3, 4])), "must be < 30"),
    "negative indices": ("npz", lambda: csr(indices=np.array([0, -1, 3, 4])), "must be >= 0"),
    "indices that are no integers": ("npz", lambda: csr(indices=np.array([0, 0.5, 3, 4])), "no integers"),
    "an index twice in a row": ("npz", lambda: csr(indices=np.array([5, 5, 3, 4])), "two values of one feature"),
    "indptr that falls": ("npz", lambda: csr(indptr=np.array([0, 3, 2, 4])), "non-decreasing"),
    "indptr that goes too far": ("npz", lambda: csr(indptr=np.array([0, 2, 3, 9])), "index pointer"),
    "indptr that is too short": ("npz", lambda: csr(indptr=np.array([0, 4])), "index pointer size 2"),
    "fewer values than indices": ("npz", lambda: csr(data=np.ones(3)), "same size"),
    "values that are complex": ("npz", lambda: csr(data=np.ones(4) * 1j), "no numbers"),
    "a shape of three numbers": ("npz", lambda: csr(shape=np.array([3, 30, 1])), "shape must have"),
    "a matrix too wide to be dense": ("npz", lambda: csr(shape=np.array([3, 2**40])), "holds more than"),
    "a single number": ("npz", lambda: npz(X=np.array(3.0), target=np.ones(1)), "0 dimensions"),
    "a target that is a single number": ("npz", lambda: npz(X=np.ones((1, 30)), target=np.array(1.0)), "one target"),
    "records": ("npz", lambda: npz(X=np.zeros(3, dtype=[("a", "f8")]), target=np.ones(3)), "records"),
    "dates": ("npz", lambda: npz(X=np.zeros((3, 30), dtype="M8[s]"), target=np.ones(3)), "not numbers or words"),
    "encrypted parts": ("npz", lambda: encrypted(csr()), "encrypted"),
    "a part that is shorter than its header": ("npz", long_header, "cannot be read"),
    "an archive that unpacks to too much": (
        "npz",
        lambda: bomb(lambda content: _zipped("X.npy", content), b"\0"),
        "holds more than the 1.6 MB",
    ),
    "CR line ends": ("csv", lambda: b"a,b,target\r1,2,1\r3,4,2\r", "CR alone"),
    "a header of 200 kB": ("csv", lambda: b"a" * 200_000 + b",target\n1,1\n", "cannot be read: field larger"),
    "a million columns": ("csv", lambda: b",".join(b"%d" % i for i in range(200_000)) + b"\n", "more than the"),
    "bytes of no text": ("csv", lambda: b"a,target\n\0,1\n", "not text"),
    "an index beyond 32 bits": ("svm", lambda: b"1 2147483649:1\n", "cannot be read"),
    "an index beyond 64 bits": ("svm", lambda: b"1 99999999999999999999:1\n", "cannot be read"),
    "one endless line": ("svm", lambda: b"1 " + b" " * (MOST + 10), "holds more than"),
    "more rows than there can be": ("svm", lambda: b"1\n" * 100_000, "holds more than"),
    "an empty list of words": ("arff", lambda: b"@relation a\n@attribute b {}\n@data\n1\n", "parser gives up"),
    "a word with a percent sign": ("arff", lambda: b"@relation a\n@attribute b {1%}\n@data\n50%\n", "Value in line 4"),
    "lists": ("parquet", lambda: parquet(**COLUMNS, target=[[1], [2], [1]]), "list<.*column 'target'"),
    "records in Parquet": ("parquet", lambda: parquet(**COLUMNS | {"V3": [{"a": 1}] * 3}, target=[1, 2, 1]), "struct"),
    "a column of one repeated value": (
        "parquet",
        lambda: parquet(V0=np.zeros(3_000_000), target=np.zeros(3_000_000, dtype=int)),
        "holds more than",
    ),
    "a gzip bomb": ("csv.gz", lambda: bomb(gzip.compress), "holds more than the 1.6 MB"),
    "a bzip2 bomb": ("csv.bz2", lambda: bomb(bz2.compress), "holds more than the 1.6 MB"),
    "an xz bomb": ("csv.xz", lambda: bomb(lzma.compress), "holds more than the 1.6 MB"),
    "a gzip bomb of LIBSVM text": ("svm.gz", lambda: bomb(gzip.compress, b"1 1:1\n"), "holds more than the 1.6 MB"),
    "a gzip bomb in one line": ("svm.gz", lambda: bomb(gzip.compress, b" "), "holds more than the 1.6 MB"),
}


def _zipped(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("case", list(HOSTILE))
def test_one_message(folder: Path, case: str) -> None:
    ending, content, said = HOSTILE[case]
    (folder / f"wdbc.{ending}").write_bytes(content())
    found = message(folder)
    assert str(folder / f"wdbc.{ending}") in found
    assert re.search(said, found), found


def test_what_is_read_is_bounded_not_what_is_kept(folder: Path) -> None:
    """A file of zeros that takes no room on the disk, and would take more than there is in memory."""
    with open(folder / "wdbc.csv", "wb") as stream:
        stream.truncate(1 << 40)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "holds more than" in message(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_regular_files_only(folder: Path, kind: str) -> None:
    path = folder / "wdbc.csv"
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    assert "cannot be read: it is not a regular file" in message(folder)


def test_a_stray_word_in_a_row_that_is_dropped(folder: Path) -> None:
    rows = [f"{i},1,1,1,1,1,1,1,1,{2 if i < 458 else 4}" for i in range(699)]
    rows[0] = "0,?,oops,1,1,1,1,1,1,2"
    header = ",".join([*(f"V{place}" for place in range(9)), "target"])
    (folder / "breast-cancer.csv").write_text("\n".join([header, *rows]))
    assert "the column 'V2' holds words" in message(folder, "breast-cancer")


def test_room_for_every_set_of_the_papers(real_data: Path) -> None:
    openers = {".gz": gzip.open}
    for spec in load_dataset_specs().values():
        for path in real_data.glob(f"{spec.stem}.*"):
            if path.suffix not in openers or path.stat().st_size > 1_000_000:
                continue
            with openers[path.suffix](path) as stream:
                n_bytes = sum(map(len, iter(partial(stream.read, 1 << 20), b"")))
            most = unpacked_bytes(spec.shape.instances, spec.shape.features, spec.sparse)
            assert n_bytes < 0.6 * most, path.name
