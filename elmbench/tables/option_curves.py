"""Fit times of each model over an option of generated data, as a table and as curves."""

from collections.abc import Collection
from typing import Any

from elmbench.specs.datasets import split_name
from elmbench.tables.base import DATASET, MODEL, DataFrame, Points
from elmbench.tables.drawing import finish, line_styles, mean_of, panels, plot_with_band, title_of
from elmbench.tables.metrics import RATIOS, TIMES
from elmbench.tables.number_texts import ending
from elmbench.tables.result_table import Column
from elmbench.tables.times import TimesTable

#: The marks of cells that did not end ok, by their ending.
_CROSSES = ("x", "+", "1", "2", "|")


class OptionCurvesTable(TimesTable):
    """Fit times of each model on generated data with an option in the name, such as
    `sparse-10k[density=0.6]`.

    The figure has a panel for each generator, and in it a curve of each model over the values of
    the option.
    """

    def check(self) -> None:
        super().check()
        options = {name: list(split_name(name)[1]) for name in self.spec.datasets}
        for name, names in options.items():
            if len(names) != 1 or names != options[self.spec.datasets[0]]:
                raise ValueError(
                    f"datasets names {name!r}; expected names with one option, the same for all"
                )

    def columns(self, datasets: Collection[str]) -> tuple[Column, ...]:
        return (DATASET, MODEL, *TIMES, *RATIOS)

    def points_of_entry(self, cells: DataFrame, dataset: str, model: str) -> Points:
        """Yield the mean time of a fit at a value of the option, and the first ending but ok, by
        generator.
        """
        spec = self.experiment.dataset(dataset)
        ((option, value),) = split_name(spec.name)[1].items()
        ok = cells["status"] == "ok"
        seconds = cells.loc[ok, "fit_seconds"].dropna().astype(float)
        point = {"dataset": spec.base, "option": option, "value": value, **mean_of(seconds)}
        yield point | {"ending": "" if ok.all() else cells.loc[~ok, "status"].iloc[0]}

    def draw(self, points: DataFrame) -> Any:
        """Draw a panel for each generator, as in Fig. 4 of the RKELM paper; models that did not end
        ok have marks.
        """
        from matplotlib.ticker import NullFormatter

        styles = line_styles(points["model"])
        endings = dict.fromkeys(filter(None, points["ending"].fillna("")))
        crosses = {status: _CROSSES[i % len(_CROSSES)] for i, status in enumerate(endings)}
        figure, parts = panels(
            points, titles={spec.base: spec.title for spec in self.experiment.datasets.values()}
        )
        for axes, group in parts:
            values = group["value"]
            if values.min() > 0:
                axes.set(xscale="log", xlim=(values.min() / 1.4, values.max() * 1.4))
                axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_yscale("log")
            axes.set_ymargin(0.25 if endings else 0.05)  # room for the marks
            for i, (model, style) in enumerate(styles.items()):
                curve = group[group["model"] == model].sort_values("value")
                plot_with_band(axes, "value", curve, style)
                # Each model has its own height and a marker around the cross, so that marks do not
                # overlap.
                top = {
                    "transform": axes.get_xaxis_transform(),
                    "linestyle": "",
                    "color": style["color"],
                }
                for status, cross in crosses.items():
                    x = curve.loc[curve["ending"] == status, "value"]
                    height = [0.96 - 0.05 * (i % 4)] * len(x)
                    axes.plot(
                        x, height, **top, marker=style["marker"], markersize=8, fillstyle="none"
                    )
                    axes.plot(x, height, **top, marker=cross, markersize=4)
            axes.set_xlabel(str(group["option"].iloc[0]))
        figure.axes[0].set_ylabel(
            "seconds of a fit, mean and deviation over runs", fontsize="small"
        )
        return finish(
            figure,
            styles,
            title_of(self.experiment),
            {ending(name): cross for name, cross in crosses.items()},
        )
