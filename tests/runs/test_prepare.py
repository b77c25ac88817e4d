"""A run from the request to the plan, its cost and its command; data sets and tables of a user's
own.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from made_cells import predictions_of_mcc
from rich.console import Console

from elmbench.cli.list_and_show_text import experiment_text
from elmbench.datasets.load import load_dataset
from elmbench.errors import ElmbenchError
from elmbench.execution.executors import Settings
from elmbench.execution.executors.local import LocalExecutor
from elmbench.execution.processes import available_memory
from elmbench.runs import execute as execution
from elmbench.runs.execute import command_of
from elmbench.runs.prepare import PreparedRun, RunOptions, find_experiments, prepare_run
from elmbench.runs.user_specs import add_spec_dir, add_specs, add_table
from elmbench.runs.validate import validate_specs
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.limits import Limits, parse_limits
from elmbench.specs.profiles import resolve
from elmbench.tasks.plan import RunRequest


def options(*experiments: str, profile: str = "ci", **values: Any) -> RunOptions:
    return RunOptions(experiments=experiments, profile=profile, **values)


def test_experiments_are_those_that_have_something_to_show_under_the_profile() -> None:
    def chosen(*names: str, **how: Any) -> list[str]:
        return [file.id for file in find_experiments(options(*names, **how))]

    everything = chosen(everything=True)
    assert "kos-elm/table4" in everything
    # Sylva alone, which does not come with the suite.
    assert "kos-elm/table5" not in everything
    assert "kos-elm/table5" in chosen(everything=True, profile="fast")
    assert chosen(paper="kos-elm") == [
        e for e in everything if e.startswith("kos-elm/")
    ]
    assert chosen("table4", "kos-elm/table4", "table2") == [
        "kos-elm/table4",
        "kos-elm/table2",
    ]


def test_a_cell_that_two_tables_show_is_run_once(tmp_path: Path) -> None:
    choice = {"request": RunRequest(models=("ELM",))}
    alone = [
        prepare_run(options(name, **choice), tmp_path).count_cells()["to_run"]
        for name in ("table4", "table7")
    ]
    together = prepare_run(options("table4", "table7", **choice), tmp_path)
    assert alone == [3, 3]
    assert together.count_cells() == {"planned": 3, "to_run": 3, "unavailable": 0}
    fits = [cost.fits for cost in together.cost_by_group()]
    assert fits[0] > 0
    assert fits[1] == 0
    assert list(tmp_path.iterdir()) == []


def test_limits_of_the_run_come_before_those_of_the_experiment(tmp_path: Path) -> None:
    def limits(table: str, **settings: Any) -> set[Limits]:
        return set(
            prepare_run(
                options(table, settings=Settings(**settings)), tmp_path
            ).limits.values()
        )

    assert limits("rkelm/table3", limits=Limits(seconds=60)) == {Limits(60, 4 * 10**9)}
    assert limits("rkelm/table3", limits=Limits(memory=10**9)) == {Limits(memory=10**9)}
    # Workers share the machine.
    assert limits("table4", jobs=4) == {Limits(memory=available_memory() // 4)}


def test_from_python_too_the_default_limit_is_the_memory_of_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers of dask may have more than this machine."""

    class Large(LocalExecutor):
        memory = 10**15

    runs: list[PreparedRun] = []
    monkeypatch.setattr(
        execution, "executor_of", lambda engine, settings, scheduler: Large(settings)
    )
    monkeypatch.setattr(execution, "execute", lambda run, *_: [runs.append(run)])
    execution.run("table4", profile="ci", models=["ELM"], results_dir=tmp_path)
    assert set(runs[0].limits.values()) == {Limits(memory=10**15)}


def test_what_is_known_costs_nothing(tmp_path: Path) -> None:
    run = prepare_run(options("table4", request=RunRequest(models=("ELM",))), tmp_path)
    assert run.seconds_on(1) > 0
    result = {"status": "ok", "reason": "", "params": {}, "seconds": 1.0}
    result["predictions"] = predictions_of_mcc(0.5)
    for key in run.todo:
        run.store.put(run.tasks[key], result, "e")
    again = prepare_run(
        options("table4", request=RunRequest(models=("ELM",))), tmp_path
    )
    assert (again.todo, again.seconds_on(1)) == ([], 0)
    assert again.count_cells() == {"planned": 3, "to_run": 0, "unavailable": 0}
    assert [cost.seconds for cost in again.cost_by_group()] == [0]


def test_nothing_is_fitted_for_a_table_of_data_facts(tmp_path: Path) -> None:
    request = RunRequest(models=("elm", "svm"), with_baselines=True)
    run = prepare_run(options("table2", request=request), tmp_path)
    assert {run.tasks[key].kind for key in run.todo} == {"description"}


def test_the_stored_command_has_only_options_that_change_cells(
    tmp_path: Path,
) -> None:
    request = RunRequest(
        datasets=("wdbc",),
        models=("elm", "k-elm"),
        select=("nested",),
        runs=2,
        with_baselines=True,
    )
    readings, settings = (
        {"order": "stored", "c-grid": "step-3"},
        Settings(data_dir="/d", blas_threads=2, limits=parse_limits("time=3s")),
    )
    run_options = options(
        "table4", profile="fast", readings=readings, request=request, settings=settings
    )
    resolved = resolve(find_experiment("table4"), "fast", run_options.readings)
    assert command_of(resolved, run_options) == (
        "elmbench run kos-elm/table4 --profile fast -d wdbc -m elm -m k-elm --select nested --runs "
        "2 "
        "--reading order=stored --blas-threads 2 --limit time=3s --with-baselines"
    )


def test_a_reading_that_no_table_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="no reading 'mg-noise'"):
        prepare_run(options("table4", readings={"mg-noise": "0"}), tmp_path)
    # Of several tables, those that have it take it.
    run = prepare_run(options("table4", "table6", readings={"mg-noise": "0"}), tmp_path)
    assert [resolved.reading for resolved, _ in run.tables] == ["", "mg-noise=0"]


# --- Data sets and tables of a user's own
# -----------------------------------------------------------------------------

TABLE: dict[str, Any] = {
    "datasets": ["my-notes"],
    "protocol": {
        "scale": {"range": [0, 1]},
        "outer": {"kind": "stratified-kfold", "folds": 3},
        "inner": {"kind": "kfold", "folds": 2},
        "select": "nested",
        "metrics": ["mcc"],
    },
    "models": {"Mine": {"model": "ridge", "search": {"C": [1, 8]}}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    (tmp_path / "rows").mkdir()
    frame = pd.DataFrame(random.normal(size=(40, 3)), columns=list("abc")).assign(
        forged=["yes", "no"] * 20
    )
    frame.to_csv(tmp_path / "rows" / "my-notes.csv", index=False)
    entry = {
        "sources": [{"kind": "file", "path": "rows/my-notes.csv", "target": "forged"}]
    }
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump({"my-notes": entry}))
    (tmp_path / "my-table.yaml").write_text(yaml.safe_dump(TABLE))
    return tmp_path


def cells(name: str, results: Path, **request: Any) -> set[tuple[str, str]]:
    run = prepare_run(
        RunOptions(experiments=(name,), profile="fast", request=RunRequest(**request)),
        results,
    )
    assert not any(cell.unavailable for _, plan in run.tables for cell in plan.cells)
    return {(cell.dataset, cell.model) for _, plan in run.tables for cell in plan.cells}


def test_a_folder_of_data_sets_and_tables(folder: Path, tmp_path: Path) -> None:
    add_spec_dir(folder)
    spec = load_dataset_specs().find("my-notes")
    assert (spec.task, spec.shape.instances, spec.positive) == (
        "classification",
        40,
        ("yes",),
    )
    assert load_dataset("my-notes").X.shape == (40, 3)
    for name in ("own/my-table", str(folder / "my-table.yaml")):
        assert cells(name, tmp_path) == {("my-notes", "Mine")}
    console = Console(file=io.StringIO(), width=400)
    console.print(experiment_text(find_experiment("own/my-table")))
    shown = console.file.getvalue()
    assert str(folder / "my-table.yaml") in shown
    assert "doi:" not in shown
    # Any data set of any table whose task fits.
    pairs = cells("table4", tmp_path, datasets=("my-notes",), models=("ELM", "K-ELM"))
    assert pairs == {("my-notes", "ELM"), ("my-notes", "K-ELM")}
    add_spec_dir(folder)  # a second time, as two calls from Python do


@pytest.mark.parametrize("target", ["forged", 3])
def test_a_file_is_read_by_the_options_of_its_data_set(
    folder: Path, target: str | int
) -> None:
    source = {
        "kind": "file",
        "path": "rows/my-notes.csv",
        "target": target,
        "drop": ["b"],
    }
    (folder / "datasets.yaml").write_text(
        yaml.safe_dump({"my-notes": {"sources": [source]}})
    )
    add_spec_dir(folder)
    assert load_dataset("my-notes").feature_names == ("a", "c")
    whole = {
        "sources": [source | {"drop": []}],
        "title": "Bank notes", "task": "classification", "citation": "mine", "positive": ["no"],
        "shape": {"instances": 41, "features": 3, "classes": {"yes": 20, "no": 21}},
    }  # fmt: skip
    (folder / "datasets.yaml").write_text(yaml.safe_dump({"my-notes": whole}))
    add_spec_dir(folder)
    with pytest.raises(ElmbenchError, match="40 rows") as caught:
        load_dataset("my-notes")
    assert "41 rows" in str(caught.value.expected)
    for entry in (whole, {}):
        null = {"my-notes": entry | {"sources": [source | {"target": None}]}}
        (folder / "datasets.yaml").write_text(yaml.safe_dump(null))
        with pytest.raises(
            ElmbenchError, match=r"my-notes\.sources\.0\.target' is None"
        ):
            add_spec_dir(folder)
    typo = {"my-notes": {"sources": [source], "task": "regresion"}}
    (folder / "datasets.yaml").write_text(yaml.safe_dump(typo))
    with pytest.raises(
        ElmbenchError,
        match=r"datasets\.yaml: 'my-notes\.task' is 'regresion': expected",
    ):
        add_spec_dir(folder)


def test_a_data_set_of_a_file_may_have_held_out_rows_and_missing_values(
    folder: Path,
) -> None:
    frame = pd.read_csv(folder / "rows" / "my-notes.csv")
    frame.loc[3, "a"] = np.nan
    frame[:30].to_csv(folder / "rows" / "my-notes.csv", index=False)
    frame[30:].to_csv(folder / "rows" / "new.csv", index=False)
    source = {
        "kind": "file",
        "path": "rows/my-notes.csv",
        "target": "forged",
        "test": "rows/new.csv",
    }
    entry = {"by_fold": True, "positive": ["no"], "sources": [source]}
    (folder / "datasets.yaml").write_text(yaml.safe_dump({"my-notes": entry}))
    add_spec_dir(folder)
    data = load_dataset("my-notes")
    assert "; the positive class is no; " in data.notes[0]
    assert [len(rows) for rows in data.splits.values()] == [30, 10]
    assert np.isnan(data.X.iloc[3, 0])


def test_a_folder_of_a_paper(folder: Path, tmp_path: Path) -> None:
    paper = folder / "experiments" / "mine"
    paper.mkdir(parents=True)
    (paper / "paper.yaml").write_text(
        yaml.safe_dump(
            {"key": "mine", "title": "T", "authors": "A", "year": 2020, "doi": "x"}
        )
    )
    (paper / "table1.yaml").write_text(
        yaml.safe_dump(TABLE | {"id": "mine/table1", "label": "I", "title": "t"})
    )
    add_spec_dir(folder)
    assert find_experiment("mine/table1").paper.authors == "A"
    assert cells("mine/table1", tmp_path) == {("my-notes", "Mine")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"models": {"Mine": {"modle": "ridge"}}},
            r"my-table.yaml: unknown key 'models.Mine.modle'",
        ),
        ({"aliases": ["table4"]}, "the name 'table4' is taken by .*table4.yaml"),
        ({"readings": ["order"]}, "unknown reading 'order'"),
        ({"id": "kos-elm/table4"}, "is taken by .*table4.yaml"),
        ({"based-on": "datasets"}, "based on 'datasets'(?s:.*)of which there is none"),
        ({"datasets": ["my-notse"]}, "my-table.yaml: unknown data set 'my-notse'"),
        ({"models": {True: {"model": "ridge"}}}, "'models.1' is True: expected text"),
    ],
)
def test_tables_of_users_are_validated_like_those_of_the_suite(
    folder: Path, change: dict[str, Any], message: str
) -> None:
    (folder / "my-table.yaml").write_text(yaml.safe_dump(TABLE | change))
    with pytest.raises(ElmbenchError, match=message):
        cells(str(folder / "my-table.yaml"), folder)


def test_missing_folders_and_files_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="nowhere does not exist"):
        add_spec_dir(tmp_path / "nowhere")
    with pytest.raises(ElmbenchError, match="holds no specs"):
        add_spec_dir(folder / "rows")
    with pytest.raises(ElmbenchError, match=r"cannot read .*other\.yaml"):
        add_table(folder / "other.yaml")


def test_a_data_set_may_have_a_name_of_the_suite(folder: Path, tmp_path: Path) -> None:
    text = (folder / "datasets.yaml").read_text()
    (folder / "datasets.yaml").write_text(text.replace("my-notes:", "wdbc:", 1))
    (folder / "my-table.yaml").write_text(
        yaml.safe_dump(TABLE | {"datasets": ["wdbc"]})
    )
    add_spec_dir(folder)
    own = resolve(find_experiment("own/my-table"), "paper").dataset("wdbc")
    of_suite = resolve(find_experiment("table4"), "paper").dataset("wdbc")
    assert (own.shape.instances, of_suite.shape.instances) == (40, 569)
    assert load_dataset("wdbc").X.shape == (40, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": {"Mine": {"model": "rigde"}}}, "unknown model 'rigde'"),
        ({"layout": "learning-curves"}, "unknown kind of table 'learning-curves'"),
        (
            {"protocol": TABLE["protocol"] | {"metrics": ["cost"]}},
            "unknown metric 'cost'",
        ),
        (
            {"datasets": ["far-away"]},
            "the data set far-away: .*unknown kind of source 'my-lab'",
        ),
    ],
)
def test_a_table_without_its_plug_in_blocks_itself_alone(
    folder: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    content = yaml.safe_load((folder / "datasets.yaml").read_text())
    content |= {"far-away": {"sources": [{"kind": "my-lab"}]}}
    (folder / "datasets.yaml").write_text(yaml.safe_dump(content))
    (folder / "second.yaml").write_text(yaml.safe_dump(TABLE | change))
    remarks: list[str] = []
    add_specs([folder], None, remarks.append)
    (remark,) = remarks
    assert remark.startswith("left out: own/second: ")
    assert cells("own/my-table", tmp_path) == {("my-notes", "Mine")}
    with pytest.raises(ElmbenchError, match=message):
        find_experiment("own/second")
    with pytest.raises(ElmbenchError, match=message):
        validate_specs()
