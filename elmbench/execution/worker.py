"""The process that runs units: `python -m elmbench.execution.worker`.

It reads one JSON object a line on its standard input and answers each with one line on what was its standard output;
whatever a model prints goes to standard error instead. The end of the input ends it, so no worker outlives the
process that started it by more than the unit under way.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer requests until the input ends."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for line in requests:
        answer = _answer(json.loads(line))
        print(json.dumps(answer), file=answers, flush=True)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from elmbench.evaluation.unit import run_unit
    from elmbench.specs.registry import load_plugin

    for path in request.get("plugins", ()):
        if path not in _loaded:
            load_plugin(Path(path))
            _loaded.add(path)
    if "unit" not in request:
        return {"ready": True}
    return run_unit(request["unit"], request["inputs"], request["data_dir"], request["blas_threads"])


_loaded: set[str] = set()

if __name__ == "__main__":
    main()
