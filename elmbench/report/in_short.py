"""The sentences of a paper's file that say whether it holds, with numbers from the results."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from elmbench.judging.judged_rows import Row, rows_of
from elmbench.judging.judged_table import JudgedTable
from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.table_measures import (
    compare_order,
    compare_values,
)
from elmbench.numerics.arrays import Array
from elmbench.report.verdict_sentences import distance_with_unit, median_text
from elmbench.specs.measures import Measure
from elmbench.specs.papers import (
    MeasureTexts,
    PooledMeasures,
    QuotedValue,
    ShortSentence,
    ValueTexts,
)


def in_short(
    sentences: tuple[ShortSentence, ...], tables: Mapping[str, JudgedTable]
) -> list[str]:
    """Return the sentences that say whether a paper holds, filled with numbers from the results.

    `sentences`: of the paper's file, with placeholders such as `{accuracy.within}`. `tables`: the
    tables that have results, by their ids. A sentence is left out if one of its numbers has not
    been run.
    """
    rendered = (
        _fill_sentence(sentence, tables)
        for sentence in sentences
        if sentence.tables <= tables.keys()
    )
    return [text for text in rendered if text is not None]


def _fill_sentence(
    sentence: ShortSentence, tables: Mapping[str, JudgedTable]
) -> str | None:
    """Return a sentence with its placeholders filled; None if one of its numbers has not been run.

    A placeholder names one of its pooled measures or quoted values, and a text of it, such as
    `{accuracy.within}`. `tables`: {id: table}, which must have all tables of the sentence.
    """
    measures = {
        name: _measure_texts(pooled, tables)
        for name, pooled in sentence.measures.items()
    }
    values = {
        name: _value_texts(quoted, tables[quoted.table])
        for name, quoted in sentence.values.items()
    }
    numbers = measures | values
    if None in numbers.values():
        return None
    return sentence.says.format_map(numbers)


def _measure_texts(
    pooled: PooledMeasures, tables: Mapping[str, JudgedTable]
) -> MeasureTexts | None:
    """Return what a sentence may show of the compared values of some tables, taken together.

    These are the median and the largest distance with their unit, and counts of values and pairs. A
    value that several tables print counts once, but pairs of models count in each table. None if no
    value is compared. `tables`: {id: table}.
    """
    by_table = [
        [value for value in tables[id].compared_values if _is_pooled(value, pooled)]
        for id in pooled.tables
    ]
    rows = [row for compared in by_table for row in rows_of(compared)]
    if not rows:
        return None
    # The order compares the models of one table.
    order = compare_order(rows)
    rows_once = rows_of(_values_once(by_table))
    values = compare_values(rows_once)
    unit = rows[0].unit
    return MeasureTexts(
        median=median_text(unit, values),
        largest=distance_with_unit(unit, _largest_distance(rows_once)),
        within=values.within,
        beyond=values.n - values.within,
        n=values.n,
        same=order.same,
        decided=order.same + order.opposite,
        unseparated=order.unseparated,
    )


def _is_pooled(value: ComparedValue, pooled: PooledMeasures) -> bool:
    """Return True if a compared value has the pooled metric, model and data set.

    Without named models (or data sets), all of them are pooled.
    """
    return (
        _has_metric(value, pooled.metric)
        and (not pooled.models or value.model in pooled.models)
        and (not pooled.datasets or value.dataset in pooled.datasets)
    )


def _values_once(by_table: Iterable[list[ComparedValue]]) -> Iterator[ComparedValue]:
    """Yield the compared values of some tables; one that a previous table prints too is left out.

    `by_table`: the values of each table. Values are the same if data set, model, measure and
    published number are equal.
    """
    seen: set[tuple[str, str, Measure, float]] = set()
    for compared in by_table:
        values = {
            (value.dataset, value.model, value.measure, value.published.number): value
            for value in compared
        }
        for key, value in values.items():
            if key not in seen:
                yield value
        seen.update(values)


def _largest_distance(rows: list[Row]) -> float:
    """Return the largest abs(ours - published) of all models in `rows`, at least one.

    Of a relative metric, it is divided by the published value.
    """
    distances = [_distances(row) for row in rows]
    return float(max(of_row.max() for of_row in distances))


def _distances(row: Row) -> Array:
    """Return abs(ours - published) for each model of a row, of shape (k,).

    For a relative metric, it is divided by abs(published).
    """
    distances = np.abs(row.means - row.published)
    if row.unit.is_relative:
        distances = distances / np.abs(row.published)
    return distances


def _has_metric(value: ComparedValue, metric: str) -> bool:
    """Return True if a compared value is of this metric, at any setting (`metric@rows=100`)."""
    return value.measure.metric == metric


def _value_texts(quoted: QuotedValue, table: JudgedTable) -> ValueTexts | None:
    """Return our mean (three decimals) and the published value of a quoted value as texts.

    It is None if our value has not been run.
    """
    value = next(_quoted_values(quoted, table), None)
    if value is None:
        return None
    return ValueTexts(
        ours=f"{value.draws.mean:.3f}", published=f"{value.published.number:g}"
    )


def _quoted_values(quoted: QuotedValue, table: JudgedTable) -> Iterator[ComparedValue]:
    """Yield the quoted value from each profile and selection that has it, the decisive first.

    Without a reading, the published value counts under one profile, so there is at most one for
    each measure. With a reading, our value is that under this reading, the most faithful profile
    first.
    """
    if not quoted.reading:
        for value in table.compared_values:
            is_of_cell = (value.dataset, value.model) == (quoted.dataset, quoted.model)
            if is_of_cell and _has_metric(value, quoted.metric):
                yield value
        return
    for results in table.results:
        measured = results.measured
        for group in measured.positions:
            dataset, model, _, reading = group
            cell = (dataset, model, reading)
            if cell == (quoted.dataset, quoted.model, quoted.reading):
                yield measured.compared_value(group, Measure(quoted.metric))
