"""A table as it is shown: digits, endings, headings, times, notes."""

from typing import Any

import pytest
from made_cells import (
    Toy,
    cell,
    folds,
    frame,
    headings,
    notes_of,
    row,
    rows_of,
    stopped,
    table_from,
    table_of,
)
from sentences import sentence

from elmbench.results.cells import REMARKS
from elmbench.tables.number_texts import format_fixed, quantity, three_digits


def test_a_mean_has_one_digit_more_than_the_published_value(toy: Toy) -> None:
    resolved = toy("WDBC,ELM,mcc,0.93,0.012,\nWDBC,K-ELM,mcc,0.9,,\n")
    lines = [*folds("ELM", 0.91234, 0.91234), *folds("ELM", 0.93234, 0.93234)]
    for line in lines[2:]:
        line["run"] = 1
    lines += [*folds("K-ELM", 0.91234, 0.91234), *folds("OS-ELM", 0.91234, 0.91234)]
    (section,) = table_of(resolved, lines).sections
    assert row(section, "ELM")["value"] == "0.922 ± 0.014"
    assert row(section, "ELM")["published"] == "0.93 ± 0.012"
    assert row(section, "K-ELM")["value"] == "0.91"
    assert (row(section, "OS-ELM")["value"], row(section, "OS-ELM")["published"]) == (
        "0.912",
        "",
    )
    assert {r["dataset"] for r in rows_of(section)} == {"WDBC"}


def test_a_model_that_was_added_is_tested_against_the_best_one_on_the_same_folds(
    toy: Toy,
) -> None:
    scores = {"ELM": (0.90, 0.92), "mine": (0.80, 0.85), "K-ELM": (0.7, 0.7)}
    lines = [line for model, values in scores.items() for line in folds(model, *values)]
    # Two folds: t = 0.085 / (0.0212 sqrt(1/2 + 1)); t = 0.21 / (0.0141 sqrt(1/2 + 1)) of K-ELM has
    # Holm's factor 2.
    expected = sentence("report.tables.added-model-against-best")
    (note,) = (note for note in table_of(toy(""), lines).notes if note.kind == "added")
    assert (
        note.text
        == f"{expected} (corrected resampled t-test on 2 folds, Holm's correction)"
    )
    runs = [line | {"run": line["fold"], "fold": 0} for line in lines]
    (note,) = (note for note in table_of(toy(""), runs).notes if note.kind == "added")
    assert "t-test on 2 runs" in note.text
    others = table_of(toy(""), [line for line in lines if line["model"] != "mine"])
    assert "added" not in {note.kind for note in others.notes}


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        (stopped(600), "> 600 s"),
        (stopped(600, search=True), "> 600 s"),
        (
            {
                "status": "out-of-memory",
                "reason": "would need about 3 GB",
            },
            "out of memory",
        ),
        ({"status": "unavailable", "reason": "no data directory is given"}, "–"),
        ({"status": "diverged", "reason": "a prediction is not finite"}, "diverged"),
        ({"status": "diverged", "reason": ""}, "diverged"),
        ({"status": "failed", "reason": "ValueError: no"}, "failed"),
    ],
)
def test_unsuccessful_cells_are_shown_as_in_the_papers(
    toy: Toy, ending: dict[str, Any], shown: str
) -> None:
    lines = [cell(fold=i, **ending) for i in range(2)] + folds("K-ELM", 0.9, 0.9)
    table = table_of(toy("WDBC,ELM,mcc,0.93,,\n"), lines)
    assert row(table.sections[0], "ELM")["value"] == shown
    assert row(table.sections[0], "ELM")["verdict"] == "no data"
    assert row(table.sections[0], "ELM")["published"] == "0.93"
    (note,) = (note.text for note in table.notes if note.kind == "ending")
    assert ending["reason"] in note
    assert ("wdbc ELM, nested: 2 of 2 cells" in note) == (
        ending["status"] != "unavailable"
    )


def test_each_selection_and_reading_has_its_own_limit(toy: Toy) -> None:
    lines = [cell(fold=i, **stopped(5)) for i in range(2)]
    lines += [line | {"reading": "order=stored"} | stopped(60) for line in lines]
    # A mean of some folds shows of how many.
    lines += [cell("K-ELM", fold=0, mcc=0.9), cell("K-ELM", fold=1, **stopped(5))]
    table = table_of(toy("WDBC,K-ELM,mcc,0.9,,\n"), lines)
    assert [row(section, "ELM")["value"] for section in table.sections] == [
        "> 5 s",
        "> 60 s",
    ]
    some = row(table.sections[0], "K-ELM")
    assert (some["value"], some["verdict"]) == ("0.90 (1 ok)", "no data")
    assert notes_of(table)[1:] == (
        "wdbc ELM, nested, order=stored: 2 of 2 cells timeout: > 60 s",
        "wdbc K-ELM, nested: 1 of 2 cells timeout: > 5 s",
    )
    again = [line | {"select": "oracle"} for line in lines[:2]]
    assert notes_of(table_of(toy(), [*lines[:2], *again])) == (
        sentence("report.notes.same-ending"),
    )
    # Nor is it the best of the models.
    complete = [*folds("ELM", 0.8, 0.8), *folds("OS-ELM", 0.7, 0.7)]
    entries = table_of(toy(), [*lines[4:], *complete]).sections[0].entries
    assert [entry.model for entry in entries if entry.best] == ["ELM"]


def test_an_excluded_value_is_a_dash_and_notes_are_about_shown_data_sets(
    toy: Toy,
) -> None:
    figures = "WDBC,ELM,mcc,,,excluded: unstable\nSylva,ELM,mcc,0.8,,cited\n"
    table = table_of(toy(figures, datasets=["wdbc", "sylva"]), folds("ELM", 0.9, 0.9))
    assert row(table.sections[0], "ELM")["published"] == "–"
    assert notes_of(table) == ("published MCC of wdbc ELM: excluded: unstable",)


@pytest.mark.parametrize(
    ("criterion", "says"),
    [
        ("score", sentence("report.tables.chosen-on-inner-folds")),
        (
            "dcs-gaussians",
            sentence("report.tables.chosen-by-divergence-of-gaussians"),
        ),
        (
            "dcs-kde",
            sentence("report.tables.chosen-by-divergence-of-densities"),
        ),
    ],
)
def test_a_heading_names_the_criterion_of_the_choice(
    toy: Toy, criterion: str, says: str
) -> None:
    lines = [*folds("ELM", 0.9, 0.9), *folds("ELM", 0.9, 0.9, select="oracle")]
    nested, oracle = table_of(toy(protocol={"criterion": criterion}), lines).sections
    assert nested.heading == f"nested: hyperparameters {says}"
    assert oracle.heading == sentence("report.tables.heading-of-oracle")


@pytest.mark.parametrize(
    "reading", ["carry-over=folds", "c-grid=all-powers;carry-over=folds"]
)
def test_state_carried_over_folds_is_labelled_as_leaking(
    toy: Toy, reading: str
) -> None:
    lines = [*folds("ELM", 0.9, 0.9), *folds("ELM", 0.9, 0.9, reading=reading)]
    default, leaking = table_of(toy(), lines).sections
    assert "LEAKING" in leaking.heading
    assert "LEAKING" not in default.heading


def test_times_are_compared_as_ratios_over_the_first_model_of_a_data_set(
    toy: Toy,
) -> None:
    published = "WDBC,ELM,train_seconds,0.5,,\nWDBC,K-ELM,train_seconds,2,,\nCalhousing,K-ELM,train_seconds,3,,\n"
    resolved = toy(
        published,
        datasets=["wdbc", "calhousing"],
        protocol={"metrics": ["mcc", "nrmse", "fit_seconds"]},
    )
    lines = [
        *folds("ELM", 1, 1, fit_seconds=0.2),
        *folds("K-ELM", 1, 1, fit_seconds=1.0),
    ]
    lines += [
        line | {"dataset": "calhousing", "nrmse": 0.5, "mcc": None}
        for line in lines[2:]
    ]
    rows = rows_of(table_of(resolved, lines).sections[0])
    assert [r["ratio"] for r in rows] == ["1", "5", "1"]
    assert [r["published_ratio"] for r in rows] == ["1", "4", "1"]
    assert [r["fit"] for r in rows] == ["0.2", "1", "1"]
    assert [r["value"] for r in rows] == ["1.000", "1.000", "0.500"]


TIMES = (
    "WDBC,ELM,train_seconds,0.5,,\nWDBC,K-ELM,train_seconds,20.0,,\n"
    "WDBC,OS-ELM,train_seconds,,,over 600 s\nWDBC,FB-KOS-ELM,train_seconds,,,\n"
)


def test_a_table_of_times_shows_times_first(toy: Toy) -> None:
    resolved = toy(TIMES, layout="times")
    lines = [
        *folds("ELM", 0.9, 0.8, fit_seconds=0.2),
        *folds("K-ELM", 0.7, 0.7, fit_seconds=1.0),
    ]
    lines += folds("OS-ELM", 0.5, 0.5) + folds("FB-KOS-ELM", 0.5, 0.5)
    table = table_of(resolved, lines)
    (section,) = table.sections
    expected = [
        "data set",
        "model",
        "fit s",
        "publ. s",
        "fit ratio",
        "publ. ratio",
        "MCC",
    ]
    assert list(headings(table, section).values()) == expected
    # There is no verdict, so the ratios are what a terminal shows.
    assert list(headings(table, section, narrow=True).values()) == expected
    result = row(section, "K-ELM")
    shown = [
        result[name]
        for name in ("fit", "published_fit", "ratio", "published_ratio", "value")
    ]
    assert shown == ["1", "20.0", "5", "40", "0.700"]
    assert [r["published_fit"] for r in rows_of(section)] == [
        "0.5",
        "20.0",
        "> 600 s",
        "–",
    ]


@pytest.mark.parametrize(
    ("ending", "shown"),
    [(stopped(600), "> 600 s"), (stopped(7200, search=True), "search > 7200 s")],
)
def test_a_timed_out_fit_shows_its_limit_in_place_of_its_time(
    toy: Toy, ending: dict[str, Any], shown: str
) -> None:
    resolved = toy(TIMES, layout="times", **{"search-limit": "time=2h"})
    lines = [cell("OS-ELM", fold=i, fit_seconds=None, **ending) for i in range(2)]
    table = table_of(resolved, lines)
    result = row(table.sections[0], "OS-ELM")
    assert (result["fit"], result["published_fit"], result["value"]) == (
        shown,
        "> 600 s",
        "",
    )
    # A note does not repeat the content of the cell.
    assert [note for note in notes_of(table) if "over 600 s" in note] == []


def test_an_empty_column_is_left_out(toy: Toy) -> None:
    resolved = toy("WDBC,ELM,mcc,0.93,,\n")
    lines = [*folds("ELM", 0.9, 0.9), *folds("ELM", 0.9, 0.9, reading="order=stored")]
    table = table_of(resolved, lines)
    assert "published" in headings(table, table.sections[0])
    assert "published_fit" in {column.name for column in table.columns}
    assert "published_fit" not in headings(table, table.sections[0])
    bare = table_of(toy(), lines)
    assert list(headings(bare, bare.sections[0])) == [
        "dataset",
        "model",
        "value",
        "fit",
        "ratio",
    ]
    assert list(headings(bare, bare.sections[0], narrow=True)) == [
        "dataset",
        "model",
        "value",
        "fit",
    ]


@pytest.mark.parametrize(
    ("profile", "settings", "runs", "says"),
    [
        ("paper", {}, 2, "Profile paper: the protocol as printed, 2 runs."),
        (
            "paper",
            {},
            1,
            sentence(
                "report.tables.printed-protocol-fewer-runs", runs=1, published_runs=2
            ),
        ),
        (
            "paper",
            {},
            3,
            sentence("report.tables.printed-protocol-range-of-runs", fewest=2, most=3),
        ),
        (
            "ci",
            None,
            1,
            sentence(
                "report.tables.fewer-runs-and-thinned-grids", runs=1, published_runs=2
            ),
        ),
        ("ci", {"runs": 1}, 2, "2 runs"),
        (
            "ci",
            {"rows": 400, "folds": 5},
            2,
            sentence("report.tables.fewer-rows-and-folds", runs=2, rows=400, folds=5),
        ),
        (
            "ci",
            {"stand-ins": ["sylva"], "thin-grids": 1},
            2,
            sentence(
                "report.tables.data-in-place-of-the-papers", runs=2, dataset="sylva"
            ),
        ),
    ],
)
def test_the_subtitle_names_the_profile_and_its_deviations_from_the_printed_protocol(
    toy: Toy, profile: str, settings: dict[str, object] | None, runs: int, says: str
) -> None:
    changes = {} if settings is None else {"profiles": {"ci": settings}}
    lines = [
        line | {"run": run} for run in range(runs) for line in folds("ELM", 0.9, 0.9)
    ]
    lines += [line | {"model": "OS-ELM"} for line in lines if line["run"] < 2]
    says = says if profile == "paper" else f"Profile ci: {says}."
    assert table_of(toy(profile=profile, **changes), lines).subtitle.endswith(says)


def test_data_sets_that_lack_for_the_same_reason_share_a_note(toy: Toy) -> None:
    names = ["sonar", "wdbc", "heart", "oil-spill"]
    missing = "the data set '{0}' is not here; elmbench data fetch {0} (or drop {0}.csv into the folder)"
    reasons = {name: missing.format(name) for name in names} | {"heart": "its licence"}
    lines = [
        cell(dataset=name, status="unavailable", reason=reasons[name])
        for name in names
        if name != "wdbc"
    ]
    table = table_of(toy(datasets=names), [*lines, *folds("ELM", 0.9, 0.9)])
    assert notes_of(table) == (
        sentence("report.notes.data-sets-unavailable", datasets="sonar, oil-spill"),
        "heart unavailable: its licence",
    )
    (alone,) = notes_of(table_of(toy(datasets=names), lines[:1]))
    assert alone == f"sonar unavailable: {reasons['sonar']}"


def test_data_sets_with_the_same_remark_share_a_note(toy: Toy) -> None:
    remarks = {
        "sonar": "sonar.csv.gz: only counted",
        "wdbc": "15 rows only",
        "heart": "heart.csv.gz: only counted",
    }
    resolved = toy(datasets=list(remarks))
    lines = [line for name in remarks for line in folds("ELM", 0.9, 0.9, dataset=name)]
    cells = frame(resolved, lines)
    cells[REMARKS] = cells["dataset"].map(remarks)
    assert notes_of(table_from(cells, resolved)) == (
        "sonar, heart: NAME.csv.gz: only counted",
        "wdbc: 15 rows only",
    )


def test_a_note_on_published_values_names_the_metrics_of_equal_cells_once(
    toy: Toy,
) -> None:
    figures = "".join(
        f"WDBC,{model},{metric},0.9,,a doubt\n"
        for model in ("ELM", "K-ELM")
        for metric in ("mcc", "f1")
    )
    resolved = toy(
        f"{figures}WDBC,OS-ELM,mcc,0.9,,a doubt\n",
        protocol={"metrics": ["mcc", "f1"]},
    )
    assert notes_of(table_of(resolved, folds("ELM", 0.9, 0.9, f1=0.9))) == (
        sentence("report.notes.metrics-of-equal-cells"),
    )


def test_a_time_far_below_the_printed_one_keeps_its_digits(toy: Toy) -> None:
    figures = "WDBC,ELM,train_seconds,1.9,,\nWDBC,K-ELM,train_seconds,1.9,,\n"
    lines = [
        *folds("ELM", 0.9, 0.9, fit_seconds=0.00234),
        *folds("K-ELM", 0.9, 0.9, fit_seconds=0.234),
    ]
    entries = table_of(toy(figures), lines).sections[0].entries
    shown = {
        entry.model: entry.shown
        for entry in entries
        if entry.measure.metric == "fit_seconds"
    }
    assert shown == {"ELM": "0.0023", "K-ELM": "0.23"}


def test_the_subtitle_of_a_table_without_ended_cells(toy: Toy) -> None:
    table = table_of(toy(), [])
    assert table.subtitle.endswith("Profile paper: no cell has ended yet.")
    assert table.sections == ()


def test_numbers_fit_their_columns() -> None:
    """Seconds have three figures at most, and figures that have run away are powers of ten."""
    assert [three_digits(value) for value in (0.00234, 0.0467, 12.3456, 123.4)] == [
        "0.0023",
        "0.0467",
        "12.3",
        "123",
    ]
    assert quantity(379.3, 5.7e-14) == "379 ± 0"  # equal numbers, apart from round-off
    assert (format_fixed(1234567.0, 3), format_fixed(999999.0, 1)) == (
        "1.2e+06",
        "999999.0",
    )


def test_a_model_that_is_not_run_on_a_data_set_is_named_with_the_reason(
    toy: Toy,
) -> None:
    column = {
        "model": "k-elm",
        "search": ["C"],
        "not-run": {"wdbc": "it would take days"},
    }
    resolved = toy("WDBC,ELM,mcc,0.93,,\n", models={"K-ELM": column})
    table = table_of(resolved, folds("ELM", 0.9, 0.9))
    assert notes_of(table) == (
        sentence(
            "report.notes.not-run",
            dataset="wdbc",
            model="K-ELM",
            reason="it would take days",
        ),
    )
