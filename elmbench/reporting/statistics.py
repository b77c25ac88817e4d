"""Which models of a table are better than others over its data sets: ranks, tests, critical differences.

Demsar, "Statistical comparisons of classifiers over multiple data sets" (2006): Friedman's test of the average ranks,
then Nemenyi's for each pair of models, beside it Wilcoxon's signed ranks with Holm's correction. The models are
compared on the data sets that have all of them. What our runs measured and what the paper prints are compared apart.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal

import numpy as np
import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.layouts.base import png
from elmbench.layouts.table import COMPLETE
from elmbench.metrics import less_is_better
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import ALL

#: The level of the tests.
ALPHA = 0.05
Source = Literal["measured", "published"]


@dataclass(frozen=True)
class Statistics:
    """The comparison of the models of a table over its data sets.

    Attributes
    ----------
    source : {"measured", "published"}
    datasets : tuple of str
        Those that have every one of the models.
    left_out : tuple of str
        The models that are on fewer than half of the data sets.
    ranks : dict of str to float
        The average rank of each model, the best (smallest) first.
    friedman : float or None
        Friedman's chi-squared; None of two models.
    p : float or None
        Its probability, were all models equally good.
    critical_distance : float
        Average ranks that lie further apart differ by Nemenyi's test.
    nemenyi, wilcoxon : dict of str to dict
        The probability of each pair of models; that of Wilcoxon's test by Holm's correction.
    wins : dict of str to dict
        On how many data sets a model wins, ties and loses against another: `5/1/2`.
    """

    source: Source
    datasets: tuple[str, ...]
    left_out: tuple[str, ...]
    ranks: dict[str, float]
    friedman: float | None
    p: float | None
    critical_distance: float
    nemenyi: dict[str, dict[str, float]]
    wilcoxon: dict[str, dict[str, float]]
    wins: dict[str, dict[str, str]]


def compare_models(summary: pd.DataFrame, resolved: Resolved) -> list[Statistics]:
    """Return the comparison of the measured figures of a table and, if there are enough, of the published ones.

    It is about the first metric of each data set, the default readings and the table's own selection.

    Parameters
    ----------
    summary : DataFrame
        As `summary.csv` has it.

    Raises
    ------
    ElmbenchError
        If fewer than two models were measured on the same two data sets.
    """
    measured, published = _measured(summary, resolved), _published(resolved)
    if not _is_enough(_common(measured)):
        raise ElmbenchError(
            f"{resolved.file.id} has no two models on the same two data sets to be compared",
            expected="cells of several models on several data sets that ended ok",
            next_step=f"elmbench run {resolved.file.id} --profile {resolved.profile}",
        )
    found = [compare(measured, "measured")]
    return [*found, compare(published, "published")] if _is_enough(_common(published)) else found


def _measured(summary: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    lines = summary[(summary["reading"] == "") & (summary["ended"] == COMPLETE) & summary["mean"].notna()]
    lines = lines.drop_duplicates(["dataset", "model", "metric"])
    places = zip(lines["dataset"], lines["model"], lines["metric"], lines["mean"], strict=True)
    return _oriented({(str(d), str(m), str(k)): float(value) for d, m, k, value in places}, resolved)


def _published(resolved: Resolved) -> pd.DataFrame:
    figures = {
        place: float(figure.value)
        for place, figure in resolved.published.items()
        if figure.value is not None and not figure.cited
    }
    return _oriented(figures, resolved)


def _oriented(figures: Mapping[tuple[str, str, str], float], resolved: Resolved) -> pd.DataFrame:
    """Return the first metric of each data set: a line a data set, a column a model, more is better."""
    found: dict[tuple[str, str], float] = {}
    for (dataset, model, metric), value in figures.items():
        if dataset != ALL and metric == resolved.spec.protocol.metric_for(resolved.dataset(dataset).task):
            found[dataset, model] = -value if less_is_better(metric) else value
    return pd.Series(found, dtype=float).unstack(sort=False) if found else pd.DataFrame(dtype=float)


def _common(values: pd.DataFrame) -> pd.DataFrame:
    """Return the models that are on half of the data sets, on the data sets that have them all."""
    return values.loc[:, values.notna().mean() >= 0.5].dropna() if len(values) else values


def _is_enough(values: pd.DataFrame) -> bool:
    return len(values) > 1 and len(values.columns) > 1


def compare(values: pd.DataFrame, source: Source) -> Statistics:
    """Return the comparison of models.

    Parameters
    ----------
    values : DataFrame
        A line for each data set, a column for each model; more is better, NaN where there is none.
    """
    import scikit_posthocs
    from scipy.stats import friedmanchisquare, studentized_range

    common = _common(values)
    ranks = common.rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    common = common[ranks.index]
    n, k = common.shape
    distance = float(studentized_range.ppf(1 - ALPHA, k, math.inf)) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))
    melted = common.melt(var_name="model", value_name="value")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of models that are equal on every data set
        friedman = friedmanchisquare(*common.to_numpy().T) if k > 2 else None
        wilcoxon = scikit_posthocs.posthoc_wilcoxon(melted, "value", "model", zero_method="zsplit", p_adjust="holm")
    return Statistics(
        source,
        tuple(map(str, common.index)),
        tuple(str(model) for model in values if model not in common),
        {str(model): float(rank) for model, rank in ranks.items()},
        None if friedman is None else float(friedman.statistic),
        None if friedman is None else float(friedman.pvalue),
        distance,
        _by_pair(scikit_posthocs.posthoc_nemenyi_friedman(common)),
        _by_pair(wilcoxon.fillna(1.0)),
        _wins(common),
    )


def _by_pair(matrix: pd.DataFrame) -> dict[str, dict[str, float]]:
    table = matrix.to_dict()
    return {str(one): {str(other): float(p) for other, p in own.items() if other != one} for one, own in table.items()}


def _wins(values: pd.DataFrame) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for one, other in permutations(values, 2):
        signs = np.sign(values[one] - values[other])
        counts = (str(int((signs == sign).sum())) for sign in (1, 0, -1))
        found.setdefault(str(one), {})[str(other)] = "/".join(counts)
    return found


def draw_critical_differences(found: Statistics, title: str) -> bytes:
    """Return the picture of the average ranks as PNG; a bar joins models that do not differ by Nemenyi's test."""
    import scikit_posthocs
    from matplotlib.figure import Figure as Drawing

    figure = Drawing(figsize=(8, 1.2 + 0.25 * len(found.ranks)), dpi=150, layout="constrained")
    axes: Any = figure.add_subplot()
    pairs = pd.DataFrame(found.nemenyi).reindex(index=list(found.ranks), columns=list(found.ranks)).fillna(1.0)
    scikit_posthocs.critical_difference_diagram(found.ranks, pairs, ax=axes)
    about = f"average rank of the {found.source} figures on {len(found.datasets)} data sets"
    axes.set_title(f"{title}\n{about}; critical distance {found.critical_distance:.2f}", fontsize="medium")
    return png(figure)
