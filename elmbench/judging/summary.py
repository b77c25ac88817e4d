"""`summary.csv`: the mean of each group, the published value and the verdict; and the optimism of
the selection.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.evaluation.score_comparison import share_of_test_rows
from elmbench.judging.cell_verdicts import judge_cells, verdict_without_cells
from elmbench.judging.measured_cells import GROUP, Key, MeasuredCells
from elmbench.judging.summary_line import COLUMNS, ROWS_OFF, SummaryLine
from elmbench.judging.value_verdicts import run_means
from elmbench.judging.verdict_words import COMPLETE, NOT_MEASURED
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import Region, corrected_t_test
from elmbench.results.cells import REMARKS, TEXT_TYPE, order_of, remarks_of
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved

#: Columns of `summary.csv` that identify a published value.
PUBLISHED_KEY = ["dataset", "model", "metric"]
#: The types of columns of `summary.csv` other than real numbers.
_TYPES: dict[str, Any] = {
    "dataset": TEXT_TYPE,
    "model": TEXT_TYPE,
    "metric": TEXT_TYPE,
    "select": TEXT_TYPE,
    "reading": TEXT_TYPE,
    "n": "int64",
    "verdict": TEXT_TYPE,
    "ended": TEXT_TYPE,
    "runs": "Int64",
    "runs_to_tell": "Int64",
    ROWS_OFF: "Int64",
}
#: The column of a summary that is True for a value of the committed results; it is there if other
#: values are the user's.
COMMITTED = "committed"
#: The columns that identify the test rows of a cell.
_FOLDS = ("run", "fold")
#: Columns of `optimism.csv`.
OPTIMISM = [
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


def summary_lines(
    measured: MeasuredCells, *, published_only: bool = False
) -> list[SummaryLine]:
    """Return the lines of `summary.csv`, in their order: one for each group of cells and metric.

    Some published values without cells have lines, too: those of models that were not measured.
    `published_only`: by default, all readings and measures have lines; True to leave out readings
    other than the default, and measures that have no published value and that no claim names,
    except the first measure of a group. Each line of a group is computed only once for `measured`.
    """
    lines = [*_measured_lines(measured, published_only), *_unmeasured_lines(measured)]
    order = order_of(measured.resolved)
    return sorted(lines, key=lambda line: order(vars(line)))


def summary_frame(lines: Sequence[SummaryLine]) -> pd.DataFrame:
    """Return lines of `summary.csv` as a frame, without the column of rows off if it is empty.

    The columns are `COLUMNS` and, if a line has a number of rows off, `rows_off`; a missing number
    is NaN or NA. The index is the position of each line; without lines, the frame has the columns.
    """
    records = [line.to_csv_dict() for line in lines]
    columns = {}
    for name in (*COLUMNS, ROWS_OFF):
        values = [record[name] for record in records]
        kind = _TYPES.get(name, "float64")
        columns[name] = pd.Series(values, dtype=kind)
    has_rows_off = columns[ROWS_OFF].notna().any()
    if not has_rows_off:
        del columns[ROWS_OFF]
    return pd.DataFrame(columns)


def with_origin(
    summary: pd.DataFrame, cells: pd.DataFrame, committed: Collection[Key]
) -> pd.DataFrame:
    """Return lines of `summary.csv` with the columns of remarks and of committed values, if any.

    The column `data` has the remarks on the data set of the line, NaN without any, and is added if
    any data set has remarks; `committed` is True for lines of committed cells, and is added if the
    argument `committed` is not empty. The frames are not changed. `summary`, `cells`: frames of
    `summary.csv` and `cells.csv`. `committed`: the groups, (data set, model, selection, reading),
    whose cells are of the committed results.
    """
    remarks = remarks_of(cells)
    if remarks:
        by_line = summary["dataset"].map(remarks)
        summary = summary.assign(**{REMARKS: by_line})
    if committed:
        groups = summary[GROUP].itertuples(index=False, name=None)
        is_committed = [group in committed for group in groups]
        summary = summary.assign(**{COMMITTED: is_committed})
    return summary


def _measured_lines(
    measured: MeasuredCells, published_only: bool
) -> Iterator[SummaryLine]:
    """Yield the lines of each group of cells, in the order of the cells.

    `published_only`: False for all readings and measures; True to leave out readings other than the
    default, and measures that have no published value and that no claim names, except the first
    measure of a group.

    A group also has lines if none of its cells ended ok; their ending says so.
    """
    claimed = _claimed_metrics(measured.resolved) if published_only else None
    for group, statuses in measured.statuses.items():
        *_, reading = group
        if published_only and reading:
            continue
        ending = _common_ending(group, statuses, measured)
        yield from _group_lines(group, ending, measured, claimed)


def _claimed_metrics(resolved: Resolved) -> set[str]:
    """Return the columns of the measures that the claims about a table compare.

    A column is such as `mcc` or `gmean@h=50`.
    """
    comparisons = [
        part for claim in resolved.file.spec.claims for part in claim.comparisons
    ]
    measures = [part.metric for part in comparisons]
    measures += [
        part.than_metric for part in comparisons if part.than_metric is not None
    ]
    return {measure.column for measure in measures}


def _common_ending(group: Key, statuses: set[str], measured: MeasuredCells) -> str:
    """Return the ending that all cells of a group share, such as `ok` or `timeout`.

    It is `incomplete` if they share none or folds are missing. `group`: (data set, model,
    selection, reading). `statuses`: the distinct endings of its cells, at least one.
    """
    if len(statuses) > 1:
        return "incomplete"
    (ending,) = statuses
    if ending != COMPLETE:
        return ending
    runs = measured.columns(group)["run"]
    is_complete = measured.table.is_complete(group[0], runs)
    return COMPLETE if is_complete else "incomplete"


def _group_lines(
    group: Key, ending: str, measured: MeasuredCells, claimed: Collection[str] | None
) -> Iterator[SummaryLine]:
    """Yield the lines of a group of cells, one for each measure that is shown.

    A line that was computed before is taken from `measured.summary_lines`, which is extended.
    `group`: (data set, model, selection, reading). `ending`: the common ending of its cells.
    `claimed`: None for all measures; else the columns of those that are shown even if nothing is
    published.
    """
    computed = measured.summary_lines
    for measure in _shown_measures(group, ending, measured, claimed):
        key = (group, measure)
        if key not in computed:
            computed[key] = _summary_line(group, measure, ending, measured)
        yield computed[key]


def _shown_measures(
    group: Key, ending: str, measured: MeasuredCells, claimed: Collection[str] | None
) -> Iterator[Measure]:
    """Yield each measure of a group that has a value or a published value, and always the first.

    If some cells did not end ok, measures without any value are yielded, too. `group`: (data set,
    model, selection, reading). `ending`: the common ending of its cells. `claimed`: None for all of
    these; else only published measures, the first one, and those with these columns.
    """
    published = measured.resolved.published
    dataset, model, *_ = group
    measures = measured.table.measures(dataset, model)
    for measure in measures:
        is_published = (dataset, model, measure.column) in published
        if is_published or measure is measures[0]:
            yield measure
            continue
        is_left_out = claimed is not None and measure.column not in claimed
        if is_left_out:
            continue
        if ending != COMPLETE or _has_value(group, measure, measured):
            yield measure


def _has_value(group: Key, measure: Measure, measured: MeasuredCells) -> bool:
    """Return True if some cell of a group that ended ok has a measure."""
    is_missing = np.isnan(measured.values(group, measure))
    return not is_missing.all()


def _summary_line(
    group: Key, measure: Measure, ending: str, measured: MeasuredCells
) -> SummaryLine:
    """Return the line of `summary.csv` for a measure of a group, with its verdict.

    The mean is over the cells, the deviation is of cells or of run means, as the protocol says;
    they are None for no value, or a single one. `n` counts all cells that ended ok, also those
    without the measure. `group`: (data set, model, selection, reading). `ending`: the common ending
    of its cells.
    """
    resolved = measured.resolved
    dataset, model, select, reading = group
    published = resolved.published.get((dataset, model, measure.column))
    values = measured.values(group, measure)
    valid = values[~np.isnan(values)]
    of_run_means = resolved.spec.protocol.std == "of-run-means"
    spread = (
        run_means(values, measured.columns(group)["run"]) if of_run_means else valid
    )
    judgement = judge_cells(
        group, measure, measured, ending=ending, published=published
    )
    return SummaryLine(
        dataset=dataset,
        model=model,
        measure=measure,
        select=select,
        reading=reading,
        mean=float(valid.mean()) if len(valid) else None,
        std=float(spread.std(ddof=1)) if len(spread) > 1 else None,
        n=len(values),
        published=published,
        verdict=judgement.verdict,
        ended=ending,
        runs=judgement.runs,
        low=judgement.low,
        high=judgement.high,
        runs_to_tell=judgement.runs_to_tell,
        rows_off=judgement.rows_off,
    )


def drop_stand_ins(lines: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return lines of `summary.csv` without superfluous ones of stand-ins.

    A stand-in is superfluous if the data set that it replaces has a complete line. `lines`: a frame
    with the columns `dataset` and `ended`, from which the lines are selected.
    """
    if not resolved.stand_ins:
        return lines
    datasets = lines["dataset"]
    is_measured = lines["ended"] == COMPLETE
    replaced = datasets.map(resolved.stand_ins)
    is_superfluous = replaced.isin(datasets[is_measured])
    return lines[~is_superfluous]


def _unmeasured_lines(measured: MeasuredCells) -> list[SummaryLine]:
    """Return a line of `summary.csv` for each published value of a model that was not measured.

    Published values are those that are cited, and those of models that the suite never measures;
    the data set must have been run under the default readings. A model that the table measures gets
    no such line, not even for a cited value; nor does a model of the suite that this profile leaves
    out, unless the value is cited.
    """
    resolved = measured.resolved
    default = [group for group in measured.statuses if group[-1] == ""]
    if not default:
        return []
    datasets = {dataset for dataset, *_ in default}
    models = {*measured.table.models(), *(model for _, model, *_ in default)}
    _, _, first_select, _ = default[0]
    lines = []
    for (dataset, model, metric), published in resolved.published.items():
        if dataset not in datasets or model in models:
            continue
        if model in resolved.file.all_columns and not published.cited:
            continue
        lines.append(
            SummaryLine(
                dataset=dataset,
                model=model,
                measure=Measure(metric),
                select=first_select,
                reading="",
                n=0,
                published=published,
                verdict=verdict_without_cells(published, measured),
                ended=NOT_MEASURED,
            )
        )
    return lines


def optimism(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return the gain of a choice on outer test folds (oracle) over one on inner folds (nested).

    There is a line for each model on each data set and reading, in the order of the cells, with the
    columns `OPTIMISM`. `oracle` and `nested` are means of the first metric over the same folds.
    `optimism` is the first minus the second, for an error the second minus the first, so that a
    positive value always favours the oracle. `std` is its deviation from fold to fold, `n` the
    number of folds, `low` and `high` the ends of its interval of 95 % by the corrected resampled
    t-test, as folds share training rows. A model is left out if one of its cells did not end ok or
    if it was run under one selection only: the remaining folds may be the easier ones.
    """
    is_searched = cells["select"].isin(["oracle", "nested"])
    cells = cells[is_searched]
    columns = _columns_of_optimism(cells, resolved)
    groups: Any = cells.groupby(["dataset", "model", "reading"], sort=False).indices
    lines = []
    for (dataset, model, reading), numbers in groups.items():
        part = {name: column[numbers] for name, column in columns.items()}
        gain = _optimism_of(str(dataset), part, resolved)
        if gain:
            lines.append(
                {"dataset": dataset, "model": model, "reading": reading, **gain}
            )
    return pd.DataFrame(lines, columns=OPTIMISM)


def _columns_of_optimism(
    cells: pd.DataFrame, resolved: Resolved
) -> dict[str, NDArray[Any]]:
    """Return the columns of cells that the optimism needs, {name: array of shape (cells,)}.

    These are run, fold, select, status and the first metric of each data set. A metric that `cells`
    lack is left out. `cells`: lines of `cells.csv`. Selecting lines of a frame instead takes many
    times as long.
    """
    columns = {}
    for name in (*_FOLDS, "select", "status"):
        columns[name] = cells[name].to_numpy(object)
    datasets = cells["dataset"].unique()
    metrics = set(map(resolved.metric_of, datasets))
    for metric in metrics.intersection(cells):
        values = cells[metric]
        columns[metric] = values.to_numpy(dtype=float, na_value=np.nan)
    return columns


def _optimism_of(
    dataset: str, columns: Mapping[str, NDArray[Any]], resolved: Resolved
) -> dict[str, Any]:
    """Return the metric and the numbers of a line of `optimism.csv`, {column: value}.

    It is empty if the metric or cells of one selection are missing, or if a cell did not end ok.
    `std`, `low` and `high` are None for a single fold. `columns`: run, fold, select, status and
    metrics of the cells of one model on one data set, {name: array}.
    """
    metric = resolved.metric_of(dataset)
    if metric not in columns or (columns["status"] != COMPLETE).any():
        return {}
    oracle = _scores_by_fold("oracle", metric, columns)
    nested = _scores_by_fold("nested", metric, columns)
    if not oracle or oracle.keys() != nested.keys():
        return {}
    folds = sorted(oracle)
    oracle_scores = np.array([oracle[fold] for fold in folds])
    nested_scores = np.array([nested[fold] for fold in folds])
    if np.isnan(oracle_scores).any() or np.isnan(nested_scores).any():
        return {}
    sign = -1 if less_is_better(metric) else 1
    gain = (oracle_scores - nested_scores) * sign
    line = {
        "metric": metric,
        "oracle": oracle_scores.mean(),
        "nested": nested_scores.mean(),
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


def _scores_by_fold(
    select: str, metric: str, columns: Mapping[str, NDArray[Any]]
) -> dict[tuple[int, int], float]:
    """Return the scores under one selection, {(run, fold): score}, NaN if missing.

    `columns`: run, fold, select and the metric of cells, {name: array}. `select`: `oracle` or
    `nested`.
    """
    is_selected = columns["select"] == select
    runs, folds, scores = (columns[name][is_selected] for name in (*_FOLDS, metric))
    return dict(zip(zip(runs, folds, strict=True), scores.tolist(), strict=True))
