"""Plant faults in modules and count those that tests notice: `python -m tools.mutants MODULE ...`, as `make mutants`.

cosmic-ray plants a random sample of faults, one at a time, in a copy of this tree. The sample covers as many positions
as possible. A fault that no test notices is printed as a difference. Environment: `MUTANTS`, the number of faults in
each module (20), and `SEED`, which repeats a sample. The tests of `elmbench/running/engine.py` are those of
`tests/running` and `tests/oracles` that name one of its public functions or classes. A fault that they do not notice is
tried on all of `tests/running`. Tests that fail without a fault, or are too slow, are not used.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[1]
#: Default targets.
PACKAGES = ("numerics", "models", "protocol", "reporting")
#: Faults that no test can notice: in annotations, and in words or numbers that Python keeps once.
UNSEEN = re.compile("core/(ReplaceBinaryOperator_BitOr|ReplaceComparisonOperator_(?!Is).*_Is(Not)?$)")
#: Seconds that the tests of a module may take without a fault, and those of its whole package.
SLOW, QUICK = 300.0, 90.0
#: Tests that a fault has made endless end after so many seconds, and so many times what they took without.
ENDLESS_AFTER, ENDLESS_TIMES = 60.0, 3.0


class Fault(NamedTuple):
    """A fault that can be planted in a module: its kind, its number among those of the kind, its line and column."""

    operator: str
    occurrence: int
    position: tuple[int, int]


def tests_of(module: Path) -> tuple[str, ...]:
    """Return the tests of the package and the oracles that name a public function or class of a module."""
    names = re.findall(r"^(?:class|def) ([A-Za-z]\w+)", (ROOT / module).read_text("utf-8"), re.M)
    named = re.compile(rf"\b({'|'.join(names)})\b")
    folders = (folder_of(module), "tests/oracles")
    files = (path for folder in folders for path in sorted((ROOT / folder).rglob("test_*.py")))
    return tuple(str(path.relative_to(ROOT)) for path in files if names and named.search(path.read_text("utf-8")))


def folder_of(module: Path) -> str:
    """Return the folder of `tests/` that mirrors a module's."""
    folder = Path("tests") / module.parent.relative_to("elmbench")
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return str(folder)


def mutate(module: Path, number: int, copy: Path) -> Counter[str]:
    """Plant a sample of faults in a module of a copy of the tree; return how many were noticed and how many not."""
    suites = {
        tests: ENDLESS_AFTER + ENDLESS_TIMES * seconds
        for tests, most in ((tests_of(module), SLOW), ((folder_of(module),), QUICK))
        if tests and (seconds := seconds_of(tests, copy, most)) is not None
    }
    path, endings = copy / module, Counter[str]()
    code = path.read_text(encoding="utf-8")
    for fault in sample(faults_of(code), f"{number} {module}") if suites else ():
        faulty = mutate_code(code, get_operator(fault.operator)(), fault.occurrence)
        path.write_text(faulty, encoding="utf-8")
        survived = all(passes(tests, copy, most) for tests, most in suites.items())
        endings["survived" if survived else "noticed"] += 1
        if survived:
            print("\n".join(difflib.unified_diff(code.split("\n"), faulty.split("\n"), str(module), lineterm="")))
            sys.stdout.flush()
    path.write_text(code, encoding="utf-8")
    return endings


@cache
def seconds_of(tests: tuple[str, ...], copy: Path, most: float) -> float | None:
    """Return the duration of tests without a fault; None if they take over `most` seconds or fail."""
    start = time.monotonic()
    passed = passes(tests, copy, most)
    seconds = time.monotonic() - start
    print(f"{' '.join(tests)}: {seconds:.0f} s without a fault{'' if passed else ': not used'}", flush=True)
    return seconds if passed else None


def passes(tests: tuple[str, ...], copy: Path, most: float) -> bool:
    """Return True if tests of a copy of the tree pass within `most` seconds."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", *tests]
    # A compiled module would hide a fault that is planted in the same second.
    environment, nowhere = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}, subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=copy, env=environment, stdout=nowhere, stderr=nowhere, start_new_session=True
    )
    try:
        return process.wait(most) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # interrupted tests, or processes that they left
        process.wait()


def faults_of(code: str) -> list[Fault]:
    """Return every fault that can be planted in a module."""
    nodes = list(ast_nodes(get_ast(code)))
    faults = []
    for name in sorted(operator_names()):
        operator = get_operator(name)
        if not operator.arguments() and not UNSEEN.match(name):
            positions = (start for node in nodes for start, _ in operator().mutation_positions(node))
            faults += [Fault(name, occurrence, position) for occurrence, position in enumerate(positions)]
    return faults


def sample(faults: list[Fault], number: str) -> list[Fault]:
    """Return some of the faults, a second one at a position only after one at every other position."""
    seen: Counter[tuple[int, int]] = Counter()
    turns = []
    for fault in random.Random(number).sample(faults, len(faults)):
        turns.append((seen[fault.position], fault))
        seen[fault.position] += 1
    chosen = [fault for _, fault in sorted(turns, key=lambda turn: turn[0])]
    return chosen[: int(os.environ.get("MUTANTS", "20"))]


def main(names: list[str]) -> None:
    """Mutate modules one after the other and print the share of faults that tests noticed."""
    number = int(os.environ.get("SEED", time.time()))
    chosen = [ROOT / name for name in names] or [ROOT / "elmbench" / package for package in PACKAGES]
    files = [file for path in chosen for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="elmbench-mutants-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        for file in files:
            endings = mutate(file.relative_to(ROOT), number, copy)
            total += endings
            print(f"{file.relative_to(ROOT)}: {dict(endings)}", flush=True)
    print(f"{total.total() - total['survived']} of {total.total()} faults were noticed; seed {number}")


if __name__ == "__main__":
    main(sys.argv[1:])
