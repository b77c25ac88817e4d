"""What fetching keeps in the data folder: whole after kill -9, known by its receipt; the closed network."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback import Page, Server

from elmbench.datasets import fetch, load_dataset, plan
from elmbench.datasets.sources import hosts
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import DatasetSpecs

Use = Callable[[dict[str, Any]], DatasetSpecs]


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
    assert (server.ranges()[0] or "").startswith("bytes=")
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
    for name in content:
        with pytest.raises(DataUnavailableError, match=r"host\d\.invalid cannot be reached"):
            fetch(name)
        assert {f"host{place}.invalid" for place in range(8)} <= set(tried)  # all of them after the first one
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
