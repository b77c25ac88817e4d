"""Names of arrays, and the machine precision."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

EPS = 2.220446049250313e-16  # machine precision of doubles: the distance from 1 to the next number
