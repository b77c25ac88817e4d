"""Comparisons of models on a user's files: their plan, their folds, their table."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sentences import pattern, sentence
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from toy_data import forget_data

import elmbench
from elmbench.comparison.defaults import DEFAULT_MODELS
from elmbench.comparison.request import (
    ComparisonRequest,
    experiment_of,
    prepare_comparison,
)
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.user_data import UserData
from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import fold_data
from elmbench.evaluation.score_comparison import share_of_test_rows
from elmbench.evaluation.splits import outer_parts
from elmbench.report.table_results import results_of_table
from elmbench.runs.execute import execute
from elmbench.runs.prepare import PreparedRun, RunOptions
from elmbench.specs import datasets
from elmbench.specs.profiles import recorded_comparison
from elmbench.tables import add_metrics, kind_of_table
from elmbench.tasks.base import Context
from elmbench.tasks.fit import Fit
from elmbench.tasks.nested_search import Search

pytestmark = pytest.mark.usefixtures("alone")
SMALL = {
    "k-elm": {"C": [1.0, 64.0], "gamma": [0.1]},
    "ridge": {"C": [1.0]},
    "elm": {"n_hidden": [20], "C": [8.0]},
}


def shop(rows: int = 120, missing: bool = True) -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.normal(40, 10, rows),
            "colour": random.choice(["red", "green", "blue"], rows),
            "who": [f"customer {i}" for i in range(rows)],
            "shop": random.integers(0, 6, rows),
            "day": random.permutation(rows),
        }
    )
    frame["buys"] = np.where(
        (frame["age"] > 40) ^ (frame["colour"] == "red"), "yes", "no"
    )
    if missing:
        frame.loc[random.random(rows) < 0.2, "age"] = np.nan
        frame.loc[random.random(rows) < 0.1, "colour"] = None
    return frame


def prepared(
    *data: UserData, models: tuple[str, ...] = ("k-elm", "ridge"), **request: Any
) -> PreparedRun:
    grids = {name: grid for name, grid in SMALL.items() if name in models}
    return prepare_comparison(
        ComparisonRequest(data, models, grids, **request),
        RunOptions(),
        Path("elmbench-results"),
    )


def shop_run(
    frame: pd.DataFrame,
    models: tuple[str, ...] = ("k-elm", "ridge"),
    folds: int = 3,
    **how: Any,
) -> PreparedRun:
    """Write the frame to shop.csv and prepare a comparison that predicts who buys."""
    frame.to_csv("shop.csv", index=False)
    return prepared(UserData("shop.csv", "buys", **how), models=models, folds=folds)


def fits(run: PreparedRun) -> list[Fit]:
    return [task for task in run.tasks.values() if isinstance(task, Fit)]


def a_search(run: PreparedRun) -> Search:
    return next(task for task in run.tasks.values() if isinstance(task, Search))


def test_three_classes_from_a_file_to_the_table() -> None:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        species=np.array(["s", "ve", "vi"])[y]
    )
    X, options = (
        frame[list("abcd")],
        {"name": "iris", "folds": 3, "results_dir": "results"},
    )
    grids = {"k-elm": SMALL["k-elm"]}
    results = elmbench.compare(
        X, frame["species"], ["k-elm", "ridge"], grids=grids, **options
    )
    assert results.folder.parent == Path("results/compare/own")
    assert results.folder.name.startswith("iris-")
    files = {path.name for path in results.folder.iterdir()}
    files_of_cells = {"cells.csv", "predictions.csv", "summary.csv"}
    assert files == files_of_cells | {"table.md", "environment.json"}
    assert set(results.cells["status"]) == {"ok"}
    assert len(results.cells) == 9
    means = results.cells.groupby("model")["accuracy"].mean()
    assert means["k-elm"] > 0.9 > means["ridge"]
    (section,) = results.table.sections
    lines = [dict(line) for line in section.lines]
    assert [lines[0][name] for name in ("model", "rank", "p")] == ["k-elm", "1", "best"]
    assert 0 < float(lines[1]["p"]) < 1
    assert "3 classes of the column 'y'" in results.text
    assert "p: p-value of the difference" in results.text
    searched = sentence("comparison.table.subtitle", folds=3, inner_folds=3)
    assert results.table.subtitle == searched
    # What is known is not computed again, and the table is that of the last request.
    events: list[Any] = []
    again = elmbench.compare(
        X, frame["species"], ["ridge"], on_event=events.append, **options
    )
    assert not events
    assert set(again.cells["model"]) == {"ridge", "dummy"}


@pytest.mark.parametrize("models", [("k-elm", "ridge"), ("ridge", "k-elm")])
def test_a_tie_goes_to_the_smaller_model(models: tuple[str, ...]) -> None:
    X = np.column_stack([np.repeat([-3.0, 3.0], 30), np.tile([1.0, 2.0, 3.0], 20)])
    grids = {name: SMALL[name] for name in models}
    results = elmbench.compare(X, X[:, 0] > 0, models, grids=grids, folds=3)
    lines = [dict(line) for line in results.table.sections[0].lines]
    assert [(line["model"], line["rank"], line["n_units"]) for line in lines[:2]] == [
        ("ridge", "=1", "2"),
        ("k-elm", "=1", "40"),
    ]
    assert [line["p"] for line in lines[:2]] == ["best", "tied"]
    with_probabilities = results.best_estimator()["model"]
    assert type(with_probabilities.estimator_).__name__ == "RidgeClassifier"


def test_a_comparison_is_ranked_again_by_another_metric_with_nothing_computed() -> None:
    """A model that cannot give the metric has no rank."""
    X, y = make_classification(150, 6, flip_y=0.2, random_state=3)
    results = elmbench.compare(
        pd.DataFrame(X),
        y,
        ["ridge", "knn"],
        name="mine",
        folds=3,
        metric=["f1", "accuracy"],
        results_dir="results",
    )
    name = f"own/{results.folder.name}"
    resolved = recorded_comparison(name, Path("results"))
    assert resolved.spec == results.resolved.spec
    again = results_of_table(resolved, Path("results"), ["log_loss", "roc_auc"])
    ranks = again.summary[again.summary["metric"] == "rank"].set_index("model")["mean"]
    assert ranks.to_dict() == {"knn": 1}
    assert again.text.index("  dummy ") < again.text.index("  knn *")
    assert "log_loss is missing for ridge: it takes probabilities" in [
        note.text for note in again.table.notes
    ]
    assert (
        again.cells.loc[again.cells["model"] == "ridge", "roc_auc"]
        .between(0.5, 1)
        .all()
    )
    with pytest.raises(ElmbenchError, match="unknown comparison 'own/other'"):
        recorded_comparison("own/other", Path("results"))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"models": ("ridge",)}, {"models": ("k-elm",)}),
        ({"folds": 3}, {"folds": 4}),
        ({"metrics": ("mcc",)}, {"metrics": ("f1",)}),
    ],
)
def test_a_comparison_shows_and_writes_its_own_cells_beside_another_one(
    one: dict[str, Any], two: dict[str, Any]
) -> None:
    """Both are of the same data, in the same folder; the files are those of the last one to end."""
    shop(missing=False).to_csv("shop.csv", index=False)
    first, second = (
        prepared(UserData("shop.csv", "buys"), **request) for request in (one, two)
    )
    others: list[Any] = []

    def run_second(event: Any) -> None:
        if not others:
            others.append(event)
            others.extend(execute(second))

    (results,) = execute(first, run_second)
    (other,) = others[1:]
    assert results.folder == other.folder
    for run, shown in ((first, results), (second, other)):
        ((_, plan),) = run.tables
        entries = {(cell.model, cell.fold) for cell in plan.cells}
        assert {*zip(shown.cells["model"], shown.cells["fold"], strict=True)} == entries
        assert [*shown.cells["key"]] != [*results.cells["key"]] or shown is results
    resolved = recorded_comparison(results.resolved.file.id, Path("elmbench-results"))
    assert resolved.spec == results.resolved.spec
    again = results_of_table(resolved, Path("elmbench-results"), ["balanced_accuracy"])
    assert [*again.cells["key"]] == [*results.cells["key"]]
    predictions = pd.read_csv(results.folder / "predictions.csv")
    assert predictions.groupby(["model", "fold"]).ngroups == len(results.cells)
    right = predictions["true"] == predictions["predicted"]
    recalls = right.groupby(
        [predictions[name] for name in ("model", "fold", "true")]
    ).mean()
    expected = recalls.groupby(["model", "fold"]).mean()
    shown = again.cells.set_index(["model", "fold"])["balanced_accuracy"]
    np.testing.assert_allclose(
        shown[expected.index].astype(float), expected, atol=1e-12
    )


def test_a_metric_that_a_test_part_does_not_define_gives_no_rank() -> None:
    X, y = make_classification(60, 4, random_state=0)
    y[:2] = 2
    results = elmbench.compare(X, y, ["knn"], metric="roc_auc_ovr", folds=3)
    assert results.summary.loc[results.summary["metric"] == "rank", "mean"].isna().all()
    why = sentence("comparison.metrics.undefined-without-a-class", metric="roc_auc_ovr")
    assert f"data: knn without a rank: {why}" in [
        note.text for note in results.table.notes
    ]


def test_a_fold_of_equal_targets_gives_no_rank_and_no_best_model() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 20) + 0.1 * rng.random(40)
    y[np.arange(40) % 2 == 0] = 0.5
    fold = np.arange(40) % 2
    results = elmbench.compare(rng.normal(size=(40, 2)), y, ["knn"], fold=fold)
    why = sentence("comparison.metrics.undefined-on-equal-targets", metric="nrmse")
    assert f"data: knn without a rank: {why}" in [
        note.text for note in results.table.notes
    ]
    with pytest.raises(
        ElmbenchError,
        match=pattern(
            "comparison.metrics.no-model-has-metric-on-all-folds", metric="nrmse"
        ),
    ):
        results.best_estimator()


@pytest.mark.parametrize(
    ("folds", "times", "metric", "is_defined"),
    [
        (13, None, "nrmse", False),
        (12, None, "nrmse", True),
        (13, None, "rmse", True),
        (12, np.arange(24), "r2", False),
        (9, np.arange(24), "r2", True),
    ],
)
def test_folds_of_one_row_cannot_be_ranked_by_shares_of_the_variation(
    folds: int, times: Any, metric: str, is_defined: bool
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2))

    def compare() -> Any:
        return elmbench.compare(
            X,
            rng.normal(size=24),
            ["ridge"],
            folds=folds,
            time_order=times,
            metric=metric,
        )

    if is_defined:
        ranks = compare().summary.query("metric == 'rank'")["mean"]
        assert ranks.notna().any()
        return
    message = sentence(
        "comparison.metrics.undefined-on-one-row", folds=folds, metric=metric
    )
    with pytest.raises(ElmbenchError, match=message):
        compare()


def test_a_model_with_labels_only_is_not_searched_by_probabilities() -> None:
    class Labels(ClassifierMixin, BaseEstimator):
        def fit(self, X: Any, y: Any) -> Any:
            self.classes_ = np.unique(y)
            return self

        def predict(self, X: Any) -> Any:
            return np.repeat(self.classes_[:1], len(X))

    X, y = make_classification(60, 4, random_state=0)
    results = elmbench.compare(
        pd.DataFrame(X), y, [Labels(), "knn"], metric="neg_log_loss", folds=3
    )
    ((resolved, plan),) = results.run.tables
    why = "it has no predict_proba or decision_function, which neg_log_loss takes"
    assert [
        set(column.not_run.values())
        for column in resolved.spec.models.values()
        if column.not_run
    ] == [{why}]
    assert {cell.model for cell in plan.cells} == {"knn", "dummy"}


def test_regression_and_classification_side_by_side() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(90, 3)), columns=list("abc"))
    frame.assign(y=frame["a"] - 2 * frame["b"] + random.normal(size=90) / 10).to_csv(
        "one.csv", index=False
    )
    frame.assign(y=(frame["a"] > 0).astype(int)).to_csv("two.csv", index=False)
    run = prepared(UserData("one.csv", "y"), UserData("two.csv"), folds=3)
    ((resolved, _),) = run.tables
    assert [resolved.dataset(name).task for name in ("one", "two")] == [
        "regression",
        "classification",
    ]
    assert resolved.file.id.startswith("own/one-two-")
    (results,) = execute(run)
    assert "3 outer folds (kfold, stratified-kfold)" in results.text
    ranks = results.summary[
        (results.summary["dataset"] == "all") & (results.summary["metric"] == "rank")
    ]
    assert ranks.set_index("model")["mean"].sum() == 3
    assert (
        results.summary.set_index(["dataset", "model", "metric"])["mean"][
            "one", "ridge", "nrmse"
        ]
        < 0.2
    )


def test_everything_is_taken_from_training_rows_only() -> None:
    frame = shop()
    outer_fold = fits(shop_run(frame, folds=4))[0].outer_fold
    before = fold_data(outer_fold, None)
    assert np.isfinite(before.X_train).all()
    # Age, shop and day; three colours.
    assert before.X_train.shape[1] == 6
    assert before.raw is not None
    np.testing.assert_allclose(before.X_train.mean(axis=0), 0, atol=1e-12)
    # Other values in the test rows of a fold change nothing of its training rows.
    data_y = pd.read_csv("shop.csv")["buys"]
    assert outer_fold.dataset.spec is not None
    data = load_from_spec(outer_fold.dataset.spec)
    assert len(data.y) == len(data_y)
    _, test = outer_parts(data, outer_fold.protocol.outer, 0)[0]
    changed = frame.copy()
    changed.loc[test, "age"] = 1e6
    changed.loc[test, "colour"] = "violet"
    changed.to_csv("shop.csv", index=False)
    forget_data()
    after = fold_data(outer_fold, None)
    np.testing.assert_array_equal(after.X_train, before.X_train)
    assert not np.allclose(after.X_test, before.X_test)


def test_inner_folds_are_prepared_by_their_own_training_rows() -> None:
    search = a_search(shop_run(shop(), models=("ridge",), folds=4))
    assert search.run({}, Context())["params"]
    data = fold_data(search.outer_fold, None)
    problems = list(search.problems(data, search.problem(data, {}, Context())))
    assert len(problems) == 3
    for problem in problems:
        ((train, _),) = problem.folds
        assert np.abs(problem.X[train].mean(axis=0)).max() < 1e-12


def test_groups_stay_together_and_are_no_feature() -> None:
    frame = shop(missing=False).drop(columns=["colour", "who"])
    run = shop_run(frame, groups="shop")
    outer_fold = fits(run)[0].outer_fold
    assert outer_fold.dataset.n_features == 2
    assert outer_fold.protocol.outer.kind == "stratified-group-kfold"
    for fold in range(3):
        fold_rows = fold_data(replace(outer_fold, fold=fold), None)
        assert fold_rows.groups is not None
        assert len(fold_rows.X_train) + len(fold_rows.X_test) == len(frame)
        numbers = np.sort(np.unique(frame["shop"]))
        shops = set(numbers[np.unique(fold_rows.groups)])
        assert len(fold_rows.X_test) == (~frame["shop"].isin(shops)).sum()
    search = a_search(run)
    data = fold_data(search.outer_fold, None)
    for train, test in search.rows_and_inner_folds(data)[2]:
        assert data.groups is not None
        assert not set(data.groups[train]) & set(data.groups[test])


def test_rows_in_their_order_are_learnt_before_they_are_tested() -> None:
    frame = shop(missing=False).drop(columns=["colour", "who"])
    run = shop_run(frame.assign(later=frame["day"] * 1.0), ordered_by="day")
    ((resolved, plan),) = run.tables
    assert share_of_test_rows(plan.cells[0].dataset, resolved) == 2 / 4
    for task in fits(run):
        data = fold_data(task.outer_fold, None)
        assert data.X_train[:, -1].max() < data.X_test[:, -1].min()
        assert (np.diff(data.X_train[:, -1]) > 0).all()
    search = a_search(run)
    assert all(
        train.max() < test.min()
        for train, test in search.rows_and_inner_folds(
            fold_data(search.outer_fold, None)
        )[2]
    )
    # More runs have the same test parts, so they add no evidence.
    cells = pd.DataFrame(
        {
            "model": ["k-elm", "ridge"] * 3,
            "fold": [0, 0, 1, 1, 2, 2],
            "accuracy": [1, 0.5, 0.9, 0.6, 1, 1],
        }
    )
    cells = cells.assign(
        dataset="shop", run=0, select="nested", reading="", status="ok"
    )
    ((again, _),) = prepared(
        UserData("shop.csv", "buys", ordered_by="day"), folds=3, runs=2
    ).tables
    p, p_of_two = (
        kind_of_table(table)
        .summarised_cells(rows)
        .groupby("model")["p"]
        .first()["ridge"]
        for table, rows in (
            (resolved, cells),
            (again, pd.concat([cells, cells.assign(run=1)])),
        )
    )
    assert p_of_two == pytest.approx(p)


def test_many_rows_leave_out_what_takes_too_long_and_search_on_some() -> None:
    random = np.random.default_rng(0)
    pd.DataFrame(random.normal(size=(20, 2))).assign(
        y=random.integers(0, 2, 20)
    ).to_csv("tiny.csv", index=False)
    spec = datasets.DatasetSpec.model_validate(
        {
            "name": "many", "title": "many.csv", "task": "classification", "citation": "",
            "positive": ["b"],
            "shape": {"instances": 400_000, "features": 10, "classes": {"a": 200_000,
            "b": 200_000}},
            "sources": [{"kind": "file", "path": "many.csv"}],
        }
    )  # fmt: skip
    resolved = experiment_of(ComparisonRequest(()), [spec])
    left_out = {name for name, model in resolved.spec.models.items() if model.not_run}
    assert {"k-elm", "ls-svm"} <= left_out
    assert not {"elm", "ridge", "hist-gradient-boosting"} & left_out
    assert list(resolved.spec.models) == [*DEFAULT_MODELS, "dummy"]
    assert {"logistic-regression", "random-forest", "knn"} <= set(DEFAULT_MODELS)
    assert resolved.settings.tune_rows == 2000
    assert "-m k-elm runs it anyway" in resolved.spec.models["k-elm"].not_run["many"]
    named = experiment_of(ComparisonRequest((), ("k-elm",)), [spec])
    assert not named.spec.models["k-elm"].not_run


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_dummy_row_marks_what_is_no_better(task: str) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(90, 3))
    y = (
        X[:, 0] - X[:, 1]
        if task == "regression"
        else np.where(X[:, 0] ** 2 > 0.4, "out", "in")
    )
    noise = (
        random.normal(size=90)
        if task == "regression"
        else random.permutation(["a", "a", "b"] * 30)
    )
    for name, target in (("real", y), ("noise", noise)):
        pd.DataFrame(X).assign(target=target).to_csv(f"{name}.csv", index=False)
    data = (UserData("real.csv"), UserData("noise.csv"))
    grids = {"knn": {"n_neighbors": [1]}}
    (results,) = execute(
        prepare_comparison(
            ComparisonRequest(data, ("knn",), grids, folds=3),
            RunOptions(),
            Path("results"),
        )
    )
    rows = [dict(line) for line in results.table.sections[0].lines]
    models = {
        dataset: [row["model"] for row in rows if row["dataset"] == dataset]
        for dataset in ("real.csv", "noise.csv")
    }
    assert models == {"real.csv": ["knn", "dummy"], "noise.csv": ["dummy", "knn *"]}
    assert all(("rank" in row) == (row["model"] != "dummy") for row in rows)
    text = " ".join(results.text.split())
    what = "the mean" if task == "regression" else "the most frequent class"
    assert sentence("comparison.table.no-better-than-dummy", prediction=what) in text
    assert "real: *" not in text


def test_a_regression_has_its_own_models_and_metrics() -> None:
    pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3))).to_csv(
        "a.csv", index=False
    )
    data = UserData("a.csv")
    ((resolved, _),) = prepared(data, models=()).tables
    assert "eem" not in resolved.spec.models
    assert "ls-svm" in resolved.spec.models
    again = add_metrics(resolved, ["mae"])
    assert (
        kind_of_table(again)
        .heading()
        .startswith("best mae first, hyperparameters chosen by nrmse; ")
    )
    with pytest.raises(ElmbenchError) as caught:
        prepared(data, metrics=("mcc",))
    assert str(caught.value.expected).startswith(
        sentence("comparison.metrics.choice-for-regression")
    )
    ((resolved, _),) = prepared(data, metrics=("rmse", "neg_max_error")).tables
    assert resolved.spec.protocol.metric_for("regression") == "rmse"
    assert resolved.spec.protocol.outer.split("a", "regression").kind == "kfold"
    comparison = ComparisonRequest((data,), ("ridge",), {"svm": {"C": [1]}})
    with pytest.raises(ElmbenchError, match="unknown model of the comparison: 'svm'"):
        prepare_comparison(comparison, RunOptions(), Path("elmbench-results"))


def test_a_rare_class_is_named_and_the_folds_stay_stratified() -> None:
    labels = np.append(np.repeat([f"c{i:02d}" for i in range(11)], 10), ["rare"] * 2)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        random.normal(size=(len(labels), 2)), columns=["a", "b"]
    ).assign(kind=labels)
    frame.sample(frac=1, random_state=0).to_csv("twelve.csv", index=False)
    run = prepared(UserData("twelve.csv"), models=("ridge",))
    (remark,) = {cell.remarks for _, plan in run.tables for cell in plan.cells}
    assert (
        sentence(
            "comparison.splits.class-rarer-than-folds", label="rare", rows=2, folds=5
        )
        in remark
    )
    for task in fits(run):
        counts = np.bincount(fold_data(task.outer_fold, None).y_test, minlength=12)
        assert counts[:11].tolist() == [2] * 11
    (results,) = execute(run)
    assert set(results.cells["status"]) == {"ok"}
    assert "stratified-kfold" in results.text
    assert "the class 'rare' has 2 rows" in " ".join(results.text.split())
