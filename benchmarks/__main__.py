"""The command: `python -m benchmarks [--trial] [--out FOLDER] [ROW ...]`, as `make bench` calls
it.
"""

import argparse
import sys
import time
import traceback
from pathlib import Path

from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.measure import Record, Run, make_record
from benchmarks.report import environment_line, line, write_report
from elmbench.files import RESULTS_DIR


def all_rows() -> dict[str, Run]:
    """Return every row in the order of the report."""
    from benchmarks import fits, own_data, packages, searches, suite

    return {
        key: run
        for module in (searches, suite, own_data, fits, packages)
        for key, run in module.ROWS.items()
    }


def main() -> None:
    """Measure the given rows, by default all, and write the report."""
    rows = all_rows()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=main.__doc__
    )
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"any of {', '.join(rows)}"
    )
    parser.add_argument(
        "--trial",
        action="store_true",
        help="small sizes, to see that it runs; no measurement",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="folder of bench.json and bench.md; of a trial, none by default",
    )
    options = parser.parse_args()
    unknown = [key for key in options.rows if key not in rows]
    if unknown:
        parser.error(f"unknown row {', '.join(unknown)}; known: {', '.join(rows)}")
    keys = options.rows or list(rows)
    folder = options.out or (None if options.trial else Path(RESULTS_DIR, "bench"))
    started = time.monotonic()
    with threadpool_limits(limits=1):
        threads = {
            entry["num_threads"]
            for entry in threadpool_info()
            if entry["user_api"] == "blas"
        }
        if threads != {1}:
            sys.exit(
                f"the linear algebra runs on {threads} threads, not one; set OPENBLAS_NUM_THREADS=1"
            )
        environment = environment_line()
        print(environment, flush=True)
        for number, key in enumerate(keys, 1):
            print(
                f"[{number}/{len(keys)}, {time.monotonic() - started:.0f} s] {key}",
                flush=True,
            )
            records = _records(key, rows[key], options.trial)
            for result in records:
                print(line(result), result["skipped"] or "", flush=True)
            if folder is not None:
                write_report(folder, key, records, environment, list(rows))
    print(f"{time.monotonic() - started:.0f} s in all", flush=True)


def _records(key: str, run: Run, trial: bool) -> list[Record]:
    """Return the records of a row, or one with the reason why it failed; trials have no target."""
    try:
        return [
            result | ({"target": None, "met": None} if trial else {})
            for result in run(trial)
        ]
    except Exception as error:  # noqa: BLE001 - the other rows are measured
        traceback.print_exc()
        return [
            make_record(key, "", skipped=f"failed: {type(error).__name__}: {error}")
        ]


if __name__ == "__main__":
    main()
