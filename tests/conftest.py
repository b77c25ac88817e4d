"""Fixtures of all tests: one thread of linear algebra, a cache of their own, a tree of experiments
of their own.
"""

import copy
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from random_examples import register_profiles

# Before numpy is imported: results and times of the tests do not depend on the machine's cores.
for _library in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

#: Options of the app, and data files, that a developer may have set; a test that needs one sets it
#: itself.
_OPTIONS = ("DATA_DIR", "RESULTS_DIR", "PLUGIN", "QUIET", "JSON", "DEBUG")

PAPER: dict[str, Any] = {
    "key": "toy",
    "title": "A paper",
    "authors": "A. Author",
    "year": 2020,
    "doi": "10.0/0",
    "readings": {
        "order": {
            "question": "In which order?",
            "values": {
                "shuffled": {"says": "any"},
                "stored": {"says": "as is", "set": {"protocol": {"order": "stored"}}},
            },
        }
    },
}

EXPERIMENT: dict[str, Any] = {
    "id": "toy/one",
    "aliases": ["one"],
    "label": "Table I",
    "title": "Something",
    "datasets": ["wdbc"],
    "protocol": {
        "scale": {"range": [0, 1]},
        "outer": {"kind": "stratified-kfold", "folds": 3, "runs": 2},
        "inner": {"kind": "stratified-kfold", "folds": 2},
        "select": "nested",
        "metrics": ["mcc", "fit_seconds"],
    },
    "grids": {"C": [1, 8], "gamma": {"powers-of-2": [-3, 0]}, "n_hidden": [10, 20]},
    "models": {
        "ELM": {"model": "elm", "search": ["n_hidden", "C"]},
        "K-ELM": {"model": "k-elm", "search": ["gamma", "C"]},
        "OS-ELM": {"model": "os-elm", "like": "ELM", "params": {"initial_batch": 50}},
        "FB-KOS-ELM": {
            "model": "fb-kos-elm",
            "like": "K-ELM",
            "search": {"budget": [5, 10, 15]},
        },
    },
    "readings": ["order"],
    "profiles": {"ci": {"runs": 1, "thin-grids": 2}},
}

register_profiles()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "seeded: draws its numbers with the fixture `seed`"
    )
    config.addinivalue_line(
        "markers",
        "exhaustive: one of many alike, or slow; part of `make test-all` alone",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that `make fuzz` runs beside those of Hypothesis, and scikit-learn's checks of
    further variants.

    `make test` runs each estimator check once for each class; `make test-all` runs it for each
    variant of the class.
    """
    checked: set[tuple[type, str]] = set()
    for item in items:
        if "seed" in getattr(item, "fixturenames", ()):
            item.add_marker("seeded")
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if {"estimator", "check"} <= parameters.keys():
            check = (
                type(parameters["estimator"]),
                str(getattr(parameters["check"], "func", parameters["check"])),
            )
            if check in checked:
                item.add_marker("exhaustive")
            checked.add(check)


@pytest.fixture
def without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plan as if every data set were present."""
    from elmbench.datasets.load import Identity

    monkeypatch.setattr(
        "elmbench.datasets.load.identify",
        lambda *request: Identity("not loaded"),
    )


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    """Seed of the random numbers of a test that must pass with any: 0, in `make fuzz` that of
    Hypothesis.
    """
    return int(pytestconfig.getoption("--hypothesis-seed") or 0)


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep generated series out of the user's cache; they are made once a session."""
    with pytest.MonkeyPatch.context() as patch:
        if "ELMBENCH_CACHE_DIR" not in os.environ:
            patch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Take Ctrl-C, as all that the tests start then does; where they run in the background, a shell
    has it ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_options_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _OPTIONS:
        monkeypatch.delenv(f"ELMBENCH_{name}", raising=False)


@pytest.fixture(autouse=True)
def _own_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the plug-ins that a test has loaded, and the data sets and tables that it has
    added.
    """
    from elmbench.registry import plugins

    monkeypatch.setattr(plugins, "_declared", {})
    yield
    datasets: Any = sys.modules.get("elmbench.specs.datasets")
    if datasets is not None and datasets._user_specs:
        datasets._user_specs.clear()
        datasets._user_files.clear()
        datasets.load_dataset_specs.cache_clear()
    catalogue: Any = sys.modules.get("elmbench.specs.catalogue")
    if catalogue is not None and catalogue._added != catalogue._Added():
        catalogue._added = catalogue._Added()
        catalogue.load_catalogue.cache_clear()


@pytest.fixture
def experiment() -> dict[str, Any]:
    """The content of an experiment file, to be changed at will."""
    return copy.deepcopy(EXPERIMENT)


@pytest.fixture
def paper() -> dict[str, Any]:
    """The content of a paper's file, to be changed at will."""
    return copy.deepcopy(PAPER)


@pytest.fixture
def write_tree(tmp_path: Path) -> Callable[..., Path]:
    """Write `experiments/toy/` with a paper and the given tables; return the folder that holds
    `experiments/`.
    """

    def write(
        *experiments: dict[str, Any], paper: dict[str, Any] | None = None
    ) -> Path:
        folder = tmp_path / "tree" / "experiments" / "toy"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "paper.yaml").write_text(
            yaml.safe_dump(PAPER if paper is None else paper, sort_keys=False)
        )
        for content in experiments or (EXPERIMENT,):
            name = str(content["id"]).split("/")[1]
            (folder / f"{name}.yaml").write_text(
                yaml.safe_dump(content, sort_keys=False)
            )
        return tmp_path / "tree"

    return write
