"""Features of Linux: a process adopts orphans, the kernel lists the children of a process, and
control groups limit memory.
"""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Make orphaned descendants children of this process instead of the system's first one."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(process: int) -> list[int]:
    """Return the ids of the direct children of a process, given by its id.

    It takes microseconds. A child may be missing while another one ends. Raises OSError if the
    kernel has no such lists, or the process has ended.
    """
    numbers: list[int] = []
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(
            f"/proc/{process}/task/{thread}/children", encoding="ascii"
        ) as stream:
            numbers += map(int, stream.read().split())
    return numbers


def memory_limit(process: Path = Path("/proc/self")) -> int | None:
    """Return the smallest memory limit, in bytes, of the control groups that hold a process.

    Groups around them count too. It is None if there is no limit; but version 1 of the interface
    reports a huge number then, which is returned. `process`: the folder of the
    process in /proc. Containers (Docker, Kubernetes) and batch systems (`sbatch --mem` of SLURM)
    limit memory so, by version 1 or 2 of the interface.
    """
    limits: list[int] = []
    for path in _limit_files(process):
        # A group without a limit, or one that a container hides.
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(path.read_text("ascii")))
    return min(limits, default=None)


def _limit_files(process: Path) -> Iterator[Path]:
    """Yield the files that may hold a memory limit of a process, from its own group outwards.

    The last one is that of the outermost group that the process sees. `process`: its folder in
    /proc. Some of the files may not exist. Without control groups, nothing is yielded.
    """
    try:
        groups = (process / "cgroup").read_text("utf-8").splitlines()
        mounts = (process / "mountinfo").read_text("utf-8").splitlines()
    except OSError:  # a kernel without control groups
        return
    # Version 1 has a hierarchy for each controller, version 2 a single one without a name.
    by_controller = {
        name: PurePosixPath(path)
        for _, names, path in (line.split(":", 2) for line in groups)
        for name in names.split(",")
    }
    for line in mounts:
        mount, _, filesystem = line.partition(" - ")
        root, point = mount.split()[3:5]
        kind, _, options = filesystem.split()[:3]
        if kind == "cgroup2":
            group = by_controller.get("")
            name = "memory.max"
        elif kind == "cgroup" and "memory" in options.split(","):
            group = by_controller.get("memory")
            name = "memory.limit_in_bytes"
        else:
            continue
        if group is not None:
            # A container sees its own group as the root of the mount.
            is_below = group.is_relative_to(root) and ".." not in group.parts
            below = group.relative_to(root) if is_below else PurePosixPath()
            yield from (
                Path(point) / folder / name for folder in (below, *below.parents)
            )
