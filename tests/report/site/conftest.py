"""A site of some of the committed results, with a model whose name would be a script."""

import shutil
from pathlib import Path

import pytest

from elmbench.report.build_site import gather_papers
from elmbench.report.site.folder import SiteFolder
from elmbench.report.site.pages import site_files
from elmbench.results.folders import ResultsDirs

RESULTS = Path(__file__).parents[3] / "results"
#: Some of each paper that prints tables; `ospvm/table3` has figures over all data sets.
TABLES = (
    "fast/kos-elm/table4",
    "fast/kos-elm/table2",
    "fast/kos-elm/figure3",
    "paper/kos-elm/table4",
    "fast/ospvm/table3",
    "fast/eem/table9",
    "paper/rkelm/table3",
    "paper/ospvm/table2",
)


@pytest.fixture(scope="session")
def script() -> str:
    """The name of a model that would run if it were not escaped."""
    return "<script>document.title='taken'</script>"


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory, script: str) -> Path:
    """A results folder with these tables; in one, a model of somebody's own has the name of a
    script.
    """
    folder = tmp_path_factory.mktemp("site") / "results"
    for name in TABLES:
        shutil.copytree(RESULTS / name, folder / name)
    cells = folder / "paper/kos-elm/table4/cells.csv"
    head, *lines = cells.read_text("utf-8").splitlines()
    added = [
        line.replace("wdbc,K-ELM,", f"wdbc,{script},")
        for line in lines
        if line.startswith("wdbc,K-ELM,")
    ]
    cells.write_text("\n".join([head, *lines, *added]) + "\n", "utf-8")
    return folder


@pytest.fixture(scope="session")
def site(results: Path) -> Path:
    """The site of these results."""
    folder = results.parent / "out" / "site"
    SiteFolder(folder).replace(
        site_files(gather_papers(ResultsDirs(results))), "digest"
    )
    return folder
