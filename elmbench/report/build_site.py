"""The report: the results of every paper, read once from their folders and never from the store, as
a site.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elmbench.errors import ElmbenchError
from elmbench.report.cache import ReportCache
from elmbench.report.site.folder import FIRST_PAGE, SiteFolder
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import Watch, load_catalogue
from elmbench.specs.profiles import COMPARE

if TYPE_CHECKING:
    from elmbench.report.papers import PaperResults


#: The most times that a report goes through the tables: to read, to judge and to show them.
PASSES = 3


def build_report(
    dirs: ResultsDirs,
    folder: Path | None = None,
    watch: Watch = iter,
    *,
    force: bool = False,
) -> Path:
    """Build the site from all results and return the path of its first page.

    Nothing is written if results, specifications and code have not changed since the last report.
    `folder`: by default `site` in the user's folder. Files in it that are not of the site stay.
    `watch`: yields the tables that it is given, to show progress, up to `PASSES` times each.
    `force`: accept a folder without a site, and replace files of others that have the name of a
    page. Raises ElmbenchError if there are no results, or the folder holds something other than a
    site.
    """
    site = SiteFolder(folder or dirs.user / "site", force)
    cache = ReportCache(dirs)
    if not site.is_current(cache.digest):
        site.check()
        # matplotlib and jinja2 take a second to import.
        from elmbench.report.site.pages import site_files

        files = site_files(gather_papers(dirs, watch), cache.texts, watch)
        site.replace(files, cache.digest)
    return site.path / FIRST_PAGE


def gather_papers(dirs: ResultsDirs, watch: Watch = iter) -> list[PaperResults]:
    """Return every paper with the results of its tables.

    Raises ElmbenchError if no table has results. `watch`: yields the tables that it is given, to
    show progress.
    """
    from elmbench.report.papers import read_paper_results

    papers = read_paper_results(watch(list(load_catalogue().values())), dirs)
    if not any(paper.results for paper in papers):
        problem = f"no table has results in {dirs.user}"
        next_step = (
            "elmbench run table4, or for the page of a comparison: "
            "elmbench compare ... --html FILE"
        )
        raise ElmbenchError(
            problem, expected="cells.csv of an earlier run", next_step=next_step
        )
    return papers


def comparisons_in(results_dir: Path) -> list[str]:
    """Return the ids of the comparisons in a results folder, sorted, such as "own/wine".

    They are those on a user's data, which the site leaves out.
    """
    return sorted(
        f"own/{path.parent.name}"
        for path in (results_dir / COMPARE / "own").glob("*/cells.csv")
    )
