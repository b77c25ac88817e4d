"""Ding's imbalanced data sets, from the archive that imbalanced-learn publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from elmbench.datasets.download import FetchJob
from elmbench.datasets.sources.archive import read_members, refused
from elmbench.datasets.sources.base import NetworkSource
from elmbench.errors import ElmbenchError

if TYPE_CHECKING:
    from elmbench.datasets.table import Table

#: All 27 data sets, an .npz file each.
DING_ARCHIVE = "https://zenodo.org/record/61452/files/benchmark-imbalanced-learn.tar.gz"


class ImbalancedLearnSource(NetworkSource):
    """One of Ding's imbalanced data sets, by its name and number in imbalanced-learn."""

    kind: Literal["imbalanced-learn"]
    name: str
    number: int = Field(ge=1, le=27)

    @property
    def title(self) -> str:
        return f"imbalanced-learn {self.name}"

    def fetch(self, job: FetchJob) -> Mapping[str, Table]:
        from elmbench.datasets.readers import read_arrays

        archive = job.download(DING_ARCHIVE, shared=True)
        member = f"x{self.number}data.npz"
        origin = f"{DING_ARCHIVE} ({member})"
        try:
            with refused(f"{origin} cannot be read", "arrays of numbers"):
                return {"all": read_arrays(read_members(archive, [member], DING_ARCHIVE, job.most)[member], origin)}
        except ElmbenchError:
            archive.unlink()  # it may be damaged
            raise
