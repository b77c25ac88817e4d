"""Fits to few rows use one thread of linear algebra, however many the machine has."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

from elmbench.models import mk_elm
from elmbench.models.baselines import ridge_regressor
from elmbench.models.path_search import PathSearchCV
from elmbench.numerics import multiple_kernels
from elmbench.numerics.threads import FEW_ROWS, libraries, threads_for


def threads() -> set[int]:
    return {
        one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"
    }


pytestmark = pytest.mark.skipif(
    not threads(), reason="threadpoolctl does not know this linear algebra library"
)


MANY = np.zeros((FEW_ROWS + 1, 1))


@pytest.mark.parametrize(
    ("X", "n"),
    [(MANY[1:], 1), ([[1.0], [2.0]], 1), (sp.csr_array((3, 2)), 1), (MANY, 2)],
)
def test_few_rows_have_one_thread_and_many_keep_theirs(X: Any, n: int) -> None:
    with libraries().limit(limits=2):
        with threads_for(X):
            assert threads() == {n}
        assert threads() == {2}


def test_a_search_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[set[int]]()
    monkeypatch.setattr(
        PathSearchCV, "_fit_by_path", lambda *_: seen.append(threads()) or True
    )
    with libraries().limit(limits=2):
        PathSearchCV(ridge_regressor(), {"alpha": [1.0]}).fit(
            np.zeros((20, 2)), np.arange(20.0)
        )
    assert seen == [{1}]


def test_kernel_weights_are_learnt_with_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = list[set[int]]()
    learn = mk_elm.learn_weights

    def record_threads(*args: Any, **kwargs: Any) -> multiple_kernels.WeightPath:
        seen.append(threads())
        return learn(*args, **kwargs)

    monkeypatch.setattr(mk_elm, "learn_weights", record_threads)
    X = np.random.default_rng(0).random((20, 2))
    with libraries().limit(limits=2):
        mk_elm.MKELMRegressor(max_iter=0).fit(X, X[:, 0])
    assert seen == [{1}]
