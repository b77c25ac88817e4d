"""What a table would take, as `elmbench show` says it: planned once, and kept until something changes."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.files import cache_folder, write_atomically
from elmbench.specs.catalogue import ExperimentFile
from elmbench.specs.files import spec_root


def costs(file: ExperimentFile) -> dict[str, float]:
    """Return the seconds that all cells of a table take on one core, by profile, with all data at hand.

    Planning imports the engine, which takes longer than to print what is known: the seconds are kept in the cache
    folder, under a hash of when each file of the suite was changed. A table of a user's own is planned each time.
    """
    if spec_root() not in file.path.parents:
        return _planned(file)
    path = cache_folder() / "costs" / f"{file.id.replace('/', '-')}.json"
    key = _key(file)
    try:
        kept = json.loads(path.read_text("utf-8"))
        if kept["key"] == key:
            return {str(name): float(seconds) for name, seconds in kept["seconds"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # never planned, or not as it was written
    seconds = _planned(file)
    # A cache folder that cannot be written costs time, nothing else.
    with suppress(ElmbenchError):
        write_atomically(path, json.dumps({"key": key, "seconds": seconds}))
    return seconds


def _planned(file: ExperimentFile) -> dict[str, float]:
    from elmbench.layouts.planning import make_plan
    from elmbench.specs.limits import parse_limits
    from elmbench.specs.profiles import resolve
    from elmbench.work.plan import Request

    plans = {name: make_plan(resolve(file, name), Request(without_data=True)) for name in file.profiles}
    memory = parse_limits(file.spec.limit).memory
    return {name: sum(work.seconds_within(memory) for work in plan.works.values()) for name, plan in plans.items()}


def _key(file: ExperimentFile) -> str:
    """Return a hash of all that the seconds of a table of the suite follow from."""
    root = spec_root()
    sources = sorted(Path(elmbench.__file__).parent.rglob("*.py"))
    specs = [root / "datasets.yaml", *sorted(file.path.parent.glob("*"))]
    stamps = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in (*sources, *specs)]
    return hashlib.sha256(json.dumps(stamps).encode()).hexdigest()
