"""The report: the site of all results, and a page of readings for each paper."""

from pathlib import Path

from elmbench.reporting.folders import ResultsDirs
from elmbench.reporting.readings import write_readings
from elmbench.reporting.site.build import refuse_other, write_site
from elmbench.reporting.site.gather import gather
from elmbench.specs.catalogue import Watch


def report(dirs: ResultsDirs, folder: Path | None = None, watch: Watch = iter) -> list[Path]:
    """Build the site from the results and write `readings/<paper>.md` of each paper of which a reading has been run.

    Parameters
    ----------
    dirs : ResultsDirs
        The pages of readings are written into the user's folder.
    folder : path, optional
        Folder of the site; `site` in the user's folder unless it is given.
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
    site = folder or dirs.own / "site"
    refuse_other(site)
    papers = gather(dirs, watch)
    write_site(papers, site)
    pages = [write_readings(one.paper, one.readings, [table.file for table in one.tables], dirs) for one in papers]
    return [site / "index.html", *filter(None, pages)]
