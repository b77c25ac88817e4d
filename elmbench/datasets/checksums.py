"""What a data set is, without its rows: its checksum and remarks, kept in the cache from one process to the next."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from elmbench.datasets.load import Origin, find_origin, load_checked
from elmbench.datasets.receipts import fetched_folder
from elmbench.datasets.sources.generator import identity
from elmbench.files import cache_folder, replacing
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.sources import GeneratorSource

#: Raised when the code that loads or prepares rows changes what comes out of it.
LOADER_VERSION = 1
#: What a spec says that no row depends on.
_ONLY_SAID = {"title", "aliases", "papers", "citation", "licence", "notes"}


@dataclass(frozen=True)
class Identity:
    """What results on a data set depend on and say of it."""

    #: Of the prepared arrays, or of what they are drawn from.
    checksum: str
    #: As in `Dataset`.
    remarks: tuple[str, ...] = ()


#: Those of this process, by what they depend on: of a cache that cannot be written, too.
_known: dict[str, Identity] = {}


def identify(
    spec: DatasetSpec,
    data_dir: Path | str | None = None,
    run: int = 0,
    options: Mapping[str, float] | None = None,
    cache_dir: Path | str | None = None,
    other_data: bool = False,
) -> Identity:
    """Return checksum and remarks of `load_checked(...)`; the rows are read only if nothing like it was loaded before.

    Of generated data that are redrawn every run the checksum is, instead, a hash of all that the rows are drawn from:
    they need not be drawn to tell them apart.

    Parameters and errors are those of `load_checked`.
    """
    chosen = spec.chosen_options(options)
    origin = find_origin(spec, data_dir, cache_dir)
    if spec.redraw and isinstance(origin.source, GeneratorSource):
        return Identity(identity(spec, origin.source, chosen, run))
    values = [f"{option}={value!r}" for option, value in sorted(chosen.items())]
    place = " ".join([spec.name, *values, *(str(path.resolve()) for path in origin.files.paths)])
    state = _state(spec, origin, chosen, cache_dir, other_data)
    if state not in _known:
        path = cache_folder(cache_dir) / "checksums.json"
        entry = _read(path).get(place)
        match entry:
            case [str(known), str(checksum), [*remarks]] if known == state:
                _known[state] = Identity(checksum, tuple(map(str, remarks)))
            case _:
                data = load_checked(spec, data_dir, run, options, cache_dir, other_data)
                _known[state] = Identity(data.checksum, data.remarks)
                _write(path, _read(path) | {place: [state, data.checksum, data.remarks]})
    return _known[state]


def _state(
    spec: DatasetSpec, origin: Origin, options: dict[str, float], cache_dir: Path | str | None, other_data: bool
) -> str:
    """Return a hash of all that the rows depend on: the spec, the files as they lie there, options, and packages."""
    paths = origin.files.paths
    if origin.receipt is not None:
        paths = tuple(fetched_folder(spec, cache_dir) / name for name in origin.receipt.files)
    content = {
        "loader": LOADER_VERSION,
        "packages": _packages(),
        "spec": spec.model_dump(mode="json", exclude=_ONLY_SAID),
        "source": origin.source.model_dump(mode="json") if origin.source else None,
        "receipt": vars(origin.receipt) if origin.receipt else None,
        "files": [(str(path.resolve()), *_size_and_time(path)) for path in paths],
        "options": options,
        "other_data": other_data,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _size_and_time(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return -1, -1  # loading it says what is wrong
    return found.st_size, found.st_mtime_ns


@cache
def _packages() -> dict[str, str]:
    names = ("numpy", "pandas", "pyarrow", "scikit-learn", "liac-arff")
    return {name: version(name) for name in names}


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(path: Path, content: dict[str, Any]) -> None:
    with suppress(OSError), replacing(path) as partial:  # a cache that cannot be written costs the time again, no more
        partial.write_text(json.dumps(content, indent=1), "utf-8")
