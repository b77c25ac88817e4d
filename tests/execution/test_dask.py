"""Workers of a dask scheduler: their deaths, their absence, other versions, and certificates as in
docs/cluster.md.
"""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_runs import Fits, done
from sentences import sentence

from elmbench.cli.progress import CommandProgress
from elmbench.errors import ElmbenchError
from elmbench.execution.engine import Estimates, Event, Run
from elmbench.execution.executors import Executor, Settings, executor_of
from elmbench.execution.executors import dask as module
from elmbench.execution.store import Store
from elmbench.runs.execute import compute
from elmbench.runs.prepare import PreparedRun, RunOptions, prepare_run
from elmbench.specs.limits import Limits
from elmbench.tasks.plan import RunRequest

distributed = pytest.importorskip("distributed")
dask_config = pytest.importorskip("dask").config
PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"


@pytest.fixture
def dask(make: Callable[[str], Executor], log: Path) -> Iterator[Executor]:
    log.unlink(missing_ok=True)
    with make("dask") as executor:
        yield executor


@pytest.mark.exhaustive
def test_work_that_is_lost_with_its_worker_is_done_again(
    dask: Executor, log: Path, fits: Fits
) -> None:
    assert [
        one.result["status"] for one in done(dask, fits("treacherous-once", "healthy"))
    ] == ["ok"] * 6
    assert log.exists()


@pytest.mark.exhaustive
def test_work_that_kills_every_worker_is_given_up_and_ends_no_other(
    dask: Executor, log: Path, fits: Fits, store: Store
) -> None:
    bad, good = fits("treacherous")[0], fits("healthy")
    tasks = {task.key: task for task in (good[0], bad, *good[1:])}
    limits = dict.fromkeys(tasks, Limits())
    Run(tasks, limits, store, Settings(), Estimates(tasks, limits), executor=dask).run(
        list(tasks)
    )
    records = {key: store.get(key) or {} for key in tasks}
    assert [record["result"]["status"] for record in records.values()] == [
        "ok",
        "failed",
        "ok",
        "ok",
    ]
    assert records[bad.key]["result"]["reason"].startswith(
        "its worker died 2 times, the last one tcp://127.0.0.1"
    )
    assert len(log.read_text().split()) == 2
    assert (
        store.environment(records[good[0].key]["environment"])["machine"]
        == platform.node()
    )


def test_a_scheduler_that_does_not_answer_is_an_error(fits: Fits) -> None:
    with (
        executor_of("dask", Settings(), "not an address") as executor,
        pytest.raises(ElmbenchError, match="no scheduler answers at not an address"),
    ):
        done(executor, fits("healthy"))


def test_a_worker_of_another_version_refuses() -> None:
    with pytest.raises(ElmbenchError, match=r"the worker .* has elmbench") as raised:
        module.do_task({}, Limits(), Settings(), "0.0", "run")
    assert "install the same version everywhere" in str(raised.value)


def a_cluster(protocol: str, n_workers: int, **more: Any) -> Any:
    """A scheduler and workers in this process."""
    return distributed.LocalCluster(
        n_workers=n_workers, host="127.0.0.1", dashboard_address=None, processes=False,
        protocol=protocol,
        silence_logs="CRITICAL", **more,
    )  # fmt: skip


@pytest.fixture
def prepared(plugin: str, tmp_path: Path) -> PreparedRun:
    """A run of three fits of a model of the plug-in."""
    request = RunRequest(datasets=("wdbc",), models=("healthy",), runs=1)
    options = RunOptions(
        ("table4",), profile="ci", request=request, settings=Settings(plugins=(plugin,))
    )
    return prepare_run(options, tmp_path)


def run_on(
    executor: Executor,
    prepared: PreparedRun,
    on_event: Callable[[Event], None] = lambda event: None,
) -> None:
    compute(prepared, on_event, executor)
    assert {prepared.store.result(key)["status"] for key in prepared.tasks} == {"ok"}


@pytest.mark.exhaustive
def test_a_run_without_workers_waits_with_a_message_until_one_joins(
    prepared: PreparedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        a_cluster("tcp://", 0) as cluster,
        executor_of(
            "dask", prepared.options.settings, cluster.scheduler_address
        ) as executor,
        CommandProgress(prepared, False, executor) as progress,
    ):
        assert executor.workers == 0
        seen: list[str] = []

        def on_event(event: Event) -> None:
            progress.on_event(event)
            seen.append(event.kind)
            if seen.count("no-workers") == 2 and not cluster.workers:
                cluster.scale(1)

        run_on(executor, prepared, on_event)
    assert (
        capsys.readouterr().err.count(sentence("execution.dask.waits-for-a-worker"))
        == 1
    )


@pytest.fixture
def certified(tmp_path: Path) -> dict[str, Any]:
    """The settings that dask reads after the commands of the page, in an empty home."""
    if not shutil.which("openssl") or os.name != "posix":
        pytest.skip("needs openssl")
    (commands,) = re.findall(
        r"^```sh\n(mkdir -p ~/\.config/dask .*?)^```$",
        PAGE.read_text("utf-8"),
        re.M | re.S,
    )
    subprocess.run(
        ["sh", "-ec", commands],
        check=True,
        capture_output=True,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    assert (tmp_path / ".dask-tls" / "key.pem").stat().st_mode & 0o077 == 0
    # Over the defaults, as dask itself reads it.
    defaults = dask_config.collect_yaml(
        [str(Path(distributed.__file__).parent / "distributed.yaml")]
    )
    settings = dask_config.collect_yaml([str(tmp_path / ".config" / "dask")])
    return dask_config.merge(*defaults, *settings)


def test_only_who_has_the_certificate_runs_work_there(
    certified: dict[str, Any], prepared: PreparedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dask_config.set(certified):
        cluster = a_cluster("tls://", 1, security=distributed.Security())
    with cluster:
        address, settings = cluster.scheduler_address, prepared.options.settings
        assert address.startswith("tls://")
        with (
            dask_config.set(certified),
            executor_of("dask", settings, address) as executor,
        ):
            run_on(executor, prepared)
        monkeypatch.setattr(module, "_PATIENCE", 3.0)
        with (
            executor_of("dask", settings, address) as executor,
            pytest.raises(ElmbenchError, match="no scheduler answers"),
        ):
            done(executor, prepared.tasks.values())
