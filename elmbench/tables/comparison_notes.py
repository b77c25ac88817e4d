"""The notes below a comparison: on its ranking, ties, the dummy, the best model and the power of
its test.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from elmbench.errors import wording
from elmbench.evaluation.model_order import ModelOrder
from elmbench.evaluation.score_comparison import (
    MOST_RUNS,
    dummies,
    needed_runs,
    not_above_dummy,
    rivals_of,
    share_of_test_rows,
    smallest_detectable_differences,
)
from elmbench.registry.scorers import find_metric
from elmbench.specs.profiles import Resolved
from elmbench.tables.base import DataFrame
from elmbench.tables.number_texts import quantity
from elmbench.tables.result_table import QUESTION, Note

#: A share of the dummy that is this near to the best model's says little about the models.
_SAME_SHARE = 0.02
#: Balanced accuracy says more than accuracy if a class has more than this share of the rows.
_LARGE_CLASS = 0.7
#: Metrics of squared errors, which few outliers of the target may decide. They do if the root mean
#: square of its deviations is this many times their mean; the ratio of Gaussian ones is 1.25.
_SQUARED = ("nrmse", "rmse", "r2")
_OUTLIERS = 3.0
#: Follows the name of a model that is no better than the dummy.
MARK = " *"
#: Splits with the same test parts in every run.
REPEATED = ("ordered-kfold", "predefined-kfold")


@dataclass(frozen=True)
class RankingNotes:
    """The notes on the ranking of the models of a comparison on one data set.

    Attributes
    ----------
    experiment : Resolved
        The comparison.
    dataset : str
        The name of the data set.
    cells : data frame
        The lines of `cells.csv` of the data set, under one selection.
    scores : data frame
        The metric that ranks: a line for each test part, a column for each model, also for a dummy.
        More is better: errors have a minus sign.
    order : ModelOrder
        The ranked models, the best first, without a dummy.
    """

    experiment: Resolved
    dataset: str
    cells: DataFrame
    scores: DataFrame
    order: ModelOrder

    def notes(self) -> Iterator[Note]:
        """Yield the notes, each only if it applies.

        They are on the metric, on models without a rank, on ties, on models no better than the
        dummy, on the best model, and on differences that the folds cannot show.
        """
        yield from self._note_on_metric()
        yield from self._note_on_undefined()
        yield from self._note_on_ties()
        yield from self._note_on_weak_models()
        yield from self._note_on_best()
        yield from self._note_on_power()

    @property
    def _metric(self) -> str:
        """The metric that ranks the models."""
        return self.experiment.metric_of(self.dataset)

    @property
    def _dummies(self) -> Sequence[str]:
        """The names of the models that ignore the features and always predict the same."""
        return dummies(self.experiment)

    @property
    def _rivals(self) -> DataFrame:
        """The scores without the columns of dummies."""
        return rivals_of(self.scores, self.experiment)

    @property
    def _weak_models(self) -> list[str]:
        """The models whose mean score is not above the dummy's; empty without a dummy."""
        return not_above_dummy(self.scores.mean().to_dict(), self.experiment)

    def _note_on_metric(self) -> Iterator[Note]:
        """Yield a note that suggests another metric or target if no model is much better than a
        dummy.

        That is, the best mean is better than the dummy's by less than 0.02, or for errors without
        an upper bound, except NRMSE, by less than 2 % of the dummy's. The note suggests balanced
        accuracy if accuracy ranks and one class is large, the mean absolute error if a few targets
        make most of the squared errors, and else another target. Without a dummy or another model,
        there is no note.
        """
        metric = self._metric
        scores = self.scores
        means = scores.mean().abs()
        rivals = self._rivals
        dummy = next((name for name in self._dummies if name in means), None)
        if dummy is None or not len(rivals.columns):
            return
        best = str(rivals.mean().idxmax())
        gain = scores[best].mean() - scores[dummy].mean()
        unit = find_metric(metric).unit
        nearest = _SAME_SHARE
        if unit.is_relative and metric != "nrmse":
            nearest *= means[dummy]
        if gain >= nearest:
            return
        values = f"{best} {means[best]:.3f}, dummy {means[dummy]:.3f}"
        if metric == "accuracy" and self._has_large_class():
            option_text = wording(
                "--metric balanced_accuracy ranks by the mean recall of the classes",
                "metric='balanced_accuracy' ranks by the mean recall of the classes",
            )
        elif metric in _SQUARED and self._has_outliers():
            mae = wording(
                "--metric mae weights all errors equally",
                "metric='mae' weights all errors equally",
            )
            option_text = f"a few targets far from the others decide it; {mae}"
        else:
            target = wording("--target COLUMN names another target", "give another y")
            option_text = f"the features say little about the target; {target}"
        yield Note(
            QUESTION,
            f"{self.dataset}: {metric} hardly tells the models apart ({values}): {option_text}",
        )

    def _has_large_class(self) -> bool:
        """Return True if a class of the data set has more than 70 % of its rows.

        It is False if the sizes of the classes are not known.
        """
        sizes = self.experiment.dataset(self.dataset).shape.classes
        counts = [n or 0 for n in sizes.values()] if isinstance(sizes, dict) else [0]
        return max(counts) > _LARGE_CLASS * sum(counts)

    def _has_outliers(self) -> bool:
        """Return True if a few targets make most of the squared errors of the dummy.

        Its rmse is then more than 3 times its mae. It is False if the cells lack one of the two, or
        a dummy.
        """
        errors = ["mae", "rmse"]
        has_errors = {*errors} <= {*self.cells}
        if not has_errors:
            return False
        is_dummy = self.cells["model"].isin(self._dummies)
        of_dummy = self.cells.loc[is_dummy, errors].astype(float)
        mae, rmse = of_dummy.mean()
        return bool(rmse > _OUTLIERS * mae)

    def _note_on_undefined(self) -> Iterator[Note]:
        """Yield a note on the models whose metric is undefined for some test parts.

        Such models have no rank. Only cells that ended ok count, and dummies are left out; so are
        classifiers without any value, which `missing_metrics` names. Without such a model there is
        no note.
        """
        metric = self._metric
        cells = self.cells
        is_rival = ~cells["model"].isin(self._dummies)
        ok = cells[(cells["status"] == "ok") & is_rival]
        missing_shares = ok[metric].isna().groupby(ok["model"], sort=False).mean()
        is_undefined = missing_shares > 0
        example = "whose targets are all equal"
        if find_metric(metric).task == "classification":
            # `missing_metrics` names what a model without any value lacks.
            is_undefined &= missing_shares < 1
            example = "that lacks a class"
        models = [str(model) for model in missing_shares.index[is_undefined]]
        if models:
            why = f"{metric} is not defined for a test part, such as one {example}"
            yield Note(
                "metric",
                f"{self.dataset}: {', '.join(models)} without a rank: {why}; try fewer folds",
            )

    def _note_on_ties(self) -> Iterator[Note]:
        """Yield a note on the models with the same mean, and on the rule that orders them.

        Without ties there is no note.
        """
        ties = self.order.ties
        if ties:
            groups = "; ".join(", ".join(models) for models in ties)
            yield Note(
                "tie",
                f"{self.dataset}: same mean {self._metric}: {groups}; ties are ordered by "
                f"{self.order.rule}",
            )

    def _note_on_weak_models(self) -> Iterator[Note]:
        """Yield a note on the models that are no better than the dummy, if there are any."""
        if self._weak_models:
            task = self.experiment.dataset(self.dataset).task
            is_classification = task == "classification"
            predicts = "the most frequent class" if is_classification else "the mean"
            yield Note(
                "dummy",
                f"{self.dataset}:{MARK} no better than always predicting {predicts} (dummy): "
                f"{', '.join(self._weak_models)}",
            )

    def _note_on_best(self) -> Iterator[Note]:
        """Yield a note on the best model, its mean and the measure that decides between tied ones.

        Without a ranked model there is no note.
        """
        order = self.order
        if not order.models:
            return
        best = order.models[0]
        metric = order.metrics[0]
        mean = quantity(order.means[best][metric], places=3)
        parts = [f"{best}, {metric} {mean}"]
        if best in self._weak_models:
            parts.append("no better than the dummy")
        reason = order.advantages_of_best()
        if reason:
            parts.append(reason)
        remarks = "; ".join(parts)
        yield Note("best", f"{self.dataset}: best: {remarks}")

    def _note_on_power(self) -> Iterator[Note]:
        """Yield a note on the models that the folds cannot separate from the best one.

        It groups them by the number of runs that would separate them, and has the smallest
        difference that the folds could have shown. A different note says that all other models are
        separated, or that there is a single test part, which allows no test; for fewer than two
        ranked models there is none.
        """
        dataset = self.dataset
        order = self.order
        rivals = self._rivals
        if len(order.models) < 2:
            return
        outer = self.experiment.spec.protocol.outer
        most = 1 if outer.kind in REPEATED else MOST_RUNS
        share = share_of_test_rows(dataset, self.experiment, self.cells)
        best = order.models[0]
        if share is None or len(rivals) < 2:
            yield Note(
                "power", f"{dataset}: a single test part allows no test of differences"
            )
            return
        counts = needed_runs(rivals, share, outer.folds_of(dataset), most, best=best)
        if not counts:
            yield Note(
                "power", f"{dataset}: the other models differ from {best} (p < .05)"
            )
            return
        close = {model: counts[model] for model in order.models if model in counts}
        text = f"{dataset}: not distinguishable from {best}: {_group_by_runs(close)}"
        smallest = smallest_detectable_differences(rivals, share, close, best=best)
        if smallest:
            sizes = dict.fromkeys(f"{size:.2g}" for size in (smallest[0], smallest[-1]))
            size = " to ".join(sizes)
            text += (
                f"; the smallest difference that these folds could have shown: {size}"
            )
        yield Note("power", text)


def _group_by_runs(counts: Mapping[str, int | None]) -> str:
    """Return the names of models, grouped by the runs that would separate them from the best.

    `counts`: this number by model; None if no number of runs would. The result is a text such as
    `A, B (20 runs would separate them, if the differences stay as large) or C (more runs would
    not help)`, the least number first; empty without models.
    """
    groups = []
    for runs in sorted(set(counts.values()), key=lambda runs: runs or math.inf):
        models = ", ".join(model for model, count in counts.items() if count == runs)
        hint = (
            f"{runs} runs would separate them, if the differences stay as large"
            if runs
            else "more runs would not help"
        )
        groups.append(f"{models} ({hint})")
    return " or ".join(groups)
