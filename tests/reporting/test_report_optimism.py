"""The gain of a choice on the outer test folds: computed fold by fold, shown, written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from made_cells import cell, folds, frame, headings, notes_of, row, rows_of, table_of
from scipy.stats import t

from elmbench.layouts.table import Gain
from elmbench.reporting.summary import optimism
from elmbench.specs.profiles import Resolved

Toy = Callable[..., Resolved]
BOTH = {"protocol": {"select": ["oracle", "nested"]}}


def both(model: str, oracle: list[float], nested: list[float], **values: Any) -> list[dict[str, Any]]:
    return [*folds(model, *oracle, select="oracle", **values), *folds(model, *nested, **values)]


def test_it_is_the_oracle_minus_nested_on_the_same_folds(toy: Toy) -> None:
    resolved = toy(**BOTH)
    lines = both("ELM", [0.9, 0.8], [0.85, 0.5])
    (line,) = optimism(frame(resolved, lines), resolved).to_dict("records")
    assert [line[name] for name in ("dataset", "model", "metric", "reading", "n")] == ["wdbc", "ELM", "mcc", "", 2]
    assert [line["oracle"], line["nested"], line["optimism"]] == pytest.approx([0.85, 0.675, 0.175])
    # The deviation of the differences 0.05 and 0.3, not of the means.
    assert line["std"] == pytest.approx(0.25 / 2**0.5)
    half = t.ppf(0.975, 1) * 0.25 / 2**0.5 * np.sqrt(1 / 2 + 1)
    assert (line["low"], line["high"]) == pytest.approx((0.175 - half, 0.175 + half))


def test_an_error_has_the_opposite_sign(toy: Toy) -> None:
    resolved = toy(datasets=["calhousing"], protocol={"metrics": ["nrmse"]})
    lines = [cell(dataset="calhousing", select=s, nrmse=v) for s, v in [("oracle", 0.4), ("nested", 0.5)]]
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
def test_an_entry_without_a_fold_has_no_optimism(toy: Toy, change: dict[str, Any]) -> None:
    resolved = toy(**BOTH)
    lines = [*both("ELM", [0.9, 0.8], [0.8, 0.7]), *both("K-ELM", [0.9, 0.8], [0.8, 0.7])]
    lines[0] |= change
    result = optimism(frame(resolved, lines), resolved)
    assert result["model"].tolist() == ["K-ELM"]


def test_one_selection_alone_has_none(toy: Toy) -> None:
    resolved = toy(**BOTH)
    lines = [*folds("ELM", 0.9, 0.8, select="oracle"), *folds("K-ELM", 0.9, 0.8), *folds("OS-ELM", 1, 1)]
    lines += folds("OS-ELM", 1, 1, select="published")
    assert not len(optimism(frame(resolved, lines), resolved))
    assert all(not any(r["optimism"] for r in rows_of(section)) for section in table_of(resolved, lines).sections)


def test_the_table_shows_it_beside_the_oracle_and_its_mean_in_a_note(toy: Toy) -> None:
    resolved = toy(datasets=["wdbc", "heart"], **BOTH)
    lines = [*both("ELM", [0.9, 0.8], [0.8, 0.7]), *both("K-ELM", [0.9, 0.8], [0.95, 0.9])]
    lines += both("ELM", [0.9, 0.8], [0.6, 0.5], dataset="heart")
    lines += both("ELM", [0.9, 0.9], [0.5, 0.5], reading="order=stored")
    table = table_of(resolved, lines)
    oracle, nested, stored, _ = table.sections
    assert [r["optimism"] for r in rows_of(oracle)] == ["+0.100", "-0.075", "+0.300"]
    assert row(stored, "ELM")["optimism"] == "+0.400"
    assert "optimism" in headings(table, oracle)
    assert "optimism" not in headings(table, nested)
    (note,) = [note for note in notes_of(table) if note.startswith("optimism")]
    assert note.endswith("mean over 1 to 2 data sets: ELM +0.200, K-ELM -0.075")


def test_nothing_gained_has_a_plus() -> None:
    assert [Gain(v).text for v in (-1e-9, 0.0, 1e-9, -0.0006)] == ["+0.000", "+0.000", "+0.000", "-0.001"]


def test_the_interval_of_a_table_is_over_its_data_sets(toy: Toy) -> None:
    names = ["wdbc", "heart", "sonar"]
    resolved = toy(datasets=names, **BOTH)
    gains = dict(zip(names, (0.02, 0.05, 0.11), strict=True))
    # The mean of the two models is what a data set gains.
    lines = [
        line
        for name, gain in gains.items()
        for model, share in (("ELM", 0.5), ("K-ELM", 1.5))
        for line in both(model, [0.8 + share * gain] * 2, [0.8] * 2, dataset=name)
    ]
    (note,) = [text for text in notes_of(table_of(resolved, lines)) if text.startswith("optimism")]
    half = t.ppf(0.975, 2) * np.std([*gains.values()], ddof=1) / np.sqrt(3)
    ends = f"[{0.06 - half:+.3f}, {0.06 + half:+.3f}]"
    assert note.endswith(f"all models +0.060 {ends}, paired t-test over data sets")
