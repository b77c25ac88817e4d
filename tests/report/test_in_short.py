"""Whether a paper holds in a sentence or two: numbers against the files that they come from."""

from typing import Any

import pandas as pd
import pytest
from made_cells import RESULTS, committed
from pydantic import ValidationError

from elmbench.judging.judged_table import JudgedTable
from elmbench.report.in_short import in_short
from elmbench.specs.papers import ShortSentence

SYLVA = {
    "table": "kos-elm/table4",
    "dataset": "sylva",
    "model": "FB-KOS-ELM",
    "metric": "mcc",
}


def table(*names: str) -> JudgedTable:
    """Return a committed table under some profiles, the most faithful one first."""
    results = [committed(name) for name in names]
    return JudgedTable(results[0].resolved.file, [one.judged for one in results])


def rendered(sentence: dict[str, Any], *tables: JudgedTable) -> list[str]:
    by_id = {one.file.id: one for one in tables}
    return in_short((ShortSentence.model_validate(sentence),), by_id)


@pytest.mark.parametrize("reading", ["", "carry-over=folds"])
def test_a_value_is_the_mean_of_its_cells(reading: str) -> None:
    cells = pd.read_csv(
        RESULTS / "fast/kos-elm/table4/cells.csv", keep_default_na=False
    )
    cells = cells[
        (cells["dataset"] == "sylva")
        & (cells["model"] == "FB-KOS-ELM")
        & (cells["reading"] == reading)
    ]
    first_selection = cells["select"].iloc[0]
    values = cells.loc[cells["select"] == first_selection, "mcc"].astype(float)
    expected = values.groupby(cells["run"]).mean().mean()
    says = {
        "says": "{fb.ours}, {fb.published} printed",
        "values": {"fb": {**SYLVA, "reading": reading}},
    }
    kos = table("fast/kos-elm/table4")
    assert rendered(says, kos) == [f"{expected:.3f}, 0.97 printed"]


def test_a_value_that_two_tables_print_counts_once() -> None:
    tables = [table("paper/rkelm/table6"), table("paper/rkelm/table7")]
    ids = [one.file.id for one in tables]
    distances = {}
    for one in tables:
        for value in one.compared_values:
            if value.measure.metric == "accuracy":
                key = value.dataset, value.model, value.published.number
                distance = abs(value.draws.mean - value.published.number)
                distances.setdefault(key, distance)
    n_values = sum(
        value.measure.metric == "accuracy"
        for one in tables
        for value in one.compared_values
    )
    assert len(distances) < n_values
    says = {
        "says": "{m.within} of {m.n}, {m.beyond} beyond, at most {m.largest}",
        "measures": {"m": {"tables": ids, "metric": "accuracy"}},
    }
    n = len(distances)
    within = sum(distance <= 0.01 for distance in distances.values())
    largest = 100 * max(distances.values())
    expected = f"{within} of {n}, {n - within} beyond, at most {largest:.1f} points"
    assert rendered(says, *tables) == [expected]


def test_an_error_is_a_share_of_the_print() -> None:
    one = table("fast/rkelm/table3")
    shares = [
        abs(value.draws.mean / value.published.number - 1)
        for value in one.compared_values
        if value.measure.metric == "rmse" and value.dataset == "abalone"
    ]
    pooled = {"tables": [one.file.id], "metric": "rmse", "datasets": ["abalone"]}
    says = {"says": "{m.n}: {m.largest}", "measures": {"m": pooled}}
    expected = [f"{len(shares)}: {100 * max(shares):.1f} %"]
    assert rendered(says, one) == expected


def test_a_sentence_without_its_results_is_left_out() -> None:
    says = {"says": "{fb.ours}", "values": {"fb": SYLVA}}
    assert rendered(says) == []
    other_data = {"says": "{fb.ours}", "values": {"fb": {**SYLVA, "dataset": "heart"}}}
    assert rendered(other_data, table("fast/kos-elm/table4")) == []


def test_an_unknown_placeholder_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"placeholder 'fb\.mean'"):
        ShortSentence.model_validate({"says": "{fb.mean}", "values": {"fb": SYLVA}})
