"""Downloads by pooch, with errors that name the next command."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from elmbench.errors import DataUnavailableError, ElmbenchError, first_line

#: Seconds to wait for a connection, and for each block of an answer.
TIMEOUT = (5.0, 30.0)

_HEADERS = {"User-Agent": "elmbench", "Accept-Encoding": "identity"}
#: Hosts that this process cannot reach, so that it waits for each only once.
_closed: set[str] = set()


@dataclass(frozen=True)
class FetchJob:
    """A download from one source."""

    #: Number of features of the public file.
    width: int
    #: Largest number of bytes of the unpacked rows.
    most: int
    #: Empty folder, which is deleted at the end; its parent has downloads that serve several data sets.
    folder: Path
    #: The rows will be compared with the fingerprint of the public file.
    has_fingerprint: bool = False
    #: Show a bar on the terminal.
    progress: bool = False

    def download(self, url: str, known_hash: str | None = None, shared: bool = False) -> Path:
        """Download a file unless it is there; an incomplete file has a temporary name.

        `known_hash`: the SHA-256 of the file, or another hash with its name, such as `md5:...`. Raises
        DataUnavailableError if the server fails, and ElmbenchError if there is no such file or it has another hash.
        """
        import pooch

        pooch.get_logger().setLevel("WARNING")
        downloader = pooch.HTTPDownloader(progressbar=self.progress, timeout=TIMEOUT, headers=_HEADERS)
        folder = self.folder.parent if shared else self.folder
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
        problem = f"{url}: the server answers {answer.status_code} ({answer.reason})"
        if answer.status_code >= 500 or answer.status_code in (408, 429):
            raise DataUnavailableError(problem, expected="the file", next_step="try again later") from error
        by_hand = "download it in a browser, then: elmbench data import NAME FILE"
        raise ElmbenchError(problem, expected="the file", next_step=by_hand) from error
    except requests.ConnectionError as error:  # also a timeout of the connection
        _closed.add(host)
        raise DataUnavailableError(f"{host} cannot be reached", expected="a network") from error
    except (requests.RequestException, OSError) as error:
        problem = f"{url}: {first_line(error)}"
        raise DataUnavailableError(problem, expected="the file", next_step="try again later") from error
