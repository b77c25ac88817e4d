"""The report: the results of every paper, read once from their folders and never from the store, as a site."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elmbench.errors import ElmbenchError
from elmbench.reporting.folders import ResultsDirs
from elmbench.specs.catalogue import PROFILES, Watch, load_catalogue
from elmbench.specs.profiles import COMPARE

if TYPE_CHECKING:
    from elmbench.reporting.papers import PaperResults


def report(dirs: ResultsDirs, folder: Path | None = None, watch: Watch = iter) -> Path:
    """Build the site from the results and return its first page.

    `folder`: by default `site` in the user's folder.

    Raises ElmbenchError if there are no results, or the folder holds something other than a site.
    """
    # matplotlib and jinja2 take a second to import.
    from elmbench.reporting.site.pages import refuse_other, write_site

    site = folder or dirs.user / "site"
    refuse_other(site)
    write_site(gather(dirs, watch), site)
    return site / "index.html"


def gather(dirs: ResultsDirs, watch: Watch = iter) -> list[PaperResults]:
    """Return the results of every paper; raise ElmbenchError if there are none.

    `watch` yields the tables that it is given, one after the other.
    """
    from elmbench.reporting.papers import papers_of, read_table

    tables = []
    for file in watch(list(load_catalogue().values())):
        run = [name for name in reversed(PROFILES) if name in file.profiles and dirs.best_profile(file.id, [name])]
        # Profile ci shows on other or fewer data that the code still does the same; it says little about the paper.
        profiles = [name for name in run if name != PROFILES[0]] or run
        tables.append(read_table(file, {name: dirs.find(name, file.id) for name in profiles}))
    papers = papers_of(tables)
    if not any(paper.results for paper in papers):
        problem = f"no table has results in {dirs.user}"
        next_step = "elmbench run table4, or for the page of a comparison: elmbench compare ... --html FILE"
        raise ElmbenchError(problem, expected="cells.csv of an earlier run", next_step=next_step)
    return papers


def comparisons_in(results_dir: Path) -> list[str]:
    """Return the ids of the comparisons in a results folder, which the site leaves out."""
    return sorted(f"own/{path.parent.name}" for path in (results_dir / COMPARE / "own").glob("*/cells.csv"))
