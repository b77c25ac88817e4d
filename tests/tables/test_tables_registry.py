"""Kinds of table by their names: found, checked, refused; one that is made up goes all the way to
the writers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_cells import (
    folds,
    frame,
    headings,
    keep,
    predictions_of_mcc,
    rows_of,
    summarise,
    table_from,
    table_of,
)
from made_figures import Toy
from sentences import pattern, sentence

from elmbench.errors import ElmbenchError
from elmbench.execution.store import Store
from elmbench.judging.measured_cells import MeasuredCells
from elmbench.registry import plugins
from elmbench.report.table_results import results_of_table
from elmbench.report.writers.html import html
from elmbench.report.writers.latex import latex
from elmbench.report.writers.markdown import markdown
from elmbench.results.cells import csv
from elmbench.runs.write_results import write_results
from elmbench.specs import published
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.tables import KINDS, kind_of_table
from elmbench.tables.base import DATASET, VALUE, Entry, Outputs, TableKind, TableOptions
from elmbench.tables.drawing import Figure
from elmbench.tables.result_table import Column, Line
from elmbench.tasks.plan import Cell

CORRELATION = {
    "layout": "rank-correlation", "grids": {"n_hidden": [1, 10]},
    "models": {"ELM": {"model": "elm", "search": ["n_hidden"], "params": {"activation": "rbf"}}},
}  # fmt: skip


def test_an_unknown_kind_of_table_is_an_error(toy: Toy) -> None:
    resolved = toy(layout="metricz")
    with pytest.raises(ElmbenchError) as error:
        kind_of_table(resolved)
    first, expected, following = str(error.value).splitlines()
    assert first == sentence("tables.registry.unknown-kind", file=resolved.file.path)
    assert expected == "Expected: one of " + ", ".join(sorted(KINDS))
    assert following == sentence("tables.registry.next-load-plug-in")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": {}}, pattern("tables.registry.no-models")),
        (
            {"layout": "curves"},
            "models.ELM searches n_hidden, C; expected one hyperparameter",
        ),
        (
            {
                "layout": "curves",
                "models": {
                    "ELM": {"model": "elm", "search": {"activation": ["rbf", "tanh"]}}
                },
            },
            "models.ELM searches activation over 'rbf'; expected numbers",
        ),
        ({"options": {"dcs": "corrected"}}, r"unknown key 'options\.dcs'"),
        (
            CORRELATION | {"options": {"operator": 5}},
            r"unknown key 'options\.operator'; allowed here: .*operators",
        ),
        (CORRELATION | {"options": {"operators": 0}}, r"'options\.operators' is 0"),
        (CORRELATION | {"options": {"dcs": "wrong"}}, r"'options\.dcs' is 'wrong'"),
    ],
)
def test_an_experiment_that_does_not_fit_its_kind(
    toy: Toy, changes: dict[str, Any], message: str
) -> None:
    resolved = toy(**changes)
    with pytest.raises(ElmbenchError, match=message) as error:
        kind_of_table(resolved)
    assert str(error.value).startswith(f"{resolved.file.path}: ")
    assert "Next: correct it, then: elmbench validate" in str(error.value)


def test_options_have_defaults_and_leave_others_alone(toy: Toy) -> None:
    resolved = toy(**CORRELATION | {"options": {"operators": 5}})
    outcome = kind_of_table(resolved).options
    assert (outcome.projections, outcome.operators, outcome.dcs) == (
        100,
        5,
        "corrected",
    )
    # An option of the choice is not one of the table, whether or not the table has options.
    for layout in ("metrics", "weight-paths"):
        kind_of_table(
            toy(
                layout=layout,
                options={"dcs": "as-printed"},
                protocol={"criterion": "dcs-gaussians"},
            )
        )


class SizesOptions(TableOptions):
    """The number of data sets that the figure shows."""

    shown: int = 3


class Sizes(TableKind):
    """The size of each model, in thousands."""

    Options = SizesOptions
    draws_from_store = True

    def check(self) -> None:
        if "SVM" in self.spec.models:
            raise ValueError("models has SVM; expected models with hidden nodes")

    def measures(self, dataset: str, model: str) -> list[Measure]:
        return [Measure("n_units")]

    def values_of(self, cells: pd.DataFrame, measure: Measure) -> pd.Series[float]:
        return cells["n_units"].astype(float) / 1000

    def columns(self, datasets: Iterable[str]) -> tuple[Column, ...]:
        return (DATASET, Column("model", "network"), VALUE)

    def lines(self, entries: Sequence[Entry]) -> Iterator[Line]:
        for line in super().lines(entries):
            yield {**line, "model": f"<{line['model']}>"}

    def figure(self, cells: pd.DataFrame, outputs: Iterable[Outputs]) -> Figure | None:
        shown = self.options.shown
        return Figure(
            pd.DataFrame(
                {"rows": [len(one.result["values"]) for one in outputs][:shown]}
            ),
            b"a picture",
        )


@pytest.fixture
def made_up(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> Resolved:
    """An experiment whose kind of table a plug-in file declares."""
    monkeypatch.setattr(
        plugins,
        "plugin_objects",
        lambda kind: {"sizes": Sizes} if kind == "LAYOUTS" else {},
    )
    return toy(layout="sizes", options={"shown": 1})


def test_a_made_up_kind_goes_through_results_writers_and_figure(
    made_up: Resolved, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    rows = [
        Cell("wdbc", "ELM", 0, fold, "nested", "", f"k{fold}", "f") for fold in (0, 1)
    ]
    for row, units in zip(rows, (1000, 2000), strict=True):
        result = {
            "n_units": units,
            "predictions": predictions_of_mcc(0.5),
            "values": [1.0, -1.0],
        }
        keep(store, row.key, {"status": "ok", "reason": "", **result})
    store.add_cells("paper", "toy/one", rows, "elmbench run toy/one")
    results = write_results(made_up, store, tmp_path)
    (line,) = results.summary.to_dict("records")
    assert (line["metric"], line["mean"]) == ("n_units", 1.5)
    (section,) = results.table.sections
    assert headings(results.table, section) == {
        "dataset": "data set",
        "model": "network",
        "value": "mean",
    }
    (shown,) = rows_of(section)
    assert (shown["model"], shown["value"]) == ("<ELM>", "1.5")
    assert results_of_table(made_up, tmp_path).table == results.table
    assert (results.folder / "figure.png").read_bytes() == b"a picture"
    assert (results.folder / "figure.csv").read_text() == "rows\n2\n"
    assert (
        "![Table I: Something](figure.png)" in (results.folder / "table.md").read_text()
    )
    assert "| wdbc     | &lt;ELM> | 1.5  |" in markdown(results.table, [])
    assert r"wdbc & $<$ELM$>$ & 1.5 \\" in latex(results.table)
    assert "<td>&lt;ELM&gt;</td><td>1.5</td>" in "".join(
        map(str.strip, html(results.table).splitlines())
    )
    assert html(results.table) == results._repr_html_()
    assert "wdbc,ELM,n_units,nested,,1.5," in csv(results.summary)
    assert re.search(r"^  <ELM> +1\.5", results.text, flags=re.M)


def test_a_made_up_kind_checks_its_experiments(made_up: Resolved, toy: Toy) -> None:
    with pytest.raises(ElmbenchError, match="expected models with hidden nodes"):
        kind_of_table(toy(layout="sizes", models={"SVM": {"model": "svm"}}))
    with pytest.raises(
        ElmbenchError, match=r"unknown key 'options\.all'; allowed here: shown"
    ):
        kind_of_table(toy(layout="sizes", options={"all": 1}))


SEVERAL = {
    "protocol": {"metrics": ["accuracy", "f1", "fit_seconds", "nrmse"]},
    "datasets": ["wdbc", "calhousing"],
}


def test_several_metrics_are_in_one_row(toy: Toy) -> None:
    figures = "WDBC,ELM,accuracy,0.9,,\nWDBC,ELM,f1,0.5,,\nWDBC,ELM,train_seconds,2,,\n"
    resolved = toy(figures, **SEVERAL)
    lines = folds("ELM", 0, 0, accuracy=0.9, f1=0.8)
    lines += folds("ELM", 0, 0, dataset="calhousing", nrmse=0.25)
    table = table_of(resolved, lines)
    (section,) = table.sections
    shown = headings(table, section)
    assert list(shown.values())[2:9] == [
        "accuracy / NRMSE", "published", "verdict", "F1", "published", "verdict", "fit s",
    ]  # fmt: skip
    first, second = rows_of(section)
    names = list(shown)[2:8]
    assert [first[name] for name in names] == [
        "0.90",
        "0.9",
        "too few runs",
        "0.80",
        "0.5",
        "too few runs",
    ]
    assert [second[name] for name in names] == ["0.250", "", "", "", "", ""]
    for text in (markdown(table, []), html(table)):
        assert (
            len(
                re.findall(
                    r"accuracy / NRMSE\W+(?:th\W+)*published\W+(?:th\W+)*verdict\W+(?:th\W+)*F1",
                    text,
                )
            )
            == 1
        )
    times = table_of(toy(figures, **SEVERAL, layout="times"), lines)
    assert list(headings(times, times.sections[0]).values())[-2:] == [
        "accuracy / NRMSE",
        "F1",
    ]


def test_published_values_of_unmeasured_metrics_are_shown(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = "WDBC,ELM,mcc,0.5,,\nWDBC,K-ELM,mcc,0.7,,\nWDBC,SVM,mcc,0.6,,\nWDBC,SVM,train_seconds,3,,\n"
    figures += "WDBC,BP,mcc,0.4,,\nSylva,SVM,mcc,0.1,,\n"
    read = published.read_published
    monkeypatch.setattr(
        published,
        "read_published",
        lambda path: [replace(f, cited=f.model in ("BP", "K-ELM")) for f in read(path)],
    )
    resolved = toy(figures, datasets=["wdbc", "sylva"])
    lines = [
        *folds("ELM", 0.5, 0.5),
        *folds("K-ELM", 0.5, 0.5),
        *folds("ELM", 0.5, 0.5, reading="order=stored"),
    ]
    cells = frame(resolved, lines)
    summary = summarise(MeasuredCells(cells, resolved))
    part = summary[(summary["reading"] == "") & (summary["metric"] == "mcc")]
    assert dict(zip(part["model"], part["verdict"], strict=True)) == {
        "ELM": "too few runs", "K-ELM": "cited", "BP": "cited", "SVM": "no data",
    }  # fmt: skip
    default, stored = table_from(cells, resolved).sections
    outcome = {
        r["model"]: (r["value"], r["published"], r["published_fit"], r["verdict"])
        for r in rows_of(default)
    }
    assert outcome["SVM"] == ("", "0.6", "3", "no data")
    assert outcome["BP"] == ("", "0.4", "", "cited")
    assert outcome["K-ELM"] == ("0.50", "0.7", "", "cited")
    assert [r["model"] for r in rows_of(stored)] == ["ELM"]
    # A figure of a model that another table of the paper measures is not missing here; a cited one
    # stays.
    models = {name: {"model": "svm"} for name in ("SVM", "BP")}
    other = replace(resolved.file, content=resolved.file.content | {"models": models})
    elsewhere = replace(
        resolved, file=replace(resolved.file, tables=[resolved.file, other])
    )
    assert set(summarise(MeasuredCells(cells, elsewhere))["model"]) == {
        "ELM",
        "K-ELM",
        "BP",
    }


def test_models_of_all_tables_of_a_paper_are_measured() -> None:
    speed = find_experiment("kos-elm/text-speed")
    assert {"OS-ELM", "ALD-KOS-ELM"} <= speed.all_columns - set(speed.spec.models)
    assert "EEM-RBF" not in speed.all_columns
