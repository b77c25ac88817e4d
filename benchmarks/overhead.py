"""What the suite adds to the work: milliseconds a cell beyond its fit and prediction, and stored cells as tables."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Seconds, timed
from benchmarks.row import Result, Row
from elmbench.registry.plugins import load_plugin
from elmbench.running.executors.sandbox import Settings
from elmbench.work.plan import Request
from elmbench.workflow.execute import execute
from elmbench.workflow.prepare import RunOptions, prepare

#: Milliseconds beyond fit and prediction that a cell may take, and seconds that 2,000 stored cells may.
A_CELL, STORED = 5.0, 2.0
PLUGIN = Path(__file__).with_name("sign.py")


def _options(runs: int) -> RunOptions:
    load_plugin(PLUGIN)
    request = Request(datasets=("wdbc",), models=("sign",), runs=runs)
    return RunOptions(experiments=("table4",), request=request, settings=Settings(plugins=(str(PLUGIN),)))


def _beyond(folder: Path, runs: int) -> tuple[Seconds, int]:
    """Run three cells a run; return what the whole took beyond fits and predictions, and the number of cells."""
    taken, (results,) = timed(lambda: execute(prepare(_options(runs), folder / f"{runs}")))
    cells = results.cells
    assert set(cells["status"]) == {"ok"}
    own = float(cells["fit_seconds"].sum() + cells["predict_seconds"].sum())
    return Seconds(taken.cpu - own, taken.wall - own), len(cells)


def _overhead(trial: bool) -> Iterator[Result]:
    few, many = (1, 3) if trial else (1, 201)
    a_cell: list[Seconds] = []
    with tempfile.TemporaryDirectory() as name:
        _beyond(Path(name), few)
    for _ in range(1 if trial else 5):
        with tempfile.TemporaryDirectory() as name:
            # The start of the worker and the writing of the table are in both, and so in neither.
            start, least = _beyond(Path(name), few)
            whole, most = _beyond(Path(name), many)
            cells = most - least
            a_cell.append(Seconds((whole.cpu - start.cpu) / cells, (whole.wall - start.wall) / cells))
    walls = sorted(1e3 * seconds.wall for seconds in a_cell)
    middle = sorted(a_cell, key=lambda seconds: seconds.wall)[len(a_cell) // 2]
    yield Result(
        name=f"{cells} cells of next to no work, one worker",
        against=f"{A_CELL:g} ms a cell beyond its fit and prediction",
        ratios=[A_CELL / wall for wall in walls],
        ours=middle,
        target=1.0,
        note=f"a cell takes {walls[len(walls) // 2]:.1f} ms (wall) beyond its fit and prediction, on the disk included",
    )


def _stored(trial: bool) -> Iterator[Result]:
    runs = 3 if trial else 667
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = prepare(_options(1), folder)
        execute(first)
        ((_, plan),) = first.tables
        record = first.store.result(plan.cells[0].key)
        assert record is not None
        run = prepare(_options(runs), folder)
        for key in run.todo:
            run.store.put(run.works[key], record, "")
        run.store.close()
        rounds = []
        for _ in range(1 if trial else 5):
            seconds, (results,) = timed(lambda: execute(prepare(_options(runs), folder)))
            rounds.append(seconds)
    middle = sorted(rounds, key=lambda seconds: seconds.wall)[len(rounds) // 2]
    yield Result(
        name=f"{len(results.cells):,} stored cells, planned again and written as a table",
        against=f"{STORED:g} s",
        ratios=[STORED / seconds.wall for seconds in rounds],
        ours=middle,
        target=1.0,
    )


ROWS = [Row("overhead", _overhead), Row("stored-cells", _stored)]
