"""Peak memory of fits and searches, each in a process of its own: `python -m benchmarks.memory WORK ROWS`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Seconds, timed
from benchmarks.problems import mackey_glass, series
from benchmarks.row import Result, Row
from benchmarks.searches import POWERS
from benchmarks.sides import kernel_ridge, search_of
from elmbench import load_dataset
from elmbench.errors import DataUnavailableError
from elmbench.models import ELMRegressor, KELMRegressor, RKELMClassifier
from elmbench.specs.grids import candidates

L = 1000
WIDTH, CENTRES, TEXTS = 100, 600, 15_935
_FEW: dict[str, list[Any]] = {"gamma": [0.25, 4.0], "C": POWERS[::7]}


def resident_bytes(what: str) -> int:
    """Return what this process holds ("VmRSS") or has held at most ("VmHWM"); `getrusage` would count its parent's."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{what}:")[1].split()[0])


def _reduced(rows: int) -> object:
    """Fit RKELM to generated rows of 100 features, which are made here and so counted."""
    X = np.random.default_rng(0).standard_normal((rows, WIDTH))
    return RKELMClassifier(n_landmarks=CENTRES, C=32.0, gamma=0.01, random_state=0).fit(
        X, np.where(X[:, 0] > X[:, 1] * X[:, 2], 1, -1)
    )


def _texts(rows: int) -> object:
    """Fit RKELM to the first rows of NEWS20: sparse, 62,061 features."""
    data = load_dataset("news20", os.environ.get("ELMBENCH_DATA_DIR"))
    return RKELMClassifier(n_landmarks=500, C=32.0, gamma=0.25, random_state=0).fit(data.X[:rows], data.y[:rows])


WORK: dict[str, Callable[[int], object]] = {
    "k-elm": lambda rows: KELMRegressor(C=32.0, gamma=1.0).fit(*series(rows)),
    "elm": lambda rows: ELMRegressor(n_hidden=min(L, rows // 2), C=32.0, random_state=0).fit(*series(rows)),
    "rk-elm": _reduced,
    "rk-elm-texts": _texts,
    "k-elm-search": lambda rows: search_of("k-elm")(mackey_glass(rows), candidates(_FEW)),
    "kernel-ridge-search": lambda rows: kernel_ridge(mackey_glass(rows), candidates(_FEW)[:2]),
}


def growth(work: str, rows: int) -> tuple[int, Seconds]:
    """Return by how many bytes the peak of a fresh process rises with so many rows, and what that took."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", work, str(rows)], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    return found["bytes"], Seconds(found["cpu"], found["wall"])


def _bound(key: str, work: str, name: str, bound: str, rows: int, needed: Callable[[int], int]) -> Row:
    def run(trial: bool) -> Iterator[Result]:
        n = rows // 10 if trial else rows
        found = [growth(work, n) for _ in range(2)]
        peak = max(size for size, _ in found)
        yield Result(
            name=f"memory of {name}, {n:,} rows",
            against=bound,
            ratios=[needed(n) / size for size, _ in found],
            ours=found[0][1],
            note=f"{peak / 2**20:.0f} MiB above what the process held before",
        )

    return _recorded(key, name, bound, run)


def _recorded(key: str, name: str, against: str, run: Callable[[bool], Iterable[Result]]) -> Row:
    """Return a row that is measured where the system keeps a record of the peak."""
    skipped = Result(f"memory of {name}", against, skipped="this system keeps no record of a process's peak in /proc")
    return Row(key, lambda trial: run(trial) if Path("/proc/self/status").is_file() else [skipped])


def _against_scikit_learn(trial: bool) -> Iterator[Result]:
    n = 500 if trial else 3000
    rounds = [(growth("kernel-ridge-search", n), growth("k-elm-search", n)) for _ in range(2)]
    (theirs, their_seconds), (ours, our_seconds) = rounds[0]
    yield Result(
        name=f"memory of a K-ELM search, {n:,} rows, 3 folds",
        against="GridSearchCV(KernelRidge)",
        ratios=[b / a for (b, _), (a, _) in rounds],
        ours=our_seconds,
        theirs=their_seconds,
        note=f"{ours / 2**20:.0f} against {theirs / 2**20:.0f} MiB, 8 against 2 candidates",
    )


_DENSE = "a dense copy of its rows, 8 n d bytes"


def _on_texts(trial: bool) -> Iterator[Result]:
    name, n = "memory of an RKELM fit to NEWS20, L = 500", 1000 if trial else TEXTS
    try:
        width = load_dataset("news20", os.environ.get("ELMBENCH_DATA_DIR")).X.shape[1]
    except DataUnavailableError as error:
        yield Result(name, _DENSE, skipped=error.found)
        return
    found = [growth("rk-elm-texts", n) for _ in range(2)]
    peak = max(size for size, _ in found)
    ratios = [8 * n * width / size for size, _ in found]
    note = f"{peak / 2**20:.0f} MiB above what the process held before, the rows themselves counted"
    yield Result(f"{name}, {n:,} rows", _DENSE, ratios=ratios, ours=found[0][1], note=note)


ROWS = [
    _bound("memory-k-elm", "k-elm", "a K-ELM fit", "8 n^2 bytes", 6000, lambda n: 8 * n**2),
    _bound("memory-elm", "elm", f"an ELM fit, L = {L}", "H, 8 n L bytes", 20_000, lambda n: 8 * n * min(L, n // 2)),
    _bound(
        "memory-rk-elm", "rk-elm", f"an RKELM fit, L = {CENTRES}", "1.5 GB", 500_000,
        lambda n: int(1.5e9),
    ),
    _recorded("memory-rk-elm-texts", "an RKELM fit to NEWS20, L = 500", _DENSE, _on_texts),
    _bound(
        "memory-k-elm-search", "k-elm-search", "a K-ELM search, 3 folds", "8 (n^2 + m^2) bytes, m = 2n/3", 3000,
        lambda n: 8 * (n**2 + (2 * n // 3) ** 2),
    ),
    _recorded("memory-k-elm-rival", "a K-ELM search", "GridSearchCV(KernelRidge)", _against_scikit_learn),
]  # fmt: skip


def main() -> None:
    """Do a piece of work and print by how much the peak rose."""
    work, rows = WORK[sys.argv[1]], int(sys.argv[2])
    # What is loaded and compiled for it is not what it needs.
    work(600)
    before = resident_bytes("VmRSS")
    seconds, _ = timed(lambda: work(rows))
    print(json.dumps({"bytes": resident_bytes("VmHWM") - before, "cpu": seconds.cpu, "wall": seconds.wall}))


if __name__ == "__main__":
    main()
