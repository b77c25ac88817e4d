"""The report: the results of every paper, read once from their folders and never from the store, as
a site.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.files import read_json
from elmbench.registry import registry
from elmbench.reporting.folders import SITE_MARK, ResultsDirs
from elmbench.specs.catalogue import PROFILES, Watch, load_catalogue
from elmbench.specs.files import spec_root
from elmbench.specs.profiles import COMPARE

if TYPE_CHECKING:
    from elmbench.reporting.papers import PaperResults


def report(dirs: ResultsDirs, folder: Path | None = None, watch: Watch = iter) -> Path:
    """Build the site from the results and return its first page.

    Nothing is written if the results, specifications and code are those of the last report.
    `folder`: by default `site` in the user's folder.

    Raises ElmbenchError if there are no results, or the folder holds something other than a site.
    """
    site = folder or dirs.user / "site"
    digest = _digest(dirs)
    if not _is_current(site, digest):
        # matplotlib and jinja2 take a second to import.
        from elmbench.reporting.site.pages import refuse_other, write_site

        refuse_other(site)
        write_site(gather(dirs, watch), site, {"digest": digest})
    return site / "index.html"


def gather(dirs: ResultsDirs, watch: Watch = iter) -> list[PaperResults]:
    """Return the results of every paper; raise ElmbenchError if there are none.

    `watch` yields the tables that it is given, one after the other.
    """
    from elmbench.reporting.papers import papers_of, read_table

    tables = []
    for file in watch(list(load_catalogue().values())):
        run = [
            name
            for name in reversed(PROFILES)
            if name in file.profiles and dirs.best_profile(file.id, [name])
        ]
        # Profile ci shows on other or fewer data that the code still does the same; it says little
        # about the paper.
        profiles = [name for name in run if name != PROFILES[0]] or run
        tables.append(read_table(file, {name: dirs.find(name, file.id) for name in profiles}))
    papers = papers_of(tables)
    if not any(paper.results for paper in papers):
        problem = f"no table has results in {dirs.user}"
        next_step = (
            "elmbench run table4, or for the page of a comparison: elmbench compare ... --html FILE"
        )
        raise ElmbenchError(problem, expected="cells.csv of an earlier run", next_step=next_step)
    return papers


def comparisons_in(results_dir: Path) -> list[str]:
    """Return the ids of the comparisons in a results folder, which the site leaves out."""
    return sorted(
        f"own/{path.parent.name}" for path in (results_dir / COMPARE / "own").glob("*/cells.csv")
    )


def _is_current(site: Path, digest: str) -> bool:
    """Return True if a site was built from the same inputs and is complete."""
    mark = read_json(site / SITE_MARK)
    return mark.get("digest") == digest and all((site / name).is_file() for name in mark["files"])


def _digest(dirs: ResultsDirs) -> str:
    """Return a hash of the results, the specifications and the code."""
    folders = [Path(elmbench.__file__).parent, spec_root() / "experiments"]
    paths = [spec_root() / "datasets.yaml"]
    paths += [
        path
        for folder in folders
        for path in folder.rglob("*.*")
        if "__pycache__" not in path.parts
    ]
    paths += [path for file in load_catalogue().values() for path in file.path.parent.glob("*.*")]
    for results in filter(None, (dirs.user, dirs.committed)):
        paths += [path for profile in PROFILES for path in (results / profile).glob("*/*/*.*")]
    models = [(entry.name, entry.origin) for entry in registry().values()]
    digest = hashlib.sha256(json.dumps([str(dirs), models]).encode())
    for path in sorted(set(paths)):
        if path.is_file():
            digest.update(f"{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
