"""Files of the LIBSVM collection."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Literal, Self

from pydantic import model_validator

from elmbench.datasets.sources.base import FetchJob, NetworkSource


class LibsvmSource(NetworkSource):
    """Files of the LIBSVM collection, cached unchanged: one file, or a training and a test file."""

    #: The kind of source.
    kind: Literal["libsvm"]
    #: The number of features, if it is not that of the public file.
    width: int | None = None
    #: The address of one file.
    url: str | None = None
    #: The address of the training file.
    train: str | None = None
    #: The address of the test file.
    test: str | None = None

    @model_validator(mode="after")
    def _one_or_two(self) -> Self:
        """Return this source unchanged.

        Raises ValueError unless either `url` alone, or both `train` and `test`, are given.
        """
        parts = (self.train, self.test)
        is_complete = parts == (None, None) if self.url else None not in parts
        if not is_complete:
            raise ValueError("give either url, or both train and test")
        return self

    @property
    def urls(self) -> dict[str, str]:
        """The address of each part: {'all': ...}, or {'train': ..., 'test': ...}."""
        return (
            {"all": self.url}
            if self.url
            else {"train": str(self.train), "test": str(self.test)}
        )

    @property
    def title(self) -> str:
        """The source in words: "LIBSVM" and the names of its files."""
        return "LIBSVM " + ", ".join(
            url.rsplit("/", 1)[1] for url in self.urls.values()
        )

    def fetch(self, job: FetchJob) -> Mapping[str, Path]:
        """Download the files; return {'all': path}, or {'train': path, 'test': path}.

        Each is `<part>.svm` with the ending of its compression, in the folder of the job.
        """
        from elmbench.datasets.readers import compression_of

        return {
            part: job.download(url).rename(
                job.folder / f"{part}.svm{compression_of(PurePosixPath(url))}"
            )
            for part, url in self.urls.items()
        }
