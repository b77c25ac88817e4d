"""Downloads that go wrong: resumed, started anew or refused, and never half there; the closed network; kill -9."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback import CERTIFICATE, Page, Server

from elmbench.datasets import fetch, load_dataset, plan
from elmbench.datasets.sources import download as module
from elmbench.datasets.sources import hosts
from elmbench.datasets.sources.download import download, remote_size
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import DatasetSpecs

Use = Callable[[dict[str, Any]], DatasetSpecs]
BODY = bytes(np.random.default_rng(0).integers(0, 256, 300_000, dtype=np.uint8))


def ranges(server: Server) -> list[str | None]:
    return [wanted for how, _, wanted in server.requests if how == "GET"]


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
    assert ranges(server) == [None, "bytes=100000-", "bytes=200000-"]
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
    assert ranges(server) == [None, asked]


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
    assert ranges(server) == ["bytes=240000-"]


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


def toy(url: str) -> dict[str, Any]:
    shape = {"instances": 20_000, "features": 3, "classes": {-1: 10_000, 1: 10_000}}
    source = {"kind": "libsvm", "url": url}
    return {
        "toy": {
            "title": "Toy",
            "task": "classification",
            "positive": [1],
            "shape": shape,
            "sources": [source],
            "citation": "none",
        }
    }


TOY = "".join(f"{1 if row % 2 else -1} 1:{row} 3:0.5\n" for row in range(20_000)).encode()

CHILD = """
import sys, importlib, yaml
from elmbench.specs.datasets import parse_dataset_specs
specs = parse_dataset_specs(yaml.safe_load(sys.argv[1]), "test.yaml")
for name in ("load", "fetch", "status"):
    importlib.import_module("elmbench.datasets." + name).load_dataset_specs = lambda: specs
from elmbench.datasets import fetch
fetch("toy", sys.argv[2], progress=lambda *now: print(*now, flush=True))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_the_cache_is_whole_after_kill_9(server: Server, use_specs: Use, tmp_path: Path) -> None:
    import yaml

    cache = tmp_path / "cache"
    content = toy(f"{server.url}/toy")
    server.pages["/toy"] = Page(TOY, pause=0.05)
    command = [sys.executable, "-c", CHILD, yaml.safe_dump(content), str(cache)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    left = [path for path in cache.rglob("*") if path.is_file()]
    assert {path.suffix for path in left} <= {".part", ".json", ".lock"}
    assert all(path.parent.name == "downloads" for path in left)
    use_specs(content)
    with pytest.raises(DataUnavailableError):
        load_dataset("toy", cache_dir=cache)
    server.pages["/toy"].pause = 0
    server.requests.clear()
    fetch("toy", cache)
    assert (ranges(server)[0] or "").startswith("bytes=")
    data = load_dataset("toy", cache_dir=cache)
    np.testing.assert_array_equal(data.X[:, 0], np.arange(20_000))
    assert not list(cache.rglob("*.part"))


def test_what_killed_processes_left_is_swept_after_a_day(server: Server, use_specs: Use, tmp_path: Path) -> None:
    use_specs(toy(f"{server.url}/toy"))
    server.pages["/toy"] = Page(TOY)
    folder = tmp_path / "cache" / "datasets" / "toy"
    folder.mkdir(parents=True)
    for name, age in ((".old.parquet.7.ab.part", 90_000), (".new.parquet.8.cd.part", 100)):
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (time.time() - age,) * 2)
    fetch("toy")
    assert [path.name for path in folder.glob(".*")] == [".new.parquet.8.cd.part"]


def test_files_without_a_receipt_are_not_there(server: Server, use_specs: Use, tmp_path: Path) -> None:
    use_specs(toy(f"{server.url}/toy"))
    server.pages["/toy"] = Page(TOY)
    fetch("toy")
    folder = tmp_path / "cache" / "datasets" / "toy"
    (receipt,) = folder.glob("*.json")
    receipt.unlink()
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")
    assert fetch("toy").downloaded
    assert len(load_dataset("toy").y) == 20_000


def test_another_address_is_another_source(server: Server, use_specs: Use) -> None:
    use_specs(toy(f"{server.url}/toy"))
    server.pages["/toy"] = server.pages["/new"] = Page(TOY)
    fetch("toy")
    use_specs(toy(f"{server.url}/new"))
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")
    content = toy(f"{server.url}/toy")
    content["toy"]["sources"][0]["note"] = "another note is the same source"
    use_specs(content)
    assert not fetch("toy").downloaded


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_cached_file_that_was_changed(server: Server, use_specs: Use, tmp_path: Path, damage: str) -> None:
    use_specs(toy(f"{server.url}/toy"))
    server.pages["/toy"] = Page(TOY)
    fetch("toy")
    (path,) = (tmp_path / "cache" / "datasets" / "toy").glob("*.svm")
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(TOY.replace(b"1:7 ", b"1:8 "))
    with pytest.raises(ElmbenchError, match=damage) as error:
        load_dataset("toy")
    assert not isinstance(error.value, DataUnavailableError)
    assert error.value.next_step == "elmbench data fetch toy"
    assert fetch("toy").downloaded
    assert load_dataset("toy").X[7, 0] == 7


def test_another_file_than_the_first_time(server: Server, use_specs: Use) -> None:
    use_specs(toy(f"{server.url}/toy"))
    server.pages["/toy"] = Page(TOY)
    fetch("toy")
    server.pages["/toy"] = Page(TOY.replace(b"1:7 ", b"1:8 "))
    with pytest.raises(ElmbenchError, match="SHA-256"):
        fetch("toy", force=True)
    assert load_dataset("toy").X[7, 0] == 7


@pytest.mark.parametrize("head", [True, False])
def test_sizes_before_a_download(server: Server, use_specs: Use, head: bool) -> None:
    use_specs(toy(f"{server.url}/toy"))
    server.pages["/toy"] = Page(TOY, head=head)
    (planned,) = plan(["toy"])
    assert planned.n_bytes == len(TOY)
    fetch("toy")
    assert plan(["toy"]) == []


def closed_url() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}"


def test_a_closed_port_is_unavailable_at_once(use_specs: Use, server: Server) -> None:
    use_specs(toy(closed_url() + "/toy"))
    with pytest.raises(DataUnavailableError, match=r"127\.0\.0\.1 cannot be reached") as error:
        fetch("toy")
    assert "elmbench data fetch toy" in str(error.value.next_step)
    assert plan(["toy"])[0].n_bytes is None


def test_a_closed_network_is_found_out_once(
    loopback_specs: Server, use_specs: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections hang, as behind a firewall that drops everything: the wait is paid once, for all hosts together."""
    urls = [f"http://host{place}.invalid/toy" for place in range(8)]
    content = {f"toy{place}": toy(url)["toy"] for place, url in enumerate(urls)}
    use_specs(content)
    tried: list[str] = []
    over = threading.Event()

    def hang(address: tuple[str, int], timeout: float) -> None:
        assert threading.current_thread().daemon  # or the process would not end before it
        tried.append(address[0])
        over.wait(30)
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", hang)
    monkeypatch.setattr(hosts, "PROBE_SECONDS", 2.0)
    start = time.monotonic()
    for name in content:
        with pytest.raises(DataUnavailableError, match=r"host\d\.invalid cannot be reached"):
            fetch(name)
        assert {f"host{place}.invalid" for place in range(8)} <= set(tried)  # all of them after the first one
    assert time.monotonic() - start < 14  # not 8 times 2 s
    assert len(tried) == len(set(tried))
    over.set()


def test_waiting_for_a_closed_network_takes_seconds() -> None:
    assert hosts.CONNECT_SECONDS <= hosts.PROBE_SECONDS <= 5


def test_hosts_are_those_of_the_proxy_where_one_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert hosts.host_of("https://example.org/a") == ("example.org", 443)
    assert hosts.host_of("http://example.org:81/a") == ("example.org", 81)
    monkeypatch.setenv("https_proxy", "http://proxy.local:3128")
    assert hosts.host_of("https://example.org/a") == ("proxy.local", 3128)
    monkeypatch.setenv("no_proxy", "example.org")
    assert hosts.host_of("https://example.org/a") == ("example.org", 443)
