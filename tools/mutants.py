"""Plant faults in modules and count those that tests notice: `python -m tools.mutants MODULE ...`,
as `make mutants`.

cosmic-ray plants a random sample of faults, one at a time, in a copy of this tree. The sample
covers as many positions as possible. A fault that no test notices is printed as a difference.
Environment: `MUTANTS`, the number of faults in each module (20), and `SEED`, which repeats a
sample. The tests of `elmbench/execution/engine.py` are those of `tests/execution` and
`tests/oracles` that name one of its public functions or classes. A module whose tests fail without
a fault, or take over five minutes, is left out.
"""

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
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[1]
#: Default targets.
PACKAGES = ("numerics", "models", "protocol", "reporting")
#: Faults that no test can notice: in annotations, and in words or numbers that Python keeps once.
UNSEEN = re.compile(
    "core/(ReplaceBinaryOperator_BitOr|ReplaceComparisonOperator_(?!Is).*_Is(Not)?$)"
)
#: Seconds that the tests of a module may take without a fault.
SLOW = 300.0
#: Tests that a fault has made endless end after so many seconds, and so many times what they took
#: without.
ENDLESS_AFTER, ENDLESS_TIMES = 60.0, 3.0


def tests_of(module: Path) -> list[str]:
    """Return the tests of the package and the oracles that name a public function or class of a
    module.
    """
    names = re.findall(
        r"^(?:class|def) ([A-Za-z]\w+)", (ROOT / module).read_text("utf-8"), re.M
    )
    named = re.compile(rf"\b({'|'.join(names)})\b")
    folder = "tests" / module.parent.relative_to("elmbench")
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    files = (
        path
        for tests in (folder, "tests/oracles")
        for path in sorted((ROOT / tests).rglob("test_*.py"))
    )
    return [
        str(path.relative_to(ROOT))
        for path in files
        if names and named.search(path.read_text("utf-8"))
    ]


def mutate(module: Path, number: int, copy: Path) -> Counter[str]:
    """Plant a sample of faults in a module of a copy of the tree; return how many were noticed and
    how many not.
    """
    path, tests, endings, start = (
        copy / module,
        tests_of(module),
        Counter[str](),
        time.monotonic(),
    )
    if not (tests and passes(tests, copy, SLOW)):
        return endings
    most = ENDLESS_AFTER + ENDLESS_TIMES * (time.monotonic() - start)
    code = path.read_text(encoding="utf-8")
    for operator, occurrence in sample(code, f"{number} {module}"):
        faulty = mutate_code(code, get_operator(operator)(), occurrence)
        path.write_text(faulty, encoding="utf-8")
        survived = passes(tests, copy, most)
        endings["survived" if survived else "noticed"] += 1
        if survived:
            print(
                "\n".join(
                    difflib.unified_diff(
                        code.split("\n"), faulty.split("\n"), str(module), lineterm=""
                    )
                )
            )
    path.write_text(code, encoding="utf-8")
    return endings


def passes(tests: list[str], copy: Path, most: float) -> bool:
    """Return True if tests of a copy of the tree pass within `most` seconds."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", *tests]
    # A compiled module would hide a fault that is planted in the same second.
    environment, nowhere = (
        os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        subprocess.DEVNULL,
    )
    process = subprocess.Popen(
        command,
        cwd=copy,
        env=environment,
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,
    )
    try:
        return process.wait(most) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            # Interrupted tests, or processes that they left.
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def sample(code: str, seed: str) -> list[tuple[str, int]]:
    """Return random faults, by operator and number; a second one at a position follows one at every
    other position.
    """
    nodes, faults = list(ast_nodes(get_ast(code))), []
    for name in sorted(operator_names()):
        operator = get_operator(name)
        if not operator.arguments() and not UNSEEN.match(name):
            positions = (
                start
                for node in nodes
                for start, _ in operator().mutation_positions(node)
            )
            faults += [
                (name, occurrence, position)
                for occurrence, position in enumerate(positions)
            ]
    earlier: Counter[tuple[int, int]] = Counter()
    turns = []
    for name, occurrence, position in random.Random(seed).sample(faults, len(faults)):
        turns.append((earlier[position], (name, occurrence)))
        earlier[position] += 1
    return [fault for _, fault in sorted(turns, key=lambda turn: turn[0])][
        : int(os.environ.get("MUTANTS", "20"))
    ]


def main(names: list[str]) -> None:
    """Mutate modules one after the other and print the share of faults that tests noticed."""
    number = int(os.environ.get("SEED", time.time()))
    chosen = [ROOT / name for name in names] or [
        ROOT / "elmbench" / package for package in PACKAGES
    ]
    files = [
        file
        for path in chosen
        for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="elmbench-mutants-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        for file in files:
            endings = mutate(file.relative_to(ROOT), number, copy)
            total += endings
            print(f"{file.relative_to(ROOT)}: {dict(endings)}", flush=True)
    print(
        f"{total.total() - total['survived']} of {total.total()} faults were noticed; seed {number}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
