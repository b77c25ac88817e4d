"""The process that does work: `python -m elmbench.running.executors.worker`.

It reads one JSON object a line on its standard input and answers each on what was its standard output, with one line
when the data are loaded (from then on a time limit counts) and one with the result; whatever a model prints goes to
standard error instead. The end of the input ends it, and on Linux the end of its owner does at once.
"""

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, TextIO


def main() -> None:
    """Answer requests until the input ends."""
    _end_with_owner()
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _import_ahead()
    for line in requests:
        _say(answers, _answer(json.loads(line), answers))


def _import_ahead() -> None:
    """Import what all work needs, so that a worker which is started before its first request has done so by then."""
    with contextlib.suppress(Exception):  # a broken installation is told with the request
        import elmbench.models
        import elmbench.running.attempt
        import elmbench.work.fit
        import elmbench.work.search  # noqa: F401


def _answer(request: dict[str, Any], answers: TextIO) -> dict[str, Any]:
    from elmbench.errors import ElmbenchError
    from elmbench.running.attempt import attempt, preload
    from elmbench.specs.datasets import DatasetSpec
    from elmbench.specs.registry.plugins import load_plugin
    from elmbench.work import work_from
    from elmbench.work.base import Context

    context = Context(request["data_dir"], request["memory_limit"])
    try:
        for path in request["plugins"]:
            if path not in _loaded:
                load_plugin(Path(path))
                _loaded.add(path)
        spec = request["dataset"]
        work = work_from(request["work"], spec and DatasetSpec.model_validate(spec))
        preload(work, context)
    except ElmbenchError as error:
        return {"status": "failed", "reason": str(error)}
    except MemoryError:
        return {"status": "out-of-memory", "reason": "the data do not fit into memory", "limit": None}
    _say(answers, {"ready": True})
    return attempt(work, request["inputs"], context, request["blas_threads"])


def _say(answers: TextIO, answer: dict[str, Any]) -> None:
    print(json.dumps(answer), file=answers, flush=True)


def _end_with_owner() -> None:
    """Ask Linux to end this process when its owner dies, even by SIGKILL in the middle of a long unit."""
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


_loaded: set[str] = set()

if __name__ == "__main__":
    main()
