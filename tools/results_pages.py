"""Write the committed results into `README.md`, `docs/` and `experiments/outcomes.csv`: `make
pages`.

The prose of the pages is written by hand. Blocks between `<!-- make pages: NAME ... -->` and
`<!-- end -->` are made from the results (see `elmbench.report.documents`).
"""

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import pandas as pd

from elmbench.files import write_atomically
from elmbench.report.documents import fill_document, update_documents
from elmbench.report.papers import PaperResults, TableResults
from elmbench.report.result_blocks import ResultBlocks
from elmbench.report.table_results import Results
from elmbench.report.writers.markdown import pipe_rows
from elmbench.results.cells import TIMES
from elmbench.results.folders import ResultsDirs
from elmbench.specs.outcomes import Outcome, outcomes_text
from tools.result_versions import versions_text
from tools.table_picture import PICTURE, picture_of

TOP = Path(__file__).parents[1]
PAGES = [
    TOP / "README.md",
    TOP / "docs/getting-started.md",
    TOP / "docs/results.md",
    TOP / "docs/trust.md",
    TOP / "docs/print-checks.md",
    *sorted((TOP / "docs/results").glob("*.md")),
]
OUTCOMES = TOP / "experiments/outcomes.csv"
#: The command that the blocks of these pages name.
COMMAND = "make pages"
_RESULTS = TOP / "results"


class SuiteBlocks(ResultBlocks):
    """The blocks of the suite's own pages."""

    names: ClassVar[tuple[str, ...]] = (*ResultBlocks.names, "kernels", "versions")

    def kernels(self) -> str:
        """Return the values of profile `ci` that differ between the kernels of OpenBLAS, by
        table.
        """
        frame = pd.read_csv(_RESULTS / "kernels" / "kernels.csv")
        names = list(dict.fromkeys(frame["kernel"]))
        differ_columns = [f"differ, {name}" for name in names]
        rows = [["table", "values", *differ_columns, "largest difference"]]
        for table, lines in [*frame.groupby("table", sort=False), ("all", frame)]:
            by_kernel = lines.groupby("kernel")
            cells = by_kernel["cells"].sum()
            differ = by_kernel["differ"].sum()
            if cells.max():
                counts = (str(differ[name]) for name in names)
                largest = f"{lines['largest'].max():.1g}"
                rows.append([str(table), str(cells.max()), *counts, largest])
        return pipe_rows(rows)

    def versions(self) -> str:
        """Return the versions of elmbench and of the models that computed the results."""
        return versions_text(_RESULTS)


#: The blocks that are made from the committed results, which are read once.
BLOCKS = SuiteBlocks(ResultsDirs(_RESULTS))


def render(text: str) -> str:
    """Return a page with its blocks made from the results."""
    return fill_document(text, BLOCKS, COMMAND)


def outcomes_of(papers: Iterable[PaperResults]) -> list[Outcome]:
    """Return the outcome of each table of some papers."""
    return [_outcome_of(table) for paper in papers for table in paper.tables]


def _outcome_of(table: TableResults) -> Outcome:
    """Return the verdict on a table and its duration."""
    fast = (results for results in table.results if results.resolved.profile == "fast")
    verdict = table.judged.main_verdict
    return Outcome(
        experiment=table.file.id,
        verdict="" if verdict is None else verdict.state,
        seconds=next(map(_seconds_of, fast), None),
    )


def _seconds_of(results: Results) -> float | None:
    """Return the seconds of the planned runs under the default readings, to two digits; None if no
    cell has run.
    """
    cells = results.cells
    planned = cells["dataset"].map(results.resolved.spec.protocol.outer.runs_of)
    default = cells[(cells["reading"] == "") & (cells["run"] < planned)]
    if (default["status"] == "unavailable").all():
        return None
    times = [name for name in TIMES if name in default]
    return float(f"{default[times].sum().sum():.2g}")


def render_picture() -> str:
    """Return the picture of a printed table beside our rerun."""
    return picture_of(BLOCKS.table_results("kos-elm/table4", "fast"), "mcc")


if __name__ == "__main__":
    ArgumentParser(description=__doc__).parse_args()
    outcomes = outcomes_of(BLOCKS.all_papers())
    write_atomically(OUTCOMES, outcomes_text(outcomes))
    write_atomically(PICTURE, render_picture())
    for path in (OUTCOMES, PICTURE, *update_documents(PAGES, BLOCKS, COMMAND)):
        print(path.relative_to(TOP))
