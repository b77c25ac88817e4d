"""The folder of the site: replaced as a whole, and nothing else is."""

from pathlib import Path

import pytest
from made_cells import committed

from elmbench.errors import ElmbenchError
from elmbench.reporting.folders import SITE_MARK, ResultsDirs
from elmbench.reporting.site import pages
from elmbench.reporting.site.pages import sections_of, write_site
from elmbench.workflow.report import gather, report


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Write these pages in place of those that results would make."""
    made = [("index.html", "one")]
    monkeypatch.setattr(pages, "pages", lambda papers: made)
    return made


def test_a_site_replaces_an_earlier_one_whole(quick: list[tuple[str, str]], tmp_path: Path) -> None:
    folder = tmp_path / "site"
    assert folder / "index.html" in write_site([], folder)
    (folder / "left.html").write_text("of an earlier site")
    quick[0] = ("index.html", "two")
    write_site([], folder)
    assert (folder / "index.html").read_text() == "two"
    assert not (folder / "left.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_is_built_again_only_after_a_change(
    quick: list[tuple[str, str]], tmp_path: Path
) -> None:
    results = tmp_path / "fast" / "miller" / "table1" / "cells.csv"
    results.parent.mkdir(parents=True)
    results.write_text("dataset\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("elmbench.workflow.report.gather", lambda dirs, watch: [])
        first = report(ResultsDirs(tmp_path))
        quick[0] = ("index.html", "two")
        report(ResultsDirs(tmp_path))
        assert first.read_text() == "one"
        results.write_text("dataset\nwdbc\n")
        report(ResultsDirs(tmp_path))
        assert first.read_text() == "two"
        first.unlink()
        report(ResultsDirs(tmp_path))
        assert first.read_text() == "two"


def test_a_folder_of_something_else_is_left_alone(
    quick: list[tuple[str, str]], tmp_path: Path
) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter1.tex").write_text("words")
    with pytest.raises(ElmbenchError, match="something other than a site"):
        write_site([], folder)
    assert [path.name for path in folder.iterdir()] == ["chapter1.tex"]


def test_an_old_site_stays_where_a_new_one_fails(
    quick: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"
    write_site([], folder)

    def fail(papers: object) -> list[tuple[str, str]]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pages, "pages", fail)
    with pytest.raises(ElmbenchError, match="No space left"):
        write_site([], folder)
    assert (folder / "index.html").read_text() == "one"
    assert (folder / SITE_MARK).is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_without_results_there_is_no_site(tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="no table has results"):
        gather(ResultsDirs(tmp_path / "none"))


def test_a_table_of_times_begins_with_them() -> None:
    results = committed("fast/rkelm/figure4")
    section = next(sections_of(results, include_extra=True))
    assert [grid.measures for grid in section["grids"]] == [{"fit_seconds"}]
    assert "accuracy" in section["beside"]
