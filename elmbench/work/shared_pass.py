"""A search on inner folds and the evaluation of the same grid on the outer fold, done in one pass over the folds.

The plan has both, each with a key of its own, so that either is known from before whatever was asked for then. Where
both are still to be run, one call of the model's path over the inner folds and the outer one does both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from elmbench.metrics import find_metric
from elmbench.protocol.content import FLAT
from elmbench.protocol.folds import DatasetRef, fold_data
from elmbench.work.base import Context, Result, Work
from elmbench.work.grid import GridEvaluation, outer_rows
from elmbench.work.scoring import grid_scores
from elmbench.work.search import Search, finished, grid_problem, in_all

_NOTHING: Result = {"params": {}, "seconds": 0.0}


@dataclass(frozen=True)
class SharedPass(Work):
    """Both of a search that takes nothing over and the evaluation of its grid."""

    kind = "pass"

    search: Search = field(metadata=FLAT)

    @property
    def evaluation(self) -> GridEvaluation:
        """The evaluation of the same grid on the outer fold."""
        s = self.search
        return GridEvaluation(s.place, s.model, s.params, s.grid, s.given, s.paths, metric=s.metric)

    @property
    def data(self) -> DatasetRef:
        return self.search.data

    @property
    def model_name(self) -> str:
        return self.search.model_name

    @property
    def number_of_fits(self) -> int:
        return self.search.number_of_fits + self.evaluation.number_of_fits

    @property
    def label(self) -> str:
        return self.search.label

    def seconds(self) -> float:
        return self.search.seconds() + self.evaluation.seconds()

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Do both; the choice is that of the inner folds, blind to the test rows of the outer one.

        Returns
        -------
        dict
            `parts`: what each would have returned, by key.
        """
        search, evaluation = self.search, self.evaluation
        data = fold_data(search.place, context.data_dir)
        _, y_inner, inner = search.inner_folds(data)
        scale = search.place.protocol.scale
        parts: tuple[Result, Result]
        alone = find_metric(search.metric).takes not in ("counts", "values") or (scale and scale.fit_on == "train")
        others = data.raw is not None or data.weights is not None or len(y_inner) < len(data.y_train)
        if alone or others:
            # Single fits, or other rows, or others' scales: there is nothing to share.
            parts = search.run({}, context), evaluation.run({}, context)
        else:
            X, y, outer = outer_rows(data)
            problem = grid_problem(search, _NOTHING, (X, y, [*inner, *outer]), data.labels, context)
            scores, spent = grid_scores([problem], search.metric)
            tested = {"scores": scores[:, -1].tolist(), **in_all(spent[-1:])}
            chosen = search.chosen(_NOTHING, scores[:, :-1], spent[:-1])
            parts = finished(chosen, _NOTHING), finished(tested, _NOTHING)
        return {"status": "ok", "reason": "", "parts": dict(zip((search.key, evaluation.key), parts, strict=True))}
