"""Generators of data sets: functions `(name, run, **parameters) -> X, y`; name and run are the
seed.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.numerics.compiled import run_compiled
from elmbench.numerics.seeds import generator

Array = NDArray[np.float64]

#: The two waves of each class, classes numbered as in the public file.
MIXED = ((1, 2), (0, 2), (0, 1))
STEPS_PER_SAMPLE = 600  # one sample every 6 time units, at a step of 0.01
DELAY_STEPS = 3000  # a delay of 30 time units
BEFORE = 0.9  # x(t) for t <= 0


def base_waves() -> Array:
    """Return the three triangular waves, of shape (3, 21), with peaks of 6 at 11, 15 and 7.

    The points are numbered from 1.
    """
    return np.array(
        [np.maximum(6.0 - np.abs(np.arange(1, 22) - peak), 0.0) for peak in (11, 15, 7)]
    )


def waveform(name: str, run: int, *, rows: int) -> tuple[Array, NDArray[np.int64]]:
    """Draw X of shape (rows, 21) and classes 0, 1, 2 of shape (rows,): Breiman's waveforms.

    A row is u h_a + (1 - u) h_b + e, with two of three triangular waves h, u uniform on [0, 1] and
    e standard normal at each of 21 points. `name` and `run` are the seed.

    The classes are equally likely. The best possible classifier is right in about 86 of 100 rows.
    Breiman, Friedman, Olshen, Stone: Classification and Regression Trees, section 2.6.1.
    """
    stream = generator("data", name, run)
    waves = base_waves()
    y = stream.integers(3, size=rows)
    u = stream.random(rows)[:, None]
    # The numbers of the two waves of each class.
    pairs = np.array(MIXED)[y]
    first, second = pairs.T
    first_part = u * waves[first]
    second_part = (1.0 - u) * waves[second]
    mixture = first_part + second_part
    noise = stream.standard_normal((rows, 21))
    return mixture + noise, y


def draw_sparse_rows(
    name: str, run: int, *, rows: int, features: int, density: float
) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
    """Draw sparse rows of two classes of equal size, -1 and +1 (RKELM, section 6.4 and Fig. 4).

    Every row has round(density * features) entries, uniform on (0, 1], at positions drawn without
    replacement. The classes do not depend on the entries. If `rows` is odd, -1 has one more. `name`
    and `run` are the seed. Returns X of shape (rows, features) and y of shape (rows,).
    """
    stream = generator("data", name, run)
    n_entries = round(density * features)
    indices = np.empty((rows, n_entries), dtype=np.int64)
    for row in range(rows):
        positions = stream.choice(features, n_entries, replace=False, shuffle=False)
        indices[row] = np.sort(positions)
    # `random` draws from [0, 1).
    n_values = rows * n_entries
    values = 1.0 - stream.random(n_values)
    # Row i has the entries from i n_entries on.
    starts = np.arange(rows + 1) * n_entries
    entries = (values, indices.ravel(), starts)
    X = sp.csr_matrix(entries, shape=(rows, features))
    numbers = np.arange(rows)
    is_positive = numbers % 2 == 1
    classes = np.where(is_positive, 1, -1)
    y = stream.permutation(classes)
    return X, y


def integrate(history: Array, n_samples: int) -> Array:
    """Integrate dx/dt = -0.1 x + 0.2 x(t - 30) / (1 + x(t - 30)^10) from t = 0 on; return samples.

    It is the series of KOS-ELM, experiment 4. Runge-Kutta of order 4 with a step of 0.01, the
    delayed term held during a step. Only + - * / in one fixed order, and the tenth power by
    multiplications: the series is chaotic, so one different bit would change it all.

    `history`, of shape (3000,), holds the last values, oldest first (a ring; overwritten). Of the
    samples, of shape (n_samples,), the first is at t = 0 and the others follow every 6 time units.
    """
    samples = np.empty(n_samples)
    x = history[-1]
    position = 0
    for sample in range(n_samples):
        samples[sample] = x
        for _ in range(STEPS_PER_SAMPLE):
            late = history[position]
            square = late * late
            fourth = square * square
            tenth = fourth * fourth * square
            drive = 0.2 * late / (1.0 + tenth)
            k1 = drive - 0.1 * x
            k2 = drive - 0.1 * (x + 0.005 * k1)
            k3 = drive - 0.1 * (x + 0.005 * k2)
            k4 = drive - 0.1 * (x + 0.01 * k3)
            x = x + 0.01 * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
            history[position] = x
            position += 1
            if position == DELAY_STEPS:
                position = 0
    return samples


@cache
def clean_series(n_samples: int) -> Array:
    """Return the first samples of the noiseless Mackey-Glass series, of shape (n_samples,).

    The array is cached, so callers must not change it. Samples are 6 time units apart, the delay is
    30.
    """
    return run_compiled(integrate, np.full(DELAY_STEPS, BEFORE), n_samples)


def mackey_glass(
    name: str, run: int, *, rows: int, taps: int, noise_variance: float
) -> tuple[Array, Array]:
    """Return inputs of shape (rows, taps) and targets of shape (rows,) of one-step prediction.

    An input row holds `taps` consecutive samples of the Mackey-Glass series, oldest first, and its
    target is the next sample. Rows move by one sample. Gaussian noise of `noise_variance` is added
    to the series. A different variance scales the same draws. `name` and `run` are the seed.
    """
    series = clean_series(rows + taps)
    if noise_variance:
        stream = generator("data", name, run)
        draws = stream.standard_normal(len(series))
        noise = np.sqrt(noise_variance) * draws
        series = series + noise
    # A window has the inputs and the target.
    windows = np.lib.stride_tricks.sliding_window_view(series, taps + 1)
    inputs = np.array(windows[:, :taps])
    targets = np.array(windows[:, taps])
    return inputs, targets


#: The generators by name.
GENERATORS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "mackey-glass": mackey_glass,
    "sparse": draw_sparse_rows,
    "waveform": waveform,
}
