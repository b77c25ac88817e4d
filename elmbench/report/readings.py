"""Comparison of the published figures with the means under each value of a reading."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.evaluation.score_comparison import share_of_test_rows
from elmbench.judging.value_verdicts import FEWEST_RUNS, draws_of_means, run_means
from elmbench.judging.verdict_words import COMPLETE
from elmbench.numerics.significance import LEVEL, Region, corrected_t_test
from elmbench.report.results import Results
from elmbench.specs.measures import UNJUDGED
from elmbench.specs.papers import Reading
from elmbench.tables import kind_of_table
from elmbench.tables.number_texts import quantity

#: Columns of `compare_readings`; those up to `published` identify a figure.
COLUMNS = ["reading", "experiment", "dataset", "model", "metric", "label", "published"]
COLUMNS += ["value", "leaks", "nearest", "text", "mean", "low", "high"]
_Values = NDArray[np.float64]


def compare_readings(readings: Mapping[str, Reading], results: Sequence[Results]) -> pd.DataFrame:
    """Return the published figures of some tables that a reading changes: a line for each value of
    the reading.

    `dataset` is spelled as in the paper. `text` is the mean with the number of cells that did not
    end ok, or only their ending if none ended ok; `mean` is NaN then. `low` and `high` are the ends
    of the 95 % interval for the published figure, NaN if there are too few runs. `nearest` is True
    for the value that comes nearest; for no value if chance may have decided.
    """
    # Profile `ci` has other or fewer data.
    lines = [
        {"reading": name, **line}
        for table in results
        for name, reading in readings.items()
        if name in table.resolved.file.spec.readings and table.resolved.profile != "ci"
        for line in _compare(name, reading, table)
    ]
    return pd.DataFrame(lines, columns=COLUMNS)


def _compare(name: str, reading: Reading, results: Results) -> Iterator[dict[str, Any]]:
    """Yield a line for each published figure of a table that some values of a reading were run
    for.
    """
    resolved = results.resolved
    layout = kind_of_table(results.resolved)
    value_of = {
        "" if value == reading.default else f"{name}={value}": value for value in reading.values
    }
    if not (value_of.keys() - {""}) & {*results.cells["reading"]}:
        return
    cells = results.cells[results.cells["status"] != "unavailable"]
    cells = (
        cells.assign(reading=cells["reading"].map(value_of))
        .dropna(subset="reading")
        .reset_index(drop=True)
    )
    status = cells["status"].to_numpy(object)
    #: By data set and model: the selection, and the lines of the cells that were run under each
    #: value of the reading.
    common: dict[Any, list[Any]] = {}
    for (dataset, model, select), group in cells.groupby(
        ["dataset", "model", "select"], sort=False
    ):
        if {reading.default} < set(group["reading"]):
            lines = group.assign(line=group.index).pivot(
                index=["run", "fold"], columns="reading", values="line"
            )
            run = [value for value in reading.values if value in lines]
            common.setdefault((dataset, model), []).append(
                (select, lines[run].dropna().astype(int))
            )
    for (dataset, model, metric), paper in resolved.published.items():
        if metric in UNJUDGED or metric not in cells or paper.value is None:
            continue
        for select, lines in common.get((dataset, model), ()):
            numbers = lines.to_numpy().T
            runs = lines.index.get_level_values("run").to_numpy(np.int64)
            table = cells[metric].to_numpy(dtype=float, na_value=np.nan)[numbers]
            endings_by_value = status[numbers]
            ok = (endings_by_value == COMPLETE).all(axis=0)
            if not table.size or (ok.all() and (table == table[0]).all()):
                continue
            published = float(paper.value)
            rounding = layout.last_place(paper) / 2
            nearest = _pick(
                table[:, ok],
                runs[ok],
                published,
                rounding,
                share_of_test_rows(dataset, resolved) or 0.0,
            )
            spelling = resolved.spelling(dataset)
            origin = (
                f"({resolved.file.spec.label}, {resolved.profile}, {select}, {len(runs)} cells)"
            )
            label = f"{spelling} {model} {metric} {origin}"
            figure = (resolved.file.id, spelling, model, metric, label, published)
            for number, (value, row, endings) in enumerate(
                zip(lines, table, endings_by_value, strict=True)
            ):
                mean = float(np.nanmean(row)) if not np.isnan(row).all() else np.nan
                texts = (
                    reading.values[value].leaks,
                    number == nearest,
                    _mean_text(row, endings, runs),
                )
                ends = _interval(row[ok], runs[ok], resolved.mean_of, rounding)
                yield dict(zip(COLUMNS[1:], (*figure, value, *texts, mean, *ends), strict=True))


def _mean_text(values: _Values, endings: NDArray[Any], runs: NDArray[np.int64]) -> str:
    """Return the mean of cells with the deviation of their runs, and the number of those that did
    not end ok.
    """
    bad = endings[endings != COMPLETE]
    if len(bad) == len(values):
        return str(bad[0])
    means = run_means(values, runs)
    std = float(means.std(ddof=1)) if len(means) > 1 else None
    mean = quantity(float(values[~np.isnan(values)].mean()), std, places=3)
    return mean + (f" ({len(bad)} {bad[0]})" if len(bad) else "")


def _interval(
    values: _Values, runs: NDArray[np.int64], mean_of: int, rounding: float
) -> tuple[float, float]:
    """Return the ends of the interval of a verdict on a mean over `mean_of` runs; NaN if there are
    too few runs.
    """
    if len(set(runs.tolist())) < FEWEST_RUNS:
        return np.nan, np.nan
    draws = draws_of_means(run_means(values, runs), least_half_width=0.0)
    half_width = draws.half_width(mean_of) + rounding
    return draws.mean - half_width, draws.mean + half_width


def _pick(
    table: _Values, runs: NDArray[np.int64], published: float, rounding: float, test_share: float
) -> int | None:
    """Return the value that is nearer to the print than every other value, by its number.

    The draws are the runs, as for the verdicts. If there are too few, they are the folds, which
    share training rows. Every figure that rounds to the print must give the same answer.
    """
    draws = np.array([run_means(row, runs) for row in table])
    share = 0.0
    if draws.shape[1] < FEWEST_RUNS:
        draws = table
        share = test_share
    if draws.shape[1] < FEWEST_RUNS:
        return None
    answers = {
        _index_of_nearest(draws, end, share) for end in (published - rounding, published + rounding)
    }
    return answers.pop() if len(answers) == 1 else None


def _index_of_nearest(draws: _Values, published: float, test_share: float) -> int | None:
    """Return the position of the draws significantly nearer to a published value than all others;
    None if none are.
    """
    # With these signs, the mean over the draws is the distance of the mean, unlike the mean of
    # |draw - print|.
    distances = (draws - published) * np.sign(draws.mean(axis=1) - published)[:, None]
    nearest = int(distances.mean(axis=1).argmin())
    differences = np.delete(distances - distances[nearest], nearest, axis=0)
    tests = (
        corrected_t_test(difference, test_share, Region(low=0.0)) for difference in differences
    )
    return nearest if all(test.confirming <= LEVEL for test in tests) else None


def reading_table(reading: Reading, lines: pd.DataFrame) -> pd.DataFrame:
    """Return the table of a reading in texts: a line for each published figure, a column for each
    value.
    """
    names = {value: value + " (leaking)" * choice.leaks for value, choice in reading.values.items()}
    rows = []
    for (label, published), group in lines.groupby(["label", "published"], sort=False):
        texts = group.set_index("value")["text"]
        nearest = "".join(names[value] for value in group["value"][group["nearest"]])
        rows.append(
            [label, f"{published:g}", *(texts.get(value, "not run") for value in names), nearest]
        )
    return pd.DataFrame(rows, columns=["figure", "published", *names.values(), "nearest"])
