"""What is kept in the cache folder is what would be made now."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

import elmbench
from elmbench.files import cache_folder
from elmbench.specs.catalogue import ExperimentFile, find_experiment
from elmbench.workflow.kept import kept


class Maker:
    """Makes another answer each time, and counts."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> dict[str, int]:
        self.made += 1
        return {"number": self.made}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    return cache_folder()


@pytest.fixture
def file() -> ExperimentFile:
    return find_experiment("kos-elm/table4")


def test_it_is_made_once(file: ExperimentFile) -> None:
    make = Maker()
    assert [kept("name", file, [], None, make) for _ in range(3)] == [{"number": 1}] * 3


def test_it_is_made_anew_where_anything_that_it_follows_from_has_changed(file: ExperimentFile, tmp_path: Path) -> None:
    make, one = Maker(), tmp_path / "cells.csv"
    kept("name", file, [one], [80], make)
    one.write_text("a")
    kept("name", file, [one], [80], make)
    # Of the same size and the same age.
    age = one.stat().st_mtime_ns
    one.write_text("b")
    os.utime(one, ns=(age, age))
    kept("name", file, [one], [80], make)
    kept("name", file, [one], [60], make)
    kept("name", find_experiment("kos-elm/table6"), [one], [60], make)
    assert make.made == 5
    assert kept("name", find_experiment("kos-elm/table6"), [one], [60], make) == {"number": 5}


def test_it_is_made_anew_where_the_code_has_changed(file: ExperimentFile, monkeypatch: pytest.MonkeyPatch) -> None:
    make, module = Maker(), Path(elmbench.__file__)
    before = module.stat()
    kept("name", file, [], None, make)
    try:
        os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
        kept("name", file, [], None, make)
    finally:
        os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert make.made == 2


@pytest.mark.parametrize("content", ["", "{", "[]", "7", '{"key": 1}', '{"made": 2}', "\ud800"])
def test_a_damaged_file_is_made_anew(content: str, file: ExperimentFile, cache: Path) -> None:
    make = Maker()
    kept("name", file, [], None, make)
    (cache / "name.json").write_text(content, "utf-8", errors="surrogatepass")
    assert kept("name", file, [], None, make) == {"number": 2}


def test_a_folder_that_cannot_be_written_costs_time_alone(
    file: ExperimentFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("no folder")
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "taken"))
    make = Maker()
    assert [kept("name", file, [], None, make) for _ in range(2)] == [{"number": 1}, {"number": 2}]


def test_a_table_of_a_users_own_is_made_each_time(file: ExperimentFile, tmp_path: Path) -> None:
    own, make = replace(file, path=tmp_path / "mine.yaml"), Maker()
    assert [kept("name", own, [], None, make) for _ in range(2)] == [{"number": 1}, {"number": 2}]
