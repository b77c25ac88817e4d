"""The error and power of the verdicts on tables, on prints whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from elmbench.numerics.seeds import generator
from elmbench.reporting.figures import ComparedFigure
from elmbench.reporting.joint import ALPHA, TABLE_VERDICTS, costs_of, judge_metric, pattern_test, rows_of
from elmbench.reporting.verdicts import FEWEST_RUNS, Printed, draws_of_means

#: Random orders of the models of a table by which the level of the pattern test is measured.
RANDOM_PRINTS = 100


def self_test(figures: Sequence[ComparedFigure], *key: str) -> dict[str, Any]:
    """Return the verdicts on our own runs and on wrong prints, for the figures of one metric of a table.

    Returns
    -------
    dict
        The number of prints of each kind, and of those that are `reproduced`. `own_runs`: means of as many of our own
        runs as a published mean is over (at most half of them), judged by the other runs; about 19 in 20 should be
        reproduced if the models differ by more than they vary. `wrong_models`, `wrong_sets`: the print with the models
        of each data set, or the data sets of each model, rotated; none should be reproduced. `own_verdicts`: the number
        of prints of our own runs with each verdict.
    """
    kinds = {
        ("own_runs", "own_reproduced"): _prints_of_runs(figures),
        ("wrong_models", "wrong_reproduced"): _rotations(figures, lambda one: (one.dataset, one.measure)),
        ("wrong_sets", "wrong_sets_reproduced"): _rotations(figures, lambda one: (one.model, one.measure)),
    }
    verdicts = {names: [judge_metric(one, *key).verdict for one in prints] for names, prints in kinds.items()}
    counts: dict[str, Any] = {}
    for (number, reproduced), each in verdicts.items():
        counts |= {number: len(each), reproduced: each.count("reproduced")}
    of_runs = verdicts["own_runs", "own_reproduced"]
    return counts | {"own_verdicts": {verdict: of_runs.count(verdict) for verdict in TABLE_VERDICTS}}


def pattern_error_and_power(figures: Sequence[ComparedFigure], *key: str) -> tuple[int, int, int, int]:
    """Return how often the pattern test detects the order of prints whose truth is known, for one metric.

    Returns
    -------
    tuple of int
        The number of random orders of the models with a p-value of .05 or less, and of random orders; the same of our
        own runs as the print.
    """
    costs = [costs_of(row) for row in rows_of(figures)]
    rng = generator("random prints", *key)
    random = [pattern_test([one[rng.permutation(len(one))] for one in costs], *key) for _ in range(RANDOM_PRINTS)]
    runs = [pattern_test([costs_of(row) for row in rows_of(one)], *key) for one in _prints_of_runs(figures)]
    random_known, runs_known = ([p for p in values if p is not None] for values in (random, runs))
    error, power = (sum(p <= ALPHA for p in values) for values in (random_known, runs_known))
    return error, len(random_known), power, len(runs_known)


def _prints_of_runs(figures: Sequence[ComparedFigure]) -> Iterator[list[ComparedFigure]]:
    """Yield the figures with the mean of some of our runs in place of the print, compared with the other runs."""
    for first in range(max((len(one.runs) for one in figures), default=0)):
        prints = []
        for one in figures:
            total = len(one.runs)
            size = min(one.printed.mean_of, total // 2)
            if first < total and total - size >= FEWEST_RUNS:
                means = np.roll(one.means, -first)
                printed = Printed(float(means[:size].mean()), 0.0, size)
                draws = draws_of_means(means[size:], one.draws.least)
                runs = np.roll(one.runs, -first)[size:]
                prints.append(replace(one, runs=runs, means=means[size:], draws=draws, printed=printed))
        if prints:
            yield prints


def _rotations(
    figures: Sequence[ComparedFigure], group_of: Callable[[ComparedFigure], Hashable]
) -> Iterator[list[ComparedFigure]]:
    """Yield the figures with the printed values rotated within groups, by each possible shift."""
    groups: dict[Hashable, list[ComparedFigure]] = {}
    for one in figures:
        groups.setdefault(group_of(one), []).append(one)
    # A group of one figure has no wrong print.
    wrong = [group for group in groups.values() if len(group) > 1]
    for shift in range(1, max(map(len, wrong), default=1)):
        yield [
            replace(one, printed=group[(i + shift) % len(group)].printed)
            for group in wrong
            if shift < len(group)
            for i, one in enumerate(group)
        ]
