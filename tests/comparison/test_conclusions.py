"""A comparison that answers the user's question: metrics and advice, missing values, the
conclusion, and the probabilities of the saved model, against scikit-learn by hand.
"""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scikit_learn_metrics import classification_metrics, regression_metrics
from scipy import stats
from sentences import sentence
from sklearn.base import clone, is_classifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import elmbench
from elmbench.cli import main
from elmbench.comparison.class_advice import with_class_advice
from elmbench.comparison.predict_file import predict_file
from elmbench.comparison.saved_models import save
from elmbench.datasets.description import describe
from elmbench.datasets.user_data import UserData

pytestmark = pytest.mark.usefixtures("alone")
N = 240


def gaps(share_of_positives: float = 0.5) -> pd.DataFrame:
    """Return rows with missing values; the target depends on two columns."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.standard_normal((N, 4)), columns=list("abcd"))
    score = frame["a"] + frame["b"] + rng.standard_normal(N) / 2
    frame["y"] = np.where(score > score.quantile(1 - share_of_positives), "yes", "no")
    frame["value"] = 100 + 20 * score
    return frame.mask(rng.random(frame.shape) < 0.08).assign(
        y=frame["y"], value=frame["value"]
    )


def compared(frame: pd.DataFrame, target: str, models: Any, **options: Any) -> Any:
    return elmbench.compare(
        frame[list("abcd")], frame[target], models, folds=3, **options
    )


def by_hand(results: Any, frame: pd.DataFrame, target: str, model: Any) -> list[Any]:
    """Return the test rows of each fold of a comparison, with the model that scikit-learn fits to
    the other rows.
    """
    lines = pd.read_csv(results.folder / "predictions.csv")
    lines = lines[lines["model"] != "dummy"]
    folds = []
    for _, group in lines.groupby("fold"):
        test = group["row"].to_numpy()
        train = np.setdiff1d(np.arange(N), test)
        pipeline = make_pipeline(
            SimpleImputer(strategy="median"), StandardScaler(), clone(model)
        )
        X = frame[list("abcd")]
        folds.append((pipeline.fit(X.iloc[train], frame[target].iloc[train]), test))
    return folds


def assert_measured_as_by_hand(
    results: Any, frame: pd.DataFrame, target: str, model: Any
) -> None:
    """Compare the metrics of each fold with those of the models that scikit-learn fits."""
    name = type(model).__name__
    cells = results.cells[results.cells["model"] == name].sort_values("fold")
    folds = by_hand(results, frame, target, model)
    X = frame[list("abcd")]
    for (_, cell), (pipeline, test) in zip(cells.iterrows(), folds, strict=True):
        true = frame[target].iloc[test]
        predicted = pipeline.predict(X.iloc[test])
        if is_classifier(model):
            shares = pipeline.predict_proba(X.iloc[test])[:, 1]
            expected = classification_metrics(true, predicted, shares)
        else:
            expected = regression_metrics(true, predicted)
        reported = cell[[*expected]].astype(float)
        np.testing.assert_allclose(reported, [*expected.values()], rtol=1e-9)


def test_missing_values_are_imputed_and_classes_measured_as_by_scikit_learn() -> None:
    frame = gaps()
    results = compared(frame, "y", LogisticRegression())
    assert "missing values, imputed from the training rows" in " ".join(
        results.text.split()
    )
    assert_measured_as_by_hand(results, frame, "y", LogisticRegression())
    for heading in ("accuracy", "bal.", "macro", "ROC"):
        assert heading in results.text
    assert max(map(len, results.text.splitlines())) <= 80


def test_numbers_are_measured_as_by_scikit_learn() -> None:
    frame = gaps()
    results = compared(frame, "value", LinearRegression())
    assert_measured_as_by_hand(results, frame, "value", LinearRegression())
    (line,) = [
        line for line in results.text.splitlines() if "LinearRegression  " in line
    ][:1]
    assert re.search(r"0\.\d{3} ± 0\.\d{3} +\d+\.\d{3} +\d+\.\d{3} +0\.\d{3}", line)


def described(frame: pd.DataFrame, target: str, **options: Any) -> str:
    frame.to_csv("rows.csv", index=False)
    spec = describe(UserData("rows.csv", target, **options))
    return " | ".join(with_class_advice(spec, (), 5, 1).notes)


def test_rare_classes_are_named_with_what_to_type() -> None:
    notes = described(gaps(0.05), "y")
    assert (
        sentence("comparison.conclusions.accuracy-on-rare-class", share=5, label="yes")
        in notes
    )
    assert (
        sentence(
            "comparison.conclusions.few-rows-of-class",
            label="yes",
            rows=12,
            rows_in_part=2,
        )
        in notes
    )
    assert "of the rows are" not in described(gaps(), "y")
    spec = describe(UserData("rows.csv", "y"))
    assert with_class_advice(spec, ("balanced_accuracy",), 5, 1) == spec


def test_advice_on_rare_classes_follows_the_metric_and_the_runs() -> None:
    frame = gaps(0.05)
    frame.to_csv("rows.csv", index=False)
    spec = describe(UserData("rows.csv", "y"))
    for metrics, runs, number in ((("mcc",), 1, 1), (("accuracy",), 1, 2), ((), 10, 1)):
        advised = with_class_advice(spec, metrics, 5, runs)
        assert len(advised.notes) == len(spec.notes) + number


CODES = {
    "row numbers": (
        np.random.default_rng(0).permutation(N) + 1001,
        "it numbers the rows",
    ),
    "digits": (
        np.random.default_rng(0).integers(10_000, 99_999, N),
        "all have 5 digits",
    ),
    "quantities": (np.random.default_rng(0).lognormal(7, 1, N).round(), None),
    "years": (np.random.default_rng(0).integers(1950, 2020, N), None),
    "classes": (
        [f"C{i % 60}" for i in range(N)],
        "60 classes of 4 rows each on average",
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_a_target_of_codes_is_named(case: str) -> None:
    values, reason = CODES[case]
    notes = described(gaps().assign(amount=values), "amount")
    assert ("looks like a code or an identifier" in notes) == (reason is not None)
    assert reason is None or reason in notes


def test_a_target_with_the_name_of_a_code_is_named() -> None:
    rng = np.random.default_rng(0)
    notes = described(
        gaps().assign(**{"zip code": rng.integers(50, 9_999, N)}), "zip code"
    )
    assert sentence("comparison.conclusions.identifier-by-name-and-values") in notes


def test_a_note_above_the_table_doubts_a_metric_that_ranks_no_model() -> None:
    frame = gaps(0.05).assign(
        **{name: np.random.default_rng(1).normal(size=N) for name in "abcd"}
    )
    results = compared(frame, "y", ["ridge", "knn"], grids={"ridge": {"C": [1.0]}})
    words = " ".join(results.text.split())
    question = "accuracy hardly tells the models apart"
    assert words.index(question) < words.index("best first")
    assert sentence("comparison.conclusions.rank-by-balanced-accuracy") in words
    (note,) = [note.text for note in results.table.notes if note.kind == "question"]
    assert note.endswith(sentence("comparison.conclusions.rank-by-balanced-accuracy"))
    clear = compared(gaps(), "y", ["ridge"], grids={"ridge": {"C": [1.0]}})
    assert question not in " ".join(clear.text.split())


def test_outliers_of_the_target_are_named_if_they_decide_the_metric() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(N, 4)), columns=[*"abcd"])
    target = 3 * frame["a"] + rng.normal(size=N)
    grids = {"ridge": {"C": [1.0]}}
    far = target.where(np.arange(N) % 60 > 0, target * 1000)
    texts = {
        kind: " ".join(
            compared(frame.assign(y=y), "y", ["ridge"], grids=grids).text.split()
        )
        for kind, y in {
            "outliers": far,
            "noise": pd.Series(rng.normal(size=N)),
            "clear": target,
        }.items()
    }
    question = sentence("comparison.conclusions.targets-far-from-others")
    assert question in texts["outliers"]
    assert "the features say little about the target" in texts["noise"]
    assert "hardly tells the models apart" not in texts["clear"]
    assert question not in texts["noise"] + texts["clear"]


@pytest.mark.parametrize(
    ("name", "n_values", "is_group"),
    [
        ("patient_id", 40, True),
        ("userId", 40, True),
        ("id", 40, True),
        ("acid", 40, False),
        ("patient_id", 12, False),
        ("patient_id", 200, False),
    ],
)
def test_a_column_of_identifiers_that_repeat_looks_like_a_group(
    name: str, n_values: int, is_group: bool
) -> None:
    words = [
        f"P{value}" for value in np.random.default_rng(3).permutation(N) % n_values
    ]
    notes = described(gaps().assign(**{name: words}), "y")
    assert (f"{name!r} looks like a group" in notes) == is_group
    reason = sentence(
        "comparison.conclusions.identifier-with-repeated-values", values=n_values
    )
    assert (reason in notes) == is_group


def visits(**columns: Any) -> pd.DataFrame:
    """Return five rows of each of 40 persons, with the person's sex and age, and a target."""
    rng = np.random.default_rng(4)
    person = np.repeat(np.arange(40), 5)
    frame = pd.DataFrame(
        {
            "person": [f"P{number}" for number in person],
            "sex": rng.choice(["f", "m"], 40)[person],
            "age": rng.integers(20, 70, 40)[person],
            "pulse": rng.normal(70, 9, 200).round(3),
            "y": rng.choice(["no", "yes"], 200),
        }
    )
    return frame.assign(**columns)


def test_a_column_that_determines_two_others_looks_like_a_group() -> None:
    warning = sentence("comparison.conclusions.determines-two-others", column="person")
    notes = described(visits(), "y")
    assert warning in notes
    assert notes.count("looks like a group") == 1
    assert "looks like a group" not in described(visits(), "y", groups="person")
    identified = visits().rename(columns={"person": "person_id"}).drop(columns="sex")
    for frame in (visits(), identified):
        results = elmbench.compare(frame, "y", ["dummy"], folds=3)
        text = " ".join(results.text.split())
        assert "give it as groups to keep each" in text


@pytest.mark.parametrize("case", ["one column", "a hierarchy", "near constants"])
def test_a_column_that_determines_less_is_no_group(case: str) -> None:
    frame = visits()
    number = np.repeat(np.arange(40), 5)
    varying = np.random.default_rng(5).integers(20, 70, 200)
    # Chance may give each person one value of a column that is almost always 0.
    rare = {"sex": np.where(number == 1, 1, 0), "age": np.where(number == 30, 1, 0)}
    columns = {
        "one column": {"age": varying},
        "a hierarchy": {
            "sex": np.char.add("s", (number // 4).astype(str)),
            "age": number // 8,
        },
        "near constants": rare,
    }[case]
    assert "looks like a group" not in described(frame.assign(**columns), "y")


def test_numeric_classes_name_the_option_of_a_regression() -> None:
    hint = "--task regression if their order counts"
    codes = np.resize([10.0, 20.0, 35.0, 99.0], 200)
    assert hint in described(visits(y=codes), "y")
    assert hint not in described(visits(y=codes), "y", task="classification")
    assert hint not in described(visits(y=np.resize([0, 1], 200)), "y")
    assert hint not in described(visits(y=np.resize(["a", "b", "c"], 200)), "y")


def test_the_conclusion_names_the_best_and_the_smallest_difference() -> None:
    frame = gaps()
    grids = {"ridge": {"C": [1.0]}, "knn": {"n_neighbors": [5]}}
    results = compared(frame, "y", ["ridge", "knn"], grids=grids)
    scores = results.cells.pivot(index="fold", columns="model", values="accuracy")
    best = scores[["ridge", "knn"]].mean().idxmax()
    rival = "knn" if best == "ridge" else "ridge"
    differences = scores[best] - scores[rival]
    error = differences.std() * math.sqrt(1 / 3 + 1 / 2)
    smallest = stats.t.ppf(0.975, 2) * error
    notes = {note.kind: note.text for note in results.table.notes}
    assert notes["best"] == f"data: best: {best}, accuracy {scores[best].mean():.3f}"
    if differences.mean() < smallest:
        assert notes["power"].startswith(
            f"data: not distinguishable from {best}: {rival} ("
        )
        assert notes["power"].endswith(f"could have shown: {smallest:.2g}")
    else:
        assert notes["power"] == f"data: the other models differ from {best} (p < .05)"


def test_the_command_ends_with_a_conclusion_and_the_next_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gaps().drop(columns="value").to_csv("gaps.csv", index=False)
    words = ["compare", "gaps.csv", "-m", "ridge,svm", "--folds", "3"]
    grid = ["--grid", "svm: {C: [1], gamma: [0.1]}", "--grid", "ridge: {C: [1]}"]
    with pytest.raises(SystemExit) as ending:
        main([*words, *grid])
    assert not ending.value.code
    *_, best, rivals, step = (
        re.sub(r"\n(?!best|not|the other|next)", " ", capsys.readouterr().out)
        .strip()
        .splitlines()
    )
    assert best.startswith("best: ")
    assert rivals.startswith(("not distinguishable from", "the other models differ"))
    assert step.startswith("next: ")
    assert step.endswith(" --save best.joblib")


@pytest.mark.parametrize("model", ["svm", "ridge", "k-elm"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_saved_classifier_has_probabilities(model: str, n_classes: int) -> None:
    frame = gaps()
    y = pd.qcut(frame["value"], n_classes, labels=[*"xyz"][:n_classes]).astype(str)
    X = frame[list("abcd")]
    results = elmbench.compare(X, y, [model], folds=3, name=f"{model}{n_classes}")
    best = results.best_estimator(model)
    probabilities = best.predict_proba(X)
    assert probabilities.shape == (N, n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    agreement = np.mean(best.classes_[probabilities.argmax(axis=1)] == best.predict(X))
    assert agreement > 0.8
    save(best, Path("best.joblib"))
    X.to_csv("new.csv", index=False)
    lines, _ = predict_file(Path("best.joblib"), Path("new.csv"), proba=True)
    np.testing.assert_allclose(
        lines.filter(like="probability_"), probabilities, rtol=1e-9
    )
    assert lines["prediction"].tolist() == best.predict(X).tolist()
