"""Comparison of the models of a table over its data sets: average ranks, tests and critical
differences.

Demsar, "Statistical comparisons of classifiers over multiple data sets" (2006): Friedman's test of
the average ranks, then Nemenyi's test for each pair of models, and Wilcoxon's signed-rank test with
Holm's correction. The models are compared on the data sets that have all of them. Measured and
published values are compared separately.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from elmbench.evaluation.score_comparison import dummies
from elmbench.judging.summary import drop_stand_ins
from elmbench.judging.verdict_words import COMPLETE
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import (
    holm,
    studentized_range_quantile,
    studentized_range_tail,
    wilcoxon_p,
    without_round_off,
)
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import ALL
from elmbench.tables.drawing import figure_bytes, new_figure
from elmbench.tables.number_texts import p_text, p_words

#: The level of the tests.
ALPHA = 0.05
#: Values of pairs of models, such as p-values, by both names.
_Pairs = dict[str, dict[str, Any]]


class FriedmanTest(NamedTuple):
    """Friedman's test of equal average ranks: its statistic and its p-value."""

    chi_squared: float
    p: float


@dataclass(frozen=True)
class Statistics:
    """The comparison of models over data sets.

    `source` is "measured" or "published". `values` has a line for each data set, a column for each
    model, the best average rank first; more is better, and none is missing. `left_out` are the
    models that fewer than half of the data sets have.
    """

    source: str
    values: pd.DataFrame
    left_out: tuple[str, ...] = ()

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets on which the models are compared: those that have every one of them."""
        return tuple(map(str, self.values.index))

    @cached_property
    def ranks(self) -> dict[Any, float]:
        """The average rank of each model over the data sets, the best (smallest) first.

        The form is {model: rank}. Models that are equal on a data set share their ranks there.
        """
        return self.values.rank(axis=1, ascending=False).mean().to_dict()

    @cached_property
    def friedman(self) -> FriedmanTest | None:
        """Friedman's test of equal ranks; None for two models.

        Its numbers are NaN if all models are equal on each data set.
        """
        from scipy.stats import friedmanchisquare

        if len(self.ranks) < 3:
            return None
        with np.errstate(invalid="ignore"):  # models that are equal on every data set
            test = friedmanchisquare(*self.values.to_numpy().T)
        return FriedmanTest(chi_squared=float(test.statistic), p=float(test.pvalue))

    @property
    def _rank_error(self) -> float:
        """The standard error of the difference of two average ranks, divided by sqrt(2)."""
        n, k = self.values.shape
        return math.sqrt(k * (k + 1) / (12 * n))

    @cached_property
    def critical_distance(self) -> float:
        """The least difference of two average ranks that Nemenyi's test calls significant."""
        quantile = studentized_range_quantile(ALPHA, len(self.ranks))
        return quantile * self._rank_error

    def _label_pairs(self, values: Sequence[float]) -> _Pairs:
        """Return values of the pairs of models as `{model: {rival: value}}`.

        Each pair is in both orders. `values`: one for each pair, in the order of `combinations` of
        the models, the best rank first.
        """
        pairs: _Pairs = {model: {} for model in self.ranks}
        names = combinations(self.ranks, 2)
        for (first, second), value in zip(names, values, strict=True):
            of_first = pairs[first]
            of_second = pairs[second]
            of_first[second] = value
            of_second[first] = value
        return pairs

    @cached_property
    def nemenyi(self) -> _Pairs:
        """The p-value of Nemenyi's test for each pair of models, as `{model: {rival: p}}`.

        Each pair is in both orders; no model is its own rival.
        """
        distances = np.abs(
            [first - second for first, second in combinations(self.ranks.values(), 2)]
        )
        p = studentized_range_tail(distances / self._rank_error, len(self.ranks))
        return self._label_pairs(p.tolist())

    @cached_property
    def wilcoxon(self) -> _Pairs:
        """The p-value of Wilcoxon's signed-rank test for each pair, as `{model: {rival: p}}`.

        It is corrected by Holm's method for the number of pairs of models.
        """
        pairs = combinations(self.ranks, 2)
        return self._label_pairs(
            holm(
                [
                    wilcoxon_p((self.values[a] - self.values[b]).to_numpy())
                    for a, b in pairs
                ]
            )
        )

    @cached_property
    def wins(self) -> _Pairs:
        """The wins, ties and losses of each model against each rival.

        The form is `{model: {rival: "5/1/2"}}`; the numbers are those of data sets.
        """
        return {model: self._wins_of(model) for model in self.ranks}

    def _wins_of(self, model: Any) -> dict[Any, str]:
        """Return the wins, ties and losses of a model against each rival, as `{rival: "5/1/2"}`."""
        rivals = [rival for rival in self.ranks if rival != model]
        return {rival: self._wins_ties_losses(model, rival) for rival in rivals}

    def _wins_ties_losses(self, model: Any, rival: Any) -> str:
        """Return the wins, ties and losses of a model against one rival, such as `5/1/2`.

        They are the numbers of data sets on which it is better, as good, and worse.
        """
        signs = np.sign(self.values[model] - self.values[rival])
        counts = [(signs == sign).sum() for sign in (1, 0, -1)]
        return "/".join(map(str, counts))

    @cached_property
    def win_rates(self) -> dict[Any, float]:
        """The share of data sets on which each model beats another one, {model: share from 0 to 1}.

        It is the mean over all rivals. A tie counts half.
        """
        rivals = max(1, len(self.ranks) - 1)
        return {
            model: (len(self.ranks) - rank) / rivals
            for model, rank in self.ranks.items()
        }

    @property
    def heading(self) -> str:
        """A line with the numbers of models and data sets, and Friedman's test.

        The models that are left out are named. There is no test for two models.
        """
        text = (
            f"{self.source}: {len(self.ranks)} models on {len(self.datasets)} data sets"
        )
        if self.left_out:
            text += f" (without {', '.join(self.left_out)})"
        test = self.friedman
        if test is None:
            return text
        chi_squared = f"{test.chi_squared:.3g}"
        return f"{text}; Friedman's chi-squared {chi_squared}, {p_words(test.p)}"

    @property
    def subtitle(self) -> str:
        """A line under the title of a picture of the ranks."""
        return (
            f"average rank of the {self.source} values on {len(self.datasets)} data sets; "
            f"critical distance {self.critical_distance:.2f}"
        )

    #: The headings of `rows`.
    columns = (
        "model",
        "average rank",
        "win rate",
        "best wins/ties/loses",
        "p Nemenyi",
        "p Wilcoxon-Holm",
    )

    @property
    def frame(self) -> pd.DataFrame:
        """A line for each model, the best rank first, with the columns `columns`.

        Wins and tests compare it with the best model; they are None for the best model itself.
        """
        lines = [self._line(model) for model in self.ranks]
        return pd.DataFrame(lines, columns=self.columns)

    def _line(self, model: Any) -> tuple[Any, ...]:
        """Return the line of a model in `frame`: values in the order of `columns`.

        Wins and tests compare it with the best model; they are None for the best model itself.
        """
        best, *_ = self.ranks
        tests = (self.wins, self.nemenyi, self.wilcoxon)
        results = [test[best].get(model) for test in tests]
        return (model, self.ranks[model], self.win_rates[model], *results)

    @property
    def rows(self) -> list[list[str]]:
        """The lines of `frame` as texts; win rates are in percent, and missing values are empty."""
        shares = self.frame.assign(**{"win rate": 100 * self.frame["win rate"]})
        formats: dict[str, Callable[[Any], str]] = {
            "model": str,
            "average rank": "{:.2f}".format,
            "win rate": "{:.0f} %".format,
            "best wins/ties/loses": str,
            "p Nemenyi": p_text,
            "p Wilcoxon-Holm": p_text,
        }
        texts = [
            shares[name].map(formats[name], na_action="ignore").fillna("")
            for name in self.columns
        ]
        return [list(row) for row in zip(*texts, strict=True)]

    @property
    def differences(self) -> str:
        """A sentence with the pairs of models that differ by Nemenyi's test: `A before B`."""
        text = f"Ranks more than {self.critical_distance:.2f} apart differ (Nemenyi, {ALPHA:g})"
        pairs = combinations(self.ranks, 2)
        different = [f"{a} before {b}" for a, b in pairs if self.nemenyi[a][b] < ALPHA]
        return f"{text}: {', '.join(different)}." if different else f"{text}; none do."

    def to_json_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON; the keys are the names of its properties.

        They are `source`, `datasets`, `left_out`, `ranks` and `win_rates` ({model: number}),
        `critical_distance`, and `nemenyi`, `wilcoxon` and `wins` ({model: {rival: value}}). Of
        Friedman's test, `friedman` is the statistic and `p` the p-value, both None for two models.
        """
        test = self.friedman
        return {
            "source": self.source,
            "datasets": self.datasets,
            "left_out": self.left_out,
            "ranks": self.ranks,
            "critical_distance": self.critical_distance,
            "nemenyi": self.nemenyi,
            "wilcoxon": self.wilcoxon,
            "wins": self.wins,
            "win_rates": self.win_rates,
            "friedman": None if test is None else test.chi_squared,
            "p": None if test is None else test.p,
        }

    def cliques(self) -> Iterator[tuple[float, float]]:
        """Yield the first and the last rank of each group of models that do not differ.

        A group is a longest run of models, in the order of their ranks, that Nemenyi's test does
        not separate; it has at least two.
        """
        ranks = list(self.ranks.values())
        reached = -1
        for i, low in enumerate(ranks):
            last = max(
                j
                for j, rank in enumerate(ranks)
                if rank - low <= self.critical_distance
            )
            if last > max(i, reached):
                yield low, ranks[last]
            reached = max(reached, last)


def compare_models(summary: pd.DataFrame, resolved: Resolved) -> list[Statistics]:
    """Return the comparison of the measured values of a table, then that of the published ones.

    The second is there only if two models are published on the same two data sets; the list is
    empty if fewer were measured. Each data set has its first metric; the default readings and the
    table's first selection count. Dummies, cited values and superfluous stand-ins are left out, and
    means of cells that did not all end ok. `summary`: a frame with the columns of `summary.csv`.
    """
    lines = summary[
        (summary["reading"] == "")
        & (summary["ended"] == COMPLETE)
        & summary["mean"].notna()
    ]
    lines = lines[~lines["model"].isin(dummies(resolved))].drop_duplicates(
        ["dataset", "model", "metric"]
    )
    lines = drop_stand_ins(lines, resolved)
    pairs = resolved.published.items()
    published = (
        (key, value.value)
        for key, value in pairs
        if not value.cited and key[0] not in resolved.stand_ins
    )
    values_by_source: dict[str, dict[Any, float]] = {
        "measured": lines.set_index(["dataset", "model", "metric"])["mean"].to_dict(),
        "published": {
            key: float(value) for key, value in published if value is not None
        },
    }
    comparisons = [
        rank_statistics(_first_metric_scores(values, resolved), source)
        for source, values in values_by_source.items()
    ]
    valid = [
        comparison for comparison in comparisons if min(comparison.values.shape) > 1
    ]
    return valid if comparisons[0] in valid else []


def _first_metric_scores(
    means: Mapping[Any, float], resolved: Resolved
) -> pd.DataFrame:
    """Return the first metric of each data set: a line for each data set, a column for each model.

    Errors are negative, so that more is better; missing values are NaN. The frame is empty if no
    data set has its first metric. `means`: the value for each (data set, model, metric); averages
    over all data sets are left out.
    """
    values = {
        (dataset, model): -value if less_is_better(metric) else value
        for (dataset, model, metric), value in means.items()
        if dataset != ALL and metric == resolved.metric_of(dataset)
    }
    return (
        pd.Series(values, dtype=float).unstack(sort=False)
        if values
        else pd.DataFrame(dtype=float)
    )


def rank_statistics(values: pd.DataFrame, source: str) -> Statistics:
    """Return the comparison of the models that are the columns of `values`.

    `values` has a line for each data set; more is better, NaN is missing. Models that fewer than
    half of the data sets have are left out, then data sets that lack a model. Numbers that differ
    by round-off are equal. Models of the same average rank are ordered by name. `source`:
    "measured" or "published".
    """
    has_model = values.notna().mean() >= 0.5
    common = without_round_off(values.loc[:, has_model].dropna())
    ranks = common.rank(axis=1, ascending=False).mean().sort_index()
    order = without_round_off(ranks).sort_values(kind="stable").index
    left_out = [str(model) for model in values if model not in common]
    return Statistics(
        source=source,
        values=common[order],
        left_out=tuple(left_out),
    )


def draw_critical_differences(
    comparison: Statistics, title: str, form: str = "png"
) -> bytes:
    """Return a picture of the average ranks, as the bytes of a file.

    A bar joins models that do not differ by Nemenyi's test. `title`: its first line; a line with
    the critical distance follows. `form`: the format of the file, such as "png" or "svg".
    """
    bars = list(comparison.cliques())
    n_models = len(comparison.ranks)
    half = math.ceil(n_models / 2)
    # In inches: the title and the axis, the bars, and the rows of names.
    height = 1.2 + 0.11 * len(bars) + 0.22 * half
    figure, axes = new_figure(8, height)
    figure.set_layout_engine("none")
    axes.set_position((0.02, 0.02, 0.96, 1 - 0.85 / height))

    # Each bar takes half a row at the top; below, each row has two models.
    top = len(bars) / 2
    _draw_rank_axis(axes, n_models, bottom=top + half + 0.5)
    for number, (first, last) in enumerate(bars, start=1):
        y = number / 2
        axes.plot([first - 0.05, last + 0.05], [y, y], color="black", linewidth=3)
    _draw_models(axes, comparison.ranks, top)
    axes.set_title(f"{title}\n{comparison.subtitle}", fontsize="medium")
    return figure_bytes(figure, form)


def _draw_rank_axis(axes: Any, n_models: int, bottom: float) -> None:
    """Draw the axis of the ranks, from 1 to `n_models`, at the top of matplotlib axes.

    The horizontal range is wider, with space for names on both sides. `bottom`: the lower end of
    the vertical range, a positive number; the range begins with 0 at the top.
    """
    axes.spines[["left", "right", "bottom"]].set_visible(False)
    axes.xaxis.tick_top()
    axes.set_xticks(range(1, n_models + 1))
    axes.set_yticks([])
    axes.set_ylim(bottom, 0)
    # The names are on both sides of the axis.
    margin = n_models / 4
    left = 0.4 - margin
    right = n_models + 0.6 + margin
    axes.set_xlim(left, right)
    axes.spines["top"].set_bounds(1, n_models)


def _draw_models(axes: Any, ranks: Mapping[Any, float], top: float) -> None:
    """Draw a line from the rank of each model to its name, in matplotlib axes.

    The better half of the models is on the left, from top to bottom, the rest on the right, from
    bottom to top. `ranks`: {model: average rank}, the best model first. `top`: the height that the
    bars take.
    """
    n_models = len(ranks)
    half = math.ceil(n_models / 2)
    for i, (model, rank) in enumerate(ranks.items()):
        if i < half:
            row = i
            end = 0.7
            align = "right"
            name = f"{model} {rank:.2f} "
        else:
            row = n_models - 1 - i
            end = n_models + 0.3
            align = "left"
            name = f" {rank:.2f} {model}"
        y = top + row + 0.9
        axes.plot([rank, rank, end], [0, y, y], color="black", linewidth=0.8)
        axes.text(end, y, name, ha=align, va="center", fontsize="small")
