"""Files of rows in every format, as data of the suite and as the user's own."""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from fuzz_inputs import Target, changed_bytes
from hypothesis import strategies as st

from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from
from elmbench.datasets.readers import read_table
from elmbench.datasets.sources.base import FolderSource, SourceRequest
from elmbench.datasets.user_data import UserData
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec, parse_dataset_specs

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(12, 3)), 2)
X[3, 1] = np.nan
WORD = np.array(["red", "blue"])[RNG.integers(0, 2, 12)]
LABEL = np.array(["no", "yes"])[np.arange(12) % 2]
FRAME = pd.DataFrame(
    {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "colour": WORD, "target": LABEL}
)
SPARSE = sp.csr_matrix(np.where(np.nan_to_num(X) > 0, np.nan_to_num(X), 0))


def rows_spec(features: int) -> DatasetSpec:
    """Return the spec of the rows above."""
    classes = {"no": 6, "yes": 6} if features == 4 else {-1: 6, 1: 6}
    content: dict[str, Any] = {
        "title": "Rows", "task": "classification", "positive": [list(classes)[1]],
        "citation": "none",
        "shape": {"instances": 12, "features": features, "classes": classes},
        "sources": [{"kind": "openml", "id": 1}],
    }  # fmt: skip
    if features == 4:
        content |= {"prepare": [{"step": "one-hot"}, {"step": "drop-missing-rows"}]}
        content |= {"prepared": {"instances": 11, "features": 4}}
    return parse_dataset_specs({"rows": content}, "rows.yaml")["rows"]


def arff_bytes() -> bytes:
    kinds = ["NUMERIC", "REAL", "INTEGER", "{red, blue}", "{'no',yes}"]
    head = [
        f"@ATTRIBUTE '{name}' {kind}" for name, kind in zip(FRAME, kinds, strict=True)
    ]
    rows = FRAME.to_csv(index=False, header=False, na_rep="?")
    return ("% rows\n@RELATION rows\n" + "\n".join(head) + "\n@DATA\n" + rows).encode()


def sparse_arff_bytes() -> bytes:
    head = [f"@ATTRIBUTE x{index} NUMERIC" for index in range(3)] + [
        "@ATTRIBUTE class {no,yes}"
    ]
    rows = [
        ", ".join(f"{j} {v:g}" for j, v in zip(r.indices, r.data, strict=True))
        for r in SPARSE
    ]
    lines = [
        "{" + row + ("" if i % 2 else ", 3 yes" if row else "3 yes") + "}"
        for i, row in enumerate(rows)
    ]
    return "\n".join(["@RELATION rows", *head, "@DATA", *lines, ""]).encode()


def npz_bytes(save: Callable[..., None] = np.savez, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    save(stream, **arrays)
    return stream.getvalue()


def npz_seeds() -> list[bytes]:
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    parts = {
        "data": SPARSE.data,
        "indices": SPARSE.indices,
        "indptr": SPARSE.indptr,
        "shape": np.array(SPARSE.shape),
    }
    dense = {"X": np.nan_to_num(X), "target": y}
    return [
        npz_bytes(**dense),
        npz_bytes(np.savez_compressed, **dense),
        npz_bytes(**parts, target=y),
    ]


@st.composite
def changed_arrays(draw: st.DrawFn) -> bytes:
    """Return a whole archive with values, types and shapes that no data set has."""
    with np.load(io.BytesIO(draw(st.sampled_from(npz_seeds())))) as archive:
        parts = dict(archive)
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted(parts)))
        part = parts[name]
        kind = draw(
            st.sampled_from(
                ["f8", "i8", "u8", "i4", "?", "c16", "S3", "U3", "M8[s]", "f4", "f2"]
            )
        )
        match draw(st.sampled_from(["type", "value", "shape", "remove"])):
            case "type":
                with (
                    contextlib.suppress(ValueError, TypeError),
                    np.errstate(all="ignore"),
                ):
                    parts[name] = part.astype(kind)
            case "value" if part.size and part.dtype.kind in "fiu":
                number = draw(
                    st.sampled_from([0, -1, 1, 3, 100, 2**31, 2**62, -(2**62)])
                )
                # The first is of numpy from 2.4 on.
                with contextlib.suppress(ValueError, OverflowError):
                    parts[name] = part.copy()
                    parts[name].flat[draw(st.integers(0, part.size - 1))] = number
            case "shape":
                parts[name] = np.resize(
                    part,
                    draw(
                        st.sampled_from(
                            [(), (0,), (1,), (12,), (13,), (12, 1), (2, 3, 2)]
                        )
                    ),
                )
            case "remove" if len(parts) > 1:
                del parts[name]
    return npz_bytes(**parts)


def rows(ending: str, *seeds: bytes) -> Target:
    """Return the target of a format: as a file of the suite's data and as one of the user's own."""

    def feed(content: bytes, folder: Path) -> None:
        (folder / f"rows.{ending}").write_bytes(content)
        spec = rows_spec(3 if ending == "npz" else 4)
        refused = 0
        try:
            data = load_from(
                FolderSource(parts={"all": folder / f"rows.{ending}"}),
                SourceRequest(spec),
            )
            assert data.X.shape[0] == len(data.y) <= 12
            stored = data.X.data if sp.issparse(data.X) else data.X
            assert stored.dtype.kind == "f"
            assert not np.isnan(stored).any()
        except ElmbenchError:
            refused += 1
        try:
            described = describe(UserData(str(folder / f"rows.{ending}")))
            assert described.shape.instances > 0
        except ElmbenchError:
            refused += 1
        if refused == 2:
            raise ElmbenchError("refused")

    def inputs() -> st.SearchStrategy[bytes]:
        return (
            changed_bytes(seeds) | changed_arrays()
            if ending == "npz"
            else changed_bytes(seeds)
        )

    return Target(inputs, feed)


def feed_sparse_arff(content: bytes, folder: Path) -> None:
    path = folder / "rows.arff"
    path.write_bytes(content)
    table = read_table(
        path,
        lambda names: "class" if "class" in names else names[-1],
        form="sparse-arff",
    )
    assert table.X.shape[0] == len(table.target)


TARGETS: dict[str, Target] = {
    "arff": rows("arff", arff_bytes()),
    "sparse-arff": Target(
        lambda: changed_bytes([sparse_arff_bytes()]), feed_sparse_arff
    ),
    "npz": rows("npz", *npz_seeds()),
}
