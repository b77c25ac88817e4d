"""OpenML as servers fail: refusals, errors that go away or stay, answers that are garbled, cut short or endless."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback import API, Server, add_openml, refuse_openml
from openml_toy import ARFF, Use, check_toy, toy

from elmbench.datasets.fetch import fetch
from elmbench.datasets.load import load_dataset
from elmbench.errors import DataUnavailableError, ElmbenchError


def test_an_endless_file(openml_server: Server, use_specs: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    from elmbench.datasets import download

    use_specs(toy())
    monkeypatch.setattr(download, "MOST_BYTES", -5000)
    add_openml(openml_server, 7, ARFF).length = False
    with pytest.raises(ElmbenchError, match="the file has more than"):
        fetch("toy")


def test_more_rows_than_the_set_can_have(openml_server: Server, use_specs: Use) -> None:
    use_specs(toy())
    add_openml(openml_server, 7, ARFF + "4,red,1,no\n" * 100_000)
    with pytest.raises(ElmbenchError, match="holds more than the"):
        fetch("toy")


@pytest.mark.parametrize(("code", "message"), [(111, "Unknown dataset"), (112, "No access granted")])
def test_412_says_what_the_server_says(openml_server: Server, use_specs: Use, code: int, message: str) -> None:
    use_specs(toy())
    refuse_openml(openml_server, 7, code, message)
    with pytest.raises(ElmbenchError, match=f"'toy' cannot be fetched: OpenML 7: .*{message}") as error:
        fetch("toy")
    assert not isinstance(error.value, DataUnavailableError)  # the server is there and has its reasons
    assert "elmbench data import toy" in str(error.value.next_step)


@pytest.mark.parametrize(
    "garbled", ["<html>", "<oml:data_set_description xmlns:oml='o'><oml:id>7</oml:id></oml:data_set_description>"]
)
def test_a_description_that_is_none(openml_server: Server, use_specs: Use, garbled: str) -> None:
    use_specs(toy())
    add_openml(openml_server, 7, ARFF)
    openml_server.pages[f"{API}/data/7"].body = garbled.encode()
    with pytest.raises(ElmbenchError, match="OpenML 7"):
        fetch("toy")


def test_the_next_source_is_asked_where_one_refuses(openml_server: Server, use_specs: Use) -> None:
    content = toy()
    content["toy"]["sources"].append({"kind": "openml", "id": 8})
    use_specs(content)
    refuse_openml(openml_server, 7, 111, "Unknown dataset")
    add_openml(openml_server, 8, ARFF)
    assert fetch("toy").origin == "OpenML 8"
    assert load_dataset("toy").source == "OpenML 8"


@pytest.mark.parametrize("path", [f"{API}/data/7", "/data/v1/download/7/rows.arff"])
def test_a_500(openml_server: Server, use_specs: Use, path: str) -> None:
    use_specs(toy())
    add_openml(openml_server, 7, ARFF)
    openml_server.pages[path].failures = 99
    with pytest.raises(DataUnavailableError, match="OpenML 7"):
        fetch("toy")


def test_a_body_cut_short(openml_server: Server, use_specs: Use, tmp_path: Path) -> None:
    use_specs(toy())
    add_openml(openml_server, 7, ARFF, gzipped=False).cut = 1
    with pytest.raises(DataUnavailableError, match="OpenML 7"):
        fetch("toy")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    fetch("toy")
    check_toy()
