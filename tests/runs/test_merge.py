"""Results of several machines joined, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_cells import predictions_of_mcc

from elmbench.errors import ElmbenchError
from elmbench.execution.store import Store
from elmbench.runs.merge import merge_results
from elmbench.runs.write_results import write_results
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.profiles import resolve
from elmbench.tables.planning import make_plan
from elmbench.tasks.base import Task
from elmbench.tasks.plan import RunRequest

ENVIRONMENT = {
    "python": "3.11.7",
    "packages": {"elmbench": "0.1.0", "numpy": "2.4.6"},
    "machine": "one",
}
OTHER_GRIDS = {"C": [1, 8], "gamma": [1], "n_hidden": [15, 30]}
Fill = Callable[..., Path]


def result_of(task: Task) -> dict[str, Any]:
    if task.kind == "search":
        return {
            "status": "ok",
            "reason": "",
            "params": {},
            "scores": [0.5, 0.25],
            "seconds": 0.5,
        }
    times = {"fit_seconds": 0.1, "search_seconds": 0.5, "predict_seconds": 0.1}
    return {
        "status": "ok",
        "reason": "",
        "params": {"C": 1},
        "predictions": predictions_of_mcc(0.9),
        "n_units": 3,
        **times,
    }


@pytest.fixture
def fill(
    write_tree: Callable[..., Path],
    experiment: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Fill:
    """Make a results folder: `fill("a", models=("ELM",), change=lambda work, result: result,
    **spec)`.
    """
    experiment["models"] = {
        name: experiment["models"][name] for name in ("ELM", "K-ELM")
    }

    def use(content: dict[str, Any]) -> None:
        root = write_tree(content)
        load_catalogue.cache_clear()
        monkeypatch.setattr("elmbench.specs.catalogue.spec_root", lambda: root)

    def fill(
        name: str,
        models: tuple[str, ...] = ("ELM",),
        change: Callable[
            [Task, dict[str, Any]], dict[str, Any]
        ] = lambda task, result: result,
        environment: dict[str, Any] = ENVIRONMENT,
        **spec: Any,
    ) -> Path:
        use(experiment | spec)
        plan = make_plan(
            resolve(find_experiment("one"), "ci"), RunRequest(models=models)
        )
        store = Store(tmp_path / name)
        store.add_cells(
            "ci", "toy/one", plan.cells, f"elmbench run one -m {' '.join(models)}"
        )
        described = store.put_environment(environment)
        for task in plan.tasks.values():
            result = result_of(task)
            store.put(
                task,
                result if task.kind == "search" else change(task, result),
                described,
                0.5,
            )
        store.close()
        use(experiment)
        return tmp_path / name

    yield fill
    load_catalogue.cache_clear()


def cells_in(folder: Path) -> set[tuple[str, int]]:
    return {(cell.model, cell.fold) for cell in Store(folder).cells("ci", "toy/one")}


def test_two_machines_make_one_table(fill: Fill, tmp_path: Path) -> None:
    a, b = (
        fill("a"),
        fill("b", ("K-ELM",), environment=ENVIRONMENT | {"machine": "two"}),
    )
    into = tmp_path / "c"
    merged = merge_results([a, b], into)
    assert cells_in(into) == cells_in(a) | cells_in(b)
    assert (merged.results, merged.damaged) == (12, 0)
    (table,) = merged.tables
    cells = pd.read_csv(Path(table) / "cells.csv")
    assert len(cells) == 6
    assert set(cells["status"]) == {"ok"}
    store = Store(into)
    machines = {
        cell.model: store.environment(store.get(cell.key)["environment"])["machine"]
        for cell in store.cells("ci", "toy/one")
    }
    assert machines == {"ELM": "one", "K-ELM": "two"}
    # Again: there is nothing to add.
    assert merge_results([a, b], into).results == 0
    # Into one of them, without a record that is damaged.
    (log,) = Store(b).folder.iterdir()
    log.write_bytes(b"x" + log.read_bytes())
    merged = merge_results([a, b], a)
    assert (merged.results, merged.damaged) == (6, 1)
    with pytest.raises(ElmbenchError, match="nothing holds no results of a run"):
        merge_results([a, tmp_path / "nothing"], tmp_path / "d")


def test_figures_are_written_in_the_format_that_is_asked_for(
    fill: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    formats = []

    def write(*words: Any, figure_format: str) -> Any:
        formats.append(figure_format)
        return write_results(*words)

    monkeypatch.setattr("elmbench.runs.merge.write_results", write)
    merge_results([fill("a")], tmp_path / "b", "svg")
    assert formats == ["svg"]


def test_of_what_both_have_the_first_result_stays(fill: Fill, tmp_path: Path) -> None:
    other = {"fit_seconds": 9.0}
    b = fill(
        "b",
        change=lambda task, found: found | other,
        environment=ENVIRONMENT | {"python": "3.11.9"},
    )
    merge_results([fill("a"), b], tmp_path / "c")
    store = Store(tmp_path / "c")
    assert {
        store.result(cell.key)["fit_seconds"] for cell in store.cells("ci", "toy/one")
    } == {0.1}


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"grids": OTHER_GRIDS}, r"toy/one \(ci\) wdbc ELM, nested: .* differ in the protocol"),
        ({"environment": ENVIRONMENT | {"packages": {"elmbench": "0.1.0", "numpy": "2.5.0"}}},
         "numpy: .*b has 2.5.0, .*a has 2.4.6"),
    ],
)  # fmt: skip
def test_what_does_not_belong_together_is_refused_by_name(
    fill: Fill, tmp_path: Path, how: dict[str, Any], says: str
) -> None:
    into = tmp_path / "c"
    with pytest.raises(ElmbenchError, match=says):
        merge_results([fill("a"), fill("b", **how)], into)
    assert not into.exists()


def test_successful_cells_replace_unsuccessful_ones(fill: Fill, tmp_path: Path) -> None:
    a, b = (
        fill("a"),
        fill("b", change=lambda task, found: found | {"status": "timeout"}),
    )
    for folders in ([a, b], [b, a]):
        into = tmp_path / folders[0].name / "joined"
        merge_results(folders, into)
        store = Store(into)
        assert {
            store.result(cell.key)["status"] for cell in store.cells("ci", "toy/one")
        } == {"ok"}
