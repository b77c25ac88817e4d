"""OpenML on loopback: its own client, as it is, asks a server that answers as OpenML does."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from loopback import Server, add_openml, arff_text
from openml_toy import ARFF, KINDS, NAMES, ROWS, Use, check_toy, parquet_bytes, toy

from elmbench.datasets.fetch import fetch
from elmbench.datasets.load import load_dataset
from elmbench.errors import DataUnavailableError, ElmbenchError


@pytest.mark.parametrize("gzipped", [True, False])
def test_nominal_columns_and_missing_values(
    openml_server: Server, use_specs: Use, tmp_path: Path, gzipped: bool
) -> None:
    use_specs(toy())
    add_openml(openml_server, 7, ARFF, gzipped=gzipped)
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")
    result = fetch("toy")
    assert (result.name, result.origin, result.downloaded) == ("toy", "OpenML 7", True)
    check_toy()
    kept = sorted(path.suffix for path in (tmp_path / "cache" / "datasets" / "toy").iterdir())
    assert kept == [".parquet"]


def test_what_is_there_is_not_fetched_again(openml_server: Server, use_specs: Use) -> None:
    use_specs(toy())
    add_openml(openml_server, 7, ARFF)
    fetch("toy")
    n_requests = len(openml_server.requests)
    assert not fetch("toy").downloaded
    check_toy()
    assert len(openml_server.requests) == n_requests
    assert fetch("toy", force=True).downloaded
    assert len(openml_server.requests) > n_requests


def test_an_inactive_data_set_is_served_by_its_id(openml_server: Server, use_specs: Use) -> None:
    use_specs(toy(inactive=True))
    add_openml(openml_server, 7, ARFF, status="deactivated")
    fetch("toy")
    check_toy()


@pytest.mark.parametrize(
    ("target", "default", "message"),
    [(None, None, "no default target"), ("label", "class", "no column 'label'"), (None, "label", "no column 'label'")],
)
def test_a_target_that_is_not_there(
    openml_server: Server, use_specs: Use, target: str | None, default: str | None, message: str
) -> None:
    use_specs(toy(target=target))
    add_openml(openml_server, 7, ARFF, target=default)
    with pytest.raises(ElmbenchError, match=message):
        fetch("toy")


@pytest.mark.parametrize("target", ["class", -1])
def test_a_target_that_is_named_where_openml_names_none(
    openml_server: Server, use_specs: Use, target: str | int
) -> None:
    use_specs(toy(target=target))
    add_openml(openml_server, 7, ARFF, target=None)
    fetch("toy")
    check_toy()


def test_columns_that_openml_ignores(openml_server: Server, use_specs: Use) -> None:
    use_specs(toy(target="class"))
    rows = [[str(place), *row] for place, row in enumerate(ROWS)]
    arff = arff_text(["number", *NAMES], ["NUMERIC", *KINDS], rows)
    more = "<oml:row_id_attribute>number</oml:row_id_attribute><oml:ignore_attribute>class</oml:ignore_attribute>"
    add_openml(openml_server, 7, arff, target="size", more=more)
    fetch("toy")
    check_toy()


@pytest.mark.parametrize("kind", ["NUMERIC", "{no,yes}"])
def test_sparse_rows(openml_server: Server, use_specs: Use, kind: str) -> None:
    content = toy(labels={"0": "no", "1": "yes"} if kind == "NUMERIC" else {})
    content["toy"] |= {"sparse": True, "prepare": [], "prepared": None}
    content["toy"]["shape"]["features"] = 4
    use_specs(content)
    yes = "yes" if kind != "NUMERIC" else "1"
    # Left out: 0, and of a nominal column the first category. The third value has no single-precision equal.
    lines = ["{0 1.5}", f"{{1 2,4 {yes}}}", "{2 0.1}", f"{{4 {yes}}}", "{}"]
    head = [f"@ATTRIBUTE x{place} NUMERIC" for place in range(4)] + [f"@ATTRIBUTE class {kind}"]
    # The dense Parquet file that OpenML makes of sparse rows is left alone.
    text = "\n".join(["@RELATION rows", *head, "@DATA", *lines, ""])
    add_openml(openml_server, 7, text, sparse=True, parquet=parquet_bytes())
    fetch("toy")
    assert not any(path.endswith(".pq") for path in openml_server.paths())
    data = load_dataset("toy")
    assert data.notes == ()  # the labels are spelled as they are, not recognised by their counts
    assert sp.issparse(data.X)
    expected = np.zeros((5, 4))
    expected[0, 0], expected[1, 1], expected[2, 2] = 1.5, 2, 0.1
    np.testing.assert_array_equal(data.X.toarray(), expected)
    np.testing.assert_array_equal(data.y, [-1, 1, -1, 1, -1])


def test_sets_that_are_joined(openml_server: Server, use_specs: Use) -> None:
    content = toy(id=[7, 8])
    content["toy"] |= {"prepare": [], "prepared": None, "shape": {**content["toy"]["shape"], "features": 2}}
    use_specs(content)
    labels = [row[3] for row in ROWS]
    for number in (7, 8):
        rows = [[str(number * place), label] for place, label in enumerate(labels)]
        add_openml(openml_server, number, arff_text(["size", "class"], ["NUMERIC", "{no,yes}"], rows))
    fetch("toy")
    data = load_dataset("toy")
    np.testing.assert_array_equal(data.X, np.outer(np.arange(5), [7, 8]))
    assert data.feature_names == ("7:size", "8:size")
    rows = [[str(place), label] for place, label in enumerate(reversed(["yes", *labels[1:]]))]
    add_openml(openml_server, 9, arff_text(["size", "class"], ["NUMERIC", "{no,yes}"], rows))
    content["toy"]["sources"][0]["id"] = [7, 9]
    use_specs(content)
    with pytest.raises(ElmbenchError, match="OpenML 9 has other targets than OpenML 7"):
        fetch("toy")


def test_the_client_leaves_nothing_behind(
    openml_server: Server, use_specs: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    import openml

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = dict(os.environ), openml.config.get_cache_directory()
    use_specs(toy())
    add_openml(openml_server, 7, ARFF, parquet=b"no")
    fetch("toy")
    assert (dict(os.environ), openml.config.get_cache_directory()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache"]
    assert not [path for path in tmp_path.rglob("*") if "pkl" in path.name or "pickle" in path.name]
