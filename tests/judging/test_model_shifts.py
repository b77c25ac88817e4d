"""Models whose published values are shifted against ours."""

from dataclasses import replace

import numpy as np
import pytest
from made_rows import made_row, made_value

from elmbench.judging.judged_rows import Row, rows_of
from elmbench.judging.model_shifts import is_shifted
from elmbench.judging.table_verdicts import judge_measures

N_DATASETS = 4


def table(shifts: list[float], **options: float | int) -> list[Row]:
    """Return rows whose model `svm` is printed `shifts` points above ours on each data set; two
    more models are as printed.
    """
    return [
        made_row(
            f"d{i}",
            {"svm": (0.8 + shift / 100, 0.8), "elm": (0.9, 0.9), "knn": (0.7, 0.7)},
            **options,
        )
        for i, shift in enumerate(shifts)
    ]


def svm_only(rows: list[Row]) -> list[Row]:
    return [row.select(np.array([True, False, False])) for row in rows]


@pytest.mark.parametrize("shift", [1.25, -1.25])
def test_a_model_beyond_the_margin_on_one_side_is_an_exception(shift: float) -> None:
    rows = table([shift] * N_DATASETS, deviation=0.004)
    assert is_shifted(svm_only(rows), n_models=3)
    verdict = judge_measures("accuracy", rows)
    assert verdict.values_verdict.state == "holds"
    assert verdict.values_verdict.exceptions == ("svm",)


@pytest.mark.parametrize(
    "shifts",
    [
        pytest.param([0.9] * N_DATASETS, id="within the margin"),
        pytest.param([1.2, -1.2, 1.2, -1.2], id="on both sides"),
        pytest.param([8, 0.1, 0.1, 0.1], id="far on one data set only"),
    ],
)
def test_a_model_is_not_shifted(shifts: list[float]) -> None:
    assert not is_shifted(svm_only(table(shifts)), n_models=3)


def test_half_of_the_last_digit_is_allowed_beyond_the_margin() -> None:
    shifts = [1.04] * N_DATASETS
    assert is_shifted(svm_only(table(shifts)), n_models=3)
    assert not is_shifted(svm_only(table(shifts, rounding=0.0005)), n_models=3)


def test_the_deviation_of_a_published_mean_is_taken_into_account() -> None:
    shifts = [1.25] * N_DATASETS
    noisy = {"deviation": 0.012}
    assert is_shifted(svm_only(table(shifts, mean_of=20, **noisy)), n_models=3)
    assert not is_shifted(svm_only(table(shifts, mean_of=1, **noisy)), n_models=3)


def test_more_models_need_a_clearer_shift() -> None:
    rows = svm_only(table([1.25] * N_DATASETS, mean_of=1, deviation=0.008))
    # Student's t is 2.98 with 36 degrees of freedom: two-sided p = .005.
    assert is_shifted(rows, n_models=9)
    assert not is_shifted(rows, n_models=10)


def test_equal_runs_vary_by_a_test_row() -> None:
    """Three runs that coincide by chance do not make a shift certain."""
    (row,) = svm_only(table([1.25], deviation=0.0))
    few_rows = replace(row, least_half_widths=np.array([0.005]))
    assert is_shifted([row], n_models=3)
    assert not is_shifted([few_rows], n_models=3)


def test_one_run_shows_no_shift() -> None:
    (row,) = rows_of([made_value("svm", 0.9, np.array([0.8]))])
    assert not is_shifted([row], n_models=1)
