"""The settings of a run, and a request for work, as a worker receives them."""

from dataclasses import dataclass, field
from typing import Any

from elmbench.specs.limits import Limits

#: A request for work in the types of JSON; `asked_of` makes it.
Asked = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    `jobs`: worker processes. `plugins`: plug-in files, loaded by every worker that needs them. `blas_threads`: in every
    worker. It changes the last digits of some results: it is recorded with each cell, but does not belong to its key,
    so stored results are used for any number of threads. `limits`: for all work; they replace those of the experiment.
    `environment`: hash of the environment of this machine in the store. `memory`: default memory limit in bytes; None
    for a job's share of this machine.
    """

    jobs: int = 1
    data_dir: str | None = None
    plugins: tuple[str, ...] = ()
    blas_threads: int = 1
    limits: Limits = field(default_factory=Limits)
    environment: str = ""
    memory: int | None = None
