"""Saved models, and their predictions for files of new rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import openpyxl
import pandas as pd
import pytest
import scipy.sparse as sp
from made_shop import in_a_fresh_process, predicted, shop
from sentences import pattern, sentence
from sklearn.datasets import dump_svmlight_file, load_iris
from sklearn.pipeline import Pipeline

import elmbench
from elmbench.cli import main
from elmbench.comparison.predict_file import predict_file
from elmbench.comparison.saved_models import save
from elmbench.errors import ElmbenchError
from elmbench.registry.plugins import loaded_plugins

pytestmark = pytest.mark.usefixtures("empty_folder")


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
        ValueError,
        match=pattern(
            "comparison.predict.text-in-column-of-numbers", column="price", text="cheap"
        ),
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


def test_new_numbers_may_have_the_sign_of_the_training_rows() -> None:
    frame = shop(60)
    prices = np.exp(7 + frame["spends"] / 100).round(2)
    X = frame[["colour"]].assign(price=[f"${value:,}" for value in prices])
    y = [f"{value:.2f} %" for value in frame["spends"]]
    best = elmbench.compare(X, y, ["ridge"], folds=3).best_estimator()
    plain = X.assign(price=prices)
    expected = best.predict(plain)
    np.testing.assert_allclose(expected, frame["spends"], atol=30)
    np.testing.assert_array_equal(best.predict(X), expected)
    some = X["price"].where(X.index > 9, prices.map(str))
    np.testing.assert_array_equal(best.predict(X.assign(price=some)), expected)
    for name in ("best.joblib", "best.skops"):
        save(best, Path(name))
    for prices_of_file in (X["price"], prices, some):
        X.assign(price=prices_of_file).to_csv("new.csv", index=False)
        assert predicted() == expected.tolist()
        safe, _ = predict_file(Path("best.skops"), Path("new.csv"))
        assert safe["prediction"].tolist() == expected.tolist()
    X.assign(price=X["price"].str.replace("$", "€")).to_csv("new.csv", index=False)
    with pytest.raises(ElmbenchError, match="holds '€"):
        predicted()


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
        assert sentence("comparison.predict.decimal-mark-of-training-rows") in remark
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


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_columns_of_the_file_are_kept_beside_the_predictions(ending: str) -> None:
    frame = shop(60)
    X = frame[["age", "colour"]]
    best = elmbench.compare(X, frame["buys"], ["ridge"], folds=3).best_estimator()
    save(best, Path("best.joblib"))
    ids = [f"{number:03}" for number in range(59, -1, -1)]
    new = X.assign(id=ids, paid=["1,50 $", None] * 30)
    new["age"] = 40.5
    file = Path(f"new.{ending}")
    write = {"csv": new.to_csv, "xlsx": new.to_excel, "parquet": new.to_parquet}
    write[ending](file, index=False)
    keep = ["id", "paid", "age"]
    rows, _ = predict_file(Path("best.joblib"), file, proba=True, keep=keep)
    names = ["prediction", "probability_no", "probability_yes"]
    assert list(rows) == [*keep, *names]
    assert rows["id"].tolist() == ids
    assert rows["paid"].tolist() == ["1,50 $", None] * 30
    assert rows["age"].tolist() == ["40.5"] * 60
    assert rows["prediction"].tolist() == best.predict(new).tolist()
    alone, _ = predict_file(Path("best.joblib"), file, proba=True)
    pd.testing.assert_frame_equal(alone, rows[names])


def test_kept_columns_exist_and_have_names_of_their_own() -> None:
    frame = shop(60)
    X = frame[["age"]].fillna(0)
    save(
        elmbench.compare(X, frame["spends"], ["ridge"], folds=3).best_estimator(),
        Path("best.joblib"),
    )
    X.assign(id=range(60), prediction=1).to_csv("new.csv", index=False)
    rows = in_a_fresh_process("best.joblib", "new.csv", "--keep", "id")
    assert list(rows) == ["id", "prediction"]
    assert rows["id"].tolist() == [*range(60)]
    for name, problem in (
        ("ID", "no column 'ID' .did you mean 'id'"),
        ("prediction", "the column 'prediction' to keep"),
    ):
        with pytest.raises(ElmbenchError, match=problem):
            predict_file(Path("best.joblib"), Path("new.csv"), keep=["id", name])


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
    assert sentence(
        "comparison.predict.encoded-columns", columns="member, plan, seen"
    ) in " ".join(results.text.split())
    best = results.best_estimator()
    assert (best.predict(frame) == y).all()
    save(best, Path("best.joblib"))
    frame.to_csv("new.csv", index=False)
    assert predicted() == y.tolist()


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


def test_a_file_that_is_not_a_saved_model_is_an_error(tmp_path: Path) -> None:
    text, other = tmp_path / "text.joblib", tmp_path / "other.joblib"
    text.write_bytes(b"hello")
    joblib.dump({"a": 1}, other)
    for path, reason in ((text, "\n"), (other, " with these versions")):
        with pytest.raises(
            ElmbenchError,
            match=pattern("comparison.predict.file-is-no-saved-model", reason=reason),
        ):
            predict_file(path, tmp_path / "new.csv")
