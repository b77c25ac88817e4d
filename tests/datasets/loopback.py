"""A small web server on loopback: files with the faults of real servers, and answers in the form of OpenML's API."""

from __future__ import annotations

import gzip
import hashlib
import ssl
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: Of 127.0.0.1, signed by itself, with its key: nobody but these tests trusts it.
CERTIFICATE = Path(__file__).with_name("loopback.pem")


@dataclass
class Page:
    """What a path answers.

    `failures`: this many requests are answered by `failure` first. `cut`: this many bodies end after `cut_at` bytes
    although the head promises more. `pause`: seconds between blocks of 4096 bytes.
    """

    body: bytes
    status: int = 200
    failures: int = 0
    failure: int = 500
    cut: int = 0
    cut_at: int = 100
    pause: float = 0.0
    etag: str | None = "given by the body"
    ranges: bool = True
    length: bool = True
    head: bool = True
    gzipped: bool = False
    headers: dict[str, str] = field(default_factory=dict)


class Server:
    """Pages by path, and the requests that came, as (method, path, range)."""

    def __init__(self, encrypted: bool = False) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, str, str | None]] = []
        self.lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        if encrypted:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self._scheme = "https" if encrypted else "http"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}"

    def paths(self, method: str = "GET") -> list[str]:
        return [path for how, path, _ in self.requests if how == method]

    def ranges(self) -> list[str | None]:
        return [asked for how, _, asked in self.requests if how == "GET"]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer(with_body=True)

            def do_HEAD(self) -> None:
                self._answer(with_body=False)

            def log_message(self, *_: Any) -> None:
                pass

            def _answer(self, with_body: bool) -> None:
                path = self.path.split("?")[0]
                with server.lock:
                    server.requests.append((self.command, path, self.headers.get("Range")))
                    page = server.pages.get(path)
                    failing = page is not None and page.failures > 0 and with_body
                    cutting = page is not None and page.cut > 0 and with_body and not failing
                    if page is not None:
                        page.failures -= failing
                        page.cut -= cutting
                if page is None or (not with_body and not page.head):
                    self._send(404 if page is None else 405, b"<html>no</html>", {}, True, with_body)
                    return
                if failing:
                    self._send(page.failure, b"<html>Oops", {}, True, True)
                    return
                self._whole(page, with_body, page.cut_at if cutting else None)

            def _whole(self, page: Page, with_body: bool, cut_at: int | None) -> None:
                body, headers, status = page.body, dict(page.headers), page.status
                etag = page.etag
                if etag == "given by the body":
                    etag = f'"{hashlib.md5(body).hexdigest()}"'
                if etag:
                    headers["ETag"] = etag
                wanted = self.headers.get("Range")
                if wanted and page.ranges and self.headers.get("If-Range", etag) == etag:
                    start = int(wanted.removeprefix("bytes=").split("-")[0])
                    headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
                    body, status = body[start:], 206
                if page.gzipped and "gzip" in self.headers.get("Accept-Encoding", ""):
                    body = gzip.compress(body)
                    headers["Content-Encoding"] = "gzip"
                self._send(status, body, headers, page.length, with_body, cut_at, page.pause)

            def _send(
                self,
                status: int,
                body: bytes,
                headers: dict[str, str],
                length: bool,
                with_body: bool,
                cut_at: int | None = None,
                pause: float = 0.0,
            ) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if length:
                    self.send_header("Content-Length", str(len(body)))
                self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT") if "ETag" in headers else None
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                if not with_body:
                    return
                body = body if cut_at is None else body[:cut_at]
                for start in range(0, len(body), 4096 if pause else max(1, len(body))):
                    try:
                        self.wfile.write(body[start : start + 4096] if pause else body)
                        self.wfile.flush()
                    except OSError:  # the client has gone
                        return
                    time.sleep(pause)

        return Handler


API = "/api/v1/xml"


def add_openml(
    server: Server,
    number: int,
    arff: str,
    *,
    target: str | None = "class",
    parquet: bytes | None = None,
    status: str = "active",
    sparse: bool = False,
    md5: str | None = None,
    more: str = "",
    gzipped: bool = True,
) -> Page:
    """Answer for an OpenML data set as its server does; returns the page of its ARFF file."""
    body = arff.encode()
    page = Page(body, gzipped=gzipped)
    server.pages[f"/data/v1/download/{number}/rows.arff"] = page
    lines = [
        '<oml:data_set_description xmlns:oml="http://openml.org/openml">',
        f"<oml:id>{number}</oml:id><oml:name>rows-{number}</oml:name><oml:version>1</oml:version>",
        "<oml:description>Rows of a test.</oml:description>",
        f"<oml:format>{'Sparse_ARFF' if sparse else 'ARFF'}</oml:format><oml:licence>Public</oml:licence>",
        f"<oml:url>{server.url}/data/v1/download/{number}/rows.arff</oml:url>",
    ]
    if parquet is not None:
        path = f"/datasets/0000/{number:04}/dataset_{number}.pq"
        server.pages[path] = Page(parquet, headers={"Content-Type": "application/octet-stream"})
        lines.append(f"<oml:parquet_url>{server.url}{path}</oml:parquet_url>")
    if target:
        lines.append(f"<oml:default_target_attribute>{target}</oml:default_target_attribute>")
    lines += [more, f"<oml:status>{status}</oml:status>"]
    lines += [f"<oml:md5_checksum>{md5 or hashlib.md5(body).hexdigest()}</oml:md5_checksum>"]
    lines += ["</oml:data_set_description>"]
    server.pages[f"{API}/data/{number}"] = Page("".join(lines).encode(), gzipped=gzipped)
    features = '<oml:data_features xmlns:oml="http://openml.org/openml"></oml:data_features>'
    server.pages[f"{API}/data/features/{number}"] = Page(features.encode(), gzipped=gzipped)
    qualities = '<oml:data_qualities xmlns:oml="http://openml.org/openml"></oml:data_qualities>'
    server.pages[f"{API}/data/qualities/{number}"] = Page(qualities.encode(), gzipped=gzipped)
    return page


def refuse_openml(server: Server, number: int, code: int, message: str) -> None:
    """Answer for a data set as OpenML does where it has none, or gives no access: status 412 and a number."""
    body = (
        '<oml:error xmlns:oml="http://openml.org/openml">'
        f"<oml:code>{code}</oml:code><oml:message>{message}</oml:message></oml:error>"
    )
    server.pages[f"{API}/data/{number}"] = Page(body.encode(), status=412)


def arff_text(names: list[str], kinds: list[str], rows: list[list[str]]) -> str:
    """Return the text of an ARFF file; `kinds` are NUMERIC or {a,b}."""
    head = [f"@ATTRIBUTE '{name}' {kind}" for name, kind in zip(names, kinds, strict=True)]
    return "\n".join(["% from a test", "@RELATION rows", *head, "@DATA", *(",".join(row) for row in rows)]) + "\n"
