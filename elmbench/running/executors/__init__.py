"""Executors run the work of a plan: on this machine, or on the workers of a dask scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elmbench.errors import ElmbenchError, unknown_name

if TYPE_CHECKING:
    from elmbench.running.executors.base import Executor, Settings

ENGINES = ("local", "dask")


def executor_of(engine: str, settings: Settings, scheduler: str | None = None) -> Executor:
    """Return an executor that has not been started yet.

    `engine`: {"local", "dask"}. `scheduler`: address of a dask scheduler. Raises ElmbenchError if there is no such
    engine, dask has no scheduler, or another engine has one.
    """
    if engine not in ENGINES:
        raise unknown_name("engine", engine, list(ENGINES), "elmbench run --help")
    if (engine == "dask") != (scheduler is not None):
        raise ElmbenchError(
            f"the engine {engine} is given {'without' if scheduler is None else 'with'} --scheduler",
            expected="the address of a scheduler with --engine dask, and with it only",
            next_step=f"elmbench run ... --engine dask --scheduler {scheduler or 'tls://HOST:8786'}",
        )
    if scheduler is not None:
        from elmbench.running.executors.dask import DaskExecutor

        return DaskExecutor(settings, scheduler)
    from elmbench.running.executors.local import LocalExecutor

    return LocalExecutor(settings)
