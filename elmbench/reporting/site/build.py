"""The folder of the site, written beside the old one and replaced as a whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.files import WriteError
from elmbench.reporting.cells import csv
from elmbench.reporting.folders import SITE_MARK
from elmbench.reporting.site.gather import PaperResults
from elmbench.reporting.site.pages import address, asset, pages


def refuse_other(folder: Path) -> None:
    """Raise ElmbenchError if a folder holds something other than a site."""
    is_site = folder.is_dir() and ((folder / SITE_MARK).is_file() or not any(folder.iterdir()))
    if folder.exists() and not is_site:
        raise ElmbenchError(
            f"{folder} holds something other than a site of elmbench",
            expected="a folder that is empty or not there, or an earlier site",
            next_step="elmbench report --out ANOTHER-FOLDER",
        )


def write_site(papers: list[PaperResults], folder: Path, mark: Mapping[str, Any] | None = None) -> list[Path]:
    """Write the site of these results into `folder`; return its files.

    The site is written beside the old one, which it then replaces, so that a reader never sees half of it. `mark` has
    values for the file `SITE_MARK`, which also lists the files of the site.

    Raises ElmbenchError if the folder holds something other than a site, and WriteError if it cannot be written.
    """
    refuse_other(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent) as scratch:
            fresh = Path(scratch) / "new"
            written = _write(papers, fresh)
            (fresh / SITE_MARK).write_text(json.dumps({**(mark or {}), "files": written}), "utf-8")
            if folder.exists():
                os.replace(folder, Path(scratch) / "old")
            os.replace(fresh, folder)
    except OSError as error:
        problem, writable = f"cannot write {folder}: {error.strerror or error}", "a folder that can be written"
        raise WriteError(problem, expected=writable, next_step="elmbench report --out DIR") from error
    return [folder / name for name in written]


def _write(papers: list[PaperResults], folder: Path) -> list[str]:
    texts = dict(pages(papers)) | {name: asset(name) for name in ("style.css", "sort.js")}
    copies: dict[str, Path] = {}
    for results in (one for paper in papers for one in paper.results):
        texts[address(results, "figures.csv")] = csv(results.figures)
        if (path := results.picture_data) is not None:
            # Four significant digits suffice for a figure.
            short = pd.read_csv(path).to_csv(index=False, lineterminator="\n", float_format="%.4g")
            texts[address(results, path.name)] = short
        if results.picture is not None:
            copies[address(results, results.picture.name)] = results.picture
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for name, path in copies.items():
        shutil.copyfile(path, folder / name)
    return [*texts, *copies]
