"""Multiple kernel ELM: what its paper proves of it, K-ELM as its case of one kernel, awkward
kernels, memory.
"""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
import yaml
from elm_problems import (
    FACTORS,
    class_of,
    is_classification,
    problem,
    real_outputs,
    rows,
    targets,
)
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sentences import pattern
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

import elmbench
from elmbench.models import MKELMClassifier, MKELMRegressor
from elmbench.numerics import multiple_kernels
from elmbench.numerics.arrays import EPS

KINDS = ("binary", "multi", "one", "regression", "two-targets")
NORMS = st.sampled_from([1.0, 1.5, 2.0, 8.0])
SEEDS = st.integers(0, 2**31 - 2)
LIST = [
    ("rbf", {"gamma": 0.1}),
    ("rbf", {"gamma": 5.0}),
    ("polynomial", {"degree": 2, "gamma": 0.5}),
    ("linear", {"columns": [0, 2]}),
    ("laplacian", {"columns": [1, 3]}),
]
each_kind = pytest.mark.parametrize("kind", KINDS)


def quiet(model, X, y):
    """Fit, whether or not the weights settle."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


@examples(60)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 30),
    C=FACTORS,
    q=NORMS,
    radius=st.booleans(),
    seed=SEEDS,
)
def test_the_objective_never_rises_and_weights_stay_on_their_surface(
    kind, n, C, q, radius, seed
):
    X = rows(n, 3, seed)
    model = class_of("MKELM", kind)(C=C, kernels=LIST, q=q, radius=radius, max_iter=60)
    quiet(model, X, targets(X, seed, kind))
    assert len(model.objective_) == len(model.weights_path_) == model.n_iter_ + 1 <= 61
    assert (model.objective_ > 0).all()
    # A relative error of the solution is that of the objective; the system's condition is at most 1
    # + C |K|.
    sizes = np.array([1.0, 1.0, 6.25, 2.0, 1.0])
    condition = 1 + C * n * (model.weights_path_ @ sizes).max()
    assert (
        np.diff(model.objective_) <= 10 * n * EPS * condition * model.objective_[:-1]
    ).all()
    assert (model.weights_path_ >= 0).all()
    np.testing.assert_allclose(
        model.weights_path_**q @ model.squared_radii_, 1.0, atol=1e-10
    )
    np.testing.assert_array_equal(model.weights_, model.weights_path_[-1])
    if not radius:
        np.testing.assert_array_equal(model.squared_radii_, 1.0)


@examples(60)
@given(
    kind=st.sampled_from(KINDS), n=st.integers(2, 30), C=FACTORS, gamma=FACTORS, q=NORMS,
    radius=st.booleans(),
    seed=SEEDS,
)  # fmt: skip
def test_one_kernel_is_kernel_elm(kind, n, C, gamma, q, radius, seed):
    """With radii the kernel has a weight other than 1, which is another C."""
    X, y = problem(n, 3, seed, kind)
    model = class_of("MKELM", kind)(
        C=C, kernels=[("rbf", {"gamma": gamma})], q=q, radius=radius
    ).fit(X, y)
    assert model.n_iter_ == 1
    if not radius:
        np.testing.assert_allclose(model.weights_, 1.0, rtol=1e-14)
    reference = class_of("KELM", kind)(C=C * model.weights_[0], gamma=gamma).fit(X, y)
    probe = np.vstack([X, rows(12, 3, seed + 1)])
    outputs, expected = real_outputs(model, probe), real_outputs(reference, probe)
    if is_classification(kind) and len(model.classes_) != 2:
        outputs = (
            2 * outputs - outputs.sum(axis=-1, keepdims=True)
            if outputs.ndim == 2
            else outputs
        )
    np.testing.assert_allclose(outputs, expected, atol=1e-8)
    if kind == "binary":
        clear = np.abs(expected) > 1e-7
        np.testing.assert_array_equal(
            model.predict(probe)[clear], reference.predict(probe)[clear]
        )


@each_kind
def test_outputs_are_those_of_the_weighted_kernel_which_may_be_given(kind):
    X, probe = rows(40, 4, 0), rows(15, 4, 1)
    y = targets(X, 0, kind)
    gammas = [0.2, 1.0, 5.0]
    within, across = (
        [rbf_kernel(Y, X, gamma=gamma) for gamma in gammas] for Y in (X, probe)
    )
    model = quiet(
        class_of("MKELM", kind)(
            C=10.0, kernels=[("rbf", {"gamma": g}) for g in gammas], q=1.5
        ),
        X,
        y,
    )
    if kind == "binary":
        T = (y[:, None] == model.classes_) @ [[-1.0], [1.0]]
    else:
        T = (
            (y[:, None] == model.classes_).astype(float)
            if is_classification(kind)
            else y.reshape(len(y), -1)
        )
    solution = np.linalg.solve(
        np.tensordot(model.weights_, within, 1) + np.eye(40) / 10, T
    )
    expected = np.tensordot(model.weights_, across, 1) @ solution
    np.testing.assert_allclose(
        real_outputs(model, probe).reshape(15, -1), expected, atol=1e-10
    )
    assert model.n_units_ == 40
    given_kernels = quiet(
        class_of("MKELM", kind)(C=10.0, kernels="precomputed", q=1.5),
        np.hstack(within),
        y,
    )
    np.testing.assert_allclose(given_kernels.weights_, model.weights_, atol=1e-9)
    np.testing.assert_allclose(
        real_outputs(given_kernels, np.hstack(across)),
        real_outputs(model, probe),
        atol=1e-9,
    )
    # The matrices are not kept.
    assert len(pickle.dumps(given_kernels)) < np.hstack(within).nbytes


def test_the_objective_is_that_of_equation_6():
    X, y = problem(30, 3, 0, "multi")
    gammas, C = [0.3, 3.0], 5.0
    model = MKELMClassifier(C=C, kernels=[("rbf", {"gamma": g}) for g in gammas]).fit(
        X, y
    )
    matrices = [rbf_kernel(X, X, gamma=g) for g in gammas]
    T = (y[:, None] == model.classes_).astype(float)
    alpha = model.beta_
    errors = T - np.tensordot(model.weights_, matrices, 1) @ alpha
    norms = [
        w * np.vdot(alpha, K @ alpha)
        for w, K in zip(model.weights_, matrices, strict=True)
    ]
    assert model.objective_[-1] == pytest.approx(
        sum(norms) / 2 + C / 2 * np.sum(errors**2), rel=1e-10
    )


@each_kind
@pytest.mark.parametrize("q", [1.0, 2.0])
@pytest.mark.parametrize("radius", [False, True])
def test_a_kernel_that_is_zero_has_no_weight(kind, q, radius):
    X = rows(25, 3, 3)
    X[:, 2] = 0.0
    y = targets(X, 3, kind)
    zero = ("linear", {"columns": [2, 3]})
    model = quiet(
        class_of("MKELM", kind)(kernels=[LIST[0], zero, LIST[1]], q=q, radius=radius),
        X,
        y,
    )
    without = quiet(
        class_of("MKELM", kind)(kernels=[LIST[0], LIST[1]], q=q, radius=radius), X, y
    )
    assert model.weights_[1] == 0
    # Another start, the same end.
    np.testing.assert_allclose(model.weights_[[0, 2]], without.weights_, atol=0.02)


def test_given_matrices_have_to_be_square_and_symmetric():
    K = rbf_kernel(rows(6, 2, 0))
    y = np.arange(6.0)
    with pytest.raises(
        ValueError,
        match=pattern("models.mk-elm.matrices-not-square", columns=6),
    ):
        MKELMRegressor(kernels="precomputed").fit(np.hstack([K, K[:, :2]]), y)
    K[2, 1] += 1e-3
    with pytest.raises(
        ValueError,
        match=pattern("models.mk-elm.matrix-not-symmetric", column=6),
    ):
        MKELMRegressor(kernels="precomputed").fit(np.hstack([np.eye(6), K]), y)


def test_matrices_that_do_not_fit_are_recomputed(monkeypatch):
    X, y = problem(60, 3, 0, "multi")
    model = MKELMClassifier(kernels=LIST, radius=True)
    held = quiet(clone(model), X, y)
    monkeypatch.setattr(multiple_kernels, "HELD_BYTES", 0)
    monkeypatch.setattr(multiple_kernels, "BLOCK_BYTES", 8 * 60 * 5 * 7)
    recomputed = quiet(clone(model), X, y)
    np.testing.assert_allclose(recomputed.weights_, held.weights_, atol=1e-6)
    np.testing.assert_allclose(
        recomputed.decision_function(X), held.decision_function(X), atol=1e-6
    )


def test_iterations_stop_at_the_tolerance_of_weights_or_objective():
    X, y = problem(80, 3, 0, "binary")
    model = MKELMClassifier(kernels=LIST, tol=1e-3).fit(X, y)
    changes = np.abs(np.diff(model.weights_path_, axis=0)).max(axis=1)
    assert changes[-1] <= 1e-3
    assert (changes[:-1] > 1e-3).all()
    model = MKELMClassifier(kernels=LIST, tol=1e-12, objective_tol=1e-3).fit(X, y)
    falls = -np.diff(model.objective_) / model.objective_[:-1]
    assert falls[-1] < 1e-3
    assert (falls[:-1] >= 1e-3).all()
    with pytest.warns(
        ConvergenceWarning, match="still change by more than 1e-12 after 3 iterations"
    ):
        assert (
            MKELMClassifier(kernels=LIST, tol=1e-12, max_iter=3).fit(X, y).n_iter_ == 3
        )


@pytest.mark.parametrize(
    ("q", "radius"), [(1.0, False), (3.0, False), (1.0, True), (3.0, True)]
)
@each_kind
def test_no_iteration_leaves_the_weights_equal(kind, q, radius):
    X, y = problem(20, 3, 1, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = class_of("MKELM", kind)(
            C=2.0, kernels=LIST, q=q, radius=radius, max_iter=0
        ).fit(X, y)
    equal = model.squared_radii_.sum() ** (-1 / q)
    np.testing.assert_allclose(model.weights_, equal, rtol=1e-12)
    assert (model.n_iter_, len(model.objective_), len(model.weights_path_)) == (0, 1, 1)
    learnt = quiet(clone(model).set_params(max_iter=50), X, y)
    np.testing.assert_array_equal(learnt.weights_path_[0], model.weights_)
    np.testing.assert_allclose(learnt.objective_[0], model.objective_[0], rtol=1e-10)


def test_kernels_from_a_yaml_file():
    params = yaml.safe_load(
        "{C: 2, q: 2, kernels: [[rbf, {gamma: 0.5}], [polynomial, {degree: 2, columns: [0, 2]}]]}"
    )
    X, y = problem(20, 3, 0, "regression")
    model = elmbench.make_model("mk-elm", task="regression", **params).fit(X, y)
    same = [("rbf", {"gamma": 0.5}), ("polynomial", {"degree": 2, "columns": (0, 2)})]
    np.testing.assert_array_equal(
        model.predict(X),
        MKELMRegressor(C=2.0, kernels=same, q=2.0).fit(X, y).predict(X),
    )


@pytest.mark.parametrize("kind", ["binary", "regression"])
@pytest.mark.parametrize(
    ("kernels", "error", "message"),
    [
        ("rbf", ValueError, "The 'kernels' parameter of"),
        (
            {"rbf": 1},
            TypeError,
            pattern("models.mk-elm.kernels-not-a-list", kernels="{'rbf': 1}"),
        ),
        ([], TypeError, pattern("models.mk-elm.no-kernels")),
        (
            ["rbf"],
            TypeError,
            pattern("models.mk-elm.kernel-without-parameters", index=0, given="'rbf'"),
        ),
        (
            [LIST[0], ("rbf",)],
            TypeError,
            pattern("models.mk-elm.kernel-not-a-pair", index=1),
        ),
        (
            [("sigmoid", {})],
            ValueError,
            r"The 'name' parameter of kernels\[0\] must be .*'chi2'.* Got 'sigmoid'",
        ),
        (
            [("rbf", {"degree": 2})],
            ValueError,
            r"expected parameters of 'rbf' among \['columns', 'gamma'\], got",
        ),
        (
            [("rbf", {"gamma": 0})],
            ValueError,
            pattern("models.mk-elm.parameter-not-a-float", parameter="gamma", index=0),
        ),
        (
            [("polynomial", {"coef0": -1})],
            ValueError,
            pattern("models.mk-elm.parameter-not-a-float", parameter="coef0", index=0),
        ),
        (
            [("polynomial", {"degree": 1.5})],
            TypeError,
            pattern(
                "models.mk-elm.parameter-not-an-integer", parameter="degree", index=0
            ),
        ),
        (
            [("rbf", {"columns": [1, 3]})],
            ValueError,
            r"with 0 <= start < stop <= 2, got \(1, 3\)",
        ),
        ([("rbf", {"columns": [1, 1]})], ValueError, "with 0 <= start < stop <= 2"),
        (
            [("rbf", {"columns": 1})],
            TypeError,
            r"The 'columns' parameter of kernels\[0\]",
        ),
    ],
)
def test_lists_of_kernels_that_are_not_valid_are_rejected(
    kernels, error, message, kind
):
    X = rows(10, 2, 0)
    with pytest.raises(error, match=message):
        class_of("MKELM", kind)(kernels=kernels).fit(X, targets(X, 0, kind))


@pytest.mark.exhaustive
@pytest.mark.parametrize("radius", [False, True])
@pytest.mark.parametrize("kept", [True, False])
def test_memory_of_half_of_each_kernel_matrix(monkeypatch, kept, radius):
    monkeypatch.setattr(multiple_kernels, "BLOCK_BYTES", 2**20)
    if not kept:
        monkeypatch.setattr(multiple_kernels, "HELD_BYTES", 0)
    n = 900
    X, y = problem(n, 5, 0, "binary")
    params = {
        "kernels": [("rbf", {"gamma": 2.0**e}) for e in range(-3, 4)],
        "radius": radius,
    }
    model = MKELMClassifier(**params, max_iter=3)
    quiet(clone(model), X[:50], y[:50])
    tracemalloc.start()
    quiet(model, X, y)
    peak = tracemalloc.get_traced_memory()[1]
    left = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    halves = 7 * 4 * n * n if kept else 0
    assert halves < peak < halves + 3 * 8 * n * n
    assert left < 8 * n * n / 4  # no matrix is kept by the fitted model
