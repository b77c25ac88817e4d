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
        lower = np.tril_indices(m)
        found = part.square(K, np.full((m, m), np.nan, order="F"))
        np.testing.assert_array_equal(found[lower], A[np.ix_(part.rows, part.rows)][lower])
        Z = random.rand(m, 3)
        product = part.product(K, Z)
        np.testing.assert_allclose(product[part.test], A[np.ix_(test, part.rows)] @ Z, rtol=1e-12)
        np.testing.assert_allclose(product[part.training], A[np.ix_(part.rows, part.rows)] @ Z, rtol=1e-12)


@pytest.mark.parametrize("n_splits", [2, 3, 5])
def test_cross_validation_copies_no_more_than_it_has_to(n_splits):
    """The first training part and the last are views; each of the others is two stretches."""
    folds = list(KFold(n_splits, shuffle=True, random_state=0).split(np.zeros(31)))
    parts = FoldViews(folds)
    K = np.zeros((31, 31), order="F")
    views = [part.square(K, np.empty((len(part.rows),) * 2, order="F")).base is K for part in parts.folds]
    assert sum(views) == 2
    assert max(len(part._runs) for part in parts.folds) == (1 if n_splits == 2 else 2)


def test_one_fold_is_a_view():
    parts = FoldViews([(np.array([5, 3, 8]), np.array([1, 3]))])
    K = np.zeros((4, 4), order="F")
    assert parts.folds[0].square(K, np.empty((3, 3), order="F")).base is K
