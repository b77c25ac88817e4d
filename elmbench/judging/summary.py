"""`summary.csv`: the mean of each entry, the published value and the verdict; and the optimism of
the selection.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.evaluation.score_comparison import share_of_test_rows
from elmbench.judging.value_verdicts import Printed, draws_of, judge, run_means
from elmbench.judging.verdict_words import COMPLETE, NOT_MEASURED
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import Region, corrected_t_test
from elmbench.results.cells import REMARKS, order_of
from elmbench.specs.datasets.sources import OTHER_DATA, TRAINING_ONLY
from elmbench.specs.measures import FACTS, Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import PublishedValue
from elmbench.tables import kind_of_table
from elmbench.tables.base import TableKind

ENTRY = ["dataset", "model", "select", "reading"]
#: Columns of `summary.csv` that identify a published figure.
FIGURE = ["dataset", "model", "metric"]
#: Columns of `summary.csv`.
COLUMNS = ["dataset", "model", "metric", "select", "reading", "mean", "std", "n"]
COLUMNS += ["published", "published_std", "verdict", "ended", "runs", "low", "high", "runs_to_tell"]
#: Columns of the cells that a verdict depends on, beside the measured values.
_NEEDED = ["run", "fold", "n_test", REMARKS]
#: Columns of `summary.csv` that are whole numbers or empty.
_WHOLE = ["runs", "runs_to_tell"]
#: Columns of `optimism.csv`.
GAINS = [
    "dataset",
    "model",
    "metric",
    "reading",
    "oracle",
    "nested",
    "optimism",
    "std",
    "n",
    "low",
    "high",
]

Key = tuple[str, ...]


class MeasuredCells:
    """The cells of a table that ended ok, by entry; each measure is read from the frame only once.

    `all_cells` has the entry and status of all cells. `lines` has, by the values of `ENTRY`, the
    numbers of an entry's lines among the cells that ended ok.
    """

    def __init__(self, cells: pd.DataFrame, resolved: Resolved) -> None:
        self.resolved = resolved
        self.layout = kind_of_table(resolved)
        cells = self.layout.entries_of(cells, resolved)
        self._cells = cells[cells["status"] == COMPLETE].reset_index(drop=True)
        self.all_cells = cells[[*ENTRY, "status"]]
        # Selecting lines of a frame takes many times as long.
        self._needed = {name: self._cells[name].to_numpy() for name in _NEEDED if name in cells}
        groups: Any = self._cells.groupby(ENTRY, sort=False).indices
        self.lines: dict[Key, NDArray[np.int64]] = groups
        self._values: dict[Measure, NDArray[np.float64]] = {}

    def columns(self, entry: Key) -> dict[str, NDArray[Any]]:
        """Return the columns of an entry that a verdict needs."""
        return {name: column[self.lines.get(entry, [])] for name, column in self._needed.items()}

    def values(self, entry: Key, measure: Measure) -> NDArray[np.float64]:
        """Return the value of each cell of an entry, NaN if it has none."""
        if measure not in self._values:
            self._values[measure] = np.asarray(
                self.layout.values_of(self._cells, measure), dtype=np.float64
            )
        return self._values[measure][self.lines.get(entry, [])]


def summarise(measured: MeasuredCells) -> pd.DataFrame:
    """Return one line for each entry and metric, with the columns of `summary.csv`.

    `n` is the number of cells that ended ok; only these are averaged. `ended` is `ok`, or the
    ending that all cells of an entry share, or `incomplete` if some of its cells did not end ok or
    a run lacks folds, or `not measured` for a model that the suite does not run. `verdict` compares
    the mean with the published value (`elmbench.judging.value_verdicts`). It is based on `runs`
    runs; `low` and `high` are the ends of the interval. `runs_to_tell` is the number of runs that
    an interval needs, or that would separate the models.
    """
    resolved = measured.resolved
    layout = measured.layout
    lines: list[dict[str, Any]] = []
    status = measured.all_cells["status"].to_numpy()
    groups: Any = measured.all_cells.groupby(ENTRY, sort=False).indices
    for key, numbers in groups.items():
        entry = tuple(map(str, key))
        runs = measured.columns(entry)["run"]
        endings = set(status[numbers])
        if endings == {COMPLETE} and layout.is_complete(entry[0], runs, resolved):
            ending = COMPLETE
        else:
            ending = "incomplete" if COMPLETE in endings or len(endings) > 1 else str(endings.pop())
        for i, measure in enumerate(layout.measures(resolved, entry[0], entry[1])):
            paper = resolved.published.get((entry[0], entry[1], measure.column))
            values = measured.values(entry, measure)
            valid = values[~np.isnan(values)]
            if i == 0 or len(valid) or paper is not None or ending != COMPLETE:
                spread = (
                    run_means(values, runs)
                    if resolved.spec.protocol.std == "of-run-means"
                    else valid
                )
                line = dict(zip(ENTRY, entry, strict=True)) | {
                    "metric": measure.column,
                    "n": len(values),
                }
                mean = valid.mean() if len(valid) else None
                std = spread.std(ddof=1) if len(spread) > 1 else None
                line |= {"ended": ending, "mean": mean, "std": std} | _printed_columns(paper)
                lines.append(line | _judge_entry(entry, measure, measured, ending, paper))
    lines += _published_lines(measured.all_cells, layout, resolved)
    return pd.DataFrame(sorted(lines, key=order_of(resolved)), columns=COLUMNS).astype(
        dict.fromkeys(_WHOLE, "Int64")
    )


def drop_stand_ins(lines: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return lines of summaries without those of a stand-in if the data set that it stands for was
    measured.
    """
    return lines[
        ~lines["dataset"]
        .map(resolved.stand_ins)
        .isin(lines.loc[lines["ended"] == COMPLETE, "dataset"])
    ]


def _published_lines(
    cells: pd.DataFrame, layout: TableKind, resolved: Resolved
) -> list[dict[str, Any]]:
    """Return a line for each cited figure and each of a model that is never measured, on the data
    sets shown.
    """
    default = cells[cells["reading"] == ""]
    if not len(default):
        return []
    datasets = set(default["dataset"])
    models = {*layout.models(resolved), *default["model"]}
    lines = []
    for (dataset, model, metric), figure in resolved.published.items():
        if (
            dataset in datasets
            and model not in models
            and (figure.cited or model not in resolved.file.all_columns)
        ):
            is_judged = figure.value is not None and layout.is_judged(Measure(figure.metric))
            verdict = "cited" if figure.cited else "no data" if is_judged else ""
            line = {
                "dataset": dataset,
                "model": model,
                "metric": metric,
                "select": default["select"].iloc[0],
            }
            line |= {"reading": "", "n": 0, "ended": NOT_MEASURED, "verdict": verdict}
            lines.append(line | _printed_columns(figure))
    return lines


def _printed_columns(paper: PublishedValue | None) -> dict[str, float | None]:
    figures = {"published": paper.value, "published_std": paper.std} if paper else {}
    return {name: None if value is None else float(value) for name, value in figures.items()}


def _judge_entry(
    entry: Key, measure: Measure, measured: MeasuredCells, ending: str, paper: PublishedValue | None
) -> dict[str, Any]:
    """Return the verdict on a published figure and its evidence; an empty verdict if there is
    nothing to judge.
    """
    resolved = measured.resolved
    layout = measured.layout
    columns = measured.columns(entry)
    values = measured.values(entry, measure)
    dataset, _, _, reading = entry
    if paper is None or paper.value is None or not layout.is_judged(measure):
        return {"verdict": ""}
    if paper.cited:
        return {"verdict": "cited"}
    if ending != COMPLETE or np.isnan(values).all():
        return {"verdict": "no data"}
    runs = len(set(columns["run"].tolist()))
    if resolved.cuts(dataset) or any(
        choice.leaks for choice in resolved.file.paper.read_label(reading)
    ):
        return {"verdict": "not comparable", "runs": runs}
    if measure.metric in FACTS:
        # No random draw changes a fact.
        return {
            "verdict": "reproduced" if values.mean() == float(paper.value) else "differs",
            "runs": runs,
        }
    if not layout.has_runs or not resolved.compares(dataset) or is_other_data(columns):
        return {"verdict": "not comparable", "runs": runs}
    draws = draws_of(values, columns, measure)
    return {"runs": runs} | judge(draws, printed_of(dataset, paper, layout, resolved))._asdict()


def is_other_data(columns: Mapping[str, NDArray[Any]]) -> bool:
    """Return True if the rows are known to be others, or fewer, than those of the public file."""
    remarks = {text for text in columns.get(REMARKS, ()) if isinstance(text, str)}
    return any(words in text for text in remarks for words in (OTHER_DATA, TRAINING_ONLY))


def printed_of(
    dataset: str, paper: PublishedValue, layout: TableKind, resolved: Resolved
) -> Printed:
    """Return the value of a published figure and its distance to the paper's figures of other
    models.

    The other figures are those that any table of the paper prints for the same data set (by the
    suite's name) and metric, so that a figure has the same verdict in every table that prints it.
    """
    printed = resolved.printed_in_paper.get((dataset, paper.metric), set())
    value = float(paper.value) if paper.value is not None else math.nan
    distances = [abs(figure - value) for model, figure in printed if model != paper.model]
    gap = float(np.median(distances)) if distances else None
    return Printed(value, layout.last_place(paper) / 2, resolved.mean_of, gap)


def optimism(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return the gain of a choice on the outer test folds (oracle) over a choice on inner folds
    (nested).

    There is a line for each model on each data set, in the order of the cells. `oracle` and
    `nested` are means over the same folds. `optimism` is the first minus the second, for an error
    the second minus the first, so that a positive value always favours the oracle. `std` is its
    deviation from fold to fold, `n` the number of folds, `low` and `high` the ends of its interval
    of 95 % by the corrected resampled t-test, as folds share training rows. An entry is left out if
    one of its cells did not end ok or if it was run under one selection only: the remaining folds
    may be the easier ones.
    """
    lines = []
    cells = cells[cells["select"].isin(["oracle", "nested"])]
    for (dataset, model, reading), group in cells.groupby(
        ["dataset", "model", "reading"], sort=False
    ):
        metric = resolved.metric_of(str(dataset))
        if (
            group["select"].nunique() < 2
            or metric not in group
            or (group["status"] != COMPLETE).any()
        ):
            continue
        scores = group.pivot(index=["run", "fold"], columns="select", values=metric).astype(float)
        if scores.isna().any(axis=None):
            continue
        gain = (scores["oracle"] - scores["nested"]) * (-1 if less_is_better(metric) else 1)
        spread: tuple[float | None, ...] = None, len(gain), None, None
        if len(gain) > 1:
            # On a fixed split the runs are independent.
            test = corrected_t_test(
                gain, share_of_test_rows(str(dataset), resolved) or 0.0, Region()
            )
            spread = gain.std(ddof=1), len(gain), test.low, test.high
        means = scores["oracle"].mean(), scores["nested"].mean(), gain.mean()
        lines.append([dataset, model, metric, reading, *means, *spread])
    return pd.DataFrame(lines, columns=GAINS)
