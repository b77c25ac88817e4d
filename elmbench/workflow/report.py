"""The report: the site of all results."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import elmbench
from elmbench.registry import registry
from elmbench.reporting.folders import SITE_MARK, ResultsDirs
from elmbench.specs.catalogue import PROFILES, Watch, load_catalogue
from elmbench.specs.files import spec_root


def report(dirs: ResultsDirs, folder: Path | None = None, watch: Watch = iter) -> Path:
    """Build the site from the results and return its first page.

    Nothing is written if the results, specifications, documents and code are those of the last report. `folder`: by
    default `site` in the user's folder.

    Raises ElmbenchError if there are no results, or the folder holds something other than a site.
    """
    site = folder or dirs.user / "site"
    digest = _digest(dirs)
    if not _is_current(site, digest):
        # matplotlib and jinja2 take a second to import.
        from elmbench.reporting.site.gather import gather
        from elmbench.reporting.site.pages import refuse_other, write_site

        refuse_other(site)
        write_site(gather(dirs, watch), site, {"digest": digest})
    return site / "index.html"


def _is_current(site: Path, digest: str) -> bool:
    """Return True if a site was built from the same inputs and is complete."""
    try:
        mark: dict[str, Any] = json.loads((site / SITE_MARK).read_text("utf-8"))
        return bool(mark["digest"] == digest) and all((site / name).is_file() for name in mark["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _digest(dirs: ResultsDirs) -> str:
    """Return a hash of the results, the specifications, the documents and the code."""
    folders = [Path(elmbench.__file__).parent, spec_root() / "docs", spec_root() / "experiments"]
    paths = [spec_root() / "datasets.yaml"]
    paths += [path for folder in folders for path in folder.rglob("*.*") if "__pycache__" not in path.parts]
    paths += [path for file in load_catalogue().values() for path in file.path.parent.glob("*.*")]
    for results in filter(None, (dirs.user, dirs.committed)):
        paths += [path for profile in PROFILES for path in (results / profile).glob("*/*/*.*")]
    models = [(entry.name, entry.origin) for entry in registry().values()]
    digest = hashlib.sha256(json.dumps([str(dirs), models]).encode())
    for path in sorted(set(paths)):
        if path.is_file():
            digest.update(f"{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
