"""BLAS and LAPACK on parts of matrices, in place.

SciPy's wrappers copy views of arrays, and lack some routines. This module calls the same library through the function
pointers that SciPy publishes for Cython and Numba.
"""

import ctypes
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np
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

    It is the larger one of LAPACK's pocon, from a few vectors, and of norm / min L_ii^2, which is never too large:
    pocon may miss two equal rows that only a small ridge separates.
    """
    reciprocal = min(float(dpocon(factor, norm, uplo="L")[0]), float(factor.diagonal().min()) ** 2 / norm)
    return 1.0 / reciprocal if reciprocal > 0 else float(np.inf)


def address(A: Array) -> int:
    """Return the address of the first entry; a ValueError is raised unless the entries of a column are adjacent."""
    if A.dtype.char != "d" or (A.shape[0] > 1 and A.strides[0] != A.itemsize):
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


def call(name: str, *arguments: str | int | float | Array) -> None:
    """Call a routine of BLAS or LAPACK by its name, such as "dsyrk".

    The arguments are those of the Fortran declaration, without the final INFO of LAPACK. Arrays are passed by the
    address of their first entry, so leading dimensions are needed.
    """
    function = routine(name)
    converted = [address(a) if isinstance(a, np.ndarray) else _scalar(a) for a in arguments]
    info = [ctypes.byref(ctypes.c_int(0))] * (len(function.argtypes) - len(converted))  # type: ignore[attr-defined]
    function(*converted, *info)


@lru_cache(maxsize=4096, typed=True)
def _scalar(value: str | int | float) -> Any:
    """Return a reference to a scalar, which the routines only read."""
    if isinstance(value, str):
        return ctypes.c_char_p(value.encode())
    return ctypes.byref(ctypes.c_int(value) if isinstance(value, int) else ctypes.c_double(value))


def add_gram(gram: Array, A: Array) -> None:
    """Add A'A to the lower triangle of `gram`, in Fortran order, in place; A is best contiguous in either order."""
    columns = A.flags.f_contiguous
    dsyrk(1.0, A if columns else A.T, beta=1.0, c=gram, trans=int(columns), lower=1, overwrite_c=1)


def symmetric_product(A: Array) -> Callable[[Array, Array], None]:
    """Return the function of v and w that writes A v over w, reading the lower triangle of A, a view, only."""
    function = routine("dsymv")
    size, stride, step = (ctypes.byref(ctypes.c_int(value)) for value in (len(A), leading_dimension(A), 1))
    one, zero = (ctypes.byref(ctypes.c_double(value)) for value in (1.0, 0.0))
    lower, matrix = ctypes.c_char_p(b"L"), address(A)

    def product(v: Array, w: Array) -> None:
        function(lower, size, one, matrix, stride, address(v), step, zero, address(w), step)

    return product
