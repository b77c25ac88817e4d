"""Rows of tables with made published values and runs, for the tests of measures and verdicts."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.judging.judged_rows import Row, rows_of
from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.value_verdicts import Tolerance, draws_of_means
from elmbench.metrics import Unit, unit_of
from elmbench.specs.measures import Measure
from elmbench.specs.published import PublishedValue


def made_row(
    dataset: str,
    models: Mapping[str, tuple[float, Any]],
    *,
    metric: str = "accuracy",
    rounding: float = 0.0,
    deviation: float = 1e-4,
    mean_of: int = 20,
    proposed: Sequence[str] = (),
    unit: Unit | None = None,
) -> Row:
    """Return a row from the published value and the run means of each model; a single number stands
    for ten runs around it.
    """
    values = [
        made_value(
            model,
            published,
            _runs(ours, deviation, k),
            dataset=dataset,
            metric=metric,
            rounding=rounding,
            mean_of=mean_of,
            unit=unit,
            is_proposed=model in proposed,
        )
        for k, (model, (published, ours)) in enumerate(models.items())
    ]
    (row,) = rows_of(values)
    return row


def made_value(
    model: str,
    published: float,
    means: NDArray[np.float64],
    *,
    runs: Sequence[int] | None = None,
    dataset: str = "a",
    metric: str = "accuracy",
    rounding: float = 0.0,
    mean_of: int = 20,
    unit: Unit | None = None,
    is_proposed: bool = False,
    least_half_width: float = 0.0,
) -> ComparedValue:
    """Return a published value beside our run means; the runs are numbered from 0 by default."""
    return ComparedValue(
        profile="paper",
        dataset=dataset,
        model=model,
        measure=Measure(metric),
        runs=np.arange(len(means)) if runs is None else np.array(runs),
        means=means,
        draws=draws_of_means(means, least_half_width),
        published=_published_value(dataset, model, metric, published),
        tolerance=Tolerance(rounding=rounding, mean_of=mean_of),
        unit=unit or unit_of(metric),
        is_proposed=is_proposed,
    )


def _published_value(
    dataset: str, model: str, metric: str, value: float
) -> PublishedValue:
    return PublishedValue(
        dataset=dataset,
        model=model,
        metric=metric,
        value=Decimal(value),
        std=None,
        note="",
    )


def _runs(ours: Any, deviation: float, seed: int) -> NDArray[np.float64]:
    if not isinstance(ours, float | int):
        return np.asarray(ours, dtype=float)
    draws = np.random.default_rng(seed).normal(0, 1, 10)
    return ours + deviation * (draws - draws.mean()) / draws.std(ddof=1)


def made_table(
    rng: np.random.Generator,
    *,
    n_datasets: int,
    n_runs: int,
    n_models: int = 5,
    mean_of: int = 20,
    noise: float = 0.01,
    correlated: bool = False,
    shift: float = 0.0,
) -> list[Row]:
    """Return a table whose published values are a rerun of ours, moved by `shift`.

    The models of a data set share most of their noise if they are `correlated`.
    """
    rows = []
    for i in range(n_datasets):
        true = rng.uniform(0.7, 0.8) + 0.04 * np.arange(n_models)
        runs = true + _noise(rng, n_runs, n_models, noise, correlated)
        prints = (
            true
            + shift
            + _noise(rng, mean_of, n_models, noise, correlated).mean(axis=0)
        )
        models = {f"m{k}": (float(prints[k]), runs[:, k]) for k in range(n_models)}
        rows.append(made_row(f"d{i}", models, mean_of=mean_of))
    return rows


def _noise(
    rng: np.random.Generator, n_runs: int, n_models: int, noise: float, correlated: bool
) -> NDArray[np.float64]:
    own = rng.normal(0, noise, (n_runs, n_models))
    if not correlated:
        return own
    return rng.normal(0, noise, (n_runs, 1)) + own / 4


def exchange(rows: Sequence[Row], first: str, second: str) -> list[Row]:
    """Return rows in which two models have each other's published values."""
    from dataclasses import replace

    exchanged = []
    for row in rows:
        i = row.models.index(first)
        j = row.models.index(second)
        published = row.published.copy()
        published[[i, j]] = published[[j, i]]
        exchanged.append(replace(row, published=published))
    return exchanged
