"""What a fit is said to need at most is what it needs: nothing is refused that would go, and nothing ends a machine."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import elmbench.models
from elmbench.models import (
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRBFClassifier,
    KELMClassifier,
    LSSVMClassifier,
    OSELMClassifier,
    OSPVMClassifier,
    PVMClassifier,
    RKELMClassifier,
    WELMClassifier,
)
from elmbench.models import __all__ as all_models
from elmbench.models.protocols import MemoryEstimate

#: Rows by far more than nodes or centres, and fewer.
CASES = [
    *((model(n_hidden=200, random_state=0), 3000) for model in (WELMClassifier, EEMClassifier)),
    *((model(n_hidden=900, random_state=0), 300) for model in (WELMClassifier, EEMClassifier)),
    (OSELMClassifier(n_hidden=200, initial_batch=210, random_state=0), 3000),
    (OSELMClassifier(n_hidden=900, initial_batch=300, random_state=0), 300),
    *((model(random_state=0), n) for model in (RKELMClassifier, ELMRBFClassifier) for n in (300, 3000)),
    *((EEKMClassifier(random_state=0), n) for n in (300, 3000)),
    *((model(), 900) for model in (KELMClassifier, LSSVMClassifier)),
]
#: With features, or classes, by far more than nodes or centres.
WIDE, MANY_CLASSES = (600, 3000, 2), (8000, 5, 60)
SMALL = [
    *(model(n_hidden=20, random_state=0) for model in (ELMClassifier, ELMRBFClassifier)),
    *(model(n_hidden=20, activation="nsig", random_state=0) for model in (WELMClassifier, EEMClassifier)),
    *(model(n_landmarks=20, random_state=0) for model in (RKELMClassifier, EEKMClassifier)),
    OSELMClassifier(n_hidden=20, initial_batch=25, batch_size=20, random_state=0),
    PVMClassifier(n_hidden=20),
    OSPVMClassifier(n_hidden=20, initial_batch=200, batch_size=200),
]


@pytest.mark.parametrize(("model", "n"), CASES, ids=[f"{type(model).__name__}-{n}" for model, n in CASES])
def test_memory_estimate_bounds_the_peak(model, n):
    assert_bounded(model, n, 5, 2)


@pytest.mark.parametrize("shape", [WIDE, MANY_CLASSES], ids=["wide", "classes"])
@pytest.mark.parametrize("model", SMALL, ids=lambda model: type(model).__name__)
def test_it_counts_wide_rows_and_the_targets_of_many_classes(model, shape):
    assert_bounded(model, *shape)


def assert_bounded(model, n, d, n_classes):
    X = np.random.default_rng(0).random((n, d))
    y = np.argsort(np.argsort(X.sum(axis=1))) * n_classes // n
    clone(model).fit(X, y)  # imports take memory too
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = model.memory_estimate(n, d, 1 if n_classes == 2 else n_classes, **model.get_params())
    assert 0.2 * estimate < peak < estimate


ESTIMATED = [cls for cls in (getattr(elmbench.models, name) for name in all_models) if isinstance(cls, MemoryEstimate)]


@pytest.mark.parametrize("cls", ESTIMATED)
def test_larger_problems_take_no_less_and_parameters_have_their_defaults(cls):
    estimate = partial(cls.memory_estimate, 2000, 30)
    assert estimate() == estimate(1) == estimate(1, **cls().get_params())
    for sizes in (
        [cls.memory_estimate(n, 30, 3) for n in (10, 200, 3000, 10**5, 10**7)],
        [cls.memory_estimate(2000, d, 3) for d in (1, 30, 2000, 10**5)],
        [estimate(k) for k in (1, 2, 30, 1000)],
    ):
        assert all(isinstance(size, int) for size in sizes)
        assert sizes == sorted(sizes)
        assert sizes[-1] > sizes[0] > 0
