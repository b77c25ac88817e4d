"""A model that is fitted to all rows: its pipeline, and its predictions for new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from made_shop import in_a_fresh_process, predicted, shop
from sentences import pattern, sentence
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import elmbench
from elmbench.cli import main
from elmbench.comparison import request
from elmbench.comparison.final_model import fit_pipeline
from elmbench.comparison.predict_file import predict_file
from elmbench.comparison.saved_models import save
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.readers import read_table
from elmbench.datasets.sources import file
from elmbench.datasets.table import Table
from elmbench.datasets.user_data import UserData
from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import fold_rows, load_rows
from elmbench.evaluation.preprocessing import prepared_inputs
from elmbench.models import FBKOSELMClassifier
from elmbench.numerics.seeds import generator
from elmbench.results.cells import stored_predictions_of
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.splits import Split

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_the_best_model_is_one_pipeline_for_new_rows() -> None:
    frame, new = shop(150), shop(40)
    X = frame[["age", "colour"]]
    grids = {"SVC": {"C": [0.001, 100.0]}, "ridge": {"C": [1.0]}}
    results = elmbench.compare(X, frame["buys"], [SVC(), "ridge"], grids=grids, folds=3)
    best = results.best_estimator()
    assert isinstance(best, Pipeline)
    assert isinstance(best["model"].estimator_, SVC)
    assert best["model"].estimator_.C == 100.0
    assert set(best.predict(new[["age", "colour"]])) == {"yes", "no"}
    assert (best.predict(new[["age", "colour"]]) == new["buys"]).mean() > 0.7
    np.testing.assert_array_equal(
        clone(best).fit(X, frame["buys"]).predict(new), best.predict(new)
    )
    assert results.best_estimator("ridge")["model"].estimator_.alpha == 1.0
    with pytest.raises(
        ElmbenchError, match=pattern("comparison.results.no-such-model", model="svm")
    ):
        results.best_estimator("svm")
    # A category that is new, and a column of no known value, are no obstacle.
    assert len(best.predict(pd.DataFrame({"age": [np.nan], "colour": ["violet"]}))) == 1

    save(best, Path("best.joblib"))
    new[["colour", "age"]].to_csv("new.csv", index=False)
    assert predicted() == best.predict(new).tolist()
    assert (
        in_a_fresh_process("best.joblib", "new.csv")["prediction"].tolist()
        == best.predict(new).tolist()
    )
    lacks = "lacks 1 of 2 columns: colour"
    for bad, message in (
        (new.drop(columns="colour"), lacks),
        (new.assign(age="x"), "column 'age'"),
    ):
        bad.to_csv("bad.csv", index=False)
        with pytest.raises(ElmbenchError, match=f"bad.csv.* {message}"):
            predict_file(Path("best.joblib"), Path("bad.csv"))
    # Only if all columns are missing may the separator be wrong.
    for columns, step in ((["age"], "add them"), ([], "add them, or give --sep")):
        new.rename(columns=str.upper).join(new[columns]).to_csv("bad.csv", index=False)
        with pytest.raises(ElmbenchError) as caught:
            predict_file(Path("best.joblib"), Path("bad.csv"))
        assert caught.value.next_step == step
    new.assign(colour=["violet", None, "pink", "violet", *["red"] * 36]).to_csv(
        "new.csv", index=False
    )
    in_a_fresh_process(
        "best.joblib",
        "new.csv",
        err="in 3 of 40 rows: 'violet', 'pink'; they are ignored",
    )
    new.head(0).to_csv("new.csv", index=False)
    with pytest.raises(ElmbenchError, match=r"new\.csv has no rows"):
        predicted()


def test_a_regression_is_predicted_in_its_own_units() -> None:
    frame, new = shop(150), shop(40)
    X = frame[["age", "colour"]]
    results = elmbench.compare(
        X, frame["spends"], ["ridge"], grids={"ridge": {"C": [8.0]}}, folds=3
    )
    best = results.best_estimator()
    assert isinstance(best, TransformedTargetRegressor)
    assert isinstance(best.regressor_["model"], Ridge)
    # The same steps by hand.
    numbers = X["age"].fillna(X["age"].median())
    words = X["colour"].fillna(X["colour"].mode()[0])
    inputs = np.column_stack(
        [numbers, *(words == word for word in sorted(set(words)))]
    ).astype(float)
    scaled = StandardScaler().fit_transform(inputs)
    y = frame["spends"].to_numpy()
    by_hand = (
        Ridge(alpha=1 / 8).fit(scaled, (y - y.mean()) / y.std()).predict(scaled)
        * y.std()
        + y.mean()
    )
    np.testing.assert_allclose(best.predict(X), by_hand, rtol=1e-9)
    assert np.abs(best.predict(new) - new["spends"]).median() < 5


@pytest.mark.parametrize("time_order", [None, range(150)])
def test_a_sequential_model_learns_all_rows_in_the_order_of_the_folds(
    time_order: Any,
) -> None:
    X, y = load_iris(return_X_y=True)  # sorted by class
    order = generator("order", "data", 0, 0).permutation(150)
    if time_order is not None:  # each test part needs all classes
        X, y, order = X[order], y[order], np.arange(150)
    grids = {"fb-kos-elm": {"C": [8.0], "gamma": [0.5], "budget": [12]}}
    results = elmbench.compare(
        X, y, ["fb-kos-elm"], grids=grids, folds=3, time_order=time_order
    )
    model = FBKOSELMClassifier(C=8.0, gamma=0.5, budget=12).fit(
        StandardScaler().fit_transform(X)[order], y[order]
    )
    best = results.best_estimator()["model"].estimator_
    np.testing.assert_allclose(best.dictionary_, model.dictionary_)


@pytest.mark.usefixtures("alone")
def test_dates_are_in_the_pipeline() -> None:
    frame = shop(120)
    days = pd.Timestamp("2022-01-20") + pd.to_timedelta(
        np.random.default_rng(0).integers(0, 600, 120), unit="D"
    )
    frame["when"] = days.strftime("%d/%m/%Y")
    frame["spends"] += np.where(days.month > 6, 100, 0)
    frame.loc[::9, "when"] = "n.a."
    X, y = frame[["when", "age", "colour"]], frame["spends"]
    results = elmbench.compare(X, y, ["ridge"], grids={"ridge": {"C": [8.0]}}, folds=3)
    best = results.best_estimator()
    (spec,) = results.run.tables[0][0].datasets.values()
    data = load_from_spec(spec)
    expected = prepared_inputs(data.X, np.arange(120), None, data.columns)
    np.testing.assert_array_equal(best.regressor_[:2].transform(X), expected)
    dates = X.assign(when=pd.to_datetime(X["when"], format="%d/%m/%Y", errors="coerce"))
    np.testing.assert_array_equal(best.predict(dates), best.predict(X))

    save(best, Path("best.joblib"))
    # By themselves, these could be in January as well.
    new = pd.DataFrame(
        {
            "age": [41.5, 30.0],
            "colour": ["red", "blue"],
            "when": ["01/07/2023", "01/08/2023"],
        }
    )
    new.to_csv("new.csv", index=False, sep=";", decimal=",")
    predicted = in_a_fresh_process(
        "best.joblib", "new.csv", "--sep", ";", "--decimal", ","
    )["prediction"]
    np.testing.assert_allclose(predicted, best.predict(new), rtol=1e-12)
    assert (
        predicted != best.predict(new.assign(when=["07/01/2023", "08/01/2023"]))
    ).all()
    new.assign(when=pd.to_datetime(new["when"], dayfirst=True)).to_parquet(
        "new.parquet"
    )
    np.testing.assert_array_equal(
        predict_file(Path("best.joblib"), Path("new.parquet"))[0]["prediction"],
        predicted,
    )
    new.assign(when="soon").to_csv("new.csv", index=False)
    with pytest.raises(
        ElmbenchError, match="the column 'when' holds other dates than %d/%m/%Y"
    ):
        predict_file(Path("best.joblib"), Path("new.csv"))
    X.to_csv("new.csv", index=False)
    predictions, remarks = predict_file(
        Path("best.joblib"), Path("new.csv"), proba=True
    )
    assert predictions.columns.tolist() == ["prediction"]
    assert remarks == [
        sentence(
            "comparison.final-model.no-probabilities-of-regression", file="best.joblib"
        )
    ]


def every_kind() -> pd.DataFrame:
    """Return rows with numbers, words, codes, dates and missing values of each, and two targets."""
    frame = shop(120)
    random = np.random.default_rng(0)
    days = pd.Timestamp("2022-01-20") + pd.to_timedelta(
        random.integers(0, 600, 120), unit="D"
    )
    frame["when"] = days.strftime("%d/%m/%Y")
    frame["zip"] = random.choice(["01234", "10115", "00501"], 120)
    frame["spends"] += np.where(days.month > 6, 100, 0)
    frame.loc[::9, "when"] = "n.a."
    frame.loc[::13, "zip"] = "unknown"
    return frame


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("target", ["spends", "buys"])
@pytest.mark.parametrize("model", ["ridge", "knn", "elm"])
def test_what_is_evaluated_is_what_is_saved(model: str, target: str) -> None:
    """The pipeline that `--save` writes, fitted to the training rows of a fold, makes the
    predictions that are evaluated on its test rows.
    """
    frame = every_kind()
    X = frame.drop(columns=["spends", "buys"])
    results = elmbench.compare(X, frame[target], [model], folds=3)
    ((_, plan),) = results.run.tables
    store = results.run.store
    fits = [results.run.tasks[cell.key] for cell in plan.cells if cell.model == model]
    for task in fits:
        data = load_rows(task.outer_fold.dataset, None)
        train, test = fold_rows(task.outer_fold, None)
        targets = data.y[train] if target == "spends" else data.labels_of(train)
        params = store.result(task.chosen)["params"]
        inner = Split("kfold", 3)
        pipeline = fit_pipeline(
            task, data, train, chosen=params, targets=targets, inner=inner
        )
        stored = stored_predictions_of(store.result(task.key))
        np.testing.assert_array_equal(stored.rows, test)
        predicted = pipeline.predict(X.iloc[test])
        if target == "spends":
            np.testing.assert_allclose(predicted, stored.predicted, rtol=1e-12)
        else:
            np.testing.assert_array_equal(
                predicted, np.array(data.classes)[stored.predicted]
            )
            if hasattr(pipeline, "decision_function"):
                outputs = pipeline.decision_function(X.iloc[test])
                np.testing.assert_allclose(outputs, stored.scores, rtol=1e-6)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--groups", "shop"),
        ("--time-order", "number"),
        ("--fold", "shop"),
        ("--budget", "1h"),
        ("--test", "test.csv"),
    ],
    ids=" ".join,
)
def test_a_file_is_read_and_described_once_in_a_command(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = (
        every_kind()
        .assign(shop=np.arange(120) % 6, number=range(120))
        .drop(columns="spends")
    )
    frame.to_csv("rows.csv", index=False)
    frame[::2].to_csv("test.csv", index=False)
    reads: list[str] = []
    described: list[str] = []

    def counted_read(path: Path, *args: Any, **kwargs: Any) -> Table:
        reads.append(path.name)
        return read_table(path, *args, **kwargs)

    def counted_description(data: UserData) -> DatasetSpec:
        described.append(data.location)
        return describe(data)

    monkeypatch.setattr(file, "read_table", counted_read)
    monkeypatch.setattr(request, "describe", counted_description)
    words = ["compare", "rows.csv", "-t", "buys", "-m", "ridge", *options]
    with pytest.raises(SystemExit) as ending:
        main([*words, "--save", "best.joblib", "--html", "page.html"])
    assert not ending.value.code
    assert Path("best.joblib").is_file()
    assert Path("page.html").is_file()
    assert reads == ["rows.csv", "test.csv"][: 2 if "--test" in options else 1]
    assert described == ["rows.csv"]


@pytest.mark.usefixtures("alone")
def test_a_column_with_the_name_of_a_part_of_a_date_is_compared_and_predicted() -> None:
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2022-01-20") + pd.to_timedelta(
        rng.permutation(90) * 3, unit="D"
    )
    X = pd.DataFrame(
        {"when": days.strftime("%Y-%m-%d"), "when.month": rng.normal(size=90)}
    ).assign(x=rng.normal(size=90))
    y = 3 * X["when.month"] + X["x"]
    plain = X.rename(columns={"when.month": "z"})
    for number, rows in enumerate((X, plain)):
        grids = {"ridge": {"C": [1e6]}}
        results = elmbench.compare(
            rows, y, "ridge", grids=grids, folds=3, name=f"rows{number}"
        )
        errors = results.cells.query("model == 'ridge'")["nrmse"]
        np.testing.assert_allclose(errors, 0, atol=1e-4)
        save(results.best_estimator(), Path("best.joblib"))
        rows.to_csv("new.csv", index=False)
        predictions, _ = predict_file(Path("best.joblib"), Path("new.csv"))
        np.testing.assert_allclose(predictions["prediction"], y, atol=1e-3)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("digits", [18, 20, 5000])
def test_labels_and_groups_of_many_digits_are_labels(digits: int) -> None:
    X = pd.DataFrame({"a": np.arange(60.0) % 7, "b": np.arange(60) % 2})
    labels = np.array(["1" * digits, "2" * digits], dtype=object)
    y = labels[X["b"].to_numpy(int)]
    groups = [f"{row % 6 + 1}" * digits for row in range(60)]
    results = elmbench.compare(
        X, y, "ridge", groups=groups, folds=3, task="classification"
    )
    assert (results.cells.query("model == 'ridge'")["accuracy"] == 1).all()
    assert [*results.best_estimator().predict(X)] == [*y]


@pytest.mark.usefixtures("alone")
def test_integers_that_python_does_not_write_are_named() -> None:
    X = np.arange(120.0).reshape(60, 2)
    y = np.arange(60) % 2
    huge = [10**5000 + row % 3 for row in range(60)]
    large = [10**30 + row % 3 for row in range(60)]
    for name in ("groups", "fold", "time_order", "weights"):
        with pytest.raises(
            ElmbenchError, match=f"{name} holds an integer of more than 4300 digit"
        ):
            elmbench.compare(X, y, "ridge", **{name: huge})
    with pytest.raises(
        ElmbenchError,
        match=pattern("comparison.final-model.integer-too-long", column="y"),
    ):
        elmbench.compare(X, huge, "ridge")
    results = elmbench.compare(X, y, "ridge", fold=large)
    assert results.cells["fold"].nunique() == 3


def odd_frame() -> pd.DataFrame:
    """Return columns that a Parquet file does not hold as they are, with names of two levels."""
    frame = pd.DataFrame(
        {
            ("a", 0): pd.cut(np.arange(60) % 7, 3),
            ("a", 1): pd.arrays.SparseArray(np.arange(60) % 2),
        }
    )
    frame["b", "x"] = pd.period_range("2020-01", periods=60, freq="M")
    frame["b", "y"] = [1, "one", (1, 2)] * 20
    return frame


NUMBERS = np.random.default_rng(0).normal(size=(60, 3))


ROWS = {
    "array": NUMBERS,
    "another byte order": NUMBERS.astype(">f8"),
    "lists": NUMBERS.tolist(),
    "sparse": sp.csc_array(NUMBERS),
    "numbers as names": pd.DataFrame(NUMBERS),
    "other library": pa.table({"a": NUMBERS[:, 0], "b": ["x", "y", "z"] * 20}),
    "odd columns": odd_frame(),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows_of_any_kind_are_compared_and_predicted(case: str) -> None:
    y = np.array([1, "one"], dtype=object)[np.arange(60) % 2]
    results = elmbench.compare(
        ROWS[case], y, "ridge", grids={"ridge": {"C": [1.0]}}, folds=3
    )
    assert set(results.cells["status"]) == {"ok"}
    with config_context(transform_output="pandas"):
        assert set(results.best_estimator("ridge").predict(ROWS[case])) == {"1", "one"}
