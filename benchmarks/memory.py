"""Peak memory of fits and searches, each in a process of its own: `python -m benchmarks.memory WORK ROWS`."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measure import Record, Rounds, Run, make_record, time_call
from benchmarks.problems import mackey_glass, search_of, series
from benchmarks.searches import POWERS
from elmbench.models import ELMRegressor, KELMRegressor, RKELMClassifier
from elmbench.specs.grids import candidates

L, CENTRES = 1000, 600
_FEW = candidates({"gamma": [0.25, 4.0], "C": [*POWERS[::7]]})


def _fit_centres(rows: int) -> object:
    """Fit RKELM to generated rows of 100 features, which are counted."""
    X = np.random.default_rng(0).standard_normal((rows, 100))
    model = RKELMClassifier(n_landmarks=CENTRES, C=32.0, gamma=0.01, random_state=0)
    return model.fit(X, np.where(X[:, 0] > X[:, 1] * X[:, 2], 1, -1))


WORK: dict[str, Callable[[int], object]] = {
    "k-elm": lambda rows: KELMRegressor(C=32.0, gamma=1.0).fit(*series(rows)),
    "elm": lambda rows: ELMRegressor(n_hidden=min(L, rows // 2), C=32.0, random_state=0).fit(*series(rows)),
    "rk-elm": _fit_centres,
    "k-elm-search": lambda rows: search_of("k-elm")(mackey_glass(rows), _FEW),
}


def resident_bytes(entry: str) -> int:
    """Return the present ("VmRSS") or the peak ("VmHWM") memory of this process; `getrusage` counts its parent's."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{entry}:")[1].split()[0])


def growth(work: str, rows: int) -> tuple[int, float]:
    """Return the growth of the peak of a fresh process in bytes, and the seconds."""
    command = [sys.executable, "-m", "benchmarks.memory", work, str(rows)]
    size, seconds = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return size, seconds


def _bound(
    work: str, name: str, bound: str, rows: int, estimate: Callable[[int], int], trial: bool
) -> Iterator[Record]:
    n = rows // 10 if trial else rows
    sizes, seconds = zip(*(growth(work, n) for _ in range(2)), strict=True)
    note = f"{max(sizes) / 2**20:.0f} MiB above what the process held before"
    ratios = make_record(f"memory of {name}, {n:,} rows", bound, Rounds(sizes, [estimate(n)] * 2), note=note)
    yield ratios | {"cpu_seconds": seconds[0], "against_cpu_seconds": None}


ROWS: dict[str, Run] = {
    "memory-k-elm": partial(_bound, "k-elm", "a K-ELM fit", "8 n^2 bytes", 6000, lambda n: 8 * n**2),
    "memory-elm": partial(
        _bound, "elm", f"an ELM fit, L = {L}", "H, 8 n L bytes", 20_000, lambda n: 8 * n * min(L, n // 2)
    ),
    "memory-rk-elm": partial(
        _bound, "rk-elm", f"an RKELM fit, L = {CENTRES}", "1.5 GB", 500_000, lambda n: int(1.5e9)
    ),
    "memory-k-elm-search": partial(
        _bound, "k-elm-search", "a K-ELM search, 3 folds", "8 (n^2 + m^2) bytes, m = 2n/3", 3000,
        lambda n: 8 * (n**2 + (2 * n // 3) ** 2),
    ),
}  # fmt: skip


def main() -> None:
    """Do a piece of work and print the growth of the peak."""
    work, rows = WORK[sys.argv[1]], int(sys.argv[2])
    work(600)  # loads and compiles
    baseline = resident_bytes("VmRSS")
    seconds, _ = time_call(lambda: work(rows))
    print(json.dumps([resident_bytes("VmHWM") - baseline, seconds]))


if __name__ == "__main__":
    main()
