"""`elmbench compare`: what it asks for, prints, writes and exits with."""

import os
import re
import shlex
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import joblib
import pandas as pd
import pytest
from filelock import lock_descriptor
from made_cells import predictions, predictions_of_fit
from rich.console import Console
from sentences import sentence

from elmbench.cli import progress
from elmbench.comparison import request as comparison
from elmbench.comparison.request import ComparisonRequest
from elmbench.datasets.user_data import UserData
from elmbench.errors import ElmbenchError
from elmbench.execution.executors import Settings
from elmbench.report import update_tables
from elmbench.report.result_files import rewrite_results
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.limits import parse_limits


def test_a_file_becomes_a_table(elmbench: Callable, worker: dict, shop: Path) -> None:
    words = (
        "compare",
        shop.name,
        "-t",
        "buys",
        "-m",
        "ridge,k-elm",
        "-m",
        "elm",
        "--folds",
        "3",
    )
    result = elmbench(*words)
    assert "classification, 2 classes of the column 'buys'" in result.out.replace(
        "\n", " "
    ).replace("  ", " ")
    assert "Comparison: shop.csv" in result.out
    assert "published" not in result.out
    assert "next: elmbench compare" in result.out
    (folder,) = Path("elmbench-results/compare/own").iterdir()
    assert folder.name.startswith("shop-")
    cells = pd.read_csv(folder / "cells.csv")
    assert set(cells["model"]) == {"elm", "k-elm", "ridge", "dummy"}
    assert len(cells) == 12
    # A command stays on one line, so that it can be copied.
    text, _, _ = result.out.partition("next: ")
    assert max(map(len, text.splitlines())) <= 80
    again = elmbench(*words).out
    assert "to run" not in again
    table, _, notes = elmbench("table", "own/shop").out.strip().partition("\n- shop: ")
    assert table in again
    assert "classification, 2 classes" in notes
    # The remarks on the data stand above the table only.
    assert again.count("classification, 2 classes") == 1
    alone = elmbench("table", "own/shop", "--statistics", code=2)
    assert alone.err.endswith("Next: elmbench compare FILE ... --name shop\n")
    assert f"own/{folder.name}" in elmbench("status").out
    assert elmbench("status", "own/shop").out == elmbench("status").out
    for name in ("own/shop", f"own/{folder.name}"):
        assert elmbench("table", name, "--update").out == f"written to {folder}\n"


def test_different_data_never_share_a_folder_of_results(
    elmbench: Callable, worker: dict, shop: Path
) -> None:
    """Files of one name, and one file that is read in two ways; equal rows share their results."""
    Path("may").mkdir()
    may = Path("may/shop.csv")
    may.write_text(shop.read_text().replace("green", "black"))
    calls = [(shop,), (may,), (shop, "--drop", "day"), (shop, "-t", "colour"), (shop,)]
    for words in (*calls, (may, "--name", "may"), (shop, "--name", "may")):
        elmbench("compare", *words, "-m", "dummy", "--folds", "3")
    folders = sorted(Path("elmbench-results/compare/own").iterdir())
    assert [folder.name.rpartition("-")[0] for folder in folders] == ["may"] * 2 + [
        "shop"
    ] * 4
    for folder in folders:
        assert "dummy" in elmbench("table", f"own/{folder.name}").out
    error = " ".join(elmbench("table", "own/shop", code=2).err.split())
    assert (
        sentence(
            "cli.compare.name-of-several-comparisons", name="own/shop", comparisons=4
        )
        in error
    )
    assert all(f"own/{folder.name} (" in error for folder in folders[2:])
    assert str(may.resolve()) in error
    shutil.copytree("may", "june")
    elmbench("compare", "june/shop.csv", "-m", "dummy", "--folds", "3")
    assert sorted(Path("elmbench-results/compare/own").iterdir()) == folders


def test_no_other_command_writes_a_table_while_it_is_updated(
    elmbench: Callable, worker: dict, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elmbench("compare", shop, "-t", "buys", "-m", "dummy", "--folds", "3")
    got_lock: list[bool] = []

    def rewrite(*arguments: Any) -> Any:
        descriptor = os.open("elmbench-results/.store/tables.lock", os.O_RDWR)
        got_lock.append(lock_descriptor(descriptor, blocking=False))
        os.close(descriptor)
        return rewrite_results(*arguments)

    monkeypatch.setattr(update_tables, "rewrite_results", rewrite)
    elmbench("table", "own/shop", "--update")
    assert got_lock == [False]


def test_several_data_sets_are_compared_by_ranks_without_the_dummy(
    elmbench: Callable, worker: dict, shop: Path
) -> None:
    for name in ("a.csv", "b.csv"):
        shutil.copy(shop, name)
    # The more accurate model has no correlation.
    worker["elm"] = {"predictions": predictions([0] * 19 + [1], [0] * 20)}
    words = "compare a.csv b.csv -t buys -m elm,ridge --folds 3 --html page.html"
    result = elmbench(*words.split())
    assert "measured: 2 models on 2 data sets" in result.out
    lines = [line.split() for line in result.out.partition("win rate")[2].splitlines()]
    assert lines[2][:4] == ["elm", "1.00", "100", "%"]
    assert lines[3][:5] == ["ridge", "2.00", "0", "%", "2/0/0"]
    assert "written to page.html" in result.out
    assert ">100 %</td>" in Path("page.html").read_text()
    elmbench("table", "own/a-b", "--diagram", "ranks.pdf")
    assert Path("ranks.pdf").read_bytes().startswith(b"%PDF")
    assert (
        "ranks.jpg: unknown kind of picture"
        in elmbench("table", "own/a-b", "--diagram", "ranks.jpg", code=2).err
    )
    (by_mcc,) = elmbench(
        "table", "own/a-b", "--statistics", "--metric", "mcc", "--json"
    ).json
    assert by_mcc["ranks"] == {"ridge": 1.0, "elm": 2.0}


@pytest.mark.parametrize("models", ["ridge,elm", "elm,ridge"])
def test_the_saved_one_of_equal_models_is_not_the_one_that_is_named_first(
    elmbench: Callable, worker: dict, shop: Path, models: str
) -> None:
    words = ("compare", shop, "-t", "buys", "-m", models, "--folds", "3")
    out = " ".join(elmbench(*words, "--save", "best.joblib").out.split())
    assert sentence("cli.compare.saved-tied-model", rows=60) in out
    assert "Its probabilities are calibrated on inner folds" in out
    assert "next: elmbench predict best.joblib NEW.csv --proba" in out
    saved = joblib.load("best.joblib")["model"]
    assert type(saved.estimator_).__name__ == "ELMClassifier"
    order = "ties are ordered by the better balanced_accuracy"
    assert f"- shop: same mean accuracy: elm, ridge; {order}" in out
    assert out.index("elm 0.9") < out.index("ridge 0.9")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_of_files_that_are_not_utf_8(
    elmbench: Callable, worker: dict, shop: Path
) -> None:
    data, model, page = (
        os.fsdecode(b"caf\xe9") + ending for ending in (".csv", ".joblib", ".html")
    )
    shutil.copy(shop, data)
    words = ("compare", data, "-t", "buys", "-m", "ridge", "--folds", "2")
    elmbench(*words, "--save", model, "--html", page)
    (table,) = Path("elmbench-results/compare").rglob("table.md")
    assert r"# Comparison: caf\udce9.csv" in table.read_text("utf-8")
    assert r"caf\udce9.csv" in Path(page).read_text("utf-8")
    assert elmbench("predict", model, data).out.count("\n") == 61
    assert "to run" not in elmbench(*words).out
    assert len(elmbench("--json", *words).json) == 1


def test_a_safe_file_without_skops_is_an_error_before_the_work(
    elmbench: Callable, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elmbench.comparison.saved_models.find_spec", lambda name: None)
    err = elmbench("compare", shop, "--save", "best.skops", code=2).err
    assert sentence("cli.compare.skops-not-installed", file="best.skops") in err
    assert not Path("elmbench-results").exists()
    Path("best.skops").write_bytes(b"")
    assert (
        "pip install 'elmbench[skops]'"
        in elmbench("predict", "best.skops", shop, code=2).err
    )


def test_a_saved_model_comes_with_a_command_that_can_be_pasted(
    elmbench: Callable, worker: dict, shop: Path
) -> None:
    rows = pd.read_csv(shop)
    rows.assign(buys=rows["buys"].where(rows["colour"] == "red", None)).to_csv(
        shop, index=False
    )
    words = [
        "compare",
        shop,
        "-t",
        "buys",
        "--drop-missing-target",
        "--test",
        shop,
        "-m",
    ]
    result = elmbench(*words, "dummy", "--save", "dummy.joblib")
    assert "rows without a target, left out: 30 of 60" in result.out
    assert "1 cell to run on 1 worker" in result.out
    fitted = sentence(
        "cli.compare.saved-without-held-out-rows", rows=30, data="shop.csv", held_out=30
    )
    assert fitted in " ".join(result.out.split())
    assert result.err.startswith("1 cell in ")
    # Before any work.
    assert (
        "cannot write shop.csv/best.joblib"
        in elmbench(*words, "elm", "--save", shop / "best.joblib", code=2).err
    )
    assert "own/shop elm" not in elmbench("table", "own/shop").out
    (written,) = Path("elmbench-results/compare").rglob("environment.json")
    os.utime(written, (2**32, 2**32))  # the clock is set back after this run
    result = elmbench(*words, "ridge", "--save", "my model.joblib")
    assert "ridge" in result.out
    assert "elmbench predict 'my model.joblib' NEW.csv" in " ".join(result.out.split())


@pytest.mark.parametrize("columns", ["60", "80"])
def test_headings_are_unbroken_and_above_one_metric_each(
    elmbench: Callable,
    worker: dict,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    columns: str,
) -> None:
    frame = pd.read_csv(shop)
    frame.assign(age2=frame["age"] * 2).drop(columns="buys").to_csv(
        "ages.csv", index=False
    )
    monkeypatch.setenv("COLUMNS", columns)
    worker["elm"] = lambda unit: (
        {"predictions": predictions_of_fit(unit, 0.5)}
        if unit.get("task") == "regression"
        else {}
    )
    result = elmbench(
        "compare",
        "shop.csv",
        "ages.csv",
        "-m",
        "elm,hist-gradient-boosting",
        "--folds",
        "3",
        "-t",
        "",
    )
    # A command that is pasted is not wrapped.
    wrapped = [
        line for line in result.out.splitlines() if not line.startswith("picture: ")
    ]
    assert max(map(len, wrapped)) <= int(columns)
    for heading in (
        "model",
        "accuracy",
        "nrmse",
        "rank",
        "fit s",
        "search s",
        "size",
        "auc",
    ):
        assert any(
            heading in line.lower()
            for line in result.out.splitlines()
            if "─" not in line
        ), heading
    assert "/ nrmse" not in result.out.lower()
    assert "hist-gradient-boosting" in result.out


def test_predictions_for_fewer_rows_than_a_fold_has_are_refused(
    elmbench: Callable, worker: dict, shop: Path
) -> None:
    """Records of earlier versions name no rows: their predictions are for all rows of the fold."""
    worker["elm"] = lambda unit: {
        "predictions": predictions([0, 1], [0, 1]),
        "n_test": 2,
    }
    result = elmbench("compare", shop, "-t", "buys", "-m", "elm", code=2)
    assert re.search(
        r"cannot be used: 2 of them for \d+ test rows", " ".join(result.err.split())
    )


@pytest.mark.parametrize("status", ["ok", "timeout"])
def test_saving_is_recommended_if_a_model_can_be_saved(
    elmbench: Callable, worker: dict, shop: Path, status: str
) -> None:
    """A model that did not end on all folds has no rank, so `--save` would choose none."""
    ending = (
        {}
        if status == "ok"
        else {"status": status, "reason": "> 3 s", "predictions": None}
    )
    worker["elm"] = lambda unit: ending if unit["fold"] == 0 else {}
    result = elmbench("compare", shop, "-t", "buys", "-m", "elm", code=None)
    assert ("--save best.joblib" in result.out) == (status == "ok")


def test_a_dummy_alone_is_not_worth_saving(
    elmbench: Callable, worker: dict, shop: Path
) -> None:
    result = elmbench("compare", shop, "-t", "buys", "-m", "dummy")
    assert "--save" not in result.out
    assert "next: add models by -m" in result.out


@pytest.mark.parametrize("target", ["buys", "age"])
def test_a_model_no_better_than_the_dummy_is_not_worth_saving(
    elmbench: Callable, worker: dict, shop: Path, target: str
) -> None:
    worker["elm"] = lambda unit: {"predictions": predictions_of_fit(unit, mcc=0.0)}
    words = ("compare", shop, "-t", target, "-m")
    result = elmbench(*words, "elm")
    assert "--save" not in result.out
    assert sentence("cli.compare.nothing-worth-saving") in result.out
    result = elmbench(*words, "elm,ridge")
    assert "-m elm,ridge --save best.joblib" in result.out


def test_a_dry_run_lists_the_work_and_writes_nothing(
    elmbench: Callable, shop: Path
) -> None:
    options = ("--dry-run", "--save", "best.joblib", "--html", "best.html")
    result = elmbench(
        "compare",
        shop,
        "-t",
        "buys",
        *options,
        "--grid",
        "k-elm: {C: [1, 10], gamma: 1}",
    )
    assert (
        sentence(
            "cli.compare.dry-run-writes-no-files", model="best.joblib", page="best.html"
        )
        in result.out
    )
    assert "80 of 80 cells would run" in result.out
    line = next(line for line in result.out.splitlines() if " k-elm " in line)
    # Two candidates on three inner folds of five outer ones, and five fits.
    assert line.split()[4] == "35"
    assert not Path("elmbench-results/compare").exists()


@pytest.mark.usefixtures("worker")
def test_every_option_reaches_the_comparison(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = Mock(side_effect=ElmbenchError("stop", next_step="nothing"))
    monkeypatch.setattr(comparison, "prepare_comparison", prepare)
    words = """a.csv b.csv -t y -m elm,ridge -m mine --grid 'elm: {C: [1]}' --task classification --positive yes
        --metric f1,mcc --folds 3 --runs 2 --fold part --test new.csv --groups who --weights heavy --time-order when
        --dates month-first --drop p --drop q --words zip --text note --drop-missing-target --sep ; --decimal , --no-header
        --no-impute --name mine --jobs 2 --limit time=5s,memory=1GB --retry"""
    elmbench("compare", *shlex.split(words), code=2)
    request, options, _ = prepare.call_args.args
    rows: dict[str, Any] = {
        "target": "y", "task": "classification", "positive": "yes", "fold": "part",
        "test": "new.csv",
        "groups": "who", "weights": "heavy", "ordered_by": "when", "day_first": False, "drop": ("p",
        "q"),
        "words": ("zip",), "text": ("note",), "drop_missing_target": True, "separator": ";", "decimal": ",",
        "header": False,
        "impute": False,
    }  # fmt: skip
    data = (UserData("a.csv", **rows), UserData("b.csv", **rows))
    models, metrics, limit = (
        ("elm", "ridge", "mine"),
        ("f1", "mcc"),
        "time=5s,memory=1GB",
    )
    assert request == ComparisonRequest(
        data, models, {"elm": {"C": [1]}}, metrics, 3, 2, limit, "mine"
    )
    assert (options.retry, options.settings) == (
        True,
        Settings(jobs=2, limits=parse_limits(limit)),
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-t", "sells"], "no column 'sells'"),
        (["-t", "buys", "--task", "regression"], "the target of a regression holds '"),
        (
            ["-t", "buys", "--test", "shop.csv", "--folds", "5"],
            "--folds is given with --test",
        ),
        (["sklearn:wine", "--save", "best.joblib"], "--save is given with 2 data sets"),
        (["-t", "buys", "--save", "."], "'.' is a folder"),
        (["-t", "buys", "--grid", "k-elm: [1"], "is not valid YAML"),
        (
            ["-t", "buys", "--grid", "k-elm"],
            sentence("cli.compare.grid-without-model", grid="k-elm"),
        ),
        (
            ["-t", "buys", "--grid", "k-elm: {C: {from: 1}}"],
            "'k-elm.C': a range needs from, to and step",
        ),
        (
            ["-t", "buys", "--grid", "k-elm: {C: [2^-3]}"],
            "'k-elm.C': '2^-3' is text; expected a number",
        ),
        (
            ["-t", "buys", "--groups", "colour", "--time-order", "day"],
            "both groups and an order",
        ),
        (["-t", "buys", "--metric", "nrmse"], "'nrmse' is not a classification metric"),
        (["-t", "buys", "--groups", "colour"], "2 groups of rows, too few for 5 folds"),
        (
            ["-t", "buys", "--groups", "colour", "--folds", "2"],
            sentence("cli.compare.too-few-groups-to-train", folds=2, groups=1),
        ),
        (["-t", "buys", "-m", "elmo"], "unknown model 'elmo'"),
        (
            ["-t", "buys", "--folds", "50"],
            sentence(
                "cli.compare.too-few-rows-in-class", data="shop.csv", rows=40, folds=50
            ),
        ),
        (
            ["-t", "age", "--time-order", "day", "--folds", "60"],
            "shop.csv has 60 rows, too few for 60 folds",
        ),
    ],
)
def test_impossible_requests_exit_with_code_2(
    elmbench: Callable, shop: Path, words: list[str], message: str
) -> None:
    result = elmbench("compare", shop, *words, "--dry-run", code=2)
    assert message in result.err
    assert "Next:" in result.err


def test_a_budget_that_leaves_models_out_is_no_failure(
    elmbench: Callable, shop: Path
) -> None:
    command = ["compare", shop, "-t", "buys", "-m"]
    result = elmbench(*command, "elm,ridge", "--budget", "0s", code=2)
    assert "budget of 0s" in result.err
    assert "--budget 1min" in result.err
    elmbench(*command, "ridge", "--budget", "1h")
    result = elmbench(*command, "elm,ridge", "--budget", "0s")
    assert sentence(
        "comparison.budget.spent", models="shop elm", budget="0s"
    ) in " ".join(result.out.split())
    elmbench("compare", shop, "-m", "ridge", "--budget", "soon", "--dry-run", code=2)


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(("options", "shown"), [([], True), (["-q"], False)])
def test_a_terminal_shows_that_a_file_is_read(
    elmbench: Callable,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    shown: bool,
) -> None:
    texts: list[str] = []
    show = Console.status
    monkeypatch.setattr(
        Console,
        "status",
        lambda console, text: texts.append(str(text)) or show(console, text),
    )
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    elmbench("compare", shop, "-t", "buys", "-m", "ridge", *options)
    assert texts == ([f"reading {shop} (1.9 kB)"] if shown else [])


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("seconds", "options", "shown"),
    [(0.05, [], True), (0.05, ["-q"], False), (60, [], False)],
)
def test_a_log_has_a_line_on_a_file_that_takes_long_to_read(
    elmbench: Callable,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    options: list[str],
    shown: bool,
) -> None:
    describe = comparison.describe

    def describe_slowly(data: UserData) -> DatasetSpec:
        """Describe the data after a line that is due in 0.05 s."""
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer) and thread.interval == 0.05:
                thread.join()
        return describe(data)

    monkeypatch.setattr(comparison, "describe", describe_slowly)
    monkeypatch.setattr(progress, "_LINE_EVERY", seconds)
    result = elmbench(
        "compare", shop, "-t", "buys", "-m", "ridge", "--dry-run", *options
    )
    assert ("reading" in result.err) == shown
    assert result.err.count(f"reading {shop} (1.9 kB) ...\n") == int(shown)
