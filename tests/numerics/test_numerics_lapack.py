"""Routines on parts of matrices, against numpy on copies of them."""

from __future__ import annotations

import numpy as np
import pytest

from elmbench.numerics.lapack import add_gram, address, call, leading_dimension, symmetric_product


@pytest.fixture
def whole():
    A = np.random.RandomState(0).randn(12, 12)
    return np.asfortranarray(A @ A.T)


def test_a_factor_in_the_middle_of_a_matrix(whole):
    kept = whole.copy()
    part = whole[2:9, 3:10]
    part[:] = kept[:7, :7]
    assert call("dpotrf", "L", 7, part, leading_dimension(part)) == 0
    np.testing.assert_allclose(np.tril(part), np.linalg.cholesky(kept[:7, :7]), atol=1e-12)
    np.testing.assert_array_equal(whole[:, :3], kept[:, :3])
    np.testing.assert_array_equal(whole[9:], kept[9:])


def test_info_tells_where_a_factorisation_breaks_down(whole):
    whole[4, 4] = -1.0
    assert call("dpotrf", "L", 12, whole, 12) == 5


def test_an_illegal_argument(capfd):
    with pytest.raises(ValueError, match="dpotrf: argument 4 is illegal"):
        call("dpotrf", "L", 5, np.eye(5, order="F"), 0)
    capfd.readouterr()


def test_blas_has_no_info(whole):
    x, y = np.arange(12.0), np.empty(12)
    assert call("dgemv", "N", 12, 12, 1.0, whole, 12, x, 1, 0.0, y, 1) == 0
    np.testing.assert_allclose(y, whole @ x, rtol=1e-12)


@pytest.mark.parametrize("part", [slice(0, 12), slice(3, 9), slice(11, 12)])
def test_symmetric_product_reads_the_lower_triangle_only(whole, part):
    view = whole[part, part]
    expected = view.copy()
    view[np.triu_indices(len(view), 1)] = np.nan
    v, w = np.random.RandomState(1).randn(2, len(view))
    symmetric_product(view)(v, w)
    np.testing.assert_allclose(w, expected @ v, rtol=1e-10)


@pytest.mark.parametrize("bad", [np.ones((4, 4))[:, ::2].T, np.ones((4, 4), dtype=np.float32, order="F")])
def test_what_blas_cannot_read_is_refused(bad):
    with pytest.raises(ValueError, match="expected columns of doubles"):
        address(bad)


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_grams_are_added_to_the_lower_triangle(order, seed):
    A = np.random.RandomState(seed).randn(20, 12)
    given = np.random.RandomState(seed + 1).randn(20, 24)[:, ::2] if order == "strided" else np.array(A, order=order)
    expected = 1.0 + given.T @ given
    gram = np.ones((12, 12), order="F")
    add_gram(gram, given)
    np.testing.assert_allclose(np.tril(gram), np.tril(expected), atol=1e-12)
