"""Plant faults in modules and count which their tests notice: `python tests/mutants.py MODULE ...`, as `make mutants`.

cosmic-ray plants them, one at a time, in a copy of this tree; of very many a random sample is taken. A fault that no
test notices is printed as a difference. Environment: `MUTANTS`, how many in each module (20), and `SEED`. The tests of
a module are those in whose names its name stands: of `elmbench/running/engine.py`, `tests/running/test_engine.py` and
`tests/running/test_engine_stops.py`, and where there is none of that name, all of `tests/running`.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ROOT / ".mutant-packages"
#: What is mutated unless modules are named.
ROOMS = ("numerics", "models", "protocol", "reporting")
#: What cosmic-ray plants in annotations too, where nothing can notice it.
UNSEEN = "core/ReplaceBinaryOperator_BitOr"
#: Seconds after which a test that a fault has made endless counts as failed.
TIMEOUT = 300.0
#: What of `tests/` is about a module or a package whose name it does not bear, or says more of it than what does.
TESTED_BY = {
    "family": "models",
    "online": "oracles",
    "predictions": "work/test_fit.py",
    "scaling": "protocol",
    "worker": "running",
}


def tests_of(module: Path) -> list[str]:
    """Return what of `tests/` is about a module."""
    for part in (module.stem, module.parent.name):
        if part in TESTED_BY:
            return [f"tests/{TESTED_BY[part]}"]
    folder = ROOT / "tests" / module.parent.relative_to("elmbench")
    while not folder.is_dir():
        folder = folder.parent
    # As words of its own: the tests of a search may be several files, and those of RSVM are none of the SVM's.
    named = sorted(path for path in folder.glob("test_*.py") if f"_{module.stem}_" in f"{path.stem}_")
    return [str(path.relative_to(ROOT)) for path in named or [folder]]


def mutate(module: Path, number: int, copy: Path) -> Counter[str]:
    """Plant a sample of faults in a module of a copy of the tree; return how many were noticed and how many not."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:randomly", *tests_of(module)]
    config, session = copy / "mutants.toml", copy / "mutants.sqlite"
    config.write_text(
        f'[cosmic-ray]\nmodule-path = "{module}"\ntimeout = {TIMEOUT}\nexcluded-modules = []\n'
        f'test-command = "{" ".join(words)}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    session.unlink(missing_ok=True)
    run = Runner(copy)
    run("cosmic_ray.cli", "init", config, session)
    with sqlite3.connect(session) as base:
        found = base.execute("select job_id, operator_name from mutation_specs order by job_id").fetchall()
        every = [job for job, operator in found if not operator.startswith(UNSEEN)]
        left = {job for job, _ in found} - set(
            random.Random(f"{number} {module}").sample(every, min(len(every), sample_size()))
        )
        for table in ("mutation_specs", "work_items"):
            base.executemany(f"delete from {table} where job_id = ?", [(job,) for job in left])
    run("cosmic_ray.cli", "exec", config, session)
    with sqlite3.connect(session) as base:
        ended = base.execute("select test_outcome, diff from work_results").fetchall()
    for outcome, difference in ended:
        if str(outcome).lower().endswith("survived"):
            print(difference, flush=True)
    return Counter(str(outcome).rpartition(".")[2].lower() for outcome, _ in ended)


def sample_size() -> int:
    return int(os.environ.get("MUTANTS", "20"))


class Runner:
    """Runs modules of cosmic-ray in a copy of the tree."""

    def __init__(self, copy: Path) -> None:
        self.copy = copy
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy), str(PACKAGES)])}

    def __call__(self, module: str, *words: object) -> None:
        command = [sys.executable, "-m", module, *map(str, words)]
        subprocess.run(command, cwd=self.copy, env=self.environment, check=True, stdout=subprocess.DEVNULL)


def main(names: list[str]) -> None:
    """Mutate modules one after the other and print what share of the faults was noticed."""
    number = int(os.environ.get("SEED", time.time()))
    chosen = [ROOT / name for name in names] or [ROOT / "elmbench" / room for room in ROOMS]
    files = [file for path in chosen for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="elmbench-mutants-") as folder:
        copy = Path(folder) / "tree"
        kept = shutil.ignore_patterns(".*", "__pycache__", "results")
        shutil.copytree(ROOT, copy, ignore=kept)
        for file in files:
            found = mutate(file.relative_to(ROOT), number, copy)
            total += found
            print(f"{file.relative_to(ROOT)}: {dict(found)}", flush=True)
    killed, all_of_them = total["killed"], total.total()
    print(f"{killed} of {all_of_them} faults were noticed; seed {number}")


if __name__ == "__main__":
    main(sys.argv[1:])
