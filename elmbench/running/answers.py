"""What every result may say, whatever its kind of work: a model in a worker may have forged it."""

import math
from typing import Any

from elmbench.specs.measures import COUNTS, FACTS

#: How work may end in a worker: not by a limit of time, which its owner sets.
STATUSES = ("ok", "diverged", "out-of-memory", "failed")


def check_answer(answer: dict[str, Any]) -> None:
    """Check what every result may say beside what its kind of work yields.

    Raises
    ------
    ValueError
        If a time is no number of seconds, a metric no number and so on.
    """
    if answer.get("status") not in STATUSES or not isinstance(answer.get("reason"), str):
        raise ValueError("no status is given, or no reason")
    for name in ("fit_seconds", "search_seconds", "predict_seconds", "seconds"):
        if not _is_number(value := answer.get(name, 0.0)) or not math.isfinite(value) or value < 0:
            raise ValueError(f"{name} is {_shown(value)}, which is no time")
    for name in ("condition", "limit"):
        if (value := answer.get(name)) is not None and not _is_number(value):
            raise ValueError(f"{name} is {_shown(value)}, which is no number")
    for name in ("metrics", "solvers"):
        found = answer.get(name, {})
        if not isinstance(found, dict) or not all(map(_is_number, found.values())):
            raise ValueError(f"{name} holds what is no number")
    sizes = {name: answer.get(name) for name in ("n_units", "n_train", "n_test")}
    counts = {name: answer.get("metrics", {}).get(name) for name in (*COUNTS, *FACTS)}
    for name, value in (sizes | counts).items():
        if value is not None and not (_is_number(value) and float(value).is_integer()):
            raise ValueError(f"{name} is {_shown(value)}, which is no whole number")
        if name in sizes and value is not None and value < 0:
            raise ValueError(f"{name} is {_shown(value)}, which is no size")
    if not isinstance(answer.get("params", {}), dict):
        raise ValueError("params are no names with values")
    warnings = answer.get("warnings", [])
    if not isinstance(warnings, list) or not all(
        isinstance(one, str) for one in [*warnings, answer.get("traceback", "")]
    ):
        raise ValueError("warnings are no texts")
    if "scores" in answer:
        scores = answer["scores"]
        if "seconds" not in answer or not isinstance(scores, list) or not all(map(_is_number, scores)):
            raise ValueError("scores hold what is no number")
    for part in answer["parts"].values() if isinstance(answer.get("parts"), dict) else ():
        check_answer(part if isinstance(part, dict) else {})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    return repr(value)[:60]
