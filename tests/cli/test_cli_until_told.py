"""`elmbench run --until-told`: runs in two stages."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from scipy.stats import t

from elmbench.workflow.execute import compute, execute
from elmbench.workflow.prepare import PreparedRun, RunOptions
from elmbench.workflow.stages import TwoStages

FIGURES = """dataset,model,metric,value,std,note
WDBC,ELM,mcc,0.92,,
WDBC,K-ELM,mcc,0.50,,
WDBC,OS-ELM,mcc,0.70,,
"""
RUN = ("run", "one", "--profile", "ci", "--until-told")
FOLDER = Path("elmbench-results/ci/toy/one")


@pytest.fixture
def table(toy: Callable, worker: dict) -> dict:
    """A table with three figures: the runs of ELM hardly vary, those of K-ELM do, those of OS-ELM
    vary too much.

    The distance between the figures is .32, .31 and .21.
    """
    published = {"values": "one.csv", "mean-of": 20}
    (toy(published=published).parent / "one.csv").write_text(FIGURES)

    def varying(mean: float, deviation: float) -> Callable[[dict], dict]:
        def run(unit: dict) -> dict:
            step = deviation * ((unit["run"] + 1) % 3 - 1)
            return {"measured": {"mcc": mean + step}} if unit["kind"] == "cell" else {}

        return run

    worker |= {
        "elm": varying(0.92, 0.001),
        "k-elm": varying(0.9, 0.1),
        "os-elm": varying(0.7, 0.17),
    }
    return worker


def runs() -> dict[str, int]:
    cells = pd.read_csv(FOLDER / "cells.csv")
    return cells.groupby("model")["run"].nunique().to_dict()


def summary() -> pd.DataFrame:
    lines = pd.read_csv(FOLDER / "summary.csv")
    return lines[lines["metric"] == "mcc"].set_index("model")


def fewest(deviation: float, apart: float) -> int:
    """The runs that Stein's rule asks for, from three runs of this deviation."""
    widths = (
        2 * (t.ppf(0.975, 2) * deviation * math.sqrt(1 / 20 + 1 / n) + 0.005)
        for n in range(3, 10_000)
    )
    return next(n for n, width in enumerate(widths, 3) if width < apart)


def test_the_deviation_of_three_runs_fixes_the_number_of_runs(
    elmbench: Callable, table: dict
) -> None:
    dry = elmbench(*RUN, "--dry-run")
    assert "this is the first stage, 3 runs" in dry.out
    outcome = elmbench(*RUN)
    total = fewest(0.1, 0.31)
    # The print of K-ELM lies outside of the interval of the first runs. They do not stop there.
    assert runs() == {"ELM": 3, "K-ELM": total, "OS-ELM": 3, "FB-KOS-ELM": 3}
    text = " ".join(outcome.out.split())
    assert (
        f"3 published figures: 3 runs are enough for 1; 1 needs {total - 3} more runs of 1 model, "
        "roughly "
    ) in text
    assert "3 published figures: 1 ✓ reproduced, 1 ∈ consistent, 1 ✗ differs." in text
    line = summary().loc["K-ELM"]
    half = t.ppf(0.975, 2) * 0.1 * math.sqrt(1 / 20 + 1 / total) + 0.005
    assert (line["high"] - line["low"]) / 2 == pytest.approx(half)
    assert 2 * half < 0.31
    assert line["verdict"] == "differs"
    assert pd.isna(summary().loc["OS-ELM", "runs_to_tell"])
    commands = json.loads((FOLDER / "environment.json").read_text())["commands"]
    assert commands == ["elmbench run toy/one --profile ci --runs 3 --until-told"]


@pytest.mark.parametrize("select", ["nested", "oracle"])
def test_a_second_call_goes_on_to_the_same_number(
    elmbench: Callable, table: dict, select: str
) -> None:
    words = (*RUN, "--select", select)
    ran: list[tuple[str, int]] = []
    k_elm = table["k-elm"]

    def noted(unit: dict) -> dict:
        if unit["kind"] == "cell":
            ran.append((unit["model"], unit["run"]))
            if len(ran) == 4 * 3:
                raise KeyboardInterrupt
        return k_elm(unit)

    table["k-elm"] = noted
    elmbench(*words, code=130)
    elmbench(*words)
    total = fewest(0.1, 0.31)
    assert runs()["K-ELM"] == total
    seen = len(ran)
    outcome = elmbench(*words)
    assert "cells to run" not in outcome.out
    assert len(ran) == seen
    assert runs()["K-ELM"] == total
    assert f"0 of {3 * (9 + total)} cells would run" in elmbench(*words, "--dry-run").out
    outlook = json.loads(elmbench("--json", *words, "--dry-run").out)["outlook"]
    k_elm_runs = {"experiment": "toy/one", "dataset": "wdbc", "model": "K-ELM", "runs": total}
    assert outlook == {"runs": [k_elm_runs], "enough": 1, "more": 1, "never": 1, "seconds": 0.0}


def test_runs_that_were_fixed_beforehand_keep_their_interval(
    elmbench: Callable, table: dict
) -> None:
    total = fewest(0.1, 0.31)
    elmbench("run", "one", "--profile", "ci", "--runs", total + 1)
    before = summary()
    elmbench(*RUN)
    assert runs()["K-ELM"] == total + 1
    assert summary().loc["K-ELM", "low"] == before.loc["K-ELM", "low"]


def test_a_larger_first_stage_needs_fewer_runs(elmbench: Callable, table: dict) -> None:
    elmbench(*RUN, "--runs", 6)
    outcome = runs()
    assert outcome["ELM"] == 6
    assert outcome["K-ELM"] == 6 < fewest(0.1, 0.31)
    # With five degrees of freedom there is a number that tells OS-ELM.
    assert outcome["OS-ELM"] > 6
    assert summary().loc["OS-ELM", "verdict"] == "reproduced"


def test_a_cell_that_fails_in_the_second_stage_counts(elmbench: Callable, table: dict) -> None:
    varies = table["k-elm"]
    table["k-elm"] = lambda unit: (
        {"status": "failed", "reason": "no"} if unit.get("run", 0) > 2 else varies(unit)
    )
    assert "cells failed" in elmbench(*RUN, code=1).err


def test_no_run_begins_after_the_budget(elmbench: Callable, table: dict) -> None:
    outcome = elmbench(*RUN, "--budget", "0s")
    assert not FOLDER.exists()
    assert "left for lack of time: 36 cells" in " ".join(outcome.out.split())
    assert "no published figure is compared with these runs\n" in outcome.out
    # The first stage took all the time.
    elmbench("run", "one", "--profile", "ci", "--runs", 3)
    outcome = elmbench(*RUN, "--budget", "0s")
    total = fewest(0.1, 0.31)
    assert f"left for lack of time: {3 * (total - 3)} cells" in " ".join(outcome.out.split())
    assert set(runs().values()) == {3}
    elmbench(*RUN, "--budget", "1h")
    assert runs()["K-ELM"] == total


def test_no_stage_begins_after_the_budget(
    elmbench: Callable, table: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = TwoStages(RunOptions(("toy/one",), profile="ci"), tmp_path / "r")
    now = [0.0]
    monkeypatch.setattr("elmbench.workflow.stages.time", SimpleNamespace(monotonic=lambda: now[0]))
    plans: list[int] = []

    def carry_out(prepared: PreparedRun, write: bool) -> Any:
        plans.append(len(prepared.todo))
        now[0] += 1e5
        return execute(prepared) if write else compute(prepared, lambda event: None, None)

    (results,) = stages.run(carry_out, seconds=1.5e5)
    assert [todo > 0 for todo in plans] == [True, True, False]
    assert stages.rest is None
    assert results.cells.groupby("model")["run"].nunique()["K-ELM"] == fewest(0.1, 0.31)
    again = TwoStages(RunOptions(("toy/one",), profile="ci"), tmp_path / "other")
    again.run(carry_out, seconds=0.5e5)
    assert again.rest is not None
    assert len(again.rest.todo) == plans[1]
