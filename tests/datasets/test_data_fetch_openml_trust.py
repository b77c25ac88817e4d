"""Which of OpenML's files is believed: what a fingerprint or a checksum vouches for, and no other."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
from loopback import Server, add_openml
from openml_toy import ARFF, Use, check_toy, known_toy, parquet_bytes, toy

from elmbench.datasets.fetch import fetch
from elmbench.datasets.load import load_dataset
from elmbench.errors import DataUnavailableError, ElmbenchError


def test_parquet_comes_first_where_a_fingerprint_vouches_for_it(openml_server: Server, use_specs: Use) -> None:
    use_specs(known_toy())
    add_openml(openml_server, 7, ARFF, parquet=parquet_bytes())
    fetch("toy")
    check_toy()
    assert not any(path.endswith(".arff") for path in openml_server.paths())


@pytest.mark.parametrize("fault", ["no Parquet", "cut short", "missing"])
def test_arff_comes_where_the_parquet_file_is_bad(openml_server: Server, use_specs: Use, fault: str) -> None:
    use_specs(known_toy())
    body = parquet_bytes()
    add_openml(openml_server, 7, ARFF, parquet={"no Parquet": b"<html>", "cut short": body[:-100]}.get(fault, body))
    if fault == "missing":
        del openml_server.pages["/datasets/0000/0007/dataset_7.pq"]
    fetch("toy")
    check_toy()
    assert any(path.endswith(".arff") for path in openml_server.paths())


def test_other_values_in_parquet_are_refused(openml_server: Server, use_specs: Use) -> None:
    use_specs(known_toy())
    frame = pd.read_parquet(io.BytesIO(parquet_bytes()))
    frame["size"] = frame["size"].to_numpy()[[3, 1, 2, 0, 4]]
    add_openml(openml_server, 7, ARFF, parquet=frame.to_parquet())
    with pytest.raises(ElmbenchError, match="is other data than the public file"):
        fetch("toy")
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")


def test_parquet_that_nothing_vouches_for_is_left_alone(openml_server: Server, use_specs: Use) -> None:
    """Over plain HTTP, and the counts are all that is known of the rows."""
    use_specs(toy())
    add_openml(openml_server, 7, ARFF, parquet=parquet_bytes())
    fetch("toy")
    check_toy()
    assert not any(path.endswith(".pq") for path in openml_server.paths())


def test_a_wrong_checksum(openml_server: Server, use_specs: Use, tmp_path: Path) -> None:
    use_specs(toy())
    add_openml(openml_server, 7, ARFF, md5="0" * 32)
    with pytest.raises(ElmbenchError, match=r"MD5 hash of .* does not match the known hash") as error:
        fetch("toy")
    assert not isinstance(error.value, DataUnavailableError)
    assert not list((tmp_path / "cache").rglob("*.parquet"))
