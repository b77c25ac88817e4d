"""What a worker is told: the settings of a run, and a request for work."""

from dataclasses import dataclass, field
from typing import Any

from elmbench.specs.limits import Limits

#: Some work in the types of JSON, as `asked_of` makes it.
Asked = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    `jobs`: worker processes. `plugins`: plug-in files, loaded by every worker that needs them. `blas_threads`: in every
    worker. It changes the last digits of some results: it is recorded with each cell, but does not belong to its key,
    so stored results are used for any number of threads. `limits`: for all work, in place of what its experiment
    says. `environment`: hash of the environment of this machine, as the store knows it. `memory`: bytes that work may
    take where neither a limit nor its experiment says; None for a job's share of this machine.
    """

    jobs: int = 1
    data_dir: str | None = None
    plugins: tuple[str, ...] = ()
    blas_threads: int = 1
    limits: Limits = field(default_factory=Limits)
    environment: str = ""
    memory: int | None = None
