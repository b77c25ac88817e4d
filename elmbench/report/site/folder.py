"""The folder of a site, which may hold other files: its manifest lists the files of the site."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from elmbench.errors import ElmbenchError, amount
from elmbench.files import (
    WriteError,
    delete_abandoned,
    encode_text,
    read_json,
    real_path,
    replace_file,
    write_atomically,
)

#: The file that lists the files of the site in its folder.
MANIFEST = ".elmbench-site"
FIRST_PAGE = "index.html"
#: A file of a site; a manifest may come from anybody and must not lead out of its folder.
_NAME = re.compile(r"(?!\.)[\w.-]+(/(?!\.)[\w.-]+)*")
_NEXT = (
    "elmbench report --out ANOTHER-FOLDER, or --force, which replaces files with the name of a "
    "page and keeps the others"
)


@dataclass(frozen=True)
class SiteFolder:
    """The folder of a site, which may hold other files.

    `force`: accept a folder that holds files but no site, and replace files of others that have the
    names of new ones.
    """

    path: Path
    force: bool = False

    def is_current(self, digest: str) -> bool:
        """Return True if the site is complete and was made from content with this digest.

        `digest`: as given to `replace`. It is False if a file of the site is missing, but the
        contents of its files are not compared.
        """
        names = self._earlier_names()
        return (
            bool(names)
            and self._manifest().get("digest") == digest
            and all((self.path / name).is_file() for name in names)
        )

    def check(self) -> None:
        """Raise ElmbenchError if the folder holds files, but not those of a site.

        With `force`, it may hold any files; a file in place of the folder is always an error.
        Unfinished files of ended processes are deleted in it.
        """
        paths = [self.path / name for name in self._earlier_names()]
        for folder in {
            self.path,
            *(path.parent for path in paths if self._is_inside(path)),
        }:
            delete_abandoned(folder)
        if os.path.lexists(self.path) and not self.path.is_dir():
            raise ElmbenchError(
                f"{self.path} is not a folder",
                expected="a folder, which need not exist",
                next_step="elmbench report --out ANOTHER-FOLDER",
            )
        is_site = isinstance(self._manifest().get("files"), list)
        if (
            self.path.is_dir()
            and any(self.path.iterdir())
            and not (is_site or self.force)
        ):
            raise ElmbenchError(
                f"{self.path} holds files, but no {MANIFEST} that lists those of a site",
                expected="a folder that is empty or does not exist, or an earlier site",
                next_step=_NEXT,
            )

    def replace(self, files: Mapping[str, str | Path], digest: str) -> list[Path]:
        """Write the files of a site in place of those of an earlier one; return their paths.

        `files`: {name relative to the folder: text, or the path of a file to be copied}; one name
        is `FIRST_PAGE`. `digest`: of their content, which `is_current` compares. Files of the
        earlier site that are not among the new ones are deleted; files of others stay.

        Raises ElmbenchError, before anything is written, if the folder is a file; if it holds files
        but no site, or a file of others with the name of a new one (neither with `force`, which
        replaces the latter); or if a link leads out of it. Raises WriteError if it cannot be
        written: if a new file cannot (such as on a full disk), the earlier pages stay; if replacing
        fails, the first page is missing. In both cases, `is_current` is False for this digest.
        """
        self.check()
        earlier = self._earlier_names()
        self._check_names(set(files) - set(earlier))
        self._check_folders(files)
        try:
            # An interrupted report is completed or deleted by the next one.
            self._write_manifest([*earlier, *files])
            with ExitStack() as stack:
                # A stack replaces the last file first, so the first page comes last.
                for name in sorted(
                    files, key=lambda name: (name != FIRST_PAGE, "/" in name)
                ):
                    _write_content(
                        files[name], stack.enter_context(replace_file(self.path / name))
                    )
                (self.path / FIRST_PAGE).unlink(missing_ok=True)
                self._delete(name for name in earlier if name not in files)
            self._write_manifest(files, digest)
        except (OSError, WriteError) as error:
            raise WriteError(
                str(getattr(error, "found", f"cannot write {self.path}: {error}")),
                expected="a folder that can be written, on a disk with room",
                next_step="elmbench report --out ANOTHER-FOLDER",
            ) from error
        return [self.path / name for name in files]

    def _manifest(self) -> dict[str, object]:
        """Return the content of the manifest: {"files": [name], "digest": text}.

        It is empty without a manifest; the digest is missing while a site is written. The manifest
        may come from anybody, so the types are not certain.
        """
        return read_json(self.path / MANIFEST)

    def _earlier_names(self) -> list[str]:
        """Return the names of the earlier site's files, relative to its folder.

        There are none without a manifest. Names that lead out of the folder are left out.
        """
        names = self._manifest().get("files")
        return [
            name
            for name in (names if isinstance(names, list) else ())
            if isinstance(name, str) and _NAME.fullmatch(name)
        ]

    def _check_names(self, new: set[str]) -> None:
        """Raise ElmbenchError if a file of someone else has one of these names, unless `force`.

        `new`: the names of the new site's files that the earlier one did not have.
        """
        others = sorted(name for name in new if os.path.lexists(self.path / name))
        if others and not self.force:
            raise ElmbenchError(
                f"{self.path} holds {amount(len(others), 'file')} with the name of a new file of "
                f"the site: {', '.join(others[:5])}",
                expected="no file of your own under these names",
                next_step="move or rename it, or --force to replace it",
            )

    def _check_folders(self, names: Iterable[str]) -> None:
        """Raise ElmbenchError if a link leads from a file's folder out of the site.

        `names`: of the files, relative to the site's folder.
        """
        for name in names:
            if not self._is_inside(self.path / name):
                folder = (self.path / name).parent
                raise ElmbenchError(
                    f"{folder} is a link to {real_path(folder)}, outside of the site",
                    expected="a folder of the site",
                    next_step="remove the link, or elmbench report --out ANOTHER-FOLDER",
                )

    def _is_inside(self, path: Path) -> bool:
        """Return True if the folder of a path, links resolved, is the site's or below it."""
        return real_path(path.parent).is_relative_to(real_path(self.path))

    def _write_manifest(self, names: Iterable[str], digest: str = "") -> None:
        """Write the manifest: the names of the site's files, each once, and the digest.

        Without a digest, the site counts as unfinished: `is_current` is False.
        """
        content = {"digest": digest} if digest else {}
        manifest = {**content, "files": list(dict.fromkeys(names))}
        write_atomically(self.path / MANIFEST, json.dumps(manifest))

    def _delete(self, names: Iterable[str]) -> None:
        """Delete files of an earlier site, and their folders if these are then empty.

        `names`: relative to the site's folder. Files that a link leads to outside are left.
        """
        for path in (self.path / name for name in names):
            if not self._is_inside(path):
                continue
            if path.is_file() or path.is_symlink():
                path.unlink()
            if path.parent != self.path:
                with suppress(OSError):  # it has other files
                    path.parent.rmdir()


def _write_content(content: str | Path, path: Path) -> None:
    """Write a text to a path, or copy the file at the path `content` to it."""
    if isinstance(content, Path):
        shutil.copyfile(content, path)
    else:
        path.write_bytes(encode_text(content))
