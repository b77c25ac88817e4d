"""Windows, simulated on Linux: line ends of text mode, no fork and no modules of Unix.

`tests/windows_like` takes from Python what Windows lacks. Paths and the ends of processes stay those
of Linux.
"""

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_store import log_files

from elmbench.execution.store import Store

TOP = Path(__file__).parents[2]
SIMULATION = TOP / "tests" / "windows_like"
SOURCES = [
    path
    for folder in ("elmbench", "tests", "benchmarks", "tools")
    for path in sorted((TOP / folder).rglob("*.py"))
    if path.parent != SIMULATION
]
#: Modules, functions and signals that do not exist on Windows.
MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
NAMES = {
    "os": {"fork", "getuid", "killpg", "mkfifo", "setsid", "uname", "register_at_fork"},
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGSTOP", "SIGUSR1", "pthread_sigmask"},
}
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="simulates Windows on Linux"
)


def simulated(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, without what Windows lacks."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(SIMULATION)},
        capture_output=True,
        text=True,
    )


def executed_at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of a module that run when it is imported: all but the bodies of functions."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending += [*node.decorator_list, node.args]
        elif not isinstance(node, ast.Lambda):
            pending += ast.iter_child_nodes(node)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(TOP)))
def test_a_module_is_imported_without_what_windows_lacks(path: Path) -> None:
    for node in executed_at_import(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            assert not {alias.name for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            assert node.module not in MODULES
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.attr not in NAMES.get(node.value.id, ()), f"line {node.lineno}"


def test_the_names_that_windows_lacks_are_those_of_this_system() -> None:
    for name in NAMES["os"]:
        assert hasattr(os, name)
    for name in NAMES["signal"]:
        assert hasattr(signal, name)


def test_the_simulation_changes_line_ends(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "for name, flag in (('text', 0), ('binary', os.O_BINARY)):\n"
        "    descriptor = os.open(name, os.O_CREAT | os.O_WRONLY | flag)\n"
        "    assert os.write(descriptor, b'a\\nb\\n') == 4\n"
        "    os.close(descriptor)\n"
        "assert not hasattr(os, 'fork')\n"
        "import multiprocessing, resource\n"
    )
    (tmp_path / "code.py").write_text(code)
    process = simulated("code.py", folder=tmp_path)
    assert process.stderr.endswith("ModuleNotFoundError: No module named 'resource'\n")
    assert (tmp_path / "text").read_bytes() == b"a\r\nb\r\n"
    assert (tmp_path / "binary").read_bytes() == b"a\nb\n"


def test_a_comparison_is_stored_and_read_back(tmp_path: Path) -> None:
    """By worker processes, which the system spawns."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(40, 2)), columns=["a", "b"])
    frame.assign(y=np.where(frame["a"] > 0, "yes", "no")).to_csv(
        tmp_path / "rows.csv", index=False
    )
    words = ("-m", "elmbench", "compare", "rows.csv", "-m", "ridge", "--folds", "2")
    first = simulated(*words, folder=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "4 cells to run" in first.stdout
    store = Store(tmp_path / "elmbench-results")
    assert store.n_damaged == 0
    assert not any(b"\r" in path.read_bytes() for path in log_files(store))
    again = simulated(*words, folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "to run" not in again.stdout


def test_the_store_passes_its_tests(tmp_path: Path) -> None:
    words = (
        "-m",
        "pytest",
        "-q",
        "-rs",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        TOP,
    )
    files = [Path(__file__).parent / "test_store.py", TOP / "tests" / "test_files.py"]
    process = simulated(*words, *files, folder=tmp_path)
    assert process.returncode == 0, process.stdout
    assert "needs fork" in process.stdout
