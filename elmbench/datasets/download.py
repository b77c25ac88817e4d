"""Downloads by pooch, with errors that name the next command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from elmbench.errors import DataUnavailableError, ElmbenchError, first_line

#: Seconds to wait for a connection, and for each block of an answer.
TIMEOUT = (5.0, 30.0)
MOST_BYTES = 20_000_000_000
Progress = Callable[[str, int, int | None], None]  # (address, bytes so far, bytes in all if known)

_HEADERS = {"User-Agent": "elmbench", "Accept-Encoding": "identity"}
#: Hosts that this process cannot reach, so that it waits for each only once.
_closed: set[str] = set()


def download(url: str, folder: Path, known_hash: str | None = None, progress: Progress | None = None) -> Path:
    """Download a file into a folder unless it is there; an incomplete file has a temporary name.

    `known_hash`: the SHA-256 of the file, or another hash with its name, such as `md5:...`. `progress`: called as
    `progress(address, bytes so far, bytes in all or None)`. Raises DataUnavailableError if the server cannot be reached
    or fails. Raises ElmbenchError if there is no such file, it is too large, or it has another hash.
    """
    import pooch

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(progressbar=_Bar(url, progress), timeout=TIMEOUT, headers=_HEADERS)
    try:
        with network(url):
            return Path(pooch.retrieve(url, known_hash, path=folder, downloader=downloader))
    except ValueError as error:  # the message names both hashes
        problem = f"{url}: {str(error).partition(' Deleted ')[0]}"
        next_step = "try again; if the hash stays another, the file was changed at its source"
        raise ElmbenchError(problem, expected=known_hash, next_step=next_step) from error


@contextmanager
def network(url: str) -> Iterator[None]:
    """Convert the errors of requests to an address into those of this package."""
    import requests

    host = urlsplit(url).netloc
    if host in _closed:
        raise DataUnavailableError(f"{host} cannot be reached", expected="a network")
    try:
        yield
    except requests.HTTPError as error:
        answer = cast(requests.Response, error.response)
        status = answer.status_code
        problem = f"{url}: the server answers {status} ({answer.reason})"
        if status >= 500 or status in (408, 429):
            raise DataUnavailableError(problem, expected="the file", next_step="try again later") from error
        by_hand = "download it in a browser, then: elmbench data import NAME FILE"
        raise ElmbenchError(problem, expected="the file", next_step=by_hand) from error
    except (requests.RequestException, OSError) as error:
        if isinstance(error, requests.ConnectionError | requests.ConnectTimeout):
            _closed.add(host)
            raise DataUnavailableError(f"{host} cannot be reached", expected="a network") from error
        problem = f"{url}: {first_line(error)}"
        raise DataUnavailableError(problem, expected="the file", next_step="try again later") from error


class _Bar:
    """The progress bar of a download, as pooch calls it; it ends a download that is too large."""

    def __init__(self, url: str, progress: Progress | None) -> None:
        self.url, self.progress = url, progress
        self.total, self._n_bytes = 0, 0

    def update(self, n_bytes: int) -> None:
        """Count the bytes of a block; the last one may be shorter."""
        self._n_bytes += n_bytes
        if max(self._n_bytes, self.total) > MOST_BYTES + n_bytes:
            problem = f"{self.url}: the file has more than {MOST_BYTES:,} bytes"
            raise ElmbenchError(problem, expected="a data set of the papers", next_step="correct its address")
        if self.progress:
            self.progress(self.url, min(self._n_bytes, self.total or self._n_bytes), self.total or None)

    def reset(self) -> None:
        """Restart the count: pooch does so at the end, to count the total."""
        self._n_bytes = 0

    def close(self) -> None:
        """End the bar."""
