"""What takes long to make and follows from files alone: kept in the cache folder until one of them changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.files import cache_folder, write_atomically
from elmbench.specs.catalogue import ExperimentFile
from elmbench.specs.files import spec_root


def kept(name: str, file: ExperimentFile, inputs: Iterable[Path], words: Any, make: Callable[[], Any]) -> Any:
    """Return what `make` returns; where that is in the cache folder from before, without making it.

    It is made anew if a file of the suite, a spec or an input has changed, and each time for a table of a user's own.

    Parameters
    ----------
    name : str
        Of the file in the cache folder, which holds what was made last.
    file : ExperimentFile
        The table that it is about.
    inputs : iterable of path
        Files that it follows from, by their content, there or not.
    words
        What else it hangs on, as JSON.
    make : callable
        Returns what JSON can hold.
    """
    if spec_root() not in file.path.parents:
        return make()
    path = cache_folder() / f"{name}.json"
    key = _key(file, inputs, words)
    try:
        found = json.loads(path.read_text("utf-8"))
        if found["key"] == key:
            return found["made"]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # never made, or not as it was written
    made = make()
    # A cache folder that cannot be written costs time, nothing else.
    with suppress(ElmbenchError):
        write_atomically(path, json.dumps({"key": key, "made": made}))
    return made


def _key(file: ExperimentFile, inputs: Iterable[Path], words: Any) -> str:
    """Return a hash of all that is told, and of when each file of the suite was changed."""
    sources = sorted(Path(elmbench.__file__).parent.rglob("*.py"))
    # Of all papers: a table may be based on another paper's.
    specs = [spec_root() / "datasets.yaml", *sorted((spec_root() / "experiments").rglob("*.*"))]
    stamps = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in (*sources, *specs)]
    contents = [hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "" for path in inputs]
    return hashlib.sha256(json.dumps([file.id, words, stamps, contents]).encode()).hexdigest()
