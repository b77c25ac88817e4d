"""The report: the site of all results, and a page of readings for each paper."""

from pathlib import Path

from elmbench.reporting.readings import write_readings
from elmbench.reporting.site.build import write_site
from elmbench.specs.catalogue import load_catalogue


def report(results_dir: Path, folder: Path | None = None) -> list[Path]:
    """Build the site from the results and write `readings/<paper>.md` of each paper of which a reading has been run.

    Parameters
    ----------
    folder : path, optional
        Where the site comes to lie; `site` in the results folder if it is not given.

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
    write_site(results_dir, site)
    papers = dict.fromkeys(file.spec.paper for file in load_catalogue().values() if file.paper.readings)
    pages = [write_readings(paper, results_dir) for paper in papers]
    return [site / "index.html", *filter(None, pages)]
