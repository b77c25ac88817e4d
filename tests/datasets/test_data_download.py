"""Downloads that go wrong: resumed, started anew or refused, and never half there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback import CERTIFICATE, Page, Server

from elmbench.datasets.sources import download as module
from elmbench.datasets.sources.download import download, remote_size
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import DatasetSpecs

Use = Callable[[dict[str, Any]], DatasetSpecs]
BODY = bytes(np.random.default_rng(0).integers(0, 256, 300_000, dtype=np.uint8))


@pytest.mark.parametrize("length", [True, False])
def test_a_file_arrives_with_progress(server: Server, tmp_path: Path, length: bool) -> None:
    server.pages["/f"] = Page(BODY, length=length)
    seen: list[tuple[str, int, int | None]] = []
    got = download(f"{server.url}/f", tmp_path, progress=lambda *now: seen.append(now))
    assert got.path.read_bytes() == BODY
    assert got.n_bytes == len(BODY)
    assert [n for _, n, _ in seen] == sorted({n for _, n, _ in seen})
    assert seen[-1] == (f"{server.url}/f", len(BODY), len(BODY) if length else None)
    assert len(seen) > 1


def test_a_body_cut_short_is_resumed(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY, cut=2, cut_at=100_000)
    seen: list[tuple[int, int | None]] = []
    got = download(f"{server.url}/f", tmp_path, progress=lambda _, now, total: seen.append((now, total)))
    assert got.path.read_bytes() == BODY
    assert server.ranges() == [None, "bytes=100000-", "bytes=200000-"]
    assert [now for now, _ in seen] == sorted({now for now, _ in seen})
    assert {total for _, total in seen} == {len(BODY)}


@pytest.mark.parametrize(
    ("page", "asked"),
    [
        (Page(BODY, cut=1, cut_at=100_000, etag=None), None),  # names no version
        (Page(BODY, cut=1, cut_at=100_000, etag='W/"weak"'), None),  # not the version of these very bytes
        (Page(BODY, cut=1, cut_at=100_000, ranges=False), "bytes=100000-"),  # knows no ranges
    ],
)
def test_a_body_cut_short_is_fetched_anew_where_it_cannot_be_resumed(
    server: Server, tmp_path: Path, page: Page, asked: str | None
) -> None:
    server.pages["/f"] = page
    assert download(f"{server.url}/f", tmp_path).path.read_bytes() == BODY
    assert server.ranges() == [None, asked]


def test_a_file_that_changed_in_between_is_fetched_anew(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY, cut=99, cut_at=60_000)
    with pytest.raises(DataUnavailableError, match="the connection ended"):
        download(f"{server.url}/f", tmp_path)
    server.pages["/f"] = Page(BODY[::-1])
    assert download(f"{server.url}/f", tmp_path).path.read_bytes() == BODY[::-1]


def test_a_later_call_goes_on_where_the_first_one_ended(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY, cut=99, cut_at=60_000)
    with pytest.raises(DataUnavailableError):
        download(f"{server.url}/f", tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.suffix == ""]
    server.pages["/f"].cut = 0
    server.requests.clear()
    assert download(f"{server.url}/f", tmp_path).path.read_bytes() == BODY
    assert server.ranges() == ["bytes=240000-"]


def test_a_part_that_is_the_whole_already(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY, cut=99, cut_at=0)
    with pytest.raises(DataUnavailableError):
        download(f"{server.url}/f", tmp_path)
    (part,) = tmp_path.glob("*.part")
    part.write_bytes(BODY)
    server.pages["/f"] = Page(b"416", status=416, etag=None)
    server.pages["/f"].failures, server.pages["/f"].failure = 1, 416
    server.pages["/f"].body, server.pages["/f"].status = BODY, 200
    assert download(f"{server.url}/f", tmp_path).path.read_bytes() == BODY


@pytest.mark.parametrize("failure", [500, 503, 429])
def test_a_failure_that_goes_away(server: Server, tmp_path: Path, failure: int) -> None:
    server.pages["/f"] = Page(BODY, failures=2, failure=failure)
    assert download(f"{server.url}/f", tmp_path).path.read_bytes() == BODY


def test_failures_that_stay(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="answers 404") as error:
        download(f"{server.url}/gone", tmp_path)
    assert not isinstance(error.value, DataUnavailableError)
    assert len(server.requests) == 1
    server.pages["/f"] = Page(BODY, failures=99)
    with pytest.raises(DataUnavailableError, match=r"answers 500 .*4 attempts"):
        download(f"{server.url}/f", tmp_path)
    assert len(server.requests) == 5


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (Page(BODY, status=206, headers={"Content-Range": f"bytes 0-99/{len(BODY)}"}), "not asked for"),
        (Page(BODY, status=206), "not asked for"),
        (Page(BODY, length=False, headers={"Content-Length": "12x"}), "'12x' as the number of bytes"),
        (Page(BODY, length=False, headers={"Content-Length": "-5"}), "'-5' as the number of bytes"),
    ],
)
def test_answers_that_make_no_sense(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Page, says: str
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    server.pages["/f"] = page
    with pytest.raises(DataUnavailableError, match=says):
        download(f"{server.url}/f", tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.suffix not in (".part", ".json", ".lock")]


@pytest.mark.parametrize("length", [True, False])
def test_a_body_has_an_end(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: bool) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", len(BODY) - 1)
    server.pages["/f"] = Page(BODY, length=length)
    with pytest.raises(ElmbenchError, match="the file has more than"):
        download(f"{server.url}/f", tmp_path)
    assert not list(tmp_path.glob("*.part"))
    monkeypatch.setattr(module, "MOST_BYTES", len(BODY))
    assert download(f"{server.url}/f", tmp_path).n_bytes == len(BODY)


def test_a_download_has_an_end(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(module, "MOST_SECONDS", -1.0)
    server.pages["/f"] = Page(BODY)
    with pytest.raises(DataUnavailableError, match="more than -1 s"):
        download(f"{server.url}/f", tmp_path)


def test_the_end_comes_however_slow_the_server_is(server: Server, tmp_path: Path) -> None:
    """The time is looked at whenever something has come, not once a block."""
    server.pages["/f"] = Page(BODY[:40_000], pause=0.03)
    seen: list[int] = []
    download(f"{server.url}/f", tmp_path, progress=lambda _, now, total: seen.append(now))
    assert len(seen) > 1


@pytest.fixture
def encrypted(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Another server, whose certificate is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    running = Server(encrypted=True)
    yield running
    running.close()


@pytest.mark.parametrize("onward", ["http", "HTTP", "ftp", "https"])
def test_no_server_sends_on_to_an_address_that_is_not_encrypted(
    encrypted: Server, server: Server, tmp_path: Path, onward: str
) -> None:
    target = encrypted.url if onward == "https" else onward + server.url.removeprefix("http")
    encrypted.pages["/old"] = Page(b"", status=302, headers={"Location": f"{target}/f"})
    encrypted.pages["/f"] = server.pages["/f"] = Page(BODY)
    if onward == "https":
        assert download(f"{encrypted.url}/old", tmp_path).n_bytes == len(BODY)
        return
    with pytest.raises(ElmbenchError, match="not encrypted"):
        download(f"{encrypted.url}/old", tmp_path)
    assert remote_size(f"{encrypted.url}/old") is None
    assert not server.requests


def test_a_certificate_that_nobody_trusts(encrypted: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    encrypted.pages["/f"] = Page(BODY)
    with pytest.raises(DataUnavailableError, match="CERTIFICATE_VERIFY_FAILED"):
        download(f"{encrypted.url}/f", tmp_path)
    assert not encrypted.requests


def test_a_server_that_sends_on_is_followed(server: Server, tmp_path: Path) -> None:
    server.pages["/old"] = Page(b"", status=302, headers={"Location": f"{server.url}/f"})
    server.pages["/f"] = Page(BODY)
    assert download(f"{server.url}/old", tmp_path).n_bytes == len(BODY)


def test_a_wrong_checksum_starts_anew_the_next_time(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY)
    with pytest.raises(ElmbenchError, match="SHA-256"):
        download(f"{server.url}/f", tmp_path, sha256="0" * 64)
    assert not list(tmp_path.glob("*.part"))


def test_two_downloads_of_one_file_at_once(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY, pause=0.002)
    got: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: got.append(download(f"{server.url}/f", tmp_path).path.read_bytes()))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [BODY] * 3
    assert not list(tmp_path.glob("*.part"))
