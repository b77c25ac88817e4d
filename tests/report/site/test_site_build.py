"""The folder of the site: its own files are replaced, and all others stay."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from made_cells import committed

from elmbench.errors import ElmbenchError
from elmbench.report.build_site import build_report, gather_papers
from elmbench.report.site import pages
from elmbench.report.site.folder import MANIFEST, SiteFolder
from elmbench.report.site.pages import sections_of
from elmbench.results.folders import ResultsDirs

FIRST = {"index.html": "one", "claims.html": "one", "data/a.csv": "one"}
SECOND = {"index.html": "two", "eem.html": "two", "data/b.csv": "two"}


def content(folder: Path) -> dict[str, str]:
    """The texts of all files of a folder but the manifest, by their path."""
    paths = (
        path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST
    )
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


@pytest.fixture
def others(tmp_path: Path) -> dict[str, str]:
    """Files of the user beside an earlier site in the folder `site`."""
    SiteFolder(tmp_path / "site").replace(FIRST, "1")
    texts = {
        ".git/config": "x",
        "CNAME": "x.org",
        "notes.md": "x",
        "data/mine.csv": "x",
    }
    for name, text in texts.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return texts


def test_a_site_replaces_the_files_of_an_earlier_one_and_no_others(
    others: dict[str, str], tmp_path: Path
) -> None:
    site = SiteFolder(tmp_path / "site")
    assert content(site.path) == FIRST | others
    assert site.replace(SECOND, "2") == [site.path / name for name in SECOND]
    assert content(site.path) == SECOND | others
    assert site.is_current("2")
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_without_files_of_a_site_is_removed(tmp_path: Path) -> None:
    site = SiteFolder(tmp_path)
    site.replace(FIRST, "1")
    site.replace({"index.html": "two"}, "2")
    assert sorted(os.listdir(tmp_path)) == [MANIFEST, "index.html"]


def test_a_report_writes_behind_a_link(others: dict[str, str], tmp_path: Path) -> None:
    link = tmp_path / "public"
    link.symlink_to("site")
    SiteFolder(link).replace(SECOND, "2")
    assert link.is_symlink()
    assert content(tmp_path / "site") == SECOND | others


def test_a_folder_of_other_files_is_refused_unless_forced(tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    mine = {"chapter1.tex": "words", "index.html": "mine"}
    for name, text in mine.items():
        (folder / name).write_text(text)
    with pytest.raises(
        ElmbenchError, match=r"holds files, but no \.elmbench-site"
    ) as error:
        SiteFolder(folder).replace(FIRST, "1")
    assert "--force" in str(error.value.next_step)
    assert content(folder) == mine
    SiteFolder(folder, force=True).replace(FIRST, "1")
    assert content(folder) == mine | FIRST
    SiteFolder(folder).replace(SECOND, "2")
    assert content(folder) == {"chapter1.tex": "words"} | SECOND


def test_a_file_of_the_user_with_the_name_of_a_new_page_is_not_replaced(
    others: dict[str, str], tmp_path: Path
) -> None:
    site = SiteFolder(tmp_path / "site")
    (site.path / "eem.html").write_text("mine")
    with pytest.raises(
        ElmbenchError, match=r"holds 1 file with the name of a new file.*eem\.html"
    ):
        site.replace(SECOND, "2")
    assert content(site.path) == FIRST | others | {"eem.html": "mine"}
    assert site.is_current("1")
    SiteFolder(site.path, force=True).replace(SECOND, "2")
    assert content(site.path) == SECOND | others


@pytest.mark.parametrize(
    "name",
    [
        "../mine",
        "link/mine",
        ".git/config",
        "/etc/passwd",
        "data/../../mine",
        "data",
        3,
    ],
)
def test_a_manifest_of_a_stranger_deletes_nothing_elsewhere(
    others: dict[str, str], tmp_path: Path, name: object
) -> None:
    (tmp_path / "mine").write_text("mine")
    site = SiteFolder(tmp_path / "site")
    (site.path / "link").symlink_to("..")
    (site.path / MANIFEST).write_text(json.dumps({"files": [*FIRST, name]}))
    site.replace(SECOND, "2")
    assert (tmp_path / "mine").read_text() == "mine"
    assert (site.path / ".git" / "config").read_text() == "x"
    assert (site.path / "data" / "mine.csv").read_text() == "x"


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_no_file_is_written_through_a_link_out_of_the_site(
    tmp_path: Path, force: bool, known: bool
) -> None:
    site = SiteFolder(tmp_path / "site", force)
    site.replace(FIRST, "1")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    new = {"index.html": "new", "linked/mine.csv": "new"}
    if known:
        (site.path / MANIFEST).write_text(json.dumps({"files": [*FIRST, *new]}))
        (elsewhere / "mine.csv").write_text("mine")
    (site.path / "linked").symlink_to(elsewhere)
    with pytest.raises(
        ElmbenchError, match=r"linked is a link to .*elsewhere, outside"
    ):
        site.replace(new, "2")
    assert content(elsewhere) == ({"mine.csv": "mine"} if known else {})


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"digest": "1"}', '{"files": "index.html"}']
)
def test_a_damaged_manifest_is_none(tmp_path: Path, text: str) -> None:
    SiteFolder(tmp_path).replace(FIRST, "1")
    (tmp_path / MANIFEST).write_text(text)
    assert not SiteFolder(tmp_path).is_current("1")
    with pytest.raises(ElmbenchError, match="holds files, but no"):
        SiteFolder(tmp_path).replace(SECOND, "2")


@pytest.mark.parametrize("call", range(1, 4))
def test_an_old_site_stays_where_a_new_one_cannot_be_written(
    others: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    write, calls = Path.write_bytes, iter(range(10))

    def fail(path: Path, content: bytes) -> int:
        if path.name.endswith(".part") and next(calls) == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(ElmbenchError, match="No space left"):
        SiteFolder(tmp_path / "site").replace(SECOND, "2")
    assert content(tmp_path / "site") == FIRST | others
    monkeypatch.undo()
    SiteFolder(tmp_path / "site").replace(SECOND, "2")
    assert content(tmp_path / "site") == SECOND | others


#: Replaces the site in the folder of the first argument and dies before a call of `os.replace`.
KILLED = """
import itertools, os, sys
from pathlib import Path
from elmbench.report.site.folder import SiteFolder
replace, calls = os.replace, itertools.count()
def die(*paths):
    if next(calls) == int(sys.argv[2]):
        os._exit(9)
    replace(*paths)
os.replace = die
SiteFolder(Path(sys.argv[1])).replace(eval(sys.argv[3]), "2")
"""


@pytest.mark.parametrize("call", range(5))
def test_a_report_after_a_killed_one_leaves_nothing_of_it(
    others: dict[str, str], tmp_path: Path, call: int
) -> None:
    """The manifest comes first and last, with three files between."""
    site = SiteFolder(tmp_path / "site")
    words = [sys.executable, "-c", KILLED, str(site.path), str(call), repr(SECOND)]
    assert subprocess.run(words, check=False).returncode == 9
    half = content(site.path)
    if 0 < call < 4:
        assert "index.html" not in half
    assert site.is_current("1") == (call == 0)
    assert not site.is_current("2")
    site.replace({"index.html": "three"}, "3")
    assert content(site.path) == {"index.html": "three"} | others


def test_a_first_report_that_was_killed_does_not_hinder_the_next(
    tmp_path: Path,
) -> None:
    for call in range(5):
        site = SiteFolder(tmp_path / str(call))
        words = [sys.executable, "-c", KILLED, str(site.path), str(call), repr(SECOND)]
        assert subprocess.run(words, check=False).returncode == 9
        site.replace(FIRST, "1")
        assert content(site.path) == FIRST


def test_a_site_is_built_again_only_after_a_change(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = {"index.html": "one"}
    monkeypatch.setattr(pages, "site_files", lambda papers, recall, watch: dict(made))
    results = tmp_path / "fast" / "miller" / "table1" / "cells.csv"
    results.parent.mkdir(parents=True)
    results.write_text("dataset\n")
    monkeypatch.setattr(
        "elmbench.report.build_site.gather_papers", lambda dirs, watch: []
    )
    first = build_report(ResultsDirs(tmp_path))
    made["index.html"] = "two"
    build_report(ResultsDirs(tmp_path))
    assert first.read_text() == "one"
    results.write_text("dataset\nwdbc\n")
    build_report(ResultsDirs(tmp_path))
    assert first.read_text() == "two"
    first.unlink()
    build_report(ResultsDirs(tmp_path))
    assert first.read_text() == "two"


def test_without_results_there_is_no_site(tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="no table has results"):
        gather_papers(ResultsDirs(tmp_path / "none"))


def test_a_table_of_times_begins_with_them() -> None:
    results = committed("fast/rkelm/figure4")
    section = next(sections_of(results, include_extra=True))
    assert [table.measures for table in section["entry_tables"]] == [{"fit_seconds"}]
    assert "accuracy" in section["beside"]
