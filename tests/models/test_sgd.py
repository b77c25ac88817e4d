"""Pegasos, the adaptive multi-hyperplane machine and BSGD as estimators; their loops are tested in
`oracles/`.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import problem, rows, targets
from sklearn.base import clone
from sklearn.svm import SVC, LinearSVC

from elmbench.models import AMMClassifier, BSGDClassifier, PegasosClassifier
from elmbench.numerics.nodes import hidden_layer
from elmbench.numerics.online.budgeted_sgd import BudgetedState, Pair, best_merge
from elmbench.numerics.online.hyperplanes import HyperplaneState

each_kind = pytest.mark.parametrize("kind", ["binary", "multi", "one"])


def test_lambda_is_that_of_the_support_vector_machine_with_the_same_c():
    """Many passes come near the minimum of |w|^2 / 2 + C sum of the losses, with the intercept a
    part of w.
    """
    X, y = problem(60, 2, 0, "binary")
    whole = np.column_stack([X, np.ones(60)])
    reference = LinearSVC(
        C=2.0, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6
    ).fit(whole, y)

    def objective(w):
        return w @ w / 2 + 2.0 * np.maximum(0, 1 - y * (whole @ w)).sum()

    model = PegasosClassifier(C=2.0, n_epochs=2000, random_state=0).fit(X, y)
    least = objective(reference.coef_[0])
    assert (
        least * (1 - 1e-6)
        <= objective(np.r_[model.coef_[0], model.intercept_])
        < 1.02 * least
    )
    np.testing.assert_array_equal(
        model.predict(X), np.where(model.decision_function(X) > 0, 1, -1)
    )


@each_kind
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_with_one_weight_a_class_the_machine_is_pegasos(kind, fit_intercept, seed):
    X = rows(90, 4, seed) - 0.5
    y = targets(X, seed, kind)
    common = {
        "C": 4.0,
        "n_epochs": 3,
        "fit_intercept": fit_intercept,
        "random_state": seed,
    }
    expected = PegasosClassifier(**common).fit(X, y)
    for mode in ("online", "batch"):
        model = AMMClassifier(**common, n_weights=1, mode=mode).fit(X, y)
        outputs = expected.decision_function(X)
        np.testing.assert_allclose(
            model.decision_function(X),
            outputs,
            atol=1e-12 * (1 + np.abs(outputs).max()),
        )
        assert model.n_units_ == max(2, len(model.classes_))
    assert expected.n_units_ == (4 if kind == "multi" else 1) == len(expected.coef_)


@each_kind
def test_outputs_are_those_of_the_weights_that_are_shown(kind, seed):
    X, probe = rows(90, 4, seed) - 0.5, rows(30, 4, seed + 1) - 0.5
    y = targets(X, seed, kind)
    pegasos = PegasosClassifier(C=8.0, random_state=0).fit(X, y)
    outputs = probe @ pegasos.coef_.T + pegasos.intercept_
    np.testing.assert_allclose(
        pegasos.decision_function(probe).reshape(30, -1), outputs, atol=1e-10
    )
    if kind != "one":
        model = AMMClassifier(C=8.0, random_state=0).fit(X, y)
        scores = probe @ model.weights_.T + model.intercepts_
        by_class = np.array(
            [
                scores[:, model.weight_classes_ == label].max(axis=1)
                for label in model.classes_
            ]
        ).T
        np.testing.assert_array_equal(
            model.predict(probe), model.classes_[by_class.argmax(axis=1)]
        )
        expected = by_class[:, 1] - by_class[:, 0] if kind == "binary" else by_class
        np.testing.assert_allclose(model.decision_function(probe), expected, atol=1e-10)
        assert model.n_units_ == len(model.weights_) > len(model.classes_)


def test_the_modes_are_the_same_for_one_pass_and_differ_after_it(seed):
    X = rows(90, 4, seed) - 0.5
    y = targets(X, seed, "multi")

    def outputs(n_epochs, mode):
        return (
            AMMClassifier(C=8.0, n_epochs=n_epochs, mode=mode, random_state=0)
            .fit(X, y)
            .decision_function(X)
        )

    np.testing.assert_array_equal(outputs(1, "online"), outputs(1, "batch"))
    assert (outputs(4, "online") != outputs(4, "batch")).any()


def test_small_weights_are_dropped(seed):
    X = rows(200, 4, seed) - 0.5
    y = targets(X, seed, "multi")
    whole = AMMClassifier(C=8.0, random_state=0).fit(X, y)
    pruned = AMMClassifier(C=8.0, prune_every=100, pruning=1.0, random_state=0).fit(
        X, y
    )
    barest = AMMClassifier(C=8.0, prune_every=1000, pruning=1e6, random_state=0).fit(
        X, y
    )
    assert barest.n_units_ == 4 < whole.n_units_
    assert pruned.n_units_ < whole.n_units_


@pytest.mark.parametrize(
    "model",
    [
        PegasosClassifier(),
        AMMClassifier(),
        AMMClassifier(mode="batch"),
        BSGDClassifier(budget=15, gamma=1.0),
    ],
    ids=["pegasos", "amm-online", "amm-batch", "bsgd"],
)
def test_one_pass_in_order_is_partial_fit_and_the_steps_go_on(model):
    X, y = problem(90, 3, 1, "multi")
    model = clone(model).set_params(C=4.0, n_epochs=1, shuffle=False)
    fitted = clone(model).fit(X, y)
    once = clone(model).partial_fit(X, y)
    np.testing.assert_array_equal(
        once.decision_function(X), fitted.decision_function(X)
    )
    budgeted = isinstance(model, BSGDClassifier)
    state = (
        BudgetedState(3, 4, 1.0, 15)
        if budgeted
        else HyperplaneState(3, 4, 1.0, getattr(model, "n_weights", 1))
    )
    streamed, labels = clone(model), np.searchsorted(fitted.classes_, y)
    for start in (0, 30, 60):
        part = slice(start, start + 30)
        streamed.partial_fit(X[part], y[part], classes=fitted.classes_)
        state.extend(X[part], labels[part], 1 / (4.0 * (start + 30)))
    assert streamed.n_steps_ == 90
    if budgeted:
        np.testing.assert_array_equal(streamed.beta_, state.solution(1 / (4.0 * 90)))
        assert streamed.n_units_ <= 15
    else:
        weights, intercepts, owners = state.solution(1 / (4.0 * 90))
        expected = np.array(
            [
                (X @ weights.T + intercepts)[:, owners == label].max(axis=1)
                for label in range(4)
            ]
        ).T
        np.testing.assert_allclose(streamed.decision_function(X), expected, atol=1e-10)


def test_lambda_of_a_budget_is_that_of_the_support_vector_machine_with_the_same_c():
    """Many passes without a budget come near the minimum of |w|^2 / 2 + C sum of the losses."""
    X, y = problem(60, 2, 0, "binary")
    reference = SVC(C=2.0, gamma=3.0).fit(X, y)

    def objective(vectors, weights, outputs):
        K = np.exp(-3.0 * ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2))
        return weights @ K @ weights / 2 + 2.0 * np.maximum(0, 1 - y * outputs).sum()

    model = BSGDClassifier(
        budget=60, C=2.0, gamma=3.0, n_epochs=400, random_state=0
    ).fit(X, y)
    value = objective(
        model.support_vectors_, model.beta_[:, 0], model.decision_function(X)
    )
    outputs = reference.decision_function(X) - reference.intercept_
    least = objective(reference.support_vectors_, reference.dual_coef_[0], outputs)
    # The intercept, which BSGD lacks, makes little of a difference here.
    assert value < 1.02 * least
    np.testing.assert_array_equal(
        model.predict(X), np.where(model.decision_function(X) > 0, 1, -1)
    )


@pytest.mark.parametrize("maintenance", ["merging", "removal"])
@each_kind
def test_sparse_rows_stay_sparse_and_duplicate_elements_are_added(
    maintenance, kind, monkeypatch
):
    """In blocks of some rows too."""
    X, y = problem(120, 8, 3, kind)
    full = sp.csr_matrix(np.where(X < 0.6, 0.0, X))
    twice = sp.csr_matrix(
        (np.repeat(full.data / 2, 2), np.repeat(full.indices, 2), 2 * full.indptr),
        shape=X.shape,
    )
    model = BSGDClassifier(
        budget=9, C=8.0, gamma=0.5, maintenance=maintenance, n_epochs=2, random_state=1
    )
    dense = clone(model).fit(full.toarray(), y)
    monkeypatch.setattr(hidden_layer, "ROW_BLOCK", 7)
    for given in (full, twice):
        sparse = clone(model).fit(given, y)
        assert sp.issparse(sparse.support_vectors_)
        np.testing.assert_array_equal(
            sparse.support_vectors_.toarray(), dense.support_vectors_
        )
        np.testing.assert_array_equal(sparse.beta_, dense.beta_)


def test_rows_are_shuffled_in_each_pass_by_default(monkeypatch):
    seen = []
    monkeypatch.setattr(
        BudgetedState,
        "extend",
        lambda state, X, labels, ridge: seen.append(X[:, 0].tolist()),
    )
    X = np.arange(6.0)[:, np.newaxis]
    BSGDClassifier(n_epochs=2, random_state=0).fit(X, X[:, 0] > 2)
    BSGDClassifier(n_epochs=2, shuffle=False).fit(X, X[:, 0] > 2)
    random = np.random.RandomState(0)
    assert seen == [
        random.permutation(6).tolist(),
        random.permutation(6).tolist(),
        [*range(6)],
        [*range(6)],
    ]


@pytest.mark.parametrize("exponent", np.linspace(-8.0, -2.5, 40))
@pytest.mark.parametrize("weight", [1.0, 1.7])
def test_of_two_equal_maxima_of_a_merge_the_first_is_taken(exponent, weight):
    """Equal weights have them at h and 1 - h."""
    pair = Pair(exponent, aa=weight, ab=weight, bb=weight)
    h, _ = best_merge(pair)
    assert h < 0.5


@pytest.mark.parametrize("kind", ["binary", "multi"])
@pytest.mark.parametrize("number", range(6))
def test_round_off_of_distances_does_not_change_a_model(kind, number):
    """The order of the features is that of the terms of each distance. Features of few values have
    many equal distances.
    """
    random = np.random.RandomState(number)
    X = random.randint(0, 4, (400, 12)) / 3
    score = X[:, :4].sum(axis=1) + random.rand(400)
    y = (score > 2.5).astype(int) + (kind == "multi") * (score > 3.0)
    order = random.permutation(12)
    model = BSGDClassifier(budget=20, C=10.0, gamma=2.0, random_state=number)
    first, second = clone(model).fit(X, y), clone(model).fit(X[:, order], y)
    np.testing.assert_allclose(
        second.decision_function(X[:, order]),
        first.decision_function(X),
        rtol=0,
        atol=1e-6 * np.abs(first.decision_function(X)).max(),
    )
