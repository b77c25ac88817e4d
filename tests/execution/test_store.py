"""The store: nothing damaged is believed, nothing is lost beside others, and stale cells go."""

import base64
import contextlib
import errno
import hashlib
import json
import math
import os
import re
import zlib
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_store import KEY, OTHER, RESULT, WORK, again, cell, in_a_child, lines_of, log
from platforms import UNIX_PROCESSES
from random_examples import examples
from sentences import sentence

from elmbench.errors import ElmbenchWarning
from elmbench.execution.records import _Result
from elmbench.execution.store import Store
from elmbench.files import WriteError
from elmbench.specs.grids import SearchGrid
from elmbench.tasks.oracle_choice import Choice
from elmbench.tasks.plan import Cell

CHOICES = [Choice(SearchGrid({"C": [float(i)]}), None, ("a",)) for i in range(50)]

# --- Records
# -----------------------------------------------------------------------------


def test_what_is_put_is_there(store: Store) -> None:
    assert store.get(KEY) is store.result(KEY) is None
    store.put(WORK, RESULT, "e1")
    assert store.get(KEY) == {
        "key": KEY,
        "unit": WORK.content(),
        "needs": list(WORK.needs),
        "fits": WORK.number_of_fits,
        "result": RESULT,
        "environment": "e1",
    }
    assert Store(store.root.parent).result(KEY) == RESULT
    # The last one counts, whoever stored it.
    for i in range(12):
        other = again(store)
        other.put(WORK, RESULT | {"reason": str(i)}, "e")
        other.close()
        assert again(store).result(KEY) == RESULT | {"reason": str(i)}


class _Uncountable(Choice):
    """Work of a plug-in that fails to count its fits."""

    @property
    def number_of_fits(self) -> int:
        raise RuntimeError("no number")


class _Negative(Choice):
    """Work of a plug-in with a senseless number of fits."""

    number_of_fits = -1


@pytest.mark.parametrize("kind", [_Uncountable, _Negative])
def test_work_without_a_usable_number_of_fits_is_stored(
    store: Store, kind: type[Choice]
) -> None:
    task = kind(SearchGrid({"C": [1.0]}), None, ("a",))
    store.put(task, RESULT, "e")
    record = again(store).get(task.key)
    assert record is not None
    assert record["fits"] is None
    assert record["result"] == RESULT


def test_a_truncated_record_counts_as_missing(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    path = log(store)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert again(store).result(KEY) is None, length
        # Its writer was killed: that is no damage.
        assert again(store).n_damaged == 0, length
    path.write_bytes(whole)
    assert again(store).result(KEY) == RESULT


@examples(60)
@given(data=st.data())
def test_no_flipped_bit_is_believed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Every other record stands; the damaged one is missing and counted, and can be put again."""
    store = Store(tmp_path_factory.mktemp("flipped"))
    others = CHOICES[2:4]
    for task in (others[0], WORK, others[1]):
        store.put(task, RESULT, "e")
    path = log(store)
    content = bytearray(path.read_bytes())
    lines = content.splitlines(keepends=True)
    # The ends of lines too, but not that of the last one: there nothing was written after.
    position = data.draw(st.integers(len(lines[0]), len(lines[0]) + len(lines[1]) - 1))
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    result = again(store)
    assert result.result(KEY) is None
    assert result.n_damaged >= 1
    assert result.result(others[0].key) == RESULT
    if position < len(lines[0]) + len(lines[1]) - 1:
        assert result.result(others[1].key) == RESULT
    result.put(WORK, RESULT, "e")
    assert again(store).result(KEY) == RESULT


def forged(store: Store, name: bytes, text: bytes) -> Store:
    """Return the store with a record of another program, whose checksum is right."""
    body = name + (b" " + text if text else b"")
    line = hashlib.sha256(body).hexdigest().encode() + b" " + body + b"\n"
    store.folder.mkdir(parents=True, exist_ok=True)
    (store.folder / "000001-forger.v3.log").write_bytes(line)
    return again(store)


RECORD = {
    "key": KEY,
    "unit": WORK.content(),
    "needs": list(WORK.needs),
    "fits": WORK.number_of_fits,
    "result": RESULT,
    "environment": "e",
}


def packed(values: Any, kind: str) -> str:
    """Return values as a part of stored predictions."""
    content = np.asarray(values).astype(kind).tobytes()
    return f"{kind}:{base64.b64encode(zlib.compress(content)).decode()}"


PREDICTIONS = {
    "classes": 2,
    "true": packed([0, 1, 1], "|u1"),
    "predicted": packed([0, 0, 1], "|u1"),
    "scores": packed([-1, -0.5, 2], "<f4"),
    "rows": packed([4, 1, -3], "<i4"),
}
FIT = RESULT | {"n_train": 9, "n_test": 3, "predictions": PREDICTIONS}
VALUES = {
    "true": packed([0.5, 1, 2], "<f8"),
    "predicted": packed([0.5, 1, np.nan], "<f8"),
}


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"[]", b"null", b"3", b'"\xff"', b"[" * 100_000, b'{"key": ' + b"1" * 5000 + b"}",
        *(
            json.dumps(RECORD | change).encode()
            for change in (
                {"key": OTHER.key}, {"unit": []}, {"unit": {"params": 3}}, {"result": None},
                {"environment": []}, {"seconds": "x"}, {"needs": "x"}, {"needs": [1]},
                {"fits": -1}, {"fits": "x"},
            )
        ),
        *(
            json.dumps(RECORD | {"result": RESULT | change}).encode()
            for change in (
                {"status": "fine"}, {"status": []}, {"reason": 1}, {"params": []}, {"warnings": "x"},
                {"warnings": [1]}, {"solvers": {"a": "x"}}, {"measured": {"mcc": "x"}},
                {"fit_seconds": "x"}, {"n_test": 0.5}, {"n_units": []}, {"scores": [1.0]},
                {"n_units": 10**25}, {"n_test": 1e300}, {"n_train": -3}, {"solvers": {"lu": -1}},
                {"fit_seconds": -5.0}, {"fit_seconds": math.inf}, {"predict_seconds": math.nan},
                {"reason": "\ud800"}, {"warnings": ["\ud800"]}, {"limit": -1.0},
                {"measured": {"mcc": 5.0}}, {"measured": {"accuracy@rows=40": -0.1}},
                {"predictions": []}, {"predictions": VALUES},
                FIT | {"n_test": 2}, FIT | {"n_test": 2_000_000},
            )
        ),
        *(
            json.dumps(RECORD | {"result": FIT | {"predictions": PREDICTIONS | change}}).encode()
            for change in (
                {"true": 3}, {"true": "|u1:"}, {"true": packed([0, 1], "|u1")},
                {"true": packed([0, 2, 1], "|u1")}, {"true": packed([0.0, 1.0, 1.0], "<f8")},
                {"true": packed(np.zeros(10**8), "|u1")},
                {"predicted": packed([0, 0, 1] * 2, "|u1")},
                {"scores": packed(np.zeros(6), "<f4")}, {"scores": packed([1, 2, 3], "|u1")},
                {"scores": packed([1, 2, math.nan], "<f4")}, {"log_odds": packed([1, 2], "<f4")},
                {"rows": packed([1, 0, 1], "<i4")}, {"rows": packed([1, -2, 1], "<i4")},
                {"rows": packed([1, 1], "<i4")}, {"rows": packed([1, 2, math.nan], "<f8")},
                {"classes": None}, {"classes": 1}, {"classes": 3}, {"classes": 10**12},
                {"classes": 2_000, "scores": packed(np.zeros(6_000), "<f4")},
            )
        ),
    ],
)  # fmt: skip
def test_a_forged_result_is_a_damaged_record(store: Store, text: bytes) -> None:
    store.put(WORK, FIT, "e")
    assert store.result(KEY) == again(store).result(KEY) == FIT
    log(store).unlink()
    store = forged(store, f"unit:{KEY}".encode(), text)
    assert store.get(KEY) is store.result(KEY) is None
    assert store.n_damaged == 1
    store.put(WORK, RESULT, "e")
    assert again(store).result(KEY) == RESULT


@pytest.mark.parametrize(("n_rows", "most"), [(12, 1000), (1500, 1500)])
def test_an_error_names_the_largest_number_of_classes(n_rows: int, most: int) -> None:
    rows = {"n_train": n_rows - 3, "n_test": 3}
    accepted = PREDICTIONS | {"classes": most}
    _Result.model_validate(FIT | rows | {"predictions": accepted})
    with pytest.raises(ValueError, match=f"at most {most} classes"):
        _Result.model_validate(
            FIT | rows | {"predictions": accepted | {"classes": most + 1}}
        )


@pytest.mark.parametrize(
    "change",
    [
        {"predictions": None},
        {"predictions": None, "measured": {"train_accuracy": 1.0}},
        {"predictions": None, "measured": {"mcc": 0.999}},
        {"predictions": {"true": VALUES["true"], "predicted": VALUES["true"]}},
        {"n_train": 8},
        {"n_train": None},
        {"n_test": 4},
    ],
)
def test_a_fit_without_the_predictions_of_its_split_is_a_damaged_record(
    store: Store, change: dict[str, Any]
) -> None:
    protocol = {"outer": {"kind": "holdout", "train": 9, "test": 3}}
    unit = {"kind": "cell", "task": "classification", "protocol": protocol}
    fit = FIT | {"measured": {}}
    diverged = {"status": "diverged", "predictions": None}
    for result, n_damaged in ((fit, 0), (fit | diverged, 0), (fit | change, 1)):
        record = RECORD | {"unit": unit, "result": result}
        store = forged(store, f"unit:{KEY}".encode(), json.dumps(record).encode())
        assert store.result(KEY) == (None if n_damaged else result)
        assert store.n_damaged == n_damaged


@pytest.mark.parametrize(
    "change",
    [{"task": 3}, {"protocol": None}, {"protocol": []}, {"protocol": {}}]
    + [{"protocol": {"outer": outer}} for outer in (None, "nan", 5, [["train", 9]])],
)
def test_a_fit_of_a_forged_protocol_is_a_damaged_record(
    store: Store, change: dict[str, Any]
) -> None:
    unit = {"kind": "cell", "task": "classification", "protocol": {"outer": {}}}
    for content, n_damaged in ((unit, 0), (unit | change, 1)):
        record = RECORD | {"unit": content, "result": FIT}
        store = forged(store, f"unit:{KEY}".encode(), json.dumps(record).encode())
        assert store.result(KEY) == (None if n_damaged else FIT)
        assert store.n_damaged == n_damaged


def test_a_result_with_the_wrong_number_of_test_rows_is_a_damaged_record(
    store: Store,
) -> None:
    unit = {"kind": "cell", "task": "classification"}
    for n_test, n_damaged in ((None, 0), (3, 0), (4, 1)):
        outer = {"kind": "holdout", "train": None, "test": n_test}
        record = RECORD | {"unit": unit | {"protocol": {"outer": outer}}, "result": FIT}
        store = forged(store, f"unit:{KEY}".encode(), json.dumps(record).encode())
        assert store.result(KEY) == (None if n_damaged else FIT)
        assert store.n_damaged == n_damaged


@pytest.mark.parametrize(
    "change",
    [
        {"command": 3}, {"cells": None}, {"cells": [3]}, {"cells": [[]]}, {"whole": "x"},
        {"cells": [[*asdict(cell()).values()]] * 2},
        *({"cells": [[*asdict(cell(**values)).values()]]}
          for values in ({"run": "x"}, {"fold": -1}, {"run": 10**30}, {"select": "best"},
                         {"model": ["x"]}, {"dataset": 5}, {"key": 7}, {"unavailable": {}})),
    ],
)  # fmt: skip
def test_a_forged_request_is_a_damaged_record(
    store: Store, change: dict[str, Any]
) -> None:
    request = {"command": "run", "cells": [[*asdict(cell()).values()]]}
    for content, n_damaged in ((request, 0), (request | change, 1)):
        store = forged(store, b"table:ci/toy/one", json.dumps(content).encode())
        assert store.cells("ci", "toy/one") == [cell()] * (1 - n_damaged)
        assert store.n_damaged == n_damaged
        assert store.tables() == [("toy/one", "ci")]


def test_a_forged_environment_or_name_is_a_damaged_record(store: Store) -> None:
    for text in (b"[]", b'{"python": 3}', b'{"packages": {"numpy": []}}'):
        store = forged(store, b"environment:e", text)
        assert store.environment("e") == {"hash": "e"}
        assert store.n_damaged == 1
    for name in (
        b"unit:\xff", b"\xff", b"table:", b"table:/", b"table:fast", b"table:fast/kos-elm",
        b"table:best/kos-elm/table4", b"table:fast/../../etc", b"table:fast/../etc",
        b"table:fast/kos-elm/\x1b[31m",
    ):  # fmt: skip
        store = forged(store, name, b"{}")
        assert store.n_damaged == 1
        assert store.tables() == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "000002-a.v4.log",
            sentence("execution.store.newer-format", format=4),
        ),
        (
            "000002-a.v2.log",
            sentence("execution.store.older-format", format=2),
        ),
    ],
)
def test_a_log_of_another_format_is_left_alone_and_named(
    store: Store, name: str, message: str
) -> None:
    store.put(WORK, RESULT, "e")
    store.close()
    other = log(store).rename(log(store).with_name(name))
    with pytest.warns(
        ElmbenchWarning, match=re.escape(f"{name} is ignored: {message}")
    ):
        assert again(store).result(KEY) is None
    content = other.read_bytes()
    with pytest.warns(ElmbenchWarning):
        again(store).put(WORK, RESULT, "e")
    assert other.read_bytes() == content


@pytest.mark.parametrize(
    "content",
    [
        b"\x00" * 100,
        b"\xff\xfe\n",
        b"[]\n\n\n",
        b"\n",
        b"x" * 200 + b"\n",
        b"0" * 64 + b" a {}\n",
    ],
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
    assert reader.result(KEY) == RESULT
    path = log(store)
    path.write_bytes(path.read_bytes().replace(b"0.25", b"0.75"))
    assert reader.result(KEY) is None


@UNIX_PROCESSES
def test_what_others_store_is_seen_and_nothing_of_it_lost(store: Store) -> None:
    """Five processes add results and cells at the same time."""
    assert store.cells("ci", "toy/one") == []

    def add(number: int) -> None:
        mine = again(store)
        for task in CHOICES[number::5]:
            mine.put(task, RESULT | {"reason": str(number)}, "e")
            entry = cell(model=f"M{number}", run=CHOICES.index(task), key=task.key)
            mine.add_cells("ci", "toy/one", [entry], f"run {number}")

    children = [in_a_child(partial(add, number)) for number in range(5)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
    store.refresh()
    assert {entry.key for entry in store.cells("ci", "toy/one")} == {
        task.key for task in CHOICES
    }
    assert sorted(store.commands("ci", "toy/one")) == [
        f"run {number}" for number in range(5)
    ]
    for i, task in enumerate(CHOICES):
        assert store.result(task.key) == RESULT | {"reason": str(i % 5)}


def test_environments_are_kept_once(store: Store) -> None:
    first = store.put_environment({"python": "3.11", "cores": 2})
    assert store.put_environment({"cores": 2, "python": "3.11"}) == first
    assert store.put_environment({"python": "3.12", "cores": 2}) != first
    assert store.environment(first) == {"python": "3.11", "cores": 2}
    assert store.environment("lost") == {"hash": "lost"}


# --- The disk
# -----------------------------------------------------------------------------


def test_results_are_there_at_once_and_on_the_disk_at_the_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    for i, task in enumerate(CHOICES):
        store.put(task, RESULT, "e")
        assert len(lines_of(store)) == i + 1
    assert not waits
    store.close()
    assert len(waits) == 1


@pytest.mark.parametrize("call", ["fsync", "write"])
@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only file system")],
)
def test_a_write_that_fails_leaves_what_was_there(
    store: Store, monkeypatch: pytest.MonkeyPatch, call: str, number: int, reason: str
) -> None:
    store.put(WORK, RESULT, "e")
    store.close()

    def fail(*args: Any, **how: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with (
            pytest.raises(WriteError, match=reason) as error,
            contextlib.closing(store),
        ):
            store.put(OTHER, RESULT, "e")
    assert str(store.root / "records") in error.value.found
    assert "--results-dir" in str(error.value.next_step)
    assert again(store).result(KEY) == RESULT
    assert again(store).n_damaged == 0


@UNIX_PROCESSES
def test_a_disk_that_fills(store: Store, tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: the write fails half-way, and the half
    is taken back.
    """
    resource = pytest.importorskip("resource")
    message = tmp_path / "message"

    def write_more() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        store.put(WORK, RESULT, "e")
        try:
            store.put(
                OTHER, RESULT | {"measured": {str(i): 0.5 for i in range(1000)}}, "e"
            )
        except WriteError as error:
            message.write_text(str(error))

    os.waitpid(in_a_child(write_more), 0)
    assert "cannot write" in message.read_text()
    assert "File too large" in message.read_text()
    assert again(store).result(KEY) == RESULT
    assert len(lines_of(store)) == 1
    assert log(store).stat().st_size == len(lines_of(store)[0])


# --- Tables
# -----------------------------------------------------------------------------


def cells(n_runs: int, **changes: Any) -> list[Cell]:
    key = changes.get("family", "f1")
    return [
        cell(run=r, fold=f, key=f"{key}-{r}-{f}", **changes)
        for r in range(n_runs)
        for f in range(2)
    ]


def missing(n_runs: int) -> list[Cell]:
    return [
        replace(entry, key="", family="unavailable", unavailable="not here")
        for entry in cells(n_runs)
    ]


K = cells(1, model="K-ELM")
OTHERS = [
    cells(1, family="f2", **entry)
    for entry in (
        {"dataset": "x"},
        {"model": "x"},
        {"select": "oracle"},
        {"reading": "a=b"},
    )
]


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([], []),
        ([cells(1), K], cells(1) + K),
        ([cells(1), K, cells(3)], cells(1) + K + cells(3)[2:]),
        ([cells(1), K, cells(3), cells(1)], cells(1) + K + cells(3)[2:]),
        # Another entry displaces nothing.
        *(([cells(2), other], cells(2) + other) for other in OTHERS),
        # An entry that has changed loses the cells of runs that are not asked for now too: another
        # protocol's must not be averaged with them.
        ([cells(3) + K, cells(1, family="f2")], K + cells(1, family="f2")),
        # Data that are not here displace nothing, nor where more runs are asked for than there are
        # results of; nothing of it stays when the data are here again.
        ([cells(1), missing(1)], cells(1)),
        ([cells(1), missing(3)], cells(1) + missing(3)[2:]),
        ([cells(1), missing(3), cells(2)], cells(2)),
        ([missing(2)], missing(2)),
        ([missing(2), cells(1)], cells(1)),
    ],
)
def test_the_cells_of_several_requests(
    store: Store, requests: list[list[Cell]], expected: list[Cell]
) -> None:
    for request in requests:
        store.add_cells("ci", "toy/one", request, "run")
    assert store.cells("ci", "toy/one") == expected
    # Tables and profiles are apart.
    assert store.cells("fast", "toy/one") == store.cells("ci", "toy/two") == []


def test_commands_are_stored_once_and_unchanged_requests_not_again(
    store: Store,
) -> None:
    for command in ("a", "b", "a", "c"):
        store.add_cells("fast", "toy/one", cells(1), command)
    assert store.commands("fast", "toy/one") == ["b", "a", "c"]
    store.add_cells("ci", "toy/one", cells(2), "run")
    before = log(store).read_bytes()
    store.add_cells("ci", "toy/one", cells(1), "run")
    assert log(store).read_bytes() == before
    store.add_cells("ci", "toy/one", cells(1), "another")
    assert len(log(store).read_bytes()) > len(before)


def test_a_whole_request_is_all_that_a_table_has(store: Store) -> None:
    for request, command in ((cells(1), "first"), (K, "second")):
        store.add_cells("ci", "toy/one", request, command, whole=True)
        assert store.cells("ci", "toy/one") == request
        assert again(store).commands("ci", "toy/one") == [command]
    store.add_cells("ci", "toy/one", cells(1) + K, "third", whole=True)
    assert store.cells("ci", "toy/one") == cells(1) + K


def test_cells_of_an_earlier_version_have_further_values(store: Store) -> None:
    (entry,) = cells(1)[:1]
    record = {"command": "run", "cells": [[*asdict(entry).values(), 3]]}
    store.append("table:ci/toy/one", record)
    assert store.cells("ci", "toy/one") == [entry]


def test_the_cells_of_a_run_count_as_the_last_ones_for_its_own_table(
    store: Store,
) -> None:
    store.add_cells("ci", "toy/one", K, "before")
    store.add_cells("ci", "toy/one", cells(2), "mine")
    # Another process runs the same entry with another grid meanwhile.
    store.add_cells("ci", "toy/one", cells(3, family="f2"), "another")
    assert store.cells("ci", "toy/one", latest=cells(2)) == K + cells(2)
    assert store.cells("ci", "toy/one") == K + cells(3, family="f2")


def test_one_damaged_line_loses_no_cells(store: Store) -> None:
    store.add_cells("ci", "toy/one", cells(1), "run")
    store.add_cells("ci", "toy/one", K, "another")
    path = log(store)
    whole = path.read_bytes()
    expected = store.cells("ci", "toy/one")
    for line in lines_of(store, "table:"):
        path.write_bytes(whole.replace(line, line.replace(b"wdbc", b"wdbd"), 1))
        result = again(store)
        assert result.cells("ci", "toy/one") == expected
        assert result.commands("ci", "toy/one") == ["run", "another"]
        assert result.n_damaged == 1
