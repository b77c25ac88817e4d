"""The path of every model against one fit for each candidate and fold: outputs, and the candidate
that is chosen.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import (
    FACTORS,
    class_of,
    is_classification,
    problem,
    rows,
    sparse_rows,
    targets,
)
from forced_solvers import WAYS, force
from hypothesis import given
from hypothesis import strategies as st
from path_rule import (
    allowed,
    assert_path_follows_fits,
    assert_values_follow_fits,
    clear_labels,
    random_folds,
)
from random_examples import examples
from sklearn.model_selection import KFold, StratifiedKFold

import elmbench.numerics.nodes.hidden_layer as nodes
import elmbench.numerics.pairwise as centres
from elmbench.models import EEMClassifier, KELMRegressor, WELMClassifier
from elmbench.models.base import kernel_paths as kernels
from elmbench.models.base.paths import CandidateGrid
from elmbench.models.protocols import GridPath
from elmbench.numerics import ridge_path
from elmbench.numerics.arrays import EPS
from elmbench.numerics.entropy import discriminant
from elmbench.numerics.pairwise import OF_DISTANCES
from elmbench.registry import parameter_names
from elmbench.registry.built_in import BUILT_IN
from elmbench.tasks.scoring import best

EXPONENTS = st.integers(-4, 4).map(lambda e: 2.0**e)
TENS = st.integers(-1, 10).map(lambda e: 10.0**e)
GAMMAS = st.integers(-10, 1).map(lambda e: 10.0**e)
SIZES = st.sampled_from([1, 2, 5, 20, 50, 64, 65, 100, 130])
SEEDS = st.integers(0, 1)
LAYERS = st.sampled_from(["sigmoid", "nsig", "rbf"])
#: Strategies of the parameters that are searched.
GRIDS = {
    "KELM": {"C": FACTORS, "gamma": FACTORS},
    "LSSVM": {"C": TENS, "gamma": GAMMAS},
    "ELM": {
        "n_hidden": st.integers(1, 200), "C": FACTORS, "slope": st.sampled_from([0.25, 1.0, 3.0]),
        "activation": st.sampled_from(["sigmoid", "tanh", "relu"]), "random_state": SEEDS,
    },
    "RKELM": {
        "n_landmarks": st.integers(1, 70), "C": st.integers(-5, 30).map(lambda e: 2.0**e),
        "gamma": EXPONENTS,
        "kernel": st.sampled_from([*OF_DISTANCES, "polynomial", "laplacian"]),
        "widths": st.sampled_from(["equal", "random"]),
        "degree": st.integers(1, 2), "random_state": SEEDS,
    },
    "ELMRBF": {
        "n_hidden": st.integers(1, 70), "C": st.integers(-5, 30).map(lambda e: 2.0**e),
        "gamma": EXPONENTS,
        "random_state": SEEDS,
    },
    "WELM": {"n_hidden": SIZES, "activation": LAYERS, "random_state": SEEDS},
    "EEM": {"n_hidden": SIZES, "activation": LAYERS, "random_state": SEEDS},
    "PVM": {
        "n_hidden": st.sampled_from([None, 5, 70]), "theta": st.sampled_from([0.8, 1.0]),
        "activation": st.sampled_from(["sigmoid", "tanh"]), "ratio": st.sampled_from(["linear",
        "squared"]),
    },
    "KOSELM": {"C": FACTORS, "gamma": FACTORS},
    "FBKOSELM": {"C": FACTORS, "gamma": EXPONENTS, "budget": st.sampled_from([1, 4, 9, 25, 30,
    400])},
    "ALDKOSELM": {
        "C": FACTORS, "gamma": EXPONENTS, "delta": st.sampled_from([1e-3, 0.05, 0.051, 0.3, 0.9]),
        "threshold": st.sampled_from(["squared", "as-printed"]), "max_atoms": st.sampled_from([None,
        None, 5]),
    },
}  # fmt: skip
ONES = dict.fromkeys([-1, 1, 3, *"abcd"], 1.0)  # of all labels: a fold may lack some
WEIGHTS = st.sampled_from(
    [None, "balanced", ONES | {1: 3.0, "a": 3.0}, ONES | {1: 0.25, -1: 2.0}]
)
OF_CLASSIFIERS = {
    **{
        name: {"class_weight": WEIGHTS}
        for name in ("KELM", "ELM", "WELM", "RKELM", "ELMRBF")
    },
    "LSSVM": {
        "class_weight": WEIGHTS,
        "weighting": st.sampled_from(["corrected", "as-printed"]),
    },
}


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_path_equals_one_fit_for_each_candidate(name):
    """Repeated rows, more nodes than rows, sparse rows, any blocks, parameters searched in any
    mix.
    """

    # K-ELM without class weights has a path of its own, with a choice of five methods.
    @examples(480 if name == "KELM" else 160)
    @given(
        data=st.data(),
        n=st.integers(6, 60),
        d=st.integers(1, 8),
        seed=st.integers(0, 2**31 - 1),
        kind=st.sampled_from(["binary", "multi", "one", "regression", "two-targets"]),
        awkward=st.booleans(),
        n_folds=st.integers(1, 3),
        sparse=st.booleans(),
        way=st.sampled_from(WAYS),
        scale=st.sampled_from([1e-3, 1.0, 1e4]),
        block=st.integers(1, 70),
    )
    def check(data, n, d, seed, kind, awkward, n_folds, sparse, way, scale, block):
        if name in ("WELM", "EEM", "PVM") and not is_classification(kind):
            kind = "binary"
        grid = GRIDS[name] | (
            OF_CLASSIFIERS.get(name, {}) if is_classification(kind) else {}
        )
        searched = data.draw(st.sets(st.sampled_from(sorted(grid))))
        fixed = {
            parameter: data.draw(values)
            for parameter, values in grid.items()
            if parameter not in searched
        }
        point = st.fixed_dictionaries(
            {parameter: grid[parameter] for parameter in sorted(searched)}
        )
        candidates = data.draw(st.lists(point, min_size=1, max_size=7))
        if name == "RKELM":  # widths of their own are for kernels of distances only
            candidates = [fixed | candidate for candidate in candidates]
            for candidate in candidates:
                candidate["widths"] = (
                    candidate["widths"]
                    if candidate["kernel"] in OF_DISTANCES
                    else "equal"
                )
            fixed = {}
        X, y = problem(n, d, seed, kind, awkward)
        y = y if is_classification(kind) else y * scale
        X = sp.csr_matrix(sparse_rows(X, seed)) if sparse else X
        folds = random_folds(n, n_folds, np.random.RandomState(seed))
        cls = class_of(name, kind)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(centres, "BLOCK_BYTES", 8 * 70 * block)
            patch.setattr(nodes, "ROW_BLOCK", 16 + block)
            force(patch, way)
            assert_path_follows_fits(cls, X, y, folds, candidates, **fixed)
            if is_classification(kind):
                projections = hasattr(cls, "project_grid") and data.draw(st.booleans())
                assert_values_follow_fits(
                    cls, X, y, folds, candidates, projections=projections, **fixed
                )

    check()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("LSSVM", kind) for kind in ("binary", "multi", "regression")),
        ("KELM", "binary"),
    ],
)
def test_kernels_of_low_rank_are_never_computed_whole(name, kind, monkeypatch):
    """K-ELM without class weights has a path of its own."""
    monkeypatch.setattr(kernels, "squared_distances", None)
    monkeypatch.setattr(kernels, "kernel_ladder", None)
    X, y = problem(240, 2, 1, kind)
    folds = [
        *KFold(3, shuffle=True, random_state=0).split(X),
        (np.arange(0, 150), np.arange(200, 240)),
    ]
    weights = [{}] if name == "LSSVM" else []
    weights += [{"class_weight": "balanced"}] if is_classification(kind) else []
    candidates = [
        {"C": C, "gamma": gamma, **weight}
        for C in (0.1, 10.0, 1e4)
        for gamma in (1e-6, 1e-3)
        for weight in weights
    ]
    assert_path_follows_fits(class_of(name, kind), X, y, folds, candidates)
    if is_classification(kind):
        assert_values_follow_fits(
            class_of(name, kind), X, y, folds, candidates, projections=False
        )


@pytest.mark.parametrize("name", ["KELM", "LSSVM"])
def test_a_kernel_of_few_columns_takes_no_fit(name, monkeypatch):
    """Its candidates are solved by the factor, but for a ridge within round-off, which is
    fitted.
    """
    X, y = problem(300, 2, 0, "regression")
    folds = list(KFold(3).split(X))
    fitted = []
    monkeypatch.setattr(
        CandidateGrid,
        "fitted_outputs",
        lambda self, i, j: fitted.append((i, j)) or np.zeros(100),
    )
    grid = [{"gamma": 1e-3, "C": C} for C in (1.0, 1e4, 1e15)]
    assert len(list(class_of(name, "regression").evaluate_grid(X, y, folds, grid))) == 9
    assert fitted == [(2, 0), (2, 1), (2, 2)]


def test_a_kernel_of_few_columns_keeps_all_directions_for_a_ridge_just_above_round_off(
    monkeypatch,
):
    """Eigenvalues of the factor's products that `RidgeSystem` would drop belong to the solution of
    a fit.
    """
    monkeypatch.setattr(ridge_path, "factor_seconds", lambda n, columns: 0.0)
    random = np.random.RandomState(0)
    X, y = random.uniform(size=(600, 2)) ** 3, random.normal(size=600)
    train, test = np.arange(300), np.arange(300, 600)
    (evaluated,) = KELMRegressor.evaluate_grid(
        X, y, [(train, test)], [{"C": 6e11, "gamma": 1.0}]
    )
    assert evaluated.solvers == {"reduction": 1}
    model = KELMRegressor(C=6e11, gamma=1.0).fit(X[train], y[train])
    error = np.linalg.norm(evaluated.outputs - model.predict(X[test]))
    assert error <= model.condition_ * EPS * np.linalg.norm(model.predict(X[train]))


@pytest.mark.parametrize(
    ("name", "n_classes", "fixed"),
    [
        ("RKELM", 2, {"n_landmarks": 60, "random_state": 0}),
        ("LSSVM", 2, {}),
        ("LSSVM", 3, {}),
        ("KELM", 2, {"kernel": "laplacian"}),
    ],
)
def test_fits_decide_the_labels_of_rows_far_from_all_others(name, n_classes, fixed):
    """Their outputs are next to nothing, or equal for all classes."""
    cls, y = class_of(name, "multi"), np.arange(60) % n_classes
    folds = list(KFold(5).split(y))
    candidates = [{"C": 2.0, "gamma": 50.0}, {"C": 32.0, "gamma": 50.0}]
    for seed in range(12):
        X = np.round(4 * np.random.RandomState(seed).standard_normal((60, 4)))
        for i, j, predicted, _ in cls.evaluate_grid(X, y, folds, candidates, **fixed):
            train, test = folds[j]
            model = cls(**candidates[i], **fixed).fit(X[train], y[train])
            np.testing.assert_array_equal(predicted, model.predict(X[test]))


def test_fits_decide_between_classes_of_the_same_rows():
    random = np.random.RandomState(0)
    X, y = random.standard_normal((70, 3)), np.repeat([0, 1, 2, 0], [20, 10, 10, 30])
    X[30:40] = X[20:30]
    train, test = random.permutation(40), np.arange(40, 70)
    for i, _, predicted, _ in EEMClassifier.evaluate_grid(
        X,
        y,
        [(train, test)],
        [{"n_hidden": size} for size in (90, 50, 30)],
        random_state=0,
    ):
        model = EEMClassifier(n_hidden=(90, 50, 30)[i], random_state=0).fit(
            X[train], y[train]
        )
        np.testing.assert_array_equal(predicted, model.predict(X[test]))


@pytest.mark.parametrize("held", [0, 2**18, 2**28])
@pytest.mark.parametrize("cls", [WELMClassifier, EEMClassifier])
def test_several_row_blocks_with_features_in_memory_or_computed_twice(
    cls, held, monkeypatch
):
    monkeypatch.setattr(discriminant, "HELD_BYTES", held)
    X, y = problem(5200, 3, 2, "binary")
    folds = [
        (np.arange(0, 5000), np.arange(5000, 5200)),
        (np.arange(100, 5200), np.arange(100)),
    ]
    assert_path_follows_fits(
        cls, X, y, folds, [{"n_hidden": h} for h in (130, 64, 10)], random_state=0
    )


def test_priors_and_costs_of_candidates():
    X, y = problem(60, 3, 0, "binary")
    weights = ({}, {"priors": [1, 9]}, {"costs": {-1: 5, 1: 1}})
    candidates = [
        {"n_hidden": size, **weight} for size in (30, 5) for weight in weights
    ]
    folds = random_folds(60, 2, np.random.RandomState(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert_path_follows_fits(EEMClassifier, X, y, folds, candidates, random_state=0)


@pytest.mark.parametrize("name", ["KELM", "RKELM", "KOSELM"])
def test_the_scale_of_gamma_is_that_of_each_fold(name):
    X = rows(60, 3, 0) * np.linspace(1, 9, 60)[:, np.newaxis]
    y = targets(X, 0, "regression")
    folds = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    candidates = [
        {"gamma": gamma, "C": C} for gamma in ("scale", 0.5, "auto") for C in (1.0, 8.0)
    ]
    fixed = {"random_state": 0} if name == "RKELM" else {}
    assert_path_follows_fits(
        class_of(name, "regression"), X, y, folds, candidates, **fixed
    )


PATHS = {
    f"{entry.name}, {task}": (entry.factory(task), entry.grid)
    for entry in BUILT_IN.values()
    for task in ("classification", "regression")
    if getattr(entry, task) is not None and isinstance(entry.factory(task), GridPath)
}


def a_problem(random, classified, awkward):
    """Return rows, targets and two folds: two or three classes of one size, or values."""
    n = int(random.randint(24, 50))
    X = rows(n, int(random.randint(1, 20)), int(random.randint(2**31)), awkward)
    y = np.sin(3 * X.sum(axis=1)) + 0.3 * random.randn(n)
    if classified:
        y = np.argsort(np.argsort(y)) * int(random.choice([2, 3])) // n
    split = StratifiedKFold if classified else KFold
    return X, y, list(split(2, shuffle=True, random_state=random).split(X, y))


def small(value):
    """Return a size that suits few rows in place of one of a default grid: nodes, landmarks,
    budgets.
    """
    return max(value // 10, 2) if isinstance(value, int) else value


def some_candidates(grid, random):
    """Return a few points of a default grid, in any order, one of them perhaps twice."""
    return [
        {
            name: small(values[random.randint(len(values))])
            for name, values in grid.items()
        }
        for _ in range(random.randint(2, 5))
    ]


def score(expected, predicted, classified):
    return (
        float(np.mean(expected == predicted))
        if classified
        else -float(np.mean(np.abs(expected - predicted)))
    )


def doubt(model, X, y, classified):
    """Return by how much the score may be another for outputs that a path is allowed to yield."""
    if not hasattr(model, "condition_"):
        # A path of scikit-learn's models fits them as they are, but for one solution of all ridges.
        return 0.0 if classified else 1e-9 * np.abs(y).max()
    outputs = model.decision_function(X) if classified else model.predict(X)
    within = allowed(model, outputs, y)
    return float(np.mean(~clear_labels(outputs, within))) if classified else within


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PATHS)
@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(100)
@given(number=st.integers(0, 2**31 - 1), awkward=st.booleans())
def test_a_path_chooses_as_single_fits_do(name, number, awkward):
    """The same candidate, unless one is as good as the other within what outputs may differ by."""
    cls, grid = PATHS[name]
    classified = name.endswith("classification")
    random = np.random.RandomState(number)
    X, y, folds = a_problem(random, classified, awkward)
    candidates = some_candidates(grid, random)
    fixed = (
        {"random_state": number % 5} if "random_state" in parameter_names(cls) else {}
    )
    scores, expected = np.full((2, len(candidates), len(folds)), np.nan)
    for i, j, predicted, _ in cls.evaluate_grid(X, y, folds, candidates, **fixed):
        scores[i, j] = score(y[folds[j][1]], predicted, classified)
    models = [
        [cls(**fixed, **candidate).fit(X[train], y[train]) for train, _ in folds]
        for candidate in candidates
    ]
    for i, fitted in enumerate(models):
        for j, (_, test) in enumerate(folds):
            expected[i, j] = score(y[test], fitted[j].predict(X[test]), classified)
    choice, expected_choice = best(scores), best(expected)
    if choice != expected_choice:
        unsure = [
            doubt(models[i][j], X[test], y[train], classified)
            for i in (choice, expected_choice)
            for j, (train, test) in enumerate(folds)
        ]
        assert expected[expected_choice].mean() - expected[choice].mean() <= sum(
            unsure
        ) / len(folds)
        assert sum(unsure) > 0, "a tie is decided by the order of the candidates"
