"""Models compared from Python: arrays, data frames and estimators; the page on a comparison."""

import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sentences import pattern
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import elmbench
from elmbench.comparison.html_page import importance_of, plan_importance, write_page
from elmbench.comparison.python_results import ComparisonResults
from elmbench.comparison.request import experiment_of
from elmbench.datasets.load import load_from_spec
from elmbench.errors import ElmbenchError
from elmbench.files import machine_name
from elmbench.runs.execute import compute

pytestmark = pytest.mark.usefixtures("alone")
X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[:-1], "X has 149 rows"),
        (X[:, :, np.newaxis], "X has the shape"),
        ("iris.csv", "X is 'iris.csv'"),
        (
            sp.lil_matrix(np.where(X > 7, np.nan, X)),
            "the sparse rows X have missing values",
        ),
        (
            sp.csr_matrix(np.where(X > 7, np.inf, X)),
            "a value in the column 'x0' is infinite",
        ),
        (pd.DataFrame(X, columns=list("abca")), "X has the column 'a' twice"),
    ],
)
def test_rows_that_cannot_be_used(rows: Any, message: str) -> None:
    with pytest.raises(ElmbenchError, match=message):
        elmbench.compare(rows, y, ["ridge"])


@pytest.mark.parametrize("name", ["species", "groups"])
def test_notes_name_the_target_as_the_data_frame_does(name: str) -> None:
    """Even if an argument has the same name."""
    frame = pd.DataFrame(X, columns=list("abcd")).assign(**{name: y})
    frame["tree"] = np.arange(len(y)) // 3
    results = elmbench.compare(
        frame, name, ["ridge"], grids={"ridge": {"C": [1.0]}}, folds=3, groups="tree"
    )
    text = " ".join(results.text.split())
    assert f"3 classes of the column '{name}'" in text
    assert "task='regression' if their order counts" in text
    again = elmbench.compare(
        frame.drop(columns=[name, "tree"]),
        frame[name],
        ["ridge"],
        grids={"ridge": {"C": [1.0]}},
        folds=3,
        groups=frame["tree"],
    )
    assert "3 classes of the column 'y'" in again.text


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ({"test": (X,)}, "held-out rows and their targets"),
        ({"folds": 1}, "greater than or equal to 2"),
        ({"jobs": 0}, "greater than or equal to 1"),
        ({"grids": {"ridge": 3}}, "valid dictionary"),
        ({"task": "clustering"}, "'classification' or 'regression'"),
        ({"plugins": "mine.py"}, "not allowed as a Sequence"),
    ],
)
def test_an_argument_that_is_not_allowed(
    argument: dict[str, Any], expected: str
) -> None:
    with pytest.raises(
        ElmbenchError, match=f"the argument {next(iter(argument))}"
    ) as error:
        elmbench.compare(X, y, ["ridge"], **argument)
    assert expected in str(error.value.expected)
    assert error.value.next_step == "help(elmbench.compare)"


def test_arguments_that_are_missing_or_unknown() -> None:
    with pytest.raises(ElmbenchError, match="the argument y is missing"):
        elmbench.compare("mine.csv")
    with pytest.raises(ElmbenchError, match="unknown argument 'metrics'"):
        elmbench.compare(X, y, metrics=["f1"])


def test_a_results_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ElmbenchError, match="cannot write "):
        elmbench.compare(X, y, ["dummy"], results_dir=tmp_path / "file")


WORDS = pd.DataFrame(X).assign(a=["x", *map(str, X[1:, 0])])


@pytest.mark.parametrize(
    ("rows", "options", "found", "next_step"),
    [
        (
            WORDS,
            {},
            "data: the column 'a' is mostly numbers",
            "correct the data; astype(str).astype('category') if",
        ),
        (
            WORDS.assign(a=["2023-01-01", "n.a.", "2023-02-03"] * 50),
            {"impute": False},
            "missing value",
            "leave impute=False out",
        ),
        (
            WORDS.assign(a=["1/2/2023", "3/4/2023"] * 75),
            {},
            "may be",
            "convert it by pandas.to_datetime",
        ),
        (
            X,
            {"time_order": ["b", "a"] * 75},
            "data: the column 'time_order', which",
            "write its values",
        ),
        (X, {"folds": 60}, "too few for 60 folds", "lower the number of folds"),
        (X, {"test": (X[:, :2], y)}, "test lacks 2 of 4 columns: x2, x3", "add them"),
        (
            X,
            {"fold": [0, 1] * 75, "test": (X, y)},
            "test is given with fold",
            "one by one",
        ),
        (X, {"grids": {"elm": {}}}, "'elm'", "correct grids, or add it to models"),
    ],
)
def test_errors_name_arguments_instead_of_files_and_options(
    rows: Any, options: dict[str, Any], found: str, next_step: str
) -> None:
    with pytest.raises(ElmbenchError) as caught:
        elmbench.compare(rows, y, ["ridge"], **options)
    assert found in caught.value.found
    assert next_step in str(caught.value.next_step)
    assert "--" not in str(caught.value)


def test_notes_name_arguments_instead_of_files_and_options() -> None:
    rows = pd.DataFrame(X, columns=list("abcd")).assign(
        id=range(150), day="12 kg", one=1, e=y, f=X[:, 0]
    )
    labels = np.where(y == 2, "no", "yes")
    results = elmbench.compare(
        rows, labels, pd.Series(["ridge"]), weights=np.ones(150), time_order=range(150)
    )
    text = " ".join(results.text.split())
    assert all(
        words in text
        for words in (
            "'y'",
            "'day' is categorical",
            "constant: leave them out",
            "by time_order",
        )
    )
    assert not any(
        word in text for word in (" --", "'_", "target_", "parquet", "the file")
    )


def test_columns_may_have_the_names_of_arguments() -> None:
    rows = pd.DataFrame(X, columns=["y", "target", "groups", "weights"])
    test = (rows[:20].assign(fold=1), y[:20])
    results = elmbench.compare(
        rows, y, ["ridge"], groups=np.arange(150) // 3, test=test
    )
    ((resolved, _),) = results.run.tables
    data = load_from_spec(resolved.dataset("data"))
    assert data.feature_names == tuple(rows)
    np.testing.assert_array_equal(data.X, np.vstack([X, X[:20]]))
    assert results.best_estimator().predict(rows).shape == (150,)
    # As the rows of a dictionary, and labels of another type among the held-out ones.
    columns = {"target": X[:, 0], "y": X[:, 1]}
    results = elmbench.compare(columns, y, ["ridge"], test=(columns, y.astype(str)))
    assert results.cells["accuracy"].max() > 0.7
    with pytest.raises(ValueError, match="columns are missing: y"):
        results.best_estimator().predict(rows[["target"]])


def test_targets_and_columns_beside_the_rows_that_cannot_be_used() -> None:
    with pytest.raises(ElmbenchError, match="y has 1 missing values"):
        elmbench.compare(X, [None, *y[1:]], ["ridge"])
    huge = [10**30 + int(label) for label in y[1:]]
    with pytest.raises(ElmbenchError, match="y has 1 missing values"):
        elmbench.compare(X, [None, *huge], ["ridge"])
    with pytest.raises(ElmbenchError, match="the target is constant, infinite"):
        elmbench.compare(X, np.where(y == 1, np.inf, 1.0), ["ridge"])
    masked = np.ma.masked_equal(y, 2)
    with pytest.raises(ElmbenchError, match="y has 50 missing values"):
        elmbench.compare(X, masked, ["ridge"])
    with pytest.raises(
        ElmbenchError, match=pattern("comparison.arguments.test-rows-empty-or-sparse")
    ):
        elmbench.compare(X, y, ["ridge"], test=(sp.csr_matrix(X), y))
    with pytest.raises(ElmbenchError, match="weights has 50 missing values"):
        elmbench.compare(X, y, ["ridge"], weights=masked)
    with pytest.raises(ElmbenchError, match="X has 150 rows, and groups has 7 values"):
        elmbench.compare(X, y, ["ridge"], groups=[1] * 7)
    with pytest.raises(ElmbenchError, match="X has 150 rows, and fold has 1 values"):
        elmbench.compare(X, y, ["ridge"], fold=5)


def test_columns_beside_the_rows_are_taken_in_their_order() -> None:
    """As y is, although the index of a series is another."""
    frame, fold = (
        pd.DataFrame(X[::-1], index=range(150)[::-1]),
        pd.Series(np.arange(150) // 50 % 2),
    )
    results = elmbench.compare(frame, y[::-1], ["ridge"], fold=fold)
    ((resolved, _),) = results.run.tables
    np.testing.assert_array_equal(load_from_spec(resolved.dataset("data")).folds, fold)


def test_estimators_and_names_of_models_are_compared_together() -> None:
    pipeline = make_pipeline(StandardScaler(), SVC())
    models = [
        SVC(C=2.0),
        "ridge",
        pipeline,
        ("stump", DecisionTreeClassifier(max_depth=1)),
        SVC(C=0.01),
    ]
    grids = {
        "standardscaler+svc": {"svc__C": np.array([0.1, 1.0])},
        "ridge": {"C": [*np.arange(1, 3)]},
    }
    grids |= {"SVC": {"degree": range(1, 3), "C": np.float64(2)}}
    results = elmbench.compare(X, y, models, grids=grids, folds=3)
    assert set(results.cells["status"]) == {"ok"}
    means = results.cells.groupby("model")["accuracy"].mean()
    assert set(means.index) == {
        "SVC",
        "ridge",
        "standardscaler+svc",
        "stump",
        "SVC-2",
        "dummy",
    }
    assert means["SVC"] > 0.9 > means["stump"]
    chosen = results.cells.loc[results.cells["model"] == "standardscaler+svc", "params"]
    assert all("svc__C" in text for text in chosen)
    # Nothing of it is left for the next call.
    with pytest.raises(ElmbenchError, match="unknown model 'SVC'"):
        elmbench.compare(X, y, ["SVC"])
    with pytest.raises(ElmbenchError, match="parameter of the model SVC: 'gama'"):
        elmbench.compare(X, y, [SVC()], grids={"SVC": {"gama": [1]}})
    for wrong in (SVC, 3, StandardScaler()):
        with pytest.raises(
            ElmbenchError,
            match=pattern("comparison.arguments.neither-name-nor-estimator"),
        ):
            elmbench.compare(X, y, [wrong])


def test_a_pair_of_name_and_estimator_must_be_in_a_list() -> None:
    expected = "Expected: a list of pairs: [('mine', SVC(...))]"
    with pytest.raises(ElmbenchError, match=re.escape(expected)):
        elmbench.compare(X, y, ("mine", SVC()))
    results = elmbench.compare(X, y, ("ridge", SVC()), folds=2)
    assert {*results.cells["model"]} == {"ridge", "SVC", "dummy"}


def test_errors_are_in_the_units_of_the_target() -> None:
    X, y = load_diabetes(return_X_y=True)
    results = elmbench.compare(
        X, y, ["ridge"], metric=["mae", "nrmse"], grids={"ridge": {"C": [1.0]}}, folds=3
    )
    predictions = pd.read_csv(results.folder / "predictions.csv")
    assert set(predictions["true"]) == set(y)
    off = (predictions["predicted"] - predictions["true"]).abs()
    means = off.groupby([predictions["model"], predictions["fold"]]).mean()
    cells = results.cells.set_index(["model", "fold"])
    np.testing.assert_allclose(
        cells["mae"].astype(float), means.loc[cells.index], rtol=1e-9
    )
    # The deviation of the target is 77.
    assert 40 < means["ridge"].mean() < 50
    assert 0.6 < cells.loc["ridge", "nrmse"].astype(float).mean() < 0.8


@pytest.mark.parametrize(("n_rare", "event"), [(20, "b"), (21, "w")])
def test_the_rare_class_is_positive(n_rare: int, event: str) -> None:
    """A class of at most a tenth of the rows is the event that precision and recall are about."""
    y = np.where(np.arange(200) < n_rare, "b", "w")
    X = np.random.default_rng(0).normal(size=(200, 2)) + 2.0 * (y == "b")[:, None]
    results = elmbench.compare(
        X, y, ["ridge"], metric="recall", folds=3, grids={"ridge": {"C": [1.0]}}
    )
    text = " ".join(results.text.split())
    assert f"the positive class is {event}" in text
    assert ("the rare one (positive=... names another)" in text) == (event == "b")
    lines = pd.read_csv(results.folder / "predictions.csv").query("model == 'ridge'")
    rows = lines[lines["true"] == event].assign(
        right=lambda frame: frame["predicted"] == event
    )
    recall = (
        results.cells.query("model == 'ridge'")
        .set_index("fold")["recall"]
        .astype(float)
    )
    np.testing.assert_allclose(recall, rows.groupby("fold")["right"].mean())


def test_a_positive_class_is_named() -> None:
    words = np.where(y == 2, "rare", "usual")
    options: dict[str, Any] = {
        "metric": ["recall", "average_precision"],
        "grids": {"ridge": {"C": [1.0]}},
        "folds": 3,
    }
    for end, positive, label in (
        ("", None, "usual"),
        ("", "rare", "rare"),
        ("ly", None, "usually"),
    ):
        results = elmbench.compare(
            X, np.char.add(words, end), ["ridge"], positive=positive, **options
        )
        assert f"the positive class is {label}" in results.text
        lines = pd.read_csv(results.folder / "predictions.csv").query(
            "model == 'ridge'"
        )
        lines["right"] = lines["predicted"] == label
        recall = (
            results.cells.query("model == 'ridge'")
            .set_index("fold")["recall"]
            .astype(float)
        )
        np.testing.assert_allclose(
            recall, lines[lines["true"] == label].groupby("fold")["right"].mean()
        )
    assert (
        "the positive class is 0"
        in elmbench.compare(X, (y == 1) * 1.0, ["dummy"], positive=0.0, folds=3).text
    )
    with pytest.raises(
        ElmbenchError,
        match=pattern("comparison.arguments.unknown-positive-class", label="frequent"),
    ):
        elmbench.compare(X, words, ["ridge"], positive="frequent")
    with pytest.raises(ElmbenchError, match="of 3 classes"):
        elmbench.compare(X, y, ["ridge"], positive=1)


def test_no_frame_is_written_over_another() -> None:
    one = elmbench.compare(X, y, ["dummy"], folds=3)
    other = elmbench.compare(X[:120], y[:120], ["dummy"], folds=3)
    assert one.folder != other.folder
    assert len(pd.read_csv(one.folder / "cells.csv")) == 3
    assert not Path("elmbench-results").exists()
    runs = [
        elmbench.compare(X[:n], y[:n], ["dummy"], name="../Iris", results_dir="here")
        for n in (150, 120)
    ]
    assert {*runs[0].cells["dataset"]} == {"iris"}
    assert not [*Path("here/.data").glob("*.parquet")]
    folders = [run.folder for run in runs]
    assert len(set(folders)) == 2
    assert all(folder.is_relative_to("here") for folder in folders)


CONSTANT = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Constant(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[{index}], len(X))

MODELS = {{"constant": Constant}}
"""


def request(kind: str) -> dict[str, Any]:
    """Arguments of one of two comparisons that agree in all names."""
    words = np.where(X[:, 0] > 5.8, "large", "small")
    Path(kind).mkdir(exist_ok=True)
    plugin = Path(kind, "mine.py")
    plugin.write_text(CONSTANT.format(index=0 if kind == "one" else -1))
    return {
        "labels": {"y": y if kind == "one" else words},
        "task": {"y": y if kind == "one" else X[:, 0] + X[:, 2]},
        "order of rows": {"X": X[:: 1 if kind == "one" else -1], "y": y[:: 1 if kind == "one" else -1]},
        "folds": {"folds": 3 if kind == "one" else 4},
        "metric": {"metric": "mcc" if kind == "one" else "f1_macro"},
        "weights": {"weights": None if kind == "one" else np.arange(150) % 3 + 1.0},
        "estimator": {
            "models": [("tree", DecisionTreeClassifier(max_depth=1 if kind == "one" else 5))]
        },
        "plug-in": {"y": words, "models": ["constant"], "plugins": [plugin]},
    }  # fmt: skip


@pytest.mark.parametrize(
    "what",
    [
        "labels",
        "task",
        "order of rows",
        "folds",
        "metric",
        "weights",
        "estimator",
        "plug-in",
    ],
)
@pytest.mark.parametrize("moment", ["plan", "work"])
def test_a_comparison_in_one_thread_knows_nothing_of_one_in_another(
    what: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one begins and ends while the first one is planned, or at work."""

    def compared(kind: str, **options: Any) -> ComparisonResults:
        arguments: dict[str, Any] = {"X": X, "y": y, "models": ["ridge"], "folds": 3}
        return elmbench.compare(**arguments | request(kind)[what] | options)

    alone = [compared(kind, results_dir=f"alone {kind}") for kind in ("one", "two")]
    assert not alone[0].cells.equals(alone[1].cells)
    others: list[ComparisonResults] = []

    def run_second(at: str) -> None:
        if at == moment and not others:
            with ThreadPoolExecutor(1) as pool:
                second = pool.submit(compared, "two", results_dir="together")
                others.append(second.result())

    def plan(*arguments: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            run_second("plan")
        return experiment_of(*arguments)

    monkeypatch.setattr("elmbench.comparison.request.experiment_of", plan)
    first = compared(
        "one", results_dir="together", on_event=lambda event: run_second("work")
    )
    together = [first, *others]
    for before, after in zip(alone, together, strict=True):
        times = ["fit_seconds", "search_seconds", "predict_seconds"]
        pd.testing.assert_frame_equal(
            before.cells.drop(columns=times), after.cells.drop(columns=times)
        )
        assert before.folder.name == after.folder.name
        pd.testing.assert_frame_equal(
            pd.DataFrame(before.best_estimator().predict(X)),
            pd.DataFrame(after.best_estimator().predict(X)),
        )
    # The files are those of the last one that wrote them.
    lines = pd.read_csv(together[0].folder / "predictions.csv")
    expected = pd.read_csv(alone[0].folder / "predictions.csv")
    pd.testing.assert_frame_equal(lines, expected)


def test_no_model_is_kept_that_has_changed_since_the_comparison() -> None:
    options = request("one")["plug-in"]
    results = elmbench.compare(X, folds=3, **options)
    request("two")
    options["plugins"][0].write_text(CONSTANT.format(index=-1))
    with pytest.raises(
        ElmbenchError,
        match=pattern("comparison.results.model-has-changed", model="constant"),
    ):
        results.best_estimator("constant")


def test_held_out_rows_and_a_budget() -> None:
    order = np.random.default_rng(0).permutation(150)
    learnt, held_out = order[:100], order[100:]
    test, grids = (X[held_out], y[held_out]), {"ridge": {"C": [1.0]}}
    result = elmbench.compare(
        X[learnt], y[learnt], ["ridge"], grids=grids, test=test, weights=np.ones(100)
    )
    assert result.cells.set_index("model")["n_test"].to_dict() == {
        "ridge": 50,
        "dummy": 50,
    }
    model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=1)).fit(
        X[learnt], y[learnt]
    )
    assert result.cells.set_index("model")["accuracy"]["ridge"] == model.score(*test)
    with pytest.raises(ElmbenchError, match='budget="1min"'):
        elmbench.compare(X, y, ["ridge"], budget="0s")
    whole = elmbench.compare(X, y, ["ridge"], budget="1h", folds=3)
    assert set(whole.cells["model"]) == {"ridge", "dummy"}


# --- The page of a comparison: its file, its pictures, and the permutation importance
# ---------------------------------


def shop() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "noise": random.normal(size=120),
            "colour": random.choice(["red", "green", "<b>"], 120),
        }
    )
    frame["age"] = random.normal(40, 10, 120)
    frame.loc[::7, "age"] = np.nan
    return frame


def page_of(results: ComparisonResults) -> tuple[pd.DataFrame, str]:
    # As after a budget.
    run = replace(results.run, options=replace(results.run.options, until=0.0))
    importance = plan_importance(run, results)
    compute(importance, lambda event: None, None)
    write_page(results.run, importance, results, Path("report.html"))
    assert not plan_importance(results.run, results).todo
    return importance_of(importance), Path("report.html").read_text("utf-8")


def test_a_page_needs_no_other_file_and_shows_the_columns_that_count() -> None:
    frame = shop()
    y = np.where((frame["colour"] == "<b>") | (frame["age"] > 50), "<i>yes", "no")
    options: Any = {"folds": 3, "metric": "mcc", "positive": "<i>yes"}
    results = elmbench.compare(frame, y, ["ridge", "random-forest"], **options)
    losses, page = page_of(results)
    assert list(losses["column"])[:2] == ["colour", "age"]
    assert losses["importance"].iloc[0] > 0.3
    assert abs(losses.set_index("column")["importance"]["noise"]) < 0.15
    assert set(losses["metric"]) == {"mcc"}
    pd.testing.assert_frame_equal(
        pd.read_csv(results.folder / "importance.csv"), losses, check_dtype=False
    )
    # Scores, confusion matrix, ROC, precision-recall, importance.
    assert page.count('src="data:image/png;base64,') == 5
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert "http" not in page
    assert "<i>yes" not in page
    for text in (
        "ROC curves for the class &#39;&lt;i&gt;yes&#39;",
        "imputed from the training rows (impute=False rejects them): age",
        "encoded on each",
        "mcc",
    ):
        assert text in page
    assert "elmbench.compare(X, y" in page


def test_a_calibrated_model_and_a_regression_have_importance_too() -> None:
    frame = shop().drop(columns="age")
    losses, _ = page_of(
        elmbench.compare(
            frame, frame["colour"] == "red", ["ridge"], folds=3, metric="log_loss"
        )
    )
    assert losses["column"].iloc[0] == "colour"
    assert losses["importance"].iloc[0] > 0.3
    y = (frame["colour"] == "red") * 3.0 + 0.1 * frame["noise"]
    losses, page = page_of(elmbench.compare(frame, y, ["ridge"], folds=3))
    assert losses["column"].iloc[0] == "colour"
    assert "true and predicted values of test rows" in page
    assert page.count('src="data:image/png;base64,') == 3


def test_unfinished_files_of_killed_programs_are_deleted(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    name = f".data.parquet.{machine_name()}-{ended.pid}.0123abcd.part"
    path = tmp_path / ".data" / "of-other-rows" / name
    path.parent.mkdir(parents=True)
    path.write_text("half")
    with pytest.raises(
        ElmbenchError, match=pattern("comparison.arguments.neither-name-nor-estimator")
    ):
        elmbench.compare(np.eye(3), [0, 1, 0], models=[3], results_dir=tmp_path)
    assert not path.exists()
