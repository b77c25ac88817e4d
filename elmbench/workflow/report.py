"""The report: the site of all results, and a page of readings for each paper."""

from pathlib import Path

from elmbench.reporting.readings import write_readings
from elmbench.reporting.site.build import refuse_other, write_site
from elmbench.reporting.site.gather import gather
from elmbench.specs.catalogue import Watch


def report(results_dir: Path, folder: Path | None = None, watch: Watch = iter) -> list[Path]:
    """Build the site from the results and write `readings/<paper>.md` of each paper of which a reading has been run.

    Parameters
    ----------
    folder : path, optional
        Where the site comes to lie; `site` in the results folder if it is not given.
    watch : callable
        Yields the tables that it is given, one after the other.

    Returns
    -------
    list of path
        The first page of the site, then the pages of readings.

    Raises
    ------
    ElmbenchError
        If there are no results, or the folder holds something other than a site.
    """
    site = folder or results_dir / "site"
    refuse_other(site)
    papers = gather(results_dir, watch)
    write_site(papers, site)
    pages = [
        write_readings(one.paper, one.readings, [table.file for table in one.tables], results_dir) for one in papers
    ]
    return [site / "index.html", *filter(None, pages)]
