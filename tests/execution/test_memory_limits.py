"""Memory limits of containers and batch jobs: the default limit of a fit never exceeds them."""

import sys
from pathlib import Path

import psutil
import pytest

from elmbench.execution import linux, processes
from elmbench.execution.executors import Settings
from elmbench.runs.prepare import RunOptions, prepare_run
from elmbench.specs.limits import Limits

GB = 10**9


class Groups:
    """A process in a made hierarchy of control groups."""

    def __init__(self, folder: Path) -> None:
        self.process, self.mount = folder / "proc", folder / "cgroup"
        self.process.mkdir()
        self.mount.mkdir()

    def describe(self, groups: str, mounts: str) -> None:
        (self.process / "cgroup").write_text(groups)
        (self.process / "mountinfo").write_text(
            mounts.replace("MOUNT", str(self.mount))
        )

    def limit(self, group: str, name: str, value: object) -> None:
        folder = self.mount / group
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{value}\n")

    def limit_of_all(self) -> int | None:
        return linux.memory_limit(self.process)


@pytest.fixture
def groups(tmp_path: Path) -> Groups:
    return Groups(tmp_path)


OTHERS = """23 1 0:21 / /proc rw,nosuid shared:5 - proc proc rw
33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
"""
VERSION_1 = (
    OTHERS + "35 31 0:32 ROOT MOUNT rw,relatime shared:9 - cgroup cgroup rw,memory\n"
)
VERSION_2 = (
    OTHERS
    + "35 31 0:32 ROOT MOUNT rw,relatime shared:9 master:1 - cgroup2 cgroup2 rw\n"
)
#: What version 1 has for no limit.
NONE = 9223372036854771712


@pytest.mark.parametrize(
    "limited", ["", "slurm", "slurm/job_7", "slurm/job_7/step_0/task_0"]
)
@pytest.mark.parametrize("version", [1, 2])
def test_the_smallest_limit_of_nested_groups_counts(
    groups: Groups, version: int, limited: str
) -> None:
    if version == 1:
        file, none, text = "memory.limit_in_bytes", str(NONE), VERSION_1
        own = "9:cpu,cpuacct:/other\n4:hugetlb,memory:/slurm/job_7/step_0/task_0\n0::/elsewhere\n"
    else:
        file, none, text = "memory.max", "max", VERSION_2
        own = "0::/slurm/job_7/step_0/task_0\n"
    groups.describe(own, text.replace("ROOT", "/"))
    for group in ("slurm/job_7/step_0/task_0", "slurm/job_7", "slurm"):
        groups.limit(group, file, none)
    assert groups.limit_of_all() in (None, NONE)
    groups.limit("slurm/job_7/step_0", file, 8 * GB)
    groups.limit("slurm/job_8", file, GB)  # of another job
    groups.limit(limited, file, 2 * GB)
    assert groups.limit_of_all() == 2 * GB


@pytest.mark.parametrize(
    ("group", "root"),
    [
        ("/docker/abc", "/docker/abc"),  # without a namespace of its own
        ("/", "/"),  # in one
        ("/../abc", "/"),  # in one that it has left
        ("/docker/abc", "/docker/other"),
    ],
)
def test_a_container_sees_its_own_group_as_the_root(
    groups: Groups, group: str, root: str
) -> None:
    groups.describe(f"0::{group}\n", VERSION_2.replace("ROOT", root))
    groups.limit(".", "memory.max", 3 * GB)
    assert groups.limit_of_all() == 3 * GB


@pytest.mark.parametrize(
    ("own", "mounts"),
    [("", ""), ("0::/\n", OTHERS), ("1:cpu:/\n", VERSION_1), ("0::/gone\n", VERSION_2)],
)
def test_without_a_group_there_is_no_limit(
    groups: Groups, own: str, mounts: str
) -> None:
    groups.describe(own, mounts.replace("ROOT", "/"))
    assert groups.limit_of_all() is None


def test_a_kernel_without_groups(tmp_path: Path) -> None:
    assert linux.memory_limit(tmp_path) is None


@pytest.mark.parametrize("limit", [None, 2 * GB, NONE])
def test_workers_share_the_smaller_of_the_machine_and_the_group(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: int | None
) -> None:
    memory = psutil.virtual_memory()
    monkeypatch.setattr(
        psutil, "virtual_memory", lambda: memory._replace(total=64 * GB)
    )
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(linux, "memory_limit", lambda: limit)
    usable = 2 * GB if limit == 2 * GB else 64 * GB
    assert processes.available_memory() == usable
    run = prepare_run(
        RunOptions(("table4",), profile="ci", settings=Settings(jobs=4)), tmp_path
    )
    assert set(run.limits.values()) == {Limits(memory=usable // 4)}
