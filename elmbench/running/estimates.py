"""What work will take: the cost model, corrected by what like work has taken.

The cost model knows how the price of a model grows with its data, but not the machine, and is off by a factor of a few
that is much the same for one model on one data set. Each measurement says most of its like (the same kind of work by
the same model on the same data), something of the model on other data, and a little of all others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from elmbench.specs.limits import Limits
    from elmbench.work.base import Work

#: How many measurements the guess that comes before them counts for: of like work, what its model says; of a model,
#: what all say; of all, that the cost model is right.
_LIKE, _MODEL, _ALL = 0.2, 0.5, 1.0
#: Seconds that no work is said to fall below.
_LEAST = 1e-3


class Like(NamedTuple):
    """What work has in common whose price is wrong by the same factor."""

    kind: str
    model: str
    dataset: str


def like_of(work: Work) -> Like:
    """Return what some work is like."""
    return Like(work.kind, work.model_name, work.data.name if work.data is not None else "")


class _Measured:
    """Of like work: how much of it, what it has taken and what it was said to take, in seconds."""

    def __init__(self) -> None:
        self.n = 0
        self.taken = self.said = 0.0

    @property
    def ratio(self) -> float:
        """The logarithm of the factor by which it was wrong."""
        return math.log(self.taken / self.said)


class Estimates:
    """What each piece of work will take, better with each that has ended.

    Parameters
    ----------
    said : mapping of str to float
        Seconds by the cost model, by key.
    likes : mapping of str to Like
        By key.

    Attributes
    ----------
    noted : int
        How many measurements there are.
    """

    def __init__(self, said: Mapping[str, float], likes: Mapping[str, Like]) -> None:
        self.said = {key: max(seconds, _LEAST) for key, seconds in said.items()}
        self.likes = likes
        self.noted = 0
        self._measured: dict[Like, _Measured] = {}
        self._factors: dict[Like, float] = {}

    @classmethod
    def of(cls, works: Mapping[str, Work], limits: Mapping[str, Limits]) -> Estimates:
        """Return what the cost model says of all work within its limits: no longer than until one of time ends it."""
        said = {key: work.seconds_within(limits[key].memory) for key, work in works.items()}
        said = {key: min(seconds, limits[key].seconds or seconds) for key, seconds in said.items()}
        return cls(said, {key: like_of(work) for key, work in works.items()})

    def note(self, key: str, seconds: float) -> None:
        """Take note of what some work has taken."""
        found = self._measured.setdefault(self.likes[key], _Measured())
        self.noted += 1
        found.n += 1
        found.taken += max(seconds, _LEAST)
        found.said += self.said[key]
        self._factors.clear()

    def note_stored(self, key: str, record: Mapping[str, Any] | None) -> None:
        """Take note of what some work has taken that an earlier run did to its end, by its record in the store."""
        if record is not None and record.get("seconds") and record["result"]["status"] == "ok":
            self.note(key, record["seconds"])

    def factor(self, like: Like) -> float:
        """Return by what the cost model's seconds are to be multiplied for such work."""
        if like not in self._factors:
            ratios = {one: found.ratio for one, found in self._measured.items()}
            of_all = _mean(ratios.values(), 0.0, _ALL)
            of_model = _mean((ratio for one, ratio in ratios.items() if one.model == like.model), of_all, _MODEL)
            found = self._measured.get(like, _Measured())
            own = found.n * found.ratio if found.n else 0.0
            self._factors[like] = math.exp((own + _LIKE * of_model) / (found.n + _LIKE))
        return self._factors[like]

    def seconds(self, key: str) -> float:
        """Return what some work will take."""
        return self.factor(self.likes[key]) * self.said[key]


def _mean(values: Iterable[float], guess: float, weight: float) -> float:
    """Return the mean of values and of a guess that counts for so many of them."""
    found = list(values)
    return (sum(found) + weight * guess) / (len(found) + weight)
