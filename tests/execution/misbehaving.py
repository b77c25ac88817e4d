"""Models that do what no model should."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin


def tell(number):
    with open(os.environ["TEST_LOG"], "a") as log:
        log.write(f"{number}\n")


class Base(ClassifierMixin, BaseEstimator):
    """Predicts by its first column; `act` comes first where there are more rows than in a
    warm-up.
    """

    n_units_ = 1

    def fit(self, X, y):
        if len(X) > 50:
            self.act()
        return self

    def act(self):
        pass

    def predict(self, X):
        return np.where(X[:, 0] > 0.4, 1, -1)


# --- What models do in a fit


def exiting(self):
    os._exit(7)


def leaving(self):
    sys.exit(5)


class Unusual(BaseException):
    """Derives from no Exception."""


def unusual(self):
    raise Unusual("odd")


class Interruption(KeyboardInterrupt):
    """Has no message."""

    def __str__(self):
        raise Unusual


def interrupting(self):
    raise Interruption


def meddling(self):
    """Replace a function that other models use."""
    np.where = None


def poisoning(self):
    """Change what other models of the same file predict, and leave a timer behind."""
    Base.predict = lambda self, X: np.ones(len(X), int)
    threading.Timer(1.0, os._exit, [3]).start()


def pooling(self):
    """Use a pool of processes that joblib keeps."""
    assert Parallel(n_jobs=2)(delayed(abs)(number) for number in (-1, 2)) == [1, 2]


def killed(self):
    os.kill(os.getpid(), 9)


def stuck(self):
    """Hang in compiled code, deaf to signals that Python would handle."""
    while True:  # a signal ends a sleep
        ctypes.CDLL(None).sleep(3600)


def locking(self):
    """Hang and never give back the interpreter's lock."""
    tell(os.getpid())
    while True:
        ctypes.PyDLL(None).sleep(3600)


def leaking(self):
    hoard = []
    for _ in range(100):
        hoard.append(np.ones(20 * 1024 * 1024 // 8))
        time.sleep(0.02)
    time.sleep(3600)


def leaking_child(self):
    if os.fork() == 0:
        hoard = np.ones(600_000_000 // 8)  # a name keeps it in memory
        time.sleep(3600)
        del hoard
    time.sleep(3600)


def printing(self):
    print("{not json}" * 10)
    sys.stdout.flush()
    os.write(1, b"straight to the descriptor\n")
    subprocess.run(["echo", "from a child"], check=True)
    assert sys.stdin.read() == ""


def forking(self):
    """Leave a child behind that has all descriptors, and die."""
    child = os.fork()
    if child == 0:
        time.sleep(3600)
        os._exit(0)
    tell(child)
    os.kill(os.getpid(), 9)


def parent(self):
    """Wait for a child."""
    child = subprocess.Popen(["sleep", "3600"])
    tell(child.pid)
    child.wait()


def colourful(self):
    raise RuntimeError("\x1b[2J red\r\x9b1m \u202eder\tand\nmore")


def killing_group(self):
    """Kill the process group, as some libraries end their children."""
    os.killpg(0, signal.SIGTERM)
    time.sleep(3600)


def detaching(self, environment=None):
    """Leave a process in a session of its own, whose parent has ended."""
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child == 0:
            os.execve(
                "/bin/sleep",
                ["sleep", "3600"],
                os.environ if environment is None else environment,
            )
        tell(child)
        os._exit(0)
    log = os.environ["TEST_LOG"]
    while not (os.path.exists(log) and os.path.getsize(log)):
        time.sleep(0.01)


def unmarked(self):
    """Do the same, without the environment."""
    detaching(self, {})
    time.sleep(0.5)  # until it has replaced its own


def orphaning(self):
    """Do the same, and die."""
    detaching(self)
    killed(self)


def treacherous(self):
    """Kill what the worker was started by."""
    tell(os.getpid())
    os.kill(os.getppid(), 9)
    time.sleep(3600)


def treacherous_once(self):
    if not os.path.exists(os.environ["TEST_LOG"]):
        treacherous(self)


# --- What models are


class Negative(Base):
    n_units_ = -1


class NoLabel(Base):
    def predict(self, X):
        return np.full(len(X), 7)


class Unjson(Base):
    """Makes a search count what JSON cannot hold."""

    @property
    def condition_(self):
        return object()


class SlowToMake(Base):
    """Stalls in a worker before its fit, where the environment says so."""

    def stall(self, where):
        if os.environ.get("ELMBENCH_WORKER") and os.environ.get("TEST_STALL") == where:
            time.sleep(3600)

    def __init__(self):
        self.stall("init")

    def get_params(self, deep=True):
        self.stall("params")
        return {}

    def fit(self, X, y):
        self.get_params()
        return self


ACTIONS = [
    exiting, leaving, unusual, interrupting, meddling, poisoning, pooling, killed, stuck, locking,
    leaking, leaking_child,
    printing, forking, parent,
    colourful, killing_group, detaching, unmarked, orphaning, treacherous, treacherous_once,
]  # fmt: skip
MODELS = {
    act.__name__.replace("_", "-"): type(act.__name__, (Base,), {"act": act})
    for act in ACTIONS
}
MODELS |= {
    "healthy": Base,
    "negative": Negative,
    "no-label": NoLabel,
    "unjson": Unjson,
    "slow-to-make": SlowToMake,
}
