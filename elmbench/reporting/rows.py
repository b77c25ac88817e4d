"""The rows of a table as text: values with the digits that the paper prints, endings as the papers show them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from elmbench.reporting.layouts import COUNTS, FACTS, MEASURED
from elmbench.reporting.optimism import gained
from elmbench.reporting.summary import COMPLETE, ENTRY, Published, last_place
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import PublishedValue

_SHOWN = {"out-of-memory": "out of memory", "unavailable": "-"}


def timed_rows(
    group: pd.DataFrame, cells: pd.DataFrame, published: Published, gains: pd.DataFrame, resolved: Resolved
) -> Iterator[dict[str, str]]:
    """Yield a row for each model on each data set: the metric, and the time of the fit.

    Parameters
    ----------
    group : DataFrame
        The lines of a summary of one reading and one selection.
    cells : DataFrame
        Of all readings and selections.
    published : dict
    gains : DataFrame
        The optimism of these models, as `optimism` returns it.
    resolved : Resolved
    """
    lines = _by_place(group)
    gains_of = dict(zip(zip(gains["dataset"], gains["model"], strict=True), gains["optimism"], strict=True))
    base: tuple[float | None, float | None] = (None, None)
    previous = ""
    for dataset, model in dict.fromkeys((d, m) for d, m, _ in lines):
        metric = resolved.spec.protocol.metric_for(load_dataset_specs().find(dataset).task)
        line, fit = lines[dataset, model, metric], lines.get((dataset, model, "fit_seconds"), {})
        paper = published.get((dataset, model, metric))
        times = (_number(fit.get("mean")), _number(fit.get("published")))
        if dataset != previous:
            base, previous = times, dataset
        row = {
            "dataset": spelling(dataset, resolved),
            "model": model,
            "value": _measured(line, paper, cells, resolved),
            "published": printed(paper),
            "verdict": _judged(line),
            "optimism": gained(gains_of[dataset, model]) if (dataset, model) in gains_of else "",
            "fit": three_figures(times[0]),
            "published_fit": printed(published.get((dataset, model, "fit_seconds"))),
            "ratio": _ratio(times[0], base[0]),
            "published_ratio": _ratio(times[1], base[1]),
        }
        if resolved.spec.layout == "times" and times[0] is None:
            # How it ended stands where the time would.
            row |= {"value": "", "fit": row["value"]}
        yield row


def plain_rows(
    group: pd.DataFrame, cells: pd.DataFrame, published: Published, resolved: Resolved
) -> Iterator[dict[str, str]]:
    """Yield a row for each measure of each model on each data set.

    Parameters
    ----------
    group, cells, published, resolved
        As for `timed_rows`.
    """
    for (dataset, model, measure), line in _by_place(group).items():
        paper = published.get((dataset, model, measure))
        yield {
            "dataset": spelling(dataset, resolved),
            "model": model,
            "measure": measure,
            "value": _measured(line, paper, cells, resolved),
            "published": printed(paper),
            "verdict": _judged(line),
        }


def _by_place(group: pd.DataFrame) -> dict[tuple[str, str, str], dict[Any, Any]]:
    return {(line["dataset"], line["model"], line["metric"]): line for line in group.to_dict("records")}


def spelling(dataset: str, resolved: Resolved) -> str:
    """Return a data set's name as the paper spells it, or the suite's where the paper does not print it."""
    for entry in resolved.file.figures:
        if load_dataset_specs().find(entry.dataset).name == dataset:
            return entry.dataset
    return dataset


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def _measured(line: dict[Any, Any], paper: PublishedValue | None, cells: pd.DataFrame, resolved: Resolved) -> str:
    mean, std, verdict = _number(line["mean"]), _number(line["std"]), line["verdict"] or ""
    if mean is None:
        if verdict == "timeout":
            return _limit_reached(line, cells, resolved)
        return _SHOWN.get(verdict, verdict)
    if line["metric"].partition("@")[0] not in MEASURED:
        return three_figures(mean) + (f" ± {three_figures(std)}" if std is not None else "")
    places = _places(line["metric"], paper)
    text = fixed(mean, places) + (f" ± {fixed(std, places)}" if std is not None else "")
    return text if verdict in COMPLETE else f"{text} ({line['n']} ok)"


def _judged(line: dict[Any, Any]) -> str:
    """Return the verdict of an entry, nothing where its value says how it ended instead."""
    return line["verdict"] if line["verdict"] in (*COMPLETE, "incomplete") else ""


def _limit_reached(line: dict[Any, Any], cells: pd.DataFrame, resolved: Resolved) -> str:
    """Return how the papers show a cell that was stopped, `> 600 s`.

    Of one that was stopped in its search, too, unless searches may take longer than fits: then it says nothing of the
    fit and shows as `search > 7200 s`.
    """
    own = cells[(cells[ENTRY] == [line[name] for name in ENTRY]).all(axis=1)]
    before, _, seconds = str(own.loc[own["status"] == "timeout", "reason"].iloc[0]).rpartition("> ")
    return f"search > {seconds}" if before and resolved.spec.search_limit else f"> {seconds}"


def _places(metric: str, paper: PublishedValue | None) -> int:
    """Return the decimals to show: one more than printed, three for what is not; none for facts and counts."""
    if metric in (*FACTS, *COUNTS):
        return 0
    if paper is not None and paper.value is not None:
        return max(0, -math.floor(math.log10(last_place(paper)))) + 1
    return 3


def fixed(value: float, places: int) -> str:
    """Return a number with so many decimals, or in powers of ten where it is very large."""
    return f"{value:.{places}f}" if abs(value) < 1e6 else f"{value:.1e}"


def ran_over(paper: PublishedValue) -> str:
    """Return what the paper prints for a fit that it stopped, `> 600 s`; nothing for any other figure."""
    return "" if paper.over_seconds is None else f"> {paper.over_seconds:g} s"


def printed(paper: PublishedValue | None) -> str:
    """Return a figure as the paper prints it: `0.93 ± 0.012`, `> 600 s`, or `-` where it prints none."""
    if paper is None:
        return ""
    if paper.value is None:
        return ran_over(paper) or "-"
    return f"{paper.value}" + (f" ± {paper.std}" if paper.std is not None else "")


def three_figures(value: float | None) -> str:
    """Return seconds or a hyperparameter with three figures at most, large ones with all before the point."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.01 else f"{value:.2g}"


def _ratio(value: float | None, base: float | None) -> str:
    return f"{value / base:.2g}" if value is not None and base else ""
