"""t-tests between two models over the data sets of a table."""

import math
from typing import Any, NamedTuple

from pydantic import Field

from elmbench.specs.measures import Measure
from elmbench.specs.published import ALL, PublishedValue
from elmbench.tables.base import WITHOUT_MODELS, DataFrame, TableKind, TableOptions
from elmbench.tables.result_table import Column

#: The statistic that the paper prints, its degrees of freedom and probability; the same for the
#: paired test; the number of data sets that have both models.
MEASURES = ("t", "df", "p", "paired_t", "paired_p", "data_sets")
#: The columns of the choice under which cells were computed.
_CHOICE = ["select", "reading"]


class PairedTestsOptions(TableOptions):
    """The comparisons of the table: for each printed name, the two columns that are compared."""

    pairs: dict[str, tuple[str, str]] = Field(min_length=1)


class PairedTestsTable(TableKind):
    """A line for each statistic of each comparison of two models.

    Two tests compare the means of the first metric over the data sets: Welch's test for two
    independent samples, as in eq. (34) of the OSPVM paper, and the paired test, which takes into
    account that both models were run on the same data sets. Cells are shared with other tables of
    the same columns.
    """

    Options = PairedTestsOptions
    has_runs = False
    has_values_over_all = True
    caption = "tests of the means on each data set"
    own_columns = (Column("model", "comparison", whole=True), *WITHOUT_MODELS[1:])

    def check(self) -> None:
        """Raise ValueError if a comparison names a column that the table lacks."""
        super().check()
        for name, pair in self.options.pairs.items():
            for column in pair:
                if column not in self.spec.models:
                    columns = ", ".join(self.spec.models)
                    raise ValueError(
                        f"options.pairs.{name} names {column!r}; expected two of {columns}"
                    )

    def models(self) -> list[str]:
        """Return the names of the comparisons in `options.pairs`, which stand for models."""
        return list(self.options.pairs)

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return the statistics of a comparison: t, df, p, paired_t, paired_p and data_sets."""
        return [Measure(name) for name in MEASURES]

    def places(self, measure: Measure, published: PublishedValue | None) -> int | None:
        """Return the decimals to show: 0 for a count, None for p-values.

        None stands for three significant figures. For t and its degrees of freedom, they are one
        more than the paper prints, or three.
        """
        if measure.metric == "data_sets":
            return 0
        if measure.metric in ("p", "paired_p"):
            return None
        return super().places(measure, published)

    def summarised_cells(self, cells: DataFrame) -> DataFrame:
        """Return one line for each comparison of two models, selection and reading.

        `cells`: those of the models, with the columns of `cells.csv`. The result has the columns
        `dataset` (`all`), `model` (the name of the comparison), `run` and `fold` (0), `select`,
        `reading`, `status` and the statistics t, df, p, paired_t, paired_p and data_sets (the
        number of data sets). If fewer than two data sets have complete cells of both models, the
        status is `incomplete` and the statistics are NaN; else it is `ok`.
        """
        import pandas as pd

        lines = []
        for (select, reading), group in cells.groupby(_CHOICE, sort=False):
            means = self._means(group)
            for name, (first, second) in self.options.pairs.items():
                statistics = paired_t_test(means, first, second)
                line = {
                    "dataset": ALL,
                    "model": name,
                    "run": 0,
                    "fold": 0,
                    "select": select,
                    "reading": reading,
                    "status": "ok" if statistics else "incomplete",
                    **statistics,
                }
                lines.append(line)
        columns = ["dataset", "model", "run", "fold", *_CHOICE, "status", *MEASURES]
        return pd.DataFrame(lines, columns=columns)

    def _means(self, cells: DataFrame) -> DataFrame:
        """Return the means of the first metric: a row for each data set, a column for each model.

        Only models whose cells on a data set are complete have a mean; the others are NaN. The
        frame is empty without any mean. `cells`: those of one selection and reading.
        """
        import pandas as pd

        means: dict[tuple[str, str], float] = {}
        for dataset, model, part in self.complete(cells):
            metric = self.experiment.metric_of(dataset)
            values = part[metric].astype(float)
            means[dataset, model] = float(values.mean())
        if not means:
            return pd.DataFrame(dtype=float)
        return pd.Series(means, dtype=float).unstack()


def paired_t_test(means: DataFrame, first: str, second: str) -> dict[str, float]:
    """Return the statistics of a comparison of two models over data sets, by name.

    The names are t, df and p of Welch's test, paired_t and paired_p of the paired test, and
    data_sets. `means`: a row for each data set and a column for each model. t is positive if the
    `first` model has the larger mean. Statistics of constant values are NaN. The result is empty if
    fewer than two data sets have both models.
    """
    import numpy as np

    pairs = means.reindex(columns=[first, second]).dropna()
    if len(pairs) < 2:
        return {}
    a = pairs[first].to_numpy()
    b = pairs[second].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):  # of values that do not vary
        welch = _welch_test(a, b)
        paired = _paired_test(a - b)
    values = (*welch, paired.t, paired.p, len(pairs))
    return {name: float(value) for name, value in zip(MEASURES, values, strict=True)}


class _TTest(NamedTuple):
    """A statistic of Student's t distribution, its degrees of freedom and its two-sided p-value."""

    t: float
    freedom: float
    p: float


def _welch_test(a: Any, b: Any) -> _TTest:
    """Return Welch's test of two independent samples, arrays of at least two values.

    It is computed here since scipy.stats takes most of a second to import.
    """
    a_share = a.var(ddof=1) / len(a)
    b_share = b.var(ddof=1) / len(b)
    variance = a_share + b_share
    # The degrees of freedom of Welch and Satterthwaite.
    a_part = a_share**2 / (len(a) - 1)
    b_part = b_share**2 / (len(b) - 1)
    parts = a_part + b_part
    freedom = variance**2 / parts
    difference = a.mean() - b.mean()
    return _t_test(difference, variance, freedom)


def _paired_test(differences: Any) -> _TTest:
    """Return the paired t-test, from the array of the differences of at least two pairs."""
    n = len(differences)
    return _t_test(differences.mean(), differences.var(ddof=1) / n, n - 1)


def _t_test(mean: Any, variance: Any, freedom: float) -> _TTest:
    """Return the two-sided t-test of a mean against zero; NaN if the values are constant.

    `variance`: that of the mean, not of the values. `freedom`: the degrees of freedom.
    """
    import numpy as np
    from scipy.special import stdtr

    t = mean / np.sqrt(variance)
    if not math.isfinite(t):
        return _TTest(t=math.nan, freedom=math.nan, p=math.nan)
    p = 2 * stdtr(freedom, -abs(t))
    return _TTest(t=t, freedom=freedom, p=p)
