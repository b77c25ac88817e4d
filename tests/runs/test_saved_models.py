"""Files of saved models: the same predictions after loading, and no code from a .skops file."""

import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.utils
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Lasso
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import elmbench
from elmbench.comparison import saved_models
from elmbench.comparison.predict_file import predict_file
from elmbench.comparison.saved_models import load, save
from elmbench.datasets import unpacking
from elmbench.errors import ElmbenchError
from elmbench.numerics.pairwise import Kernel
from elmbench.registry import registry
from elmbench.registry.plugins import load_plugin

io = pytest.importorskip("skops.io")
X = np.random.default_rng(0).normal(size=(60, 4))
VALUES = X[:, 0] + X[:, 1] ** 2
TARGETS: dict[str, Any] = {
    "classification": np.where(VALUES > 1, "a", "b"),
    "regression": VALUES,
}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fitted(name: str, task: str) -> Any:
    """Return a model with its defaults, fitted; the test is skipped if the model has another
    task.
    """
    try:
        model = elmbench.make_model(name, task=task)
    except ElmbenchError:
        pytest.skip(f"{name} is not for {task}")
    if not hasattr(model, "predict"):
        pytest.skip(f"{name} is no estimator")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, TARGETS[task])


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("name", registry())
def test_every_model_is_the_same_after_loading_without_code(
    name: str, task: str
) -> None:
    model = fitted(name, task)
    save(model, Path("model.skops"))
    loaded = load(Path("model.skops"))
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def rows(n: int) -> pd.DataFrame:
    random = np.random.default_rng(n)
    frame = pd.DataFrame({"age": random.normal(40, 10, n)})
    frame["colour"] = random.choice(["red", "green", "blue"], n)
    frame["day"] = pd.date_range("2020-01-01", periods=n)
    return frame


@pytest.mark.parametrize("ending", [".skops", ".joblib"])
@pytest.mark.parametrize(
    ("model", "metric"),
    [("knn", ()), ("hist-gradient-boosting", ()), ("k-elm", "log_loss")],
)
def test_the_pipeline_of_a_comparison_predicts_new_rows(
    model: str, metric: Any, ending: str
) -> None:
    """Also calibrated, with dates, words and missing values."""
    frame, new = rows(80), rows(30)
    y = np.where((frame["age"] > 40) ^ (frame["colour"] == "red"), "yes", "no")
    frame.loc[::7, "age"] = np.nan
    results = elmbench.compare(frame, y, [model], folds=2, metric=metric)
    best, path = results.best_estimator(model), Path(f"best{ending}")
    save(best, path)
    new.to_csv("new.csv", index=False)
    predictions, _ = predict_file(path, Path("new.csv"), proba=True)
    assert predictions["prediction"].tolist() == best.predict(new).tolist()
    np.testing.assert_allclose(
        predictions["probability_yes"], best.predict_proba(new)[:, 1]
    )


def test_the_command_notes_that_a_skops_file_runs_no_code() -> None:
    words = "compare sklearn:diabetes -m ridge --folds 2 --save best.skops"
    process = subprocess.run(
        [sys.executable, "-m", "elmbench", *words.split()],
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert "Loading a skops file runs no code" in process.stdout
    assert "joblib" not in process.stdout
    assert type(load(Path("best.skops"))).__name__ == "TransformedTargetRegressor"


def forged(function: Any, **arguments: Any) -> Pipeline:
    """Return a pipeline as a stranger may write it, whose predictions call a function."""
    step = FunctionTransformer(function, kw_args=arguments)
    return Pipeline([("values", step), ("model", DummyClassifier())])


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (os.system, "posix.system"),
        (os.remove, "posix.remove"),
        # Functions of the trusted packages may read files, or run what they are given.
        (load_plugin, "elmbench.registry.plugins.load_plugin"),
        (np.savetxt, "numpy.savetxt"),
        (sklearn.utils.shuffle, "sklearn.utils._indexing.shuffle"),
    ],
)
def test_functions_of_a_file_are_not_called(function: Any, name: str) -> None:
    if sys.platform == "win32":
        name = name.replace("posix.", "nt.")
    io.dump(forged(function), "forged.skops")
    Path("rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ElmbenchError, match="has types that are not trusted") as error:
        predict_file(Path("forged.skops"), Path("rows.csv"))
    assert name in error.value.found


def test_names_that_are_no_classes_of_the_models_are_not_trusted() -> None:
    assert saved_models._is_trusted(f"{Kernel.__module__}.Kernel")
    module = "elmbench.models"
    for name in ("elm.np", "elm.Any", "elm.missing", "missing.Class", "ELMClassifier"):
        assert not saved_models._is_trusted(f"{module}.{name}")
    # A class that a module of the models has imported from elsewhere.
    assert not saved_models._is_trusted("elmbench.models.elm.BaseEstimator")


class Marking:
    """An object that makes a file when it is loaded with joblib."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("made",)


@pytest.mark.parametrize("name", ["model.skops", "model.SKOPS"])
def test_a_joblib_file_with_the_extension_skops_is_not_loaded(name: str) -> None:
    joblib.dump(Marking(), name)
    Path("rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ElmbenchError, match="is not a model that"):
        predict_file(Path(name), Path("rows.csv"))
    assert not Path("made").exists()


def test_what_a_file_may_unpack_to_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile("model.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", " " * 100_000)
    monkeypatch.setattr(unpacking, "MOST_BYTES", 10_000)
    monkeypatch.setattr(unpacking, "MOST_RATIO", 1)
    with pytest.raises(ElmbenchError, match="unpacks to more than 10,000"):
        load(Path("model.skops"))


class Foreign(ClassifierMixin, BaseEstimator):
    """A model of neither package."""

    def fit(self, X: Any, y: Any) -> "Foreign":
        self.classes_ = np.unique(y)
        return self


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (Foreign().fit(X, TARGETS["classification"]), f"{__name__}.Foreign"),
        (SelectKBest(lambda X, y: X[0], k="all").fit(X), "lambda"),
    ],
)
def test_a_model_that_a_safe_file_cannot_hold(model: Any, reason: str) -> None:
    """The earlier file stays."""
    save(Lasso().fit(X, VALUES), Path("best.skops"))
    with pytest.raises(
        ElmbenchError, match=r"best\.skops.* cannot hold this model"
    ) as error:
        save(model, Path("best.skops"))
    assert reason in error.value.found
    assert error.value.next_step.startswith("--save best.joblib: results are stored")
    assert [path.name for path in Path.cwd().iterdir()] == ["best.skops"]
    assert type(load(Path("best.skops"))) is Lasso


def test_without_skops_it_is_an_error_before_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(saved_models, "find_spec", lambda name: None)
    saved_models.check_format(Path("best.joblib"))
    with pytest.raises(
        ElmbenchError, match=r"best\.skops: skops.* is not installed"
    ) as error:
        saved_models.check_format(Path("best.skops"))
    assert "pip install 'elmbench[skops]'" in error.value.next_step
