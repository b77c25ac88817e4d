"""The executors by the names that a user gives them."""

from __future__ import annotations

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.running.executors.base import Executor
from elmbench.running.executors.local import LocalExecutor
from elmbench.running.executors.sandbox import Settings

ENGINES = ("local", "dask")


def executor_of(engine: str, settings: Settings, scheduler: str | None = None) -> Executor:
    """Return an executor that has not been started yet.

    `engine`: {"local", "dask"}. `scheduler`: address of a dask scheduler. Raises ElmbenchError if there is no such
    engine, or one that has no scheduler is given one.
    """
    if engine not in ENGINES:
        raise unknown_name("engine", engine, list(ENGINES), "elmbench run --help")
    if engine == "dask":
        from elmbench.running.executors.dask import DaskExecutor

        return DaskExecutor(settings, scheduler)
    if scheduler is not None:
        raise ElmbenchError(
            f"--scheduler {scheduler} is given with the engine {engine}",
            expected="a scheduler with --engine dask only",
            next_step=f"elmbench run ... --engine dask --scheduler {scheduler}",
        )
    return LocalExecutor(settings)
