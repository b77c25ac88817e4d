"""PathSearchCV makes the choice of GridSearchCV, with its scores, attributes and errors."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from elm_problems import class_of
from search_problems import (
    GRID,
    KERNEL,
    KERNEL_MODEL,
    SEARCHES,
    assert_same,
    both,
    rows,
)
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GroupKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from elmbench import PathSearchCV
from elmbench.models import ELMClassifier, ELMRegressor, KELMClassifier, KELMRegressor


@parametrize_with_checks(
    [
        PathSearchCV(KELMClassifier(), {"C": [1.0, 10.0]}, cv=2, error_score="raise"),
        PathSearchCV(KELMRegressor(), {"C": [1.0, 10.0]}, cv=2, error_score="raise"),
        PathSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2, error_score="raise"),
        PathSearchCV(
            make_pipeline(StandardScaler(), ELMClassifier(n_hidden=20, random_state=0)),
            {"elmclassifier__C": [1.0, 10.0]},
            cv=2,
            error_score="raise",
        ),
    ]
)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


CASES = {
    "kernel": ("wine", KERNEL_MODEL, KERNEL),
    "all scaled alike": ("iris", KELMClassifier(), GRID),
    "kernel regression": ("diabetes", KELMRegressor(), GRID),
    "nodes": (
        "wdbc",
        make_pipeline(MinMaxScaler(), ELMClassifier(random_state=3)),
        {"elmclassifier__n_hidden": [5, 20, 200], "elmclassifier__C": [1.0, 64.0]},
    ),
    "node regression": (
        "diabetes",
        ELMRegressor(random_state=3),
        {"n_hidden": [5, 20], "C": [1.0, 64.0]},
    ),
    "landmarks": (
        "diabetes",
        make_pipeline(
            StandardScaler(), class_of("RKELM", "regression")(random_state=0)
        ),
        {"rkelmregressor__n_landmarks": [10, 40], "rkelmregressor__C": [1.0, 64.0]},
    ),
    "more landmarks than rows": (
        "diabetes",
        make_pipeline(
            StandardScaler(), class_of("RKELM", "regression")(random_state=0)
        ),
        {"rkelmregressor__n_landmarks": [110, 120, 130], "rkelmregressor__C": [64.0]},
    ),
    "online": (
        "iris",
        make_pipeline(MinMaxScaler(), class_of("FBKOSELM", "multi")(C=8.0)),
        {
            "fbkoselmclassifier__budget": [5, 20],
            "fbkoselmclassifier__gamma": [0.5, 4.0],
        },
    ),
    "grids of their own": (
        "iris",
        KELMClassifier(),
        [{"C": [1.0, 10.0]}, {"gamma": [0.1, 1.0, 5.0]}],
    ),
    "steps before it": (
        "wdbc",
        Pipeline(
            [
                ("scale", MinMaxScaler()),
                ("best", SelectKBest()),
                ("model", KELMClassifier()),
            ]
        ),
        {
            "best__k": [3, 8],
            "scale": [MinMaxScaler(), StandardScaler(), "passthrough"],
            "model__C": [1.0, 100.0],
        },
    ),
    "other models beside": (
        "iris",
        Pipeline([("scale", MinMaxScaler()), ("model", KELMClassifier())]),
        [{"model": [KELMClassifier(gamma=3.0), SVC()], "model__C": [1.0, 100.0]}],
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("train_scores", [False, True])
def test_path_search_equals_grid_search(case: str, train_scores: bool) -> None:
    name, estimator, grid = CASES[case]
    X, y = rows(name)
    cv = (
        ShuffleSplit(3, test_size=0.3, random_state=0)
        if name == "diabetes"
        else StratifiedKFold(3)
    )
    plain, by_path = both(estimator, grid, X, y, cv=cv, return_train_score=train_scores)
    assert_same(plain, by_path)
    assert str(by_path.best_params_) == str(plain.best_params_)
    assert type(by_path.best_estimator_) is type(plain.best_estimator_)
    np.testing.assert_array_equal(by_path.predict(X), plain.predict(X))
    assert by_path.score(X, y) == plain.score(X, y)


def fits(monkeypatch: pytest.MonkeyPatch, cls: Any = KELMClassifier) -> list[int]:
    """Return a list that grows by the number of rows with every fit of a class."""
    seen: list[int] = []
    fit = cls.fit

    def counted(self: Any, X: Any, y: Any) -> Any:
        seen.append(len(y))
        return fit(self, X, y)

    monkeypatch.setattr(cls, "fit", counted)
    return seen


def test_one_fit_serves_a_search_on_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows("wdbc")
    seen = fits(monkeypatch)
    grid = {"C": 2.0 ** np.arange(-4, 8), "gamma": [0.01, 0.1]}
    search = PathSearchCV(KELMClassifier(), grid, cv=3).fit(
        MinMaxScaler().fit_transform(X), y
    )
    # Beside the last one, the path itself fits where a bound fails.
    assert seen[-1] == len(y)
    assert len(seen) < 12
    assert (search.cv_results_["mean_fit_time"] > 0).all()


def test_fits_take_the_folds_that_the_path_has_drawn() -> None:
    """A generator yields them once, and a splitter with a `RandomState` others the next time."""
    X, y = rows("iris")
    for cv in (
        lambda: StratifiedKFold(3).split(X, y),
        lambda: ShuffleSplit(3, random_state=np.random.RandomState(0)),
    ):
        splitters = cv(), cv()
        searches = [
            cls(KELMClassifier(), {"C": [-1.0, 2.0]}, cv=c)
            for cls, c in zip(SEARCHES, splitters, strict=True)
        ]
        with pytest.warns(UserWarning, match="non-finite"):
            assert_same(*(search.fit(X, y) for search in searches))
        assert searches[1].cv is splitters[1]


def test_groups_words_and_data_frames() -> None:
    X, y = rows("iris")
    frame = pd.DataFrame(X, columns=list("abcd"))
    words = pd.Series(np.array(["setosa", "versicolor", "virginica"])[y])
    groups = np.arange(len(y)) % 7
    plain, by_path = both(
        *CASES["kernel"][1:], frame, words, {"groups": groups}, cv=GroupKFold(4)
    )
    assert_same(plain, by_path)
    assert list(by_path.feature_names_in_) == list("abcd")
    assert set(by_path.predict(frame)) <= set(words)


def test_path_search_equals_grid_search_on_sparse_rows() -> None:
    X, y = rows("wdbc")
    X = sp.csr_matrix(np.where(np.median(X, axis=0) < X, 1.0, 0.0))
    assert_same(
        *both(
            ELMClassifier(random_state=0),
            {"n_hidden": [10, 30], "C": [1.0, 10.0]},
            X,
            y,
            cv=3,
        )
    )


def test_refit_false_and_a_rule_of_ones_own() -> None:
    X, y = rows("iris")
    plain, by_path = both(KELMClassifier(), GRID, X, y, cv=3, refit=False)
    assert_same(plain, by_path)
    with pytest.raises((NotFittedError, AttributeError)):
        by_path.predict(X)
    plain, by_path = both(
        KELMClassifier(),
        GRID,
        X,
        y,
        cv=3,
        refit=lambda results: len(results["params"]) - 1,
    )
    assert_same(plain, by_path)
    assert by_path.best_params_ == {"C": 128.0, "gamma": 2.0}


def test_a_second_fit_equals_a_fresh_one() -> None:
    X, y = rows("iris")
    search = PathSearchCV(KELMClassifier(), GRID, cv=3).fit(X, y)
    search.set_params(refit=False).fit(X[:, :2], y)
    assert not hasattr(search, "best_estimator_")


@pytest.mark.parametrize("broken", [{"C": [1.0, -1.0]}, {"gamma": ["wide", 1.0]}])
def test_candidates_that_cannot_be_fitted_count_as_in_grid_search(
    broken: dict[str, Any],
) -> None:
    X, y = rows("iris")
    with pytest.warns(UserWarning, match=r"fits failed|non-finite"):
        plain, by_path = both(KELMClassifier(), broken, X, y, cv=3)
    assert_same(plain, by_path)
    assert np.isnan(by_path.cv_results_["mean_test_score"]).sum() == 1
    with pytest.raises(ValueError, match="parameter of KELMClassifier"):
        PathSearchCV(KELMClassifier(), broken, cv=3, error_score="raise").fit(X, y)


def test_missing_values_are_refused_by_the_estimator() -> None:
    X, y = rows("iris")
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        PathSearchCV(KELMClassifier(), GRID, cv=3).fit(X, y)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_codes_of_missing_values_end_a_search(container: Any) -> None:
    """Their squared distances are infinite, which left a path in an endless loop."""
    X, y = rows("iris")
    model = KELMClassifier(gamma=1.0).fit(container(X), y)
    X[3, 1] = np.finfo(float).max
    for broken in (
        lambda: model.fit(container(X), y),
        lambda: model.predict(container(X)),
    ):
        with pytest.raises(
            ValueError, match=r"X: expected magnitudes up to 1e\+150, got 1.8e\+308"
        ):
            broken()
    with pytest.raises(ValueError, match="expected magnitudes"):
        PathSearchCV(KELMClassifier(), GRID, cv=3, error_score="raise").fit(
            container(X), y
        )


@pytest.mark.parametrize(
    "name",
    ["EEM", "ELM", "ELMRBF", "FBKOSELM", "KELM", "LSSVM", "PVM", "RKELM", "WELM"],
)
def test_scores_from_decision_values_are_those_of_fits(name: str) -> None:
    X, y = rows("wdbc")
    estimator = class_of(name, "binary")()
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=5)
    scoring = {"auc": "roc_auc", "rate": "accuracy"}
    model = make_pipeline(MinMaxScaler(), estimator)
    assert_same(
        *both(
            model, {}, X, np.array(["no", "yes"])[y], cv=3, scoring=scoring, refit="auc"
        )
    )


def test_random_numbers_of_a_grid() -> None:
    X, y = rows("iris")
    grid = {"n_hidden": [3, 4], "C": [1.0, 10.0]}
    # A generator's state goes into every clone: no path has such numbers.
    plain, by_path = both(
        ELMClassifier(random_state=np.random.RandomState(3)), grid, X, y, cv=3
    )
    np.testing.assert_array_equal(
        by_path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    np.random.seed(0)  # noqa: NPY002
    one = (
        PathSearchCV(ELMClassifier(), grid, cv=3)
        .fit(X, y)
        .cv_results_["mean_test_score"]
    )
    other = (
        PathSearchCV(ELMClassifier(), grid, cv=3)
        .fit(X, y)
        .cv_results_["mean_test_score"]
    )
    assert not np.array_equal(one, other)


def test_sample_weights_go_to_fits() -> None:
    X, y = rows("diabetes")
    weights = np.random.RandomState(0).uniform(size=len(y))
    for model, grid in ((Ridge(), {"alpha": [0.1, 1.0]}), (KELMRegressor(), GRID)):
        assert_same(*both(model, grid, X, y, {"sample_weight": weights}, cv=3))


def test_parameters_are_checked_under_its_own_name() -> None:
    X, y = rows("iris")
    with pytest.raises(ValueError, match="parameter of PathSearchCV"):
        PathSearchCV(KELMClassifier(), GRID, cv="many").fit(X, y)
    with pytest.raises(ValueError, match="refit must be set"):
        PathSearchCV(KELMClassifier(), GRID, scoring=["accuracy", "f1_macro"]).fit(X, y)


class Recorder:
    """A callback of scikit-learn that records the tasks of a fit."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, int]] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append(("setup", "", 0))

    def on_fit_task_begin(self, estimator: Any, context: Any, *, X: Any = None) -> None:
        self.events.append(("begin", context.task_name, 0 if X is None else len(X)))

    def on_fit_task_end(self, estimator: Any, context: Any, *, y: Any = None) -> None:
        self.events.append(("end", context.task_name, 0 if y is None else len(y)))

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append(("teardown", "", 0))


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("case", ["kernel", "all scaled alike", "node regression"])
def test_callbacks_see_the_tasks_of_grid_search(case: str, refit: bool) -> None:
    name, estimator, grid = CASES[case]
    X, y = rows(name)
    tasks = []
    for search in SEARCHES:
        recorder = Recorder()
        search(clone(estimator), grid, cv=3, refit=refit).set_callbacks(recorder).fit(
            X, y
        )
        tasks.append(recorder.events)
    plain, by_path = tasks
    assert sorted(by_path) == sorted(plain)
    assert by_path[0] == ("setup", "", 0)
    assert by_path[-1] == ("teardown", "", 0)


def test_callbacks_of_a_search_without_a_path_are_set_up_once() -> None:
    X, y = rows("iris")
    recorder = Recorder()
    PathSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=3).set_callbacks(recorder).fit(X, y)
    assert [event for event, *_ in recorder.events].count("setup") == 1


class Demanding(ClassifierMixin, BaseEstimator):
    """A model whose `set_params` wants a parameter."""

    def __init__(self, label: int = 0) -> None:
        self.label = label

    def fit(self, X: Any, y: Any) -> "Demanding":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.label)

    def set_params(self, **params: Any) -> "Demanding":
        self.label = params["label"]
        return self


def test_no_parameters_are_set_where_none_are_given() -> None:
    X, y = rows("wdbc")
    assert_same(*both(Demanding(), {"label": [0, 1]}, X, y, cv=3))


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize(
    "scoring", [None, "neg_mean_squared_error", ["r2", "neg_max_error"]]
)
def test_candidates_that_are_equal_apart_from_round_off_are_chosen_alike(
    number: int, scoring: Any
) -> None:
    """The kernel of distances is the same for rows with any mean."""
    random = np.random.RandomState(number)
    X, y = random.randn(40, 3), random.randn(40)
    grid = {"standardscaler__with_mean": [True, False], "kelmregressor__gamma": [0.1]}
    pipeline = make_pipeline(StandardScaler(), KELMRegressor())
    plain, by_path = both(
        pipeline,
        grid,
        X,
        y,
        cv=3,
        scoring=scoring,
        refit="r2" if scoring == ["r2", "neg_max_error"] else True,
    )
    assert_same(plain, by_path)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("name", ["KELM", "LSSVM"])
@pytest.mark.parametrize("kernel", ["linear", "laplacian", "polynomial"])
def test_labels_of_an_ill_conditioned_system_are_those_of_fits(
    number: int, name: str, kernel: str
) -> None:
    """Of any kernel, at a condition of 1e9 and more."""
    random = np.random.RandomState(number)
    X = random.randn(60, 4)
    y = (X[:, 0] + random.randn(60) > 0).astype(int)
    model = class_of(name, "binary")(kernel=kernel, gamma=1e-3)
    assert_same(*both(model, {"C": [1e6, 1e8, 1e10, 1e12]}, X, y, cv=5))
