"""summary.csv and optimism.csv: averages, deviations, verdicts on published values, gains of
choices on test folds.
"""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import (
    Toy,
    cell,
    committed,
    entry,
    folds,
    frame,
    headings,
    notes_of,
    row,
    rows_of,
    runs,
    summarise,
    summary_of,
    table_of,
)
from scipy.stats import t
from sentences import sentence

from elmbench.judging.measured_cells import MeasuredCells
from elmbench.judging.summary import optimism
from elmbench.results.cells import REMARKS
from elmbench.specs.datasets.source_registry import OTHER_DATA, TRAINING_ONLY
from elmbench.tables.number_texts import gain_text


def test_only_successful_cells_are_averaged(toy: Toy) -> None:
    lines = folds("ELM", 0.8, 0.9)
    lines += [
        cell(run=1, fold=0, mcc=0.1, status="diverged"),
        cell(run=1, fold=1, mcc=0.4),
    ]
    line = entry(toy("WDBC,ELM,mcc,0.7,0.5,\n"), lines)
    assert line["mean"] == pytest.approx(0.7)
    assert line["n"] == 3
    assert (line["verdict"], line["ended"]) == ("no data", "incomplete")


def test_the_deviation_is_that_of_the_run_means(toy: Toy) -> None:
    lines = [
        cell(run=r, fold=f, mcc=m)
        for r, f, m in [(0, 0, 0.8), (0, 1, 1.0), (1, 0, 0.5), (1, 1, 0.7)]
    ]
    of_runs = entry(toy(), lines)["std"]
    assert of_runs == pytest.approx(np.std([0.9, 0.6], ddof=1))
    of_folds = entry(toy(protocol={"std": "of-folds"}), lines)["std"]
    assert of_folds == pytest.approx(np.std([0.8, 1.0, 0.5, 0.7], ddof=1))
    assert pd.isna(entry(toy(), lines[:2])["std"])


def test_the_runs_that_would_tell_the_models_apart(toy: Toy) -> None:
    figures = "WDBC,ELM,mcc,0.9000,,\nWDBC,K-ELM,mcc,0.9500,,\nWDBC,OS-ELM,mcc,,,\n"
    line = entry(toy(figures), runs("ELM", 0.897, 0.9, 0.903))
    # The margin is .02, and 2 t s sqrt(1 + 1/R) + 0.0001 is .0214 after four runs and .0184 after
    # five.
    assert (line["verdict"], line["runs_to_tell"]) == ("consistent", 5)
    line = entry(toy(figures), folds("ELM", 0.9, 0.9))
    assert (line["verdict"], line["runs"], line["runs_to_tell"]) == (
        "too few runs",
        1,
        3,
    )
    assert pd.isna(line["low"])


@pytest.mark.parametrize(
    ("reading", "profile", "folds", "verdict"),
    [
        ("", {}, 2, "reproduced"),
        ("order=stored", {}, 2, "reproduced"),
        ("carry-over=folds", {}, 2, "not comparable"),
        ("", {"rows": 200}, 2, "not comparable"),
        ("", {"rows": 569}, 2, "reproduced"),
        ("", {"tune-rows": 200}, 2, "reproduced"),
        ("", {"folds": 5}, 2, "no data"),
        ("", {"folds": 3}, 3, "not comparable"),
    ],
)
def test_leaks_and_rows_or_folds_that_a_profile_changes_are_not_compared(
    toy: Toy, reading: str, profile: dict[str, int], folds: int, verdict: str
) -> None:
    """A figure that another paper has measured is no model of the row."""
    figures = "WDBC,ELM,mcc,0.9000,,\nWDBC,LASVM (cited),mcc,0.9010,,\n"
    resolved = toy(figures, profile="fast", profiles={"fast": profile})
    lines = runs("ELM", 0.899, 0.9, 0.901, folds=folds, reading=reading)
    line = entry(resolved, lines, model="ELM")
    assert (line["verdict"], line["runs"]) == (
        verdict,
        None if verdict == "no data" else 3,
    )


@pytest.mark.parametrize("has_cells", [True, False])
@pytest.mark.parametrize("metric", ["mcc", "train_seconds"])
@pytest.mark.parametrize("value", ["0.9000", ""])
def test_an_entry_is_cited_with_or_without_cells_and_a_number(
    toy: Toy, has_cells: bool, metric: str, value: str
) -> None:
    model = "LASVM (cited)"
    cited = {"model": "elm", "params": {"n_hidden": 10}}
    models = {"ELM": cited, model: cited} if has_cells else {"ELM": cited}
    resolved = toy(f"WDBC,{model},{metric},{value},,\n", models=models)
    lines = [*runs("ELM", 0.9), *(runs(model, 0.9) if has_cells else [])]
    name = "fit_seconds" if metric == "train_seconds" else metric
    assert entry(resolved, lines, name, model=model)["verdict"] == "cited"


def test_other_rows_than_the_papers_are_not_compared(toy: Toy) -> None:
    figures, result = "WDBC,ELM,mcc,0.900,,\n", runs("ELM", 0.899, 0.9, 0.901)
    resolved = toy(figures, **{"other-rows": {"wdbc": "it prints 900 rows"}})
    assert entry(resolved, result)["verdict"] == "not comparable"
    assert "wdbc not comparable: it prints 900 rows" in notes_of(
        table_of(resolved, result)
    )
    for remark, verdict in {
        f"wdbc.csv {OTHER_DATA} that of scikit-learn: 12 values": "not comparable",
        f"{TRAINING_ONLY}: 400 of 569 rows": "not comparable",
        "wdbc.csv: only the counts were compared": "reproduced",
    }.items():
        remarked = frame(toy(figures), result).assign(**{REMARKS: remark})
        lines = summarise(MeasuredCells(remarked, toy(figures))).query(
            "metric == 'mcc' and published == 0.9"
        )
        assert lines["verdict"].tolist() == [verdict]


PARAMETERS = {"stands-in-for": {"parameters": "the width, which is not printed"}}
MODEL = {"stands-in-for": {"model": "an ELM of pruned nodes"}}


@pytest.mark.parametrize(
    ("change", "note", "caption"),
    [
        (
            PARAMETERS,
            sentence(
                "judging.summary.parameters-of-our-own",
                what="the width, which is not printed",
            ),
            "; our parameters: ELM",
        ),
        (
            {"except": {"wdbc": PARAMETERS}},
            sentence(
                "judging.summary.parameters-of-our-own",
                what="the width, which is not printed",
            ),
            "; our parameters: ELM",
        ),
        (
            MODEL,
            sentence("judging.summary.model-of-our-own", what="an ELM of pruned nodes"),
            "",
        ),
    ],
)
def test_a_column_that_stands_in_is_shown_and_not_compared(
    toy: Toy,
    experiment: dict[str, Any],
    change: dict[str, Any],
    note: str,
    caption: str,
) -> None:
    figures = "WDBC,ELM,mcc,0.900,,\nWDBC,K-ELM,mcc,0.800,,\n"
    elm = experiment["models"]["ELM"]
    resolved = toy(figures, models=experiment["models"] | {"ELM": elm | change})
    result = [*runs("ELM", 0.899, 0.9, 0.901), *runs("K-ELM", 0.799, 0.8, 0.801)]
    line = entry(resolved, result, model="ELM")
    assert (line["verdict"], line["mean"]) == ("not comparable", pytest.approx(0.9))
    assert entry(resolved, result, model="K-ELM")["verdict"] == "reproduced"
    table = table_of(resolved, result)
    assert f"wdbc ELM not comparable: {note}" in notes_of(table)
    assert (
        table.sections[0].explanation.partition("; our")[1:]
        == caption.partition("; our")[1:]
    )


@pytest.mark.parametrize(
    ("figure", "metric", "published"),
    [
        ("mcc,,,excluded", "mcc", None),
        ("fit_seconds,0.5,,", "fit_seconds", 0.5),
        ("n_units,0.5,,", "n_units", 0.5),
    ],
)
def test_no_verdict_without_a_published_value_or_on_times_and_sizes(
    toy: Toy, figure: str, metric: str, published: float | None
) -> None:
    line = entry(toy(f"WDBC,ELM,{figure}\n"), folds("ELM", 0.8, 0.9), metric)
    assert line["verdict"] == ""
    assert line["published"] == published or (
        published is None and pd.isna(line["published"])
    )


@pytest.mark.parametrize(
    "status", ["timeout", "out-of-memory", "diverged", "failed", "unavailable"]
)
def test_an_entry_has_the_status_that_all_its_cells_share(
    toy: Toy, status: str
) -> None:
    resolved = toy("WDBC,ELM,mcc,0.9,,\n")
    line = entry(resolved, [cell(fold=0, status=status), cell(fold=1, status=status)])
    assert (line["verdict"], line["ended"]) == ("no data", status)
    assert (pd.isna(line["mean"]), line["n"]) == (True, 0)
    mixed = entry(resolved, [cell(fold=0, status=status), cell(fold=1, mcc=0.9)])
    assert (mixed["verdict"], mixed["ended"], mixed["n"]) == (
        "no data",
        "incomplete",
        1,
    )


def test_a_run_that_lacks_folds_of_its_data_set_gets_no_verdict(toy: Toy) -> None:
    lines = folds("ELM", 0.9, 0.9)
    assert entry(toy("WDBC,ELM,mcc,0.9,,\n"), lines)["ended"] == "ok"
    more = entry(toy("WDBC,ELM,mcc,0.9,,\n"), [*lines, cell(run=1, fold=0, mcc=0.9)])
    assert (more["ended"], more["verdict"]) == ("incomplete", "no data")
    outer = {
        "kind": "stratified-kfold",
        "folds": 2,
        "runs": 1,
        "except": {"wdbc": {"folds": 3}},
    }
    resolved = toy("WDBC,ELM,mcc,0.9,,\n", protocol={"outer": outer})
    assert entry(resolved, lines)["ended"] == "incomplete"
    assert entry(resolved, folds("ELM", 0.9, 0.9, 0.9))["ended"] == "ok"


@pytest.mark.parametrize(
    ("part", "other"),
    [("nested", "oracle"), ("oracle", "nested"), ("published", "nested")],
)
def test_default_readings_and_the_tables_own_selection_come_first(
    toy: Toy, part: str, other: str
) -> None:
    shuffled = product((other, part), ("order=stored", ""), ("K-ELM", "ELM"))
    lines = [
        one
        for select, reading, m in shuffled
        for one in folds(m, 0.8, 0.9, select=select, reading=reading)
    ]
    summary = summary_of(toy(protocol={"select": part}), lines)
    result = list(
        dict.fromkeys(
            summary[["reading", "select", "model"]].itertuples(index=False, name=None)
        )
    )
    assert result == list(
        product(("", "order=stored"), (part, other), ("ELM", "K-ELM"))
    )
    # The table's own metrics stand before the others.
    assert summary["metric"].tolist()[:2] == ["mcc", "fit_seconds"]


def test_an_entry_without_any_value_keeps_the_line_of_its_first_metric(
    toy: Toy,
) -> None:
    lines = folds(
        "ELM",
        float("nan"),
        float("nan"),
        fit_seconds=float("nan"),
        n_units=float("nan"),
    )
    result = summary_of(toy("WDBC,ELM,mcc,0.9,,\n"), lines)
    assert result[["model", "metric", "ended", "verdict"]].to_numpy().tolist() == [
        ["ELM", "mcc", "ok", "no data"]
    ]
    assert pd.isna(result["mean"]).all()


BOTH = {"protocol": {"select": ["oracle", "nested"]}}


def selections(
    model: str, oracle: list[float], nested: list[float], **values: Any
) -> list[dict[str, Any]]:
    return [
        *folds(model, *oracle, select="oracle", **values),
        *folds(model, *nested, **values),
    ]


def test_it_is_the_oracle_minus_nested_on_the_same_folds(toy: Toy) -> None:
    resolved = toy(**BOTH)
    lines = selections("ELM", [0.9, 0.8], [0.85, 0.5])
    (line,) = optimism(frame(resolved, lines), resolved).to_dict("records")
    assert [line[name] for name in ("dataset", "model", "metric", "reading", "n")] == [
        "wdbc",
        "ELM",
        "mcc",
        "",
        2,
    ]
    assert [line["oracle"], line["nested"], line["optimism"]] == pytest.approx(
        [0.85, 0.675, 0.175]
    )
    # The deviation of the differences 0.05 and 0.3, not of the means.
    assert line["std"] == pytest.approx(0.25 / 2**0.5)
    half = t.ppf(0.975, 1) * 0.25 / 2**0.5 * np.sqrt(1 / 2 + 1)
    assert (line["low"], line["high"]) == pytest.approx((0.175 - half, 0.175 + half))


def test_an_error_has_the_opposite_sign(toy: Toy) -> None:
    resolved = toy(datasets=["calhousing"], protocol={"metrics": ["nrmse"]})
    lines = [
        cell(dataset="calhousing", select=s, nrmse=v)
        for s, v in [("oracle", 0.4), ("nested", 0.5)]
    ]
    (line,) = optimism(frame(resolved, lines), resolved).to_dict("records")
    assert line["optimism"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "timeout", "reason": "> 5 s"},
        {"status": "unavailable", "reason": "no file"},
        {"fold": 7},
        {"mcc": float("nan")},
    ],
)
def test_an_entry_without_a_fold_has_no_optimism(
    toy: Toy, change: dict[str, Any]
) -> None:
    resolved = toy(**BOTH)
    lines = [
        *selections("ELM", [0.9, 0.8], [0.8, 0.7]),
        *selections("K-ELM", [0.9, 0.8], [0.8, 0.7]),
    ]
    lines[0] |= change
    result = optimism(frame(resolved, lines), resolved)
    assert result["model"].tolist() == ["K-ELM"]


def test_one_selection_alone_has_none(toy: Toy) -> None:
    resolved = toy(**BOTH)
    lines = [
        *folds("ELM", 0.9, 0.8, select="oracle"),
        *folds("K-ELM", 0.9, 0.8),
        *folds("OS-ELM", 1, 1),
    ]
    lines += folds("OS-ELM", 1, 1, select="published")
    assert not len(optimism(frame(resolved, lines), resolved))
    assert all(
        not any(r["optimism"] for r in rows_of(section))
        for section in table_of(resolved, lines).sections
    )


def test_the_table_shows_it_beside_the_oracle_and_its_mean_in_a_note(toy: Toy) -> None:
    resolved = toy(datasets=["wdbc", "heart"], **BOTH)
    lines = [
        *selections("ELM", [0.9, 0.8], [0.8, 0.7]),
        *selections("K-ELM", [0.9, 0.8], [0.95, 0.9]),
    ]
    lines += selections("ELM", [0.9, 0.8], [0.6, 0.5], dataset="heart")
    lines += selections("ELM", [0.9, 0.9], [0.5, 0.5], reading="order=stored")
    table = table_of(resolved, lines)
    oracle, nested, stored, _ = table.sections
    assert [r["optimism"] for r in rows_of(oracle)] == ["+0.100", "-0.075", "+0.300"]
    assert row(stored, "ELM")["optimism"] == "+0.400"
    assert "optimism" in headings(table, oracle)
    assert "optimism" not in headings(table, nested)
    (note,) = [note for note in notes_of(table) if note.startswith("optimism")]
    assert note.endswith("mean over 1 to 2 data sets: ELM +0.200, K-ELM -0.075")


def test_nothing_gained_has_a_plus() -> None:
    assert [gain_text(v) for v in (-1e-9, 0.0, 1e-9, -0.0006)] == [
        "+0.000",
        "+0.000",
        "+0.000",
        "-0.001",
    ]


def test_the_interval_of_a_table_is_over_its_data_sets(toy: Toy) -> None:
    names = ["wdbc", "heart", "sonar"]
    resolved = toy(datasets=names, **BOTH)
    gains = dict(zip(names, (0.02, 0.05, 0.11), strict=True))
    # The mean of the two models is what a data set gains.
    lines = [
        line
        for name, gain in gains.items()
        for model, share in (("ELM", 0.5), ("K-ELM", 1.5))
        for line in selections(model, [0.8 + share * gain] * 2, [0.8] * 2, dataset=name)
    ]
    (note,) = [
        text
        for text in notes_of(table_of(resolved, lines))
        if text.startswith("optimism")
    ]
    half = t.ppf(0.975, 2) * np.std([*gains.values()], ddof=1) / np.sqrt(3)
    ends = f"[{0.06 - half:+.3f}, {0.06 + half:+.3f}]"
    assert note.endswith(f"all models +0.060 {ends}, paired t-test over data sets")


def test_published_lines_are_those_of_the_summary() -> None:
    results = committed("fast/kos-elm/table4")
    every = summarise(results.judged.measured)
    lines = summarise(
        MeasuredCells(results.cells, results.resolved), published_only=True
    )
    keys = ["dataset", "model", "metric", "select", "reading"]
    assert set(lines["reading"]) == {""}
    expected = every.merge(lines[keys], on=keys)
    pd.testing.assert_frame_equal(lines, expected[[*lines]], check_dtype=False)
    published = every[(every["reading"] == "") & every["published"].notna()]
    assert len(lines[lines["published"].notna()]) == len(published) > 0
    claimed = {
        part.metric.column
        for claim in results.resolved.file.spec.claims
        for part in claim.comparisons
    }
    assert set(lines.loc[lines["published"].isna(), "metric"]) <= claimed | {"mcc"}
