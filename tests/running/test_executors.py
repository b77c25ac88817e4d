"""Executors: the same results, limits and ends on all of them; deaths of dask's workers."""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psutil
import pytest
from made_work import untimed

from elmbench.cli.progress import RunProgress
from elmbench.errors import ElmbenchError
from elmbench.running.attempt import attempt
from elmbench.running.engine import Event, Run, effective_limits
from elmbench.running.estimates import Estimates
from elmbench.running.executors import ENGINES, dask_worker, executor_of
from elmbench.running.executors.base import Done, Executor, Settings
from elmbench.running.processes import MARK, machine_memory
from elmbench.running.store import Store
from elmbench.specs.limits import Limits
from elmbench.work.base import Context, Work
from elmbench.work.plan import Plan
from elmbench.workflow.prepare import PreparedRun, RunOptions

#: Workers of each executor.
WORKERS = 2


@pytest.fixture(scope="module")
def make(request: pytest.FixtureRequest, plugin_file: Path) -> Callable[[str], Executor]:
    """Make an executor by its name, with the plug-in; dask's on that cluster."""

    def make(engine: str) -> Executor:
        scheduler = request.getfixturevalue("cluster").scheduler_address if engine == "dask" else None
        return executor_of(engine, Settings(jobs=WORKERS, plugins=(str(plugin_file),)), scheduler)

    return make


@pytest.fixture(scope="module", params=ENGINES)
def executor(request: pytest.FixtureRequest, make: Callable[[str], Executor]) -> Iterator[Executor]:
    """An executor of each kind, the same for all tests: to start one takes seconds."""
    with make(request.param) as executor:
        yield executor


def fits(plan: Plan) -> list[Work]:
    return [plan.works[cell.key] for cell in plan.cells]


def done(future: Future[Done]) -> Done:
    return future.result()


class TestTheSeam:
    """The properties of every executor that a run relies on."""

    def test_it_is_as_wide_as_it_has_workers(self, executor: Executor) -> None:
        assert executor.width == executor.workers == WORKERS
        assert 0 < executor.memory * WORKERS <= machine_memory()

    def test_the_results_are_those_of_this_process(
        self, executor: Executor, plan_toy: Callable[..., Plan], experiment: dict[str, Any]
    ) -> None:
        experiment["grids"] |= {"n_hidden": [10], "gamma": [1]}
        experiment["models"] = {name: experiment["models"][name] for name in ("ELM", "OS-ELM")}
        plan = plan_toy(experiment, runs=1, select=("nested",))
        here: dict[str, Any] = {}
        for key, work in plan.works.items():
            inputs = {name: here[name] for name in work.needs}
            here[key] = attempt(work, inputs, Context())
            result = done(executor.submit(work, inputs, Limits()))
            assert untimed(result.result) == untimed(here[key])
            assert result.seconds > 0
            assert result.before > 0

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("model", ["exiting", "killed", "no-label"])
    def test_a_model_that_misbehaves_ends_its_own_cell_only(
        self, executor: Executor, plugin: str, plan_models: Callable[..., Plan], model: str
    ) -> None:
        bad, good = fits(plan_models(model)), fits(plan_models("healthy"))
        futures = [executor.submit(work, {}, Limits()) for pair in zip(bad, good, strict=True) for work in pair]
        assert [done(future).result["status"] for future in futures] == ["failed", "ok"] * len(bad)

    def test_limits_hold(self, executor: Executor, plugin: str, plan_models: Callable[..., Plan]) -> None:
        stuck = executor.submit(fits(plan_models("stuck"))[0], {}, Limits(seconds=0.5))
        leaking = executor.submit(fits(plan_models("leaking"))[0], {}, Limits(seconds=60, memory=10**9))
        assert done(stuck).result == {"status": "timeout", "reason": "> 0.5 s", "limit": 0.5}
        result = done(leaking).result
        assert (result["status"], result["limit"]) == ("out-of-memory", 10**9)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_end_of_an_executor_ends_what_runs(
    make: Callable[[str], Executor], plugin: str, plan_models: Callable[..., Plan], engine: str
) -> None:
    """Nothing of the run is left behind, in workers of dask that live on neither."""
    before = set(_workers())
    with make(engine) as executor:
        futures = [executor.submit(work, {}, Limits()) for work in fits(plan_models("stuck"))[:WORKERS]]
        while len(workers := set(_workers()) - before) < WORKERS:
            time.sleep(0.05)
        assert not any(future.done() for future in futures)
    psutil.wait_procs(list(workers))


# --- Workers of dask may die -----------------------------------------------------------------------------------------


@pytest.fixture
def dask(make: Callable[[str], Executor]) -> Iterator[Executor]:
    with make("dask") as executor:
        yield executor


@pytest.mark.exhaustive
def test_work_that_is_lost_with_its_worker_is_done_again(
    dask: Executor, log: Path, plugin: str, plan_models: Callable[..., Plan]
) -> None:
    log.unlink(missing_ok=True)
    futures = [dask.submit(work, {}, Limits()) for work in fits(plan_models("treacherous-once", "healthy"))]
    assert [done(future).result["status"] for future in futures] == ["ok"] * 6
    assert log.exists()


@pytest.mark.exhaustive
def test_work_that_kills_every_worker_is_given_up_and_ends_no_other(
    dask: Executor, log: Path, plugin: str, plan_models: Callable[..., Plan]
) -> None:
    log.unlink(missing_ok=True)
    bad, good = fits(plan_models("treacherous"))[0], fits(plan_models("healthy"))
    futures = [dask.submit(work, {}, Limits()) for work in [*good[:2], bad, *good[2:]]]
    result = [done(future) for future in futures]
    assert [one.result["status"] for one in result] == ["ok", "ok", "failed", "ok"]
    assert result[2].result["reason"].startswith("its worker died 2 times, the last one tcp://127.0.0.1")
    assert 2 <= len(log.read_text().split()) <= 4
    assert result[0].environment["machine"] == platform.node()


@pytest.mark.exhaustive
def test_work_that_waits_behind_a_killer_is_not_blamed(
    dask: Executor, log: Path, plugin: str, plan_models: Callable[..., Plan]
) -> None:
    log.unlink(missing_ok=True)
    bad, good = fits(plan_models("treacherous"))[:WORKERS], fits(plan_models("healthy"))
    futures = [dask.submit(work, {}, Limits()) for work in [*bad, *good]]
    assert [done(future).result["status"] for future in futures] == ["failed"] * WORKERS + ["ok"] * len(good)


def test_a_scheduler_that_nobody_answers_for_is_said(plan_models: Callable[..., Plan]) -> None:
    pytest.importorskip("distributed")
    with executor_of("dask", Settings(), "not an address") as executor:
        work = fits(plan_models("healthy"))[0]
        with pytest.raises(ElmbenchError, match="no scheduler answers at not an address"):
            executor.submit(work, {}, Limits()).result()


@pytest.mark.exhaustive
def test_a_run_without_workers_says_so_and_begins_when_one_joins(
    plugin: str, plan_models: Callable[..., Plan], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed")
    plan, settings = plan_models("healthy"), Settings(plugins=(plugin,), environment="e")
    limits = effective_limits(plan.works, {}, settings)
    prepared = PreparedRun(
        RunOptions(settings=settings), tmp_path, store := Store(tmp_path / ".store"), [], plan.works, limits,
        list(plan.works), Estimates(plan.works, limits),
    )  # fmt: skip
    with (
        distributed.LocalCluster(
            n_workers=0,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            processes=False,
            protocol="tcp://",
            silence_logs="CRITICAL",
        ) as cluster,
        executor_of("dask", settings, cluster.scheduler_address) as executor,
        RunProgress(prepared, False, executor) as progress,
    ):
        assert executor.deserted
        assert executor.workers == 1
        assert executor.width > 0
        seen: list[str] = []

        def on_event(event: Event) -> None:
            progress.on_event(event)
            seen.append(event.kind)
            if seen.count("no-workers") == 2 and not cluster.workers:
                cluster.scale(1)

        Run(plan.works, limits, store, settings, on_event, executor).run(list(plan.works))
    assert {store.result(key)["status"] for key in plan.works} == {"ok"}
    assert capsys.readouterr().err.count("the scheduler has no worker: the run waits for one") == 1


def test_a_worker_of_another_version_refuses() -> None:
    with pytest.raises(ElmbenchError, match=r"the worker .* has elmbench") as raised:
        dask_worker.do_task({}, Limits(), Settings(), "0.0", "run")
    assert "install the same version everywhere" in str(raised.value)


def test_an_engine_is_known_and_has_a_scheduler_only_if_it_is_dask() -> None:
    with pytest.raises(ElmbenchError, match="daks"):
        executor_of("daks", Settings())
    with pytest.raises(ElmbenchError, match="engine local is given with --scheduler"):
        executor_of("local", Settings(), "tcp://127.0.0.1:8786")
    with pytest.raises(ElmbenchError, match="engine dask is given without --scheduler"):
        executor_of("dask", Settings())


def _workers() -> Iterator[psutil.Process]:
    """The workers of sandboxes below this process."""
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if MARK in one.environ():
                yield one
