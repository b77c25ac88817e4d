"""The Cauchy-Schwarz divergence of two densities on the line: of Gaussians, and of kernel density
estimates.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from elmbench.numerics.arrays import Array

BLOCK = 2**14  # most pairs of points whose terms are held at once: 128 kB, in the caches


def leading_term(means: ArrayLike, variances: ArrayLike) -> Array:
    """Return (m+ - m-)^2 / (S+ + S-), which EEMs maximise instead of the divergence; infinite for
    different points.

    Means and variances, of shape (..., 2), are those of the negative Gaussian and of the positive
    one.
    """
    means = np.asarray(means, dtype=np.float64)
    variances = np.asarray(variances, dtype=np.float64)
    squared = (means[..., 1] - means[..., 0]) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squared == 0.0, 0.0, squared / variances.sum(axis=-1))


def gaussian_divergence(means: ArrayLike, variances: ArrayLike, form: str = "corrected") -> Array:
    """Return the Cauchy-Schwarz divergence of two Gaussians, eq. (3) of Czarnecki and Tabor, of
    shape (...).

    It is ln int f^2 + ln int g^2 - 2 ln int fg = ln((S+ + S-) / 2 / sqrt(S+ S-)) + (m+ - m-)^2 /
    (S+ + S-), and infinite if a variance is zero. With the form "as-printed", the logarithm has a
    minus sign, ln(pi / 2) / 2 is subtracted, and the result is NaN if both variances are zero. Any
    other form is a ValueError.
    """
    variances = np.asarray(variances, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log(variances.mean(axis=-1)) - 0.5 * np.log(variances).sum(axis=-1)
        are_points = (variances == 0.0).all(axis=-1)
        if form == "corrected":
            return np.where(are_points, 0.0, logarithm) + leading_term(means, variances)
        if form == "as-printed":
            return -0.5 * np.log(np.pi / 2.0) - logarithm + leading_term(means, variances)
    raise ValueError(f"form: expected 'corrected' or 'as-printed', got {form!r} instead")


def silverman_width(points: ArrayLike) -> float:
    """Return Silverman's width of a Gaussian kernel density estimate, (4 / (3 n))^(1/5) std,
    section 7.4.
    """
    points = np.asarray(points, dtype=np.float64)
    return float((4.0 / (3.0 * len(points))) ** 0.2 * np.std(points))


def kde_divergence(negative: ArrayLike, positive: ArrayLike) -> float:
    """Return the Cauchy-Schwarz divergence of the Gaussian kernel density estimates of two sets of
    points, eq. (5).

    Each estimate has the width of Silverman's rule (Czarnecki and Tabor, section 7.4). The
    divergence is infinite if all points of one set are equal, and zero if all points of both sets
    are.
    """
    f = np.asarray(negative, dtype=np.float64)
    g = np.asarray(positive, dtype=np.float64)
    widths = silverman_width(f), silverman_width(g)
    are_points = np.ptp(f) == 0.0, np.ptp(g) == 0.0
    if any(are_points):
        return 0.0 if all(are_points) and f[0] == g[0] else np.inf
    self_overlaps = (
        log_overlap(points, points, np.sqrt(2.0) * w)
        for points, w in zip((f, g), widths, strict=True)
    )
    return sum(self_overlaps) - 2.0 * log_overlap(f, g, float(np.hypot(*widths)))


def log_overlap(x: Array, y: Array, width: float) -> float:
    """Return ln of the mean of N(x_i - y_j; 0, width^2) over all pairs, the integral of a product
    of two estimates.
    """
    number = len(x) * len(y)
    x, y = (x - x[0]) / width, (y - x[0]) / width
    sums = []
    for part in np.array_split(x, min(len(x), 1 + number // BLOCK)):
        exponents = -0.5 * (part[:, np.newaxis] - y) ** 2
        largest = exponents.max()
        sums.append(largest + np.log(np.exp(exponents - largest).sum()))
    return float(logsumexp(sums) - np.log(number * width) - 0.5 * np.log(2.0 * np.pi))
