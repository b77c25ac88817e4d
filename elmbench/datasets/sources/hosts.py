"""Whether a host can be reached: found out once a process, for all hosts at the same time, within seconds."""

import socket
import threading
import time
import urllib.request
from collections.abc import Iterable
from urllib.parse import urlsplit

CONNECT_SECONDS = 3.0
# Name resolution has no time limit of its own: a host that is not through by then counts as out of reach.
PROBE_SECONDS = 5.0

Host = tuple[str, int]
_reached: dict[Host, bool] = {}


def host_of(url: str) -> Host:
    """Return the host and port that a request for `url` connects to: those of the proxy where one is set."""
    parts = urlsplit(url)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        parts = urlsplit(proxy if "//" in proxy else f"//{proxy}")
        return parts.hostname or "", parts.port or 8080
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def reachable(url: str, others: Iterable[str] = ()) -> bool:
    """Return whether a connection to the host of `url` can be opened.

    The hosts of `others`, which may be asked for later, are tried at the same time, so that a closed network costs its
    waiting time once and not once a host.
    """
    wanted = host_of(url)
    if wanted not in _reached:
        hosts = {wanted, *(host_of(other) for other in others)} - set(_reached)
        # Daemons: one that hangs in name resolution must not keep the process alive.
        threads = [threading.Thread(target=_probe, args=(host,), daemon=True) for host in hosts]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + PROBE_SECONDS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        for host in hosts:
            _reached.setdefault(host, False)
    return _reached[wanted]


def _probe(host: Host) -> None:
    try:
        with socket.create_connection(host, timeout=CONNECT_SECONDS):
            _reached[host] = True
    except OSError:
        _reached[host] = False
