"""`elmbench run`: what it asks for, prints, writes and exits with."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest
from rich.progress import Progress
from sentences import sentence

from elmbench.cli.progress import duration
from elmbench.errors import ElmbenchError
from elmbench.execution.executors import Settings
from elmbench.execution.executors.local import LocalExecutor
from elmbench.runs import prepare as prepare_module
from elmbench.runs.prepare import RunOptions, prepare_run
from elmbench.specs.limits import parse_limits
from elmbench.tasks.plan import RunRequest

CI = ("run", "one", "--profile", "ci")


def cells(
    folder: str | Path = "elmbench-results", table: str = "ci/toy/one"
) -> pd.DataFrame:
    return pd.read_csv(
        Path(folder) / table / "cells.csv", keep_default_na=False, na_values=[""]
    )


def test_a_real_run_prints_and_writes_the_table(elmbench: Callable, real: Path) -> None:
    # Everything is known, so this is what the run before has printed too.
    words = "run table4 --profile ci -m elm -m k-elm --results-dir"
    result = elmbench(*words.split(), real)
    assert "Table IV" in result.out
    assert "0.93±0.012" in result.out
    assert f"written to {real}/ci/kos-elm/table4" in result.out.replace("\n", "")
    for table, names in [
        ("table4", {"ELM", "K-ELM"}),
        ("table7", {"ELM", "K-ELM"}),
        ("table2", {"data"}),
    ]:
        folder = real / "ci" / "kos-elm" / table
        files = {p.name for p in folder.iterdir()} - (
            {"claims.csv"} if table == "table4" else set()
        )
        assert files == {"cells.csv", "environment.json", "summary.csv", "table.md"}
        lines = cells(real, f"ci/kos-elm/{table}")
        assert set(lines["model"]) == names
        assert set(lines["status"]) == {"ok"}
        command = f"elmbench run kos-elm/{table} --profile ci -d wdbc -m elm -m k-elm"
        assert (
            command in json.loads((folder / "environment.json").read_text())["commands"]
        )
        assert f"    {command}\n" in (folder / "table.md").read_text()


def test_no_worker_starts_if_all_cells_are_stored(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    starts: list[str] = []
    worker["warm"] = lambda: starts.append("now")
    elmbench(*CI)
    elmbench("run", "toy/one", "--profile", "ci")
    elmbench("run", "--all", "--profile", "ci")
    assert starts == ["now"]
    # It has no results that may be stored.
    elmbench("run", "--paper", "other", "--profile", "ci", code=2)
    assert starts == ["now"] * 2


def test_no_written_file_holds_a_path_of_this_machine(
    elmbench: Callable, toy: Callable, worker: dict
) -> None:
    toy(datasets=["wdbc", "sylva"])
    worker["k-elm"] = {
        "status": "failed",
        "reason": f"OSError: cannot read '{Path.home()}/secret/model.bin'",
    }
    elmbench(
        "run", "one", "--profile", "paper", "--data-dir", Path().resolve(), "-q", code=1
    )
    files = [
        path for path in Path("elmbench-results/paper").rglob("*") if path.is_file()
    ]
    assert len(files) == 4
    folders = {
        str(Path().resolve()),
        str(Path(__file__).parents[2]),
        str(Path.home()),
        sys.prefix,
    }
    for path in files:
        text = path.read_text()
        assert [folder for folder in folders if folder in text] == []
    assert ".../model.bin" in (files[0].parent / "cells.csv").read_text()
    assert (
        "the data set 'sylva' is not here" in (files[0].parent / "table.md").read_text()
    )


def test_options_choose_the_cells_of_a_run(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    elmbench(*CI)
    cells_of_run = cells()
    assert cells_of_run.groupby("model").size().to_dict() == {
        "ELM": 3,
        "K-ELM": 3,
        "OS-ELM": 3,
        "FB-KOS-ELM": 3,
    }
    assert set(cells_of_run["select"]) == {"nested"}
    elmbench(
        *CI, "-m", "ELM", "-d", "wdbc,WDBC", "--runs", 2, "--select", "oracle, nested"
    )
    elm = cells()[cells()["model"] == "ELM"]
    assert elm.groupby(["select", "run"]).size().to_dict() == {
        ("nested", 0): 3, ("nested", 1): 3, ("oracle", 0): 3, ("oracle", 1): 3,
    }  # fmt: skip
    elmbench(*CI, "-m", "svm", "--reading", "order=stored", "--metric", "f1")
    svm = cells()[cells()["model"] == "svm"]
    assert svm["reading"].tolist() == ["order=stored"] * 3
    commands = json.loads(
        Path("elmbench-results/ci/toy/one/environment.json").read_text()
    )["commands"]
    assert commands == [
        "elmbench run toy/one --profile ci",
        "elmbench run toy/one --profile ci -d wdbc -d WDBC -m ELM --select oracle --select nested "
        "--runs 2",
        "elmbench run toy/one --profile ci -m svm --reading order=stored --metric f1",
    ]


@pytest.mark.usefixtures("worker")
def test_every_option_reaches_the_plan(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = Mock(side_effect=ElmbenchError("stop", next_step="nothing"))
    monkeypatch.setattr(prepare_module, "prepare_run", stop)
    words = """one two --paper p --profile ci -d a -d b -m x -m y --select oracle --select nested --runs 4
        --reading order=stored --metric f1,roc_auc --grid 'x: {C: [1]}' --with-baselines --other-data --jobs 2
        --blas-threads 3 --limit time=5s --retry --force --data-dir here"""
    elmbench("run", *shlex.split(words), code=2)
    options, _ = stop.call_args.args
    request = RunRequest(
        ("a", "b"), ("x", "y"), ("oracle", "nested"), runs=4, with_baselines=True, other_data=True,
        grids={"x": {"C": [1]}},
    )  # fmt: skip
    memory = LocalExecutor(Settings(jobs=2)).memory
    assert options == RunOptions(
        ("one", "two"), "p", profile="ci", readings={"order": "stored"}, metrics=("f1", "roc_auc"),
        request=request,
        settings=Settings(2, "here", (), 3, parse_limits("time=5s"), memory), retry=True,
        force=True,
    )  # fmt: skip


@pytest.mark.usefixtures("one", "worker")
@pytest.mark.parametrize("terminal", ["xterm", "dumb"])
def test_a_terminal_shows_a_bar_of_the_cells(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch, terminal: str
) -> None:
    updates: list[dict] = []
    update = Progress.update
    monkeypatch.setattr(
        Progress,
        "update",
        lambda bar, task, **how: updates.append(how) or update(bar, task, **how),
    )
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", terminal)
    result = elmbench(*CI)
    texts = [how["description"] for how in updates if "description" in how]
    if terminal == "dumb":  # it has lines, at most one in five seconds
        assert not texts
        assert "%, " in result.err or "12 cells in" in result.err
    else:
        assert texts[0].startswith("0/12 cells, ")
        assert texts[-1].startswith("12/12 cells, ")
        assert all("; toy/one: " in text and " left" in text for text in texts)


def test_stored_results_are_not_computed_again(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    ran: list[str] = []
    worker["elm"] = lambda unit: ran.append(unit["kind"]) or {}
    first = elmbench(*CI, "-m", "elm")
    assert "3 cells to run" in first.out
    assert sorted(ran) == ["cell"] * 3 + ["search"] * 3
    again = elmbench(*CI, "-m", "elm", "-m", "k-elm")
    assert "3 cells to run on 1 worker; 3 are stored" in again.out
    assert len(ran) == 6
    elmbench(*CI, "-m", "elm", "--force")
    assert len(ran) == 12


def test_cells_that_did_not_end_ok_run_again_with_retry(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    worker["elm"] = lambda unit: (
        {"status": "diverged", "reason": "no"} if unit["kind"] == "cell" else {}
    )
    elmbench(*CI, "-m", "elm")
    worker.clear()
    elmbench(*CI, "-m", "elm")
    assert set(cells()["status"]) == {"diverged"}
    elmbench(*CI, "-m", "elm", "--retry")
    assert set(cells()["status"]) == {"ok"}


def test_the_traceback_of_a_failed_cell_is_shown_on_demand(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    worker["k-elm"] = {
        "status": "failed",
        "reason": "ValueError: no",
        "traceback": "Traceback: mine.py, line 7",
    }
    result = elmbench(*CI, code=1)
    assert "--debug the traceback" in result.err
    assert (
        sentence(
            "cli.run.cells-failed",
            cells=3,
            reason="ValueError: no",
            dataset="wdbc",
            model="K-ELM",
        )
        in result.err
    )
    assert "line 7" not in result.err
    assert elmbench("--debug", *CI, code=1).err.count("mine.py, line 7") == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [("failed", 1), ("timeout", 0), ("out-of-memory", 0), ("diverged", 0), ("ok", 0)],
)
def test_a_run_exits_with_1_only_if_cells_failed(
    elmbench: Callable, one: Path, worker: dict, status: str, code: int
) -> None:
    worker["elm"] = lambda unit: (
        {"status": status, "reason": "> 5 s"} if unit["kind"] == "cell" else {}
    )
    result = elmbench(*CI, "-m", "elm", "-m", "k-elm", code=code)
    assert result.err.count("cells failed") == code
    # One failure does not stop the others, and stays as it is when nothing is run again.
    assert set(cells()[cells()["model"] == "K-ELM"]["status"]) == {"ok"}
    elmbench(*CI, "-m", "elm", code=code)
    elmbench(*CI, "-m", "k-elm")


@pytest.mark.parametrize(
    ("declared", "given", "fit", "search"),
    [
        ({"limit": "time=600s"}, "", 600, 600),
        ({"limit": "time=600s", "search-limit": "time=2h"}, "", 600, 7200),
        ({"search-limit": "time=2h"}, "", None, 7200),
        ({"limit": "time=600s", "search-limit": "time=2h"}, "time=5s", 5, 5),
    ],
)
def test_limits_of_fits_and_of_searches(
    elmbench: Callable,
    toy: Callable,
    worker: dict,
    declared: dict,
    given: str,
    fit: float,
    search: float,
) -> None:
    toy(**declared)
    options = RunOptions(
        ("one",), profile="ci", settings=Settings(limits=parse_limits(given))
    )
    run = prepare_run(options, Path("elmbench-results"))
    seconds = {(task.kind, run.limits[key].seconds) for key, task in run.tasks.items()}
    assert seconds == {("cell", fit), ("search", search)}


def test_a_run_prints_only_its_own_models_and_readings(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    elmbench(*CI, "-m", "elm", "--reading", "order=stored")
    first = elmbench(*CI, "-m", "elm").out
    second = elmbench(*CI, "-m", "k-elm")
    values, of_second = (text.partition("\n- ")[0] for text in (first, second.out))
    assert "K-ELM" not in values
    assert "reading order=stored" not in values
    assert "K-ELM" in of_second
    assert "FB-KOS-ELM" not in of_second
    assert sentence("cli.run.next-whole-table", table="toy/one") in second.out
    assert set(cells()["model"]) == {"ELM", "K-ELM"}


def test_a_table_prints_the_default_readings(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    def printed(*options: str) -> str:
        return " ".join(
            elmbench("table", "one", "--profile", "ci", *options).out.split()
        )

    elmbench(*CI, "-m", "elm", "--reading", "order=stored")
    # There is nothing else to print.
    assert "reading order=stored" in printed()
    elmbench(*CI, "-m", "elm")
    assert "reading order=stored" not in printed()
    assert printed().endswith("1 other reading: --readings")
    assert "reading order=stored" in printed("--readings")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--runs", "x"), "'--runs': expected a whole number"),
        (("--blas-threads", "0"), "'--blas-threads': expected a number of at least 1"),
        (("-m", "rf"), "did you mean 'random-forest'?"),
        (("-m", "xgboost"), "Next: -m xgboost:XGBClassifier"),
    ],
)
def test_errors_of_a_run_name_the_command_to_type(
    elmbench: Callable, one: Path, worker: dict, words: tuple[str, ...], message: str
) -> None:
    assert message in elmbench(*CI, *words, code=2).err


def test_absent_data_are_no_failure(
    elmbench: Callable, toy: Callable, worker: dict
) -> None:
    toy(datasets=["wdbc", "sylva"])
    result = elmbench(*CI)
    endings = cells().groupby("dataset")["status"].unique().map(list).to_dict()
    assert endings == {"wdbc": ["ok"], "sylva": ["unavailable"]}
    assert sentence("cli.run.data-set-unavailable", dataset="sylva") in result.out


def test_a_run_without_any_data_writes_nothing(
    elmbench: Callable, toy: Callable, worker: dict
) -> None:
    toy(datasets=["sylva"])
    result = elmbench(*CI, code=2)
    assert result.err.startswith(
        sentence("cli.run.no-data", table="toy/one", dataset="sylva")
    )
    assert "Next: " in result.err
    assert not Path("elmbench-results").exists()
    assert "12 without data" in elmbench(*CI, "--dry-run").out.replace("\n", " ")


def test_a_bad_data_file_is_an_error(
    elmbench: Callable, toy: Callable, worker: dict, tmp_path: Path
) -> None:
    toy(datasets=["sylva"])
    (tmp_path / "sylva.csv").write_text("a,b\n1,2\n")
    result = elmbench(*CI, "--data-dir", tmp_path, code=2)
    assert result.out == ""
    assert "sylva.csv" in result.err
    assert not Path("elmbench-results").exists()


def test_other_data_are_refused_or_marked_everywhere(
    elmbench: Callable, toy: Callable, worker: dict, tmp_path: Path
) -> None:
    toy(datasets=["wdbc"])
    header = ",".join([*(f"V{index}" for index in range(30)), "target"])
    noise = [
        ",".join([*(f"{(i * p) % 97}" for p in range(3, 33)), "MB"[i < 357]])
        for i in range(569)
    ]
    (tmp_path / "wdbc.csv").write_text("\n".join([header, *noise]))
    words = (*CI, "--data-dir", tmp_path)
    refused = elmbench(*words, code=2)
    assert refused.out == ""
    assert (
        sentence(
            "datasets.fingerprint.other-data-than-public-file",
            file="wdbc.csv",
            dataset="wdbc",
        )
        in refused.err
    )
    assert "--other-data" in refused.err
    assert not Path("elmbench-results").exists()
    result = elmbench(*words, "--other-data")
    other = "wdbc.csv is other data than the public file"
    guessed = sentence(
        "datasets.fingerprint.labels-guessed-by-size",
        first="B",
        first_is=1,
        second="M",
        second_is=2,
    )
    folder = Path("elmbench-results/ci/toy/one")
    for text in (
        result.out,
        elmbench("table", "one", "--profile", "ci").out,
        (folder / "table.md").read_text(),
    ):
        assert other in " ".join(text.split())
        assert guessed in " ".join(text.split())
    for name in ("cells.csv", "summary.csv"):
        assert pd.read_csv(folder / name)["data"].str.contains(other).all()
    record = json.loads((folder / "environment.json").read_text())
    assert other in record["remarks"]["wdbc"]
    assert guessed in record["remarks"]["wdbc"]
    assert record["commands"][0].endswith("--other-data")
    # The public rows leave nothing of it.
    elmbench(*CI)
    assert "data" not in pd.read_csv(folder / "cells.csv").columns
    assert "remarks" not in json.loads((folder / "environment.json").read_text())


def test_a_dry_run_lists_the_work_and_writes_nothing(
    elmbench: Callable, toy: Callable, worker: dict
) -> None:
    toy(datasets=["wdbc", "sylva"])
    result = elmbench("run", "one", "--profile", "paper", "--dry-run", "--jobs", 2)
    assert "24 of 48 cells would run" in result.out
    assert sentence("cli.run.plan-summary", workers=2, without_data=24) in " ".join(
        result.out.split()
    )
    assert not Path("elmbench-results").exists()
    shown = elmbench("run", "one", "--profile", "paper", "--dry-run", "--json").json
    assert shown["total"].pop("longest") > 0
    assert shown["total"] | {"seconds": 0} == {
        "planned": 48, "to_run": 24, "unavailable": 24, "jobs": 1, "seconds": 0, "unknown": [],
    }  # fmt: skip
    elm = shown["tables"][0]
    assert (elm["experiment"], elm["dataset"], elm["model"], elm["cells"]) == (
        "toy/one",
        "wdbc",
        "ELM",
        6,
    )
    # Six searches of 2 x 2 candidates on two inner folds, and six fits.
    assert elm["fits"] == 6 * 8 + 6
    assert elm["seconds"] > 0
    lines = elmbench(
        "run", "one", "--profile", "paper", "--dry-run", "-q"
    ).out.splitlines()
    assert " ".join(lines[0].split()) == sentence("cli.run.plan-headings")
    assert "would run" not in "".join(lines)


def test_a_plan_of_several_experiments_has_a_line_for_each(elmbench: Callable) -> None:
    lines = elmbench(
        "run", "table2", "table4", "--profile", "paper", "--dry-run", "-q"
    ).out.splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(lines[0].split()) == "experiment cells to run fits one core"
    assert [line.split()[0] for line in lines[2:]] == [
        "kos-elm/table2",
        "kos-elm/table4",
    ]
    one = elmbench("run", "table4", "--profile", "paper", "--dry-run", "--json").json[
        "tables"
    ]
    assert lines[3].split()[1] == str(sum(line["cells"] for line in one))
    # The data of one of them are not here.
    assert lines[3].endswith(" " + duration(sum(line["seconds"] for line in one)))
    # The time of the others is shown beside a model without a formula.
    out = elmbench(
        "run", "table3", "table4", "--with-baselines", "--profile", "ci", "--dry-run"
    ).out
    lines = [line for line in out.splitlines() if line.startswith("kos-elm/")]
    assert [line.split()[-3] for line in lines] == [">", ">"]
    assert "Not counted: svm" in out


def test_a_dry_run_names_missing_data_sets(
    elmbench: Callable, toy: Callable, worker: dict
) -> None:
    toy(datasets=["wdbc", "sylva"])
    lines = elmbench(
        "run", "one", "--dry-run", "-q", "--profile", "paper"
    ).out.splitlines()
    assert [line.endswith(" no data") for line in lines[2:]] == [False] * 4 + [True] * 4


def test_quiet_prints_nothing_but_results(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    loud, quiet = (elmbench(*CI, "--force", *words) for words in ((), ("-q",)))
    assert "cells to run" in loud.out
    assert "written to" in loud.out
    assert "12 ok" in loud.err
    assert quiet.err == ""
    assert quiet.out.startswith("\nTable I: Something\n")
    assert quiet.out.strip() in loud.out
    assert "cells to run" not in quiet.out
    assert "written to" not in quiet.out


def test_json_is_all_that_is_printed(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    result = elmbench(*CI, "--json")
    assert result.err == ""
    (entry,) = result.json
    assert entry["folder"] == "elmbench-results/ci/toy/one"
    assert entry["cells"] == {"ok": 12}
    line = entry["summary"][0]
    assert (line["dataset"], line["model"], line["metric"], line["mean"]) == (
        "wdbc",
        "ELM",
        "mcc",
        0.92,
    )
    assert (line["published"], line["published_std"], line["std"]) == (0.92, 0.01, None)
    assert line["verdict"] == "too few runs"
    assert "published MCC of wdbc K-ELM: a doubt" in entry["notes"]
