"""The process that keeps a worker: `python -m elmbench.running.executors.keeper`.

It imports what models need, loads the data, and forks a worker for each model and data set, which has all this at once
and nothing of what another model has done. It reads one JSON object a line on its standard input and answers each on
what was its standard output: with one line when the data are loaded (from then on a time limit counts), and with one
when the worker has answered. A line that comes meanwhile has it end the worker. What a worker predicts it measures
itself, and of a model from outside the candidates of a search too: none is ever fitted in it, though a plug-in file is
imported. Whatever is printed goes to standard error. The end of the input, and so that of its owner, ends it and all
that models have started.
"""

import contextlib
import os
import select
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmbench.running.executors.lines import Garbled, Lines, checked, written
from elmbench.running.executors.worker import become_worker, read_request, write_all
from elmbench.running.processes import end_descendants, go_on_without_parent, last_words, name_of_signal, take_orphans

if TYPE_CHECKING:
    from elmbench.work.base import Context, Work

#: Seconds between two looks whether a worker lives.
_INTERVAL = 0.05
#: Seconds that a worker may live without its pipe.
_WITHOUT_PIPE = 1.0
#: Bytes of what models print that are kept from one request to the next.
_PRINTED = 10_000_000


def main() -> None:
    """Answer requests until the input ends."""
    take_orphans()
    go_on_without_parent()
    keeper = Keeper(Lines(os.dup(0)), os.dup(1))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _import_ahead()
    with contextlib.suppress(_OwnerGone):
        while True:
            keeper.answer(keeper.next_request())
    end_descendants(os.getpid())


def _import_ahead() -> None:
    """Import what all work needs, so that a keeper which is started before its first request has done so by then."""
    with contextlib.suppress(Exception):  # a broken installation is told with the request
        import elmbench.models.baselines
        import elmbench.running.attempt
        import elmbench.work.fit
        import elmbench.work.search  # noqa: F401


class _OwnerGone(Exception):
    """The input has ended."""


class _Ended(Exception):
    """The worker has ended without an answer; the message says how."""


@dataclass(frozen=True)
class _Worker:
    """A forked process: what it runs, and the other ends of its pipes."""

    runs: tuple[str, str]
    process: int
    requests: int
    answers: Lines


class Keeper:
    """What a keeper knows between two requests.

    Parameters
    ----------
    requests : Lines
        From the owner.
    answers : int
        The descriptor that it reads.
    """

    def __init__(self, requests: Lines, answers: int) -> None:
        self._requests = requests
        self._answers = answers
        self._plugins: set[str] = set()
        self._warm: set[tuple[str, str]] = set()
        self._worker: _Worker | None = None

    def next_request(self) -> bytes:
        """Return the next line of the owner; raise where there will be none."""
        while (line := self._requests.take()) is None:
            if not self._requests.read():
                raise _OwnerGone
        return line

    def answer(self, line: bytes) -> None:
        """Do what is asked for."""
        request = read_request(line)
        if "work" not in request:  # to end a worker that had answered by then
            return
        result = self._result(line, request)
        write_all(self._answers, written(result | {"number": request["number"]}))

    def _result(self, line: bytes, request: dict[str, Any]) -> dict[str, Any]:
        from elmbench.errors import ElmbenchError
        from elmbench.running.attempt import failed_before, judged
        from elmbench.work.base import Context

        if (failed := failed_before(request["inputs"])) is not None:
            return failed
        context = Context(request["data_dir"], request["memory_limit"])
        try:
            work = self._prepared(request, context)
        except ElmbenchError as error:
            return {"status": "failed", "reason": str(error)}
        except MemoryError:
            return {"status": "out-of-memory", "reason": "the data do not fit into memory", "limit": None}
        printed = self._printed()
        try:
            worker = self._worker_for(work)
            write_all(self._answers, written({"ready": True, "number": request["number"]}))
            with contextlib.suppress(BrokenPipeError):  # it has died: seen below
                write_all(worker.requests, line + b"\n")
            answer = checked(self._wait(worker, printed), request["number"])
        except Garbled as error:
            self._end_worker()
            return {"status": "failed", "reason": f"the worker process gave {error}"}
        except _Ended as error:
            self._end_worker()
            return {"status": "failed", "reason": str(error)}
        return judged(work, answer, context)

    def _prepared(self, request: dict[str, Any], context: "Context") -> "Work":
        """Return the work of a request, its plug-ins and its data loaded, its model imported."""
        from elmbench.running.attempt import preload, warm_up
        from elmbench.specs.datasets import DatasetSpec
        from elmbench.specs.registry import find_model, is_built_in
        from elmbench.specs.registry.plugins import load_plugin
        from elmbench.work import work_from

        for path in request["plugins"]:
            if path not in self._plugins:
                load_plugin(Path(path))
                self._plugins.add(path)
        spec = request["dataset"]
        work = work_from(request["work"], spec and DatasetSpec.model_validate(spec))
        preload(work, context)
        if work.model_name and work.data is not None and work.data.spec is not None:
            entry, task = find_model(work.model_name), work.data.spec.task
            # What is compiled or loaded here need not be in each worker; models from outside are not let in.
            if (entry.name, task) not in self._warm and is_built_in(entry.name):
                warm_up(entry.factory(task), task)
                self._warm.add((entry.name, task))
        return work

    def _worker_for(self, work: "Work") -> _Worker:
        """Return the worker of a model and data set: that of the request before, or a fresh one."""
        from elmbench.running.attempt import find_libraries

        runs = work.model_name, work.data.name if work.data else ""
        before = self._worker
        if before is not None and before.runs == runs and before.answers.empty and not _ended(before.process):
            return before
        self._end_worker()
        find_libraries()
        request_end, requests = os.pipe()
        answers, answer_end = os.pipe()
        keeper, process = os.getpid(), os.fork()
        if process == 0:
            for descriptor in (requests, answers, self._answers, self._requests.descriptor):
                os.close(descriptor)
            become_worker(request_end, answer_end, keeper)
        os.close(request_end)
        os.close(answer_end)
        self._worker = _Worker(runs, process, requests, Lines(answers))
        return self._worker

    def _end_worker(self) -> None:
        if self._worker is not None:
            end_descendants(os.getpid())
            os.close(self._worker.requests)
            os.close(self._worker.answers.descriptor)
            self._worker = None

    def _wait(self, worker: _Worker, printed: int) -> bytes:
        """Return the line that a worker answers."""
        own, pipe = self._requests.descriptor, worker.answers.descriptor
        while True:
            readable, _, _ = select.select([own, pipe], [], [], _INTERVAL)
            if own in readable:
                if not self._requests.read():
                    raise _OwnerGone
                if self._requests.take() is not None:
                    raise _Ended("the worker was stopped")
            if pipe in readable:
                if not worker.answers.read():
                    raise _Ended(_end_of(worker.process, _WITHOUT_PIPE, printed))
                if (line := worker.answers.take()) is not None:
                    return line
            elif not readable and _ended(worker.process):
                # Dead, though a process that it started may still hold the other end of the pipe.
                raise _Ended(_end_of(worker.process, 0, printed))

    def _printed(self) -> int:
        """Return how many bytes models have printed; of very many none are kept."""
        size = os.fstat(2).st_size
        if size > _PRINTED:
            with contextlib.suppress(OSError):  # no file
                os.ftruncate(2, 0)
                return 0
        return size


def _ended(process: int) -> bool:
    """Tell whether a child has ended; how is not taken note of yet."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_of(process: int, patience: float, printed: int) -> str:
    """Return in words how a child has ended, after so many seconds at the latest."""
    given_up = time.monotonic() + patience
    while not _ended(process) and time.monotonic() < given_up:
        time.sleep(0.005)
    if not _ended(process):
        return "the worker process closed its pipe"
    return how_it_ended(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 2, printed)


def how_it_ended(code: int, said: int, printed: int) -> str:
    """Return in words how a process has ended.

    Parameters
    ----------
    code : int
        Its exit code, or the number of a signal, negated.
    said : int
        The descriptor of its standard error, a file.
    printed : int
        How much of it others had written before.
    """
    if code < 0:
        return f"the worker process died by signal {name_of_signal(-code)}"
    return f"the worker process ended by itself with exit code {code}{last_words(said, printed)}"


if __name__ == "__main__":
    main()
