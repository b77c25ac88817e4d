"""The environment of a result: software, linear algebra library, machine."""

import os
import platform
import re
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from elmbench.execution.processes import machine_memory

_PACKAGES = (
    "elmbench",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pandas",
    "joblib",
    "threadpoolctl",
)


def describe_environment() -> dict[str, Any]:
    """Return the facts of this environment in the types of JSON.

    The keys are `python` (version), `packages` ({name: version}), `blas` (a list, see `_blas`),
    `system`, `processor`, `cores`, `memory_gib` and `commit` (None outside of a checkout).
    """
    cpuinfo = Path("/proc/cpuinfo")
    processors = re.findall(
        r"^model name\s*: (.+)", cpuinfo.read_text() if cpuinfo.is_file() else "", re.M
    )
    return {
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
        "blas": _blas(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": processors[0].strip() if processors else platform.processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(machine_memory() / 2**30, 1),
        "commit": _commit(),
    }


@cache
def version_of_code() -> str:
    """Return the version of the suite, followed by the commit if it runs from a checkout.

    Two machines with equal texts run the same code, unless one has `+changes`.
    """
    return " ".join(filter(None, (version("elmbench"), _commit())))


def _blas() -> list[dict[str, Any]]:
    """Return a dict for each loaded BLAS library.

    The keys are internal_api (such as openblas), version, architecture and threading_layer; a fact
    that threadpoolctl does not know is None.
    """
    import scipy.linalg  # noqa: F401 - loads the library that is to be described
    from threadpoolctl import threadpool_info

    libraries: list[dict[str, Any]] = []
    for entry in threadpool_info():
        library = {
            key: entry.get(key)
            for key in ("internal_api", "version", "architecture", "threading_layer")
        }
        if entry.get("user_api") == "blas" and library not in libraries:
            libraries.append(library)
    return libraries


#: What determines the results, in the folder of the checkout.
_CODE = ("elmbench", "experiments", "datasets.yaml")


def _commit() -> str | None:
    """Return the commit of the checkout that the code runs from.

    `+changes` follows if the code has been changed since. None without a checkout or git.
    """
    top = Path(__file__).resolve().parents[2]
    if not (top / ".git").exists():
        return None

    def git(*words: str) -> str:
        """Return the standard output of a git command in the checkout, without spaces at its ends.

        Raises CalledProcessError if it fails, OSError if there is no git.
        """
        ended = subprocess.run(
            ["git", "-C", str(top), *words],
            capture_output=True,
            text=True,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        return ended.stdout.strip()

    try:
        commit = git("rev-parse", "HEAD")
        # Results that a run writes do not change the code.
        changes = git("status", "--porcelain", "--", *_CODE)
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{commit}+changes" if changes else commit
