"""The online models on singular directions, and the directions."""

import inspect
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from sentences import pattern

from elmbench.models import (
    AMMClassifier,
    BSGDClassifier,
    OSELMClassifier,
    PegasosClassifier,
    svd_pipelines,
)
from elmbench.models.baselines import n_units
from elmbench.models.protocols import GridPath
from elmbench.models.svd_pipelines import SingularFeatures
from elmbench.registry import find_model, make_model, model_version

STEPS = {
    "svd+os-elm": (
        OSELMClassifier,
        {
            "n_hidden": 30,
            "C": 4.0,
            "start": "ridge",
            "initial_batch": 20,
            "batch_size": 8,
        },
    ),
    "svd+bsgd": (
        BSGDClassifier,
        {
            "budget": 20,
            "C": 4.0,
            "gamma": 0.01,
            "maintenance": "removal",
            "n_epochs": 3,
        },
    ),
    "svd+amm": (
        AMMClassifier,
        {
            "C": 4.0,
            "n_weights": 3,
            "mode": "batch",
            "n_epochs": 7,
            "fit_intercept": False,
        },
    ),
    "svd+pegasos": (
        PegasosClassifier,
        {"C": 4.0, "n_epochs": 7, "fit_intercept": False},
    ),
}
each_pipeline = pytest.mark.parametrize("name", STEPS)


def wide(n, seed, n_classes=3):
    """Return rows of 2000 features whose classes fill a few directions, and their labels."""
    random = np.random.RandomState(0)
    axes = np.linalg.qr(random.randn(2000, n_classes))[0].T
    random = np.random.RandomState(seed)
    y = np.arange(n) % n_classes
    return 20 * axes[y] + 0.2 * random.randn(n, 2000), np.array(["a", "b", "c"])[y]


@each_pipeline
def test_wide_rows_are_projected_on_their_first_singular_vectors(name, seed):
    """The second step learns from the products of 50 rows with the singular vectors, for dense and
    sparse rows.
    """
    cls, params = STEPS[name]
    (X, y), (probe, truth) = wide(50, seed), wide(30, seed + 1)
    model = make_model(name, n_components=5, **params, random_state=seed).fit(X, y)
    V = np.linalg.svd(X, full_matrices=False)[2][:5]
    V *= np.sign(V[np.arange(5), np.abs(V).argmax(axis=1)])[:, np.newaxis]
    expected = (
        cls(**params, random_state=seed).fit(X @ V.T, y).decision_function(probe @ V.T)
    )
    # The directions that are all noise depend on the matrix by its norm over the gap of the values,
    # some hundred.
    np.testing.assert_allclose(
        model.decision_function(probe),
        expected,
        atol=1e-8 * (1 + np.abs(expected).max()),
    )
    sparse = make_model(name, n_components=5, **params, random_state=seed).fit(
        sp.csr_matrix(X), y
    )
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_matrix(probe)),
        model.decision_function(probe),
        atol=1e-8,
    )
    assert model.score(probe, truth) == 1.0
    assert model[0].components_.shape == (5, 2000)
    assert n_units(model) == model[-1].n_units_ > 0


@each_pipeline
def test_parameters_are_those_of_the_second_step(name):
    cls, _ = STEPS[name]
    factory = find_model(name).factory("classification")
    of_model = inspect.signature(cls).parameters
    parameters = dict(inspect.signature(factory).parameters)
    assert parameters.pop("n_components").default == SingularFeatures().n_components
    assert set(of_model) - set(parameters) <= {"shuffle"}
    assert {key: p.default for key, p in parameters.items()} == {
        key: of_model[key].default for key in parameters
    }
    other = {
        key: p.default * 2 if type(p.default) in (int, float) else p.default
        for key, p in parameters.items()
    }
    assert {key: getattr(factory(**other)[-1], key) for key in other} == other
    assert factory(n_components=7)[0].n_components == 7
    assert (
        factory(random_state=5)[0].random_state
        == factory(random_state=5)[-1].random_state
        == 5
    )


@each_pipeline
def test_the_version_of_the_second_step(name):
    cls, _ = STEPS[name]
    assert model_version(find_model(name), "classification").startswith(
        f"{cls.model_version}, scikit-learn "
    )


@pytest.mark.parametrize("shape", [(40, 9), (9, 40), (30, 30), (1, 5), (5, 1)])
@pytest.mark.parametrize("rank", [1, 3, 30])
def test_directions_are_those_of_the_decomposition_up_to_the_rank(shape, rank, seed):
    random = np.random.RandomState(seed)
    rank = min(rank, *shape)
    X = random.randn(shape[0], rank) @ random.randn(rank, shape[1])
    model = SingularFeatures(n_components=20).fit(X)
    size = min(rank, 20)
    _, s, V = np.linalg.svd(X, full_matrices=False)
    assert model.components_.shape == (size, shape[1])
    np.testing.assert_allclose(model.singular_values_, s[:size], atol=1e-12 * s[0])
    V = V[:size]
    projector = V.T @ V
    gap = s[size - 1] - (s[size] if size < len(s) else 0.0)
    np.testing.assert_allclose(
        model.components_.T @ model.components_, projector, atol=1e-12 * s[0] / gap
    )
    np.testing.assert_array_equal(
        model.transform(X), SingularFeatures(n_components=20).fit_transform(X)
    )
    assert len(model.get_feature_names_out()) == size


def test_rows_of_zeros_have_one_feature():
    assert (
        SingularFeatures(n_components=3).fit_transform(np.zeros((4, 6))).tolist()
        == [[0.0]] * 4
    )


@pytest.mark.parametrize("n_components", [4, 100])
def test_sparse_rows_that_are_too_large_to_be_made_dense(
    n_components, monkeypatch, seed
):
    X = sp.random(
        25, 70, density=0.2, format="csr", random_state=np.random.RandomState(seed)
    )
    expected = SingularFeatures(n_components=n_components).fit(X)
    monkeypatch.setattr(svd_pipelines, "DENSE_BYTES", 100)
    monkeypatch.setattr(sp.csr_matrix, "toarray", None)
    model = SingularFeatures(n_components=n_components, random_state=0).fit(X)
    size = min(n_components, 24)
    values = expected.singular_values_
    np.testing.assert_allclose(model.singular_values_, values[:size], rtol=1e-10)
    gap = np.abs(np.diff(values[: size + 1])).min()
    np.testing.assert_allclose(
        model.components_, expected.components_[:size], atol=1e-11 * values[0] / gap
    )


def test_bad_number_of_directions():
    with pytest.raises(
        ValueError,
        match=pattern("models.svd.number-of-components-not-an-integer"),
    ):
        SingularFeatures(n_components=0).fit(np.eye(3))


@each_pipeline
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_matrix])
def test_a_path_is_one_fit_each_of_shared_directions(name, as_rows, seed, monkeypatch):
    _, params = STEPS[name]
    X, y = wide(40, seed)
    folds = [(np.arange(30), np.arange(30, 40)), (np.arange(10, 40), np.arange(10))]
    candidates = [
        {"C": C, "n_components": size} for C in (0.01, 1.0, 64.0) for size in (2, 5)
    ]
    fixed = {key: value for key, value in params.items() if key != "C"} | {
        "random_state": seed
    }
    factory = find_model(name).factory("classification")
    assert isinstance(factory, GridPath)
    rows = as_rows(X)
    fits = []
    fit = SingularFeatures.fit
    monkeypatch.setattr(
        SingularFeatures,
        "fit",
        lambda self, X, y=None: (fits.append(1), fit(self, X))[1],
    )
    evaluated = list(factory.evaluate_grid(rows, y, folds, candidates, **fixed))
    assert len(fits) == 4  # two sizes on two folds
    solvers = sum((Counter(item.solvers) for item in evaluated), Counter())
    assert solvers == {"decomposition": 4}
    by_path = {(i, j): outputs for i, j, outputs, _ in evaluated}
    decisions = {
        (i, j): outputs
        for i, j, outputs, _ in factory.decision_grid(
            rows, y, folds, candidates, **fixed
        )
    }
    assert set(by_path) == {(i, j) for i in range(6) for j in range(2)}
    assert set(decisions) == set(by_path)
    for (i, j), outputs in by_path.items():
        train, test = folds[j]
        model = factory(**fixed, **candidates[i]).fit(rows[train], y[train])
        assert outputs.tolist() == model.predict(rows[test]).tolist()
        expected = model.decision_function(rows[test])
        np.testing.assert_array_equal(decisions[i, j], expected)
