"""The Cauchy-Schwarz divergence of two densities on the line: of Gaussians, and of kernel density
estimates.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from elmbench.numerics.arrays import Array

# Most pairs of points whose terms are held at once: 128 kB, in the caches.
BLOCK = 2**14


def leading_term(means: ArrayLike, variances: ArrayLike) -> Array:
    """Return (m+ - m-)^2 / (S+ + S-), a part of the divergence of two Gaussians.

    Extreme entropy machines maximise it instead of the divergence. Means m and variances S, of
    shape (..., 2), are those of the negative Gaussian and of the positive one. The result is of
    shape (...): zero for equal means, infinite for different means without variance.
    """
    means = np.asarray(means, dtype=np.float64)
    variances = np.asarray(variances, dtype=np.float64)
    negative_means = means[..., 0]
    positive_means = means[..., 1]
    gap = positive_means - negative_means
    squared_gap = gap**2
    sums = variances.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = squared_gap / sums
    # The ratio of equal means is zero even if the variances are.
    are_equal = squared_gap == 0.0
    return np.where(are_equal, 0.0, ratios)


def gaussian_divergence(
    means: ArrayLike, variances: ArrayLike, form: str = "corrected"
) -> Array:
    """Return the Cauchy-Schwarz divergence of two Gaussians, eq. (3) of Czarnecki and Tabor.

    Means and variances, of shape (..., 2), are those of the negative Gaussian f and of the positive
    one g; the result is of shape (...). It is ln int f^2 + ln int g^2 - 2 ln int fg = ln((S+ + S-)
    / 2 / sqrt(S+ S-)) + (m+ - m-)^2 / (S+ + S-), and infinite if one variance is zero. With two
    zero variances, it is zero for equal means and else infinite.

    With the form "as-printed", the logarithm has a minus sign, and ln(pi / 2) / 2 is subtracted;
    the result is -inf, as the formula says, if one variance is zero, and NaN if both are. Any other
    form is a ValueError.
    """
    if form not in ("corrected", "as-printed"):
        raise ValueError(
            f"form: expected 'corrected' or 'as-printed', got {form!r} instead"
        )
    variances = np.asarray(variances, dtype=np.float64)
    term = leading_term(means, variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        # ln((S+ + S-) / 2 / sqrt(S+ S-)).
        log_mean = np.log(variances.mean(axis=-1))
        log_root = 0.5 * np.log(variances).sum(axis=-1)
        logarithm = log_mean - log_root
        if form == "as-printed":
            constant = -0.5 * np.log(np.pi / 2.0)
            return constant - logarithm + term
        are_points = (variances == 0.0).all(axis=-1)
        corrected = np.where(are_points, 0.0, logarithm)
        return corrected + term


def silverman_width(points: ArrayLike) -> float:
    """Return Silverman's width of a Gaussian kernel density estimate, (4 / (3 n))^(1/5) std.

    `points`: of shape (n,). The standard deviation std divides by n. See section 7.4 of Czarnecki
    and Tabor.
    """
    points = np.asarray(points, dtype=np.float64)
    return float((4.0 / (3.0 * len(points))) ** 0.2 * np.std(points))


def kde_divergence(negative: ArrayLike, positive: ArrayLike) -> float:
    """Return the Cauchy-Schwarz divergence of the kernel density estimates of two sets of points.

    Each set is of shape (number of points,). Each estimate has Gaussian kernels with the width of
    Silverman's rule; see eq. (5) and section 7.4 of Czarnecki and Tabor. The divergence is zero if
    all points of both sets are the same point; otherwise it is infinite if all points of a set are
    equal.
    """
    f = np.asarray(negative, dtype=np.float64)
    g = np.asarray(positive, dtype=np.float64)
    f_is_point = np.ptp(f) == 0.0
    g_is_point = np.ptp(g) == 0.0
    are_points = f_is_point and g_is_point
    if are_points and f[0] == g[0]:
        return 0.0
    if f_is_point or g_is_point:
        return np.inf
    # A product of two kernels has the width sqrt(w_1^2 + w_2^2).
    f_width = silverman_width(f)
    g_width = silverman_width(g)
    mixed_width = float(np.hypot(f_width, g_width))
    root = np.sqrt(2.0)
    # Eq. (5): ln int f^2 + ln int g^2 - 2 ln int fg.
    f_overlap = log_overlap(f, f, root * f_width)
    g_overlap = log_overlap(g, g, root * g_width)
    mixed_overlap = log_overlap(f, g, mixed_width)
    return f_overlap + g_overlap - 2.0 * mixed_overlap


def log_overlap(x: Array, y: Array, width: float) -> float:
    """Return ln of the integral of the product of two Gaussian kernel density estimates.

    That is ln of the mean of N(x_i - y_j; 0, width^2) over all pairs of their points `x` and `y`.
    `width`: the root of the sum of the squared widths of both.
    """
    n_pairs = len(x) * len(y)
    # Distances from a common origin in units of the width.
    origin = x[0]
    scaled_x = (x - origin) / width
    scaled_y = (y - origin) / width
    n_blocks = 1 + n_pairs // BLOCK
    n_parts = min(len(x), n_blocks)
    # ln sum exp(-d^2 / 2), a part of the pairs at a time.
    log_sums = []
    for part in np.array_split(scaled_x, n_parts):
        differences = part[:, np.newaxis] - scaled_y
        exponents = -0.5 * differences**2
        # The largest exponent is taken out, so that the sum does not underflow.
        largest = exponents.max()
        relative = np.exp(exponents - largest)
        relative_sum = relative.sum()
        log_sum = largest + np.log(relative_sum)
        log_sums.append(log_sum)
    # The mean over the pairs, with the factor 1 / (sqrt(2 pi) width) of a kernel.
    log_mean = logsumexp(log_sums) - np.log(n_pairs * width)
    log_constant = 0.5 * np.log(2.0 * np.pi)
    return float(log_mean - log_constant)
