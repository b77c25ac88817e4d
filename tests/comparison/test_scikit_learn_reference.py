"""What `compare` reports on files with words, dates and gaps, against scikit-learn alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scikit_learn_metrics import classification_metrics, regression_metrics
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from elmbench.comparison.request import ComparisonRequest, prepare_comparison
from elmbench.datasets.user_data import UserData
from elmbench.report.table_results import Results
from elmbench.runs.execute import execute
from elmbench.runs.prepare import RunOptions

pytestmark = pytest.mark.usefixtures("alone")
N_ROWS = 1000
NUMBERS = ["age", "income"]
WORDS = ["colour", "region"]
FEATURES = [*NUMBERS, *WORDS, "joined"]
C = 0.5


@pytest.fixture
def customers() -> pd.DataFrame:
    """Return the rows of customers.csv, which has gaps in all features: 2 % of them buy."""
    rng = np.random.default_rng(3)
    days = pd.to_timedelta(rng.integers(0, 2000, N_ROWS), "D")
    joined = pd.Series(pd.Timestamp("2019-03-01") + days)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, N_ROWS),
            "income": rng.lognormal(3, 1, N_ROWS).round(2),
            "colour": rng.choice(["red", "green", "blue"], N_ROWS),
            "region": rng.choice(["north", "south"], N_ROWS),
            "joined": joined.dt.strftime("%Y-%m-%d"),
        }
    )
    is_red = frame["colour"] == "red"
    noise = rng.normal(size=N_ROWS)
    score = frame["age"] / 10 + 2 * is_red + joined.dt.month / 6 + noise
    frame = frame.mask(rng.random(frame.shape) < 0.06)
    frame["buys"] = np.where(score.rank() > 0.98 * N_ROWS, "yes", "no")
    frame["spends"] = 20 * score
    frame.to_csv("customers.csv", index=False)
    return pd.read_csv("customers.csv")


def compared(target: str, other: str, models: tuple[str, ...]) -> Results:
    """Return the comparison of models without a search on customers.csv."""
    data = UserData("customers.csv", target, drop=(other,))
    grids = {model: {"C": [C]} for model in models}
    request = ComparisonRequest((data,), models, grids)
    (results,) = execute(prepare_comparison(request, RunOptions(), Path("results")))
    return results


def date_parts(rows: pd.DataFrame) -> pd.DataFrame:
    dates = pd.to_datetime(rows["joined"])
    parts = {
        "year": dates.dt.year,
        "month": dates.dt.month,
        "weekday": dates.dt.day_of_week,
        "days": (dates - pd.Timestamp("2019-03-01")).dt.days,
    }
    return pd.DataFrame(parts, dtype=float)


def pipeline_of(model: Any) -> Pipeline:
    median = SimpleImputer(strategy="median")
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False)
    )
    dates = make_pipeline(FunctionTransformer(date_parts), median)
    inputs = ColumnTransformer(
        [
            ("numbers", median, NUMBERS),
            ("words", words, WORDS),
            ("dates", dates, ["joined"]),
        ]
    )
    return make_pipeline(inputs, StandardScaler(), model)


def scores_of(pipeline: Pipeline, rows: pd.DataFrame) -> NDArray[np.float64]:
    """Return the decision values, or else the probabilities, of the class `yes`."""
    if hasattr(pipeline, "decision_function"):
        return np.asarray(pipeline.decision_function(rows))
    return np.asarray(pipeline.predict_proba(rows)[:, 1])


def assert_as_by_hand(
    results: Results, name: str, model: Any, frame: pd.DataFrame, target: str
) -> None:
    """Fit a model of scikit-learn to each training part, and compare the predictions, the metrics
    of each fold and their means.
    """
    lines = pd.read_csv(results.folder / "predictions.csv")
    lines = lines[lines["model"] == name]
    cells = results.cells[results.cells["model"] == name].set_index("fold")
    assert sorted(lines["row"]) == list(range(N_ROWS))
    assert len(cells) == 5
    metrics = []
    for fold, part in lines.groupby("fold"):
        test = frame.iloc[part["row"]]
        train = frame.drop(index=part["row"])
        pipeline = pipeline_of(model).fit(train[FEATURES], train[target])
        predicted = pipeline.predict(test[FEATURES])
        if target == "buys":
            assert part["predicted"].tolist() == predicted.tolist()
            scores = scores_of(pipeline, test[FEATURES])
            expected = classification_metrics(test[target], predicted, scores)
        else:
            np.testing.assert_allclose(part["predicted"], predicted, rtol=1e-12)
            expected = regression_metrics(test[target], predicted)
        reported = cells.loc[fold, [*expected]].astype(float)
        np.testing.assert_allclose(reported, [*expected.values()], rtol=1e-12)
        metrics.append(expected)
    summary = results.summary[results.summary["model"] == name].set_index("metric")
    for metric, by_hand in pd.DataFrame(metrics).items():
        if metric in summary.index:
            assert summary.loc[metric, "mean"] == pytest.approx(
                by_hand.mean(), rel=1e-12
            )


def test_classes_of_words_dates_and_gaps_are_predicted_as_by_scikit_learn(
    customers: pd.DataFrame,
) -> None:
    assert (customers["buys"] == "yes").sum() == 20
    results = compared("buys", "spends", ("logistic-regression", "ridge"))
    models = {
        "logistic-regression": LogisticRegression(C=C, max_iter=1000),
        "ridge": RidgeClassifier(alpha=1 / C),
        "dummy": DummyClassifier(),
    }
    for name, model in models.items():
        assert_as_by_hand(results, name, model, customers, "buys")


def test_numbers_of_words_dates_and_gaps_are_predicted_as_by_scikit_learn(
    customers: pd.DataFrame,
) -> None:
    results = compared("spends", "buys", ("ridge",))
    models = {"ridge": Ridge(alpha=1 / C), "dummy": DummyRegressor()}
    for name, model in models.items():
        assert_as_by_hand(results, name, model, customers, "spends")
