"""The cells of a table, through all that reads them."""

import functools
import json
from pathlib import Path

from fuzz_inputs import Target, changed_bytes, changed_table
from hypothesis import strategies as st

from elmbench.errors import ElmbenchError
from elmbench.judging.baseline import compare_with_baseline
from elmbench.report.checks.baseline_check import check_baselines
from elmbench.report.checks.published_tables import check_published
from elmbench.report.table_results import Results, frame_json_dicts, results_of_table
from elmbench.report.writers.html import html
from elmbench.report.writers.latex import latex
from elmbench.report.writers.markdown import markdown
from elmbench.results.cells import read_cells
from elmbench.results.folders import ResultsDirs, results_folder
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.files import spec_root
from elmbench.specs.profiles import Resolved, resolve
from elmbench.tables import kind_of_table


@functools.cache
def baselines() -> dict[str, str]:
    """Return the baselines of the shipped tables: the cells of profile `ci`."""
    result = sorted((spec_root() / "experiments").glob("*/*.baseline.csv"))
    return {
        f"{path.parent.name}/{path.name.split('.')[0]}": path.read_text()
        for path in result
    }


@functools.cache
def resolved_table(name: str) -> Resolved:
    return resolve(find_experiment(name), "ci")


def feed_cells(content: bytes, folder: Path) -> None:
    """Pass cells to all of their readers; the first line names their table."""
    line, _, cells = content.partition(b"\n")
    name = line.decode("utf-8", "replace")
    if name not in baselines():
        raise ElmbenchError("no table")
    path = results_folder(folder, "ci", name) / "cells.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(cells)
    try:
        resolved = resolved_table(name)
        check_baselines([name], folder)
        check_published([name], "ci", ResultsDirs(folder))
        show(results_of_table(resolved, folder))
    except ElmbenchError:
        whole = path.with_name("whole.csv")
        whole.write_text(baselines()[name])
        # The same as the other side of a comparison.
        resolved = resolved_table(name)
        compare_with_baseline(read_cells(whole), path, kind_of_table(resolved).values())


def show(results: Results) -> None:
    """Write results in every form."""
    for text in (
        results.text,
        html(results.table),
        latex(results.table),
        markdown(results.table, ["a"]),
    ):
        assert isinstance(text, str)
    json.dumps(frame_json_dicts(results.summary))


def cells_inputs() -> st.SearchStrategy[bytes]:
    def of(name: str) -> st.SearchStrategy[bytes]:
        lines = baselines()[name].splitlines()
        text = "\n".join(lines[:15]) + "\n"
        result = changed_table([text, with_times(text)]) | changed_bytes(
            [text.encode()]
        )
        return result.map(lambda content: name.encode() + b"\n" + content)

    return st.sampled_from(sorted(baselines())).flatmap(of)


def with_times(text: str) -> str:
    """Return a baseline with the columns that only `cells.csv` has."""
    first, *rest = text.splitlines()
    extra = [
        ",fit_seconds,search_seconds,predict_seconds,reason",
        *([",0.5,,0.1,"] * len(rest)),
    ]
    return "".join(
        f"{line}{more}\n" for line, more in zip([first, *rest], extra, strict=True)
    )


TARGETS: dict[str, Target] = {"cells": Target(cells_inputs, feed_cells)}
