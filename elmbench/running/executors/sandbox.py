"""A worker process and its keeper as their owner sees them.

Each job of a run owns a keeper, which forks a worker for each model. They are processes of their own, not those of a
pool, because what runs in them may have to be ended: joblib's loky cannot end one worker without breaking its pool, and
nothing but the end of the process stops a model that hangs in compiled code or allocates without end.
"""

from __future__ import annotations

import contextlib
import os
import secrets
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

from elmbench.running.executors.keeper import how_it_ended
from elmbench.running.executors.lines import LONGEST_REASON, Garbled, Lines, checked, plain, written
from elmbench.running.processes import MARK, MemoryWatch, end_family
from elmbench.specs.limits import Limits, in_words

if TYPE_CHECKING:
    from elmbench.work.base import Result, Work

#: Seconds between two looks at the time and the memory of a worker.
_INTERVAL = 0.05
#: Seconds that a keeper may take to start and to load the data.
_START = 900.0
#: Seconds that a keeper may take to end its worker.
_END = 5.0
#: Seconds that a keeper which has closed its pipe may take to end.
_WITHOUT_PIPE = 1.0
#: How often a keeper that is found stopped goes on: a machine may suspend all processes now and then.
_STOPS = 10


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
        In every worker. It changes the last digits of some results: it is recorded with each cell, but does not belong
        to its key, so results from before are taken over whatever their number.
    limits : Limits
        For all work, in place of what its experiment says.
    environment : str
        Hash of the environment of this machine, as the store knows it.
    memory : int or None
        Bytes that work may take where neither a limit nor its experiment says; None for a job's share of this machine.
    """

    jobs: int = 1
    data_dir: str | None = None
    plugins: tuple[str, ...] = ()
    blas_threads: int = 1
    limits: Limits = field(default_factory=Limits)
    environment: str = ""
    memory: int | None = None


class _Ended(Exception):
    """The keeper, or what it keeps, has ended without an answer: `result` is what the work comes to."""

    def __init__(self, status: str, reason: str, **more: float) -> None:
        super().__init__(reason)
        self.result = {"status": status, "reason": reason, **more}


@dataclass
class _Keeper:
    """A keeper's process, what it answers, its standard error, the mark of all that it starts, and its memory.

    Attributes
    ----------
    used : bool
        Whether it has been asked for something: a model may have done something to it since.
    stops : int
        How often it was found stopped.
    """

    process: subprocess.Popen[bytes]
    answers: Lines
    said: IO[bytes]
    mark: str
    memory: MemoryWatch
    used: bool = False
    stops: int = 0

    def lives(self) -> bool:
        """Tell whether it has neither ended nor is stopped again and again; one that is stopped goes on."""
        if self.process.poll() is not None:
            return False
        with contextlib.suppress(ChildProcessError):  # another thread has just seen its end
            if os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT):
                self.stops += 1
                self.process.send_signal(signal.SIGCONT)
        return self.stops <= _STOPS

    def end(self) -> None:
        end_family(self.process, self.mark)


def asked_of(work: Work, inputs: Mapping[str, Result]) -> dict[str, Any]:
    """Return what a sandbox is asked for, as JSON has it.

    Parameters
    ----------
    inputs : mapping of str to dict
        Results of the work that it needs, by key.
    """
    spec = work.data.spec if work.data is not None else None
    return {
        "work": work.content(),
        "dataset": spec and spec.model_dump(mode="json", by_alias=True),
        "inputs": dict(inputs),
    }


class Sandbox:
    """A keeper and its worker, started when they are first needed and again after they have died.

    Attributes
    ----------
    before : float
        Seconds until what was asked for last could begin: to start the keeper and to load the data.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.before = 0.0
        self._keeper: _Keeper | None = None
        self._number = 0

    def _start(self) -> _Keeper:
        package = str(Path(__file__).resolve().parents[3])
        names = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
        threads = str(self.settings.blas_threads)
        mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        environment = {**os.environ, **{f"{name}_NUM_THREADS": threads for name in names}, MARK: mark}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        said = tempfile.TemporaryFile("a+b", buffering=0)  # noqa: SIM115 - lives as long as the keeper
        process = subprocess.Popen(
            # -P: a file of the user's folder that is called as a module of Python's is not to be taken for it.
            [sys.executable, "-P", "-m", "elmbench.running.executors.keeper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            bufsize=0,
            env=environment,
            # Ctrl-C reaches the whole group of the terminal; only the owner is to act on it.
            start_new_session=True,
        )
        assert process.stdout is not None
        return _Keeper(process, Lines(process.stdout.fileno()), said, mark, MemoryWatch(process.pid, _INTERVAL))

    def warm(self) -> None:
        """Start the keeper before there is work: it takes seconds to import what models need."""
        if self._keeper is None:
            self._keeper = self._start()

    def run(self, work: Work, inputs: Mapping[str, Result], limits: Limits | None = None) -> Result:
        """Do some work and return its result; a limit that is reached and the death of the worker are results too.

        Parameters
        ----------
        inputs : mapping of str to dict
            Results of the work that it needs, by key.
        """
        return self.ask(asked_of(work, inputs), limits or Limits())

    def ask(self, asked: Mapping[str, Any], limits: Limits) -> Result:
        """Do what is asked for in the words of `asked_of`; see `run`."""
        started, self.before = time.monotonic(), 0.0
        self._number += 1
        request = {
            "number": self._number,
            **asked,
            "data_dir": self.settings.data_dir,
            "plugins": self.settings.plugins,
            "blas_threads": self.settings.blas_threads,
            "memory_limit": limits.memory,
        }
        try:
            keeper, ready = self._made_ready(written(request), limits)
            self.before = time.monotonic() - started
            return self._answer(keeper, limits) if ready.get("ready") else ready
        except _Ended as end:
            # Of a keeper whose memory is full, or that has not answered, nothing can be kept.
            if end.result["status"] != "timeout" or not self._worker_ended():
                self.stop()
            return end.result

    def _made_ready(self, line: bytes, limits: Limits) -> tuple[_Keeper, Result]:
        """Hand a request to the keeper; return it and its first answer.

        Where it ends before, a model of an earlier request may have seen to that: then a fresh one is asked.
        """
        while True:
            keeper = self._ready_for(limits)
            used, keeper.used = keeper.used, True
            try:
                self._send(keeper, line)
                return keeper, self._answer(keeper, Limits(_START, limits.memory))
            except _Ended as end:
                if not used or end.result["status"] == "timeout" or self._keeper is not keeper:
                    raise
                self.stop()

    def _worker_ended(self) -> bool:
        """Have the keeper end its worker, and tell whether it has: a fresh one takes seconds to start."""
        keeper = self._keeper
        if keeper is None:
            return False
        try:
            self._send(keeper, written({"number": self._number}))
            self._answer(keeper, Limits(_END))
        except _Ended:
            return False
        return self._keeper is keeper

    def _ready_for(self, limits: Limits) -> _Keeper:
        """Return the keeper, a fresh one where the one before has died or holds much of the memory limit."""
        keeper = self._keeper
        if keeper is not None and (not keeper.lives() or self._holds_much(keeper, limits)):
            self.stop()
        self.warm()
        assert self._keeper is not None
        return self._keeper

    def _holds_much(self, keeper: _Keeper, limits: Limits) -> bool:
        """Tell whether earlier work has left so much behind that it would count against what comes."""
        if limits.memory is None or keeper.memory.last <= limits.memory / 2:
            return False
        return keeper.memory.look(limits.memory // 2) > limits.memory / 2

    def _send(self, keeper: _Keeper, line: bytes) -> None:
        assert keeper.process.stdin is not None
        rest = memoryview(line)
        try:
            while rest:
                # No more at a time than never has to wait: one that does not read may have been stopped.
                if select.select([], [keeper.process.stdin], [], _INTERVAL)[1]:
                    rest = rest[os.write(keeper.process.stdin.fileno(), rest[: select.PIPE_BUF]) :]
                elif not keeper.lives():
                    raise self._death(keeper)
        except (BrokenPipeError, ValueError):
            raise self._death(keeper) from None

    def _answer(self, keeper: _Keeper, limits: Limits) -> dict[str, Any]:
        """Return the next answer; raise where a limit is exceeded first, or where none comes."""
        started = time.monotonic()
        while (line := keeper.answers.take()) is None:
            readable, _, _ = select.select([keeper.answers.descriptor], [], [], _INTERVAL)
            try:
                if readable and not keeper.answers.read():
                    raise self._death(keeper)
            except Garbled as error:
                raise _Ended("failed", f"the worker process gave {error}") from None
            if not readable and not keeper.lives():
                # Dead, though a process that was started there may still hold the other end of the pipe.
                raise self._death(keeper)
            check_time(limits, time.monotonic() - started)
            if limits.memory is not None and keeper.memory.due():
                check_memory(limits.memory, keeper.memory.look(limits.memory))
        try:
            return checked(line, self._number)
        except Garbled as error:
            raise _Ended("failed", f"the worker process gave {error}") from None

    def _death(self, keeper: _Keeper) -> _Ended:
        if self._keeper is not keeper:
            return _Ended("failed", "the run was stopped")
        if keeper.stops > _STOPS:
            return _Ended("failed", "the worker process was stopped again and again")
        try:
            code = keeper.process.wait(_WITHOUT_PIPE)
        except subprocess.TimeoutExpired:
            return _Ended("failed", "the worker process closed its pipe")
        return _Ended("failed", plain(how_it_ended(code, keeper.said.fileno(), 0))[:LONGEST_REASON])

    def stop(self) -> None:
        """End the worker at once, with whatever it runs and has started."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.end()


def check_memory(limit: int, size: int) -> None:
    """Raise where a limit of memory has been exceeded; both in bytes."""
    if size > limit:
        raise _Ended("out-of-memory", f"grew to {in_words(size)}; the limit is {in_words(limit)}", limit=limit)


def check_time(limits: Limits, spent: float) -> None:
    """Raise where a limit of time has been exceeded.

    Parameters
    ----------
    spent : float
        Seconds.
    """
    if limits.seconds is not None and spent > limits.seconds:
        raise _Ended("timeout", f"> {limits.seconds:g} s", limit=limits.seconds)
