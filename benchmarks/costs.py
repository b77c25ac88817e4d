"""What the suite itself costs: a cell, and the start of the command line."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Measurement, Seconds, in_turn, timed
from benchmarks.problems import wdbc
from benchmarks.row import Result, Row, measured
from elmbench.models import KELMClassifier
from elmbench.work.plan import Request
from elmbench.workflow.execute import execute
from elmbench.workflow.prepare import RunOptions, prepare

GAMMA, C = 0.3, 98.0


def _suite(runs: int) -> int:
    """Run K-ELM on WDBC with the printed hyperparameters, three cells a run, in an empty folder; return the cells."""
    with tempfile.TemporaryDirectory() as folder:
        options = RunOptions(experiments=("table4",), request=Request(datasets=("wdbc",), models=("K-ELM",), runs=runs))
        (results,) = execute(prepare(options, Path(folder)))
        return len(results.cells)


def _cell(trial: bool) -> Iterator[Result]:
    few, many = (1, 3) if trial else (1, 21)
    problem = wdbc()

    def bare() -> None:
        for _ in range(many - few):
            for train, test in problem.folds:
                KELMClassifier(C=C, gamma=GAMMA).fit(problem.X[train], problem.y[train]).predict(problem.X[test])

    bare()
    _suite(few)
    found = Measurement()
    for _ in range(5):
        # The start of the worker and the writing of the table are in both, and so in neither.
        start, least = timed(lambda: _suite(few))
        whole, most = timed(lambda: _suite(many))
        found.ours.append(Seconds(whole.cpu - start.cpu, whole.wall - start.wall))
        found.theirs.append(timed(bare)[0])
        cells = most - least
    extra = sorted((a.wall - b.wall) / cells for a, b in zip(found.ours, found.theirs, strict=True))
    yield measured(
        found,
        name=f"{cells} cells, K-ELM on WDBC",
        against="the same fits and predictions in a loop",
        note=f"a cell costs {1e3 * extra[2]:.1f} ms more than its fit and prediction: a process of its own, metrics, "
        "and a result that is on the disk",
    )


def _started(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)


def _import(trial: bool) -> Iterator[Result]:
    command = ("-c", "from elmbench.cli import main; main(['--help'])")
    python = min(timed(lambda: _started("-c", "pass"))[0].wall for _ in range(5))
    found = in_turn(lambda: _started(*command), lambda: _started("-c", "import sklearn.kernel_ridge"))
    yield measured(
        found,
        name="elmbench --help",
        against="the import of scikit-learn's KernelRidge",
        note=f"the start of Python, {python:.2g} s, is in both",
    )


ROWS = [Row("cell", _cell), Row("import", _import)]
