"""The store: nothing damaged is believed, and nothing is lost beside others."""

from __future__ import annotations

import os
import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_store import KEY, RESULT, WORK, again, cell, in_a_child, log
from random_examples import examples

from elmbench.errors import ElmbenchError, ElmbenchWarning
from elmbench.running.store import Store
from elmbench.work.base import Grid
from elmbench.work.choice import Choice

# --- Records ---------------------------------------------------------------------------------------------------------


def test_what_is_put_is_there(store: Store) -> None:
    assert store.get(KEY) is None
    assert store.result(KEY) is None
    store.put(WORK, RESULT, "e1")
    assert store.get(KEY) == {"key": KEY, "unit": WORK.content(), "result": RESULT, "environment": "e1"}
    assert Store(store.root.parent).result(KEY) == RESULT
    # The last one counts, whoever stored it.
    for i in range(12):
        other = again(store)
        other.put(WORK, RESULT | {"reason": str(i)}, "e")
        other.close()
        assert again(store).result(KEY) == RESULT | {"reason": str(i)}


def test_a_truncated_record_counts_as_missing(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    path = log(store)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert again(store).result(KEY) is None, length
        # Its writer was killed: that is no damage.
        assert again(store).damaged == 0, length
    path.write_bytes(whole)
    assert again(store).result(KEY) == RESULT


@examples(60)
@given(data=st.data())
def test_no_flipped_bit_is_believed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Every other record stands; the damaged one is missing, counted, removed by `mend`, and can be put again."""
    store = Store(tmp_path_factory.mktemp("flipped"))
    others = [Choice(Grid({"C": [float(i)]}), None, ("a",)) for i in (2, 3)]
    for work in (others[0], WORK, others[1]):
        store.put(work, RESULT, "e")
    path = log(store)
    content = bytearray(path.read_bytes())
    lines = content.splitlines(keepends=True)
    # The ends of lines too, but not that of the last one: there nothing was written after.
    position = data.draw(st.integers(len(lines[0]), len(lines[0]) + len(lines[1]) - 1))
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    result = again(store)
    assert result.result(KEY) is None
    assert result.damaged >= 1
    assert result.result(others[0].key) == RESULT
    if position < len(lines[0]) + len(lines[1]) - 1:
        assert result.result(others[1].key) == RESULT
    result.mend()
    assert result.damaged == again(store).damaged == 0
    result.put(WORK, RESULT, "e")
    assert again(store).result(KEY) == RESULT


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("000002-a.v3.log", "it has format 3, this version of elmbench reads format 2. Update elmbench"),
        ("000002-a.v1.log", "it has format 1, this version of elmbench reads format 2. Run again"),
        ("000002-a.log", "it has format 1, this version of elmbench reads format 2. Run again"),
    ],
)
def test_a_log_of_another_format_is_left_alone_and_named(store: Store, name: str, message: str) -> None:
    store.put(WORK, RESULT, "e")
    store.close()
    other = log(store).rename(log(store).with_name(name))
    with pytest.warns(ElmbenchWarning, match=re.escape(f"{name} is ignored: {message}")):
        assert again(store).result(KEY) is None
    content = other.read_bytes()
    with pytest.warns(ElmbenchWarning):
        again(store).put(WORK, RESULT, "e")
    assert other.read_bytes() == content


@pytest.mark.parametrize("values", [["one"], [1] * 30])
def test_a_record_of_another_version_is_one_clear_error(store: Store, values: list[object]) -> None:
    store.records.append("table:ci/toy/one", {"command": "run", "cells": [values]})
    with pytest.raises(ElmbenchError, match="another version of elmbench"):
        store.cells("ci", "toy/one")


@pytest.mark.parametrize(
    "content", [b"\x00" * 100, b"\xff\xfe\n", b"[]\n\n\n", b"\n", b"x" * 200 + b"\n", b"0" * 64 + b" a {}\n"]
)
def test_a_file_of_something_else(store: Store, content: bytes) -> None:
    store.put(WORK, RESULT, "e")
    log(store).write_bytes(content)
    assert again(store).get(KEY) is None
    store = again(store)
    store.put(WORK, RESULT, "e")
    assert again(store).result(KEY) == RESULT


def test_damage_that_comes_while_the_store_is_open(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    reader = again(store)
    assert reader.damaged == 0
    path = log(store)
    path.write_bytes(path.read_bytes().replace(b"0.25", b"0.75"))
    assert reader.result(KEY) is None
    assert reader.damaged == 1


def test_the_log_of_a_living_process_is_not_mended(store: Store) -> None:
    """It may append at any time; one who reads while another mends looks again."""
    store.put(WORK, RESULT, "e")
    path = log(store)
    path.write_bytes(b"x" * 100 + b"\n" + path.read_bytes())
    living = path.rename(path.with_name(path.name.replace(f"-{os.getpid()}-", f"-{os.getppid()}-")))
    again(store).mend()
    assert again(store).damaged == 1
    living.rename(path)
    reader = again(store)
    assert reader.damaged == 1
    again(store).mend()
    assert again(store).damaged == 0
    assert reader.result(KEY) == RESULT


# --- Several processes -----------------------------------------------------------------------------------------------


def test_what_others_store_is_seen_and_nothing_of_it_lost(store: Store) -> None:
    """Five processes add results and cells at the same time."""
    assert store.cells("ci", "toy/one") == []
    works = [Choice(Grid({"C": [float(i)]}), None, ("a",)) for i in range(50)]

    def add(number: int) -> None:
        mine = again(store)
        for work in works[number::5]:
            mine.put(work, RESULT | {"reason": str(number)}, "e")
            entry = cell(model=f"M{number}", run=works.index(work), key=work.key)
            mine.add_cells("ci", "toy/one", [entry], f"run {number}")

    children = [in_a_child(partial(add, number)) for number in range(5)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
    store.records.refresh()
    assert {entry.key for entry in store.cells("ci", "toy/one")} == {work.key for work in works}
    assert sorted(store.commands("ci", "toy/one")) == [f"run {number}" for number in range(5)]
    for i, work in enumerate(works):
        assert store.result(work.key) == RESULT | {"reason": str(i % 5)}


# --- Environments ----------------------------------------------------------------------------------------------------


def test_environments_are_kept_once(store: Store) -> None:
    first = store.put_environment({"python": "3.11", "cores": 2})
    assert store.put_environment({"cores": 2, "python": "3.11"}) == first
    assert store.put_environment({"python": "3.12", "cores": 2}) != first
    assert store.environment(first) == {"python": "3.11", "cores": 2}
    assert store.environment("lost") == {"hash": "lost"}
