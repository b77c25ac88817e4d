"""What a column holds: whole numbers, a single value, codes or identifiers."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.table import is_missing

#: All larger floats are whole.
_LARGEST_WHOLE = 2.0**52
#: The first values of a column, which often decide.
HEAD = 1000
#: The name of a column of codes or identifiers.
CODE_NAME = re.compile(
    r"(?i)(^|[\W_])(id|zip|zip ?code|postcode|plz|code)$|(?<=[a-z])I[Dd]$"
)
#: The name of a column of identifiers, such as patient_id or userId.
ID_NAME = re.compile(r"(?i:(^|[\W_])id$)|(?<=[a-z])I[Dd]$")


def is_code_name(name: str) -> bool:
    """Return True for the name of a column of codes, such as zip.

    False for identifiers, such as id, and for all other names.
    """
    return bool(CODE_NAME.search(name) and not ID_NAME.search(name))


def is_constant(values: NDArray[Any]) -> bool:
    """Return True if all values of a column are equal and none is missing, or all are missing."""
    head = values[:HEAD]
    if len(head) < len(values) and not is_constant(head):
        return False
    missing = is_missing(values)
    if missing.any():
        return bool(missing.all())
    first = values[0]
    is_first = np.equal(values, first)
    return bool(is_first.all())


def value_codes(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number for each row, of shape (n,), the same for equal values.

    Numbers count from 0 in the order of first appearance; missing values, if any, are equal and get
    the last number.
    """
    import pandas as pd

    codes, distinct = pd.factorize(values)  # -1 for a missing value
    # With `use_na_sentinel`, pandas would take twice as long.
    codes[codes < 0] = len(distinct)
    return codes.astype(np.int64, copy=False)


def is_whole(values: NDArray[Any]) -> bool:
    """Return True if all present values of a column are whole numbers below 2^52 in magnitude.

    False for words and infinity; True if all are NaN.
    """
    if values.dtype == object:
        return False
    head = values[:HEAD]
    has_more = len(head) < len(values)
    if has_more and not is_whole(head):
        return False
    numbers = values[~np.isnan(values)]
    are_exact = np.abs(numbers) < _LARGEST_WHOLE
    are_whole = numbers == np.round(numbers)
    return bool(are_exact.all() and are_whole.all())
