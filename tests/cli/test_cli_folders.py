"""Folders of results: the user's before the committed ones, which never change; those of other
machines; the site.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from made_cells import predictions_of_fit
from sentences import sentence

from elmbench.results import folders

CI = ("--profile", "ci")


@pytest.fixture
def committed(real: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results folder of a real run, as the committed one."""
    monkeypatch.setattr(folders, "committed_results", lambda: real)
    return real


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_users_values_come_first_and_committed_ones_complete_them(
    elmbench: Callable, committed: Path
) -> None:
    words = ("table", "table4", *CI)
    shown = elmbench(*words, "--format", "csv")
    assert shown.err.startswith(
        f"committed results, {committed}/ci/kos-elm/table4; your own: elmbench run"
    )
    assert "committed" not in shown.out
    before = content(committed)
    elmbench("run", "table4", *CI, "-d", "wdbc", "-m", "elm", "-q")
    assert content(committed) == before
    # Another value than the committed one: that of the user is shown.
    cells = Path("elmbench-results/ci/kos-elm/table4/cells.csv")
    pd.read_csv(cells).assign(mcc=0.5).to_csv(cells, index=False)
    mine = elmbench(*words, "--json")
    lines = pd.DataFrame(mine.json)
    values = lines[lines["metric"] == "mcc"].set_index("model")
    assert values["committed"].to_dict() == {"ELM": False, "K-ELM": True}
    assert values.loc["ELM", "mean"] == 0.5
    committed_values = pd.DataFrame(
        elmbench(*words, "--json", "--results-dir", committed).json
    )
    of_k_elm = committed_values[committed_values["model"] == "K-ELM"].set_index(
        "metric"
    )
    assert values.loc["K-ELM", "mean"] == of_k_elm.loc["mcc", "mean"]
    text = elmbench(*words)
    assert text.err.startswith(
        sentence(
            "cli.folders.table-of-two-folders",
            folder="elmbench-results/ci/kos-elm/table4",
        )
    )
    assert text.out.count("†") == 2  # the value of K-ELM and the legend
    assert sentence("cli.folders.legend-of-committed-cells") in text.out
    again = elmbench(*words, "--format", "csv", "--results-dir", committed)
    assert (again.out, again.err) == (shown.out, "")


def test_times_of_two_machines_are_not_divided(
    elmbench: Callable, committed: Path
) -> None:
    elmbench("run", "table4", *CI, "-d", "wdbc", "-m", "elm", "-q")
    lines = pd.DataFrame(elmbench("table", "table4", *CI, "--json").json)
    times = lines[lines["metric"] == "fit_seconds"].set_index("model")["mean"]
    assert times.notna().to_dict() == {"ELM": True, "K-ELM": False}


def test_cells_without_data_hide_no_committed_ones(
    elmbench: Callable, committed: Path
) -> None:
    elmbench("run", "table4", *CI, "-d", "wdbc", "-m", "elm", "-q")
    shown = elmbench(
        "table", "table4", *CI, "--format", "csv", "--results-dir", committed
    )
    cells = Path("elmbench-results/ci/kos-elm/table4/cells.csv")
    pd.read_csv(cells).assign(status="unavailable", mcc=None).to_csv(cells, index=False)
    assert elmbench("table", "table4", *CI, "--format", "csv").out == shown.out


def test_a_check_names_the_folders_of_the_compared_results(
    elmbench: Callable, committed: Path
) -> None:
    shutil.copytree(
        committed / "ci/kos-elm/table7", "elmbench-results/ci/kos-elm/table7"
    )
    result = elmbench("check", "--against", "published", *CI)
    assert all(f"kos-elm/table{number} " in result.out for number in (4, 7))
    last = result.err.splitlines()[-1]
    assert last == sentence("cli.folders.tables-by-folder", committed=committed)
    lines = elmbench("check", "--against", "published", *CI, "--json").json
    assert {line["experiment"]: line["folder"] for line in lines} == {
        "kos-elm/table2": f"{committed}/ci/kos-elm/table2",
        "kos-elm/table4": f"{committed}/ci/kos-elm/table4",
        "kos-elm/table7": "elmbench-results/ci/kos-elm/table7",
    }


def test_a_report_shows_committed_tables_and_writes_beside_the_users(
    elmbench: Callable, committed: Path
) -> None:
    before = content(committed)
    result = elmbench("report", "-q")
    assert content(committed) == before
    assert "elmbench-results/site/index.html" in result.out


def test_the_baseline_is_compared_with_the_users_cells_alone(
    elmbench: Callable, committed: Path
) -> None:
    elmbench("check", "table4", code=3)


def test_status_of_a_fresh_clone_names_the_committed_tables(
    elmbench: Callable, committed: Path
) -> None:
    result = elmbench("status")
    words = " ".join(result.out.split())
    assert words.startswith("elmbench-results holds no runs; ")
    assert words.endswith("holds 3 committed tables: elmbench table table4")


def test_the_committed_folder_is_that_of_the_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(folders, "_TOP", tmp_path)
    assert folders.committed_results() is None
    (tmp_path / "datasets.yaml").touch()
    assert folders.committed_results() == tmp_path / "results"
    monkeypatch.chdir(tmp_path)
    assert folders.committed_results() == Path("results")


def test_two_folders_become_one_table(
    elmbench: Callable, one: Path, worker: dict, use_tree: Callable
) -> None:
    for folder, model in (("a", "elm"), ("b", "k-elm")):
        elmbench("run", "one", "--profile", "ci", "-m", model, "--results-dir", folder)
    result = elmbench("merge", "a", "b", "--into", "c")
    assert "joined in c: 12 results" in result.out
    assert "written to c/ci/toy/one" in result.out
    cells = pd.read_csv("c/ci/toy/one/cells.csv")
    assert cells.groupby("model").size().to_dict() == {"ELM": 3, "K-ELM": 3}
    # Nothing is computed again of what was joined.
    words = "run one --profile ci -m elm -m k-elm --results-dir c"
    again = elmbench(*words.split())
    assert "cells to run" not in again.out
    result = elmbench("merge", "a", "--results-dir", "b", "--json").json
    assert (result["results"], result["unknown"]) == (6, [])
    use_tree(Path("none"))
    result = elmbench("merge", "a", "--into", "d")
    assert sentence("cli.folders.merged-without-tables", table="toy/one") in result.out


def test_the_site_has_one_page_of_readings(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    nothing = elmbench("report", code=2)
    assert nothing.out == ""
    assert nothing.err.startswith("error: no table has results in elmbench-results")
    run = ("run", "one", "--profile", "paper", "-m", "elm", "-q")
    elmbench(*run)
    worker["elm"] = lambda unit: (
        {"predictions": predictions_of_fit(unit, 0.5 + 0.02 * unit["fold"])}
        if unit["kind"] == "cell"
        else {}
    )
    elmbench(*run, "--reading", "order=stored")
    result = elmbench("report")
    assert result.out.split() == ["written", "to", "elmbench-results/site/index.html"]
    text = Path("elmbench-results/site/readings-toy.html").read_text()
    for shown in (
        "WDBC ELM MCC (Table I, paper, nested, 6 cells)",
        "0.920 ± 0.000",
        "0.520 ± 0.000",
        "shuffled",
    ):
        assert shown in text
    assert str(Path().resolve()) not in text
    compared = Path("elmbench-results/compare/own/mine")
    compared.mkdir(parents=True)
    (compared / "cells.csv").touch()
    result = elmbench("report", "--out", "elsewhere")
    assert Path("elsewhere/index.html").is_file()
    assert (
        sentence("cli.folders.site-without-comparisons", comparison="own/mine")
        in result.out
    )
