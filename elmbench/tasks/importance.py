"""The permutation importance of the columns of a data set, on the test rows of one outer fold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.folds import FoldData
from elmbench.evaluation.predictions import FoldScores, outputs_for
from elmbench.lazy import LazyModule
from elmbench.registry.scorers import find_metric
from elmbench.tasks.base import Context, Result
from elmbench.tasks.fit import Fit

if TYPE_CHECKING:
    from elmbench.evaluation import preprocessing
else:
    preprocessing = LazyModule("elmbench.evaluation.preprocessing")

#: Shuffles of each column, and the most test rows that are shuffled.
REPEATS = 5
MOST_ROWS = 2000


@dataclass(frozen=True)
class Importance(Fit):
    """A fit that also measures how much a metric worsens if a column of the test rows is shuffled.

    `metric`: the name of the metric.
    """

    kind = "importance"

    metric: str = ""

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Fit the model, predict the test rows, and shuffle each of their columns.

        The result: `params`, `fit_seconds`, `search_seconds`, `predict_seconds`, `n_units`,
        `condition`, `n_train`, `n_test`, an empty `measured`, and `importances`, the mean loss of
        the metric for each column of the data set. If predictions are not finite, `status`
        ("diverged") and `reason` instead of the last two. `inputs`: {key: result} of the choice of
        hyperparameters.
        """
        result = super().run(inputs, context)
        result.pop("predictions", None)
        return result

    def extra_values(self, estimator: Any, data: FoldData) -> Result:
        """Return {"measured": {}, "importances": [mean loss of the metric for each column]}.

        A loss is positive if the metric is worse after the shuffle. The columns are those of the
        data set, not of its encoded inputs. At most 2000 test rows are shuffled, five times for
        each column, from a fixed seed. `estimator`: the fitted model.
        """
        from sklearn.dummy import DummyClassifier
        from sklearn.inspection import permutation_importance

        metric = find_metric(self.metric)
        sources = np.arange(data.X_test.shape[1])
        if data.raw is not None and data.columns is not None:
            sources = preprocessing.columns_of_inputs(data.raw, data.columns)

        def score(_: Any, rows: NDArray[np.intp], y: NDArray[Any]) -> float:
            """Return the score of the model on test rows whose columns come from different rows.

            `rows`: by test row and column of the data set, the number of the row to take, of shape
            (n, d). `y`: the targets of the test rows.
            """
            row_of_input = rows[:, sources]
            X = np.take_along_axis(data.X_test, row_of_input, axis=0)
            outputs = outputs_for(metric, estimator, X, data.labels)
            fold = FoldScores(
                metric=metric,
                y=data.in_units(y),
                labels=data.labels,
                n_candidates=1,
            )
            fold.add(0, data.in_units(outputs))
            fold.finish()
            (score_of_model,) = fold.scores
            return float(score_of_model)

        # Numbers of rows are shuffled, so that all inputs of a column of words or dates move
        # together.
        # The first argument must have `fit`, which a calibrated model lacks.
        n = len(data.y_test)
        d = int(sources.max()) + 1
        rows = np.tile(np.arange(n)[:, None], d)
        share = min(1.0, MOST_ROWS / n)
        losses = permutation_importance(
            DummyClassifier(),
            rows,
            data.y_test,
            scoring=score,
            n_repeats=REPEATS,
            random_state=0,
            max_samples=share,
        )
        return {"measured": {}, "importances": losses["importances_mean"].tolist()}
