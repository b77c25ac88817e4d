"""Metrics of each model, with a figure of the precision-recall curves."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from elmbench.tables.base import DataFrame, Outputs
from elmbench.tables.drawing import headline, line_styles, new_figure
from elmbench.tables.metrics import MetricsTable


class PrecisionRecallTable(MetricsTable):
    """The table of metrics, with a figure of precision-recall curves.

    They are drawn from the stored decision values of the test rows.
    """

    draws_from_store = True
    figure_legend = "Each curve is of the pooled test rows of all folds and runs."

    def points_of(self, cells: DataFrame, outputs: Iterable[Outputs]) -> DataFrame:
        """Return the precision-recall curve of each model over the pooled test rows of all folds.

        Only the first selection of a model in `cells` counts, with all of its runs. `outputs`: the
        stored results of two classes under the default readings. The columns are `model`, `recall`,
        `precision` and `average_precision`; models without stored decision values are left out.
        Without curves, there are no columns.
        """
        import numpy as np
        import pandas as pd
        from sklearn.metrics import average_precision_score, precision_recall_curve

        from elmbench.evaluation.stored_predictions import StoredPredictions

        default = cells[cells["reading"] == ""].drop_duplicates("model")
        first = dict(zip(default["model"], default["select"], strict=True))
        parts: defaultdict[str, list[tuple[Any, Any]]] = defaultdict(list)
        for output in outputs:
            stored = StoredPredictions(output.result["predictions"])
            if (
                output.cell.select == first.get(output.cell.model)
                and stored.scores is not None
            ):
                parts[output.cell.model].append((stored.true, stored.scores))
        curves = []
        for model, pairs in parts.items():
            true, score = map(np.concatenate, zip(*pairs, strict=True))
            precision, recall, _ = precision_recall_curve(
                true, score, drop_intermediate=True
            )
            area = average_precision_score(true, score)
            curve = {
                "model": model,
                "recall": recall,
                "precision": precision,
                "average_precision": area,
            }
            curves.append(pd.DataFrame(curve))
        return pd.concat(curves, ignore_index=True) if curves else pd.DataFrame()

    def draw(self, points: DataFrame) -> Any:
        """Return a matplotlib figure of all curves in a panel, as in Fig. 3 of the KOS-ELM paper.

        `points`: those of all curves, with the columns `model`, `recall`, `precision` and
        `average_precision` (the same for all points of a model). The lines of a model follow its
        curve.
        """
        figure, axes = new_figure(7.4, 4.6)
        styles = line_styles(points["model"])
        for model, curve in points.groupby("model", sort=False):
            style = styles[str(model)] | {"marker": ""}
            label = (
                f"{model} (average precision {curve['average_precision'].iloc[0]:.3f})"
            )
            axes.step(
                curve["recall"], curve["precision"], where="post", label=label, **style
            )
        axes.set(
            xlabel="recall",
            ylabel="precision",
            xlim=(0, 1.01),
            ylim=(0, 1.02),
        )
        axes.set_title(headline(self.experiment), fontsize="medium")
        axes.grid(alpha=0.3)
        axes.legend(loc="lower left", fontsize="small")
        return figure
