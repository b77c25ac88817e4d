"""Parts of a symmetric matrix against fancy indexing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.model_selection import KFold

from elmbench.numerics.shifted.fold_views import FoldViews


@examples(150)
@given(
    n=st.integers(2, 40),
    n_folds=st.integers(1, 5),
    seed=st.integers(0, 2**31 - 1),
    repeated=st.booleans(),
)
def test_any_folds(n, n_folds, seed, repeated):
    """Also such as name a row twice, in both parts, or in none."""
    random = np.random.RandomState(seed)
    folds = []
    for _ in range(n_folds):
        train = random.permutation(n)[: random.randint(1, n + 1)]
        if repeated:
            train = train[random.randint(0, len(train), size=len(train))]
        folds.append((train, random.randint(0, n, size=random.randint(0, 2 * n))))
    A = random.rand(n, n)
    A += A.T
    parts = FoldViews(folds)
    assert sorted(parts.order) == sorted(set(np.concatenate([np.concatenate(fold) for fold in folds])))
    K = np.asfortranarray(A[np.ix_(parts.order, parts.order)])
    for part, (train, test) in zip(parts.folds, folds, strict=True):
        assert sorted(part.rows) == sorted(train)
        m = len(train)
        square = A[np.ix_(part.rows, part.rows)]
        copy = np.full((m, m), np.nan, dtype=np.float32, order="F")
        part.copy(K, copy)
        np.testing.assert_array_equal(copy, square.astype(np.float32))
        v, w = random.rand(m), np.full(m, np.nan)
        part.within(K)(v, w)
        np.testing.assert_allclose(w, square @ v, rtol=1e-12)
        Z = random.rand(m, 3)
        product = part.product(K, Z)
        np.testing.assert_allclose(product[part.test], A[np.ix_(test, part.rows)] @ Z, rtol=1e-12)
        np.testing.assert_allclose(product[part.training], A[np.ix_(part.rows, part.rows)] @ Z, rtol=1e-12)


@pytest.mark.parametrize("n_splits", [2, 3, 5])
def test_training_parts_of_a_cross_validation_are_two_stretches_at_most(n_splits):
    """The first training part and the last are one."""
    folds = list(KFold(n_splits, shuffle=True, random_state=0).split(np.zeros(31)))
    stretches = [len(part._runs) for part in FoldViews(folds).folds]
    assert stretches.count(1) == 2
    assert max(stretches) == (1 if n_splits == 2 else 2)
