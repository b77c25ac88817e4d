"""The process that a model runs in, forked from its keeper.

Whatever a model does to it, to patch what is imported, to leave threads and timers or to set limits, ends with it. It
answers each request with one line: bare predictions where the kind of work is measured by them, which its keeper does.
"""

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from elmbench.running.executors.lines import Lines, written
from elmbench.running.processes import end_with_parent


def become_worker(requests: int, answers: int, keeper: int) -> NoReturn:
    """Answer requests until their end; then end this process, in the way that a model asks for if it does.

    Parameters
    ----------
    requests, answers : int
        Descriptors.
    keeper : int
        The process that this one was forked from.
    """
    end_with_parent()
    os.setsid()
    if os.getppid() != keeper:
        os._exit(0)
    _leave(lambda: _serve(Lines(requests), answers))


def _serve(requests: Lines, answers: int) -> None:
    from elmbench.running.attempt import produced
    from elmbench.specs.datasets import DatasetSpec
    from elmbench.work import work_from
    from elmbench.work.base import Context

    while requests.read():
        line = requests.take()
        if line is None:
            continue
        request = read_request(line)
        spec = request["dataset"]
        work = work_from(request["work"], spec and DatasetSpec.model_validate(spec))
        context = Context(request["data_dir"], request["memory_limit"])
        answer = produced(work, request["inputs"], context, request["blas_threads"])
        write_all(answers, written(answer | {"number": request["number"]}))


def read_request(line: bytes) -> dict[str, Any]:
    """Return a request."""
    import json

    request: dict[str, Any] = json.loads(line)
    return request


def write_all(descriptor: int, line: bytes) -> None:
    """Write a line, however often it takes."""
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _leave(serve: Callable[[], None]) -> NoReturn:
    """Serve, then end without what was to be done at the exit of the process that this one is a copy of."""
    code = 1
    try:
        serve()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - its last line is what is told of the end
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)
