"""Plans of small tables, and models that misbehave in a process of their own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_runs import PLUGIN, WORKERS, plan, workers
from toy_data import add_model, make_unit, toys
from toy_plans import plan_table, plan_toy

from elmbench.execution.executors import Executor, Settings, executor_of
from elmbench.execution.processes import available_memory
from elmbench.execution.store import Store
from elmbench.registry.plugins import load_plugin
from elmbench.tasks.base import Task
from elmbench.tasks.plan import Plan

__all__ = [
    "add_model",
    "make_unit",
    "plan",
    "plan_table",
    "plan_toy",
    "toys",
    "workers",
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "results")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of the models: workers know its name, so it is set before they start."""
    return tmp_path_factory.mktemp("log") / "log"


#: Each death of a worker costs seconds: two are as good as the four of the default. Dask drops
#: workers that are not back in time.
DASK = {"scheduler.allowed-failures": 1, "deploy.lost-worker-timeout": "1h"}


@pytest.fixture(scope="module")
def cluster(log: Path) -> Iterator[Any]:
    """A scheduler with two workers, each a process of its own that is started again when it
    dies.
    """
    distributed = pytest.importorskip("distributed")
    dask_config = pytest.importorskip("dask").config
    with (
        dask_config.set({f"distributed.{name}": value for name, value in DASK.items()}),
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=available_memory() // WORKERS, silence_logs="CRITICAL",
            env={"TEST_LOG": str(log)},
        ) as cluster,
    ):  # fmt: skip
        yield cluster


@pytest.fixture(scope="module")
def make(request: pytest.FixtureRequest) -> Callable[[str], Executor]:
    """Make an executor by its name, with the plug-in; dask's on that cluster."""

    def make(engine: str) -> Executor:
        scheduler = (
            request.getfixturevalue("cluster").scheduler_address
            if engine == "dask"
            else None
        )
        return executor_of(
            engine, Settings(jobs=WORKERS, plugins=(str(PLUGIN),)), scheduler
        )

    return make


@pytest.fixture
def plugin() -> str:
    """The path of that file, loaded here too."""
    load_plugin(PLUGIN)
    return str(PLUGIN)


@pytest.fixture
def plan_models(plugin: str, plan_table: Callable[..., Plan]) -> Callable[..., Plan]:
    """Plan cells of the plug-in's models on WDBC, three folds a run."""

    return lambda *models, **more: plan_table(
        "table4", datasets=("wdbc",), models=models, runs=1, **more
    )


@pytest.fixture
def fits(plan_models: Callable[..., Plan]) -> Callable[..., list[Task]]:
    """Return the fits of the plug-in's models on WDBC."""

    def tasks(*models: str, **more: Any) -> list[Task]:
        plan = plan_models(*models, **more)
        return [plan.tasks[cell.key] for cell in plan.cells]

    return tasks
