"""A small web server on loopback: files with the faults of real servers, and answers in the form of
OpenML's API.
"""

import gzip
import hashlib
import io
import tarfile
import threading
import time
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Page:
    """The answer of a path.

    `failures`: this many requests are answered by 500 first. `cut`: this many bodies end after
    `cut_at` bytes although the head promises more. `pause`: seconds between blocks of 4096 bytes.
    """

    body: bytes
    status: int = 200
    failures: int = 0
    cut: int = 0
    cut_at: int = 100
    pause: float = 0.0
    length: bool = True
    gzipped: bool = False
    headers: dict[str, str] = field(default_factory=dict)


class Server(ThreadingHTTPServer):
    """Pages by path, and the requests that came, as (method, path)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, str]] = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def paths(self) -> list[str]:
        """The paths whose body was requested."""
        return [path for method, path in self.requests if method == "GET"]

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        self.server.requests.append((self.command, path))
        page = self.server.pages.get(path) or Page(b"<html>no</html>", status=404)
        if page.failures > 0:
            page.failures -= 1
            page = Page(b"<html>Oops", status=500)
        body, headers = page.body, page.headers
        if page.gzipped and "gzip" in self.headers.get("Accept-Encoding", ""):
            body, headers = gzip.compress(body), headers | {"Content-Encoding": "gzip"}
        self.send_response(page.status)
        for name, value in headers.items():
            self.send_header(name, value)
        if page.length:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if page.cut:
            page.cut -= 1
            body = body[: page.cut_at]
        step = 4096 if page.pause else max(1, len(body))
        for start in range(0, len(body) if self.command == "GET" else 0, step):
            try:
                self.wfile.write(body[start : start + step])
                self.wfile.flush()
            except OSError:  # the client has gone
                return
            time.sleep(page.pause)

    do_HEAD = do_GET

    def log_message(self, *_: Any) -> None:
        pass


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
        server.pages[path] = Page(
            parquet, headers={"Content-Type": "application/octet-stream"}
        )
        lines.append(f"<oml:parquet_url>{server.url}{path}</oml:parquet_url>")
    if target:
        lines.append(
            f"<oml:default_target_attribute>{target}</oml:default_target_attribute>"
        )
    lines += [more, f"<oml:status>{status}</oml:status>"]
    lines += [
        f"<oml:md5_checksum>{md5 or hashlib.md5(body).hexdigest()}</oml:md5_checksum>"
    ]
    lines += ["</oml:data_set_description>"]
    server.pages[f"{API}/data/{number}"] = Page(
        "".join(lines).encode(), gzipped=gzipped
    )
    for kind in ("features", "qualities"):
        empty = (
            f'<oml:data_{kind} xmlns:oml="http://openml.org/openml"></oml:data_{kind}>'
        )
        server.pages[f"{API}/data/{kind}/{number}"] = Page(
            empty.encode(), gzipped=gzipped
        )
    return page


def refuse_openml(server: Server, number: int, code: int, message: str) -> None:
    """Answer for a data set as OpenML does where it has none, or gives no access: status 412 and a
    number.
    """
    body = (
        '<oml:error xmlns:oml="http://openml.org/openml">'
        f"<oml:code>{code}</oml:code><oml:message>{message}</oml:message></oml:error>"
    )
    server.pages[f"{API}/data/{number}"] = Page(body.encode(), status=412)


def arff_text(names: list[str], kinds: list[str], rows: list[list[str]]) -> str:
    """Return the text of an ARFF file; `kinds` are NUMERIC or {a,b}."""
    head = [
        f"@ATTRIBUTE '{name}' {kind}" for name, kind in zip(names, kinds, strict=True)
    ]
    return (
        "\n".join(
            [
                "% from a test",
                "@RELATION rows",
                *head,
                "@DATA",
                *(",".join(row) for row in rows),
            ]
        )
        + "\n"
    )


def zip_bytes(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tar_bytes(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def toy(source: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the content of a `datasets.yaml` with one data set of this source."""
    shape = {"instances": 3, "features": 4, "classes": {-1: 2, 1: 1}}
    entry = {
        "title": "Toy",
        "task": "classification",
        "positive": [1],
        "shape": shape,
        "citation": "none",
    }
    return {"toy": {**entry, "sources": [source], **more}}
