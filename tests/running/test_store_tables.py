"""The cells that a table was asked for: what is stale goes and what is not stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_store import again, cell, lines_of, log

from elmbench.running.store import Store
from elmbench.work.plan import Cell


def cells(n_runs: int, **changes: Any) -> list[Cell]:
    return [cell(run=run, fold=fold, key=f"{changes.get('family', 'f1')}-{run}-{fold}", **changes)
            for run in range(n_runs) for fold in range(2)]  # fmt: skip


MISSING = {"key": "", "family": "unavailable", "unavailable": "not here"}


def missing(n_runs: int) -> list[Cell]:
    return [replace(entry, **MISSING) for entry in cells(n_runs)]


def cells_after(store: Store, *requests: list[Cell]) -> list[Cell]:
    for request in requests:
        store.add_cells("ci", "toy/one", request, "run")
    return store.cells("ci", "toy/one")


def test_cells_add_up(store: Store) -> None:
    assert cells_after(store) == []
    assert cells_after(store, cells(1)) == cells(1)
    other = cells(1, model="K-ELM")
    assert cells_after(store, other) == cells(1) + other
    assert cells_after(store, cells(3)) == cells(1) + other + cells(3)[2:]
    assert cells_after(store, cells(1)) == cells(1) + other + cells(3)[2:]


def test_tables_and_profiles_are_apart(store: Store) -> None:
    store.add_cells("ci", "toy/one", cells(1), "run")
    assert store.cells("fast", "toy/one") == []
    assert store.cells("ci", "toy/two") == []


@pytest.mark.parametrize("other_entry", [{"dataset": "x"}, {"model": "x"}, {"select": "oracle"}, {"reading": "a=b"}])
def test_another_entry_displaces_nothing(store: Store, other_entry: dict[str, str]) -> None:
    other = cells(1, family="f2", **other_entry)
    assert cells_after(store, cells(2), other) == cells(2) + other


def test_cells_of_an_entry_that_has_changed_are_dropped(store: Store) -> None:
    """Also those of runs that are not asked for now: another protocol's must not be averaged with them."""
    changed = cells(1, family="f2")
    other = cells(1, model="K-ELM")
    assert cells_after(store, cells(3) + other, changed) == other + changed


def test_data_that_are_not_here_displace_nothing(store: Store) -> None:
    assert cells_after(store, cells(1), missing(1)) == cells(1)
    # Nor where more runs are asked for than there are results of.
    assert cells_after(store, missing(3)) == cells(1) + missing(3)[2:]
    # And nothing of it stays when the data are here again.
    assert cells_after(store, cells(2)) == cells(2)


def test_absent_data_are_replaced_by_results(store: Store) -> None:
    assert cells_after(store, missing(2)) == missing(2)
    assert cells_after(store, cells(1)) == cells(1)


def test_commands_stand_once_the_last_at_the_end(store: Store) -> None:
    for command in ("a", "b", "a", "c"):
        store.add_cells("ci", "toy/one", cells(1), command)
    assert store.commands("ci", "toy/one") == ["b", "a", "c"]


def test_a_request_that_changes_nothing_is_not_written_again(store: Store) -> None:
    cells_after(store, cells(2), cells(1))
    before = log(store).read_bytes()
    cells_after(store, cells(2), cells(1))
    assert log(store).read_bytes() == before
    store.add_cells("ci", "toy/one", cells(1), "another")
    assert len(log(store).read_bytes()) > len(before)


def test_one_damaged_line_loses_no_cells(store: Store) -> None:
    cells_after(store, cells(1))
    store.add_cells("ci", "toy/one", cells(1, model="K-ELM"), "another")
    path = log(store)
    whole = path.read_bytes()
    expected = store.cells("ci", "toy/one")
    for line in lines_of(store, "table:"):
        path.write_bytes(whole.replace(line, line.replace(b"wdbc", b"wdbd"), 1))
        result = again(store)
        assert result.cells("ci", "toy/one") == expected
        assert result.commands("ci", "toy/one") == ["run", "another"]
        assert result.damaged == 1
