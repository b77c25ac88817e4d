"""A scheduler with certificates, set up as docs/cluster.md says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmbench.errors import ElmbenchError
from elmbench.running.engine import Run, effective_limits
from elmbench.running.executors import dask as module
from elmbench.running.executors import executor_of
from elmbench.running.executors.base import Settings
from elmbench.running.store import Store
from elmbench.specs.limits import Limits
from elmbench.work.plan import Plan

distributed = pytest.importorskip("distributed")
dask_config = pytest.importorskip("dask").config

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"


@pytest.fixture
def certified(tmp_path: Path) -> dict[str, Any]:
    """The settings that dask reads after the commands of the page, in an empty home."""
    if not shutil.which("openssl") or os.name != "posix":
        pytest.skip("needs openssl")
    (commands,) = re.findall(r"^```sh\n(mkdir -p ~/\.config/dask .*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    subprocess.run(["sh", "-ec", commands], check=True, capture_output=True, env=os.environ | {"HOME": str(tmp_path)})
    assert (tmp_path / ".dask-tls" / "key.pem").stat().st_mode & 0o077 == 0
    # Over the defaults, as dask itself reads it.
    defaults = dask_config.collect_yaml([str(Path(distributed.__file__).parent / "distributed.yaml")])
    settings = dask_config.collect_yaml([str(tmp_path / ".config" / "dask")])
    return dask_config.merge(*defaults, *settings)


def test_only_who_has_the_certificate_runs_work_there(
    certified: dict[str, Any], plugin: str, plan_models: Callable[..., Plan], tmp_path: Path, monkeypatch: Any
) -> None:
    plan, settings = plan_models("healthy"), Settings(plugins=(plugin,), environment="e")
    limits = effective_limits(plan.works, {}, settings)
    store = Store(tmp_path / "results" / ".store")
    with dask_config.set(certified):
        cluster = distributed.LocalCluster(
            n_workers=1,
            host="127.0.0.1",
            dashboard_address=None,
            processes=False,
            protocol="tls://",
            security=distributed.Security(),
            silence_logs="CRITICAL",
        )
    with cluster:
        assert cluster.scheduler_address.startswith("tls://")
        with dask_config.set(certified), executor_of("dask", settings, cluster.scheduler_address) as executor:
            Run(plan.works, limits, store, settings, lambda event: None, executor).run(list(plan.works))
        assert {store.result(key)["status"] for key in plan.works} == {"ok"}
        monkeypatch.setattr(module, "_PATIENCE", 3.0)
        with executor_of("dask", settings, cluster.scheduler_address) as executor:
            answer = executor.submit(next(iter(plan.works.values())), {}, Limits())
            with pytest.raises(ElmbenchError, match="no scheduler answers"):
                answer.result()
