"""Downloads that go wrong are refused in one message, and never half there."""

import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Page, Server

from elmbench.datasets import download as module
from elmbench.datasets.download import FetchJob, Progress
from elmbench.errors import DataUnavailableError, ElmbenchError

BODY = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(BODY).hexdigest()


def download(url: str, folder: Path, known_hash: str | None = None, progress: Progress | None = None) -> Path:
    return FetchJob(0, 0, folder, progress=progress).download(url, known_hash)


@pytest.mark.parametrize("length", [True, False])
def test_a_file_arrives_with_progress(server: Server, tmp_path: Path, length: bool) -> None:
    server.pages["/f"] = Page(BODY, length=length)
    calls: list[tuple[str, int, int | None]] = []
    path = download(f"{server.url}/f", tmp_path, SHA256, lambda *now: calls.append(now))
    assert path.read_bytes() == BODY
    assert {url for url, _, _ in calls} == {f"{server.url}/f"}
    assert {total for _, _, total in calls} == {len(BODY) if length else None}
    assert max(n for _, n, _ in calls) >= len(BODY)
    assert len(calls) > 100


def test_a_file_that_is_there_is_not_downloaded_again_unless_it_was_changed(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY)
    path = download(f"{server.url}/f", tmp_path, SHA256)
    assert download(f"{server.url}/f", tmp_path, SHA256) == path
    assert len(server.requests) == 1
    path.write_bytes(BODY[1:])
    assert download(f"{server.url}/f", tmp_path, SHA256).read_bytes() == BODY


def test_a_body_cut_short_leaves_nothing(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY, cut=1, cut_at=100_000)
    with pytest.raises(DataUnavailableError, match=r"/f: .*100000 bytes read") as error:
        download(f"{server.url}/f", tmp_path)
    assert error.value.next_step == "try again later"
    assert list(tmp_path.iterdir()) == []
    assert download(f"{server.url}/f", tmp_path).read_bytes() == BODY


def test_another_checksum_is_refused(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY)
    with pytest.raises(ElmbenchError, match=f"/f: SHA256 .* got {SHA256}") as error:
        download(f"{server.url}/f", tmp_path, "0" * 64)
    assert error.value.expected == "0" * 64
    assert "the file was changed at its source" in str(error.value.next_step)
    assert not isinstance(error.value, DataUnavailableError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("status", "later"), [(404, False), (403, False), (429, True), (500, True), (503, True)])
def test_an_answer_without_the_file(server: Server, tmp_path: Path, status: int, later: bool) -> None:
    server.pages["/f"] = Page(b"no", status=status)
    with pytest.raises(ElmbenchError, match=f"/f: the server answers {status}") as error:
        download(f"{server.url}/f", tmp_path)
    assert isinstance(error.value, DataUnavailableError) == later
    assert ("try again later" if later else "elmbench data import") in str(error.value.next_step)


def test_a_redirect_is_followed(server: Server, tmp_path: Path) -> None:
    server.pages["/old"] = Page(b"", status=302, headers={"Location": f"{server.url}/f"})
    server.pages["/f"] = Page(BODY)
    assert download(f"{server.url}/old", tmp_path).read_bytes() == BODY


def test_a_host_that_cannot_be_reached_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_closed", set())
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{held.getsockname()[1]}"
    tried = []
    connect = socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", lambda self, to: tried.append(to) or connect(self, to))
    for _ in range(3):
        with pytest.raises(DataUnavailableError, match=re.escape(f"{host} cannot be reached")):
            download(f"http://{host}/f", tmp_path)
    assert len(tried) == 1


def test_a_killed_download_leaves_no_file_of_its_name(server: Server, tmp_path: Path) -> None:
    server.pages["/f"] = Page(BODY, pause=0.05)
    code = (
        "import sys; from pathlib import Path; from elmbench.datasets.download import FetchJob\n"
        "job = FetchJob(0, 0, Path(sys.argv[2]), progress=lambda *now: print(*now, flush=True))\n"
        "job.download(sys.argv[1])"
    )
    command = [sys.executable, "-c", code, f"{server.url}/f", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    left = os.listdir(tmp_path)
    server.pages["/f"].pause = 0
    path = download(f"{server.url}/f", tmp_path)
    assert path.read_bytes() == BODY
    assert path.name not in left
