"""A file that is there but bad is refused in one message."""

from __future__ import annotations

from pathlib import Path

import pytest

from elmbench.datasets.load import load_dataset
from elmbench.errors import DataUnavailableError, ElmbenchError


def refused(folder: Path, name: str) -> ElmbenchError:
    """Return the error for a data set of a folder, which says what was expected and what comes next."""
    with pytest.raises(ElmbenchError) as error:
        load_dataset(name, folder)
    assert not isinstance(error.value, DataUnavailableError)
    assert error.value.expected
    assert error.value.next_step
    assert len(str(error.value).splitlines()) <= 3
    return error.value
