"""Plans of small tables, and models that misbehave in a process of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_runs import plan, workers
from toy_data import add_model, make_unit, toys
from toy_plans import plan_table, plan_toy

from elmbench.registry.plugins import load_plugin
from elmbench.running.processes import machine_memory
from elmbench.running.store import Store
from elmbench.work.plan import Plan

__all__ = ["add_model", "make_unit", "plan", "plan_table", "plan_toy", "toys", "workers"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "results")


PLUGIN = '''
"""Models that do what no model should."""

import ctypes
import os
import subprocess
import sys
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


def tell(number):
    with open(os.environ["TEST_LOG"], "a") as log:
        log.write(f"{number}\\n")


class Base(ClassifierMixin, BaseEstimator):
    """Predicts by its first column; `act` comes first where there are more rows than in a warm-up."""

    n_units_ = 1

    def fit(self, X, y):
        if len(X) > 50:
            self.act(X, y)
        return self

    def act(self, X, y):
        pass

    def predict(self, X):
        return np.where(X[:, 0] > 0.4, 1, -1)


class Exiting(Base):
    def act(self, X, y):
        os._exit(7)


class Leaving(Base):
    def act(self, X, y):
        sys.exit(5)


class Killed(Base):
    def act(self, X, y):
        os.kill(os.getpid(), 9)


class Stuck(Base):
    """Hangs in compiled code, deaf to signals that Python would handle."""

    def act(self, X, y):
        while True:  # a signal ends a sleep
            ctypes.CDLL(None).sleep(3600)


class Leaking(Base):
    def act(self, X, y):
        hoard = []
        for _ in range(100):
            hoard.append(np.ones(20 * 1024 * 1024 // 8))
            time.sleep(0.02)
        time.sleep(3600)


class Printing(Base):
    def act(self, X, y):
        print("{not json}" * 10)
        sys.stdout.flush()
        os.write(1, b"straight to the descriptor\\n")
        subprocess.run(["echo", "from a child"], check=True)
        assert sys.stdin.read() == ""


class Forking(Base):
    """Leaves a child behind that has all its descriptors, and dies."""

    def act(self, X, y):
        child = os.fork()
        if child == 0:
            time.sleep(3600)
            os._exit(0)
        tell(child)
        os.kill(os.getpid(), 9)


class Parent(Base):
    """Waits for a child of its own."""

    def act(self, X, y):
        child = subprocess.Popen(["sleep", "3600"])
        tell(child.pid)
        child.wait()


class Negative(Base):
    n_units_ = -1


class Colourful(Base):
    def act(self, X, y):
        raise RuntimeError("\\x1b[2J red\\r\\x9b1m \\u202eder\\tand\\nmore")


class NoLabel(Base):
    def predict(self, X):
        return np.full(len(X), 7)


class Detaching(Base):
    """Leaves a process in a session of its own, whose parent has ended."""

    def act(self, X, y):
        if os.fork() == 0:
            os.setsid()
            child = os.fork()
            if child == 0:
                time.sleep(3600)
            tell(child)
            os._exit(0)
        log = os.environ["TEST_LOG"]
        while not (os.path.exists(log) and os.path.getsize(log)):
            time.sleep(0.01)


class Orphaning(Detaching):
    """The same, and dies."""

    def act(self, X, y):
        super().act(X, y)
        os.kill(os.getpid(), 9)


class Treacherous(Base):
    """Kills what its worker was started by, always or the first time only."""

    once = False

    def act(self, X, y):
        if not (self.once and os.path.exists(os.environ["TEST_LOG"])):
            tell(os.getpid())
            os.kill(os.getppid(), 9)
            time.sleep(3600)


class TreacherousOnce(Treacherous):
    once = True


class LeakingChild(Base):
    def act(self, X, y):
        if os.fork() == 0:
            hoard = np.ones(600_000_000 // 8)
            time.sleep(3600)
        time.sleep(3600)


class Unjson(Base):
    """Makes a search count what JSON cannot hold."""

    @property
    def condition_(self):
        return object()


class Locking(Base):
    """Hangs and never gives back the interpreter's lock."""

    def act(self, X, y):
        tell(os.getpid())
        while True:
            ctypes.PyDLL(None).sleep(3600)


class SlowToMake(Base):
    """Stalls in a worker before its fit, where the environment says so."""

    def __init__(self):
        if os.environ.get("ELMBENCH_WORKER") and os.environ.get("TEST_STALL") == "init":
            time.sleep(3600)

    def get_params(self, deep=True):
        if os.environ.get("ELMBENCH_WORKER") and os.environ.get("TEST_STALL") == "params":
            time.sleep(3600)
        return {}

    def fit(self, X, y):
        self.get_params()
        return self


MODELS = {
    "unjson": Unjson, "locking": Locking,
    "slow-to-make": SlowToMake,
    "colourful": Colourful,
    "no-label": NoLabel, "negative": Negative,
    "detaching": Detaching, "orphaning": Orphaning, "leaking-child": LeakingChild,
    "treacherous": Treacherous, "treacherous-once": TreacherousOnce,
    "healthy": Base, "exiting": Exiting, "leaving": Leaving, "killed": Killed,
    "stuck": Stuck, "leaking": Leaking, "printing": Printing,
    "forking": Forking, "parent": Parent,
}
'''


@pytest.fixture(scope="session")
def plugin_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plug-in file with models that misbehave."""
    path = tmp_path_factory.mktemp("plugin") / "misbehaving.py"
    path.write_text(PLUGIN)
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of the models: workers know its name, so it is set before they start."""
    return tmp_path_factory.mktemp("log") / "log"


@pytest.fixture(scope="module")
def cluster(log: Path) -> Iterator[Any]:
    """A scheduler with two workers, each a process of its own that is started again when it dies."""
    distributed = pytest.importorskip("distributed")
    dask_config = pytest.importorskip("dask").config
    # Each death of a worker costs seconds: two are as good as the four of the default.
    with (
        dask_config.set(
            {
                "distributed.scheduler.allowed-failures": 1,
                # Dask drops workers that are not back in time.
                "distributed.deploy.lost-worker-timeout": "1h",
            }
        ),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=machine_memory() // 2,
            silence_logs="CRITICAL",
            env={"TEST_LOG": str(log)},
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def plugin(plugin_file: Path) -> str:
    """The path of that file, loaded here too."""
    load_plugin(plugin_file)
    return str(plugin_file)


@pytest.fixture
def plan_models(plugin: str, plan_table: Callable[..., Plan]) -> Callable[..., Plan]:
    """Plan cells of the plug-in's models on WDBC, three folds a run."""

    def plan(*models: str, runs: int = 1) -> Plan:
        return plan_table("table4", datasets=("wdbc",), models=models, runs=runs)

    return plan
