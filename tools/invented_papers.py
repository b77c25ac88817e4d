"""Invented papers whose truth is known: tables of ordinary classifiers, made from our own runs.

`python -m tools.invented_papers` reruns the classifiers into `tests/judging/invented_runs.csv` in
about two minutes. The verdicts are tested on papers whose print is a mean of some of these runs: as
printed, and with models exchanged.
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

RUNS = Path(__file__).parents[1] / "tests/judging/invented_runs.csv"
#: The number of runs of each model on each data set.
N_RUNS = 60
_LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "cancer": load_breast_cancer,
    "digits": load_digits,
}
#: The folds of a run: fewer for the largest data set.
_FOLDS = {"iris": 5, "wine": 5, "cancer": 5, "digits": 3}


def _models(run: int) -> dict[str, object]:
    """Return the models of a run, seeded by its number."""
    return {
        "forest": RandomForestClassifier(20, random_state=run),
        "bayes": GaussianNB(),
        "lda": LinearDiscriminantAnalysis(),
        "knn": KNeighborsClassifier(),
        "tree": DecisionTreeClassifier(random_state=run),
        "svm": SVC(),
        "dummy": DummyClassifier(),
    }


def _lines() -> Iterator[dict[str, object]]:
    for dataset, load in _LOADERS.items():
        x, y = load(return_X_y=True)
        for run in range(N_RUNS):
            folds = StratifiedKFold(_FOLDS[dataset], shuffle=True, random_state=run)
            for model, estimator in _models(run).items():
                accuracy = np.mean(cross_val_score(estimator, x, y, cv=folds))
                yield {
                    "dataset": dataset,
                    "model": model,
                    "run": run,
                    "accuracy": round(float(accuracy), 6),
                }


if __name__ == "__main__":
    ArgumentParser(description=__doc__).parse_args()
    pd.DataFrame(_lines()).to_csv(RUNS, index=False)
