"""Executors: the same results, limits and ends on all of them, for any number of workers and any
order.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
from made_runs import PLUGIN, WORKERS, Fits, done, limits_of, run_of
from made_work import untimed

from elmbench.execution.attempt import attempt
from elmbench.execution.executors import ENGINES, Executor, Settings, limited_worker
from elmbench.execution.processes import MARK, available_memory
from elmbench.execution.store import Store
from elmbench.specs.limits import Limits
from elmbench.tasks.base import Context
from elmbench.tasks.plan import Plan


@pytest.fixture(scope="module", params=ENGINES)
def executor(
    request: pytest.FixtureRequest, make: Callable[[str], Executor]
) -> Iterator[Executor]:
    """An executor of each kind, the same for all tests: to start one takes seconds."""
    with make(request.param) as executor:
        yield executor


class TestTheSeam:
    """The properties of every executor that a run relies on."""

    def test_it_has_its_workers_and_their_memory(self, executor: Executor) -> None:
        assert executor.workers == WORKERS
        # By default, a worker has its share of this machine.
        assert (
            executor.memory is None
            or 0 < executor.memory * WORKERS <= available_memory()
        )

    def test_the_results_are_those_of_this_process(
        self,
        executor: Executor,
        plan_toy: Callable[..., Plan],
        experiment: dict[str, Any],
    ) -> None:
        experiment["grids"] |= {"n_hidden": [10], "gamma": [1]}
        experiment["models"] = {
            name: experiment["models"][name] for name in ("ELM", "OS-ELM")
        }
        plan = plan_toy(experiment, runs=1, select=("nested",))
        here: dict[str, Any] = {}
        for key, task in plan.tasks.items():
            inputs = {name: here[name] for name in task.needs}
            here[key] = attempt(task, inputs, Context())
            result = executor.submit(task, inputs, Limits()).result()
            assert untimed(result.result) == untimed(here[key])
            assert result.seconds > 0

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("model", ["exiting", "killed", "no-label"])
    def test_a_model_that_misbehaves_ends_its_own_cell_only(
        self, executor: Executor, fits: Fits, model: str
    ) -> None:
        bad, good = fits(model), fits("healthy")
        result = done(
            executor, [task for pair in zip(bad, good, strict=True) for task in pair]
        )
        assert [one.result["status"] for one in result] == ["failed", "ok"] * len(bad)

    def test_executors_enforce_time_and_memory_limits(
        self, executor: Executor, fits: Fits
    ) -> None:
        stuck = executor.submit(fits("stuck")[0], {}, Limits(seconds=0.5))
        leaking = executor.submit(
            fits("leaking")[0], {}, Limits(seconds=60, memory=10**9)
        )
        assert stuck.result().result == {
            "status": "timeout",
            "reason": "> 0.5 s",
            "limit": 0.5,
        }
        result = leaking.result().result
        assert (result["status"], result["limit"]) == ("out-of-memory", 10**9)
        assert "the limit is 1 GB" in result["reason"]


@pytest.mark.parametrize(
    ("models", "started"),
    [(("printing", "K-ELM", "healthy"), 2), (("ELM", "K-ELM"), 1)],
    ids=["from outside", "built-in"],
)
def test_a_worker_is_replaced_only_for_another_model_from_outside(
    plan_models: Callable[..., Plan],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    models: tuple[str, ...],
    started: int,
) -> None:
    """The suite's own models come first, and then one model from outside after the other."""
    plan = plan_models(*models, select=("published",))
    workers = []
    real = limited_worker._WorkerProcess

    def start(threads: int) -> Any:
        workers.append(real(threads))
        return workers[-1]

    monkeypatch.setattr(limited_worker, "_WorkerProcess", start)
    settings = Settings(plugins=(str(PLUGIN),))
    run_of(plan, store, settings, limits_of(plan)).run([*plan.tasks])
    assert len(plan.tasks) > 2 * len(models)
    results = [store.result(key) or {} for key in plan.tasks]
    assert {result["status"] for result in results} == {"ok"}
    assert len(workers) == started


@pytest.mark.parametrize("engine", ENGINES)
def test_the_end_of_an_executor_ends_what_runs(
    make: Callable[[str], Executor], fits: Fits, engine: str
) -> None:
    """Nothing of the run is left behind, in workers of dask that live on neither."""
    before = set(_workers())
    with make(engine) as executor:
        futures = [
            executor.submit(task, {}, Limits()) for task in fits("stuck")[:WORKERS]
        ]
        while len(workers := set(_workers()) - before) < WORKERS:
            time.sleep(0.05)
        assert not any(future.done() for future in futures)
    psutil.wait_procs(list(workers))


def _workers() -> Iterator[psutil.Process]:
    """The worker processes below this process."""
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if MARK in one.environ():
                yield one
