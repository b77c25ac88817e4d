"""Held-out files, folds of the user's own and weights of rows in comparisons; the predictions that
they write.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sentences import sentence
from sklearn.linear_model import LogisticRegression
from toy_data import forget_data

from elmbench.comparison.final_model import fit_final
from elmbench.comparison.request import ComparisonRequest, prepare_comparison
from elmbench.datasets.user_data import UserData
from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import fold_data
from elmbench.execution.store import Store
from elmbench.registry.scorers import find_metric
from elmbench.report.table_results import Results
from elmbench.runs.execute import execute
from elmbench.runs.prepare import PreparedRun, RunOptions
from elmbench.runs.write_results import write_results
from elmbench.tasks.base import Context
from elmbench.tasks.fit import Fit
from elmbench.tasks.nested_search import Search

pytestmark = pytest.mark.usefixtures("alone")
GRIDS = {
    "logistic-regression": {"C": [1.0]},
    "k-elm": {"C": [1.0, 64.0], "gamma": [0.1]},
    "ridge": {"C": [1.0]},
}


def shop(rows: int = 120) -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.normal(40, 10, rows),
            "colour": random.choice(["red", "green", "blue"], rows),
        }
    )
    frame["when"] = pd.date_range("2022-01-01", periods=rows, freq="4D").strftime(
        "%d.%m.%Y"
    )
    frame["part"] = random.integers(-1, 4, rows)
    frame["heavy"] = random.integers(0, 4, rows)
    frame["buys"] = np.where(frame["age"] + random.normal(0, 3, rows) > 40, "yes", "no")
    return frame


def prepared(
    frame: pd.DataFrame, *models: str, target: str = "buys", **options: Any
) -> PreparedRun:
    """Write the frame to shop.csv and prepare a comparison on it."""
    frame.to_csv("shop.csv", index=False)
    data = UserData("shop.csv", target, **options)
    grids = {name: GRIDS[name] for name in models if name in GRIDS}
    return prepare_comparison(
        ComparisonRequest((data,), models, grids),
        RunOptions(),
        Path("elmbench-results"),
    )


def predictions(results: Results) -> pd.DataFrame:
    lines = pd.read_csv(results.folder / "predictions.csv")
    return lines[lines["model"] != "dummy"]


@pytest.mark.parametrize("ordered_by", [None, "when"])
def test_models_are_tested_once_on_a_held_out_file(ordered_by: str | None) -> None:
    frame = shop()
    held_out = frame.iloc[80:].sample(frac=1, random_state=0)[
        ["buys", "when", "colour", "age", "heavy", "part"]
    ]
    held_out["colour"] = held_out["colour"].replace("red", "violet")
    held_out.to_csv("held-out.csv", index=False)
    run = prepared(
        frame.iloc[:80],
        "logistic-regression",
        test="held-out.csv",
        ordered_by=ordered_by,
    )
    (results,) = execute(run)
    cells = results.cells[results.cells["model"] == "logistic-regression"]
    assert cells["n_test"].tolist() == [40]
    lines = predictions(results).sort_values("row")
    assert lines["row"].tolist() == list(range(40))
    assert lines["true"].tolist() == held_out["buys"].tolist()
    best = fit_final(run, results, "logistic-regression")
    columns = list(best.feature_names_in_)
    assert lines["predicted"].tolist() == best.predict(held_out[columns]).tolist()
    by_hand = fold_data(
        next(task.outer_fold for task in run.tasks.values() if isinstance(task, Fit)),
        None,
    )
    np.testing.assert_allclose(
        best[:-1].transform(held_out[columns])[:, 0].sum(), by_hand.X_test[:, 0].sum()
    )
    assert len(by_hand.y_train) == 80
    assert "p-value" not in results.text
    assert "one held-out test part" in results.text


def test_held_out_rows_choose_no_parameters_of_the_saved_model() -> None:
    ages = np.random.default_rng(0).normal(40, 10, 40)
    pd.DataFrame({"age": ages, "spends": ages}).to_csv("shop.csv", index=False)
    pd.DataFrame({"age": ages, "spends": 80 - ages}).to_csv("held-out.csv", index=False)
    data = UserData("shop.csv", "spends", test="held-out.csv")
    comparison = ComparisonRequest(
        (data,), ("ridge",), {"ridge": {"C": [0.0001, 1000.0]}}
    )
    run = prepare_comparison(comparison, RunOptions(), Path("elmbench-results"))
    (results,) = execute(run)
    assert fit_final(run, results, "ridge").regressor_["model"].alpha == 0.001


def test_rows_of_one_time_are_never_both_learnt_and_tested() -> None:
    frame = (
        shop().drop(columns="when").assign(year=np.repeat(np.arange(2010, 2022), 10))
    )
    run = prepared(frame.sample(frac=1, random_state=0), "k-elm", ordered_by="year")
    tasks = [task for task in run.tasks.values() if isinstance(task, Search)]
    assert len(tasks) == 5
    for task in tasks:
        data = fold_data(task.outer_fold, None)
        assert data.times is not None
        _, _, inner = task.rows_and_inner_folds(data)
        for train, test in inner:
            assert data.times[train].max() < data.times[test].min()
    (results,) = execute(run)
    tested = predictions(results).merge(
        pd.read_csv("shop.csv")["year"], left_on="row", right_index=True
    )
    folds_of_years = tested.groupby("year")["fold"].nunique()
    assert (folds_of_years == 1).all()
    assert tested.groupby("fold")["year"].max().is_monotonic_increasing
    for folds, problem in (
        (12, "12 different times of rows, too few for 12 folds"),
        (9, "a training part of 9 folds has 3 different times of rows"),
    ):
        data = UserData("shop.csv", "buys", ordered_by="year")
        with pytest.raises(ElmbenchError, match=problem):
            prepare_comparison(
                ComparisonRequest((data,), folds=folds),
                RunOptions(),
                Path("elmbench-results"),
            )


def test_folds_of_a_column_are_the_outer_folds() -> None:
    frame = shop()
    (results,) = execute(
        prepared(frame, "logistic-regression", "k-elm", fold="part", drop=("heavy",))
    )
    every = predictions(results)
    lines = every[every["model"] == "k-elm"]
    assert (lines["fold"].to_numpy() == frame["part"].to_numpy()[lines["row"]]).all()
    assert len(lines) == (frame["part"] >= 0).sum()
    # Rows that are always learnt count as training rows of the t-test.
    scores = results.cells.pivot(index="fold", columns="model", values="accuracy")
    gains = scores["logistic-regression"] - scores["k-elm"]
    share = len(lines) / 4 / (120 - len(lines) / 4)
    t = abs(gains.mean()) / gains.std() / np.sqrt(1 / 4 + share)
    p = results.summary.query("metric == 'p' and dataset == 'shop'").set_index("model")[
        "mean"
    ]
    assert p[["logistic-regression", "k-elm"]].min() == pytest.approx(
        2 * stats.t.sf(t, 3)
    )
    assert "4 outer folds (predefined-kfold)" in results.text
    run = prepared(frame, "logistic-regression", fold="age", drop=("heavy", "part"))
    assert (
        sentence(
            "comparison.splits.column-makes-too-many-folds",
            column="age",
            folds=120,
            rows=120,
        )
        in run.tables[0][1].cells[0].remarks
    )


def test_weights_enter_searches_fits_and_the_saved_model() -> None:
    frame = shop()
    run = prepared(
        frame,
        "logistic-regression",
        "k-elm",
        "knn",
        weights="heavy",
        drop=("part", "when"),
    )
    (results,) = execute(run)
    assert (
        sentence("comparison.table.not-run-with-weights", model="knn") in results.text
    )
    for task in run.tasks.values():
        data = fold_data(task.outer_fold, None)
        if isinstance(task, Fit) and task.model.name == "logistic-regression":
            model = LogisticRegression(max_iter=1000).fit(
                data.X_train, data.y_train, sample_weight=data.weights
            )
            lines = predictions(results)
            lines = lines[
                (lines["model"] == "logistic-regression")
                & (lines["fold"] == task.outer_fold.fold)
            ]
            np.testing.assert_allclose(
                lines["decision"], model.decision_function(data.X_test), rtol=1e-5
            )
            plain = LogisticRegression(max_iter=1000).fit(data.X_train, data.y_train)
            assert (
                np.abs(plain.decision_function(data.X_test) - lines["decision"]).max()
                > 1e-3
            )
        elif isinstance(task, Search):
            solvers = run.store.result(task.key).get("solvers", {})
            n_fits = task.grid.n_candidates * 3 if task.grid.n_candidates > 1 else 0
            assert solvers.get("clone and fit", 0) == n_fits
    best = fit_final(run, results, "logistic-regression")
    X, y = best[:-1].transform(frame[["age", "colour"]]), frame["buys"]
    by_hand = LogisticRegression(max_iter=1000).fit(X, y, sample_weight=frame["heavy"])
    np.testing.assert_allclose(best["model"].coef_, by_hand.coef_, rtol=1e-6)


def test_a_search_with_weights_scores_weighted_fits() -> None:
    run = prepared(shop(), "k-elm", weights="heavy", drop=("part", "when"))
    task = next(task for task in run.tasks.values() if isinstance(task, Search))
    data = fold_data(task.outer_fold, None)
    assert data.weights is not None
    (problem, *_) = task.problems(data, task.problem(data, {}, Context()))
    (train, _), (first, *_) = problem.folds[0], problem.candidates
    expected = problem.factory(**problem.fixed, **first).fit(
        problem.X[train], problem.y[train], data.weights[train]
    )
    outputs = next(iter(problem.outputs(find_metric("accuracy"))))
    np.testing.assert_array_equal(
        outputs[2], expected.predict(problem.X[problem.folds[0][1]])
    )


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"heavy": -1.0}, {"weights": "heavy"}, r"'heavy' holds -1.0"),
        ({"heavy": 0}, {"weights": "heavy"}, "no weight above 0"),
        ({"part": 1}, {"fold": "part"}, "has 1 fold in its column of folds"),
        (
            {"part": [None, *[0, 1] * 59, 1]},
            {"fold": "part"},
            "the fold is missing in 1 of 120 rows",
        ),
        ({}, {"test": "none.csv"}, "does not exist"),
        ({}, {"test": "other.csv"}, "lacks 1 of 5 columns: colour"),
        ({}, {"test": "words.csv"}, "the column 'age' holds 'old'"),
        ({}, {"test": "shop.csv", "fold": "part"}, "--test is given with --fold"),
    ],
)
def test_unusable_held_out_rows_folds_and_weights_are_named(
    changes: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    frame = shop().assign(**changes)
    frame.drop(columns="colour").to_csv("other.csv", index=False)
    frame.assign(age="old").to_csv("words.csv", index=False)
    with pytest.raises(ElmbenchError, match=message):
        prepared(frame, "logistic-regression", **options)


def test_new_labels_of_held_out_rows_are_reported_and_extra_columns_ignored() -> None:
    held_out = (
        shop()
        .replace({"buys": {"yes": "Yes!"}})
        .assign(remark=["1"] * 110 + ["x"] * 10)
    )
    held_out.to_csv("test.csv", index=False)
    ((resolved, _),) = prepared(shop(), "logistic-regression", test="test.csv").tables
    (spec,) = resolved.datasets.values()
    assert any(
        sentence("comparison.held-out.label-without-training-rows", label="Yes!")
        in note
        for note in spec.notes
    )


# --- `predictions.csv`, and the hyperparameters that the table shows
# --------------------------------------------------


def orders() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": random.normal(40, 10, 90), "day": random.permutation(90)}
    )
    frame["kind"] = np.where(
        frame["age"] > 45, "old", np.where(frame["age"] > 35, "01", "1")
    )
    frame["spends"] = 100 * frame["age"] + random.normal(size=90)
    frame.loc[::8, ["kind", "spends"]] = np.nan
    return frame


def compared(
    frame: pd.DataFrame, models: tuple[str, ...], **options: Any
) -> tuple[Results, pd.DataFrame]:
    (results,) = execute(prepared(frame, *models, drop_missing_target=True, **options))
    return results, pd.read_csv(
        results.folder / "predictions.csv", dtype={"true": str, "predicted": str}
    )


def test_predictions_are_of_the_rows_of_the_file_in_its_spelling() -> None:
    frame = orders()
    results, lines = compared(
        frame.drop(columns="spends"), ("k-elm", "logistic-regression"), target="kind"
    )
    known = frame["kind"].dropna()
    for _, group in lines.groupby("model"):
        assert sorted(group["row"]) == known.index.tolist()
    assert (lines["true"].to_numpy() == known[lines["row"]].to_numpy()).all()
    right = (
        (lines["true"] == lines["predicted"])
        .groupby([lines["model"], lines["fold"]])
        .mean()
    )
    expected = results.cells.set_index(["model", "fold"])["accuracy"]
    np.testing.assert_allclose(right.sort_index(), expected.sort_index().astype(float))
    labels = ["01", "1", "old"]
    logistic = lines[lines["model"] == "logistic-regression"]
    for name in ("probability", "decision"):
        columns = logistic[[f"{name}_{label}" for label in labels]].to_numpy()
        assert (np.array(labels)[columns.argmax(axis=1)] == logistic["predicted"]).all()
    np.testing.assert_allclose(
        logistic.filter(like="probability").sum(axis=1), 1, atol=1e-6
    )


def test_predictions_of_a_regression_have_its_units_and_rows_keep_their_numbers_if_sorted() -> (
    None
):
    frame = orders()
    results, lines = compared(
        frame.drop(columns="kind"), ("ridge",), target="spends", ordered_by="day"
    )
    lines = lines.assign(
        true=lines["true"].astype(float), predicted=lines["predicted"].astype(float)
    )
    np.testing.assert_allclose(lines["true"], frame["spends"].to_numpy()[lines["row"]])
    for (model, fold), group in lines.groupby(["model", "fold"]):
        error = np.sqrt(((group["true"] - group["predicted"]) ** 2).mean()) / group[
            "true"
        ].std(ddof=1)
        cells = results.cells
        measured = cells.loc[
            (cells["model"] == model) & (cells["fold"] == fold), "nrmse"
        ].item()
        np.testing.assert_allclose(error, measured, rtol=1e-9)


def test_data_that_have_changed_since_have_no_predictions() -> None:
    results, lines = compared(
        orders().drop(columns="spends"), ("ridge",), target="kind"
    )
    assert len(lines)
    changed = pd.read_csv("shop.csv", dtype=str)
    changed.assign(age=changed["age"].astype(float) + 1).to_csv("shop.csv", index=False)
    forget_data()
    write_results(
        results.resolved, Store(Path("elmbench-results")), Path("elmbench-results")
    )
    assert not (results.folder / "predictions.csv").read_text().strip()


def test_the_table_shows_the_hyperparameters_that_most_folds_chose() -> None:
    results, _ = compared(
        orders().drop(columns="spends"), ("k-elm", "ridge"), target="kind"
    )
    chosen = results.cells[results.cells["model"] == "k-elm"]["params"]
    most, count = chosen.value_counts().index[0], chosen.value_counts().iloc[0]
    words = (
        f"C={json.loads(most)['C']:.0f} gamma=0.1"
        if json.loads(most)["C"] > 1
        else "C=1 gamma=0.1"
    )
    assert words + f" ({count} of 3)" * bool(count < 3) in results.text
    assert (
        "C=1\n" in "\n".join(line.rstrip() for line in results.text.splitlines()) + "\n"
    )
    assert max(map(len, results.text.splitlines())) <= 80
