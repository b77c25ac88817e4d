"""A worker process as its owner sees it.

Each job of a run owns one. It is a process of its own, not one of a pool's, because what runs in it may have to be
ended: joblib's loky cannot end one worker without breaking its pool, and nothing but the end of the process stops a
model that hangs in compiled code or allocates without end.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from elmbench.running.limits import resident_bytes
from elmbench.specs.limits import Limits, in_words

if TYPE_CHECKING:
    from elmbench.work.base import Result, Work

#: Seconds between two looks at the time and the memory of a worker.
_INTERVAL = 0.05
#: Seconds that a worker may take to start and to load the data.
_START = 900.0


@dataclass(frozen=True)
class Settings:
    """How work is run.

    Attributes
    ----------
    jobs : int
        Worker processes.
    plugins : tuple of str
        Plug-in files that every worker loads.
    blas_threads : int
        In every worker.
    limits : Limits
        For all work, in place of what its experiment says.
    environment : str
        Hash of the environment, as the store knows it.
    """

    jobs: int = 1
    data_dir: str | None = None
    plugins: tuple[str, ...] = ()
    blas_threads: int = 1
    limits: Limits = field(default_factory=Limits)
    environment: str = ""


class Sandbox:
    """One worker process, started when it is first needed and again after it has died."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._said: IO[bytes] | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        package = str(Path(__file__).resolve().parents[3])
        names = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
        threads = str(self.settings.blas_threads)
        environment = {**os.environ, **{f"{name}_NUM_THREADS": threads for name in names}}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        self._unread = b""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        return subprocess.Popen(
            # -P: a file of the user's folder that is called as a module of Python's is not to be taken for it.
            [sys.executable, "-P", "-m", "elmbench.running.executors.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=environment,
            # Ctrl-C reaches the whole group of the terminal; only the owner is to act on it.
            start_new_session=True,
        )

    def warm(self) -> None:
        """Start the worker before there is work: it takes seconds to import what models need."""
        if self._process is None:
            self._process = self._start()

    def run(self, work: Work, inputs: Mapping[str, Result], limits: Limits | None = None) -> Result:
        """Do some work and return its result; a limit that is reached and the death of the worker are results too.

        Parameters
        ----------
        inputs : mapping of str to dict
            Results of the work that it needs, by key.
        """
        limits = limits or Limits()
        process = self._process
        if process is not None and limits.memory and resident_bytes(process.pid) > limits.memory / 2:
            # What earlier work left behind is not to count against this.
            self.stop()
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        spec = work.data.spec if work.data is not None else None
        request = {
            "work": work.content(),
            "dataset": spec and spec.model_dump(mode="json", by_alias=True),
            "inputs": dict(inputs),
            "data_dir": self.settings.data_dir,
            "plugins": self.settings.plugins,
            "blas_threads": self.settings.blas_threads,
            "memory_limit": limits.memory,
        }
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return self._death()
        ready = self._answer(Limits(_START, limits.memory))
        return self._answer(limits) if ready.get("ready") else ready

    def _answer(self, limits: Limits) -> dict[str, Any]:
        """Return the next line of the worker; end the worker where it exceeds a limit first."""
        process = self._process
        if process is None:
            return self._death()
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        started = time.monotonic()
        while b"\n" not in self._unread:
            readable, _, _ = select.select([descriptor], [], [], _INTERVAL)
            if readable:
                chunk = os.read(descriptor, 1 << 16)
                if not chunk:
                    return self._death()
                self._unread += chunk
            elif process.poll() is not None:
                # Dead, though a process that it started may still hold the other end of the pipe.
                return self._death()
            elif limits.seconds is not None and time.monotonic() - started > limits.seconds:
                self.stop()
                reason = f"> {limits.seconds:g} s"
                return {"status": "timeout", "reason": reason, "limit": limits.seconds}
            if limits.memory is not None and (size := resident_bytes(process.pid)) > limits.memory:
                self.stop()
                reason = f"grew to {in_words(size)}; the limit is {in_words(limits.memory)}"
                return {"status": "out-of-memory", "reason": reason, "limit": limits.memory}
        line, self._unread = self._unread.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _death(self) -> dict[str, Any]:
        process, self._process = self._process, None
        if process is None:
            return {"status": "failed", "reason": "the run was stopped"}
        code = process.wait()
        _end_group(process)
        if code < 0:
            reason = f"the worker process died by signal {-code} ({signal.Signals(-code).name})"
        else:
            reason = f"the worker process ended by itself with exit code {code}{self._last_words()}"
        return {"status": "failed", "reason": reason}

    def _last_words(self) -> str:
        """Return the last line that the worker, or a model in it, wrote to its standard error."""
        if self._said is None:
            return ""
        self._said.seek(0)
        lines = [line for line in self._said.read()[-2000:].decode(errors="replace").splitlines() if line.strip()]
        return f": {lines[-1].strip()}" if lines else ""

    def stop(self) -> None:
        """End the worker at once, with whatever it runs and has started."""
        process, self._process = self._process, None
        if process is not None:
            _end_group(process)
            process.wait()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker and the processes that a model in it has started; they are a group of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
