"""Types of arrays, and the limits of their numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Rows = Any  # an ndarray of shape (n, d), or a CSR matrix of that shape

LARGEST = 1e150  # magnitude up to which sums of squares do not overflow
EPS = 2.220446049250313e-16  # machine precision of doubles: the distance from 1 to the next number
