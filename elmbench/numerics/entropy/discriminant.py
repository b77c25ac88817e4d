"""Gaussians of two sets of rows with Ledoit-Wolf covariances, and the direction and the decision
between them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.nodes.hidden_layer import layer_blocks
from elmbench.numerics.solve import RidgeSystem, add_gram, mirror

# Features of more bytes are computed in both passes over the rows.
HELD_BYTES = 256 * 2**20
LEAST_VARIANCE = EPS  # of projections whose means are 2 apart
#: Features that vary by less have products that underflow, and count as constant.
LEAST_SPREAD = 1e-70
#: Variances are equal up to round-off if they differ by less than this share of the larger one.
EQUAL = 1e-12


@dataclass(frozen=True)
class Location:
    """The mean of a set of rows of w features, and their largest distances from the first row.

    Attributes
    ----------
    n_rows : int
    first : ndarray of shape (w,)
        The first row.
    mean : ndarray of shape (w,)
        The mean less the first row; exactly zero for a constant feature.
    spread : ndarray of shape (w,)
        The largest distance of a value from the value in the first row.
    """

    n_rows: int
    first: Array
    mean: Array
    spread: Array


@dataclass(frozen=True)
class Moments(Location):
    """Sums over a set of rows that determine its Gaussian, for some numbers of leading features, w
    at most.

    A row of weight w counts w times.

    Attributes
    ----------
    n_rows, first, mean, spread
        As in `Location`.
    weight : float
        Sum of the weights; the number of rows if they have none.
    scatter : ndarray of shape (w, w)
        Sum of the outer products of the centred rows.
    fourth : dict of int to float
        For each number of leading features, the sum of the fourth powers of their norms.
    """

    weight: float
    scatter: Array
    fourth: dict[int, float]

    def covariance(self, size: int, dimension: int | None = None) -> Array:
        """Return the Ledoit-Wolf covariance of the leading features, of shape (size, size).

        `size` is one of the numbers of features of the moments. It is that of
        `sklearn.covariance.ledoit_wolf`, in Fortran order, from the sums of products: (1 - e) S + e
        tr(S) / h I with the empirical covariance S (Ledoit and Wolf, J. Multivariate Analysis
        88(2), 2004). `dimension` is the number of features h if further features are zero in all
        rows; by default, h is `size`.
        """
        h = dimension or size
        # S, the empirical covariance.
        covariance = np.array(self.scatter[:size, :size], order="F")
        covariance /= self.weight
        diagonal = np.einsum("ii->i", covariance)
        trace = diagonal.sum()
        shrinkage = shrinkage_of(
            trace=trace,
            squared=float(np.vdot(covariance, covariance)),
            mean_fourth=self.fourth[size] / self.weight,
            weight=self.weight,
            dimension=h,
        )
        covariance *= 1.0 - shrinkage
        diagonal += shrinkage * trace / h
        return covariance


def shrinkage_of(
    *, trace: float, squared: float, mean_fourth: float, weight: float, dimension: int
) -> float:
    """Return the share e, from 0 to 1, of the identity in the Ledoit-Wolf covariance.

    The covariance is (1 - e) S + e tr(S) / h I. `trace` and `squared`: tr(S) and |S|^2 of the
    empirical covariance S. `mean_fourth`: the mean of the fourth powers of the norms of the centred
    rows. `weight`: the sum of the weights of the rows. `dimension`: the number h of features. The
    share is 0 for one feature, or if S already is a multiple of I.
    """
    # The squared distance of S from its multiple of the identity.
    distance = squared - trace**2 / dimension
    # The squared distance of S from the true covariance, estimated from the rows.
    variance = (mean_fourth - squared) / weight
    noise = max(variance, 0.0)
    if dimension > 1 and distance > 0:
        return float(min(noise / distance, 1.0))
    return 0.0


def moments(
    features: Callable[[slice], Array],
    n_rows: int,
    sizes: Iterable[int],
    weights: Array | None = None,
) -> Moments:
    """Return the moments of n rows (`n_rows`), for the numbers `sizes` of leading features.

    `features`: takes a slice of the rows, and returns their features as a new array of shape (rows,
    w), which is overwritten; no size exceeds w. There is one row or more. The `weights` of the
    rows, of shape (n,), are greater than 0, and 1 by default. The rows are read in blocks, twice
    unless their features fit into memory.
    """
    cache: list[Array] = []
    blocks = list(layer_blocks(n_rows))
    block = features(blocks[0])
    first = block[0].copy()
    total = np.zeros(len(first))
    spread = np.zeros(len(first))
    hold = 8 * n_rows * len(first) <= HELD_BYTES
    for i, rows in enumerate(blocks):
        if i > 0:
            block = features(rows)
        block -= first
        total += block.sum(axis=0) if weights is None else weights[rows] @ block
        np.maximum(spread, np.abs(block).max(axis=0), out=spread)
        if hold:
            cache.append(block)
    weight = n_rows if weights is None else float(weights.sum())
    mean = total / weight
    scatter = np.zeros((len(first), len(first)), order="F")
    ascending = sorted(set(sizes))
    fourth = np.zeros(len(ascending))
    for i, rows in enumerate(blocks):
        if hold:
            block = cache[i]
        else:
            block = features(rows)
            block -= first
        block -= mean
        if weights is not None:
            block *= np.sqrt(weights[rows])[:, np.newaxis]
        add_gram(scatter, block)
        np.square(block, out=block)
        # Squared norms in the leading features: cumulative sums over the features between the
        # sizes.
        norms = np.add.reduceat(block, [0, *ascending[:-1]], axis=1).cumsum(axis=1)
        # The squares of weighted rows include the weight.
        once = norms if weights is None else norms / weights[rows][:, np.newaxis]
        fourth += np.einsum("ij,ij->j", norms, once)
    mirror(scatter)
    return Moments(
        n_rows=n_rows,
        first=first,
        mean=mean,
        spread=spread,
        weight=weight,
        scatter=scatter,
        fourth=dict(zip(ascending, fourth.tolist(), strict=True)),
    )


@dataclass(frozen=True)
class Discriminant:
    """The direction between two sets of rows, and the Gaussians of their projections.

    Attributes
    ----------
    beta : ndarray of shape (size,)
        The direction; zero if the means of the sets coincide.
    means, variances : tuple of two floats
        Those of the negative set come first. The means differ by 2 unless `beta` is zero.
    condition : float
        Condition number of the sum of the covariances.
    cancellation : float
        Factor by which round-off grows in the smaller variance.
    """

    beta: Array
    means: tuple[float, float]
    variances: tuple[float, float]
    condition: float
    cancellation: float = 1.0


def no_direction(size: int) -> Discriminant:
    """Return a discriminant without a direction: both Gaussians have the mean 0 and variance 1."""
    return Discriminant(
        beta=np.zeros(size), means=(0.0, 0.0), variances=(1.0, 1.0), condition=1.0
    )


def discriminant(
    negative: Moments, positive: Moments, size: int, dimension: int | None = None
) -> Discriminant:
    """Return the direction between two sets of rows, and the Gaussians of their projections.

    The direction is that of eq. (4), beta = 2 (S+ + S-)^-1 (m+ - m-) / ||m+ - m-||^2, for the
    Ledoit-Wolf covariances S and the means m of the `size` leading features. (Czarnecki and Tabor,
    whose Algorithm 1 divides by the norm instead of its square, for the same direction.)
    `dimension` is the number of features h if further features are zero in all rows; by default, h
    is `size`.

    The projected means are 2 apart. If m+ = m- up to round-off, or nothing varies, beta is zero,
    and both Gaussians have the mean 0 and the variance 1. If the sum of the covariances is singular
    to working precision, its least eigenvalues are lifted to `size` times the machine precision
    times the largest one. The variances are at least the round-off of beta'(S+ + S-)beta, so that
    of two classes that are points, neither is the narrower one.
    """
    difference = mean_difference(negative, positive, size)
    if difference is None:
        return no_direction(size)
    S_negative = negative.covariance(size, dimension)
    S_positive = positive.covariance(size, dimension)
    # Eq. (4), where the squared norm is d'(S+ + S-)^-1 d for the difference d of the means.
    system = RidgeSystem(S_negative + S_positive, 0.0, lifted=True)
    solution = system.solve(difference)
    squared_norm = difference @ solution
    beta = 2.0 / squared_norm * solution
    # The projected mean of the negative set is that of its first row plus the rest.
    first_row = beta @ negative.first[:size]
    rest = beta @ negative.mean[:size]
    mean = float(first_row + rest)
    # The round-off of b'Sb is at most h EPS |b|'|S||b| for h rows of S.
    lengths = np.abs(beta)
    magnitudes = np.abs(S_negative) + np.abs(S_positive)
    round_off = lengths @ magnitudes @ lengths
    floor = max(LEAST_VARIANCE, float(size * EPS * round_off))
    negative_variance = max(float(beta @ S_negative @ beta), floor)
    positive_variance = max(float(beta @ S_positive @ beta), floor)
    smaller_variance = min(negative_variance, positive_variance)
    return Discriminant(
        beta=beta,
        means=(mean, mean + 2.0),
        variances=(negative_variance, positive_variance),
        condition=system.condition,
        cancellation=float(round_off) / smaller_variance,
    )


def mean_difference(negative: Location, positive: Location, size: int) -> Array | None:
    """Return the difference of the means, m+ - m-, of the `size` leading features, (size,).

    It is None if it is zero up to round-off or nothing varies.
    """
    # A mean is the first row plus the mean distance from it.
    gap = positive.first[:size] - negative.first[:size]
    mean_gap = positive.mean[:size] - negative.mean[:size]
    difference = gap + mean_gap
    # No term of the difference exceeds the largest spread.
    largest_gap = np.abs(gap).max()
    negative_spread = negative.spread[:size].max()
    positive_spread = positive.spread[:size].max()
    spread = max(largest_gap, negative_spread, positive_spread)
    if spread < LEAST_SPREAD:
        return None
    # A mean of n values has a round-off of at most n EPS of the largest one.
    n_rows = negative.n_rows + positive.n_rows
    round_off = n_rows * EPS * spread
    largest = np.abs(difference).max()
    if largest <= round_off:
        return None
    return np.asarray(difference)


def log_odds(
    projections: Array,
    means: tuple[float, float],
    variances: tuple[float, float],
    log_weight: float = 0.0,
) -> Array:
    """Return ln of the density of the positive Gaussian over that of the negative one.

    `projections`: points of the line, of shape (n,). `means`, `variances`: of the negative
    Gaussian, then of the positive one. `log_weight` is added: ln of the prior probability (times
    the cost) of the positive class over that of the negative one. Gaussians with the same mean
    count as equal: the result is `log_weight`.
    """
    m_negative, m_positive = means
    S_negative, S_positive = variances
    if m_negative == m_positive:
        return np.full(len(projections), log_weight)
    # ln of a density is -((t - m)^2 / S + ln S) / 2, up to a constant.
    negative_squares = (projections - m_negative) ** 2
    positive_squares = (projections - m_positive) ** 2
    negative_distances = negative_squares / S_negative
    positive_distances = positive_squares / S_positive
    quadratic = negative_distances - positive_distances
    log_ratio = np.log(S_negative / S_positive)
    log_densities = 0.5 * (quadratic + log_ratio)
    return np.asarray(log_densities + log_weight)


def crossing_points(
    means: tuple[float, float], variances: tuple[float, float], log_weight: float = 0.0
) -> Array:
    """Return the thresholds of the decision: the points where `log_odds` is zero, ascending.

    `means`, `variances`: of the negative Gaussian, then of the positive one. `log_weight`: ln of
    the prior odds (times the costs) of the positive class, as in `log_odds`. There is no point if
    the means are equal or one class is likelier everywhere, one if the variances are equal up to
    round-off, and otherwise there are two.

    Let D = S- - S+, c = ln(S-/S+) + 2 `log_weight` and g = m+ - m-, at least 0. The points are the
    zeros s = t - m- of

        D s^2 - 2 g S- s + g^2 S- - S- S+ c.

    The zero between the classes is computed from the product of the two, so nothing cancels as D
    goes to zero. (Czarnecki and Tabor, section 3, whose formula of t+ and t- has 2 S+ for 2 S- in
    one.)
    """
    m_negative, m_positive = means
    S_negative, S_positive = variances
    gap = m_positive - m_negative
    D = S_negative - S_positive
    log_ratio = np.log(S_negative / S_positive)
    c = log_ratio + 2.0 * log_weight
    largest_variance = max(S_negative, S_positive)
    # g^2 + D c: a quarter of the discriminant of the equation, over S- S+.
    squared_gap = gap**2
    excess = squared_gap + D * c
    if gap == 0.0 or excess < 0.0:
        return np.empty(0)
    # One zero is `half` / D; the product of the two is S- (g^2 - S+ c) / D.
    root = np.sqrt(S_negative * S_positive * excess)
    half = gap * S_negative + root
    rest = squared_gap - S_positive * c
    between = m_negative + S_negative * rest / half
    points = [between]
    if abs(D) > EQUAL * largest_variance:
        points.append(m_negative + half / D)
    return np.sort(points)
