"""Tables of hyperparameters, confusion counts and facts of the data."""

import sys
from typing import Any

import pytest
from made_cells import (
    cell,
    entry,
    folds,
    frame,
    headings,
    notes_of,
    row,
    rows_of,
    runs,
    summarise,
    table_of,
    value_columns,
)
from made_figures import Toy
from sentences import sentence

from elmbench.judging.measured_cells import MeasuredCells
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved, resolve
from elmbench.tables import kind_of_table
from elmbench.tables.result_table import Entry


def test_values_of_a_table_are_those_of_its_tasks(toy: Toy) -> None:
    counts = [
        "mcc",
        "gmean",
        "accuracy",
        "precision",
        "recall",
        "f1",
        "tn",
        "fp",
        "fn",
        "tp",
    ]
    assert value_columns(toy()) == counts
    both = toy(datasets=["wdbc", "calhousing"], protocol={"metrics": ["mcc", "nrmse"]})
    assert value_columns(both) == [*counts, "nrmse", "rmse"]
    assert value_columns(
        toy(datasets=["calhousing"], protocol={"metrics": ["nrmse"]})
    ) == [
        "nrmse",
        "rmse",
    ]


def test_powers_are_shown_as_printed_and_inverses_are_named() -> None:
    resolved = resolve(find_experiment("rkelm/table2"), "fast")
    figure = resolved.published["auto-mpg", "RKELM", "C"]
    assert (
        Entry("auto-mpg", "RKELM", Measure("C"), published=figure).published_text
        == "2^-20"
    )
    (note,) = kind_of_table(resolved).notes(frame(resolved, []))
    assert note.text == sentence("tables.kinds.note-on-C-of-rkelm")


def test_hyperparameters_are_averaged_and_not_judged(toy: Toy) -> None:
    resolved = toy(
        "WDBC,ELM,L,460,,\nWDBC,ELM,C,40,,\nWDBC,K-ELM,gamma,0.03,,\n",
        layout="parameters",
    )
    lines = [
        *[
            line | {"params": f'{{"n_hidden": {n}, "C": 8}}'}
            for line, n in zip(folds("ELM", 1, 1), (10, 20), strict=True)
        ],
        *folds("K-ELM", 1, 1, params={"gamma": 0.125, "C": 1}),
        *folds("OS-ELM", 1, 1, params={"n_hidden": 20, "C": 8, "initial_batch": 50}),
        # A model that is not installed here; the address of a results file is not imported.
        *folds("of-a-plug-in", 1, 1, params={"C": 8}),
        *folds("antigravity:Model", 1, 1, params={"C": 8}),
    ]
    nodes = entry(resolved, lines, "n_hidden", model="ELM")
    assert (nodes["mean"], nodes["published"], nodes["verdict"]) == (15.0, 460.0, "")
    summary = summarise(MeasuredCells(frame(resolved, lines), resolved))
    shown = summary.groupby("model")["metric"].agg(list).to_dict()
    # A column shows what it searches itself, not what it takes over from another.
    assert shown == {"ELM": ["n_hidden", "C"], "K-ELM": ["gamma", "C"]}
    assert "antigravity" not in sys.modules


def test_a_hyperparameter_that_is_printed_as_a_power_is_shown_as_one(toy: Toy) -> None:
    resolved = toy("WDBC,ELM,L,460,,\nWDBC,ELM,C,2^-3,,\n", layout="parameters")
    params = {"n_hidden": 64, "C": 4096}
    lines = folds("ELM", 1, 1, params=params)
    entries = table_of(resolved, lines).sections[0].entries
    assert [entry.shown for entry in entries] == ["64", "2^12"]
    # The choices of two runs differ.
    lines += folds("ELM", 1, 1, params=params | {"C": 0}, run=1)
    entries = table_of(resolved, lines).sections[0].entries
    assert entries[1].shown == "2048 ± 2896"


def test_a_mean_beside_a_published_power_has_three_decimals(toy: Toy) -> None:
    resolved = toy("WDBC,ELM,mcc,2^-3,,\n")
    (published,) = resolved.file.published.values
    kind = kind_of_table(resolved)
    assert kind.places(Measure("mcc"), published) == 3


def test_counts_are_averaged_and_judged_to_half_a_row(toy: Toy) -> None:
    published = "".join(
        f'WDBC,ELM,"predicted {p}, actual {a}",{v},,\n'
        for p, a, v in [
            ("positive", "positive", 65),
            ("negative", "positive", 2),
            ("positive", "negative", 3),
        ]
    )
    resolved = toy(published, layout="confusion")
    lines = [
        cell(run=run, fold=fold, tn=118, fp=5, fn=6, tp=65 - fold)
        for run in range(3)
        for fold in (0, 1)
    ]
    result = entry(resolved, lines, "tp")
    # Every run is the same: half a printed digit, and the weight of one row in the mean of two
    # folds.
    ends = pytest.approx(64.5 - 0.5 - 0.5), pytest.approx(64.5 + 0.5 + 0.5)
    assert (result["mean"], result["verdict"], result["low"], result["high"]) == (
        64.5,
        "reproduced",
        *ends,
    )
    assert entry(resolved, lines, "fn")["verdict"] == "differs"
    assert (
        entry(resolved, lines, "tn")["published"]
        != entry(resolved, lines, "tn")["published"]
    )
    section = table_of(resolved, lines).sections[0]
    assert [r["measure"] for r in rows_of(section)] == [
        "true negatives",
        "false positives",
        "false negatives",
        "true positives",
    ]
    assert row(section, "ELM", "true positives")["published"] == "65"


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (["features"], ["features", "instances", "classes", "negatives", "positives"]),
        (["negatives"], ["features", "instances", "classes", "negatives", "positives"]),
        (["negatives", "positives"], ["features", "negatives", "positives"]),
        (
            ["negatives", "positives", "instances"],
            ["features", "instances", "negatives", "positives"],
        ),
    ],
)
def test_facts_that_follow_from_the_printed_ones_are_left_out(
    toy: Toy, printed: list[str], shown: list[str]
) -> None:
    resolved = toy(
        "".join(f"WDBC,data,{fact},3,,\n" for fact in printed), layout="datasets"
    )
    facts = {
        "features": 30,
        "instances": 569,
        "classes": 2,
        "negatives": 357,
        "positives": 212,
    }
    summary = summarise(
        MeasuredCells(frame(resolved, [cell("data", **facts)]), resolved)
    )
    assert summary["metric"].tolist() == shown


def test_counts_printed_in_exchanged_columns_are_compared_with_the_right_ones(
    toy: Toy,
) -> None:
    published = 'WDBC,ELM,"predicted positive, actual negative",6,,\n'
    plain = toy(published, layout="confusion")
    lines = [
        cell(run=run, fold=fold, tn=100, fp=1, fn=6, tp=60)
        for run in range(3)
        for fold in (0, 1)
    ]
    assert entry(plain, lines, "fp")["verdict"] == "differs"
    meant = toy(
        published, layout="confusion", published={"meant": {"fp": "fn", "fn": "fp"}}
    )
    assert entry(meant, lines, "fn")["verdict"] == "reproduced"
    assert any(
        "fp" in note and "fn" in note for note in notes_of(table_of(meant, lines))
    )


OUTER = {
    "kind": "holdout",
    "sizes": {"wdbc": {"train": 400, "test": 169}, "calhousing": {"test": 12640}},
}
BOTH: dict[str, Any] = {
    "layout": "datasets", "datasets": ["wdbc", "calhousing"], "models": {}, "grids": {},
    "protocol": {"outer": OUTER, "metrics": ["mcc", "nrmse"]},
}  # fmt: skip
FACTS = ["features", "instances", "classes", "negatives", "positives", "train", "test"]


def test_facts_of_data_sets_and_of_both_parts_where_the_paper_prints_them(
    toy: Toy,
) -> None:
    published = (
        "WDBC,data,features,30,,\nWDBC,data,instances,600,,\nWDBC,data,train,400,,\n"
    )
    published += "Calhousing,data,instances,20640,,\nCalhousing,data,train,8000,,\nCalhousing,data,test,9,,\n"
    published += "Calhousing,data,classes,2,,\n"  # a regression problem has no classes
    resolved = toy(published, **BOTH)
    assert value_columns(resolved) == FACTS
    lines = [
        cell("data", **dict(zip(FACTS, (30, 569, 2, 357, 212, 400, 169), strict=True))),
        cell(
            "data",
            dataset="calhousing",
            features=8,
            instances=20640,
            train=8000,
            test=12640,
        ),
    ]
    table = table_of(resolved, lines)
    assert "model" not in table.columns
    rows = {
        (r["dataset"], r["measure"]): (r["value"], r["verdict"])
        for r in rows_of(table.sections[0])
    }
    assert [measure for dataset, measure in rows if dataset == "WDBC"] == FACTS
    regression = [measure for dataset, measure in rows if dataset == "Calhousing"]
    assert regression == ["features", "instances", "train", "test"]
    assert rows["WDBC", "features"] == ("30", "reproduced")
    assert rows["WDBC", "instances"] == ("569", "differs")
    assert rows["WDBC", "train"] == ("400", "reproduced")
    assert rows["WDBC", "test"] == ("169", "")
    assert rows["Calhousing", "instances"][0] == "20640"
    assert rows["Calhousing", "test"][1] == "differs"
    assert value_columns(toy("WDBC,data,features,30,,\n", **BOTH)) == FACTS[:5]


ELM = {"model": "elm", "search": ["n_hidden"], "params": {"activation": "sigmoid"}}
SIZES = {"grids": {"n_hidden": [1, 10, 50]}, "models": {"ELM": ELM}}


def test_correlations_are_in_columns_by_the_number_of_nodes(toy: Toy) -> None:
    resolved = toy(
        "WDBC,ELM,spearman@h=10,0.979,,\nWDBC,ELM,spearman@h=50,1.0,,\n",
        layout="rank-correlation",
        **SIZES,
    )
    measures = [f"spearman@h={h}" for h in (1, 10, 50)]
    assert value_columns(resolved) == measures
    table = table_of(
        resolved,
        [
            cell(run=run, **dict(zip(measures, (0.5, 0.9785, 0.9984), strict=True)))
            for run in range(3)
        ],
    )
    (section,) = table.sections
    shown = [
        [r["measure"], r["value"], r["published"], r["verdict"]]
        for r in rows_of(section)
    ]
    assert shown[0] == ["rank correlation at h=1", "0.500 ± 0.000", "", ""]
    assert shown[1] == [
        "rank correlation at h=10",
        "0.9785 ± 0.0000",
        "0.979",
        "reproduced",
    ]
    # 1.000, whose trailing zeros are not printed.
    assert shown[2] == ["rank correlation at h=50", "0.9984 ± 0.0000", "1.0", "close"]
    assert list(headings(table, section)) == [
        "dataset",
        "measure",
        "value",
        "published",
        "verdict",
    ]
    assert "none" not in section.heading
    assert "rank correlation" in section.heading


def test_a_curve_is_whole_in_the_summary_and_thinned_in_the_table(toy: Toy) -> None:
    sizes = {"n_hidden": {"from": 5, "to": 150, "step": 5}}
    claim = {
        "says": "stable",
        "dataset": "most",
        "model": "ELM",
        "is": "close",
        "than": ["ELM"],
        "within": 0.1,
    }
    claim |= {"metric": "mcc@h=150", "than-metric": "mcc@h=10"}
    resolved = toy(layout="curves", **SIZES | {"grids": sizes}, claims=[claim])
    measures = value_columns(resolved)
    assert measures == [f"mcc@h={h}" for h in range(5, 151, 5)]
    lines = [
        cell(fold=fold, **{m: (0.4 if i == 0 else 0.8) for i, m in enumerate(measures)})
        for fold in (0, 1)
    ]
    lines += [line | {"run": 1} for line in lines]
    assert (
        summarise(MeasuredCells(frame(resolved, lines), resolved))["metric"].tolist()
        == measures
    )
    table = table_of(resolved, lines)
    assert [r["measure"] for r in rows_of(table.sections[0])] == [
        f"MCC at h={h}" for h in (5, 30, 60, 90, 120, 150)
    ]
    # A model that stands beside the table's own columns goes through the values of its own.
    assert value_columns(resolved, ["w-elm"])[len(measures) :] == [
        "mcc@h=250",
        "mcc@h=500",
        "mcc@h=1000",
    ]
    assert table.sections[0].heading == sentence(
        "tables.kinds.numbers-of-hidden-nodes-not-chosen"
    )
    (most,) = notes_of(table)
    assert sentence("tables.kinds.claim-between-sizes-on-all-data-sets") in most
    single, _ = notes_of(
        table_of(
            toy(
                layout="curves",
                **SIZES | {"grids": sizes},
                claims=[claim | {"dataset": "wdbc"}],
            ),
            lines,
        )
    )
    assert sentence("tables.kinds.claim-between-sizes-on-one-data-set") in single


def test_a_curve_over_powers_of_two_is_thinned_by_the_exponent(toy: Toy) -> None:
    columns = {
        name: {"model": "elm", "search": ["C"], "params": {"n_hidden": n}}
        for name, n in (("a", 5), ("b", 9))
    }
    claim = {
        "says": "flat",
        "dataset": "wdbc",
        "model": "a",
        "is": "close",
        "than": ["b"],
        "within": 0.1,
    }
    claim |= {"metric": "mcc@C=2^20", "than-metric": "mcc@C=0.03125"}
    resolved = toy(
        layout="curves",
        grids={"C": {"powers-of-2": [-6, 30]}},
        models=columns,
        claims=[claim],
    )
    measures = value_columns(resolved)
    assert len(set(measures)) == 37
    lines = [
        cell(model, fold=fold, **dict.fromkeys(measures, 0.5))
        for model in columns
        for fold in (0, 1)
    ]
    lines += [line | {"run": 1} for line in lines]
    table = table_of(resolved, lines)
    shown = [r["measure"] for r in rows_of(table.sections[0]) if r["model"] == "b"]
    exponents = [
        "0.015625",
        "0.03125",
        "1",
        "32",
        "1024",
        "32768",
        "2^20",
        "2^25",
        "2^30",
    ]
    assert shown == [f"MCC at C={value}" for value in exponents]
    assert table.sections[0].heading == sentence("tables.kinds.values-of-C-not-chosen")
    assert (
        sentence("tables.kinds.claim-between-models-on-one-data-set")
        in notes_of(table)[0]
    )


PROJECTED: dict[str, Any] = {
    "layout": "model-sizes",
    "models": {
        "SVD+ELM": {
            "model": "svd+os-elm",
            "params": {"n_components": 7, "n_hidden": 9},
        },
        "ELM": {"model": "elm", "params": {"n_hidden": 12}},
    },
    "claims": [],
}
FIGURES = (
    "WDBC,SVD+ELM,target_dimensions,8,,\nWDBC,SVD+ELM,nodes,9,,\nWDBC,ELM,nodes,10,,\n"
)


def test_sizes_and_target_dimensions(toy: Toy) -> None:
    resolved = toy(FIGURES, **PROJECTED)
    lines = runs("SVD+ELM", 0.5, 0.5, n_units=9, params={"n_components": 7}) + runs(
        "ELM", 0.5, 0.5, n_units=12
    )
    (section,) = table_of(resolved, lines).sections
    result = [
        (row["model"], row["measure"], row["value"], row["published"], row["verdict"])
        for row in rows_of(section)
    ]
    assert result == [
        ("SVD+ELM", "model size", "9.0 ± 0.0", "9", ""),
        ("SVD+ELM", "target dimensions", "7.0 ± 0.0", "8", ""),
        ("ELM", "model size", "12.0 ± 0.0", "10", ""),
    ]


def test_times_of_predictions_and_accuracies_of_training_rows_are_shown_where_they_are_named(
    toy: Toy,
) -> None:
    figures = "WDBC,ELM,test_seconds,0.5,,\nWDBC,ELM,train_accuracy_percent,99.8,,\n"
    part = {"train_accuracy": 0.95, "predict_seconds": 0.25}

    def shown(*metrics: str) -> tuple[Resolved, dict[str, str], dict[str, str]]:
        resolved = toy(figures, protocol={"metrics": ["mcc", *metrics]})
        table = table_of(
            resolved,
            runs("ELM", 0.5, 0.5, **(part if metrics else {"predict_seconds": 0.25})),
        )
        (section,) = table.sections
        return resolved, headings(table, section), rows_of(section)[0]

    resolved, names, line = shown("train_accuracy", "predict_seconds")
    assert names["value2"] == "training accuracy"
    assert (line["value2"], line["published2"], line["verdict2"]) == (
        "0.9500 ± 0.0000",
        "0.998",
        "too few runs",
    )
    assert (line["predict"], line["published_predict"]) == ("0.25", "0.5")
    assert Measure("train_accuracy") in kind_of_table(resolved).values()
    assert not kind_of_table(resolved).is_judged(Measure("predict_seconds"))
    resolved, names, line = shown()
    assert not {"value2", "predict"} & set(names)
    assert Measure("train_accuracy") not in kind_of_table(resolved).values()
