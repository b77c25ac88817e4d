"""Fixtures of the model tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True, scope="session")
def one_blas_thread() -> Iterator[None]:
    """Several threads cost time on small problems and change the last bits."""
    with threadpool_limits(1):
        yield
