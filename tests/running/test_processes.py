"""Processes and what they have started: found in two ways, and what they hold."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from elmbench.running import processes

#: A process with two children. The first, in a session of its own, has a child that takes 60 MB.
FAMILY = """
import subprocess, sys, time
hold = "held = bytearray(60_000_000); held[::4096] = b'1' * len(held[::4096]); print(flush=True); "
hold += "import time; time.sleep(600)"
child = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {hold!r}]); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
subprocess.Popen([sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"])
time.sleep(600)
"""


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == process.stdout.readline() == b"\n"
    yield process
    processes.end_descendants(process.pid)
    process.kill()
    process.wait()


@pytest.mark.parametrize("listed", [True, False])
def test_all_that_a_process_has_started_counts(
    family: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    if not listed:
        opened = builtins.open

        def refused(path: Any, *how: Any, **more: Any) -> Any:
            if str(path).endswith("/children"):
                raise FileNotFoundError(path)
            return opened(path, *how, **more)

        monkeypatch.setattr(builtins, "open", refused)
    result = {one.pid for one in psutil.Process(family.pid).children(recursive=True)}
    assert len(result) == 3
    assert set(processes._descendant_ids(family.pid)) == result
    alone = psutil.Process(family.pid).memory_info().rss
    assert processes.held_bytes(family.pid, sys.maxsize) > alone + 60_000_000
    assert processes.held_bytes(os.getpid(), sys.maxsize) > alone + 60_000_000
