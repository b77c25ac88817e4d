"""Single fits against other public packages, where they are installed beside elmbench (`make bench` does that)."""

import importlib
import importlib.metadata
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.fits import BUDGET, DELTA, GAMMA
from benchmarks.fits import C as ONLINE_C
from benchmarks.measure import in_turn
from benchmarks.problems import Array, series
from benchmarks.row import Result, Row, measured
from elmbench.models import ALDKOSELMRegressor, ELMRegressor, FBKOSELMRegressor, OSELMRegressor

FOLDER = Path(__file__).resolve().parents[1] / ".bench-packages"
"""Where `make bench` puts them, apart from the environment of elmbench."""

L, C, BLOCK = 500, 32.0, 500


def load(module: str) -> Any:
    """Return a module of another package; an ImportError where it is not there, or does not work here."""
    # At the end: what elmbench itself uses is not to be taken from there.
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(module)


def load_krls(module: str) -> Any:
    """Return a module of krls, which asks for torch and has no use for it with the kernels of here."""
    stand_in = "torch" not in sys.modules and ModuleType("torch")
    if stand_in:
        sys.modules["torch"] = stand_in
    try:
        return load(module)
    finally:
        if stand_in:
            del sys.modules["torch"]


def _elm(X: Array, y: Array) -> None:
    ELMRegressor(n_hidden=L, C=C, random_state=0).fit(X, y)


def _elm_that_predicts(X: Array, y: Array) -> Array:
    return ELMRegressor(n_hidden=L, C=C, random_state=0).fit(X, y).predict(X[:500])


def _hpelm(hpelm: Any, X: Array, y: Array) -> Array:
    """HP-ELM with the nodes of `_elm`: the same model."""
    nodes = ELMRegressor(n_hidden=L, C=C, random_state=0)
    nodes._draw_nodes(X.shape[1])
    model = hpelm.ELM(X.shape[1], 1, norm=1.0 / C, precision="double")
    # Its sigmoid falls.
    model.add_neurons(L, "sigm", np.ascontiguousarray(-nodes.weights_.T), -nodes.biases_)
    model.train(X, y[:, np.newaxis], "r")
    predicted: Array = model.predict(X[:500])[:, 0]
    return predicted


def _skelm(skelm: Any, X: Array, y: Array) -> None:
    skelm.ELMRegressor(n_neurons=L, ufunc="sigm", alpha=1.0 / C, random_state=0).fit(X, y)


def _pyoselm(pyoselm: Any, X: Array, y: Array) -> None:
    pyoselm.ELMRegressor(n_hidden=L, activation_func="sigmoid", random_state=0).fit(X, y)


def _pyoselm_blocks(pyoselm: Any, X: Array, y: Array) -> None:
    model = pyoselm.OSELMRegressor(n_hidden=L, activation_func="sigmoid", random_state=0)
    for start in range(0, len(X), BLOCK):
        model.partial_fit(X[start : start + BLOCK], y[start : start + BLOCK, np.newaxis])


def _os_elm(X: Array, y: Array) -> None:
    OSELMRegressor(n_hidden=L, start="ridge", initial_batch=BLOCK, batch_size=BLOCK, random_state=0).fit(X, y)


def _first(X: Array) -> Array:
    """Return the rows whose predictions are compared."""
    return X[:100]


def _ald(X: Array, y: Array) -> Array:
    return ALDKOSELMRegressor(gamma=GAMMA, delta=DELTA).fit(X, y).predict(_first(X))


def _krls_ald(krls: Any, X: Array, y: Array) -> Array:
    model = krls.KRLS(nu=DELTA, N=len(X), kernel_type="RBF", gamma=GAMMA)
    model.fit(X, y)
    predicted: Array = model.predict(_first(X))
    return predicted


def _fb(X: Array, y: Array) -> Array:
    return FBKOSELMRegressor(C=ONLINE_C, gamma=GAMMA, budget=BUDGET).fit(X, y).predict(_first(X))


def _krls_fb(krls: Any, X: Array, y: Array) -> Array:
    model = krls.FB_KRLS(N=BUDGET, c=1.0 / ONLINE_C, kernel_type="RBF", gamma=GAMMA)
    model.fit(X, y)
    predicted: Array = model.predict(_first(X))
    return predicted


_OWN_NODES = "nodes of its own, so that no scores are compared"


def _row(
    key: str,
    package: str,
    module: str,
    name: str,
    ours: Callable[[Array, Array], Any],
    theirs: Callable[[Any, Array, Array], Any],
    note: str,
    *,
    rows: int = 5000,
    target: float | None = None,
    load: Callable[[str], Any] = load,
) -> Row:
    def run(trial: bool) -> Iterator[Result]:
        try:
            other = load(module)
        except ImportError as error:
            yield Result(name, package, skipped=f"{package} is not here: {error}".splitlines()[0])
            return
        X, y = series(500 if trial else rows)
        ours(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs(other, X, y)
            found = in_turn(lambda: ours(X, y), lambda: theirs(other, X, y))
        their = found.their_result
        difference = None if their is None else float(np.max(np.abs(found.our_result - their)))
        version = importlib.metadata.version(package)
        yield measured(
            found, name=name, against=f"{package} {version}", difference=difference, target=target, note=note
        )

    return Row(key, run)


_NO_BUILD = "it asks for numpy 1.15.4, which has no build for the versions of Python that elmbench runs on"

ROWS = [
    _row(
        "hpelm", "hpelm", "hpelm", f"ELM fit, 5,000 rows, L = {L}", _elm_that_predicts, _hpelm,
        "the same nodes and ridge; both also predict 500 rows, which are compared", target=1.0,
    ),
    _row(
        "scikit-elm", "scikit-elm", "skelm", f"ELM fit, 5,000 rows, L = {L}", _elm, _skelm,
        f"{_OWN_NODES}; with an intercept", target=1.0,
    ),
    _row(
        "pyoselm", "pyoselm", "pyoselm", f"ELM fit, 5,000 rows, L = {L}", _elm, _pyoselm,
        f"{_OWN_NODES}; without a ridge, by a pseudo-inverse",
    ),
    _row(
        "pyoselm-blocks", "pyoselm", "pyoselm", f"OS-ELM fit, 5,000 rows in blocks of {BLOCK}, L = {L}",
        _os_elm, _pyoselm_blocks, f"{_OWN_NODES}; a pseudo-inverse a block", target=2.5,
    ),
    _row(
        "krls-ald", "krls", "krls.krls", "ALD-KOS-ELM, 2,000 rows", _ald, _krls_ald,
        "the same rule; both also predict 100 rows, which are compared", rows=2000, target=1.0, load=load_krls,
    ),
    _row(
        "krls-fb", "krls", "krls.krls", f"FB-KOS-ELM, F = {BUDGET}, 2,000 rows", _fb, _krls_fb,
        "the same rule; both also predict 100 rows, which are compared", rows=2000, target=1.0, load=load_krls,
    ),
    Row("elm-package", lambda trial: [Result("K-ELM fit", "elm 0.1.3", skipped=_NO_BUILD)]),
]  # fmt: skip
