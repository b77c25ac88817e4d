"""The report: the site of all results."""

from pathlib import Path

from elmbench.reporting.folders import ResultsDirs
from elmbench.specs.catalogue import Watch


def report(dirs: ResultsDirs, folder: Path | None = None, watch: Watch = iter) -> Path:
    """Build the site from the results and return its first page.

    `folder`: by default `site` in the user's folder. Raises ElmbenchError if there are no results, or the folder holds
    something other than a site.
    """
    # matplotlib and jinja2 take a second to import.
    from elmbench.reporting.site.gather import gather
    from elmbench.reporting.site.pages import refuse_other, write_site

    site = folder or dirs.user / "site"
    refuse_other(site)
    write_site(gather(dirs, watch), site)
    return site / "index.html"
