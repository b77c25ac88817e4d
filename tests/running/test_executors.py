"""Executors: the same work, limits and ends, whatever processes or machines do it; what only dask's have."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from elmbench.cli.progress import RunProgress
from elmbench.errors import ElmbenchError
from elmbench.running.attempt import attempt
from elmbench.running.engine import Event, Run, effective_limits
from elmbench.running.estimates import Estimates
from elmbench.running.executors import dask as dask_module
from elmbench.running.executors import dask_worker
from elmbench.running.executors.base import Done, Executor
from elmbench.running.executors.dask import DaskExecutor
from elmbench.running.executors.engines import ENGINES, executor_of
from elmbench.running.executors.sandbox import Settings
from elmbench.running.limits import machine_memory
from elmbench.running.processes import MARK
from elmbench.running.store import Store
from elmbench.specs.limits import Limits
from elmbench.work.base import Context, Work
from elmbench.work.plan import Plan
from elmbench.workflow.prepare import PreparedRun, RunOptions

#: Of the cluster of the tests.
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


def untimed(result: dict[str, Any] | None) -> dict[str, Any]:
    assert result is not None
    return {name: value for name, value in result.items() if not name.endswith("seconds")}


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


@pytest.mark.parametrize(("deaths", "status"), [(0, None), (1, None), (2, "failed")])
def test_only_deaths_during_the_work_itself_count(
    monkeypatch: pytest.MonkeyPatch, plan_models: Callable[..., Plan], deaths: int, status: str | None
) -> None:
    executor, sent = DaskExecutor(Settings()), threading.Event()
    monkeypatch.setattr(executor, "_send", lambda request: sent.set())
    request = dask_module._Request(Future(), {}, Limits())
    worker = SimpleNamespace(address="tcp://127.0.0.1:1")
    with executor:
        executor._blame(request, deaths, SimpleNamespace(allowed_failures=1, last_worker=worker))
        if not status:
            sent.wait()
    assert sent.is_set() == (not status)
    assert request.answer.done() == bool(status)
    if status:
        assert done(request.answer).result == {
            "status": status,
            "reason": "its worker died 2 times, the last one tcp://127.0.0.1:1",
        }


@pytest.mark.exhaustive
def test_work_that_waits_behind_a_killer_is_not_blamed(
    dask: Executor, log: Path, plugin: str, plan_models: Callable[..., Plan]
) -> None:
    log.unlink(missing_ok=True)
    bad, good = fits(plan_models("treacherous"))[:WORKERS], fits(plan_models("healthy"))
    futures = [dask.submit(work, {}, Limits()) for work in [*bad, *good]]
    assert [done(future).result["status"] for future in futures] == ["failed"] * WORKERS + ["ok"] * len(good)


@pytest.fixture
def local_dask(plugin: str) -> Iterator[DaskExecutor]:
    """An executor with one worker on this machine, which dask drops as soon as it dies."""
    # Its import adds defaults to dask's settings, which `set` would remove again at its end.
    pytest.importorskip("distributed")
    from dask import config

    with config.set({"distributed.deploy.lost-worker-timeout": "1ms"}):
        executor = DaskExecutor(Settings(plugins=(plugin,)))
        with executor:
            yield executor


def test_a_worker_that_dask_has_dropped_is_replaced(local_dask: DaskExecutor, plan_models: Callable[..., Plan]) -> None:
    _kill_workers(local_dask)
    client, _ = local_dask._connection()
    future = local_dask.submit(fits(plan_models("healthy"))[0], {}, Limits())
    while not future.done():
        local_dask.deserted  # noqa: B018 - a run asks all the time
        time.sleep(0.05)
    assert done(future).result["status"] == "ok"
    assert all(client.run(lambda: sys.flags.safe_path).values())


def test_a_worker_that_dies_while_it_starts_is_replaced(local_dask: DaskExecutor) -> None:
    _kill_workers(local_dask)
    _, cluster = local_dask._connection()
    while not any(worker.status.name == "failed" for worker in cluster.workers.values()):
        cluster.scale(1)
        for process in psutil.Process().children():
            with contextlib.suppress(psutil.NoSuchProcess):
                if "spawn_main" in " ".join(process.cmdline()):
                    process.kill()
        time.sleep(0.02)
    while local_dask.deserted:
        time.sleep(0.05)


@pytest.mark.exhaustive
def test_a_module_of_the_current_folder_is_not_run(tmp_path: Path) -> None:
    """A module with the name of one of Python's own would be imported before that one."""
    pytest.importorskip("distributed")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "elmbench"
    script.write_text("from elmbench.cli import main\nif __name__ == '__main__': main()")
    (tmp_path / "types.py").write_text("open('taken', 'w')\nraise SystemExit")
    words = "run table4 --profile ci -d wdbc -m elm --engine dask --jobs 1 --results-dir results"
    # Without end it would wait for the workers.
    process = subprocess.Popen([sys.executable, script, *words.split()], cwd=tmp_path)
    while process.poll() is None and not (tmp_path / "taken").exists():
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert not (tmp_path / "taken").exists()
    assert (tmp_path / "results" / "ci").is_dir()


def test_a_run_without_any_worker_of_its_own_cluster_ends(
    local_dask: DaskExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not local_dask.deserted
    monkeypatch.setattr(dask_module, "_DESERTED", 0.0)
    monkeypatch.setattr(dask_module, "_LOOK_EVERY", 0.0)
    monkeypatch.setattr("distributed.LocalCluster.scale", lambda *_: None)
    _kill_workers(local_dask)
    with pytest.raises(ElmbenchError, match=r"all workers .* have died(?s:.*)--engine local"):
        local_dask.deserted  # noqa: B018


def test_workers_that_do_not_start_are_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")

    def fail(**_: object) -> None:
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    with DaskExecutor(Settings()) as executor, pytest.raises(ElmbenchError, match=r"cannot start its workers .* Nanny"):
        executor.deserted  # noqa: B018


def _kill_workers(executor: DaskExecutor) -> None:
    """Kill the workers and wait until dask has noticed."""
    client, _ = executor._connection()
    for process in client.run(os.getpid).values():
        os.kill(process, signal.SIGKILL)
    while client.nthreads():
        time.sleep(0.02)


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


def test_an_engine_that_is_unknown_and_a_scheduler_without_one() -> None:
    with pytest.raises(ElmbenchError, match="daks"):
        executor_of("daks", Settings())
    with pytest.raises(ElmbenchError, match="with the engine local"):
        executor_of("local", Settings(), "tcp://127.0.0.1:8786")


def _workers() -> Iterator[psutil.Process]:
    """The workers of sandboxes below this process."""
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if MARK in one.environ():
                yield one
