"""The figures of README.md are those of the committed results."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from elmbench.reporting.cells import read_cells
from elmbench.reporting.summary import summarise
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text("utf-8")
WORDS = " ".join(TEXT.replace("**", "").split())


def cells(profile: str, table: str) -> pd.DataFrame:
    frame = read_cells(ROOT / "results" / profile / table / "cells.csv")
    return frame[frame["status"] == "ok"]


def figures(profile: str, table: str) -> pd.DataFrame:
    """The lines of a summary made anew: one for each published figure, as `elmbench check` has them."""
    found = read_cells(ROOT / "results" / profile / table / "cells.csv")
    summary = summarise(found[found["reading"] == ""], resolve(find_experiment(table), profile))
    return summary[summary["published"].notna()].drop_duplicates(["dataset", "model", "metric"])


def test_the_dictionary_that_leaks() -> None:
    own = cells("fast", "kos-elm/table4")
    own = own[own["select"] == "published"]
    means = own.groupby(["dataset", "model", "reading"])["mcc"].mean()
    fresh, kept = (
        {name: f"{means[name, 'FB-KOS-ELM', reading]:.3f}" for name in ("wdbc", "sylva")}
        for reading in ("", "carry-over=folds")
    )
    batch = {name: f"{means[name, 'K-ELM', '']:.3f}" for name in fresh}
    published = resolve(find_experiment("kos-elm/table4"), "fast").published
    printed = {name: published[name, "FB-KOS-ELM", "mcc"].value for name in fresh}
    assert (
        f"its MCC is {fresh['wdbc']} on WDBC ({printed['wdbc']} printed) and {fresh['sylva']} on Sylva "
        f"({printed['sylva']}), no better than K-ELM's {batch['wdbc']} and {batch['sylva']}."
    ) in WORDS
    assert f"the same folds give {kept['wdbc']} and {kept['sylva']}" in WORDS
    assert all(fresh[name] <= batch[name] < kept[name] for name in fresh)


def test_the_choice_on_the_test_folds() -> None:
    own = cells("paper", "eem/table4")
    means = own[own["reading"] == ""].groupby(["dataset", "model", "select"])["gmean"].mean().unstack()
    published = resolve(find_experiment("eem/table4"), "paper").published
    printed = pd.Series(
        {(data, model): float(figure.value) for (data, model, metric), figure in published.items() if metric == "gmean"}
    )
    apart = means.dropna().sub(printed.rename_axis(["dataset", "model"]), axis=0).dropna()
    nearer = apart["oracle"].abs() - apart["nested"].abs()
    counts = [len(apart), int((nearer < 0).sum()), int((nearer > 0).sum()), int((nearer == 0).sum())]
    found = re.search(r"Of the (\d+) G-means .*?, (\d+) are nearer .*?, (\d+) where .*?, (\d+) as near", WORDS)
    assert found is not None
    assert [int(number) for number in found.groups()] == counts
    oracle, nested = (f"{apart[name].median():+.4f}" for name in ("oracle", "nested"))
    assert f"is {oracle} in the median with the first, {nested} with the second" in WORDS


def test_the_table_that_comes_out_under_no_reading() -> None:
    summary = pd.read_csv(ROOT / "results/fast/eem/table1/summary.csv", keep_default_na=False, na_values=[""])
    resolved = resolve(find_experiment("eem/table1"), "fast")
    own = summary[summary["published"].notna() & summary["mean"].notna() & (summary["ended"] == "ok")]
    own = own[own["dataset"].map(resolved.compares)].fillna({"reading": ""})
    found = own.groupby("reading")[["mean", "published"]].apply(
        lambda group: group["mean"].corr(group["published"], method="spearman")
    )
    assert len(found) == 3
    assert f"between its {(own['reading'] == '').sum()} figures that could be measured and ours is at most" in WORDS
    assert f"is at most {found.max():+.2f} (" in WORDS


def test_how_many_figures_of_rkelm_lie_in_their_intervals() -> None:
    own = pd.concat([figures("fast", f"rkelm/table{number}") for number in (3, 5, 6, 7, 11, 12)])
    judged = own[own["low"].notna()]
    # A printed figure that is an end of an interval lies in it, whatever its binary form.
    inside = judged[judged["published"].between(judged["low"] - 1e-12, judged["high"] + 1e-12)]
    assert f"put {len(inside)} of the {len(judged)} printed errors" in WORDS


def test_verdicts_by_table_of_the_extreme_entropy_machines() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|.*\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", TEXT, re.M)
    assert len(rows) > 6
    for table, profile, *counts in rows:
        verdicts = figures(profile, f"eem/table{table}")["verdict"].value_counts()
        found = [verdicts.get(name, 0) for name in ("reproduced", "cannot tell", "not comparable", "missing")]
        assert [int(number) for number in counts] == found, (table, profile)


def test_means_within_a_printed_deviation_on_unbalanced_sets() -> None:
    own = figures("paper", "eem/table5")
    own = own[(own["metric"] == "gmean") & own["mean"].notna()]
    assert set(own["select"]) == {"oracle"}
    near = (own["mean"] - own["published"]).abs() <= own["published_std"]
    said = f"{near.sum()} of the {len(own)} means that the oracle's choice gives are within one printed deviation"
    assert said in WORDS


@pytest.mark.parametrize("text", re.findall(r"\(`(elmbench (?:table|run) [^`]+)`\)", TEXT))
def test_evidence_is_named_by_its_command(text: str) -> None:
    words = text.split()
    assert find_experiment(words[2]).id
