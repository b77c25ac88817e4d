"""The verdict on a metric of a table, from its three measures (docs/verdicts.md).

A measure holds, does not hold or is undecided. A verdict that would change without one model or one
data set is not given: the exception is named, or the measure stays undecided.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from elmbench.judging.judged_rows import Row, rows_of
from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.model_shifts import is_shifted
from elmbench.judging.strict_test import StrictTest, strict_tests
from elmbench.judging.table_measures import (
    Interval,
    Order,
    PairOrder,
    Values,
    compare_differences,
    compare_order,
    compare_pairs,
    compare_proposed,
    compare_values,
)
from elmbench.judging.verdict_words import HOLDS_BUT_FOR, TableState
from elmbench.metrics import Unit, unit_of
from elmbench.registry import ignores_features
from elmbench.results import group_by
from elmbench.specs.experiments import PROFILES
from elmbench.specs.profiles import Resolved

State = Literal["holds", "does not hold", "undecided", "nothing to compare"]
#: The level of the strict test.
ALPHA = 0.05
#: Names of models that ignore the features, in papers that do not call them dummies.
TRIVIAL = ("default", "majority", "zeror")
#: The slopes of our differences on the printed ones that count as the same size.
SAME_SIZE = (2 / 3, 3 / 2)
#: At most this share of the models, or of the data sets, may be exceptions; one of three may.
MOST_EXCEPTIONS = 1 / 3


@dataclass(frozen=True)
class MeasureVerdict:
    """The verdict on one measure of a table: its values, its order or its differences."""

    state: State
    #: The models or data sets without which it holds.
    exceptions: tuple[str, ...] = ()
    #: The model or data set without which it would not hold.
    rests_on: str = ""


@dataclass(frozen=True)
class TableVerdict:
    """The verdict on one metric of a table, with its measures."""

    metric: str
    #: The unit of the metric, with the margin of the paper.
    unit: Unit
    values: Values
    order: Order
    #: The order of the proposed models against all others.
    proposed_order: Order
    differences: Interval
    values_verdict: MeasureVerdict
    order_verdict: MeasureVerdict
    differences_verdict: MeasureVerdict
    #: The number of data sets.
    n_datasets: int
    #: The strict tests, one for each number of runs that a published value may be a mean over;
    #: empty without enough runs.
    strict: tuple[StrictTest, ...] = ()
    #: The profiles of the compared values, the most faithful one first.
    profiles: tuple[str, ...] = ()

    @property
    def measures(self) -> dict[str, MeasureVerdict]:
        """The verdicts on `values`, `order` and `differences`, by these names."""
        return {
            "values": self.values_verdict,
            "order": self.order_verdict,
            "differences": self.differences_verdict,
        }

    @property
    def state(self) -> TableState:
        """The verdict on the metric, without its exceptions, from those on the three measures.

        If a measure does not hold, the verdict is `holds in part` if a different measure holds,
        else `does not hold`. If no measure fails to hold, the verdict is `holds` if the values hold
        and the order is not undecided, else `undecided`.
        """
        states = [measure.state for measure in self.measures.values()]
        if "does not hold" in states:
            return "holds in part" if "holds" in states else "does not hold"
        if (
            self.values_verdict.state == "holds"
            and self.order_verdict.state != "undecided"
        ):
            return "holds"
        return "undecided"

    @property
    def exceptions(self) -> tuple[str, ...]:
        """The distinct exceptions of the measures, such as `SVM`, `wine` or `SVM on heart`."""
        names = [
            name for measure in self.measures.values() for name in measure.exceptions
        ]
        return tuple(dict.fromkeys(names))

    @property
    def state_and_exceptions(self) -> str:
        """The verdict, with its exceptions if it holds, such as `holds but for SVM on heart`."""
        if self.state == "holds" and self.exceptions:
            return f"{HOLDS_BUT_FOR}{', '.join(self.exceptions)}"
        return self.state

    @property
    def power(self) -> float:
        """The share of exchanges of two models in print that the order would notice.

        It is NaN if the print separates no two models. An exchange of two models whose order is
        kept is an exchange that reverses it.
        """
        pairs = self.order.pairs
        return self.n_noticed / len(pairs) if pairs else math.nan

    @property
    def n_noticed(self) -> int:
        """The number of exchanges of two models in print that the order would notice."""
        return sum(pair.is_kept for pair in self.order.pairs)

    def to_json_dict(self) -> dict[str, Any]:
        """Return the verdict for JSON, {name: value}; None stands for NaN and infinity.

        Its keys are `metric`, `margin`, `standard_margin`, `verdict`, `exceptions`, `datasets`
        (their number), `strict` (a list of dicts with `mean_of`, `outside`, `of` and `p`), and
        `values`, `order` and `differences`: dicts with the numbers of each measure and its
        `verdict`, `exceptions` and `rests_on`.
        """
        values = self.values
        order = self.order
        measures: dict[str, dict[str, Any]] = {
            "values": {
                "n": values.n,
                "within_margin": values.within,
                "median": _interval_json_dict(values.median),
                "median_in_margins": _interval_json_dict(values.margins),
                "largest": values.largest,
                "largest_at": list(values.largest_at),
            },
            "order": {
                **_order_json_dict(order),
                "models": order.separated_pairs_by_model,
                "proposed_against_rest": _order_json_dict(self.proposed_order),
                "power": _finite_or_none(self.power),
            },
            "differences": {"slope": _interval_json_dict(self.differences)},
        }
        for name, verdict in self.measures.items():
            measures[name].update(
                verdict=verdict.state,
                exceptions=list(verdict.exceptions),
                rests_on=verdict.rests_on,
            )
        return {
            "metric": self.metric,
            "margin": self.unit.margin,
            "standard_margin": unit_of(self.metric).margin,
            "verdict": self.state,
            "exceptions": list(self.exceptions),
            "datasets": self.n_datasets,
            **measures,
            "strict": [
                {
                    "mean_of": test.mean_of,
                    "outside": test.outside,
                    "of": test.n,
                    "p": test.p,
                }
                for test in self.strict
            ],
        }


def _order_json_dict(order: Order) -> dict[str, Any]:
    """Return an order for JSON: the numbers of pairs on a data set, and their share.

    The keys are `pairs` (their number), `same`, `opposite` and `not_separated` (the numbers of
    pairs that our runs order in these ways), and `share_of_same_means` (estimate, low and high of
    the share of pairs whose means have the printed order).
    """
    return {
        "pairs": order.n,
        "same": order.same,
        "opposite": order.opposite,
        "not_separated": order.unseparated,
        "share_of_same_means": _interval_json_dict(order.share),
    }


def _interval_json_dict(interval: Interval) -> dict[str, float | None]:
    """Return an interval for JSON: estimate, low and high, with None for NaN and infinity."""
    return {
        "estimate": _finite_or_none(interval.estimate),
        "low": _finite_or_none(interval.low),
        "high": _finite_or_none(interval.high),
    }


def _finite_or_none(value: float) -> float | None:
    """Return a number for JSON: None in place of NaN and infinity."""
    return value if math.isfinite(value) else None


def judge_table(
    compared: Iterable[ComparedValue], resolved: Resolved
) -> list[TableVerdict]:
    """Return the verdict on each metric of a table, in the order of the compared values.

    `compared`: the compared values of the table, of any metrics. Models that ignore the features,
    such as the dummy, do not count: their values are far from all others, so they would decide.
    """
    trivial = {
        name
        for name, column in resolved.spec.models.items()
        if ignores_features(column.model)
    }
    values = [
        value
        for value in compared
        if value.model not in trivial and value.model.casefold() not in TRIVIAL
    ]
    groups = group_by(values, lambda value: value.measure.metric)
    return [
        _judge_metric(metric, group, resolved.means_of)
        for metric, group in groups.items()
    ]


def main_verdict(
    verdicts: Sequence[TableVerdict], resolved: Resolved
) -> TableVerdict | None:
    """Return the verdict on the first metric of the protocol that has one.

    Without such a metric, it is the first of `verdicts`; None if there are none.
    """
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    metrics = [*resolved.spec.protocol.all_metrics, *by_metric]
    return next((by_metric[metric] for metric in metrics if metric in by_metric), None)


def _judge_metric(
    metric: str, compared: Sequence[ComparedValue], means_of: Sequence[int]
) -> TableVerdict:
    """Return the verdict on a metric from its compared values, with the profiles they come from.

    `means_of`: the numbers of runs that a published value may be a mean over. `compared`: at least
    one.
    """
    used = {value.profile for value in compared}
    return replace(
        judge_measures(metric, rows_of(compared), means_of),
        profiles=tuple(name for name in reversed(PROFILES) if name in used),
    )


def judge_measures(
    metric: str, rows: Sequence[Row], means_of: Sequence[int] = ()
) -> TableVerdict:
    """Return the verdict on a metric of a table: on its values, their order and their differences.

    `rows`: one for each data set, with the models; at least one. `means_of`: the numbers of runs
    that a published value may be a mean over; by default, the number of the rows. The result has a
    strict test for each of them, in their order, in `strict`; none if there are too few runs for a
    test. A measure that `does not hold` is `undecided` instead if there is no test, or the test of
    the first number does not reject the print as one more rerun of ours.
    """
    strict = strict_tests(rows, means_of or (rows[0].mean_of,))
    measures = [
        _values_verdict(rows),
        judge_order(rows),
        _robust_verdict(rows, differences_state),
    ]
    if not strict or strict[0].p > ALPHA:
        measures = [_undecided_instead(measure) for measure in measures]
    values, order, differences = measures
    return TableVerdict(
        metric=metric,
        unit=rows[0].unit,
        values=compare_values(rows),
        order=compare_order(rows),
        proposed_order=compare_proposed(rows),
        differences=compare_differences(rows),
        values_verdict=values,
        order_verdict=order,
        differences_verdict=differences,
        n_datasets=len({row.dataset for row in rows}),
        strict=strict,
    )


def _undecided_instead(verdict: MeasureVerdict) -> MeasureVerdict:
    """Return the verdict `undecided` in place of `does not hold`; other verdicts stay."""
    return MeasureVerdict("undecided") if verdict.state == "does not hold" else verdict


# --- the states of the measures


def values_state(rows: Sequence[Row]) -> State:
    """Return the state of the values: a comparison of their median distance with the margin.

    It is `holds` if the interval of the median distance ends within one margin, `does not hold` if
    it begins beyond one margin, else `undecided`. `rows`: of one metric, at least one.
    """
    interval = compare_values(rows).margins
    if math.isnan(interval.low):
        return "undecided"
    if interval.high <= 1:
        return "holds"
    return "does not hold" if interval.low > 1 else "undecided"


def order_state(rows: Sequence[Row]) -> State:
    """Return the state of the order of the pairs that the print separates beyond the margin.

    It is `does not hold` if two models are reversed, `holds` if the order of more than half of the
    pairs is kept, else `undecided`; without such pairs, `nothing to compare`. `rows`: of one
    metric.
    """
    pairs = compare_pairs(rows)
    if not pairs:
        return "nothing to compare"
    if any(pair.is_reversed for pair in pairs):
        return "does not hold"
    n_kept = sum(pair.is_kept for pair in pairs)
    return "holds" if 2 * n_kept > len(pairs) else "undecided"


def differences_state(rows: Sequence[Row]) -> State:
    """Return the state of the differences: whether their slope on the printed ones is near 1.

    It is `holds` if the interval of the slope lies within `SAME_SIZE`, `does not hold` if it lies
    outside, else `undecided`; `nothing to compare` if there is no slope.
    """
    slope = compare_differences(rows)
    low, high = SAME_SIZE
    if math.isnan(slope.estimate):
        return "nothing to compare"
    if math.isnan(slope.low):
        return "undecided"
    if low <= slope.low and slope.high <= high:
        return "holds"
    return "does not hold" if slope.high < low or slope.low > high else "undecided"


# --- robustness


def _robust_verdict(
    rows: Sequence[Row], state_of: Callable[[Sequence[Row]], State]
) -> MeasureVerdict:
    """Return the verdict on a measure, checked by leaving out each model and each data set.

    A measure that holds becomes `undecided` if it would not hold, or be undecided, without one of
    them (`rests_on`); if nothing is left to compare, it still holds. A measure that does not hold
    becomes one that holds with an exception if it holds without one of at least three models, or of
    at least three data sets; the first of these is the exception. `state_of`: the function that
    returns the state of the measure for rows.
    """
    state = state_of(rows)
    if state in ("undecided", "nothing to compare"):
        return MeasureVerdict(state)
    rests = [rest for rest in leave_one_out(rows) if rest.rows]
    if state == "holds":
        # Nothing may be left to compare without the model that all others are compared with.
        decisive = [
            rest.left_out
            for rest in rests
            if state_of(rest.rows) not in ("holds", "nothing to compare")
        ]
        return (
            MeasureVerdict("undecided", rests_on=decisive[0])
            if decisive
            else MeasureVerdict(state)
        )
    for rest in rests:
        if MOST_EXCEPTIONS * rest.n_alike >= 1 and state_of(rest.rows) == "holds":
            return MeasureVerdict("holds", exceptions=(rest.left_out,))
    return MeasureVerdict(state)


def _values_verdict(rows: Sequence[Row]) -> MeasureVerdict:
    """Return the verdict on the values, with exceptions if it holds.

    It is the verdict on the median distance (`_robust_verdict`) unless that one holds. Then the
    exceptions are the models and data sets whose own values are further than the margin from the
    print, and the models that are shifted. If they are more than `MOST_EXCEPTIONS` of the models or
    of the data sets, it is `does not hold`.
    """
    verdict = _robust_verdict(rows, values_state)
    if verdict.state != "holds":
        return verdict
    by_model = _rows_by_model(rows)
    by_dataset = _rows_by_dataset(rows)
    far_models = [
        model
        for model, part in by_model.items()
        if values_state(part) == "does not hold"
        or is_shifted(part, n_models=len(by_model))
    ]
    far_datasets = [
        dataset
        for dataset, part in by_dataset.items()
        if values_state(part) == "does not hold"
    ]
    are_many_models = len(far_models) > MOST_EXCEPTIONS * len(by_model)
    are_many_datasets = len(far_datasets) > MOST_EXCEPTIONS * len(by_dataset)
    if are_many_models or are_many_datasets:
        return MeasureVerdict("does not hold")
    names = dict.fromkeys([*verdict.exceptions, *far_models, *far_datasets])
    return MeasureVerdict("holds", exceptions=tuple(names))


def judge_order(rows: Sequence[Row]) -> MeasureVerdict:
    """Return the verdict on the order, with exceptions if it holds or is undecided.

    The exceptions are the models that are reversed, and the pairs that have the opposite order on a
    data set. The verdict is `does not hold` if there are too many exceptions (`MOST_EXCEPTIONS`),
    or if models are reversed and the order without them is not `holds`.
    """
    reversed_models = _fewest_models(rows, _reversed_pairs(rows))
    rest = without_models(rows, tuple(reversed_models))
    if reversed_models:
        are_many = len(reversed_models) > MOST_EXCEPTIONS * len(_rows_by_model(rows))
        holds = not are_many and order_state(rest) == "holds"
        verdict = MeasureVerdict("holds" if holds else "does not hold")
    else:
        verdict = _robust_verdict(rows, order_state)
    if verdict.state not in ("holds", "undecided"):
        return verdict
    if _are_many_opposite(rest):
        return MeasureVerdict("does not hold")
    names = _names_of_reversed(rows, reversed_models) + _opposite_on_datasets(rest)
    return replace(verdict, exceptions=tuple(names))


def _reversed_pairs(rows: Sequence[Row]) -> list[PairOrder]:
    """Return the pairs of models that are in the opposite order on more data sets than not.

    Data sets on which our runs do not separate them do not count.
    """
    return [pair for pair in compare_pairs(rows) if pair.is_reversed]


def _are_many_opposite(rows: Sequence[Row]) -> bool:
    """Return True if too many pairs of models are in the opposite order on a data set.

    They are more than `MOST_EXCEPTIONS` of those that both the print and our runs separate; a pair
    counts on each data set. `rows`: of one metric.
    """
    pairs = compare_pairs(rows)
    opposite = sum(pair.opposite for pair in pairs)
    separated = opposite + sum(pair.same for pair in pairs)
    return opposite > MOST_EXCEPTIONS * separated


def _names_of_reversed(rows: Sequence[Row], models: Sequence[str]) -> list[str]:
    """Return the names of exceptions for the models that are reversed, one for each of `models`.

    `rows`: of one metric, from which the pairs of the models follow. A name is such as `ELM`, `ELM
    and SVM` for its only pair, or `ELM on wine` if it has the opposite order on one data set only.
    """
    reversed_pairs = [pair for pair in compare_pairs(rows) if pair.opposite]
    names = []
    for model, pairs in _pairs_by_model(reversed_pairs, models).items():
        name = _model_or_pair(model, pairs)
        datasets = {dataset for pair in pairs for dataset in pair.opposite_on}
        if len(datasets) == 1:
            (dataset,) = datasets
            name += f" on {dataset}"
        names.append(name)
    return names


def _opposite_on_datasets(rows: Sequence[Row]) -> list[str]:
    """Return the names of exceptions on single data sets, such as `ELM on wine`.

    They are the fewest models without which no pair is opposite there, or only `wine` if these are
    more than half of its models.
    """
    names = []
    for dataset, rows_of_dataset in _rows_by_dataset(rows).items():
        pairs = _reversed_pairs(rows_of_dataset)
        models = _fewest_models(rows_of_dataset, pairs)
        if 2 * len(models) > len(_rows_by_model(rows_of_dataset)):
            names.append(dataset)
            continue
        for model, pairs_of_model in _pairs_by_model(pairs, models).items():
            names.append(f"{_model_or_pair(model, pairs_of_model)} on {dataset}")
    return names


def _pairs_by_model(
    pairs: Sequence[PairOrder], models: Sequence[str]
) -> dict[str, list[PairOrder]]:
    """Return the pairs of each of `models`, {model: pairs}.

    A pair of two of `models` is listed for the first of the two only. A model without a pair left
    has an empty list.
    """
    by_model: dict[str, list[PairOrder]] = {}
    rest = list(pairs)
    for model in models:
        by_model[model] = [pair for pair in rest if model in pair.models]
        rest = [pair for pair in rest if model not in pair.models]
    return by_model


def _model_or_pair(model: str, pairs: Sequence[PairOrder]) -> str:
    """Return the name of a model, or both names of its pair (`ELM and SVM`) if it has only one."""
    return " and ".join(pairs[0].models) if len(pairs) == 1 else model


def _fewest_models(rows: Sequence[Row], pairs: Sequence[PairOrder]) -> list[str]:
    """Return few models that have a part in all of some pairs, chosen greedily; none for no pairs.

    Of two models with as many pairs, it takes the one whose values are further from the print.
    `rows`: those that the pairs are from.
    """
    if not pairs:
        return []
    by_model = _rows_by_model(rows)
    distances = {
        model: compare_values(by_model[model]).margins.estimate
        for pair in pairs
        for model in pair.models
    }
    chosen: list[str] = []
    rest = list(pairs)
    while rest:
        counts = Counter(model for pair in rest for model in pair.models)
        worst = max(counts, key=lambda model: (counts[model], distances[model]))
        chosen.append(worst)
        rest = [pair for pair in rest if worst not in pair.models]
    return chosen


class Rest(NamedTuple):
    """The rows of a table without one model or one data set."""

    left_out: str
    rows: list[Row]
    #: The number of models, or of data sets, in the table.
    n_alike: int


def leave_one_out(rows: Sequence[Row]) -> Iterator[Rest]:
    """Yield the rows without each model, then without each data set.

    `rows`: of one metric. A single model, or a single data set, is never left out. Each `Rest` has
    the name of what is left out, the remaining rows (perhaps none), and the number of models or
    data sets before.
    """
    models = _rows_by_model(rows)
    if len(models) > 1:
        for model in models:
            yield Rest(model, without_models(rows, (model,)), len(models))
    datasets = _rows_by_dataset(rows)
    if len(datasets) > 1:
        for dataset in datasets:
            yield Rest(
                dataset, [row for row in rows if row.dataset != dataset], len(datasets)
            )


def without_models(rows: Sequence[Row], models: Sequence[str]) -> list[Row]:
    """Return the rows without some models; rows that would be empty are left out.

    `models`: their names, of which any may be missing in a row.
    """
    rest = [
        row.select(np.array([model not in models for model in row.models]))
        for row in rows
    ]
    return [row for row in rest if row.models]


def _rows_by_model(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return, for each model, the rows that have it, with this model alone.

    The form is {model: rows}; both keep the order of `rows`.
    """
    models = dict.fromkeys(model for row in rows for model in row.models)
    return {
        model: [
            row.select(np.array([name == model for name in row.models]))
            for row in rows
            if model in row.models
        ]
        for model in models
    }


def _rows_by_dataset(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows of each data set, {data set: rows}, with all of their models."""
    return group_by(rows, lambda row: row.dataset)
