"""`bench.json` and `bench.md`."""

import json
import re
from pathlib import Path

from benchmarks.measure import Record
from elmbench.execution.environment import describe_environment

#: Earlier ratios that a row keeps.
EARLIER = 4

#: Why a row misses its target, by its key: the table in docs/benchmark.md.
REASONS = dict(
    re.findall(
        r"^\| `([a-z-]+)` \| (.+)\. \|$",
        (Path(__file__).resolve().parents[1] / "docs" / "benchmark.md").read_text(
            "utf-8"
        ),
        re.MULTILINE,
    )
)


def environment_line() -> str:
    """Return the machine and the software in one line."""
    facts = describe_environment()
    packages = facts["packages"]
    names = ("numpy", "scipy", "scikit-learn", "numba")
    blas = sorted(
        {
            f"{e['internal_api']} {e['version']} ({e['architecture']})"
            for e in facts["blas"]
        }
    )
    parts = (
        f"elmbench {packages.get('elmbench')}, commit {facts['commit'] or 'unknown'}",
        f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gib']} GiB",
        facts["system"],
        f"Python {facts['python']}, "
        + ", ".join(f"{name} {packages.get(name)}" for name in names),
        ", ".join(blas) + ", one thread",
    )
    return "; ".join(parts)


def write_report(
    folder: Path, row: str, records: list[Record], environment: str, order: list[str]
) -> None:
    """Replace the earlier records of a row, and rewrite all files in the order of the keys."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "bench.json"
    stored = json.loads(path.read_text("utf-8")) if path.is_file() else []
    entries = [
        entry for entry in stored if entry["row"] != row and entry["row"] in order
    ]
    earlier = {
        (entry["name"], entry["against"]): entry
        for entry in stored
        if entry["row"] == row
    }
    for result in records:
        before = _ratios_before(
            environment, earlier.get((result["name"], result["against"]))
        )
        entries.append(
            {"row": row, "environment": environment, **result, "before": before}
        )
    entries.sort(key=lambda entry: order.index(entry["row"]))
    path.write_text(json.dumps(entries, indent=1, allow_nan=False) + "\n", "utf-8")
    (folder / "bench.md").write_text(markdown(entries), "utf-8")


def _ratios_before(environment: str, earlier: Record | None) -> list[Record]:
    """Return the ratios of a row under earlier commits, the latest first."""
    if earlier is None:
        return []
    commit, new = (
        re.search(r"commit (\w{1,7})", text)
        for text in (earlier["environment"], environment)
    )
    ratios: list[Record] = earlier.get("before", [])
    if (
        earlier["ratio"] is not None
        and commit is not None
        and (new is None or commit[1] != new[1])
    ):
        ratios = [{"commit": commit[1], "ratio": earlier["ratio"]}, *ratios]
    return ratios[:EARLIER]


def markdown(records: list[Record]) -> str:
    """Return the report as Markdown, of records as `bench.json` has them."""
    environments = dict.fromkeys(record["environment"] for record in records)
    with_target = [record for record in records if record["target"] is not None]
    return "\n".join(
        [
            "# Benchmark\n",
            "docs/benchmark.md explains the columns.\n",
            *(f"{environment}.\n" for environment in environments),
            f"Targets met: {sum(bool(record['met']) for record in with_target)} of "
            f"{len(with_target)}.\n",
            "## Against a target\n",
            _table(with_target),
            "## Others\n",
            _table([record for record in records if record["target"] is None]),
        ]
    )


_HEAD = (
    "| what | against | ratio | range | target | | elmbench, s | other side, s | scores | of bound "
    "| before |\n"
    "|---|---|--:|--:|--:|---|--:|--:|---|--:|---|\n"
)


def _table(records: list[Record]) -> str:
    notes = []
    for record in records:
        reason = REASONS.get(record["row"], "") if record["met"] is False else ""
        remarks = (
            record["skipped"],
            record["subset"],
            record["note"],
            reason and f"missed: {reason}",
        )
        if any(remarks):
            notes.append(f"\n- {record['name']}: {'; '.join(filter(None, remarks))}")
    return (
        _HEAD
        + "".join(f"{line(record)}\n" for record in records)
        + "".join(dict.fromkeys(notes))
        + "\n"
    )


def line(record: Record) -> str:
    """Return a record as a line of a Markdown table."""
    target = "" if record["target"] is None else f"{record['target']:g}"
    if record["skipped"]:
        cells = (
            f"{record['name']} | {record['against']} | - | | {target} | not measured"
        )
        return f"| {cells} | | | | | |"
    verdict = {None: "", True: "met", False: "**missed**"}[record["met"]]
    low, high = record["spread"]
    against = record["against"] + (", *extrapolated*" if record["subset"] else "")
    seconds = (record["cpu_seconds"], record["against_cpu_seconds"])
    ours, theirs = ("" if value is None else f"{value:.3g}" for value in seconds)
    choice = {None: "", True: "same choice", False: "**another choice**"}[
        record["same_choice"]
    ]
    difference = record["largest_difference"]
    share = "" if record["share"] is None else f"{record['share']:.2g}"
    before = ", ".join(
        f"{entry['ratio']:.3g} ({entry['commit']})"
        for entry in record.get("before", [])
    )
    scores = (
        ""
        if difference is None
        else "equal"
        if difference == 0
        else f"within {difference:.1g}"
    )
    return (
        f"| {record['name']} | {against} | {record['ratio']:.3g} | {low:.3g} to {high:.3g} | "
        f"{target} | {verdict} "
        f"| {ours} | {theirs} | {', '.join(filter(None, (choice, scores)))} | {share} | {before} |"
    )
