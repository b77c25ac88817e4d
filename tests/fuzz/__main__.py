"""Feed targets with new inputs for some minutes each: `python tests/fuzz [TARGET ...]`, as `make fuzz` does.

Environment: `FUZZ_MINUTES`, for each target (10), and `SEED`. A target is fed in a process of its own. An input that
ends it, that it takes too long or too much memory for, or that raises what it should not, is made smaller by Hypothesis
where that is possible, and kept in `tests/fuzz/corpus/TARGET/`: `make test` feeds it again ever after.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import psutil
from fuzz_feeding import feed
from fuzz_targets import TARGETS
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky

CORPUS = Path(__file__).with_name("corpus")
#: Seconds of processor time, and bytes, that one input may take.
MOST_SECONDS, MOST_BYTES = 20.0, 1_000_000_000
#: A process hangs that has computed, or slept, for so many seconds over one input.
HANGS, SLEEPS = 60.0, 1800.0


class Expensive(Exception):
    """An input took too long or too much memory."""


class Find(Exception):
    """An input raised what it should not: its cause."""


def place_of(error: BaseException) -> str:
    """Return what tells one fault from another: the kind of an exception and the last line of the suite in it."""
    error = error.__cause__ if isinstance(error, Find) and error.__cause__ else error
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/elmbench/" in frame.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__} {where}"


def first_line(error: BaseException) -> str:
    """Return the beginning of what an exception says."""
    return (str(error).splitlines() or [""])[0][:200]


def fuzz(name: str, number: int, seconds: float, folder: Path, counted: multiprocessing.Queue[int]) -> None:
    """Feed a target for some time; each fault is kept once."""
    warnings.simplefilter("ignore")  # of strange numbers: they are no faults, and there are thousands
    known: set[str] = set()
    current, until, tried = folder / "current", time.monotonic() + seconds, 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def once(content: bytes) -> None:
        nonlocal peak, tried
        if time.monotonic() > until:
            return
        tried += 1
        current.write_bytes(content)
        started = time.process_time()
        try:
            feed(TARGETS[name], content, folder / "in")
            spent, now = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            grown, peak = 1024 * (now - peak), now
            if spent > MOST_SECONDS or grown > MOST_BYTES:
                raise Expensive(f"{spent:.0f} s, {grown / 1e6:.0f} MB")
        except Exception as error:
            if place_of(error) not in known:
                raise Find(first_line(error)) from error

    def run(turn: int) -> None:
        @seed(number + turn)
        @settings(
            max_examples=500,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(TARGETS[name].inputs())
        def fed(content: bytes) -> None:
            once(content)

        fed()

    turn = 0
    while time.monotonic() < until:
        turn += 1
        try:
            run(turn)
        # Flaky: what was raised the first time only, as a peak of memory is, or was not tried again as time was up.
        except (Find, Flaky) as error:
            known.add(place_of(error))
            kept = keep(name, current.read_bytes())
            print(f"{name}: {place_of(error)}: {first_line(error)} ({kept})", flush=True)
        except Exception:
            current.unlink(missing_ok=True)  # a fault of what makes the inputs, and of none of them
            raise
    counted.put(tried)


def keep(name: str, content: bytes) -> Path:
    """Keep an input in the corpus."""
    path = CORPUS / name / hashlib.sha256(content).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def main(names: list[str]) -> int:
    """Feed targets one after the other; return 1 where anything was found."""
    if unknown := [name for name in names if name not in TARGETS]:
        sys.exit(f"found {' '.join(unknown)}; expected some of {' '.join(TARGETS)}")
    os.environ.pop("ELMBENCH_DATA_DIR", None)
    seconds, number = 60 * float(os.environ.get("FUZZ_MINUTES", "10")), int(os.environ.get("SEED", time.time()))
    before = len(list(CORPUS.glob("*/*")))
    for name in names or list(TARGETS):
        with tempfile.TemporaryDirectory(prefix="elmbench-fuzz-") as folder:
            counted: multiprocessing.Queue[int] = multiprocessing.Queue()
            child = multiprocessing.Process(target=fuzz, args=(name, number, seconds, Path(folder), counted))
            child.start()
            watch(name, child, Path(folder) / "current")
            tried = counted.get() if child.exitcode == 0 else "?"
        print(f"{name}: {tried} inputs of seed {number}", flush=True)
    return int(len(list(CORPUS.glob("*/*"))) > before)


def watch(name: str, child: multiprocessing.Process, current: Path) -> None:
    """Wait for the end of a process; keep the input that ends it from outside, or at which it hangs."""
    seen, since = 0.0, (0.0, 0.0)
    while child.is_alive():
        child.join(1.0)
        with contextlib.suppress(OSError, psutil.Error):
            changed = current.stat().st_mtime
            now = sum(psutil.Process(child.pid).cpu_times()[:2]), time.monotonic()
            if changed != seen:
                seen, since = changed, now
            elif now[0] - since[0] > HANGS or now[1] - since[1] > SLEEPS:
                child.kill()
    if child.exitcode != 0 and current.exists():
        print(f"{name}: ended by {child.exitcode} ({keep(name, current.read_bytes())})", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
