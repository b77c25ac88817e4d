"""A run from the request to the plan: what is asked for, what it costs, and the command that stands in the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from elmbench.errors import ElmbenchError
from elmbench.running.executors.base import Settings
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve
from elmbench.work.plan import Request
from elmbench.workflow.execute import command_of
from elmbench.workflow.prepare import RunOptions, chosen_experiments, prepare


def options(*experiments: str, profile: str = "ci", **values: Any) -> RunOptions:
    return RunOptions(experiments=experiments, profile=profile, **values)


def test_experiments_are_those_that_have_something_to_show_under_the_profile() -> None:
    def chosen(*names: str, **how: Any) -> list[str]:
        return [file.id for file in chosen_experiments(options(*names, **how))]

    everything = chosen(everything=True)
    assert "kos-elm/table4" in everything
    # Sylva alone, which does not come with the suite.
    assert "kos-elm/table5" not in everything
    assert "kos-elm/table5" in chosen(everything=True, profile="fast")
    assert chosen(paper="kos-elm") == [e for e in everything if e.startswith("kos-elm/")]
    assert chosen("table4", "kos-elm/table4", "table2") == ["kos-elm/table4", "kos-elm/table2"]


def test_a_cell_that_two_tables_show_is_run_once(tmp_path: Path) -> None:
    asked = {"request": Request(models=("ELM",))}
    alone = [prepare(options(name, **asked), tmp_path).count_cells()["to_run"] for name in ("table4", "table7")]
    together = prepare(options("table4", "table7", **asked), tmp_path)
    assert alone == [3, 3]
    assert together.count_cells() == {"planned": 3, "to_run": 3, "unavailable": 0}
    fits = [line["fits"] for line in together.cost_by_entry()]
    assert fits[0] > 0
    assert fits[1] == 0
    assert list(tmp_path.iterdir()) == []


def test_what_is_known_costs_nothing(tmp_path: Path) -> None:
    run = prepare(options("table4", request=Request(models=("ELM",))), tmp_path)
    assert run.seconds_on(1) > 0
    for key in run.todo:
        run.store.put(run.works[key], {"status": "ok", "reason": "", "params": {}, "seconds": 1.0}, "e")
    again = prepare(options("table4", request=Request(models=("ELM",))), tmp_path)
    assert (again.todo, again.seconds_on(1)) == ([], 0)
    assert again.count_cells() == {"planned": 3, "to_run": 0, "unavailable": 0}
    assert [line["seconds"] for line in again.cost_by_entry()] == [0]


def test_nothing_is_fitted_for_a_table_of_data_facts(tmp_path: Path) -> None:
    request = Request(models=("elm", "svm"), with_baselines=True)
    run = prepare(options("table2", request=request), tmp_path)
    assert {run.works[key].kind for key in run.todo} == {"description"}


def test_the_command_says_what_changes_the_cells_and_nothing_else(tmp_path: Path) -> None:
    request = Request(datasets=("wdbc",), models=("elm", "k-elm"), select=("nested",), runs=2, with_baselines=True)
    readings, settings = {"order": "stored", "c-grid": "step-3"}, Settings(data_dir="/d")
    asked = options("table4", profile="fast", readings=readings, request=request, settings=settings)
    resolved = resolve(find_experiment("table4"), "fast", asked.readings)
    assert command_of(resolved, asked) == (
        "elmbench run kos-elm/table4 --profile fast -d wdbc -m elm -m k-elm --select nested --runs 2 "
        "--reading order=stored --with-baselines"
    )


def test_a_reading_that_no_table_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="no reading 'mg-noise'"):
        prepare(options("table4", readings={"mg-noise": "0"}), tmp_path)
    # Of several tables, those that have it take it.
    run = prepare(options("table4", "table6", readings={"mg-noise": "0"}), tmp_path)
    assert [resolved.reading for resolved, _ in run.tables] == ["", "mg-noise=0"]
