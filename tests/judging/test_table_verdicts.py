"""The verdict on a table: it holds for reruns, and notices each exchange and exaggeration."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from made_rows import exchange, made_row, made_table

from elmbench.judging.distortions import (
    KINDS,
    count_noticed_distortions,
    distorted_prints,
)
from elmbench.judging.judged_rows import Row
from elmbench.judging.strict_test import strict_tests
from elmbench.judging.table_measures import compare_order
from elmbench.judging.table_verdicts import (
    judge_measures,
    judge_order,
    leave_one_out,
    values_state,
    without_models,
)


def table(seed: int, n_datasets: int = 8, n_models: int = 6) -> list[Row]:
    """Return a rerun of a table with twenty runs."""
    rng = np.random.default_rng(seed)
    return made_table(
        rng, n_datasets=n_datasets, n_runs=20, n_models=n_models, noise=0.004
    )


def test_a_table_of_reruns_of_the_same_protocol_holds(seed: int) -> None:
    verdict = judge_measures("accuracy", table(seed))
    assert verdict.state == "holds"
    assert [(one.state, one.exceptions) for one in verdict.measures.values()] == [
        ("holds", ())
    ] * 3


def test_every_exchange_of_two_models_is_noticed(seed: int) -> None:
    rows = table(seed)
    for first, second in combinations(rows[0].models, 2):
        verdict = judge_measures("accuracy", exchange(rows, first, second))
        measure = verdict.order_verdict
        assert measure.state == "does not hold" or measure.exceptions, (first, second)


def test_a_cyclic_exchange_beside_a_trivial_model_is_noticed(seed: int) -> None:
    """A model that is far behind cannot carry the verdict."""
    rows = table(seed)
    trivial = [
        made_row(
            row.dataset,
            {
                **{
                    model: (row.published[k], row.means[k])
                    for k, model in enumerate(row.models)
                },
                "trivial": (0.5, 0.5),
            },
        )
        for row in rows
    ]
    cyclic = [
        replace(row, published=np.append(np.roll(row.published[:-1], 1), 0.5))
        for row in trivial
    ]
    assert judge_measures("accuracy", trivial).state == "holds"
    verdict = judge_measures("accuracy", cyclic)
    assert verdict.values_verdict.state == "does not hold"
    assert verdict.differences_verdict.state != "holds"
    assert "m0" in verdict.order_verdict.exceptions
    assert verdict.state in ("does not hold", "holds in part")


def test_a_model_with_the_wrong_rank_is_an_exception(seed: int) -> None:
    rows = [
        replace(
            row, published=np.where(np.array(row.models) == "m1", 0.99, row.published)
        )
        for row in table(seed)
    ]
    verdict = judge_measures("accuracy", rows)
    assert verdict.order_verdict.exceptions == ("m1",)
    assert "m1" in verdict.values_verdict.exceptions


def test_each_exchange_on_one_data_set_is_named(seed: int) -> None:
    """A reader learns which two models of which data set have the opposite order."""
    rows = table(seed)
    for i, j in rows[2].clear_pairs:
        models = (rows[2].models[i], rows[2].models[j])
        exchanged = exchange([rows[2]], *models)
        verdict = judge_measures("accuracy", [*rows[:2], *exchanged, *rows[3:]])
        assert verdict.state == "holds"
        named = " ".join(verdict.order_verdict.exceptions)
        assert f"on {rows[2].dataset}" in named or rows[2].dataset in named
        if j == i + 1:
            (exception,) = verdict.order_verdict.exceptions
            assert exception == f"{models[0]} and {models[1]} on {rows[2].dataset}"


def test_two_models_with_the_opposite_order_are_named_as_a_pair(seed: int) -> None:
    verdict = judge_order(exchange(table(seed), "m2", "m3"))
    assert (verdict.state, verdict.exceptions) == ("holds", ("m2 and m3",))


def test_a_data_set_is_named_if_most_of_its_models_are_reversed(seed: int) -> None:
    rows = table(seed)
    rows[4] = rows[4].with_published(rows[4].published[::-1])
    verdict = judge_order(rows)
    assert (verdict.state, verdict.exceptions) == ("holds", (rows[4].dataset,))


def test_an_order_with_many_opposite_pairs_does_not_hold(seed: int) -> None:
    """Three of eight data sets are reversed, so no pair of models is."""
    rows = table(seed)
    for number in range(3):
        row = rows[number]
        rows[number] = row.with_published(row.published[::-1])
    order = compare_order(rows)
    assert not any(pair.is_reversed for pair in order.pairs)
    assert judge_order(rows).state == "does not hold"


def test_an_undecided_order_names_the_opposite_pairs() -> None:
    # Our runs separate only one of three pairs, which is opposite on `b` alone.
    models = {"x": (0.8, 0.8), "y": (0.9, 0.9)}
    noisy = made_row(
        "c", {"x": (0.7, 0.8), "y": (0.8, 0.801), "z": (0.9, 0.802)}, deviation=0.05
    )
    opposite = made_row("b", {"x": (0.9, 0.8), "y": (0.8, 0.9)})
    rows = [made_row("a", models), made_row("d", models), opposite, noisy]
    verdict = judge_order(rows)
    assert (verdict.state, verdict.exceptions) == ("undecided", ("x and y on b",))


def test_a_data_set_with_the_wrong_order_is_an_exception(seed: int) -> None:
    rows = table(seed)
    rows[3] = replace(rows[3], published=rows[3].published - 0.08)
    verdict = judge_measures("accuracy", rows)
    assert verdict.values_verdict.exceptions == (rows[3].dataset,)
    assert verdict.order_verdict.state == "holds"


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_exaggerated_differences_do_not_hold(seed: int, factor: float) -> None:
    rows = [
        replace(
            row, published=row.published.mean() * (1 - factor) + factor * row.published
        )
        for row in table(seed)
    ]
    verdict = judge_measures("accuracy", rows)
    assert verdict.differences.estimate == pytest.approx(1 / factor, rel=0.15)
    assert verdict.differences_verdict.state == "does not hold"
    assert verdict.state != "holds"


def test_a_shift_of_two_margins_does_not_hold(seed: int) -> None:
    rows = [replace(row, published=row.published + 0.02) for row in table(seed)]
    assert judge_measures("accuracy", rows).values_verdict.state == "does not hold"


def test_flat_prints_within_the_margin_have_no_order() -> None:
    rows = [
        made_row(f"d{i}", {f"m{k}": (0.8 + k / 1000, 0.801) for k in range(4)})
        for i in range(5)
    ]
    verdict = judge_measures("accuracy", rows)
    assert verdict.order_verdict.state == "nothing to compare"
    assert verdict.state == "holds"


@pytest.mark.parametrize("n_runs", [1, 2, 3])
def test_few_runs_never_make_a_verdict_better(seed: int, n_runs: int) -> None:
    """The first runs of a table whose print is wrong are undecided at best."""
    rng = np.random.default_rng(seed)
    rows = made_table(
        rng, n_datasets=4, n_runs=n_runs, n_models=4, noise=0.02, shift=0.03
    )
    assert judge_measures("accuracy", rows).values_verdict.state != "holds"


def test_a_verdict_that_rests_on_one_data_set_is_undecided() -> None:
    near = made_row("a", {f"m{k}": (0.8, 0.805) for k in range(9)})
    # Without `a`, most values are far from the print.
    rest = [
        made_row(name, {"m0": (0.8, 0.8 + distance), "m1": (0.8, 0.8 - distance)})
        for name, distance in {"b": 0.02, "c": 0.03}.items()
    ]
    verdict = judge_measures("accuracy", [near, *rest]).values_verdict
    assert verdict.state != "holds"


def test_a_verdict_that_is_undecided_without_one_data_set_rests_on_it() -> None:
    near = made_row("a", {f"m{k}": (0.8, 0.8) for k in range(9)})
    # Near the margin of a point.
    rest = made_row("b", {"m0": (0.8, 0.8095), "m1": (0.8, 0.7905)}, deviation=0.004)
    assert values_state([near, rest]) == "holds"
    assert values_state([rest]) == "undecided"
    verdict = judge_measures("accuracy", [near, rest]).values_verdict
    assert (verdict.state, verdict.rests_on) == ("undecided", "a")


def test_leave_one_out_gives_each_model_and_each_data_set(seed: int) -> None:
    rows = table(seed, n_datasets=3, n_models=4)
    rests = {rest.left_out: rest for rest in leave_one_out(rows)}
    assert [*rests] == ["m0", "m1", "m2", "m3", "d0", "d1", "d2"]
    assert rests["m1"].rows[0].models == ("m0", "m2", "m3")
    assert [row.dataset for row in rests["d1"].rows] == ["d0", "d2"]
    assert (rests["m1"].n_alike, rests["d1"].n_alike) == (4, 3)
    assert without_models(rows, rows[0].models) == []


def test_a_print_that_may_be_a_rerun_never_fails(seed: int) -> None:
    """Three models on one data set, with few runs: the order and the slope are noise."""
    rng = np.random.default_rng(seed)
    for _ in range(30):
        rows = made_table(
            rng, n_datasets=1, n_runs=5, n_models=3, mean_of=20, noise=0.03
        )
        (test,) = strict_tests(rows, (20,))
        if test.p > 0.05:
            states = [
                one.state for one in judge_measures("accuracy", rows).measures.values()
            ]
            assert "does not hold" not in states


# --- distortions


def test_a_good_table_notices_every_distortion(seed: int) -> None:
    rows = table(seed)
    counts = {
        noticed.kind: noticed for noticed in count_noticed_distortions("accuracy", rows)
    }
    assert [*counts] == [*KINDS]
    assert counts[KINDS[0]].n == 15
    for kind in KINDS:
        if kind != "two data sets exchanged":
            assert counts[kind].noticed == counts[kind].n, kind
    # Two data sets may lie just over a margin apart.
    assert counts[KINDS[1]].noticed >= 0.8 * counts[KINDS[1]].n


def test_distortions_change_published_values_alone(seed: int) -> None:
    rows = table(seed, n_datasets=3)
    for distortion in distorted_prints("accuracy", rows):
        assert any(
            not np.array_equal(row.published, other.published)
            for row, other in zip(rows, distortion.rows, strict=True)
        )
        for row, other in zip(rows, distortion.rows, strict=True):
            assert np.array_equal(row.means, other.means)
            assert row.models == other.models
