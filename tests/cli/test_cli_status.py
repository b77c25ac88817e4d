"""`elmbench status`, and the progress of a command that goes through many tables."""

from collections.abc import Callable
from pathlib import Path

import pytest
from made_store import log_files, lose
from sentences import sentence

from elmbench.cli import progress
from elmbench.cli.options import State, state
from elmbench.execution.store import Store
from elmbench.specs.catalogue import load_catalogue


def test_status_counts_the_cells_of_each_table_and_profile(
    elmbench: Callable, real: Path
) -> None:
    result = elmbench("status", "--results-dir", real, "--json").json
    assert [
        (line["experiment"], line["profile"], line["ended"]) for line in result
    ] == [
        ("kos-elm/table2", "ci", {"ok": 1}),
        ("kos-elm/table4", "ci", {"ok": 6}),
        ("kos-elm/table7", "ci", {"ok": 6}),
    ]
    (line,) = elmbench("status", "table4", "--results-dir", real, "--json").json
    assert (line["planned"], line["reasons"]) == (6, {})
    assert line["command"].startswith(f"elmbench --results-dir {real} run ")
    text = elmbench("status", "--results-dir", real).out
    assert [
        line.split() for line in text.splitlines() if line.startswith("kos-elm/table4")
    ] == [["kos-elm/table4", "ci", "6", "6", "ok"]]


def test_status_counts_the_reasons_of_unsuccessful_cells(
    elmbench: Callable, toy: Callable, worker: dict
) -> None:
    toy(datasets=["wdbc", "sylva"])
    worker["elm"] = {"status": "failed", "reason": "ValueError: no"}
    worker["k-elm"] = {"status": "timeout", "reason": "> 5 s"}
    elmbench("run", "one", "--profile", "ci", code=1)
    result = elmbench("status")
    lines = " ".join(result.out.split())
    assert "3 x wdbc ELM failed: ValueError: no" in lines
    assert "3 x wdbc K-ELM timeout: > 5 s" in lines
    # Absent data are named once, not once a model.
    assert (
        lines.count(f"x {sentence('cli.run.data-set-unavailable', dataset='sylva')}")
        == 1
    )
    assert elmbench("status", "-q").out.count("\n") == 3


def test_status_counts_the_cells_that_are_missing_from_the_store(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    worker["k-elm"] = lambda unit: (
        {"fit_seconds": 9.0} if unit["kind"] == "cell" else {}
    )
    elmbench("run", "one", "--profile", "ci")
    store = Store(Path("elmbench-results"))
    cells = store.cells("ci", "toy/one")
    for cell in cells[:2]:
        store = lose(store, cell.key)
    (line,) = elmbench("status", "one", "--json").json
    assert line["ended"] == {"missing": 2, "ok": 10}
    text = " ".join(elmbench("status").out.split())
    assert "2 missing, 10 ok" in text
    same = [
        cell
        for cell in cells[2:]
        if (cell.model, cell.select) == (cells[0].model, cells[0].select)
    ]
    took = [
        sum(
            store.result(cell.key)[f"{part}_seconds"]
            for part in ("search", "fit", "predict")
        )
        for cell in same
    ]
    assert line["seconds_left"] == pytest.approx(2 * sum(took) / len(took))
    assert ("s on one worker; next:" in text) == (sum(took) > 0)
    assert text.endswith("next: elmbench run toy/one --profile ci")
    for cell in (cell for cell in cells if cell.model == "K-ELM"):
        store = lose(store, cell.key)
    (line,) = elmbench("status", "one", "--json").json
    assert line["unknown"] == ["K-ELM"]
    assert line["seconds_left"] < 9, (
        "a model that never ran has no duration, not that of the others"
    )
    assert "; the duration of K-ELM is unknown; next:" in " ".join(
        elmbench("status").out.split()
    )
    elmbench("run", "one", "--profile", "ci")
    (line,) = elmbench("status", "one", "--json").json
    assert (line["ended"], line["seconds_left"]) == ({"ok": 12}, 0)


def test_status_without_runs_names_the_command_to_type(elmbench: Callable) -> None:
    result = elmbench("status")
    assert result.out == "elmbench-results holds no runs; next: elmbench run table4\n"
    assert elmbench("status", "--json").json == []
    assert elmbench("status", "-q").out == ""


def test_damaged_records_are_reported_until_a_run_repeats_their_work(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    elmbench("run", "one", "--profile", "ci")
    before = Path("elmbench-results/ci/toy/one/cells.csv").read_bytes()
    store = Store(Path("elmbench-results"))
    (path,) = log_files(store)
    lines = path.read_bytes().splitlines(keepends=True)
    for name in (b"unit:", b"table:"):
        last = max(i for i, line in enumerate(lines) if line[65:].startswith(name))
        lines[last] = lines[last].replace(b"wdbc", b"wdbd", 1)
    path.write_bytes(b"".join(lines))
    result = elmbench("status")
    assert "1 missing" in result.out
    assert "elmbench-results/.store has 2 damaged records" in result.out
    result = elmbench("run", "one", "--profile", "ci", "-q")
    assert (
        result.err
        == "elmbench-results/.store has 2 damaged records; their work is repeated\n"
    )
    assert Path("elmbench-results/ci/toy/one/cells.csv").read_bytes() == before
    assert "damaged" not in elmbench("status").out
    assert elmbench("run", "one", "--profile", "ci", "-q").err == ""


def test_a_fit_without_its_predictions_is_computed_again(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    elmbench("run", "one", "--profile", "ci")
    before = Path("elmbench-results/ci/toy/one/cells.csv").read_bytes()
    store = Store(Path("elmbench-results"))
    key = store.cells("ci", "toy/one")[0].key
    record = store.get(key)
    assert record is not None
    store = lose(store, key)
    store.append(
        f"unit:{key}", record | {"result": record["result"] | {"predictions": None}}
    )
    assert "elmbench-results/.store has 1 damaged record;" in elmbench("status").out
    result = elmbench("run", "one", "--profile", "ci", "-q")
    assert (
        result.err
        == "elmbench-results/.store has 1 damaged record; their work is repeated\n"
    )
    assert Path("elmbench-results/ci/toy/one/cells.csv").read_bytes() == before


def test_a_table_that_this_installation_lacks_is_named(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    elmbench("run", "one", "--profile", "ci")
    store = Store(Path("elmbench-results"))
    store.add_cells(
        "fast", "no-such/table", store.cells("ci", "toy/one"), "elmbench run x"
    )
    text = " ".join(elmbench("status").out.split())
    assert text.endswith(sentence("cli.status.unknown-table", table="no-such/table"))
    assert text.count("is not a table") == 1


def test_tables_are_watched_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "quiet", False)
    tables = list(load_catalogue().values())[:6]
    with progress.show_tables() as watch:
        assert list(watch(tables)) == tables
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.show_tables() as watch:
        assert list(watch(tables)) == tables
    shown = capsys.readouterr().err
    assert "tables" in shown
    assert "100%" in shown
    with progress.show_tables(passes=2) as watch:
        assert list(watch(tables)) == tables
    shown = capsys.readouterr().err
    # The second pass is still to come.
    assert "50%" in shown
    assert "100%" not in shown
    with progress.show_tables() as watch:
        assert list(watch(tables[:1])) == tables[:1]
    assert "tables" not in capsys.readouterr().err


def test_durations_are_written_in_seconds_minutes_or_hours() -> None:
    words = ["1 s", "89 s", "2 min", "90 min", "1.5 h"]
    assert list(map(progress.duration, (0.2, 89, 100, 5399, 5400))) == words


def test_commands_to_copy_are_not_wrapped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = "next: elmbench run kos-elm/table4" + " --reading order=stored" * 5
    State().say(command, "word " * 30)
    assert [*map(len, capsys.readouterr().out.splitlines())] == [len(command), 80, 70]
