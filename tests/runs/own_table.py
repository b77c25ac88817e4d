"""A table of a user in a folder of its own, run under profile `paper`."""

from pathlib import Path
from typing import Any

import elmbench
from elmbench.report.table_results import Results


def run_own_table(
    folder: Path, table: str, plugin: str = "", **options: Any
) -> Results:
    """Run a table, with the code of a plug-in file if there is some, and return its results.

    `options`: further arguments of `elmbench.run`.
    """
    plugins = []
    if plugin:
        plugins.append(folder / "plug.py")
        plugins[0].write_text(plugin)
    (folder / "mine.yaml").write_text(table)
    return elmbench.run(
        "own/mine",
        profile="paper",
        plugins=plugins,
        spec_dirs=[folder],
        results_dir=folder / "results",
        **options,
    )
