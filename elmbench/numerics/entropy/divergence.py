"""The Cauchy-Schwarz divergence of two densities on the line: of Gaussians, and of kernel density estimates."""

import numpy as np
from numpy.typing import ArrayLike

from elmbench.numerics.arrays import Array

GROUP_WIDTH = 0.5  # points within so much of the kernel's width are gathered, less where the sets are far apart
NODES = 10  # a group of more points than this is replaced by as many Chebyshev nodes
NEGLIGIBLE = 45.0  # terms are left out that are smaller than exp(-45) times the largest one, over their number


def leading_term(means: ArrayLike, variances: ArrayLike) -> Array:
    """Return (m+ - m-)^2 / (S+ + S-), which EEMs maximise instead of the divergence; infinite for different points.

    Means and variances, of shape (..., 2), are those of the negative Gaussian and of the positive one.
    """
    means, variances = np.asarray(means, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    squared = (means[..., 1] - means[..., 0]) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squared == 0.0, 0.0, squared / variances.sum(axis=-1))


def gaussian_divergence(means: ArrayLike, variances: ArrayLike, form: str = "corrected") -> Array:
    """Return the Cauchy-Schwarz divergence of two Gaussians, eq. (3) of Czarnecki and Tabor, of shape (...).

    It is ln int f^2 + ln int g^2 - 2 ln int fg = ln((S+ + S-) / 2 / sqrt(S+ S-)) + (m+ - m-)^2 / (S+ + S-), and
    infinite if a variance is zero. With the form "as-printed", the logarithm has a minus sign, ln(pi / 2) / 2 is
    subtracted, and the result is NaN if both variances are zero. Any other form is a ValueError.
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
    """Return Silverman's width of a Gaussian kernel density estimate, (4 / (3 n))^(1/5) std, section 7.4."""
    points = np.asarray(points, dtype=np.float64)
    return float((4.0 / (3.0 * len(points))) ** 0.2 * np.std(points))


def kde_divergence(negative: ArrayLike, positive: ArrayLike) -> float:
    """Return the Cauchy-Schwarz divergence of the Gaussian kernel density estimates of two sets of points, eq. (5).

    Each estimate has the width of Silverman's rule (Czarnecki and Tabor, section 7.4). The three double sums over all
    pairs of points are replaced by sums over groups, so the cost is linear in the number of points, apart from sorting.
    The divergence is infinite if all points of one set are equal, and zero if all points of both sets are.
    """
    f, g = np.sort(np.asarray(negative, dtype=np.float64)), np.sort(np.asarray(positive, dtype=np.float64))
    f_width, g_width = silverman_width(f), silverman_width(g)
    if f[0] == f[-1] or g[0] == g[-1]:
        return 0.0 if f[0] == f[-1] == g[0] == g[-1] else np.inf
    self_overlap = log_overlap(f, f, np.sqrt(2.0) * f_width) + log_overlap(g, g, np.sqrt(2.0) * g_width)
    return self_overlap - 2.0 * log_overlap(f, g, float(np.hypot(f_width, g_width)))


def log_overlap(x: Array, y: Array, width: float) -> float:
    """Return ln of the mean of N(x_i - y_j; 0, width^2) over all pairs, the integral of a product of two estimates.

    Points within a fraction of `width`, the square root of the sum of the squared widths of the two estimates, are
    replaced by masses at Chebyshev nodes. These preserve the sums of polynomials of a degree below their number; the
    relative error for the Gaussian is about 1e-9. Both x, of shape (n,), and y, of shape (m,), ascend.
    """
    number = len(x) * len(y)
    x, y = (x - x[0]) / width, (y - x[0]) / width
    nearest = _distances(x, y).min()
    # (d^2 - nearest^2) / 2 <= NEGLIGIBLE + ln(number), in a form that keeps its digits for a large `nearest`
    limit = 2.0 * (NEGLIGIBLE + np.log(number))
    reach = nearest + limit / (nearest + np.sqrt(nearest**2 + limit))
    x, y = x[_distances(x, y) <= reach], y[_distances(y, x) <= reach]
    group = min(GROUP_WIDTH, 2.0 / max(nearest, 1e-300))
    x, x_masses = _group_nodes(x, group)
    y, y_masses = _group_nodes(y, group)
    total = 0.0
    for start in range(0, len(x), 1024):
        distances = np.abs(x[start : start + 1024, np.newaxis] - y)
        terms = np.exp(-0.5 * (distances - nearest) * (distances + nearest))
        total += float(x_masses[start : start + 1024] @ terms @ y_masses)
    return float(np.log(total / number / width) - 0.5 * np.log(2.0 * np.pi) - 0.5 * nearest**2)


def _distances(x: Array, y: Array) -> Array:
    """Return the distance from each point of x to the nearest point of y, which is in ascending order."""
    positions = np.searchsorted(y, x)
    below, above = y[np.maximum(positions - 1, 0)], y[np.minimum(positions, len(y) - 1)]
    return np.minimum(np.abs(x - below), np.abs(x - above))


def _group_nodes(points: Array, width: float) -> tuple[Array, Array]:
    """Return nodes and masses that replace ascending points, in groups no wider than `width`; small groups stay."""
    _, starts = np.unique(np.floor((points - points[0]) / width), return_index=True)
    sizes = np.diff(starts, append=len(points))
    group_of = np.repeat(np.arange(len(starts)), sizes)
    selected = points[sizes[group_of] <= NODES]
    large = sizes > NODES
    if not large.any():
        return selected, np.ones(len(selected))
    low, high = points[starts], points[starts + sizes - 1]
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, np.finfo(np.float64).tiny)
    t = np.clip((points - middle[group_of]) / half[group_of], -1.0, 1.0)
    angles = np.pi * (np.arange(NODES) + 0.5) / NODES
    # The interpolant of f is sum_k f(node_k) (1 + 2 sum_j T_j(t) T_j(node_k)) / NODES, summed over the points here.
    masses = np.repeat(sizes[:, np.newaxis] / NODES, NODES, axis=1)
    previous, polynomial = np.ones(len(t)), t
    for j in range(1, NODES):
        masses += 2.0 / NODES * np.outer(np.add.reduceat(polynomial, starts), np.cos(j * angles))
        previous, polynomial = polynomial, 2.0 * t * polynomial - previous
    nodes = middle[:, np.newaxis] + half[:, np.newaxis] * np.cos(angles)
    nodes, masses = nodes[large].ravel(), masses[large].ravel()
    return np.concatenate([selected, nodes]), np.concatenate([np.ones(len(selected)), masses])
