"""Tables whose files are written again from their cells."""

from contextlib import nullcontext
from pathlib import Path

from elmbench.execution.store import lock_tables
from elmbench.report.checks.checked_tables import checked_files, require_results
from elmbench.report.result_files import rewrite_results
from elmbench.results.folders import (
    FigureFormat,
    has_results,
)
from elmbench.specs.catalogue import Watch
from elmbench.specs.profiles import find_resolved, resolve


def update_tables(
    name: str | None,
    profile: str,
    results_dir: Path,
    watch: Watch = iter,
    figure_format: FigureFormat = "png",
) -> list[Path]:
    """Rewrite the files that follow from `cells.csv`; return the folders of the rewritten tables.

    They are `summary.csv`, `optimism.csv`, `claims.csv`, `table.md` and the figure. If there is a
    store, its tables are locked meanwhile. `name`: the id or alias of a table or comparison; None
    for all tables with results under the profile. `watch`: yields the tables that it is given, to
    show progress; it is not called for a named table. Raises NothingToCompareError if the named
    table has no results, or if no table has any.
    """
    # No run may replace the cells meanwhile. Without a store, as in a checkout, there is no run.
    has_store = (results_dir / ".store").is_dir()
    with lock_tables(results_dir) if has_store else nullcontext():
        if name is not None:
            table = find_resolved(name, profile, results_dir)
            require_results([table.file.id], table.profile, results_dir)
            results = rewrite_results(table, results_dir, figure_format)
            return [results.folder]
        files = checked_files(
            [], lambda file: has_results(results_dir, profile, file.id)
        )
        require_results([file.id for file in files], profile, results_dir)
        folders = []
        for file in watch(files):
            table = resolve(file, profile)
            results = rewrite_results(table, results_dir, figure_format)
            folders.append(results.folder)
        return folders
