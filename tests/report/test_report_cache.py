"""The cache of pages: an entry is used only for the content that it was made from."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from elmbench.report import cache as report_cache
from elmbench.report.build_site import PASSES, build_report, gather_papers
from elmbench.report.cache import ReportCache
from elmbench.report.site.pages import site_files
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.experiment_file import ExperimentFile

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def dirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ResultsDirs:
    """Results of one table, and a cache of their own."""
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(
        RESULTS / "fast/kos-elm/table4", tmp_path / "results/fast/kos-elm/table4"
    )
    return ResultsDirs(tmp_path / "results")


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache/pages").glob("*.json"))


def test_a_site_from_the_cache_equals_a_computed_one(
    dirs: ResultsDirs, tmp_path: Path
) -> None:
    papers = gather_papers(dirs)
    computed = site_files(papers)
    assert site_files(papers, ReportCache(dirs).texts) == computed
    assert len(entries(tmp_path)) == 1 + len(papers)
    cache = ReportCache(dirs)
    for paper in ("*", *(paper.paper.key for paper in papers)):
        # No text is computed.
        texts = cache.texts(paper, lambda: {"computed": "again"})
        assert texts.items() <= computed.items()


def test_only_the_changed_paper_is_computed_again(dirs: ResultsDirs) -> None:
    for paper in ("kos-elm", "eem", "*"):
        ReportCache(dirs).texts(paper, lambda: {"a.html": "old"})
    cells = dirs.user / "fast/kos-elm/table4/cells.csv"
    cells.write_bytes(cells.read_bytes() + b"\n")
    changed = ReportCache(dirs)
    texts = {
        paper: changed.texts(paper, lambda: {"a.html": "new"})
        for paper in ("kos-elm", "eem", "*")
    }
    assert [part["a.html"] for part in texts.values()] == ["new", "old", "new"]


@pytest.mark.parametrize(
    "damage", ["cut", "changed", "of another key", "empty", "a list"]
)
def test_a_damaged_cached_page_is_not_used(
    dirs: ResultsDirs, tmp_path: Path, damage: str
) -> None:
    ReportCache(dirs).texts("eem", lambda: {"a.html": "first"})
    (path,) = entries(tmp_path)
    entry = json.loads(path.read_text())
    other = ReportCache(dirs)
    other.texts("rkelm", lambda: {"a.html": "of another key"})
    (another,) = set(entries(tmp_path)) - {path}
    contents = {
        "cut": path.read_text()[:-9],
        "changed": json.dumps(entry | {"texts": {"a.html": "forged"}}),
        "of another key": another.read_text(),
        "empty": "",
        "a list": "[]",
    }
    path.write_text(contents[damage])
    assert ReportCache(dirs).texts("eem", lambda: {"a.html": "second"}) == {
        "a.html": "second"
    }
    # The damaged entry is replaced.
    assert ReportCache(dirs).texts("eem", lambda: {"a.html": "third"}) == {
        "a.html": "second"
    }


def test_a_new_version_of_a_library_computes_again(
    dirs: ResultsDirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    ReportCache(dirs).texts("eem", lambda: {"a.html": "old"})
    monkeypatch.setattr(report_cache, "version", lambda name: "0")
    assert ReportCache(dirs).texts("eem", lambda: {"a.html": "new"}) == {
        "a.html": "new"
    }


def test_old_cached_pages_are_deleted(
    dirs: ResultsDirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_cache, "_MOST_ENTRIES", 2)
    for paper in ("kos-elm", "eem", "rkelm"):
        ReportCache(dirs).texts(paper, lambda: {"a.html": "text"})
    assert len(entries(tmp_path)) == 2


def test_a_cache_that_cannot_be_written_is_no_error(
    dirs: ResultsDirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "file"))
    assert ReportCache(dirs).texts("eem", lambda: {"a.html": "text"}) == {
        "a.html": "text"
    }


def test_a_report_watches_its_tables_until_its_last_page(dirs: ResultsDirs) -> None:
    events: list[str] = []

    def watch(tables: Sequence[ExperimentFile]) -> Iterator[ExperimentFile]:
        for table in tables:
            yield table
            events.append(table.id)

    build_report(dirs, watch=watch)
    # Read, judged, shown: the last page is that of the only table with results.
    n_tables = len(load_catalogue())
    assert len(events) == 2 * n_tables + 1 <= PASSES * n_tables
    assert events[-1] == "kos-elm/table4"
    events.clear()
    # Nothing is judged or shown again.
    build_report(dirs, dirs.user / "other", watch)
    assert len(events) == n_tables
