"""What a fit is said to need at most is what it needs: nothing is refused that would go, and nothing ends a machine."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

from elmbench.models import (
    EEKMClassifier,
    EEMClassifier,
    ELMRBFClassifier,
    KELMClassifier,
    LSSVMClassifier,
    OSELMClassifier,
    RKELMClassifier,
    WELMClassifier,
)

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


@pytest.mark.parametrize(("model", "n"), CASES, ids=[f"{type(model).__name__}-{n}" for model, n in CASES])
def test_memory_estimate_bounds_the_peak(model, n):
    X = np.random.default_rng(0).random((n, 5))
    y = np.where(X.sum(axis=1) > 2.5, 1, -1)
    clone(model).fit(X, y)  # imports take memory too
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = model.memory_estimate(n, 5, 1, **model.get_params())
    assert 0.2 * estimate < peak < estimate
