"""The checks of the print: silent on tables that are rounded from true results, and not on
impossible values.
"""

import decimal
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.judging.print_checks import check_print
from elmbench.judging.print_checks.averages import t_bounds
from elmbench.judging.print_checks.deviations import have_possible_deviation
from elmbench.judging.print_checks.granularity import Shares
from elmbench.judging.print_checks.printed_table import Parts, PrintedTable
from elmbench.judging.print_checks.read_tables import read_printed_tables
from elmbench.judging.print_checks.rounding import NumberRange, interval_of
from elmbench.metrics import REGISTRY
from elmbench.specs.catalogue import load_catalogue, read_own_table
from elmbench.specs.published import ALL, PublishedValue

ROUNDINGS = (decimal.ROUND_HALF_UP, decimal.ROUND_HALF_EVEN, decimal.ROUND_DOWN)
roundings = st.sampled_from(ROUNDINGS)
seeds = st.integers(0, 2**32 - 1)


def rounded(
    number: Fraction | float, places: int, rounding: str = decimal.ROUND_HALF_UP
) -> Decimal:
    exact = Decimal(Fraction(number).numerator) / Decimal(Fraction(number).denominator)
    return exact.quantize(Decimal(1).scaleb(-places), rounding=rounding)


def published(
    dataset: str, model: str, metric: str, value: Decimal, std: Decimal | None = None
) -> PublishedValue:
    return PublishedValue(
        dataset=dataset,
        model=model,
        metric=metric,
        value=value,
        std=std,
        note="",
        text=str(value),
    )


def a_table(
    *values: PublishedValue, id: str = "toy/one", **facts: object
) -> PrintedTable:
    return PrintedTable(id=id, label=id.partition("/")[2], values=values, **facts)


def parts(
    tested: int = 0, folds: int = 1, runs: int = 1, **others: object
) -> dict[str, Parts]:
    rows = frozenset((tested,)) if tested else frozenset()
    return {"iris": Parts(tested=rows, folds=folds, runs=frozenset((runs,)), **others)}


def findings(*tables: PrintedTable) -> list[str]:
    return [finding.check for table in tables for finding in check_print(table, tables)]


# Test parts


@pytest.mark.parametrize(
    ("outer", "tested"),
    [("{kind: official}", {2000}), ("{kind: bootstrap-632, runs: 50}", set())],
)
def test_a_bootstrap_does_not_test_the_official_part(
    tmp_path: Path, outer: str, tested: set[int]
) -> None:
    (tmp_path / "mine.csv").write_text(
        "dataset,model,metric,value,std,note\nsatimage,ridge,test_accuracy,0.8125,,\n"
    )
    (tmp_path / "mine.yaml").write_text(
        f"""
datasets: [satimage]
protocol: {{scale: null, outer: {outer}, metrics: [accuracy]}}
models: {{ridge: {{model: ridge}}}}
published: {{values: mine.csv}}
"""
    )
    (table,) = read_printed_tables([read_own_table(tmp_path / "mine.yaml")])
    assert table.parts["satimage"].tested == tested


# Granularity


@given(
    rows=st.integers(2, 400),
    runs=st.integers(1, 30),
    places=st.integers(1, 6),
    rounding=roundings,
    seed=seeds,
)
@examples(400)
def test_a_mean_of_true_shares_is_never_accused(
    rows: int, runs: int, places: int, rounding: str, seed: int
) -> None:
    correct = np.random.default_rng(seed).integers(0, rows + 1, runs)
    mean = Fraction(int(correct.sum()), rows * runs)
    value = published("iris", "elm", "accuracy", rounded(mean, places, rounding))
    assert not findings(a_table(value, parts=parts(rows, runs=runs)))


@given(
    rows=st.integers(10, 200),
    folds=st.integers(2, 10),
    runs=st.integers(1, 3),
    places=st.integers(2, 5),
    rounding=roundings,
    seed=seeds,
)
@examples(200)
def test_a_mean_over_unequal_folds_is_never_accused(
    rows: int, folds: int, runs: int, places: int, rounding: str, seed: int
) -> None:
    random = np.random.default_rng(seed)
    sizes = [len(part) for part in np.array_split(np.arange(rows), folds)]
    shares = [
        Fraction(int(random.integers(0, size + 1)), size)
        for _ in range(runs)
        for size in sizes
    ]
    mean = sum(shares, Fraction(0)) / len(shares)
    value = published("iris", "elm", "accuracy", rounded(mean, places, rounding))
    assert not findings(a_table(value, parts=parts(rows, folds, runs)))


@pytest.mark.parametrize(
    ("text", "rows", "folds", "runs"),
    [
        ("0.95", 30, 1, 1),  # 28/30 is .933, 29/30 is .967
        ("0.9345", 50, 1, 4),  # multiples of .005
        ("0.9981", 200, 1, 20),
        ("0.9511", 150, 10, 1),
        ("0.111", 7, 2, 1),  # folds of 4 and 3 rows: the smallest mean above 0 is .125
    ],
)
def test_an_impossible_share_is_found(
    text: str, rows: int, folds: int, runs: int
) -> None:
    value = published("iris", "elm", "accuracy", Decimal(text))
    assert findings(a_table(value, parts=parts(rows, folds, runs))) == ["granularity"]


def test_any_allowed_number_of_runs_excuses_a_share() -> None:
    value = published("iris", "elm", "accuracy", Decimal("0.9345"))
    allowed = Parts(tested=frozenset((50,)), runs=frozenset((4, 40)))
    assert not findings(a_table(value, parts={"iris": allowed}))


def test_no_check_without_the_number_of_rows_or_the_sizes_of_folds() -> None:
    value = published("iris", "elm", "accuracy", Decimal("0.95"))
    assert not findings(a_table(value))
    assert not findings(a_table(value, parts=parts(30, 3, known_folds=False)))


@given(positives=st.integers(1, 500), negatives=st.integers(1, 500), rounding=roundings)
@examples(200)
def test_a_true_ratio_of_classes_is_never_accused(
    positives: int, negatives: int, rounding: str
) -> None:
    ratio = rounded(Fraction(positives, negatives), 4, rounding)
    value = published("iris", "data", "positives_per_negative", ratio)
    rows = parts(all_rows=frozenset((positives + negatives,)))
    assert not findings(a_table(value, parts=rows))


def test_a_ratio_that_no_counts_have_is_found() -> None:
    value = published("iris", "data", "positives_per_negative", Decimal("0.6738"))
    rows = parts(all_rows=frozenset((5000,)))
    assert findings(a_table(value, parts=rows)) == ["granularity"]


# Ranges


@pytest.mark.parametrize(
    ("metric", "text", "expected"),
    [
        ("roc_auc", "1.000", []),
        ("roc_auc", "1.001", ["range"]),
        ("mcc", "-1.0", []),
        ("mcc", "-1.2", ["range"]),
        ("rmse", "12.0", []),
        ("rmse", "-0.1", ["range"]),
        ("r2", "-3.0", []),
        ("r2", "1.3", ["range"]),
        ("fit_seconds", "0.0", []),
        ("fit_seconds", "-1.0", ["range"]),
    ],
)
def test_a_value_outside_of_the_range_of_its_metric_is_found(
    metric: str, text: str, expected: list[str]
) -> None:
    value = published("iris", "elm", metric, Decimal(text))
    assert findings(a_table(value)) == expected


# Deviations


@given(
    rows=st.integers(2, 60),
    runs=st.integers(2, 12),
    places=st.integers(2, 5),
    rounding=roundings,
    ddof=st.integers(0, 1),
    seed=seeds,
)
@examples(400)
def test_a_true_deviation_is_never_accused(
    rows: int, runs: int, places: int, rounding: str, ddof: int, seed: int
) -> None:
    correct = np.random.default_rng(seed).integers(0, rows + 1, runs)
    shares = [Fraction(int(count), rows) for count in correct]
    mean = sum(shares, Fraction(0)) / runs
    variance = sum(((share - mean) ** 2 for share in shares), Fraction(0)) / (
        runs - ddof
    )
    # math.sqrt may round a decimal number that the digits end in.
    deviation = Decimal(variance.numerator) / Decimal(variance.denominator)
    printed = deviation.sqrt().quantize(Decimal(1).scaleb(-places), rounding=rounding)
    value = published(
        "iris", "elm", "accuracy", rounded(mean, places, rounding), printed
    )
    assert not findings(a_table(value, parts=parts(rows, runs=runs)))


@pytest.mark.parametrize(
    ("mean", "deviation", "reason"),
    [
        ("0.99", "0.20", "at most"),  # ten values of at most 1 have .105
        ("1.000", "0.050", "at most"),
        ("0.900", "-0.010", "negative"),
        ("0.500", "0.020", "10 shares of 10 rows"),  # one of ten differs by .1: .0316
    ],
)
def test_an_impossible_deviation_is_found(
    mean: str, deviation: str, reason: str
) -> None:
    value = published("iris", "elm", "accuracy", Decimal(mean), Decimal(deviation))
    table = a_table(value, parts=parts(10, runs=10))
    (finding,) = check_print(table, [table])
    assert finding.check == "deviations"
    assert reason in finding.says


def test_a_deviation_of_a_percentage_is_in_percent() -> None:
    value = published("iris", "elm", "accuracy", Decimal("0.995"), Decimal("0.12"))
    table = a_table(replace(value, text="99.5"), parts=parts(200, runs=3))
    (finding,) = check_print(table, [table])
    assert "99.5 cannot have the deviation 12.00: values from 0 to 100" in finding.says


def test_shares_that_cannot_exceed_their_rows_are_known_to_grimmer() -> None:
    """Ten folds of 20 rows with one error in all have the deviation .0158 and no larger one."""
    for text, expected in (("0.0158", []), ("0.0500", ["deviations"])):
        value = published("iris", "elm", "accuracy", Decimal("0.995"), Decimal(text))
        table = a_table(value, parts=parts(200, folds=10), std="of-folds")
        assert findings(table) == expected


def test_grimmer_uses_the_parity_of_the_sum() -> None:
    """Two whole numbers with the sum 1 have the squares 0 and 1, or 1 and 4, never an even sum."""
    mean = NumberRange(Fraction(1, 2), Fraction(1, 2))
    assert have_possible_deviation(
        mean, interval_of(Decimal("0.5"), "nearest"), rows=1, n=2
    )
    two_apart = interval_of(Decimal("1.00"), "nearest")
    assert not have_possible_deviation(mean, two_apart, rows=1, n=2)


# Counts


def confusion(
    random: np.random.Generator, positives: int, negatives: int, skill: float
) -> dict:
    fn = int(random.binomial(positives, skill))
    fp = int(random.binomial(negatives, skill / 4))
    return {"tn": negatives - fp, "fp": fp, "fn": fn, "tp": positives - fn}


def metric_of(name: str, counts: dict[str, int]) -> float:
    matrix = np.array(
        [[counts["tn"], counts["fp"]], [counts["fn"], counts["tp"]]], float
    )
    return float(REGISTRY[name].function(matrix))


METRICS = ("mcc", "accuracy", "precision", "recall", "f1")


@given(
    positives=st.integers(20, 200),
    negatives=st.integers(20, 400),
    folds=st.integers(2, 6),
    runs=st.integers(1, 6),
    places=st.integers(0, 2),
    rounding=roundings,
    seed=seeds,
)
@examples(300)
def test_true_confusion_matrices_are_never_accused(
    positives: int,
    negatives: int,
    folds: int,
    runs: int,
    places: int,
    rounding: str,
    seed: int,
) -> None:
    """Mean counts, and means of metrics over folds, of several models on the same folds."""
    random = np.random.default_rng(seed)
    values = []
    for model in ("elm", "svm", "nn"):
        skill = random.uniform(0.02, 0.3)
        matrices = [
            confusion(random, positives, negatives, skill) for _ in range(runs * folds)
        ]
        for name in ("tn", "fp", "fn", "tp"):
            mean = Fraction(sum(one[name] for one in matrices), len(matrices))
            values.append(
                published("iris", model, name, rounded(mean, places, rounding))
            )
        for name in METRICS:
            mean_metric = math.fsum(metric_of(name, one) for one in matrices) / len(
                matrices
            )
            values.append(
                published("iris", model, name, rounded(mean_metric, 4, rounding))
            )
    rows = parts((positives + negatives) * folds, folds, runs, known_folds=False)
    assert not findings(a_table(*values, parts=rows))


@given(seed=seeds, rounding=roundings, n_test=st.integers(60, 2000))
@examples(200)
def test_precision_and_recall_of_random_parts_are_never_accused(
    seed: int, rounding: str, n_test: int
) -> None:
    """Each model has its own random test parts, and one of them fails on every part."""
    random = np.random.default_rng(seed)
    share = random.uniform(0.05, 0.6)
    values = []
    for model, skill in (("elm", 0.001), ("svm", 0.02), ("nn", 0.3), ("broken", 1.0)):
        all_metrics: dict[str, list[float]] = {name: [] for name in METRICS}
        for _ in range(20):
            positives = max(
                int(random.hypergeometric(int(10_000 * share), 10_000, n_test)), 1
            )
            counts = confusion(random, positives, n_test - positives, skill)
            for name in METRICS:
                all_metrics[name].append(metric_of(name, counts))
        for name, numbers in all_metrics.items():
            mean = math.fsum(numbers) / 20
            values.append(published("iris", model, name, rounded(mean, 4, rounding)))
    assert not findings(a_table(*values, parts=parts(n_test, runs=20)))


@given(
    positives=st.integers(1, 200),
    negatives=st.integers(1, 400),
    places=st.integers(1, 4),
    rounding=roundings,
    seed=seeds,
)
@examples(300)
def test_the_counts_and_metrics_of_a_single_test_part_are_never_accused(
    positives: int, negatives: int, places: int, rounding: str, seed: int
) -> None:
    random = np.random.default_rng(seed)
    values = []
    for model in ("elm", "svm", "nn"):
        matrix = confusion(random, positives, negatives, random.uniform(0.0, 1.0))
        values += counts_of(model, **matrix)
        metrics = {name: metric_of(name, matrix) for name in METRICS}
        values += [
            published("iris", model, name, rounded(number, places, rounding))
            for name, number in metrics.items()
            if math.isfinite(number)
        ]
    assert not findings(a_table(*values, parts=parts(positives + negatives)))


def counts_of(model: str, tn: int, fp: int, fn: int, tp: int) -> list[PublishedValue]:
    numbers = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
    return [
        published("iris", model, name, Decimal(number))
        for name, number in numbers.items()
    ]


def test_classes_of_different_sizes_are_found_with_the_exchange_of_axes() -> None:
    table = a_table(
        *counts_of("elm", 1345, 12, 6, 77), *counts_of("svm", 1346, 5, 5, 84)
    )
    classes = [one for one in check_print(table, [table]) if "rows differ" in one.says]
    assert [one.metric for one in classes] == ["tp + fn", "tn + fp"]
    assert all("exchanged" in one.says for one in classes)
    table = a_table(
        *counts_of("elm", 1345, 12, 6, 77), *counts_of("svm", 1340, 5, 5, 90)
    )
    assert all("exchanged" not in one.says for one in check_print(table, [table]))


def test_the_counts_of_a_single_test_part_are_not_rounded() -> None:
    one_off = a_table(
        *counts_of("elm", 60, 7, 5, 28),
        *counts_of("svm", 59, 7, 6, 28),
        parts=parts(100),
    )
    classes = [finding.metric for finding in check_print(one_off, [one_off])]
    assert classes == ["tp + fn", "tn + fp"]
    several_runs = a_table(
        *counts_of("elm", 60, 7, 5, 28),
        *counts_of("svm", 59, 7, 6, 28),
        parts=parts(100, runs=2),
    )
    assert not findings(several_runs)


@pytest.mark.parametrize(("text", "expected"), [("0.73", []), ("0.74", ["counts"])])
def test_a_metric_of_a_single_test_part_follows_from_its_counts(
    text: str, expected: list[str]
) -> None:
    value = published("iris", "elm", "mcc", Decimal(text))
    table = a_table(*counts_of("elm", 60, 7, 5, 28), value, parts=parts(100))
    assert findings(table) == expected


def test_counts_that_do_not_add_up_to_the_rows_are_found() -> None:
    table = a_table(*counts_of("elm", 80, 5, 5, 60), parts=parts(200))
    (finding,) = check_print(table, [table])
    assert "add up to 150, the test rows to 200" in finding.says


def test_a_metric_of_another_table_that_does_not_follow_from_counts_is_found() -> None:
    same = {("iris", "elm"): "one measurement"}
    counts = a_table(*counts_of("elm", 90, 10, 5, 95), measurements=same)
    for text, expected in (("0.92", []), ("0.925", []), ("0.97", ["counts"])):
        value = published("iris", "elm", "accuracy", Decimal(text))
        other = a_table(value, id="toy/two", measurements=same)
        assert findings(counts, other) == expected
        unrelated = a_table(
            value, id="toy/two", measurements={("iris", "elm"): "another one"}
        )
        assert not findings(counts, unrelated)


@pytest.mark.parametrize(
    ("f1", "expected"), [("0.857", []), ("0.870", ["counts"]), ("0.4", ["counts"])]
)
def test_f1_lies_between_the_bounds_of_precision_and_recall(
    f1: str, expected: list[str]
) -> None:
    numbers = {"precision": "0.90", "recall": "0.80", "f1": f1}
    values = [
        published("iris", "elm", name, Decimal(text)) for name, text in numbers.items()
    ]
    assert findings(a_table(*values)) == expected


def test_f1_of_a_single_test_part_is_the_harmonic_mean() -> None:
    numbers = {"precision": "0.90", "recall": "0.80", "f1": "0.83"}
    values = [
        published("iris", "elm", name, Decimal(text)) for name, text in numbers.items()
    ]
    assert not findings(a_table(*values))
    assert findings(a_table(*values, parts=parts(1000))) == ["counts"]


def test_models_on_a_single_test_part_have_one_share_of_positives() -> None:
    values = [
        published("iris", model, name, Decimal(text))
        for model, accuracy, recall in (
            ("one", "0.90", "0.90"),
            ("two", "0.60", "0.50"),
        )
        for name, text in (
            ("accuracy", accuracy),
            ("precision", "0.90"),
            ("recall", recall),
        )
    ]
    assert findings(a_table(*values, parts=parts(100))) == ["counts"]
    assert not findings(a_table(*values, parts=parts(100, runs=2)))


def test_models_with_different_shares_of_positives_are_found() -> None:
    values = [
        published("iris", model, name, Decimal(text))
        for model, numbers in (
            ("one", {"accuracy": "0.9984", "precision": "0.9689", "recall": "0.9999"}),
            ("two", {"accuracy": "0.9930", "precision": "0.9677", "recall": "0.9988"}),
        )
        for name, text in numbers.items()
    ]
    assert findings(a_table(*values, parts=parts(100_000, runs=20))) == ["counts"]


# Averages, ranks and tests


@given(seed=seeds, rounding=roundings, places=st.integers(1, 4), n=st.integers(2, 12))
@examples(200)
def test_true_averages_ranks_and_ratios_are_never_accused(
    seed: int, rounding: str, places: int, n: int
) -> None:
    random = np.random.default_rng(seed)
    names = [f"data{i}" for i in range(n)]
    scores = {model: random.uniform(0.5, 1, n) for model in ("elm", "svm", "nn")}
    times = {model: random.uniform(1, 100, n) for model in scores}
    values = []
    for model, row in scores.items():
        ranks = [
            1 + sum(other[i] > row[i] for other in scores.values()) for i in range(n)
        ]
        values.append(
            published(
                ALL, model, "accuracy", rounded(float(row.mean()), places, rounding)
            )
        )
        mean_rank = rounded(Fraction(sum(map(int, ranks)), n), 2, rounding)
        values.append(published(ALL, model, "mean_rank", mean_rank))
        for i, name in enumerate(names):
            values.append(
                published(name, model, "accuracy", rounded(row[i], places, rounding))
            )
            values.append(published(name, model, "rank", Decimal(int(ranks[i]))))
            time = rounded(times[model][i], 2, rounding)
            values.append(published(name, model, "fit_seconds", time))
            speed_up = times[model][i] / times["elm"][i]
            printed = Decimal(1) if model == "elm" else rounded(speed_up, 3, rounding)
            values.append(published(name, model, "speed_up", printed))
    ranked_by = dict.fromkeys(names, "accuracy")
    assert not findings(a_table(*values, ranked_by=ranked_by))


def a_row(model: str, *texts: str) -> list[PublishedValue]:
    return [
        published(f"data{i}", model, "accuracy", Decimal(text))
        for i, text in enumerate(texts)
    ]


@pytest.mark.parametrize(("text", "expected"), [("0.85", []), ("0.87", ["averages"])])
def test_a_wrong_average_is_found(text: str, expected: list[str]) -> None:
    values = [
        *a_row("elm", "0.80", "0.90"),
        published(ALL, "elm", "accuracy", Decimal(text)),
    ]
    assert findings(a_table(*values)) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("1.5", []), ("1.3", []), ("2.0", ["averages"])]
)
def test_a_wrong_rank_is_found(text: str, expected: list[str]) -> None:
    """The two models have the same number on one of three data sets."""
    values = [
        *a_row("elm", "0.80", "0.90", "0.70"),
        *a_row("svm", "0.80", "0.80", "0.80"),
        published(ALL, "elm", "mean_rank", Decimal(text)),
    ]
    ranked_by = {f"data{i}": "accuracy" for i in range(3)}
    assert findings(a_table(*values, ranked_by=ranked_by)) == expected


def test_ranks_may_count_cited_values() -> None:
    cited = replace(published("data0", "nn", "accuracy", Decimal("0.95")), cited=True)
    rows = [*a_row("elm", "0.80"), *a_row("svm", "0.90"), cited]
    for text, expected in (("2", []), ("3", []), ("1", ["averages"])):
        rank = published("data0", "elm", "rank", Decimal(text))
        assert findings(a_table(*rows, rank, ranked_by={"data0": "accuracy"})) == (
            expected
        )


def test_a_rank_on_one_data_set_is_not_cut_off() -> None:
    rows = [*a_row("elm", "0.70"), *a_row("svm", "0.90"), *a_row("nn", "0.80")]
    for text, expected in (("3", []), ("2", ["averages"])):
        rank = published("data0", "elm", "rank", Decimal(text))
        assert findings(a_table(*rows, rank, ranked_by={"data0": "accuracy"})) == (
            expected
        )


@given(seed=seeds, rounding=roundings, n=st.integers(3, 10), places=st.integers(2, 4))
@examples(200)
def test_a_true_t_is_in_its_bounds(
    seed: int, rounding: str, n: int, places: int
) -> None:
    random = np.random.default_rng(seed)
    one = random.uniform(0.6, 1, n)
    other = one - random.uniform(-0.05, 0.1, n)
    bounds = t_bounds(
        [rounded(x, places, rounding) for x in one],
        [rounded(x, places, rounding) for x in other],
    )
    for ddof in (0, 1):
        error = math.sqrt((one.var(ddof=ddof) + other.var(ddof=ddof)) / n)
        paired_error = (one - other).std(ddof=ddof) / math.sqrt(n)
        distance = abs(one.mean() - other.mean())
        for name, t in (
            ("independent", distance / error),
            ("paired", distance / paired_error),
        ):
            low, high = bounds[name]
            assert low * (1 - 1e-9) <= t <= high * (1 + 1e-9)


def test_a_wrong_speed_up_is_found() -> None:
    values = []
    for model, time, speed_up in (
        ("elm", "33", "1"),
        ("svm", "84", "1.4"),
        ("nn", "90", "2.7"),
    ):
        values.append(published("iris", model, "fit_seconds", Decimal(time)))
        values.append(published("iris", model, "speed_up", Decimal(speed_up)))
    table = a_table(*values)
    (finding,) = check_print(table, [table])
    assert (finding.check, finding.model) == ("ratios", "svm")


# Repeats


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("0.93", "0.929", []),
        ("0.93", "0.934", []),
        ("0.93", "0.938", []),  # digits may be cut off
        ("0.93", "0.941", ["printed twice"]),
        ("0.93", "0.92", []),  # .925 may be rounded to either
        ("0.93", "0.91", ["printed twice"]),
    ],
)
def test_values_of_one_measurement_that_differ_are_found(
    one: str, other: str, expected: list[str]
) -> None:
    same = {("iris", "elm"): "one", ("iris", "ELM"): "one", ("iris", "svm"): "another"}
    first = a_table(published("iris", "elm", "mcc", Decimal(one)), measurements=same)
    second = a_table(
        published("iris", "ELM", "mcc", Decimal(other)),
        published("iris", "svm", "mcc", Decimal("0.1")),
        id="toy/two",
        measurements=same,
    )
    assert findings(first, second) == expected


def test_identical_columns_are_found_unless_the_paper_names_them() -> None:
    texts = ("0.8123", "0.9345", "0.7777", "0.6543", "0.8888")
    values = [*a_row("elm", *texts), *a_row("svm", *texts)]
    assert findings(a_table(*values)) == ["repeated"]
    assert not findings(
        a_table(*values, said_equal=frozenset([frozenset(("elm", "svm"))]))
    )
    assert not findings(
        a_table(*a_row("elm", *texts), *a_row("svm", *texts[:4], "0.8887"))
    )
    few_digits = ("0.8", "0.9", "0.7", "0.6", "1.0")
    assert not findings(a_table(*a_row("elm", *few_digits), *a_row("svm", *few_digits)))


# The papers


@pytest.fixture(scope="module")
def found() -> set[tuple[str, str, str, str]]:
    by_paper: dict[str, list] = {}
    for file in load_catalogue().values():
        by_paper.setdefault(file.paper.key, []).append(file)
    every = set()
    for files in by_paper.values():
        tables = read_printed_tables(files)
        for table in tables:
            for one in check_print(table, tables):
                every.add((one.table, one.check, one.dataset, one.metric))
    return every


def test_what_the_errata_found_by_hand_is_found(found: set) -> None:
    assert found >= {
        ("kos-elm/table5", "counts", "Sylva", "tp + fn"),
        ("kos-elm/table5", "counts", "Sylva", "mcc"),  # against Table IV
        ("rkelm/table6", "granularity", "Waveform", "positives_per_negative"),
        ("rkelm/table7", "printed twice", "Skin", "precision"),
        ("rkelm/table11", "printed twice", "Abalone", "rmse"),
        ("rkelm/table9", "ratios", "NEWS20.MUL", "speed_up"),
        ("rkelm/table9", "repeated", "SECTOR", "speed_up"),
        ("ospvm/table8", "printed twice", "Face", "accuracy"),
        ("ospvm/table9", "repeated", "News20", ""),
    }
    tests_of_ospvm = {
        (table, check) for table, check, _, metric in found if metric == "t"
    }
    assert tests_of_ospvm == {(f"ospvm/table{i}", "averages") for i in (3, 6, 10)}


def test_sound_tables_are_not_accused(found: set) -> None:
    accused = {table for table, *_ in found}
    assert not {table for table in accused if table.startswith("eem/")}
    assert not accused & {
        "kos-elm/table4",
        "kos-elm/table6",
        "rkelm/table5",
        "rkelm/table12",
    }


def test_shares_of_folds_are_enumerated_by_both_sizes() -> None:
    """Folds of 4 and 3 rows, one correct row in the first: 1/8."""
    exactly = NumberRange(Fraction(1, 8), Fraction(1, 8))
    assert Shares(rows=7, folds=2).may_be_in(exactly)
    assert not Shares(rows=7).may_be_in(exactly)
