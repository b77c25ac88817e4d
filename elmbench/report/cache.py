"""A cache of the pages of the site and of checks, in the user's cache folder, by what they follow
from.
"""

import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import elmbench
from elmbench.files import WriteError, cache_folder, read_json, write_atomically
from elmbench.registry import registry
from elmbench.registry.built_in import ModelEntry
from elmbench.registry.plugins import has_plugin_objects
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.experiments import PROFILES
from elmbench.specs.files import spec_root

#: The folder of the cache, below the user's cache folder.
_FOLDER = "pages"
#: The most entries that are kept; the oldest ones are deleted first.
_MOST_ENTRIES = 40
#: Distributions whose version may change a page.
_LIBRARIES = (
    "elmbench",
    "numpy",
    "scipy",
    "pandas",
    "matplotlib",
    "pillow",
    "jinja2",
    "pydantic",
)

#: The texts of some files of the site, by their names, or the answer to a question.
Texts = dict[str, str]


@dataclass(frozen=True)
class ReportCache:
    """A cache of the pages and checks that are made from the results in two folders.

    A key is a hash of all that a page depends on: code, libraries, specifications and results. An
    entry that is damaged, or that belongs to another key, is not used. With a plug-in loaded, the
    cache is neither read nor written. The entries are files in the user's cache folder.
    """

    dirs: ResultsDirs

    def texts(self, paper: str, make: Callable[[], Texts]) -> Texts:
        """Return the texts of the pages of a paper, {address of the file: text}, from the cache.

        `paper`: its key, or ``*`` for the pages on all papers. `make` computes the texts if they
        are not in the cache, which then keeps them. With a plug-in loaded, they are always
        computed.
        """
        if not self._is_usable:
            return make()
        key = self._key(paper)
        texts = _read_entry(key)
        if texts is None:
            texts = make()
            _write_entry(key, texts)
        return texts

    def text(self, question: str, make: Callable[[], str | None]) -> str | None:
        """Return the answer to a question about the results of all papers, from the cache.

        `question`: any text that identifies it. `make` computes the answer if it is not in the
        cache, which then keeps it; it returns None if the answer must not be kept, and None is then
        returned. With a plug-in loaded, the answer is always computed.
        """
        if not self._is_usable:
            return make()
        # The answer may name the folders.
        parts = [question, str(self.dirs), self._key("*")]
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        texts = _read_entry(key)
        if texts is not None:
            return texts["answer"]
        answer = make()
        if answer is not None:
            _write_entry(key, {"answer": answer})
        return answer

    @cached_property
    def digest(self) -> str:
        """A SHA-256 hash of all that the site depends on.

        It covers the paths of the results folders, and the names and origins of all models, also of
        those of plug-ins. It is equal only if results, specifications, code and libraries have not
        changed.
        """
        models = [(entry.name, entry.origin) for entry in registry().values()]
        parts = [str(self.dirs), models, self._key("*")]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @cached_property
    def _is_usable(self) -> bool:
        """True if no plug-in is loaded: it may depend on files that no key covers."""
        are_built_in = all(
            entry.origin == ModelEntry.origin for entry in registry().values()
        )
        return are_built_in and not has_plugin_objects()

    def _key(self, paper: str) -> str:
        """Return the key under which the texts of a paper are cached: a SHA-256 hash.

        It covers the paper's result files in both folders and `_shared_text`. `paper`: its key, or
        ``*`` for all papers.
        """
        digest = hashlib.sha256(self._shared_text.encode())
        digest.update(paper.encode())
        for role, folder in (
            ("user", self.dirs.user),
            ("committed", self.dirs.committed),
        ):
            if folder is not None:
                files = (
                    file
                    for profile in PROFILES
                    for file in (folder / profile).glob(f"{paper}/*/*.*")
                )
                digest.update(f"{role} {_digest_of(folder, files)}".encode())
        return digest.hexdigest()

    @cached_property
    def _shared_text(self) -> str:
        """All that every page depends on, as a text of one line each.

        The lines are digests of the code, of the specifications and of each folder with papers,
        names and versions of libraries, the version of Python and the machine.
        """
        package = Path(elmbench.__file__).parent
        specs = spec_root()
        folders = {file.path.parent for file in load_catalogue().values()}
        # Folders of a user's own papers may have any names.
        own = [_digest_of(folder, folder.glob("*.*")) for folder in sorted(folders)]
        code = (
            path for path in package.rglob("*.*") if "__pycache__" not in path.parts
        )
        built_in = [specs / "datasets.yaml", *(specs / "experiments").rglob("*.*")]
        libraries = [f"{name} {version(name)}" for name in _LIBRARIES]
        parts = [
            _digest_of(package, code),
            _digest_of(specs, built_in),
            *own,
            *libraries,
            platform.python_version(),
            platform.machine(),
        ]
        return "\n".join(parts)


def _digest_of(folder: Path, files: Iterable[Path]) -> str:
    """Return a SHA-256 digest of the names (relative to `folder`) and contents of files.

    The order of `files`, all below `folder`, does not matter; folders among them are ignored.
    """
    digest = hashlib.sha256()
    for file in sorted(files):
        if file.is_file():
            name = file.relative_to(folder).as_posix()
            digest.update(
                f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode()
            )
    return digest.hexdigest()


def _entry_path(key: str) -> Path:
    """Return the path of the cached entry with this key: a JSON file in the user's cache folder."""
    return cache_folder() / _FOLDER / f"{key}.json"


def _read_entry(key: str) -> Texts | None:
    """Return the texts of the cached entry with this key, {name: text}; None if there is none.

    A damaged entry, or one written under another key, counts as none. Reading an entry sets its
    time, so that the entries used last are kept.
    """
    path = _entry_path(key)
    entry = read_json(path)
    texts = entry.get("texts")
    if not isinstance(texts, dict) or entry.get("sha256") != _checksum(key, texts):
        return None
    with suppress(OSError):
        path.touch()  # the entries that are used last are kept
    return texts


def _write_entry(key: str, texts: Texts) -> None:
    """Write the cached entry with this key, and delete the oldest ones beyond `_MOST_ENTRIES`.

    If the folder cannot be written, nothing happens. `texts`: {name: text}.
    """
    path = _entry_path(key)
    entry = {"sha256": _checksum(key, texts), "texts": texts}
    with suppress(WriteError):
        write_atomically(path, json.dumps(entry))
    with suppress(OSError):  # another process deletes them too
        entries = sorted(
            path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime
        )
        for file in entries[:-_MOST_ENTRIES]:
            file.unlink(missing_ok=True)


def _checksum(key: str, texts: Mapping[str, str]) -> str:
    """Return a SHA-256 checksum of the key and the texts of an entry, which shows a damaged one."""
    return hashlib.sha256(json.dumps([key, texts], sort_keys=True).encode()).hexdigest()
