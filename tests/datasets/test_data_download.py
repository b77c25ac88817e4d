"""Downloads and fetched data sets are complete or not there; what goes wrong is refused in one
message.
"""

import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pytest
import requests
from loopback import Page, Server, toy

from elmbench.datasets.fetch import fetch_dataset
from elmbench.datasets.find import dataset_statuses
from elmbench.datasets.load import load_dataset
from elmbench.datasets.sources import base as module
from elmbench.datasets.sources.base import FetchJob
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import DatasetSpecs
from elmbench.terminal import EscapedStream, escape

BODY = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(BODY).hexdigest()


def download(
    url: str, folder: Path, known_hash: str | None = None, progress: bool = False
) -> Path:
    return FetchJob(0, folder, progress=progress).download(url, known_hash)


@pytest.mark.parametrize("length", [True, False])
def test_a_file_arrives_with_progress(
    server: Server, tmp_path: Path, length: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    server.pages["/f"] = Page(BODY, length=length)
    assert (
        download(f"{server.url}/f", tmp_path, SHA256, progress=True).read_bytes()
        == BODY
    )
    assert ("256.0/256.0 kB" if length else "256.0/? kB") in capsys.readouterr().err


def test_the_bar_of_a_download_moves_on_an_escaped_stream(
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.pages["/f"] = Page(BODY)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # to rich, standard error is a terminal
    monkeypatch.setenv("TERM", "xterm")
    with redirect_stderr(cast("IO[str]", EscapedStream(sys.stderr))):
        download(f"{server.url}/f", tmp_path, SHA256, progress=True)
    bar = capsys.readouterr().err
    assert "\x1b[" in bar
    assert "\\x1b" not in bar


def test_the_reason_of_a_server_is_escaped() -> None:
    answer = requests.Response()
    answer.status_code, answer.reason = 404, "\x1b[31mred"
    error = requests.HTTPError("404", response=answer)

    def fail() -> None:
        with module.network("http://x.org/f"):
            raise error

    with pytest.raises(ElmbenchError) as caught:
        fail()
    assert r"(\x1b[31mred)" in escape(str(caught.value))


def test_a_file_that_is_there_is_not_downloaded_again_unless_it_was_changed(
    server: Server, tmp_path: Path
) -> None:
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


@pytest.mark.parametrize(
    ("status", "later"),
    [(404, False), (403, False), (429, True), (500, True), (503, True)],
)
def test_an_answer_without_the_file(
    server: Server, tmp_path: Path, status: int, later: bool
) -> None:
    server.pages["/f"] = Page(b"no", status=status)
    with pytest.raises(
        ElmbenchError, match=f"/f: the server answers {status}"
    ) as error:
        download(f"{server.url}/f", tmp_path)
    assert isinstance(error.value, DataUnavailableError) == later
    assert ("try again later" if later else "elmbench data import") in str(
        error.value.next_step
    )


def test_a_redirect_is_followed(server: Server, tmp_path: Path) -> None:
    server.pages["/old"] = Page(
        b"", status=302, headers={"Location": f"{server.url}/f"}
    )
    server.pages["/f"] = Page(BODY)
    assert download(f"{server.url}/old", tmp_path).read_bytes() == BODY


def test_a_host_that_cannot_be_reached_is_tried_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_closed", set())
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{held.getsockname()[1]}"
    tried = []
    connect = socket.socket.connect
    monkeypatch.setattr(
        socket.socket, "connect", lambda self, to: tried.append(to) or connect(self, to)
    )
    for _ in range(3):
        with pytest.raises(
            DataUnavailableError, match=re.escape(f"{host} cannot be reached")
        ):
            download(f"http://{host}/f", tmp_path)
    assert len(tried) == 1


def test_a_killed_download_leaves_no_file_of_its_name(
    server: Server, tmp_path: Path
) -> None:
    server.pages["/f"] = Page(BODY, pause=0.05)
    code = (
        "import sys; from pathlib import Path; from elmbench.datasets.sources.base import "
        "FetchJob\n"
        "job = FetchJob(0, Path(sys.argv[2]))\n"
        "job.download(sys.argv[1])"
    )
    command = [sys.executable, "-c", code, f"{server.url}/f", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as child:
        while not os.listdir(tmp_path):
            time.sleep(0.01)
        child.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    left = os.listdir(tmp_path)
    server.pages["/f"].pause = 0
    path = download(f"{server.url}/f", tmp_path)
    assert path.read_bytes() == BODY
    assert path.name not in left


Use = Callable[[dict[str, Any]], DatasetSpecs]
N = 100
TEXT = "".join(f"{1 if row % 2 else -1} 1:{row} 3:0.5\n" for row in range(N)).encode()


def libsvm(url: str, **source: Any) -> dict[str, Any]:
    shape = {"instances": N, "features": 3, "classes": {-1: N // 2, 1: N // 2}}
    return toy({"kind": "libsvm", "url": url, **source}, shape=shape)


@pytest.fixture
def fetched(server: Server, use_specs: Use, tmp_path: Path) -> Path:
    """The file in the cache of a data set that was fetched."""
    use_specs(libsvm(f"{server.url}/toy"))
    server.pages["/toy"] = server.pages["/new"] = Page(TEXT)
    assert fetch_dataset("toy").downloaded
    (path,) = (tmp_path / "cache" / "datasets" / "toy").iterdir()
    return path


def test_a_fetched_set_is_not_fetched_again_unless_it_is_forced(
    fetched: Path, server: Server
) -> None:
    assert not fetch_dataset("toy").downloaded
    assert server.paths() == ["/toy"]
    assert fetch_dataset("toy", force=True).downloaded
    assert server.paths() == ["/toy"] * 2
    np.testing.assert_array_equal(load_dataset("toy").X[:, 0], np.arange(N))
    (entry,) = dataset_statuses(["toy"])
    assert entry.state == "fetched"
    assert entry.where.startswith("LIBSVM toy, fetched 20")


def test_another_address_is_another_source(
    fetched: Path, server: Server, use_specs: Use
) -> None:
    use_specs(libsvm(f"{server.url}/new"))
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")
    use_specs(libsvm(f"{server.url}/toy", note="another note is the same source"))
    assert not fetch_dataset("toy").downloaded


def test_a_cached_file_that_was_changed(fetched: Path, server: Server) -> None:
    fetched.write_bytes(TEXT.replace(b"1:7 ", b"1:8 "))
    with pytest.raises(
        ElmbenchError, match="has been changed: its SHA-256 is"
    ) as error:
        load_dataset("toy")
    assert not isinstance(error.value, DataUnavailableError)
    assert "the file that was fetched" in str(error.value.expected)
    assert error.value.next_step == "elmbench data fetch toy"
    assert dataset_statuses(["toy"])[0].state == "bad"
    assert fetch_dataset("toy").downloaded
    assert load_dataset("toy").X[7, 0] == 7


def test_a_new_version_replaces_the_cached_file(fetched: Path, server: Server) -> None:
    server.pages["/toy"] = Page(TEXT.replace(b"1:7 ", b"1:8 "))
    fetch_dataset("toy", force=True)
    assert load_dataset("toy").X[7, 0] == 8
    assert len(list(fetched.parent.iterdir())) == 1


def test_one_part_of_two_is_not_the_data_set(
    fetched: Path, server: Server, use_specs: Use
) -> None:
    content = libsvm("")
    content["toy"]["shape"]["split"] = [60, 40]
    content["toy"]["sources"] = [
        {"kind": "libsvm", "train": f"{server.url}/train", "test": f"{server.url}/test"}
    ]
    use_specs(content)
    lines = TEXT.splitlines(keepends=True)
    server.pages["/train"], server.pages["/test"] = (
        Page(b"".join(lines[:60])),
        Page(b"".join(lines[60:])),
    )
    fetch_dataset("toy")
    splits = load_dataset("toy").splits
    assert [len(rows) for rows in splits.values()] == [60, 40]
    next(fetched.parent.glob("*.test.*")).unlink()
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")


def test_old_downloads_are_swept(fetched: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "downloads"
    (folder / "old").mkdir()
    (folder / "old" / "half").write_text("half")
    (folder / "new").mkdir()
    os.utime(folder / "old", (time.time() - 90_000,) * 2)
    fetch_dataset("toy", force=True)
    assert [path.name for path in folder.iterdir()] == ["new"]


def test_the_next_download_deletes_the_folder_of_a_killed_one(
    fetched: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "cache" / "downloads"
    code = (
        "import os; from elmbench.datasets.sources.base import fetch_job\n"
        "with fetch_job(3) as job:\n"
        "    (job.folder / 'half').write_text('half'); os._exit(9)"
    )
    environment = os.environ | {"ELMBENCH_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert len(list(folder.iterdir())) == 1
    fetch_dataset("toy", force=True)
    assert list(folder.iterdir()) == []
