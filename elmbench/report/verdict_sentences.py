"""Verdicts on tables and papers in words and numbers, for the terminal, the pages and the site."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from elmbench.errors import amount
from elmbench.judging.strict_test import StrictTest
from elmbench.judging.table_measures import Interval, Order, Values
from elmbench.judging.table_verdicts import MeasureVerdict, TableVerdict
from elmbench.judging.verdict_words import TABLE_VERDICTS
from elmbench.metrics import Unit, unit_of
from elmbench.tables.number_texts import p_text, p_words, three_digits

#: The plurals of metrics.
_PLURALS = {
    "accuracy": "accuracies", "train_accuracy": "training accuracies", "gmean": "G-means",
    "mcc": "MCCs",
    "rmse": "RMSEs", "nrmse": "NRMSEs", "precision": "precisions", "recall": "recalls",
    "f1": "F1 scores",
    "spearman": "rank correlations", "tn": "true negatives", "fp": "false positives",
    "fn": "false negatives",
    "tp": "true positives",
}  # fmt: skip
#: The columns of `measure_texts`, and what they mean.
MEASURE_COLUMNS = (
    "metric",
    "distance",
    "within",
    "same order",
    "slope",
    "strict p",
    "verdict",
)
MEASURE_LEGEND = (
    "distance: the median of abs(ours - published). within: the published values within the margin "
    "(a point of a share, .02 of a correlation, 3 % of an error). same order: of the pairs of "
    "models that the print separates by more than the margin and that our runs separate, those in "
    "the printed order; +n pairs are too close in our runs. slope: our differences between models "
    "on the printed ones; 1 if they are as large. strict p: p-value of the print as one more rerun "
    "of ours."
)
#: The sign of each state of a measure of a table.
STATE_SIGNS = {
    "holds": "✓",
    "does not hold": "✗",
    "undecided": "?",
    "nothing to compare": "–",
}


def measure_legend(verdicts: Iterable[TableVerdict]) -> str:
    """Return the sentences that explain `MEASURE_COLUMNS`, the columns of `measure_texts`.

    If papers replace the standard margins of some `verdicts`, a last sentence lists these metrics
    and margins, each once: "Margins of the paper's file: rmse 5 %."
    """
    replaced = [
        f"{verdict.metric} {margin_text(verdict.unit)}"
        for verdict in verdicts
        if own_margin_text(verdict)
    ]
    if not replaced:
        return MEASURE_LEGEND
    return f"{MEASURE_LEGEND} Margins of the paper's file: {', '.join(dict.fromkeys(replaced))}."


def metric_plural(metric: str) -> str:
    """Return a metric's name for several values, such as "accuracies" for `accuracy`.

    It is "values of NAME" for metrics that are not in `_PLURALS`.
    """
    return _PLURALS.get(metric, f"values of {metric}")


def distance_text(verdict: TableVerdict) -> str:
    """Return the median of abs(ours - published) with its unit, such as "0.8 points".

    The median is over the values of a verdict. The unit is that of the metric: points for a share,
    percent of the published values for an error ("2.1 %"), none for a correlation ("0.012").
    """
    return median_text(verdict.unit, verdict.values)


def median_text(unit: Unit, values: Values) -> str:
    """Return the median of abs(ours - published) with its unit, such as "0.8 points".

    `unit`: of the metric that all of `values` have. For a relative unit (errors), each distance is
    divided by the published value, and the median is in percent: "2.1 %".
    """
    if unit.is_relative:
        return distance_with_unit(unit, unit.margin * values.margins.estimate)
    return distance_with_unit(unit, values.median.estimate)


def distance_with_unit(unit: Unit, distance: float) -> str:
    """Return a distance with its unit, such as "0.8 points" or "2.1 %".

    `distance`: as a number of the metric, such as .008 for 0.8 points; for a relative unit, divided
    by the published value, such as .021 for 2.1 %. If the unit has no name (correlations), the text
    is the number alone, with three significant digits.
    """
    in_points = unit.name == "points"
    if unit.is_relative or in_points:
        distance = 100 * distance
    elif not unit.name:
        return three_digits(distance)
    return f"{distance:.1f} {unit.name}"


def margin_text(unit: Unit) -> str:
    """Return the margin of a unit as text: "1 point", "3 %", "2 rows" or ".02".

    Points are hundredths of a share, and the percentage is that of a published value. The margin of
    a correlation has no unit.
    """
    if unit.name == "points":
        points = f"{100 * unit.margin:.4g}"
        return f"{points} point" if points == "1" else f"{points} points"
    if unit.is_relative:
        return f"{100 * unit.margin:g} {unit.name}"
    return (
        f"{unit.margin:g} {unit.name}"
        if unit.name
        else f"{unit.margin:g}".removeprefix("0")
    )


def own_margin_text(verdict: TableVerdict) -> str:
    """Return the margin of the paper's file beside the standard one.

    It is such as "margin 2 points, not 1 point". The text is empty if the metric of the verdict has
    its standard margin.
    """
    standard = unit_of(verdict.metric)
    if verdict.unit == standard:
        return ""
    return f"margin {margin_text(verdict.unit)}, not {margin_text(standard)}"


def order_text(verdict: TableVerdict) -> str:
    """Return the numbers of pairs of models in the printed order, such as "12/15 +3".

    Of 18 pairs of models on a data set that the print separates by more than the margin, our runs
    then separate 15; 12 of them have the printed order, and 3 are too close in our runs. "+0" is
    left out. The text is a dash if the print separates no pair, and "0/0 +3" if our runs separate
    none.
    """
    order = verdict.order
    if not order.n:
        return "–"
    rest = f" +{order.unseparated}" if order.unseparated else ""
    return f"{order.same}/{order.same + order.opposite}{rest}"


def slope_text(slope: Interval) -> str:
    """Return the slope of our differences between models on the printed ones, with two decimals.

    The text is a dash if there is no slope (NaN).
    """
    return "–" if math.isnan(slope.estimate) else f"{slope.estimate:.2f}"


def strict_text(tests: Sequence[StrictTest]) -> str:
    """Return the p-values of strict tests as text, such as ".030 to .200".

    `tests`: in the order of the runs that a published value may be a mean over. Only the first
    (fewest runs) and the last p-value are shown, and one if both texts are equal. Without tests,
    the text is a dash.
    """
    if not tests:
        return "–"
    p_values = dict.fromkeys(p_text(test.p) for test in (tests[0], tests[-1]))
    return " to ".join(p_values)


def measure_texts(verdict: TableVerdict) -> list[str]:
    """Return the texts of a verdict's measures, one for each of `MEASURE_COLUMNS`.

    They are the metric, the median distance with its unit, the values within the margin ("31/40"),
    the order ("12/15 +3"), the slope, the p-values of the strict tests, and the verdict with its
    exceptions. A measure that does not exist is a dash.
    """
    values = verdict.values
    return [
        verdict.metric,
        distance_text(verdict),
        f"{values.within}/{values.n}",
        order_text(verdict),
        slope_text(verdict.differences),
        strict_text(verdict.strict),
        state_text(verdict),
    ]


def state_text(verdict: TableVerdict) -> str:
    """Return the verdict with its exceptions and margin, such as "holds but for SVM".

    If the paper's file replaces the standard margin, it follows in parentheses: "holds (margin 2
    points, not 1 point)".
    """
    words = verdict.state_and_exceptions
    margin = own_margin_text(verdict)
    return f"{words} ({margin})" if margin else words


def table_sentence(
    label: str, verdict: TableVerdict, corrected_p: float | None = None
) -> str:
    """Return sentences with all measures of the verdict on one metric of a table.

    They give the median distance, the order, the differences and the strict test, and end with
    "Verdict: holds." `label`: of the table, such as "Table 1"; profiles other than `paper` follow
    it in parentheses. `corrected_p`: the p-value of the strict test after Holm's correction for the
    paper's tables; None if it is not corrected, and not shown if its text equals the uncorrected
    one.
    """
    profiles = " and ".join(verdict.profiles)
    title = "profiles" if len(verdict.profiles) > 1 else "profile"
    names = f"{title} {profiles}"
    where = label if names == "profile paper" else f"{label} ({names})"
    metric = metric_plural(verdict.metric)
    parts = [
        _values_words(verdict),
        _order_words(verdict),
        _proposed_words(verdict.proposed_order),
        _differences_words(verdict),
    ]
    measures = "; ".join(part for part in parts if part)
    strict = _strict_words(verdict, corrected_p)
    subject = f"{metric[0].upper()}{metric[1:]} of {where}"
    return f"{subject}: {measures}. {strict}Verdict: {state_text(verdict)}."


def _values_words(verdict: TableVerdict) -> str:
    """Return the clause on the median distance and the values within the margin.

    It is "the median distance is 0.8 points, and 31 of 40 are within 1 point (values hold)".
    """
    values = verdict.values
    words = (
        f"the median distance is {distance_text(verdict)}, and {values.within} of {values.n} are "
        f"within {margin_text(verdict.unit)}"
    )
    return f"{words} ({_measure_words('values', verdict.values_verdict)})"


def _order_words(verdict: TableVerdict) -> str:
    """Return the clause on the order of the models in print and in our runs.

    It is such as "12 of 15 pairs of models have the printed order (order holds)". Pairs that are
    too close in our runs follow. The last part is the power, "9 of 10 exchanges of two models would
    be noticed": the verdict on the order would notice if the paper exchanged these two models. If
    the print or our runs separate no two models, the clause says only so.
    """
    order = verdict.order
    if not order.n:
        return "the print separates no two models"
    decided = order.same + order.opposite
    if not decided:
        return f"our runs separate none of {amount(order.n, 'pair')} of models"
    pairs = amount(decided, "pair")
    verb = "has" if order.same == 1 else "have"
    words = f"{order.same} of {pairs} of models {verb} the printed order"
    if order.unseparated:
        verb = "is" if order.unseparated == 1 else "are"
        words += f", and {order.unseparated} more {verb} too close in our runs"
    measure = _measure_words("order", verdict.order_verdict)
    exchanges = amount(len(order.pairs), "exchange")
    power = f"{verdict.n_noticed} of {exchanges} of two models would be noticed"
    return f"{words} ({measure}); {power}"


def _proposed_words(order: Order) -> str:
    """Return the clause on the models that the paper proposes against all others.

    It is such as "proposed models against the rest: 5 of 6 (2 too close)": of the pairs of models
    that our runs separate, 5 have the printed order. It is empty if our runs separate no pair.
    `order`: of the pairs with one proposed model.
    """
    decided = order.same + order.opposite
    if not decided:
        return ""
    words = f"proposed models against the rest: {order.same} of {decided}"
    return f"{words} ({order.unseparated} too close)" if order.unseparated else words


def _differences_words(verdict: TableVerdict) -> str:
    """Return the clause on the slope: "differences are 0.92 times the printed ones, 0.80 to 1.05".

    The interval is left out if an end is not finite; the state of the measure follows in
    parentheses. The clause is empty if there is no slope.
    """
    slope = verdict.differences
    if math.isnan(slope.estimate):
        return ""
    words = f"differences are {slope.estimate:.2f} times the printed ones"
    is_bounded = math.isfinite(slope.low) and math.isfinite(slope.high)
    if is_bounded:
        words += f", {slope.low:.2f} to {slope.high:.2f}"
    measure = _measure_words("differences", verdict.differences_verdict)
    return f"{words} ({measure})"


def _measure_words(name: str, verdict: MeasureVerdict) -> str:
    """Return the verdict on a measure in words, such as "order holds but for SVM".

    Other states follow the name as they are, such as "order nothing to compare". `name`: "values",
    "order" or "differences". A measure that holds only with one model or data set is "undecided, as
    it rests on SVM"; one that does not hold names the models that contradict it.
    """
    verb = {"holds": "holds" if name == "order" else "hold"}
    verb["does not hold"] = "does not hold" if name == "order" else "do not hold"
    words = f"{name} {verb.get(verdict.state, verdict.state)}"
    if verdict.rests_on:
        words += f", as it rests on {verdict.rests_on}"
    return words + exceptions_words(verdict)


def exceptions_words(verdict: MeasureVerdict) -> str:
    """Return the exceptions of a measure, to be written after its state: " but for SVM" if it
    holds, else "; contradicted by SVM"; empty without any.
    """
    if not verdict.exceptions:
        return ""
    exceptions = ", ".join(verdict.exceptions)
    if verdict.state == "holds":
        return f" but for {exceptions}"
    return f"; contradicted by {exceptions}"


def _strict_words(verdict: TableVerdict, corrected_p: float | None) -> str:
    """Return the sentence on the strict test, with a trailing space; empty without a test.

    It gives the p-value of the print as one more rerun of ours, a second one if the published
    values may be means of runs, and the number of published values outside of their prediction
    intervals (as single runs). `corrected_p`: the first p-value after Holm's correction for the
    paper's tables; None, or one with the same text, is not shown.
    """
    if not verdict.strict:
        return ""
    first = verdict.strict[0]
    last = verdict.strict[-1]
    words = f"As one more rerun of ours, the print has {p_words(first.p)}"
    if len(verdict.strict) > 1:
        words += (
            f" if a published value is one run, and {p_words(last.p)} if it is a mean of "
            f"{last.mean_of}"
        )
    if corrected_p is not None and p_text(corrected_p) != p_text(first.p):
        words += (
            f"; {p_words(corrected_p)} after Holm's correction for the paper's tables"
        )
    return f"{words} ({first.outside} of {first.n} outside of their intervals). "


def answer_sentence(tables: Sequence[tuple[str, TableVerdict]]) -> str:
    """Return two sentences on a whole paper: the verdicts on its tables, and the counts of values.

    `tables`: pairs (label, verdict on the table's main metric), at least one. The second sentence
    gives the values within the margin and, of the pairs of models that both the print and our runs
    separate, those in the same order; without such pairs, only the values.
    """
    verdicts = [verdict for _, verdict in tables]
    values = [verdict.values for verdict in verdicts]
    orders = [verdict.order for verdict in verdicts]
    text = _sentence_on_tables(tables)
    within = sum(value.within for value in values)
    n_values = sum(value.n for value in values)
    text += f" {within} of {n_values} values are within the margin"
    # Pairs of models that both the print and our runs separate.
    same = sum(order.same for order in orders)
    opposite = sum(order.opposite for order in orders)
    decided = same + opposite
    if decided:
        text += f", and {same} of {decided} pairs of models that both separate have the same order"
    return f"{text}."


def _sentence_on_tables(tables: Sequence[tuple[str, TableVerdict]]) -> str:
    """Return the sentence that lists tables by verdict.

    It is such as "Of 3 tables, 2 hold: Table 1, Table 2; 1 is undecided: Table 3." `tables`: pairs
    (label, verdict). For one table it is "Table 1 holds." The verdicts have the order of
    `TABLE_VERDICTS`.
    """
    if len(tables) == 1:
        ((label, verdict),) = tables
        verb = "is " if verdict.state == "undecided" else ""
        return f"{_label_with_remarks(label, verdict)} {verb}{verdict.state}."
    parts = []
    for state in TABLE_VERDICTS:
        labels = [
            _label_with_remarks(label, verdict)
            for label, verdict in tables
            if verdict.state == state
        ]
        if labels:
            parts.append(f"{_state_words(state, len(labels))}: {', '.join(labels)}")
    return f"Of {len(tables)} tables, {'; '.join(parts)}."


def _label_with_remarks(label: str, verdict: TableVerdict) -> str:
    """Return the label of a table with remarks, such as "Table 1 (but for SVM)".

    The remarks are the exceptions of a verdict that holds, and a margin of the paper's file that
    differs from the standard one; without any, it is the label alone.
    """
    remarks = []
    if verdict.state == "holds" and verdict.exceptions:
        remarks.append(f"but for {', '.join(verdict.exceptions)}")
    if margin := own_margin_text(verdict):
        remarks.append(margin)
    return f"{label} ({'; '.join(remarks)})" if remarks else label


def _state_words(state: str, n: int) -> str:
    """Return a number of tables and their verdict, such as "3 hold" or "1 is undecided".

    `state`: the verdict, one of `TABLE_VERDICTS`. `n`: the number, 1 or more.
    """
    if state == "undecided":
        return f"{n} {'is' if n == 1 else 'are'} undecided"
    if n > 1:
        return f"{n} " + {"holds": "hold", "holds in part": "hold in part"}.get(
            state, "do not hold"
        )
    return f"{n} {state}"
