"""The order of the models of a comparison, and its rule for ties."""

from itertools import permutations
from typing import Any

import pytest
from made_cells import (
    Toy,
    cell,
    frame,
    headings,
    notes_of,
    rows_of,
    summary_of,
    table_from,
    table_of,
)
from sentences import sentence

from elmbench.evaluation.model_order import ModelOrder, rank_models

METRICS = ("accuracy", "mcc")
#: Models with the same accuracy, in their order.
EQUAL: dict[str, dict[str, float]] = {
    "better": {"accuracy": 0.9, "mcc": 0.8, "n_units": 50, "fit_seconds": 9},
    "small": {"accuracy": 0.9, "mcc": 0.7, "n_units": 5, "fit_seconds": 9},
    "fast": {"accuracy": 0.9, "mcc": 0.7, "n_units": 50, "fit_seconds": 1},
    "a": {"accuracy": 0.9, "mcc": 0.7, "n_units": 50, "fit_seconds": 2},
    "b": {"accuracy": 0.9, "mcc": 0.7, "n_units": 50, "fit_seconds": 2},
}


def test_ties_go_by_metric_size_time_and_name_whatever_the_order_of_naming() -> None:
    means = EQUAL | {"best": {"accuracy": 0.95, "mcc": 0.1}, "worst": {"accuracy": 0.1}}
    for names in permutations(means):
        order = ModelOrder(METRICS, {name: means[name] for name in names})
        assert order.models == ["best", *EQUAL, "worst"]
        assert order.ties == [[*EQUAL]]
        assert order.advantages_of_best() == ""
    rule = sentence("tables.model-order.rule")
    assert order.rule == rule


@pytest.mark.parametrize(
    ("models", "reason"),
    [
        (["better", "a"], "tied with a on accuracy; better mcc"),
        (["a", "small"], "tied with a on accuracy; smaller size"),
        (
            ["a", "fast", "b"],
            sentence("tables.model-order.advantage-by-time", models="a, b"),
        ),
        (["b", "a"], sentence("tables.model-order.advantage-by-name", model="b")),
        (
            ["b", "small", "better"],
            sentence(
                "tables.model-order.advantage-by-second-metric",
                models="small, b",
                metric="mcc",
            ),
        ),
        (
            ["fast", "small", "a", "unsized"],
            sentence("tables.model-order.two-advantages"),
        ),
        (["a"], ""),
    ],
)
def test_the_best_model_has_a_reason(models: list[str], reason: str) -> None:
    means = EQUAL | {"unsized": {"accuracy": 0.9}}
    assert ModelOrder(
        METRICS, {name: means[name] for name in models}
    ).advantages_of_best() == (reason)


def test_an_error_is_smaller_where_it_is_better_and_round_off_is_no_difference() -> (
    None
):
    means = {
        "a": {"rmse": 0.3, "r2": 0.5},
        "b": {"rmse": 0.1 + 0.2, "r2": 0.6},
        "c": {"rmse": 0.2, "r2": 0.1},
    }
    order = ModelOrder(("rmse", "r2"), means)
    assert order.models == ["c", "b", "a"]
    assert order.ties == [["b", "a"]]


def lines_of(
    models: dict[str, tuple[list[float], list[float], int]],
) -> list[dict[str, Any]]:
    """Return the cells of a run: the accuracy and the MCC of each fold, and the size."""
    from made_cells import cell

    return [
        cell(name, fold=fold, accuracy=accuracy, mcc=mcc, n_units=size)
        for name, (accuracies, mccs, size) in models.items()
        for fold, (accuracy, mcc) in enumerate(zip(accuracies, mccs, strict=True))
    ]


def test_a_table_shows_every_tied_model_in_one_order(toy: Toy) -> None:
    """The second model has the same mean from other folds, and the p-values are against the first
    of them.
    """
    models: dict[str, Any] = {
        "ELM": ([0.1, 0.2, 0.3], [0.2, 0.2, 0.2], 80),
        "K-ELM": ([0.3, 0.2, 0.1], [0.2, 0.2, 0.2], 7),
        "OS-ELM": ([0.1, 0.15, 0.2], [0.3, 0.3, 0.3], 5),
    }
    tables, texts = [], []
    for names in permutations(models):
        spec = {name: {"model": name.lower(), "params": {}} for name in names}
        resolved = toy(
            layout="comparison",
            models=spec,
            protocol={
                "metrics": ["accuracy", "mcc"],
                "outer": {"kind": "kfold", "folds": 3},
                "select": "published",
            },
        )
        lines = [
            line | {"select": "published"}
            for line in lines_of({name: models[name] for name in names})
        ]
        order = rank_models(summary_of(resolved, lines), "wdbc", resolved)
        assert order.models == ["K-ELM", "ELM", "OS-ELM"]
        assert order.advantages_of_best() == "tied with ELM on accuracy; smaller size"
        table = table_from(frame(resolved, lines), resolved)
        tables.append(
            [
                (row["model"], row["rank"], row["p"])
                for row in rows_of(table.sections[0])
            ]
        )
        texts.append(
            [note for note in notes_of(table) if "same mean" in note or "folds" in note]
        )
    assert [row[:2] for row in tables[0]] == [
        ("K-ELM", "=1"),
        ("ELM", "=1"),
        ("OS-ELM", "3"),
    ]
    assert [row[2] for row in tables[0][:2]] == ["best", "tied"]
    assert texts[0][0] == sentence(
        "tables.model-order.note-on-ties",
        dataset="wdbc",
        models="K-ELM, ELM",
        rule=sentence("tables.model-order.rule"),
    )
    assert all(table == tables[0] for table in tables)
    assert all(text == texts[0] for text in texts)


SIZES = {"sizes": {"wdbc": {"test": 69}}}


@pytest.mark.parametrize(
    ("outer", "is_tested"),
    [
        ({"kind": "kfold", "folds": 3}, True),
        ({"kind": "ordered-kfold", "folds": 3, "runs": 1}, True),
        ({"kind": "holdout", "runs": 3, **SIZES}, True),
        # A single test part.
        ({"kind": "holdout", "runs": 1, **SIZES}, False),
        ({"kind": "official"}, False),
        # The same test part in every run.
        ({"kind": "in-order", "runs": 3, **SIZES}, False),
        # The numbers of rows are not known.
        ({"kind": "given", "file": "one.csv", "folds": 3, "runs": 2}, False),
    ],
)
def test_the_heading_explains_p_if_the_table_shows_it(
    toy: Toy, outer: dict[str, Any], is_tested: bool
) -> None:
    resolved = toy(
        "WDBC,ELM,mcc,0.9,,\n",
        layout="comparison",
        protocol={"outer": outer, "select": "published", "order": "stored"},
    )
    split = resolved.spec.protocol.outer
    lines = [
        cell(model, run, fold, mcc=mcc + 0.01 * fold * mcc, select="published")
        for model, mcc in (("ELM", 0.9), ("K-ELM", 0.8))
        for run in range(split.runs)
        for fold in range(split.folds)
    ]
    table = table_of(resolved, lines)
    (section,) = table.sections
    assert ("p" in headings(table, section)) is is_tested
    assert ("p: p-value" in section.heading) is is_tested
