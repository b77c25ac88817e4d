"""`summary.csv`: the mean of each entry, the published value and the verdict; and the optimism of
the selection.
"""

import math
from collections.abc import Iterator, Mapping
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
#: Columns of `summary.csv` that identify a published value.
PUBLISHED_KEY = ["dataset", "model", "metric"]
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
        cells = self.layout.entries_of(cells)
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
    status = measured.all_cells["status"].to_numpy()
    lines: list[dict[str, Any]] = []
    groups: Any = measured.all_cells.groupby(ENTRY, sort=False).indices
    for key, numbers in groups.items():
        entry = tuple(map(str, key))
        ending = _common_ending(entry, set(status[numbers]), measured)
        lines += _entry_lines(entry, ending, measured)
    lines += _published_lines(measured)
    summary = pd.DataFrame(sorted(lines, key=order_of(measured.resolved)), columns=COLUMNS)
    return summary.astype(dict.fromkeys(_WHOLE, "Int64"))


def _common_ending(entry: Key, endings: set[str], measured: MeasuredCells) -> str:
    """Return the ending of all cells of an entry, or `incomplete`."""
    if len(endings) > 1:
        return "incomplete"
    (ending,) = endings
    if ending != COMPLETE:
        return ending
    runs = measured.columns(entry)["run"]
    is_complete = measured.layout.is_complete(entry[0], runs)
    return COMPLETE if is_complete else "incomplete"


def _entry_lines(entry: Key, ending: str, measured: MeasuredCells) -> Iterator[dict[str, Any]]:
    """Yield the lines of an entry, one for each measure that has a value or a published value; at
    least the first one, and all if some cells did not end ok.
    """
    resolved = measured.resolved
    dataset, model, select, reading = entry
    runs = measured.columns(entry)["run"]
    of_run_means = resolved.spec.protocol.std == "of-run-means"
    for i, measure in enumerate(measured.layout.measures(dataset, model)):
        paper = resolved.published.get((dataset, model, measure.column))
        values = measured.values(entry, measure)
        valid = values[~np.isnan(values)]
        if i > 0 and not len(valid) and paper is None and ending == COMPLETE:
            continue
        spread = run_means(values, runs) if of_run_means else valid
        yield {
            "dataset": dataset,
            "model": model,
            "select": select,
            "reading": reading,
            "metric": measure.column,
            "n": len(values),
            "ended": ending,
            "mean": valid.mean() if len(valid) else None,
            "std": spread.std(ddof=1) if len(spread) > 1 else None,
            **_printed_columns(paper),
            **_judge_entry(entry, measure, measured, ending, paper),
        }


def drop_stand_ins(lines: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return lines of summaries without those of a stand-in if the data set that it stands for was
    measured.
    """
    measured = lines.loc[lines["ended"] == COMPLETE, "dataset"]
    stands_in_for = lines["dataset"].map(resolved.stand_ins)
    return lines[~stands_in_for.isin(measured)]


def _published_lines(measured: MeasuredCells) -> list[dict[str, Any]]:
    """Return a line for each cited value and each of a model that is never measured, on the data
    sets shown.
    """
    resolved = measured.resolved
    default = measured.all_cells[measured.all_cells["reading"] == ""]
    if not len(default):
        return []
    datasets = set(default["dataset"])
    models = {*measured.layout.models(), *default["model"]}
    lines = []
    for (dataset, model, metric), published in resolved.published.items():
        if dataset not in datasets or model in models:
            continue
        is_judged = published.value is not None and measured.layout.is_judged(
            Measure(published.metric)
        )
        if published.cited:
            verdict = "cited"
        elif model in resolved.file.all_columns:
            continue
        else:
            verdict = "no data" if is_judged else ""
        lines.append(
            {
                "dataset": dataset,
                "model": model,
                "metric": metric,
                "select": default["select"].iloc[0],
                "reading": "",
                "n": 0,
                "ended": NOT_MEASURED,
                "verdict": verdict,
                **_printed_columns(published),
            }
        )
    return lines


def _printed_columns(published: PublishedValue | None) -> dict[str, float | None]:
    """Return the published value and its deviation, by column; empty without one."""
    if published is None:
        return {}
    return {
        "published": None if published.value is None else float(published.value),
        "published_std": None if published.std is None else float(published.std),
    }


def _judge_entry(
    entry: Key, measure: Measure, measured: MeasuredCells, ending: str, paper: PublishedValue | None
) -> dict[str, Any]:
    """Return the verdict on a published value and its evidence; an empty verdict if there is
    nothing to judge.
    """
    layout = measured.layout
    resolved = measured.resolved
    if paper is None or paper.value is None or not layout.is_judged(measure):
        return {"verdict": ""}
    if paper.cited:
        return {"verdict": "cited"}
    values = measured.values(entry, measure)
    if ending != COMPLETE or np.isnan(values).all():
        return {"verdict": "no data"}
    columns = measured.columns(entry)
    runs = len(set(columns["run"].tolist()))
    dataset, _, _, reading = entry
    leaks = any(choice.leaks for choice in resolved.file.paper.read_label(reading))
    if leaks or resolved.cuts(dataset):
        return {"verdict": "not comparable", "runs": runs}
    if measure.metric in FACTS:
        # No random draw changes a fact.
        is_equal = values.mean() == float(paper.value)
        return {"verdict": "reproduced" if is_equal else "differs", "runs": runs}
    if not layout.has_runs or not resolved.compares(dataset) or is_other_data(columns):
        return {"verdict": "not comparable", "runs": runs}
    draws = draws_of(values, columns, measure)
    judgement = judge(draws, printed_of(dataset, paper, layout, resolved))
    return {"runs": runs, **judgement._asdict()}


def is_other_data(columns: Mapping[str, NDArray[Any]]) -> bool:
    """Return True if the rows are known to be others, or fewer, than those of the public file."""
    remarks = {text for text in columns.get(REMARKS, ()) if isinstance(text, str)}
    return any(words in text for text in remarks for words in (OTHER_DATA, TRAINING_ONLY))


def printed_of(
    dataset: str, paper: PublishedValue, layout: TableKind, resolved: Resolved
) -> Printed:
    """Return a published value and its distance to the paper's values of other models.

    These are all that any table of the paper prints for the same data set (by the suite's name) and
    metric, so that a value has the same verdict in every table that prints it.
    """
    value = math.nan if paper.value is None else float(paper.value)
    in_paper = resolved.printed_in_paper.get((dataset, paper.metric), set())
    distances = [abs(another - value) for model, another in in_paper if model != paper.model]
    return Printed(
        value=value,
        rounding=layout.last_place(paper) / 2,
        mean_of=resolved.mean_of,
        gap=float(np.median(distances)) if distances else None,
    )


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
    cells = cells[cells["select"].isin(["oracle", "nested"])]
    lines = []
    for (dataset, model, reading), group in cells.groupby(
        ["dataset", "model", "reading"], sort=False
    ):
        gain = _optimism_of(str(dataset), group, resolved)
        if gain:
            lines.append({"dataset": dataset, "model": model, "reading": reading, **gain})
    return pd.DataFrame(lines, columns=GAINS)


def _optimism_of(dataset: str, cells: pd.DataFrame, resolved: Resolved) -> dict[str, Any]:
    """Return the metric and the numbers of a line of `optimism.csv`; empty if cells are missing."""
    metric = resolved.metric_of(dataset)
    has_both = cells["select"].nunique() == 2
    if not has_both or metric not in cells or (cells["status"] != COMPLETE).any():
        return {}
    scores = cells.pivot(index=["run", "fold"], columns="select", values=metric).astype(float)
    if scores.isna().any(axis=None):
        return {}
    sign = -1 if less_is_better(metric) else 1
    gain = (scores["oracle"] - scores["nested"]) * sign
    line = {
        "metric": metric,
        "oracle": scores["oracle"].mean(),
        "nested": scores["nested"].mean(),
        "optimism": gain.mean(),
        "std": None,
        "n": len(gain),
        "low": None,
        "high": None,
    }
    if len(gain) > 1:
        # On a fixed split the runs are independent.
        test_share = share_of_test_rows(dataset, resolved) or 0.0
        test = corrected_t_test(gain, test_share, Region())
        line |= {"std": gain.std(ddof=1), "low": test.low, "high": test.high}
    return line
