"""Download one file: with progress, resumed where it was cut short, checked, and never half there."""

import contextlib
import hashlib
import http.client
import json
import os
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import lock_descriptor

from elmbench.errors import DataUnavailableError, ElmbenchError

TIMEOUT_SECONDS = 30.0
ATTEMPTS = 4
PAUSE_SECONDS = 0.5  # before the second attempt; doubled before each further one
_BLOCK = 1 << 16
MOST_BYTES = 20_000_000_000
MOST_SECONDS = 6 * 3600.0  # of one attempt
_DIGITS = 19

Progress = Callable[[str, int, int | None], None]  # (what, bytes so far, bytes in all where known)


@dataclass(frozen=True)
class Download:
    """A file that was downloaded whole."""

    path: Path
    sha256: str
    n_bytes: int


def download(url: str, folder: Path, *, sha256: str | None = None, progress: Progress | None = None) -> Download:
    """Download `url` into `folder`.

    What arrives is kept in a `.part` file beside a note of the version that the server named (`ETag` or
    `Last-Modified`). The next attempt, in this process or a later one, asks for the rest of that version, or starts
    anew where the server has no such thing. The file gets its name only when it is whole.

    Raises
    ------
    DataUnavailableError
        If the server cannot be reached, or fails time after time.
    ElmbenchError
        If there is no such file, or its checksum is not `sha256`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / _stem(url)
    with _part_file(folder, target.name) as part:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                _receive(url, part, progress)
                break
            except ElmbenchError:
                part.unlink(missing_ok=True)
                raise
            except (OSError, http.client.HTTPException) as error:
                reason = f"{url}: {_reason(error)}"
                if isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code not in (408, 429):
                    by_hand = "download it in a browser, then: elmbench data import NAME FILE"
                    raise ElmbenchError(reason, expected="the file", next_step=by_hand) from error
                if attempt == ATTEMPTS:
                    later = "try again later: what has arrived is kept and the rest is asked for"
                    reason = f"{reason} ({ATTEMPTS} attempts)"
                    raise DataUnavailableError(reason, expected="the file", next_step=later) from error
                time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
        digest, n_bytes = file_sha256(part)
        _note(part).unlink(missing_ok=True)
        if sha256 is not None and digest != sha256:
            part.unlink()
            raise other_checksum(url, digest, sha256)
        os.replace(part, target)
    return Download(target, digest, n_bytes)


def downloaded(url: str, folder: Path) -> Download | None:
    """Return the file that was downloaded from `url` before and left in `folder`, or None."""
    path = folder / _stem(url)
    return Download(path, *file_sha256(path)) if path.is_file() else None


def _stem(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:16]


def remote_size(url: str) -> int | None:
    """Return the bytes of the file at `url`, or None where the server does not tell."""
    for method in ("HEAD", "GET"):  # some servers refuse HEAD; of a GET only the head is read
        request = urllib.request.Request(url, method=method, headers=_HEADERS)
        try:
            with _open(request) as answer:
                if length := answer.headers.get("Content-Length"):
                    return int(length)
        except (OSError, http.client.HTTPException, ValueError, ElmbenchError):
            continue
    return None


def file_sha256(path: Path) -> tuple[str, int]:
    """Return the SHA-256 of a file, and its bytes."""
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
        return digest.hexdigest(), stream.tell()


_HEADERS = {"User-Agent": "elmbench", "Accept-Encoding": "identity"}


def _receive(url: str, part: Path, progress: Progress | None) -> None:
    """Append to `part` what is missing, or write it anew."""
    there = part.stat().st_size if part.exists() else 0
    version = _read_version(part) if there else None
    headers = _HEADERS | ({"Range": f"bytes={there}-", "If-Range": version} if version else {})
    given_up = time.monotonic() + MOST_SECONDS
    try:
        answer = _open(urllib.request.Request(url, headers=headers))
    except urllib.error.HTTPError as error:
        if error.code == 416 and version:  # nothing is left to ask for, or the file has shrunk
            part.unlink()
            _receive(url, part, progress)
            return
        raise
    with answer:
        resumed = answer.status == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {there}-")
        if answer.status == 206 and not (resumed and version):
            raise http.client.HTTPException("the server answers with a part of the file that was not asked for")
        start = there if resumed else 0
        length = answer.headers.get("Content-Length")
        if length is not None and not (length.isascii() and length.isdigit() and len(length) < _DIGITS):
            raise http.client.HTTPException(f"the server states {length[:50]!r} as the number of bytes")
        total = None if length is None else start + int(length)
        _refuse_more(url, total or 0)
        if not resumed:
            version = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
            version = None if (version or "").startswith("W/") else version  # weak: other bytes may have it too
            _note(part).write_text(json.dumps({"url": url, "version": version}))
        n_bytes = start
        with open(part, "ab" if resumed else "wb") as stream:
            while block := answer.read1(_BLOCK):  # what has come: a slow server is not waited for
                stream.write(block)
                stream.flush()
                n_bytes += len(block)
                _refuse_more(url, n_bytes)
                if time.monotonic() > given_up:
                    raise TimeoutError(f"more than {MOST_SECONDS:g} s")
                if progress:
                    progress(url, n_bytes, total)
            os.fsync(stream.fileno())
    if total is not None and n_bytes < total:
        raise http.client.IncompleteRead(b"", total - n_bytes)


def _open(request: urllib.request.Request) -> Any:
    """Ask a server, through the proxy where one is set, and follow it to other addresses that are as safe."""
    return urllib.request.build_opener(_SafeRedirects).open(request, timeout=TIMEOUT_SECONDS)


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a server to another address, but never from an encrypted one to one that is not."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if req.type == "https" and not newurl.lower().startswith("https:"):
            raise ElmbenchError(
                f"{req.full_url}: the server sends on to {newurl}, which is not encrypted",
                expected="an address that begins with https:",
                next_step="download it in a browser, then: elmbench data import NAME FILE",
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refuse_more(url: str, n_bytes: int) -> None:
    if n_bytes > MOST_BYTES:
        raise ElmbenchError(
            f"{url}: the file has more than {MOST_BYTES / 1e9:g} GB",
            expected="a data set of usual size",
            next_step="download it in a browser, then: elmbench data import NAME FILE",
        )


def other_checksum(url: str, found: str, expected: str) -> ElmbenchError:
    """Build the error for a file with another SHA-256 than expected."""
    return ElmbenchError(
        f"{url}: the file that arrived has the SHA-256 {found}",
        expected=expected,
        next_step="try again; if it stays so, the file was changed at its source",
    )


def _reason(error: Exception) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return f"the connection ended {error.expected} bytes before the end of the file"
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answers {error.code} ({error.reason})"
    return str(getattr(error, "reason", "") or error or type(error).__name__)


def _note(part: Path) -> Path:
    """Return the file beside `part` that says which version of the file has arrived so far."""
    return part.with_suffix(".json")


def _read_version(part: Path) -> str | None:
    try:
        version = json.loads(_note(part).read_text())["version"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return version if isinstance(version, str) else None


@contextlib.contextmanager
def _part_file(folder: Path, stem: str) -> Iterator[Path]:
    """Yield the `.part` file of a download: the shared one, or one of its own while another process has that."""
    lock = _lock(folder / f"{stem}.lock")
    if lock is not None:
        try:
            yield folder / f"{stem}.part"
        finally:
            os.close(lock)
        return
    part = folder / f".{stem}.{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)
        _note(part).unlink(missing_ok=True)


def _lock(path: Path) -> int | None:
    """Return a lock that ends with the process, however it ends; None if another process has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    with contextlib.suppress(OSError):
        if lock_descriptor(handle, blocking=False):
            return handle
    os.close(handle)
    return None
