"""Comparisons in worker processes, and a model that is fitted to all rows, saved, and used on new
ones.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import dump_svmlight_file, load_iris
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import elmbench
from elmbench.cli import main
from elmbench.comparison import request
from elmbench.comparison.final_model import fit_pipeline, predict_file
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
from elmbench.registry.plugins import loaded_plugins
from elmbench.results.cells import stored_predictions_of
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.protocol import Split


def shop(rows: int) -> pd.DataFrame:
    random = np.random.default_rng(rows)
    frame = pd.DataFrame(
        {
            "age": random.normal(40, 10, rows),
            "colour": random.choice(["red", "green", "blue"], rows),
        }
    )
    frame["buys"] = np.where(
        (frame["age"] > 40) ^ (frame["colour"] == "red"), "yes", "no"
    )
    frame["spends"] = (
        frame["age"] * 2 + 30 * (frame["colour"] == "blue") + random.normal(size=rows)
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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
    with pytest.raises(ElmbenchError, match="'svm' is not a model of this comparison"):
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


def predicted() -> list[Any]:
    """Return the predictions of best.joblib for new.csv."""
    predictions, _ = predict_file(Path("best.joblib"), Path("new.csv"))
    return predictions["prediction"].tolist()


def in_a_fresh_process(*words: str, err: str = "") -> pd.DataFrame:
    command = [sys.executable, "-m", "elmbench", "predict", *words]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert err in process.stderr
    return pd.read_csv(StringIO(process.stdout))


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
    assert remarks == ["best.joblib has no probabilities, as it is a regression"]


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
    fits = [results.run.works[cell.key] for cell in plan.cells if cell.model == model]
    for work in fits:
        data = load_rows(work.outer_fold.dataset, None)
        train, test = fold_rows(work.outer_fold, None)
        targets = data.y[train] if target == "spends" else data.labels_of(train)
        params = store.result(work.chosen)["params"]
        inner = Split("kfold", 3)
        pipeline = fit_pipeline(work, train, params, targets=targets, inner=inner)
        stored = stored_predictions_of(store.result(work.key))
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
        ElmbenchError, match="y holds an integer of more than 4300 digits"
    ):
        elmbench.compare(X, huge, "ridge")
    results = elmbench.compare(X, y, "ridge", fold=large)
    assert results.cells["fold"].nunique() == 3


def test_numbers_in_words_are_predicted_as_they_are_written() -> None:
    frame = shop(60)
    frame["price"] = [f"{value:,.2f}" for value in np.exp(7 + frame["spends"] / 100)]
    X = frame[["price", "colour"]]
    best = elmbench.compare(X, frame["spends"], ["ridge"], folds=3).best_estimator()
    plain = X.assign(price=X["price"].str.replace(",", "").astype(float))
    np.testing.assert_array_equal(best.predict(X), best.predict(plain))
    price = X["price"].where(X.index > 0)
    np.testing.assert_array_equal(
        best.predict(X.assign(price=price))[1:], best.predict(X)[1:]
    )
    with pytest.raises(
        ValueError, match="the column 'price' holds 'cheap'; expected a number"
    ):
        best.predict(X.assign(price="cheap"))
    save(best, Path("best.joblib"))
    plain[["price", "colour"]].to_csv("new.csv", index=False)
    np.testing.assert_allclose(predicted(), best.predict(X))
    # A column that was not a feature may hold anything.
    X.assign(remark=["1,5"] * 57 + ["x"] * 3).to_csv("new.csv", index=False)
    np.testing.assert_allclose(predicted(), best.predict(X))
    X.assign(remark=[[1]] * 60).to_parquet("new.parquet")
    np.testing.assert_allclose(
        predict_file(Path("best.joblib"), Path("new.parquet"))[0]["prediction"],
        best.predict(X),
    )


def saved_from_a_file(rows: pd.DataFrame, *words: str) -> None:
    """Write best.joblib, a ridge regression of the last column of semicolon-separated rows."""
    rows.to_csv("train.csv", index=False, sep=";")
    command = [sys.executable, "-m", "elmbench", "compare", "train.csv", "-m", "ridge"]
    command += [
        "--grid",
        "ridge: {C: [1]}",
        "--folds",
        "2",
        "--save",
        "best.joblib",
        *words,
    ]
    subprocess.run(command, capture_output=True, check=True)


def test_numbers_that_both_decimal_marks_can_read_are_warned_of() -> None:
    random = np.random.default_rng(0)
    train = pd.DataFrame(
        {"size": random.integers(900, 3000, 60), "x": random.normal(size=60)}
    )
    train = train.round(3).assign(price=train["size"] * 500)
    saved_from_a_file(train)
    for text, mark in (("size;x\n2.033;1,000\n", ","), ("size;x\n2,033;1\n", ",")):
        Path("new.csv").write_text(text)
        _, (remark,) = predict_file(Path("best.joblib"), Path("new.csv"))
        assert (
            "with the decimal mark . of the training rows: --decimal , if it is"
            in remark
        )
        assert not predict_file(Path("best.joblib"), Path("new.csv"), decimal=mark)[1]
    for text in ("size;x\n2.033;1.5\n", "size,x\n2.033,1\n", "size;x\n2033;1\n"):
        Path("new.csv").write_text(text)
        assert not predict_file(Path("best.joblib"), Path("new.csv"))[1]


def test_cells_of_text_in_a_workbook_have_the_decimal_mark_of_the_training_rows() -> (
    None
):
    random = np.random.default_rng(0)
    train = pd.DataFrame(
        {"size": random.integers(500, 3000, 60), "x": random.normal(size=60)}
    )
    train = train.round(2).assign(price=train["size"] * 500)
    marks = str.maketrans(",.", ".,")
    saved_from_a_file(train.map("{:,}".format).map(lambda word: word.translate(marks)))
    rows = [["size", "x"], ["2.033", 1], [1500, 0.125], ["1.500", 0.125]]
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    workbook.save("new.xlsx")
    Path("plain.csv").write_text("size;x\n2033;1\n1500;0,125\n1500;0,125\n")
    expected = predict_file(Path("best.joblib"), Path("plain.csv"))[0]
    found = predict_file(Path("best.joblib"), Path("new.xlsx"))[0]
    np.testing.assert_allclose(found["prediction"], expected["prediction"])


@pytest.mark.parametrize(("decimal", "thousands"), [",.", ".,"])
def test_new_rows_have_the_decimal_mark_of_the_training_rows(
    decimal: str, thousands: str
) -> None:
    random = np.random.default_rng(0)
    rents, sizes = random.integers(100, 9000, 60), random.normal(80, 10, 60).round(2)
    marks = str.maketrans({",": thousands, ".": decimal})
    train = pd.DataFrame({"rent": rents, "size": sizes, "price": rents * 2 + sizes})
    words = train.map("{:,}".format).map(lambda word: word.translate(marks))
    saved_from_a_file(words)
    plain = pd.DataFrame({"rent": [2033, 4500], "size": [80, 1050]})
    new = plain.map("{:,}".format).map(lambda word: word.translate(marks))
    new.to_csv("new.csv", index=False, sep=";")
    model = joblib.load("best.joblib")
    np.testing.assert_array_equal(predicted(), model.predict(plain))
    np.testing.assert_array_equal(model.predict(new), model.predict(plain))
    plain.assign(size=[f"80{thousands}5", "79"]).to_csv("new.csv", index=False, sep=";")
    with pytest.raises(ElmbenchError, match=r"row 1 holds '80.5'") as caught:
        predicted()
    assert str(caught.value.next_step).startswith(
        f"correct the data; --decimal {thousands}"
    )


def test_an_archive_of_new_rows_needs_no_target() -> None:
    X, y = load_iris(return_X_y=True)
    for rows in (X, sp.csr_matrix(X)):
        best = elmbench.compare(rows, y, ["ridge"], folds=2).best_estimator()
        save(best, Path("best.joblib"))
        if sp.issparse(rows):
            parts = {
                name: getattr(rows, name)
                for name in ("data", "indices", "indptr", "shape")
            }
            np.savez("new.npz", **parts)
        else:
            np.savez("new.npz", X=rows)
        predictions, _ = predict_file(Path("best.joblib"), Path("new.npz"))
        np.testing.assert_array_equal(predictions["prediction"], best.predict(X))


def test_a_missing_code_of_new_rows_is_imputed_as_in_training() -> None:
    zips = ["01234", "10115", "00501"]
    train = pd.DataFrame(
        {"zip": zips * 20, "a": np.arange(60) % 7, "price": [1.5, 2.5, 9.5] * 20}
    )
    train.loc[::5, "zip"] = "unknown"
    saved_from_a_file(train)
    new = pd.DataFrame({"zip": ["unknown", "-", ""], "a": 3})
    new.to_csv("new.csv", index=False)
    values = predicted()
    assert len({*values}) == 1
    assert values == joblib.load("best.joblib").predict(new.assign(zip=np.nan)).tolist()


@pytest.mark.parametrize("labels", [("2", "10"), (True, False)])
def test_booleans_and_categories_of_a_frame_are_predicted_as_they_are(
    labels: tuple[Any, Any],
) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"member": random.integers(0, 2, 200) == 1, "plan": random.integers(0, 3, 200)}
    )
    frame["plan"] = frame["plan"].astype("category")
    frame["seen"] = pd.array([None, True, False, True] * 50, dtype="boolean")
    y = np.where(frame["member"] ^ (frame["plan"] == 1), *labels)
    grids = {"svm": {"C": [100.0], "gamma": [1.0]}}
    results = elmbench.compare(
        frame, y, ["svm"], grids=grids, folds=3, positive=labels[0]
    )
    assert "words, encoded on each training part: member, plan, seen" in " ".join(
        results.text.split()
    )
    best = results.best_estimator()
    assert (best.predict(frame) == y).all()
    save(best, Path("best.joblib"))
    frame.to_csv("new.csv", index=False)
    assert predicted() == y.tolist()


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


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("width", [40, 250_000])
def test_sparse_rows_are_predicted_with_probabilities(width: int) -> None:
    """As a pipeline of dense rows if they are narrow, else of sparse ones."""
    noise = sp.random(
        90, width - 3, density=0.3 if width == 40 else 1e-4, random_state=0
    )
    X = sp.hstack([5 * np.eye(3)[np.arange(90) % 3], noise], format="csr")
    y = np.array(["a", "b", "c"])[np.arange(90) % 3]
    grids = {"logistic-regression": {"C": [1000.0]}}
    results = elmbench.compare(X, y, ["logistic-regression"], grids=grids, folds=3)
    best = results.best_estimator()
    assert ("inputs" in best.named_steps) == (width == 40)
    save(best, Path("best.joblib"))
    dump_svmlight_file(X[:20, :30], np.zeros(20), "new.svm", zero_based=False)
    new = X[:20, :30]
    new.resize(20, width)
    new = (
        new
        if width > 40
        else pd.DataFrame(new.toarray(), columns=best.feature_names_in_)
    )
    lines = in_a_fresh_process("best.joblib", "new.svm", "--proba")
    assert lines["prediction"].tolist() == best.predict(new).tolist()
    np.testing.assert_allclose(
        lines[[f"probability_{label}" for label in "abc"]],
        best.predict_proba(new),
        rtol=1e-9,
    )
    assert (lines["prediction"] == y[:20]).mean() > 0.8


LOAD = """
import sys, joblib
print(*joblib.load(sys.argv[1]).predict([[0.0], [1.0]]))
"""


def test_a_saved_model_holds_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It predicts as when it was saved, without the user's files and after an edit of them."""
    helper = tmp_path / "src" / "own_rule.py"
    helper.parent.mkdir()
    helper.write_text("def rule(X):\n    return X[:, 0] > 0.5\n")
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "import numpy as np\nimport own_rule\nfrom own_rule import rule\n"
        "from sklearn.base import BaseEstimator, ClassifierMixin\n"
        "class Mine(ClassifierMixin, BaseEstimator):\n"
        "    def fit(self, X, y):\n        self.n_ = len(X)\n        return self\n"
        "    def predict(self, X):\n"
        "        X = np.asarray(X)\n        assert (own_rule.rule(X) == rule(X)).all()\n"
        "        return rule(X)\n"
        "MODELS = {'mine': Mine}\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(helper.parent)])
    with loaded_plugins([plugin]):
        model = elmbench.make_model("mine").fit([[0.0]], [0])
        save(Pipeline([("model", model)]), Path("mine.joblib"))
    assert (joblib.load("mine.joblib").predict([[0.0], [1.0]]) == [False, True]).all()
    helper.unlink()
    plugin.write_text("# edited")
    command = [sys.executable, "-c", LOAD, "mine.joblib"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


def test_a_model_whose_code_cannot_be_pickled_is_saved_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "own_lock.py"
    module.write_text(
        "import threading\nfrom sklearn.linear_model import Ridge\nlock = threading.Lock()\n"
        "class Locked(Ridge):\n    def predict(self, X):\n"
        "        with lock:\n            return super().predict(X)\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    save(
        elmbench.make_model("own_lock:Locked", task="regression"), Path("locked.joblib")
    )
    assert type(joblib.load("locked.joblib")).__name__ == "Locked"


def test_labels_beyond_64_bits_are_predicted_as_they_are_written() -> None:
    frame = shop(60)
    frame["buys"] = frame["buys"].map({"yes": "10000000000000000000", "no": "7"})
    frame[["age", "colour", "buys"]].to_csv("shop.csv", index=False)
    with pytest.raises(SystemExit) as ending:
        main(
            [
                "compare",
                "shop.csv",
                "-t",
                "buys",
                "-m",
                "ridge",
                "--save",
                "best.joblib",
            ]
        )
    assert ending.value.code == 0
    lines = predict_file(Path("best.joblib"), Path("shop.csv"))[0]
    assert {*map(str, lines["prediction"])} == {"7", "10000000000000000000"}


def test_what_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    text, other = tmp_path / "text.joblib", tmp_path / "other.joblib"
    text.write_bytes(b"hello")
    joblib.dump({"a": 1}, other)
    for path, reason in ((text, r"\n"), (other, " with these versions")):
        with pytest.raises(
            ElmbenchError,
            match=f"is not a model that `elmbench compare --save` has written{reason}",
        ):
            predict_file(path, tmp_path / "new.csv")


def test_estimators_reach_the_workers(tmp_path: Path) -> None:
    class First(ClassifierMixin, BaseEstimator):
        """Predicts the first class."""

        def fit(self, X: Any, y: Any) -> First:
            self.classes_ = np.unique(y)
            return self

        def predict(self, X: Any) -> Any:
            return np.full(len(X), self.classes_[0])

    X, y = load_iris(return_X_y=True)
    results = elmbench.compare(
        X,
        y,
        [SVC(), First()],
        folds=3,
        grids={"SVC": {"C": [1, 10]}},
        results_dir=tmp_path,
    )
    assert set(results.cells["status"]) == {"ok"}
    means = results.cells.groupby("model")["accuracy"].mean()
    assert means["SVC"] > 0.9
    assert means["First"] == pytest.approx(1 / 3, abs=0.03)


SCRIPT = """
import elmbench
X, y = [[i % 7, i] for i in range(30)], [i % 2 for i in range(30)]
cells = elmbench.compare(X, y, ["ridge"], folds=2, jobs=2, results_dir="results").cells
assert set(cells["status"]) == {"ok"}
elmbench.run("eem/table1", profile="ci", results_dir="results")
"""


POOL = """
import multiprocessing, sys
import elmbench
from elmbench.execution.processes import guarded_mark

def accuracy(folds):
    X, y = [[i % 7, i] for i in range(30)], [i % 2 for i in range(30)]
    cells = elmbench.compare(X, y, ["ridge"], folds=folds, results_dir=f"results{folds}").cells
    return cells["status"].unique().tolist(), guarded_mark()

if __name__ == "__main__":
    guarded_mark()
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        answers = pool.map(accuracy, [2, 3], chunksize=1)
    assert [statuses for statuses, _ in answers] == [["ok"]] * 2
    assert guarded_mark() not in [mark for _, mark in answers]
"""


@pytest.mark.parametrize(
    "method", sorted({*multiprocessing.get_all_start_methods()} - {"forkserver"})
)
def test_a_process_of_a_pool_compares_models(tmp_path: Path, method: str) -> None:
    """It is a daemon, which may start no processes by itself. Its workers end with it."""
    (tmp_path / "script.py").write_text(POOL)
    command = [sys.executable, "script.py", method]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_a_script_need_not_guard_its_calls_and_leaves_nothing_open(
    tmp_path: Path,
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [
        sys.executable,
        "-X",
        "dev",
        "-W",
        "always::ResourceWarning",
        "script.py",
    ]
    assert (
        subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stderr
        == ""
    )
