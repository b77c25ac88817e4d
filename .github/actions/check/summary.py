"""Print the verdicts of `elmbench check --against published --json` as Markdown.

Usage: summary.py VERDICTS.json OBJECTIONS.txt
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEADING = ("table", "metric", "verdict", "within the margin", "same order")


def rows_of(table: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each metric of a table; one row if none was judged."""
    for measure in table.get("measures", ()):
        values = measure["values"]
        order = measure["order"]
        yield (
            table["experiment"],
            measure["metric"],
            f"**{measure['verdict']}**{own_margin(measure)}",
            f"{values['within_margin']} of {values['n']} values",
            f"{order['same']} of {order['pairs']} pairs" if order else "",
        )
    if not table.get("measures"):
        counts = {name: number for name, number in table["verdicts"].items() if number}
        text = ", ".join(f"{number} {name}" for name, number in counts.items())
        yield (table["experiment"], "", table["verdict"] or "not judged", text, "")


def own_margin(measure: dict[str, Any]) -> str:
    """Return a remark on the margin of the project's file; empty if it is the standard one."""
    margin, standard = measure["margin"], measure["standard_margin"]
    return "" if margin == standard else f" (margin {margin:g}, not {standard:g})"


def summary(verdicts: str, objections: str) -> str:
    """Return the summary of the job."""
    lines = ["## Published tables", ""]
    tables = json.loads(verdicts) if verdicts.strip() else []
    if tables:
        lines.append(f"| {' | '.join(HEADING)} |")
        lines.append("|" + "---|" * len(HEADING))
        for table in tables:
            lines += [f"| {' | '.join(row)} |" for row in rows_of(table)]
    if objections.strip():
        lines += ["", "```", objections.strip(), "```"]
    return "\n".join(lines)


if __name__ == "__main__":
    print(summary(*(Path(name).read_text("utf-8") for name in sys.argv[1:3])))
