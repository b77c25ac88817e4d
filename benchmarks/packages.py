"""Single fits against other public packages, if they are installed beside elmbench (`make bench` installs them)."""

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
from benchmarks.measure import Result, Row, in_turn, measured
from benchmarks.problems import Array, series
from elmbench.models import ALDKOSELMRegressor, ELMRegressor, FBKOSELMRegressor, OSELMRegressor

FOLDER = Path(__file__).resolve().parents[1] / ".bench-packages"
"""Folder of the other packages, apart from the environment of elmbench."""

L, C, BLOCK = 500, 32.0, 500


def load(module: str) -> Any:
    """Return a module of another package; raise an ImportError if it is missing or does not work here."""
    # At the end of the path: the packages of elmbench itself come first.
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    # krls imports torch, and does not use it with a fixed kernel.
    stand_in = module.startswith("krls") and "torch" not in sys.modules
    if stand_in:
        sys.modules["torch"] = ModuleType("torch")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    finally:
        if stand_in:
            del sys.modules["torch"]


def _elm(X: Array, y: Array) -> ELMRegressor:
    return ELMRegressor(n_hidden=L, C=C, random_state=0).fit(X, y)


def _hpelm(hpelm: Any, X: Array, y: Array) -> Array:
    """Fit HP-ELM with the nodes of `_elm`: the same model."""
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


def _pyoselm_blocks(pyoselm: Any, X: Array, y: Array) -> None:
    model = pyoselm.OSELMRegressor(n_hidden=L, activation_func="sigmoid", random_state=0)
    for start in range(0, len(X), BLOCK):
        model.partial_fit(X[start : start + BLOCK], y[start : start + BLOCK, np.newaxis])


def _os_elm(X: Array, y: Array) -> Any:
    return OSELMRegressor(n_hidden=L, start="ridge", initial_batch=BLOCK, batch_size=BLOCK, random_state=0).fit(X, y)


def _ald(X: Array, y: Array) -> Any:
    return ALDKOSELMRegressor(gamma=GAMMA, delta=DELTA).fit(X, y)


def _krls_ald(krls: Any, X: Array, y: Array) -> Any:
    model = krls.KRLS(nu=DELTA, N=len(X), kernel_type="RBF", gamma=GAMMA)
    model.fit(X, y)
    return model.predict(X[:100])


def _fb(X: Array, y: Array) -> Any:
    return FBKOSELMRegressor(C=ONLINE_C, gamma=GAMMA, budget=BUDGET).fit(X, y)


def _krls_fb(krls: Any, X: Array, y: Array) -> Any:
    model = krls.FB_KRLS(N=BUDGET, c=1.0 / ONLINE_C, kernel_type="RBF", gamma=GAMMA)
    model.fit(X, y)
    return model.predict(X[:100])


def _row(
    key: str,
    package: str,
    module: str,
    name: str,
    fit: Callable[[Array, Array], Any],
    theirs: Callable[[Any, Array, Array], Any],
    note: str,
    *,
    rows: int = 5000,
    compared: int = 0,
    target: float | None = None,
    operations: float | None = None,
) -> Row:
    """Return the row of a fit, with predictions for some `compared` rows if the other package learns the same model."""

    def ours(X: Array, y: Array) -> Any:
        model = fit(X, y)
        return model.predict(X[:compared]) if compared else None

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
            rounds = in_turn(lambda: ours(X, y), lambda: theirs(other, X, y))
        difference = float(np.max(np.abs(rounds.our_result - rounds.their_result))) if compared else None
        against = f"{package} {importlib.metadata.version(package)}"
        yield measured(
            rounds, name=name, against=against, difference=difference, target=target, operations=operations, note=note
        )

    return Row(key, run)


_OWN_NODES = "nodes of its own, so that no scores are compared"
_SAME_RULE = "the same rule; both also predict 100 rows, which are compared"
_FIT = f"ELM fit, 5,000 rows, L = {L}"
_OPERATIONS = 5000 * L * (L + 2 * 7) + L**3 / 3
"""Operations of the hidden rows with 7 inputs, H'H and a Cholesky factor."""

ROWS = [
    _row(
        "hpelm", "hpelm", "hpelm", _FIT, _elm, _hpelm,
        "the same nodes and ridge; both also predict 500 rows, which are compared", compared=500, target=1.1,
        operations=_OPERATIONS,
    ),
    _row(
        "scikit-elm", "scikit-elm", "skelm", _FIT, _elm, _skelm, f"{_OWN_NODES}; with an intercept", target=1.0,
        operations=_OPERATIONS,
    ),
    _row(
        "pyoselm-blocks", "pyoselm", "pyoselm", f"OS-ELM fit, 5,000 rows in blocks of {BLOCK}, L = {L}",
        _os_elm, _pyoselm_blocks, f"{_OWN_NODES}; a pseudo-inverse a block", target=2.5,
        operations=_OPERATIONS,
    ),
    _row(
        "krls-ald", "krls", "krls.krls", "ALD-KOS-ELM, 2,000 rows", _ald, _krls_ald, _SAME_RULE,
        rows=2000, compared=100, target=1.0,
    ),
    _row(
        "krls-fb", "krls", "krls.krls", f"FB-KOS-ELM, F = {BUDGET}, 2,000 rows", _fb, _krls_fb, _SAME_RULE,
        rows=2000, compared=100, target=1.0,
    ),
]  # fmt: skip
