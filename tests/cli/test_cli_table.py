"""`elmbench table`: from cells.csv alone, as text, Markdown, CSV and LaTeX."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from made_cells import RESULTS as COMMITTED
from sentences import sentence

CI = ("--profile", "ci")


def test_a_printed_table_has_values_published_values_and_verdicts(
    elmbench: Callable, real: Path
) -> None:
    result = elmbench("table", "table4", *CI, "--results-dir", real)
    assert result.err == ""
    lines = result.out.splitlines()
    assert sentence("cli.table.title-of-kos-elm-table4") in lines
    start = lines.index("MCC")
    assert lines[start + 1].split() == ["data", "set", "ELM", "K-ELM"]
    assert lines[start + 2].startswith("WDBC  ")
    assert lines[start + 3].split() == ["paper", "0.93±0.012", "?", "0.95±0.011*", "?"]
    assert lines[-2].startswith("2 published values: 2 ? too few runs.")
    assert sentence(
        "cli.table.subtitle-of-profile-ci", runs=1, published_runs=20
    ) in " ".join(result.out.split())


def test_a_metric_is_added_from_the_store(elmbench: Callable, real: Path) -> None:
    result = elmbench(
        "table",
        "table4",
        *CI,
        "--metric",
        "balanced_accuracy, roc_auc",
        "--results-dir",
        real,
    )
    assert result.err == ""
    lines = result.out.splitlines()
    shown = [line.split() for line in lines[lines.index("balanced accuracy") + 2 :][:1]]
    cells = pd.read_csv(real / "ci/kos-elm/table4/cells.csv")
    recalls = [
        cells["tn"] / (cells["tn"] + cells["fp"]),
        cells["tp"] / (cells["tp"] + cells["fn"]),
    ]
    means = (
        cells.assign(mean=sum(recalls) / 2).groupby("model", sort=False)["mean"].mean()
    )
    assert [float(word.rstrip("*")) for word in shown[0][1:]] == pytest.approx(
        means.tolist(), abs=6e-4
    )
    assert "ROC AUC" in lines
    other = elmbench(
        "table", "table4", *CI, "--metric", "nrmse", "--results-dir", real, code=2
    )
    assert sentence("cli.table.metric-of-other-task", metric="nrmse") in other.err


def test_csv_has_the_means_of_the_cells_and_json_is_the_summary(
    elmbench: Callable, real: Path
) -> None:
    shown = pd.read_csv(
        io.StringIO(
            elmbench(
                "table", "table4", *CI, "--format", "csv", "--results-dir", real
            ).out
        )
    )
    cells = pd.read_csv(real / "ci/kos-elm/table4/cells.csv")
    for model in ("ELM", "K-ELM"):
        line = shown[(shown["model"] == model) & (shown["metric"] == "mcc")].iloc[0]
        assert line["mean"] == pytest.approx(
            cells[cells["model"] == model]["mcc"].mean()
        )
        assert line["n"] == 3
    line = elmbench("table", "table4", *CI, "--json", "--results-dir", real).json[0]
    assert (line["model"], line["metric"], line["published"], line["std"]) == (
        "ELM",
        "mcc",
        0.93,
        None,
    )
    counts = elmbench("table", "table7", *CI, "--json", "--results-dir", real).json
    assert [line["metric"] for line in counts if line["model"] == "ELM"] == [
        "tn",
        "fp",
        "fn",
        "tp",
    ]
    facts = elmbench("table", "table2", *CI, "--results-dir", real).out
    assert [
        line.split()
        for line in facts.splitlines()
        if line.startswith(("WDBC", "  paper"))
    ] == [
        ["WDBC", "30", "569"],
        ["paper", "30", "✓", "569", "✓"],
    ]


@pytest.mark.parametrize(
    ("form", "file"),
    [("text", None), ("md", "table.md"), ("csv", "summary.csv"), ("latex", None)],
)
def test_a_table_is_what_the_run_wrote_and_the_store_is_not_needed(
    elmbench: Callable, real: Path, form: str, file: str | None
) -> None:
    words = ("table", "table4", *CI, "--format", form, "--results-dir", real)
    before = elmbench(*words)
    assert file is None or before.out == (real / "ci/kos-elm/table4" / file).read_text()
    shutil.rmtree(real / ".store")
    assert elmbench(*words) == before


def test_markdown_has_the_picture_of_a_table(elmbench: Callable) -> None:
    words = ("table", "kos-elm/figure3", "--format", "md", "--results-dir", COMMITTED)
    assert "](figure.png)" in elmbench(*words).out


def test_figures_are_written_as_png_and_in_the_requested_format(
    elmbench: Callable, tmp_path: Path
) -> None:
    folder = tmp_path / "ci/ospvm/figure1"
    words = ("ospvm/figure1", *CI, "--results-dir", tmp_path)
    elmbench("run", *words, "--figure-format", "pdf")
    assert {file.name for file in folder.glob("figure.*")} == {
        "figure.csv",
        "figure.pdf",
        "figure.png",
    }
    assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")
    elmbench("table", *words, "--update", "--figure-format", "svg")
    assert (folder / "figure.svg").read_bytes().startswith(b"<?xml")
    error = elmbench("table", *words, "--figure-format", "svg", code=2).err
    assert "--figure-format is given without --update" in error


def test_all_tables_can_be_rewritten_from_their_cells(
    elmbench: Callable, real: Path
) -> None:
    folder = real / "ci/kos-elm/table4"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(real / ".store")
    (folder / "summary.csv").write_text("old\n")
    (folder / "table.md").write_text("old\n")
    result = elmbench("table", "table4", *CI, "--update", "--results-dir", real)
    assert result.out.startswith("written to ")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    # Without a name, every table that has results.
    assert (
        len(elmbench("table", *CI, "--update", "--results-dir", real, "--json").json)
        == 3
    )
    elmbench("table", *CI, "--update", code=3)
    elmbench("table", "table4", *CI, "--update", code=3)


def test_models_are_compared_over_data_sets(
    elmbench: Callable, real: Path, tmp_path: Path
) -> None:
    words = (
        "table",
        "rkelm/table3",
        "--profile",
        "paper",
        "--results-dir",
        COMMITTED,
        "--statistics",
    )
    picture = tmp_path / "ranks.png"
    result = elmbench(*words, "--diagram", picture)
    assert "measured: 6 models on 3 data sets" in result.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    measured, published = elmbench(*words, "--json").json
    assert (measured["source"], published["source"]) == ("measured", "published")
    assert list(measured["ranks"].values()) == sorted(measured["ranks"].values())
    for form, beginning in {
        "csv": "model,average rank,",
        "md": "# Table 3: ",
        "latex": "\\begin{table}",
    }.items():
        assert elmbench(*words, "--format", form).out.startswith(beginning)
    result = elmbench(
        "table", "table4", *CI, "--statistics", "--results-dir", real, code=2
    )
    assert sentence("cli.table.no-pair-of-models-on-same-data") in result.err
    # Profile ci has one data set.
    assert " run kos-elm/table4 --profile fast" in result.err
    # No run would give a table of facts two models.
    result = elmbench(
        "table", "rkelm/table1", "--statistics", "--results-dir", COMMITTED, code=2
    )
    assert (
        sentence("cli.table.no-models-to-compare", table="rkelm/table1") in result.err
    )
    assert "elmbench run" not in result.err
