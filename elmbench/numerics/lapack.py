"""BLAS and LAPACK on parts of matrices, in place.

SciPy's wrappers copy views of arrays, and lack some routines. This module calls the same library through the function
pointers that SciPy publishes for Cython and Numba.
"""

import ctypes
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas, cython_lapack
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpocon

from elmbench.numerics.arrays import Array

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_signature_of = ctypes.pythonapi.PyCapsule_GetName
_signature_of.restype, _signature_of.argtypes = ctypes.c_char_p, [ctypes.py_object]


def cholesky_condition(factor: Array, norm: float) -> float:
    """Return an estimate of the condition number, in the 1-norm, of a matrix LL' with the given norm.

    The factor L, lower, is of shape (n, n). It is the larger one of LAPACK's pocon, from a few vectors, and of norm /
    min L_ii^2, which is never too large: pocon may miss two equal rows that only a small ridge separates.
    """
    reciprocal = min(float(dpocon(factor, norm, uplo="L")[0]), float(factor.diagonal().min()) ** 2 / norm)
    return 1.0 / reciprocal if reciprocal > 0 else float(np.inf)


def address(A: Array | NDArray[np.int32]) -> int:
    """Return the address of the first entry of `A`.

    `A` has doubles, or integers of 32 bits as a work space. The entries of a column must be adjacent, or a ValueError
    is raised; columns may have any distance.
    """
    if A.dtype.char not in "di" or (A.shape[0] > 1 and A.strides[0] != A.itemsize):
        raise ValueError(f"expected columns of doubles, got {A.dtype} at strides {A.strides} instead")
    return int(A.__array_interface__["data"][0])


def leading_dimension(A: Array) -> int:
    """Return the distance between two columns of `A`, in entries: what BLAS calls LDA."""
    return max(A.strides[1] // A.itemsize, A.shape[0], 1)


@cache
def routine(name: str) -> Callable[..., None]:
    """Return a routine as a foreign function of addresses, one for each argument of its Fortran declaration."""
    module = cython_lapack if name in cython_lapack.__pyx_capi__ else cython_blas
    capsule = module.__pyx_capi__[name]
    signature = _signature_of(capsule)
    arguments = [ctypes.c_void_p] * (signature.count(b",") + 1)
    foreign: Callable[..., None] = ctypes.CFUNCTYPE(None, *arguments)(_pointer_of(capsule, signature))
    return foreign


def call(name: str, *arguments: str | int | float | Array | NDArray[np.int32]) -> int:
    """Call a routine of BLAS or LAPACK by its name, such as "dsyrk"; return LAPACK's INFO, 0 for a routine of BLAS.

    The arguments are those of the Fortran declaration without the final INFO. Arrays are passed by the address of their
    first entry, so leading dimensions are needed. A ValueError names an argument that LAPACK rejects.
    """
    info = ctypes.c_int(0)
    converted: list[Any] = [_as_argument(argument) for argument in arguments]
    function = routine(name)
    if len(converted) < len(function.argtypes):  # type: ignore[attr-defined]
        converted.append(ctypes.byref(info))
    function(*converted)
    if info.value < 0:
        raise ValueError(f"{name}: argument {-info.value} is illegal")
    return info.value


def _as_argument(argument: str | int | float | Array | NDArray[np.int32]) -> Any:
    kind = type(argument)
    return address(argument) if kind is np.ndarray else _scalar(kind, argument)  # type: ignore[arg-type]


@lru_cache(maxsize=4096)
def _scalar(kind: type, value: str | int | float) -> Any:
    """Return a reference to a scalar, which the routines only read. (The cache separates 1 from 1.0.)"""
    if kind is str:
        return ctypes.c_char_p(str(value).encode())
    return ctypes.byref(ctypes.c_int(value) if kind is int else ctypes.c_double(value))  # type: ignore[arg-type]


def add_gram(gram: Array, A: Array) -> None:
    """Add A'A to the lower triangle of `gram`, in place.

    `gram`, of shape (m, m), is in Fortran order; A, of shape (n, m), is best contiguous in either order.
    """
    columns = A.flags.f_contiguous
    dsyrk(1.0, A if columns else A.T, beta=1.0, c=gram, trans=int(columns), lower=1, overwrite_c=1)


def symmetric_product(A: Array) -> Callable[[Array, Array], None]:
    """Return the function of v and w that writes A v over w, reading the lower triangle of A only.

    A, of shape (n, n), has columns of doubles, or is a view of such a matrix; v and w are vectors of n doubles.
    """
    function = routine("dsymv")
    n, stride = ctypes.c_int(len(A)), ctypes.c_int(leading_dimension(A))
    step, one, zero = ctypes.c_int(1), ctypes.c_double(1.0), ctypes.c_double(0.0)
    by = ctypes.byref
    before = (ctypes.c_char_p(b"L"), by(n), by(one), address(A), by(stride))
    between, after = (by(step), by(zero)), (by(step),)

    def product(v: Array, result: Array) -> None:
        function(*before, address(v), *between, address(result), *after)

    return product
