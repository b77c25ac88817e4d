"""The identity of a data set, cached so that its rows need not be read again."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from elmbench.datasets.load import find_source, load_checked
from elmbench.datasets.sources.base import Request
from elmbench.files import cache_folder, replacing
from elmbench.specs.datasets import DatasetSpec

#: Increase this when the code that loads or prepares rows changes its results.
LOADER_VERSION = 1
#: Keys of a spec that do not affect the rows.
_NOT_OF_ROWS = {"title", "aliases", "papers", "citation", "licence", "notes"}


@dataclass(frozen=True)
class Identity:
    """The properties of a data set that results depend on or show, as in `Dataset`.

    Of data that are redrawn every run, the checksum is a hash of what they are drawn from.
    """

    checksum: str
    remarks: tuple[str, ...] = ()


#: The identities of this process, for a cache that cannot be written.
_known: dict[str, Identity] = {}


def identify(
    spec: DatasetSpec,
    data_dir: Path | str | None = None,
    run: int = 0,
    options: Mapping[str, float] | None = None,
    other_data: bool = False,
) -> Identity:
    """Return the checksum and remarks of `load_checked(...)`; the rows are read only the first time."""
    source = find_source(spec, data_dir)
    request = Request(spec, spec.chosen_options(options), run)
    if spec.redraw and source.generated:
        return Identity(source.checksum(request))
    values = [f"{option}={value!r}" for option, value in sorted(request.options.items())]
    entry_name = " ".join([spec.name, *values, *(str(path.resolve()) for path in source.files(request))])
    content = {
        "loader": LOADER_VERSION,
        "packages": _packages(),
        "spec": spec.model_dump(mode="json", exclude=_NOT_OF_ROWS),
        "source": source.checksum(request),
        "other_data": other_data,
    }
    state = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    if state not in _known:
        path = cache_folder() / "checksums.json"
        match _read(path).get(entry_name):
            case [str(known), str(checksum), [*remarks]] if known == state:
                _known[state] = Identity(checksum, tuple(map(str, remarks)))
            case _:
                data = load_checked(spec, data_dir, run, options, other_data)
                _known[state] = Identity(data.checksum, data.remarks)
                entries = _read(path) | {entry_name: [state, data.checksum, data.remarks]}
                with suppress(OSError), replacing(path) as partial:  # a cache that cannot be written costs time only
                    partial.write_text(json.dumps(entries, indent=1), "utf-8")
    return _known[state]


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
