"""Comparisons within a time: the order of models, and the steps with growing numbers of rows."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sentences import sentence
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from elmbench.comparison import budget
from elmbench.comparison.budget import run_within_budget
from elmbench.comparison.defaults import SVM_STEPS
from elmbench.comparison.request import ComparisonRequest, prepare_comparison
from elmbench.datasets.user_data import UserData, write_arrays
from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import fold_data, fold_rows, load_rows
from elmbench.results import predictions_file
from elmbench.runs.execute import compute, execute
from elmbench.runs.prepare import PreparedRun, RunOptions
from elmbench.tasks.fit import Fit
from elmbench.tasks.nested_search import Search

pytestmark = pytest.mark.usefixtures("alone")

GRIDS = {"svm": {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}, "ridge": {"C": [1.0, 10.0]}}
#: Longer than any test takes.
LONG = "200h"


@pytest.fixture
def comparison(tmp_path: Path) -> ComparisonRequest:
    X, y = make_classification(60, 4, random_state=0)
    path = write_arrays(X, y, tmp_path / "data", "toy", {})
    return ComparisonRequest(
        (UserData(str(path), "target"),), ("ridge", "svm"), GRIDS, folds=2
    )


def test_cheap_models_come_first_and_those_of_unknown_duration_last(
    comparison: ComparisonRequest, tmp_path: Path
) -> None:
    models: list[str] = []

    def carry_out(run: PreparedRun) -> None:
        models.extend(run.tasks[key].model_name for key in run.todo)
        compute(run, lambda event: None, None)
        assert run.store._path is None, (
            "it is not closed, so its results may not be on the disk"
        )

    final = run_within_budget(
        comparison, RunOptions(), tmp_path / "results", LONG, carry_out
    )
    assert list(dict.fromkeys(models)) == ["dummy", "ridge", "svm"]
    assert sorted(models) == ["dummy"] * 2 + ["ridge"] * 4 + ["svm"] * 4
    assert not final.todo
    ((resolved, _),) = final.tables
    assert resolved.spec.models["svm"].params == {"max_iter": SVM_STEPS}
    assert not any(one.not_run for one in resolved.spec.models.values())


def test_models_left_out_by_the_budget_are_named(
    comparison: ComparisonRequest, tmp_path: Path
) -> None:
    def models_and_notes(*left_out: str) -> tuple[set[str], str]:
        def carry_out(run: PreparedRun) -> None:
            run.todo = [
                key for key in run.todo if run.tasks[key].model_name not in left_out
            ]
            compute(run, lambda event: None, None)

        (results,) = execute(
            run_within_budget(
                comparison, RunOptions(), tmp_path / "results", LONG, carry_out
            )
        )
        return set(results.cells["model"]), " ".join(
            note.text for note in results.table.notes
        )

    models, notes = models_and_notes("svm")
    assert models == {"ridge", "dummy"}
    assert sentence("comparison.budget.spent", models="svm", budget="200h") in notes
    # The same command goes on from what is stored.
    assert models_and_notes("ridge", "dummy")[0] == {"ridge", "dummy", "svm"}


def test_failed_work_is_retried_once(
    comparison: ComparisonRequest, tmp_path: Path
) -> None:
    runs: list[PreparedRun] = []
    options = RunOptions(retry=True)
    run_within_budget(comparison, options, tmp_path / "results", LONG, runs.append)
    assert len(runs) == 1


def test_no_work_begins_after_the_end(
    comparison: ComparisonRequest, tmp_path: Path
) -> None:
    run = prepare_comparison(
        comparison, RunOptions(until=time.monotonic() - 1), tmp_path / "results"
    )
    (results,) = execute(run)
    assert not len(results.cells)


def test_models_without_a_mean_come_last() -> None:
    lines = [("none", np.nan), ("poor", 0.5), ("good", 0.9), ("good", np.nan)]
    cells = pd.DataFrame(lines, columns=["model", "accuracy"]).assign(
        status="ok", dataset="toy"
    )
    ranks = budget._mean_ranks(cells, {"toy": "accuracy"})
    assert ranks == {"good": 1, "poor": 2, "none": 3}


# --- Steps
# ----------------------------------------------------------------------------------------

MODELS = ("ridge", "knn", "elm", "extra-trees", "hist-gradient-boosting")


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ComparisonRequest:
    """A comparison whose models learn 25, 100 and all 400 training rows of a fold."""
    monkeypatch.setattr(budget, "_LEAST_ROWS", 20)
    X, y = make_classification(800, 4, n_informative=3, n_redundant=0, random_state=0)
    path = write_arrays(X, y, tmp_path / "data", "toy", {})
    grids = {
        "ridge": {"C": [1.0]},
        "knn": {"n_neighbors": [5]},
        "elm": {"C": [1.0], "n_hidden": [10]},
        "extra-trees": {"n_estimators": [5]},
        "hist-gradient-boosting": {"n_estimators": [5]},
    }
    return ComparisonRequest((UserData(str(path), "target"),), MODELS, grids, folds=2)


def learnt_rows(run: PreparedRun) -> dict[str, int]:
    """Return the training rows that each model of a plan learns in a fold."""
    fits = [task for task in run.tasks.values() if isinstance(task, Fit)]
    return {fit.model.name: fit.outer_fold.n_train for fit in fits}


def steps_of(
    comparison: ComparisonRequest, folder: Path, stop_after: int = 99
) -> tuple[PreparedRun, list[dict[str, int]]]:
    """Run a comparison whose time is over after some steps; return its plan, and the rows of the
    models at each step.
    """
    steps: list[dict[str, int]] = []

    def carry_out(run: PreparedRun) -> None:
        if len(steps) < stop_after:
            steps.append({run.tasks[key].model_name: 0 for key in run.todo})
            steps[-1] |= {
                name: rows
                for name, rows in learnt_rows(run).items()
                if name in steps[-1]
            }
            compute(run, lambda event: None, None)

    return run_within_budget(comparison, RunOptions(), folder, LONG, carry_out), steps


def test_all_models_learn_few_rows_and_the_promising_ones_more(
    large: ComparisonRequest, tmp_path: Path
) -> None:
    final, steps = steps_of(large, tmp_path / "results")
    assert steps[0] == dict.fromkeys((*MODELS, "dummy"), 25)
    assert len(steps[1]) == 4  # three models and the dummy
    assert set(steps[1].values()) == {100}
    # With time left, the others learn all rows as well.
    assert steps[2].keys() == steps[1].keys()
    assert steps[3].keys() == steps[0].keys() - steps[1].keys()
    assert set(steps[2].values()) | set(steps[3].values()) == {400}
    assert learnt_rows(final) == dict.fromkeys((*MODELS, "dummy"), 400)
    assert not final.todo


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_a_budget_that_ends_early_ranks_all_models_by_what_they_have_learnt(
    large: ComparisonRequest, tmp_path: Path, stop_after: int
) -> None:
    final, steps = steps_of(large, tmp_path / "results", stop_after)
    expected: dict[str, int] = {}
    for step in steps:
        expected |= step
    assert learnt_rows(final) == expected
    (results,) = execute(final)
    assert set(results.cells["model"]) == {*MODELS, "dummy"}
    assert set(results.cells["n_test"]) == {400}
    notes = [note.text for note in results.table.notes if "learnt" in note.text]
    few = [model for model, rows in expected.items() if rows == 25]
    assert notes[-1].startswith(
        ", ".join(name for name in (*MODELS, "dummy") if name in few)
    )
    assert "learnt 25 random training rows of each fold" in notes[-1]
    # The same command goes on where this one ended.
    whole, later = steps_of(large, tmp_path / "results")
    assert len(later) == 4 - stop_after
    assert learnt_rows(whole) == dict.fromkeys((*MODELS, "dummy"), 400)


def test_work_that_exceeds_the_budget_is_not_started(
    large: ComparisonRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds_of = Fit.seconds_of

    def slow_with_all_rows(fit: Fit, n_train: int) -> float:
        is_slow = fit.model.name == "extra-trees" and n_train > 25
        return 1e12 if is_slow else seconds_of(fit, n_train)

    monkeypatch.setattr(Fit, "seconds_of", slow_with_all_rows)
    final, steps = steps_of(large, tmp_path / "results")
    assert not any("extra-trees" in step for step in steps[1:])
    assert learnt_rows(final)["extra-trees"] == 25


def test_models_that_all_rows_would_take_too_long_learn_as_many_as_time_allows(
    large: ComparisonRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds_of = Fit.seconds_of

    def slow_with_all_rows(fit: Fit, n_train: int) -> float:
        return 1e12 if n_train > 100 else seconds_of(fit, n_train)

    monkeypatch.setattr(Fit, "seconds_of", slow_with_all_rows)
    final, steps = steps_of(large, tmp_path / "results")
    assert [len(step) for step in steps[:2]] == [6, 4]
    learnt = learnt_rows(final)
    assert {learnt[model] for model in MODELS} == {100}


def test_better_estimates_after_more_rows_use_the_time_that_is_left(
    large: ComparisonRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pessimistic(race: budget._Race, model: str, n_rows: int) -> float:
        return 1e12 if n_rows > 10 * race.learnt.get(model, n_rows) else 0.0

    monkeypatch.setattr(budget._Race, "_expected_seconds", pessimistic)
    final, steps = steps_of(large, tmp_path / "results")
    rows_of_trees = [step["extra-trees"] for step in steps if "extra-trees" in step]
    assert rows_of_trees == [25, 100, 400]
    assert learnt_rows(final) == dict.fromkeys((*MODELS, "dummy"), 400)


def test_the_rows_of_a_step_are_a_stratified_sample_that_is_prepared_alone(
    large: ComparisonRequest, tmp_path: Path
) -> None:
    final, _ = steps_of(large, tmp_path / "results", stop_after=1)
    fits = [task for task in final.tasks.values() if isinstance(task, Fit)]
    for fit in fits:
        data = fold_data(fit.outer_fold, None)
        train, test = fold_rows(fit.outer_fold, None)
        whole = load_rows(fit.outer_fold.dataset, None)
        assert len(set(train)) == 25
        assert not set(train) & set(test)
        assert abs(np.sum(whole.y[train] > 0) - 12.5) < 2
        scaler = StandardScaler().fit(whole.X[train])
        np.testing.assert_allclose(data.X_train, scaler.transform(whole.X[train]))
        np.testing.assert_allclose(data.X_test, scaler.transform(whole.X[test]))
        assert data.y_train.tolist() == whole.y[train].tolist()
    # The search is that of all rows, so that later steps need no new one.
    searches = [task for task in final.tasks.values() if isinstance(task, Search)]
    assert {search.outer_fold.train_rows for search in searches} == {None}


def test_many_predictions_are_a_parquet_file(
    comparison: ComparisonRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = RunOptions()
    (results,) = execute(prepare_comparison(comparison, options, tmp_path / "results"))
    text = pd.read_csv(results.folder / "predictions.csv")
    monkeypatch.setattr(predictions_file, "MOST_CSV_LINES", len(text) - 1)
    (results,) = execute(prepare_comparison(comparison, options, tmp_path / "results"))
    binary = pd.read_parquet(results.folder / "predictions.parquet")
    assert not (results.folder / "predictions.csv").exists()
    assert binary.columns.tolist() == text.columns.tolist()
    assert binary["row"].tolist() == text["row"].tolist()
    assert (
        binary["predicted"].astype(str).tolist()
        == text["predicted"].astype(str).tolist()
    )
    monkeypatch.setattr(predictions_file, "MOST_CSV_LINES", len(text))
    execute(prepare_comparison(comparison, options, tmp_path / "results"))
    assert not (results.folder / "predictions.parquet").exists()


def test_an_estimate_counts_the_test_rows_of_all_training_rows(
    large: ComparisonRequest, tmp_path: Path
) -> None:
    final, _ = steps_of(large, tmp_path / "results", stop_after=1)
    fits = [task for task in final.tasks.values() if isinstance(task, Fit)]
    assert {fit.outer_fold.n_train for fit in fits} == {25}
    assert {fit.outer_fold.n_test for fit in fits} == {400}


def test_all_models_are_tested_on_the_same_sample_of_many_test_rows(
    large: ComparisonRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "_MOST_TEST_ROWS", 50)
    final, _ = steps_of(large, tmp_path / "results")
    fits = [task for task in final.tasks.values() if isinstance(task, Fit)]
    tested_of_folds: dict[int, set[tuple[int, ...]]] = {0: set(), 1: set()}
    for fit in fits:
        outer_fold = fit.outer_fold
        train, test = fold_rows(outer_fold, None)
        whole_train, whole_test = fold_rows(replace(outer_fold, test_rows=None), None)
        assert outer_fold.n_test == len(test) == 50
        assert train.tolist() == whole_train.tolist()
        assert set(test) < set(whole_test)
        tested_of_folds[outer_fold.fold].add(tuple(test))
        data = fold_data(outer_fold, None)
        y = load_rows(outer_fold.dataset, None).y
        assert data.X_test.shape == (50, 4)
        assert data.y_test.tolist() == y[test].tolist()
        assert abs(np.sum(data.y_test > 0) - 25) < 2
    assert [len(samples) for samples in tested_of_folds.values()] == [1, 1]
    # The search does not depend on the test rows.
    searches = [task for task in final.tasks.values() if isinstance(task, Search)]
    assert {search.outer_fold.test_rows for search in searches} == {None}
    (results,) = execute(final)
    assert set(results.cells["n_test"]) == {50}
    subtitle = sentence(
        "comparison.budget.tested-on-a-sample", folds=2, test_rows=50, inner_folds=3
    )
    assert subtitle in " ".join(results.text.split())


def test_a_budget_that_reading_uses_up_is_an_error_unless_results_are_stored(
    comparison: ComparisonRequest, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    runs: list[PreparedRun] = []
    with pytest.raises(ElmbenchError) as error:
        run_within_budget(comparison, RunOptions(), folder, "0.001s", runs.append)
    assert not runs
    assert error.value.found.startswith("reading toy.parquet took 0 s of the budget")
    assert error.value.next_step == "--budget 1min, or give fewer rows"
    execute(
        run_within_budget(
            comparison,
            RunOptions(),
            folder,
            LONG,
            lambda run: compute(run, lambda event: None, None),
        )
    )
    final = run_within_budget(comparison, RunOptions(), folder, "0.001s", runs.append)
    assert learnt_rows(final).keys() == {"ridge", "svm", "dummy"}
    assert not runs


def test_models_stop_in_time_for_the_tables(
    comparison: ComparisonRequest, tmp_path: Path
) -> None:
    ends: list[float] = []
    before = time.monotonic()
    run_within_budget(
        comparison,
        RunOptions(),
        tmp_path / "results",
        "1h",
        lambda run: ends.append(run.options.until),
    )
    reading_seconds = time.monotonic() - before
    assert before + 3600 - reading_seconds < ends[0] < before + 3600 - 1e-3


def test_an_estimate_counts_the_preparation_of_the_rows(
    large: ComparisonRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected: dict[int, float] = {}
    seconds_of = budget._Race._expected_seconds

    def watch(race: budget._Race, model: str, n_rows: int) -> float:
        if model == "ridge" and model in race.seconds:
            race.other_seconds[model] = 1000.0
            expected[n_rows] = seconds_of(race, model, n_rows)
        return seconds_of(race, model, n_rows)

    monkeypatch.setattr(budget._Race, "_expected_seconds", watch)
    steps_of(large, tmp_path / "results")
    # From 25 or 100 rows to 400, with 400 test rows.
    assert expected[400] == pytest.approx(1000 * 800 / 425, rel=0.01) or expected[
        400
    ] == pytest.approx(1000 * 800 / 500, rel=0.01)
