"""The contract of every estimator: scikit-learn's checks, awkward and sparse rows, second fits,
parameters, memory.
"""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from elm_problems import (
    class_of,
    is_classification,
    peak_of,
    problem,
    real_outputs,
    rows,
    sparse_rows,
    targets,
)
from sentences import pattern
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_param_validation,
    parametrize_with_checks,
)

from elmbench import models
from elmbench.models import baselines
from elmbench.models.protocols import GridPath, MemoryEstimate
from elmbench.models.svd_pipelines import SingularFeatures
from elmbench.numerics.arrays import EPS

#: Parameters of small models of each family.
BOTH_TASKS = {
    "ELM": {"n_hidden": 20, "C": 8.0, "random_state": 3},
    "OSELM": {
        "n_hidden": 20,
        "C": 8.0,
        "initial_batch": 7,
        "batch_size": 5,
        "start": "ridge",
        "random_state": 3,
    },
    "KELM": {"C": 8.0, "gamma": 0.5},
    "LSSVM": {"C": 8.0, "gamma": 0.5},
    "RKELM": {"n_landmarks": 12, "C": 8.0, "gamma": 0.5, "random_state": 3},
    "ELMRBF": {"n_hidden": 20, "C": 8.0, "gamma": 0.5, "random_state": 3},
    "RSVM": {"n_landmarks": 10, "random_state": 3},
    "MKELM": {"max_iter": 20, "tol": 0.01},
    "KOSELM": {"C": 8.0, "gamma": 0.5},
    "FBKOSELM": {"C": 8.0, "gamma": 0.5, "budget": 15},
    "ALDKOSELM": {"gamma": 0.5, "delta": 0.05},
}
CLASSIFIERS = {
    "WELM": {"n_hidden": 9, "activation": "nsig", "random_state": 3},
    "EEM": {"n_hidden": 20, "activation": "rbf", "random_state": 3},
    "EEKM": {"n_landmarks": 12, "gamma": 0.5, "random_state": 3},
    "BSGD": {"budget": 9, "C": 8.0, "gamma": 0.5, "n_epochs": 2, "random_state": 3},
    "AMM": {"C": 8.0, "n_epochs": 2, "random_state": 3},
    "Pegasos": {"C": 8.0, "n_epochs": 2, "random_state": 3},
    "PVM": {},
    "OSPVM": {"initial_batch": 7, "batch_size": 5},
}
SMALL = BOTH_TASKS | CLASSIFIERS
DOCUMENTED = [
    name for name in models.__all__ if name.endswith(("Classifier", "Regressor"))
]
KINDS = ("binary", "multi", "one", "regression", "two-targets")
CASES = [
    (name, kind)
    for name in SMALL
    for kind in KINDS
    if name in BOTH_TASKS or is_classification(kind)
]
each_case = pytest.mark.parametrize(
    ("name", "kind"), CASES, ids=["-".join(case) for case in CASES]
)
quiet = pytest.mark.filterwarnings(
    "ignore:there is one row only",
    "ignore:.*one class is predicted",
    "ignore:.*still change by more",
)


def small(name, kind):
    return class_of(name, kind)(**SMALL[name])


#: Beside the defaults of every class.
OPTIONS = [
    *(
        getattr(models, f"OSELM{task}")(start="ridge")
        for task in ("Classifier", "Regressor")
    ),
    *(
        getattr(models, f"{name}Classifier")(class_weight="balanced")
        for name in ("ELM", "KELM", "LSSVM")
    ),
    models.WELMClassifier(n_hidden=9, class_weight=None),
    models.EEMClassifier(activation="rbf"),
    models.RKELMClassifier(widths="random", kernel="inverse-multiquadric"),
    models.RKELMRegressor(kernel="polynomial"),
    models.MKELMClassifier(q=2.0),
    models.MKELMClassifier(radius=True, tol=1e-2),
    models.MKELMRegressor(q=2.0, radius=True, tol=1e-2),
    models.BSGDClassifier(maintenance="removal"),
    models.AMMClassifier(mode="batch"),
    models.OSPVMClassifier(mode="truncate", ratio="squared"),
    models.OSPVMClassifier(update_mean=False),
    models.SVMClassifier(class_weight="balanced", max_iter=1000),
    SingularFeatures(n_components=3),
    baselines.KNNClassifier(),
    baselines.KNNRegressor(),
]
#: A repeated row is drawn as two centres, and a draw from weighted rows cannot know the order of
#: repeated rows. The width of SVMs is that of unweighted rows, as in scikit-learn; for a given
#: width they agree within LIBSVM's tolerance.
NOT_EQUIVALENT = {
    f"check_sample_weight_equivalence_on_{kind}_data": (
        "other centres are drawn, or the width is another one"
    )
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [*(getattr(models, name)() for name in models.__all__), *OPTIONS],
    expected_failed_checks=lambda model: (
        NOT_EQUIVALENT
        if type(model).__name__.startswith(("RKELM", "EEKM", "SVM"))
        else {}
    ),
    xfail_strict=True,
)
def test_estimators_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "name", [name for name in models.__all__ if name != "SVMClassifier"]
)
def test_parameters_out_of_range_are_named(name):
    check_param_validation(name, getattr(models, name)())


@pytest.mark.parametrize(
    "name",
    [name for name in models.__all__ if isinstance(getattr(models, name), GridPath)],
)
def test_paths_name_parameters_out_of_range_before_anything_is_learnt(name):
    cls = getattr(models, name)
    bad = next({key: 0} for key in ("C", "n_hidden") if key in cls().get_params())
    X = np.zeros((6, 2))
    with pytest.raises(ValueError, match=f"The '{next(iter(bad))}' parameter of"):
        next(
            cls.evaluate_grid(X, X[:, 0], [(np.arange(4), np.arange(4, 6))], [{}, bad])
        )


@quiet
@each_case
def test_second_fit_equals_a_fresh_one(name, kind):
    model = small(name, kind)
    first, second = rows(30, 5, 0), rows(23, 4, 1)
    model.fit(first, targets(first, 0, "multi" if kind == "binary" else kind))
    y = targets(second, 1, kind)
    fresh = clone(model.fit(second, y)).fit(second, y)
    np.testing.assert_array_equal(
        real_outputs(model, second), real_outputs(fresh, second)
    )
    assert vars(model).keys() == vars(fresh).keys()
    assert model.n_units_ == fresh.n_units_


#: Other values of all parameters that a prediction might depend on.
OTHERS = {
    "C": 3.0, "gamma": 2.0, "n_hidden": 7, "n_landmarks": 7, "budget": 7, "activation": "sigmoid",
    "slope": 2.0,
    "kernel": "linear", "degree": 2, "coef0": 2.0, "widths": "random", "kernels": [("linear", {})],
    "q": 2.0,
    "radius": True, "smoothing": 1.0, "epsilon": 1.0, "delta": 0.5, "max_atoms": 1, "start": "pinv",
    "theta": 0.5,
    "mode": "batch", "pruning": 1.0, "fit_intercept": False, "maintenance": "removal",
    "update_mean": False,
    "priors": [0.9, 0.1], "costs": [0.9, 0.1], "weighting": "as-printed",
    "class_weight": "balanced",
}  # fmt: skip


@quiet
@each_case
def test_parameters_that_are_set_after_a_fit_change_no_prediction(name, kind):
    X, y = problem(30, 5, 0, kind)
    model = small(name, kind)
    if "activation" in model.get_params():
        model.set_params(activation="rbf" if name in ("WELM", "EEM") else "tanh")
    before = real_outputs(model.fit(X, y), X)
    model.set_params(
        **{key: value for key, value in OTHERS.items() if key in model.get_params()}
    )
    np.testing.assert_array_equal(real_outputs(model, X), before)


@quiet
@each_case
@pytest.mark.parametrize(("n", "d"), [(1, 3), (4, 9), (30, 1), (40, 6)])
def test_degenerate_rows_are_learnt_or_rejected_clearly(name, kind, n, d):
    """Repeated rows, a constant column, fewer rows than columns and than nodes, one row, one class,
    large values.
    """
    y = targets(rows(n, d, 5, awkward=True), 5, kind)
    factors = (
        (1.0, 0.0, 1e100)
        if name in ("BSGD", "AMM", "Pegasos", "KOSELM", "FBKOSELM", "ALDKOSELM")
        else (1.0, 0.0)
    )
    for factor in factors:
        X = factor * rows(n, d, 5, awkward=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            model = small(name, kind).fit(X, y)
        predicted = model.predict(X)
        assert predicted.shape == y.shape
        assert np.isfinite(real_outputs(model, X)).all()
        assert getattr(model, "condition_", 1.0) > 0.999
        if is_classification(kind):
            assert set(predicted) <= set(y)
        if hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(X)
            np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-14)
            chosen = probabilities[
                np.arange(n), np.searchsorted(model.classes_, predicted)
            ]
            np.testing.assert_array_equal(chosen, probabilities.max(axis=1))


@quiet
@pytest.mark.parametrize(
    "name", [name for name in models.__all__ if name != "SVMClassifier"]
)
def test_scales_whose_squares_leave_the_range(name):
    X = rows(30, 3, 5)
    model = getattr(models, name)()
    y = X.sum(axis=1) if name.endswith("Regressor") else X[:, 0] > 0.5
    assert np.isfinite(real_outputs(clone(model).fit(1e-160 * X, y), 1e-160 * X)).all()
    with pytest.raises(
        ValueError,
        match=r"X: expected magnitudes up to 1e\+150, got \d.\de\+1\d\d instead",
    ):
        clone(model).fit(-1e160 * X, y)
    with pytest.raises(ValueError, match="X: expected magnitudes"):
        clone(model).fit(X, y).predict(1e160 * X)
    if name.endswith("Regressor"):
        with pytest.raises(ValueError, match="y: expected magnitudes"):
            model.fit(X, 1e160 * y)


@pytest.mark.parametrize("name", ["OSELM", "KOSELM", "FBKOSELM", "ALDKOSELM"])
@pytest.mark.parametrize("widths", [(1, 2), (2, 1), (2, 3)])
def test_further_rows_have_as_many_targets_as_the_first_ones(name, widths):
    X = rows(9, 3, 0)
    model = small(name, "regression").partial_fit(X, X[:, : widths[0]])
    with pytest.raises(
        ValueError,
        match=pattern(
            "models.fit.number-of-targets-changed", first=widths[0], second=widths[1]
        ),
    ):
        model.partial_fit(X, X[:, : widths[1]])


@quiet
@each_case
def test_rows_in_any_container_give_the_same_outputs(name, kind):
    X = rows(30, 4, 2).astype(np.float32)
    y = targets(X, 2, kind)
    model = small(name, kind)
    expected = real_outputs(clone(model).fit(X.astype(np.float64), y), X)
    frozen = X.astype(np.float64)
    frozen.flags.writeable = False
    others = [
        X,
        X.tolist(),
        pd.DataFrame(X, columns=list("abcd")),
        np.asfortranarray(X),
        X[::-1][::-1],
        frozen,
    ]
    for other in others:
        labels = y.tolist() if isinstance(other, list) else y
        outputs = real_outputs(clone(model).fit(other, labels), other)
        np.testing.assert_allclose(outputs, expected, rtol=1e-6, atol=1e-6)
    if is_classification(kind):
        assert model.fit(X, y.astype(str).astype(object)).predict(X).dtype == object


@quiet
@each_case
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.coo_array])
def test_sparse_rows_give_what_dense_ones_do(name, kind, container):
    model = small(name, kind)
    if not get_tags(model).input_tags.sparse:
        assert name == "MKELM"
        return
    X, probe = sparse_rows(rows(60, 6, 0), 0), sparse_rows(rows(12, 6, 1), 1)
    y = targets(X, 0, kind)
    dense, sparse = clone(model).fit(X, y), clone(model).fit(container(X), y)
    expected = real_outputs(dense, probe)
    # Of the landmarks.
    condition = getattr(dense, "condition_", 1.0) * (1e6 if name == "EEKM" else 1.0)
    within = max(1e-8, 1e4 * EPS * condition) * max(1.0, np.abs(expected).max())
    for fitted, given in (
        (sparse, container(probe)),
        (sparse, probe),
        (dense, container(probe)),
    ):
        np.testing.assert_allclose(
            real_outputs(fitted, given), expected, rtol=0, atol=within
        )


@pytest.mark.parametrize(
    ("name", "bad", "error", "message"),
    [
        (
            "EEM",
            {"priors": [1.0]},
            ValueError,
            pattern("models.parameters.priors-one-a-class", priors=2, given=1),
        ),
        (
            "EEM",
            {"priors": [1.0, 0.0]},
            ValueError,
            pattern(
                "models.parameters.number-not-positive", parameter="priors", value="0.0"
            ),
        ),
        (
            "EEM",
            {"costs": {1: 2.0}},
            ValueError,
            pattern(
                "models.parameters.costs-without-a-label",
                labels="[-1, 1]",
                costs="{1: 2",
            ),
        ),
        (
            "EEM",
            {"costs": ["a", 1]},
            TypeError,
            pattern("models.parameters.costs-not-a-number", costs="a"),
        ),
        (
            "RKELM",
            {"widths": "random", "kernel": "sigmoid"},
            ValueError,
            "widths: expected a kernel .* got 'sigmoid'",
        ),
    ],
)
def test_parameters_beyond_the_constraints(name, bad, error, message):
    X = rows(10, 2, 0)
    with pytest.raises(error, match=message):
        small(name, "binary").set_params(**bad).fit(X, targets(X, 0, "binary"))


@pytest.mark.parametrize("name", DOCUMENTED)
def test_true_is_not_a_number(name):
    """Python counts it as 1; parameters that may be True or False take it."""
    cls = getattr(models, name)
    X = rows(10, 2, 0)
    y = X[:, 0] if name.endswith("Regressor") else np.arange(10) % 2
    for parameter in cls().get_params():
        if "boolean" in cls._parameter_constraints[parameter]:
            continue
        with pytest.raises((ValueError, TypeError), match=rf"{parameter}\b.*True"):
            cls(**{parameter: True}).fit(X, y)


@quiet
@each_case
@pytest.mark.parametrize("container", [np.array, np.asfortranarray, sp.csr_matrix])
def test_a_model_does_not_change_with_the_rows_that_it_has_learnt(
    name, kind, container
):
    """The caller may write other rows into the same array."""
    model = small(name, kind)
    X = container(sparse_rows(rows(30, 4, 2), 2))
    if sp.issparse(X) and not get_tags(model).input_tags.sparse:
        return
    y = targets(X.toarray() if sp.issparse(X) else X, 2, kind)
    given, given_targets = X.copy(), y.copy()
    model.fit(given, given_targets)
    expected = real_outputs(model, X)
    entries = given.data if sp.issparse(given) else given
    entries[:] = 7.0
    given_targets[:] = given_targets[0]
    np.testing.assert_array_equal(real_outputs(model, X), expected)


ONE_AGAINST_THE_REST = (
    "ELM",
    "KELM",
    "LSSVM",
    "RKELM",
    "ELMRBF",
    "RSVM",
    "OSELM",
    "KOSELM",
    "ALDKOSELM",
    "EEM",
    "PVM",
)


@pytest.mark.parametrize("name", ONE_AGAINST_THE_REST)
def test_more_classes_are_each_against_the_rest(name):
    X, probe = rows(60, 3, 2), rows(25, 3, 3)
    y = targets(X, 2, "multi")
    model = small(name, "multi").fit(X, y)
    outputs = model.decision_function(probe)
    for k, label in enumerate(model.classes_):
        single = small(name, "binary").fit(X, y == label).decision_function(probe)
        np.testing.assert_allclose(
            outputs[:, k], single, atol=1e-7 * max(1.0, np.abs(single).max())
        )
    np.testing.assert_array_equal(
        model.predict(probe), model.classes_[outputs.argmax(axis=1)]
    )


SEQUENTIAL = (
    "OSELM",
    "KOSELM",
    "FBKOSELM",
    "ALDKOSELM",
    "BSGD",
    "AMM",
    "Pegasos",
    "OSPVM",
)


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_a_stored_model_continues_to_learn(name, tmp_path):
    X, y = problem(80, 3, 2, "binary")
    whole, stopped = (
        small(name, "binary").partial_fit(X[:40], y[:40]) for _ in range(2)
    )
    joblib.dump(stopped, tmp_path / "model")
    expected = whole.partial_fit(X[40:], y[40:]).decision_function(X)
    for resumed in (
        pickle.loads(pickle.dumps(stopped)),
        joblib.load(tmp_path / "model", mmap_mode="r"),
    ):
        np.testing.assert_array_equal(
            resumed.partial_fit(X[40:], y[40:]).decision_function(X), expected
        )


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_unknown_labels_in_a_later_call(name):
    X = rows(20, 3, 0)
    model = small(name, "binary").partial_fit(X, np.arange(20) % 2)
    model.partial_fit(X, np.zeros(20, int), classes=[1, 0])
    with pytest.raises(
        ValueError,
        match=pattern(
            "models.fit.classes-changed", classes="[0, 1]", given="[0, 1, 7]"
        ),
    ):
        model.partial_fit(X, np.arange(20) % 2, classes=[0, 1, 7])
    with pytest.raises(
        ValueError, match=r"expected labels among \[0, 1\], got \[7\] instead"
    ):
        model.partial_fit(X, np.full(20, 7))


#: Family, parameters, rows, columns, classes.
FITS = [
    ("KELM", {}, 1500, 6, 4),
    ("LSSVM", {}, 1500, 5, 2),
    ("KELM", {"kernel": "linear"}, 200_000, 3, 8),
    ("LSSVM", {"kernel": "linear"}, 3000, 900, 3),
    ("LSSVM", {"kernel": "linear"}, 500, 499, 2),
    ("LSSVM", {"kernel": "linear"}, 500, 600, 2),
]


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "params", "n", "d", "n_classes"), FITS)
def test_memory_estimates_bound_the_peak(name, params, n, d, n_classes):
    X = np.random.default_rng(0).random((n, d))
    y = np.argsort(np.argsort(X.sum(axis=1))) * n_classes // n
    model = class_of(name, "binary")(**params)
    clone(model).fit(X[:60], y[:60])  # imports and compiles
    peak = peak_of(lambda: model.fit(X, y))
    outputs = 1 if n_classes == 2 else n_classes
    estimate = model.memory_estimate(n, d, outputs, **model.get_params())
    fixed = model.memory_estimate(1, 1, 1, **model.get_params())
    assert peak < estimate
    assert estimate - fixed < 6 * peak


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["ELM", "ELMRBF", "OSELM", "RKELM"])
def test_many_rows_are_learnt_in_blocks(name):
    X = np.random.default_rng(0).random((300_000, 5))
    size = {"n_landmarks" if name == "RKELM" else "n_hidden": 100}
    model = class_of(name, "regression")(random_state=0, **size)
    clone(model).fit(X[:60], X[:60, 0])
    assert peak_of(lambda: model.fit(X, X[:, 0])) < 8 * len(X) * 100 / 2


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in models.__all__
        if isinstance(getattr(models, name), MemoryEstimate)
    ],
)
def test_memory_estimates_grow_and_know_the_defaults(name):
    cls = getattr(models, name)
    assert cls.memory_estimate(2000, 30) == cls.memory_estimate(
        2000, 30, 1, **cls().get_params()
    )
    for sizes in (
        [cls.memory_estimate(n, 30, 3) for n in (10, 200, 3000, 10**5, 10**7)],
        [cls.memory_estimate(2000, d, 3) for d in (1, 30, 2000, 10**5)],
        [cls.memory_estimate(2000, 30, k) for k in (1, 2, 30, 1000)],
    ):
        assert sizes == sorted(sizes)
        assert sizes[-1] > sizes[0] > 0


@pytest.mark.parametrize("name", ["KELMClassifier", "LSSVMRegressor"])
def test_a_linear_kernel_of_few_features_needs_no_kernel_matrix(name):
    estimate = getattr(models, name).memory_estimate
    n_bytes = 8 * 10**6 * 20
    assert n_bytes < estimate(10**6, 20, kernel="linear") < 10 * n_bytes
    assert estimate(10**6, 20, kernel="cosine") > 8 * 10**12
    assert estimate(1000, 10**6, kernel="linear") == estimate(1000, 10**6)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        *(("ELM", {"n_hidden": n_hidden}) for n_hidden in (20, 450)),
        ("OSELM", {"n_hidden": 20, "initial_batch": 40, "batch_size": 16}),
        *((name, {"n_hidden": 20, "activation": "nsig"}) for name in ("WELM", "EEM")),
    ],
)
def test_wide_sparse_rows_are_never_made_dense(name, params, seed):
    n, d = 400, 50_000
    X = sp.random(
        n, d, density=3e-4, format="csr", random_state=np.random.RandomState(seed)
    )
    y = np.where(np.asarray(X.sum(axis=1)).ravel() > X.sum() / n, 1, -1)
    model = class_of(name, "binary")(random_state=0, **params)
    clone(model).fit(X[:50, :9], y[:50])
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    limit = (
        8 * (3 * params["n_hidden"] * (d + 1) + 2 * n * (params["n_hidden"] + n))
        + 2 * size
    )
    for step in (lambda: model.fit(X, y), lambda: model.predict(X)):
        peak = peak_of(step)
        assert peak < limit
        assert params["n_hidden"] > 50 or peak < 8 * n * d / 2
