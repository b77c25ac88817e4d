"""The baselines and the support vector machine against the same estimators of scikit-learn."""

import inspect
from collections import Counter
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import counting, problem, rows, targets
from sentences import pattern
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVR
from sklearn.tree import DecisionTreeRegressor

from elmbench.models import ELMClassifier, SVMClassifier, baselines, svm
from elmbench.models.baselines import n_units

RIDGES = {"classifier": RidgeClassifier, "regressor": Ridge}


@pytest.mark.parametrize("kind", ["binary", "multi", "regression"])
def test_neighbours_are_at_most_all_rows(kind):
    X, y = problem(12, 4, 0, kind)
    model_class, reference = (
        (baselines.KNNRegressor, KNeighborsRegressor)
        if kind == "regression"
        else (baselines.KNNClassifier, KNeighborsClassifier)
    )
    probe = rows(25, 4, 1)
    for asked, used in ((3, 3), (25, 12)):
        model, expected = model_class(asked).fit(X, y), reference(used).fit(X, y)
        np.testing.assert_array_equal(model.predict(probe), expected.predict(probe))
        if kind != "regression":
            np.testing.assert_array_equal(
                model.predict_proba(probe), expected.predict_proba(probe)
            )
        assert model.n_neighbors == asked
        with pytest.raises(ValueError, match="n_neighbors > 0"):
            model.kneighbors(probe, n_neighbors=0)
        assert n_units(model) == 12


def by_hand(name, task):
    """Return the parameters, the estimator that should come of them, and what its size is."""
    ridge = RIDGES[task](alpha=0.125)
    if name == "ridge":
        return {"C": 8.0}, ridge, lambda model: model.coef_.size
    if name in ("nystroem_ridge", "llsvm"):
        features = Nystroem(kernel="rbf", gamma=0.7, n_components=13, random_state=5)
        params = {"n_landmarks": 13, "gamma": 0.7, "C": 8.0, "random_state": 5}
        last = ridge if name == "nystroem_ridge" else LinearSVC(C=8.0, random_state=5)
        return params, make_pipeline(features, last), lambda model: 13
    if name == "rff_ridge":
        features = RBFSampler(gamma=0.7, n_components=17, random_state=5)
        params = {"n_hidden": 17, "gamma": 0.7, "C": 8.0, "random_state": 5}
        return params, make_pipeline(features, ridge), lambda model: 17
    params = {"C": 8.0, "gamma": 0.7, "epsilon": 0.02, "nu": None, "max_iter": 10**6}
    return (
        params,
        SVR(C=8.0, gamma=0.7, epsilon=0.02, max_iter=10**6),
        lambda model: len(model.support_),
    )


@pytest.mark.filterwarnings("ignore:n_components > n_samples")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *product(
            ["ridge", "nystroem_ridge", "rff_ridge"], ["binary", "multi", "regression"]
        ),
        ("svm", "regression"),
        ("llsvm", "binary"),
        ("llsvm", "multi"),
    ],
)
def test_baselines_equal_pipelines_of_scikit_learn(name, kind):
    task = "regressor" if kind == "regression" else "classifier"
    X, y = problem(60, 4, 0, kind)
    factory = getattr(baselines, f"{name}_{task}")
    params, expected, size = by_hand(name, task)
    assert set(inspect.signature(factory).parameters) == set(params)
    model = factory(**params).fit(X, y)
    expected.fit(X, y)
    probe = rows(25, 4, 1)
    np.testing.assert_array_equal(model.predict(probe), expected.predict(probe))
    assert n_units(model) == size(expected)
    assert type(n_units(model)) is int
    factory().fit(X, y)


@pytest.mark.parametrize("nu", [0.3, 0.5])
def test_nu_is_the_least_share_of_support_vectors(nu, seed):
    X, probe = rows(80, 3, seed), rows(20, 3, seed + 1)
    y = targets(X, seed, "regression")
    model = baselines.svm_regressor(C=2.0, gamma=0.7, epsilon=9.0, nu=nu).fit(X, y)
    np.testing.assert_array_equal(
        model.predict(probe), NuSVR(nu=nu, C=2.0, gamma=0.7).fit(X, y).predict(probe)
    )
    assert n_units(model) == len(model.support_) >= nu * 80 - 1e-9
    # The width that was given is none of its own.
    assert np.ptp(model.predict(probe)) > 0.1


def test_epsilon_is_the_width_by_default(seed):
    X, y = problem(80, 3, seed, "regression")
    plain, wide = (
        baselines.svm_regressor().fit(X, y),
        baselines.svm_regressor(epsilon=100.0).fit(X, y),
    )
    np.testing.assert_array_equal(plain.predict(X), SVR(gamma=1.0).fit(X, y).predict(X))
    assert n_units(wide) == 0


def test_low_rank_machine_takes_sparse_rows():
    X = rows(60, 8, 3)
    X[X < 0.6] = 0
    y = targets(X, 3, "multi")
    model = baselines.llsvm_classifier(n_landmarks=20, C=8.0, random_state=1)
    expected = model.fit(X, y).decision_function(X)
    sparse = model.fit(sp.csr_matrix(X), y)
    assert sp.issparse(sparse[0].components_)
    # Either is solved to 1e-4 of its gradient.
    off = np.abs(sparse.decision_function(sp.csr_matrix(X)) - expected)
    assert off.max() <= 1e-3 * np.abs(expected).max()


@pytest.mark.filterwarnings("error:n_components > n_samples")
def test_sizes_of_other_estimators():
    X, y = problem(40, 3, 0, "binary")
    assert (
        n_units(baselines.nystroem_ridge_regressor(n_landmarks=50).fit(X, X[:, 0]))
        == 40
    )
    logistic = LogisticRegression().fit(X, y)
    assert n_units(logistic) == 3
    assert n_units(make_pipeline(StandardScaler(), SVC()).fit(X, y)) == len(
        SVC().fit(StandardScaler().fit_transform(X), y).support_
    )
    pipeline = make_pipeline(StandardScaler(), ELMClassifier(n_hidden=7)).fit(X, y)
    assert n_units(pipeline) == n_units(pipeline[-1]) == 7
    tree = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, X[:, 0])
    assert n_units(tree) == 5
    trees = ExtraTreesClassifier(n_estimators=6, random_state=5).fit(X, y)
    assert n_units(trees) == sum(
        (one.tree_.children_left == -1).sum() for one in trees.estimators_
    )
    assert n_units(KMeans(2).fit(X)) is None


@pytest.mark.parametrize("name", ["ridge", "nystroem_ridge", "rff_ridge"])
def test_the_ridge_of_a_baseline_must_be_positive(name):
    with pytest.raises(
        ValueError,
        match=pattern("models.parameters.number-not-positive", parameter="C", value=0),
    ):
        getattr(baselines, f"{name}_regressor")(C=0)


@pytest.mark.parametrize("cls", [SVMClassifier, svm.EpsilonSVR])
def test_an_infinite_C_is_an_error_not_an_endless_fit(cls):
    with pytest.raises(ValueError, match="The 'C' parameter of"):
        cls(C=np.inf, max_iter=1000).fit([[0.0], [0.0], [1.0]], [0, 1, 1])


@pytest.mark.parametrize("class_weight", [None, "balanced", {1: 3.0}])
@pytest.mark.parametrize("kind", ["binary", "multi"])
def test_the_support_vector_machine_is_scikit_learn_s_own(kind, class_weight):
    """For the rows that have weight; no trace is left of others, not even of their class."""
    X, y = problem(60, 4, 0, kind)
    class_weight = (
        {"a": 3.0} if kind == "multi" and class_weight == {1: 3.0} else class_weight
    )
    weights = None if class_weight is None else np.arange(60) % 3
    given_rows = np.arange(60)
    if weights is not None:
        if kind == "multi":
            weights[y == "d"] = 0
        given_rows = np.flatnonzero(weights)
    model = SVMClassifier(C=8.0, class_weight=class_weight).fit(X.tolist(), y, weights)
    expected = SVC(C=8.0, class_weight=class_weight)
    expected.fit(
        X[given_rows], y[given_rows], None if weights is None else weights[given_rows]
    )
    probe = rows(25, 4, 1)
    np.testing.assert_array_equal(
        model.decision_function(probe), expected.decision_function(probe)
    )
    np.testing.assert_array_equal(model.predict(probe), expected.predict(probe))
    assert model.n_units_ == len(expected.support_)
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
    assert model.capped_ == 0
    one_weight, twice = SVMClassifier(C=8.0).fit(X, y, 2.0), SVC(C=16.0).fit(X, y)
    np.testing.assert_allclose(
        one_weight.decision_function(probe), twice.decision_function(probe), atol=1e-12
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("most_bytes", [0, svm.MOST_BYTES])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["binary", "multi"])
def test_path_of_the_support_vector_machine(kind, sparse, most_bytes, monkeypatch):
    """LIBSVM takes the same steps with a kernel that is computed in advance, up to the round-off of
    its entries.
    """
    monkeypatch.setattr(svm, "MOST_BYTES", most_bytes)
    X, y = problem(90, 5, 3, kind)
    X = sp.csr_array(X) if sparse else X
    folds = [(np.arange(60), np.arange(60, 90)), (np.arange(89, 20, -1), np.arange(20))]
    candidates = [
        {"gamma": gamma, "C": C}
        for gamma, C in product((1e-3, "scale", 3.0), (0.1, 10.0, 1e3))
    ]
    fixed = {"class_weight": "balanced", "max_iter": 150}
    solvers = Counter()
    path = counting(
        SVMClassifier.evaluate_grid(X, y, folds, candidates, **fixed), solvers
    )
    labels = {(i, j): predicted for i, j, predicted in path}
    stopped = 0
    for i, j, outputs, _ in SVMClassifier.decision_grid(
        X, y, folds, candidates, **fixed
    ):
        train, test = folds[j]
        model = SVMClassifier(**fixed, **candidates[i]).fit(X[train], y[train])
        stopped += model.capped_ > 0
        scale = 1 + np.abs(model.dual_coef_).sum()
        np.testing.assert_allclose(
            outputs, model.decision_function(X[test]), rtol=0, atol=1e-9 * scale
        )
        np.testing.assert_array_equal(labels[i, j], model.predict(X[test]))
    assert len(labels) == 18
    assert 0 < stopped < 18
    assert solvers["capped"] == stopped


def test_the_path_repeats_no_fit_that_a_larger_C_does_not_change(monkeypatch):
    X, y = problem(90, 5, 3, "multi")
    folds, candidates = (
        [(np.arange(60), np.arange(60, 90))],
        [{"gamma": 1.0, "C": 10.0**e} for e in range(8, -2, -1)],
    )
    expected = [
        SVMClassifier(**candidate).fit(X[:60], y[:60]).decision_function(X[60:])
        for candidate in candidates
    ]
    fits, fit = [], SVMClassifier.fit
    monkeypatch.setattr(
        SVMClassifier,
        "fit",
        lambda self, *args: fits.append(self.C) or fit(self, *args),
    )
    for i, _, outputs, _ in SVMClassifier.decision_grid(X, y, folds, candidates):
        np.testing.assert_allclose(outputs, expected[i], rtol=0, atol=1e-10)
    assert fits[0] == 0.1
    assert 2 < len(fits) < 6


def test_a_fit_stopped_before_convergence_warns_and_is_counted():
    X, y = problem(200, 2, 0, "binary")
    with pytest.warns(ConvergenceWarning, match="max_iter=50"):
        model = SVMClassifier(C=1e10, gamma=1.0, max_iter=50).fit(X, y)
    assert (model.capped_, model.solvers_) == (1.0, {"capped": 1})
    model = SVMClassifier(C=1.0, gamma=1e-3, max_iter=100_000).fit(X, y)
    assert (model.capped_, model.solvers_) == (0.0, {})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_share_of_the_problems_that_were_stopped():
    X, y = problem(200, 3, 2, "multi")
    steps = SVC(C=10.0, gamma=1.0).fit(X, y).n_iter_
    limit = int(np.sort(steps)[-2])
    model = SVMClassifier(C=10.0, gamma=1.0, max_iter=limit).fit(X, y)
    assert model.capped_ == (steps >= limit).mean() == 1 / 3
    assert model.solvers_ == {"capped": 1}


@pytest.mark.filterwarnings("error:n_components > n_samples")
@pytest.mark.parametrize("kind", ["multi", "regression"])
def test_candidates_of_a_pipeline_share_features_and_equal_models(kind, monkeypatch):
    """A path gives the outputs of fits within round-off, from one fit of each different step."""
    X, y = problem(60, 4, 0, kind)
    folds = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    task = "regressor" if kind == "regression" else "classifier"
    factory = getattr(baselines, f"nystroem_ridge_{task}")
    candidates = [
        {"n_landmarks": size, "gamma": gamma, "C": C}
        for size, gamma, C in product((20, 50, 90), (0.1, 1.0), (0.5, 8.0))
    ]
    expected = {
        (i, j): factory(**candidate, random_state=3)
        .fit(X[train], y[train])
        .predict(X[test])
        for i, candidate in enumerate(candidates)
        for j, (train, test) in enumerate(folds)
    }
    fits = []
    fit = Nystroem.fit
    monkeypatch.setattr(
        Nystroem,
        "fit",
        lambda self, *args: fits.append(self.n_components) or fit(self, *args),
    )
    evaluated = list(factory.evaluate_grid(X, y, folds, candidates, random_state=3))
    # All 40 training rows are the landmarks for 50 and for 90.
    assert len(fits) == len(folds) * 2 * 2
    assert sum(evaluation.solvers["clone and fit"] for evaluation in evaluated) == 16
    outputs = {(i, j): values for i, j, values, _ in evaluated}
    assert outputs.keys() == expected.keys()
    for key, values in outputs.items():
        if kind == "regression":
            np.testing.assert_allclose(values, expected[key], rtol=1e-9)
        else:
            np.testing.assert_array_equal(values, expected[key])


def test_decision_values_of_a_path_are_those_of_fits():
    X, y = problem(60, 4, 0, "multi")
    folds = [(np.arange(40), np.arange(40, 60))]
    candidates = [{"C": 0.5}, {"C": 8.0}]
    fixed = {"n_hidden": 10, "gamma": 0.3, "random_state": 3}
    evaluated = list(
        baselines.rff_ridge_classifier.decision_grid(X, y, folds, candidates, **fixed)
    )
    assert sorted(i for i, *_ in evaluated) == [0, 1]
    for i, _, outputs, _ in evaluated:
        model = baselines.rff_ridge_classifier(**candidates[i], **fixed).fit(
            X[:40], y[:40]
        )
        expected = model.decision_function(X[40:])
        np.testing.assert_allclose(outputs, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["binary", "multi", "regression"])
def test_ridges_of_a_grid_share_a_fit(kind, monkeypatch):
    """The outputs of a path are those of separate fits within round-off."""
    X, y = problem(60, 4, 0, kind)
    task = "regressor" if kind == "regression" else "classifier"
    methods = {"evaluate_grid": "predict"}
    if kind != "regression":
        methods["decision_grid"] = "decision_function"
    folds = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    candidates = [{"C": C} for C in (0.01, 1.0, 100.0)]
    n_fits = Counter()
    fit = Ridge.fit

    def counted(self, *args, **options):
        n_fits["fit"] += 1
        return fit(self, *args, **options)

    monkeypatch.setattr(Ridge, "fit", counted)
    factory = getattr(baselines, f"ridge_{task}")
    for path, method in methods.items():
        n_fits.clear()
        evaluated = list(getattr(factory, path)(X, y, folds, candidates))
        assert n_fits["fit"] == len(folds)
        assert len(evaluated) == 6
        for i, j, outputs, _ in evaluated:
            train, test = folds[j]
            separate = factory(**candidates[i]).fit(X[train], y[train])
            expected = getattr(separate, method)(X[test])
            if method == "predict" and kind != "regression":
                np.testing.assert_array_equal(outputs, expected)
            else:
                np.testing.assert_allclose(outputs, expected, rtol=1e-9, atol=1e-12)


def test_ridges_of_many_classes_and_features_have_separate_fits(monkeypatch):
    X = rows(120, 60, 0)
    y = np.arange(120) % 20
    folds = [(np.arange(100), np.arange(100, 120))]
    shared = []
    monkeypatch.setattr(
        "elmbench.models.base.ridge_candidates._ridge_outputs",
        lambda *arguments: shared.append(arguments),
    )
    candidates = [{"C": C} for C in (1.0, 2.0, 4.0)]
    list(baselines.ridge_classifier.evaluate_grid(X, y, folds, candidates))
    assert not shared


@pytest.mark.parametrize("kind", ["multi", "regression"])
@pytest.mark.parametrize(("n", "n_fits"), [(60, 2), (400, 4)])
def test_equal_boosted_trees_are_grown_once(kind, n, n_fits):
    """Leaves of 20 rows leave 45 training rows at most 2 leaves, and 300 rows up to 15."""
    X, y = problem(n, 4, 0, kind)
    task = "regressor" if kind == "regression" else "classifier"
    factory = getattr(baselines, f"hist_gradient_boosting_{task}")
    test = np.arange(n) < n // 4
    folds = [(np.flatnonzero(~test), np.flatnonzero(test))]
    candidates = [
        {"learning_rate": rate, "n_leaves": leaves}
        for rate in (0.05, 0.2)
        for leaves in (7, 31)
    ]
    fixed = {"n_estimators": 3, "random_state": 0}
    solvers = Counter()
    path = factory.evaluate_grid(X, y, folds, candidates, **fixed)
    for i, _, outputs in counting(path, solvers):
        model = factory(**fixed, **candidates[i]).fit(X[~test], y[~test])
        np.testing.assert_array_equal(outputs, model.predict(X[test]))
    assert solvers["clone and fit"] == n_fits
