"""Single fits against other public packages, if they are installed beside elmbench (`make bench`
installs them).
"""

import importlib
import importlib.metadata
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.fits import ALD, BUDGET, DELTA, FB, GAMMA
from benchmarks.fits import C as ONLINE_C
from benchmarks.measure import Array, Record, Run, in_turn, make_record
from benchmarks.problems import series
from elmbench.models import ELMRegressor, OSELMRegressor

#: Folder of the other packages, apart from the environment of elmbench.
FOLDER = Path(__file__).resolve().parents[1] / ".bench-packages"

L, C, BLOCK = 500, 32.0, 500


def load(module: str) -> Any:
    """Return a module of another package; raise an ImportError if it is missing or does not work
    here.
    """
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


def _hpelm(hpelm: Any, X: Array, y: Array) -> Any:
    """Fit HP-ELM with the nodes of `_ELM`: the same model."""
    nodes = _ELM()
    nodes._draw_nodes(X.shape[1])
    model = hpelm.ELM(X.shape[1], 1, norm=1.0 / C, precision="double")
    # Its sigmoid falls.
    model.add_neurons(
        L, "sigm", np.ascontiguousarray(-nodes.weights_.T), -nodes.biases_
    )
    model.train(X, y[:, np.newaxis], "r")
    return model.predict(X[:500])[:, 0]


def _skelm(skelm: Any, X: Array, y: Array) -> None:
    skelm.ELMRegressor(n_neurons=L, ufunc="sigm", alpha=1.0 / C, random_state=0).fit(
        X, y
    )


def _pyoselm_blocks(pyoselm: Any, X: Array, y: Array) -> None:
    model = pyoselm.OSELMRegressor(
        n_hidden=L, activation_func="sigmoid", random_state=0
    )
    for start in range(0, len(X), BLOCK):
        model.partial_fit(
            X[start : start + BLOCK], y[start : start + BLOCK, np.newaxis]
        )


def _krls(model: str, options: dict[str, Any], krls: Any, X: Array, y: Array) -> Any:
    fitted = getattr(krls, model)(kernel_type="RBF", gamma=GAMMA, **options)
    fitted.fit(X, y)
    return fitted.predict(X[:100])


def _fit(
    trial: bool,
    *,
    package: str,
    module: str,
    name: str,
    model: Callable[[], Any],
    theirs: Callable[[Any, Array, Array], Any],
    note: str,
    target: float,
    rows: int = 5000,
    compared: int = 0,
    operations: float | None = None,
) -> Iterator[Record]:
    """Measure a fit, with predictions for some `compared` rows if the other package learns the same
    model.
    """

    def ours() -> Any:
        fitted = model().fit(X, y)
        return fitted.predict(X[:compared]) if compared else None

    try:
        library = load(module)
    except ImportError as error:
        yield make_record(
            name, package, skipped=f"{package} is not here: {error}".splitlines()[0]
        )
        return
    X, y = series(500 if trial else rows)
    ours()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs(library, X, y)
        rounds = in_turn(ours, lambda: theirs(library, X, y))
    against = f"{package} {importlib.metadata.version(package)}"
    difference = (
        float(np.max(np.abs(rounds.our_result - rounds.their_result)))
        if compared
        else None
    )
    facts = {"largest_difference": difference, "target": target, "note": note}
    yield make_record(name, against, rounds, operations=operations, **facts)


_ELM = partial(ELMRegressor, n_hidden=L, C=C, random_state=0)
_OS_ELM = partial(
    OSELMRegressor,
    n_hidden=L,
    start="ridge",
    initial_batch=BLOCK,
    batch_size=BLOCK,
    random_state=0,
)
_OWN_NODES = "nodes of its own, so that no scores are compared"
_SAME_RULE = "the same rule; both also predict 100 rows, which are compared"
_NAME = f"ELM fit, 5,000 rows, L = {L}"
#: Of the hidden rows with 7 inputs, H'H and a Cholesky factor.
_OPERATIONS = 5000 * L * (L + 2 * 7) + L**3 / 3

ROWS: dict[str, Run] = {
    "hpelm": partial(
        _fit, package="hpelm", module="hpelm", name=_NAME, model=_ELM, theirs=_hpelm, compared=500,
        target=1.1,
        note="the same nodes and ridge; both also predict 500 rows, which are compared",
        operations=_OPERATIONS,
    ),
    "scikit-elm": partial(
        _fit, package="scikit-elm", module="skelm", name=_NAME, model=_ELM, theirs=_skelm,
        target=1.0,
        note=f"{_OWN_NODES}; with an intercept", operations=_OPERATIONS,
    ),
    "pyoselm-blocks": partial(
        _fit, package="pyoselm", module="pyoselm", name="OS-ELM fit, 5,000 rows in blocks of "
                                                        f"{BLOCK}, L = {L}",
        model=_OS_ELM, theirs=_pyoselm_blocks, target=2.5, note=f"{_OWN_NODES}; a pseudo-inverse a "
                                                                "block",
        operations=_OPERATIONS,
    ),
    "krls-ald": partial(
        _fit, package="krls", module="krls.krls", name="ALD-KOS-ELM, 2,000 rows", model=ALD,
        theirs=partial(_krls, "KRLS", {"nu": DELTA, "N": 2000}), rows=2000, compared=100,
        target=1.0, note=_SAME_RULE,
    ),
    "krls-fb": partial(
        _fit, package="krls", module="krls.krls", name=f"FB-KOS-ELM, F = {BUDGET}, 2,000 rows",
        model=FB,
        theirs=partial(_krls, "FB_KRLS", {"N": BUDGET, "c": 1.0 / ONLINE_C}), rows=2000,
        compared=100, target=1.0,
        note=_SAME_RULE,
    ),
}  # fmt: skip
