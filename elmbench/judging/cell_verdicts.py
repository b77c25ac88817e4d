"""The verdict on a published value by the cells behind our value: `cited`, `no data`,
`not comparable`, or that of `value_verdicts`.
"""

import numpy as np

from elmbench.judging.measured_cells import Key, MeasuredCells, is_other_data
from elmbench.judging.value_verdicts import Judgement, judge
from elmbench.judging.verdict_words import COMPLETE
from elmbench.specs.measures import FACTS, Measure
from elmbench.specs.published import PublishedValue


def judge_cells(
    group: Key,
    measure: Measure,
    measured: MeasuredCells,
    *,
    ending: str,
    published: PublishedValue | None,
) -> Judgement:
    """Return the verdict on the published value of a group of cells, with its evidence.

    It is `cited` for every entry that the paper takes from others, even without a number. Else it
    is empty if the paper prints no number or the table does not judge the measure, and `no data`
    without complete cells. It is `not comparable` if the model or the data are not the paper's, if
    the reading leaks, or for a table without runs; else one of `judge`. Facts are `reproduced` or
    `differs`.

    `group`: (data set, model, selection, reading). `ending`: the common ending of its cells, `ok`
    if they are complete. `published`: the printed value; None if there is none.
    """
    table = measured.table
    resolved = measured.resolved
    if published is None:
        return Judgement("")
    if published.cited:
        return Judgement("cited")
    if published.value is None or not table.is_judged(measure):
        return Judgement("")
    values = measured.values(group, measure)
    if ending != COMPLETE or np.isnan(values).all():
        return Judgement("no data")
    columns = measured.columns(group)
    runs = len(set(columns["run"].tolist()))
    if not _is_comparable(group, measured):
        return Judgement("not comparable", runs=runs)
    if measure.metric in FACTS:
        # No random draw changes a fact.
        is_equal = values.mean() == float(published.value)
        return Judgement("reproduced" if is_equal else "differs", runs=runs)
    dataset = group[0]
    has_draws = table.has_runs and resolved.compares(dataset)
    if not has_draws or is_other_data(columns):
        return Judgement("not comparable", runs=runs)
    value = measured.compared_value(group, measure)
    judgement = judge(value.draws, value.published.number, value.tolerance)
    return judgement._replace(runs=runs)


def _is_comparable(group: Key, measured: MeasuredCells) -> bool:
    """Return True if cells use the paper's model, parameters, and numbers of rows and folds.

    The content of the data is not compared here. It is False also for a reading that leaks.
    `group`: (data set, model, selection, reading).
    """
    dataset, model, _, reading = group
    resolved = measured.resolved
    if resolved.stand_in(model, dataset) is not None:
        return False
    choices = resolved.file.paper.read_label(reading)
    if any(choice.leaks for choice in choices):
        return False
    return not resolved.cuts(dataset)


def verdict_without_cells(published: PublishedValue, measured: MeasuredCells) -> str:
    """Return the verdict on a published value of a model that is never measured.

    It is `cited` for every value that the paper takes from others, else `no data`; empty if the
    table does not judge the metric or the paper prints no number. `measured`: the cells of other
    models; only their table counts.
    """
    if published.cited:
        return "cited"
    is_judged = measured.table.is_judged(Measure(published.metric))
    return "no data" if is_judged and published.value is not None else ""
