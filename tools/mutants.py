"""Plant faults in modules and count those that tests notice: `python -m tools.mutants MODULE ...`, as `make mutants`.

cosmic-ray plants a random sample of faults, one at a time, in a copy of this tree. The sample covers as many positions
as possible. A fault that no test notices is printed as a difference. Environment: `MUTANTS`, the number of faults in
each module (20), and `SEED`, which repeats a sample. The tests of `elmbench/running/engine.py` are those of
`tests/running` and `tests/oracles` that name one of its public functions or classes; without any, all of
`tests/running`. A fault that they do not notice is tried on the other tests of the package, if these are quick. All
tests run once without a fault: tests that fail then, or are too slow, are not used.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[1]
#: Default targets.
ROOMS = ("numerics", "models", "protocol", "reporting")
#: Faults that no test can notice: in annotations, and in words or numbers that Python keeps once.
UNSEEN = re.compile("core/(ReplaceBinaryOperator_BitOr|ReplaceComparisonOperator_(?!Is).*_Is(Not)?$)")
#: Seconds of processor time that the tests of a module may take without a fault, and those of its whole room.
SLOW, QUICK = 300.0, 60.0
#: Tests that a fault has made endless end after so many seconds, and so many times what they took without.
ENDLESS_AFTER, ENDLESS_TIMES = 20.0, 3.0
#: Slow imports that most tests share: imported once.
SLOW_IMPORTS = ("hypothesis", "numba", "pandas", "pydantic", "pytest", "scipy.stats", "sklearn.svm", "yaml")


class Fault(NamedTuple):
    """A fault that can be planted in a module: its kind, its number among those of the kind, its line and column."""

    operator: str
    occurrence: int
    position: tuple[int, int]


def tests_of(module: Path) -> tuple[str, ...]:
    """Return the tests of the package and the oracles that name a public function or class of a module."""
    names = re.findall(r"^(?:class|def) ([A-Za-z]\w+)", (ROOT / module).read_text("utf-8"), re.M)
    named = re.compile(rf"\b({'|'.join(names)})\b")
    folders = (room_of(module), "tests/oracles")
    files = (path for folder in folders for path in sorted((ROOT / folder).rglob("test_*.py")))
    return tuple(str(path.relative_to(ROOT)) for path in files if names and named.search(path.read_text("utf-8")))


def room_of(module: Path) -> str:
    """Return the folder of `tests/` that mirrors a module's."""
    folder = Path("tests") / module.parent.relative_to("elmbench")
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return str(folder)


def mutate(module: Path, number: int, copy: Path) -> Counter[str]:
    """Plant a sample of faults in a module of a copy of the tree; return how many were noticed and how many not."""
    room = (room_of(module),)
    tests = tests_of(module) or room
    seconds = seconds_of(tests, copy, SLOW)
    if seconds is None:
        print(f"{module}: nothing is planted")
        return Counter()
    path, endings = copy / module, Counter[str]()
    code = path.read_text(encoding="utf-8")
    for fault in sample(faults_of(code), f"{number} {module}"):
        faulty = mutate_code(code, get_operator(fault.operator)(), fault.occurrence)
        _write(path, faulty)
        ending, _ = run(tests, copy, ENDLESS_AFTER + ENDLESS_TIMES * seconds)
        if ending == "survived" and room != tests:
            _write(path, code)
            more = seconds_of(room, copy, QUICK)
            _write(path, faulty)
            if more is not None and run(room, copy, ENDLESS_AFTER + ENDLESS_TIMES * more)[0] != "survived":
                ending = "noticed by others"
        endings[ending] += 1
        if ending == "survived":
            print("\n".join(difflib.unified_diff(code.split("\n"), faulty.split("\n"), str(module), lineterm="")))
            sys.stdout.flush()
    _write(path, code)
    return endings


def _write(path: Path, code: str) -> None:
    path.write_text(code, encoding="utf-8")
    # Python finds the compiled module by the second in which the source was written.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


@cache
def seconds_of(tests: tuple[str, ...], copy: Path, most: float) -> float | None:
    """Return the processor time of tests without a fault; None if they take over `most` seconds or fail."""
    ending, seconds = run(tests, copy, most)
    problem = {"survived": "", "endless": ": too many"}.get(ending, ": they fail")
    print(f"{' '.join(tests)}: {seconds:.0f} s without a fault{problem}", flush=True)
    return seconds if ending == "survived" else None


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


def run(tests: tuple[str, ...], copy: Path, most: float) -> tuple[str, float]:
    """Run tests of a copy of the tree; return whether a fault has `survived` them or not, and their processor time.

    The tests run in a fork, which has the slow imports already. Seconds are of processor time, so that no test counts
    as endless because the machine is busy; pytest ends tests that sleep.
    """
    sys.stdout.flush()
    process = os.fork()
    if not process:
        _pytest(tests, copy, int(most))
    try:
        _, status, usage = os.wait4(process, 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)  # interrupted tests, or processes that they left
    ended = os.waitstatus_to_exitcode(status)
    ending = {0: "survived", -signal.SIGXCPU: "endless"}.get(ended, "noticed")
    return ending, usage.ru_utime + usage.ru_stime


def _pytest(tests: tuple[str, ...], copy: Path, most: int) -> None:
    """Run pytest in this process on a copy of the tree; do not return."""
    ended = 1
    try:
        os.setsid()
        os.chdir(copy)
        for limit, value in ((resource.RLIMIT_CPU, most), (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        sys.path[0] = str(copy)
        sys.path.remove(os.environ["PYTHONPATH"])  # the packages that plant faults, which the tests do not use
        os.environ["PYTHONPATH"] = str(copy)
        sys.modules["__main__"] = ModuleType("__main__")  # spawned processes would import the real one
        ended = int(sys.modules["pytest"].main(["-x", "-q", "-n", "0", *tests]))
    finally:
        os._exit(ended)


def main(names: list[str]) -> None:
    """Mutate modules one after the other and print the share of faults that tests noticed."""
    number = int(os.environ.get("SEED", time.time()))
    chosen = [ROOT / name for name in names] or [ROOT / "elmbench" / room for room in ROOMS]
    files = [file for path in chosen for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    for name in SLOW_IMPORTS:
        importlib.import_module(name)
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
