"""Measure what the kernels of OpenBLAS change in the results: `python -m tools.blas_kernels`.

Profile `ci` is run with each kernel that this processor can execute, and its cells are compared
with those of the first one. The outcome is `results/kernels/kernels.csv`, which docs/trust.md
shows.
"""

import os
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from elmbench.results.cells import CELL_NAMES, read_cells, write_frame
from elmbench.results.folders import has_results, results_folder
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.measures import UNJUDGED
from elmbench.specs.profiles import resolve
from elmbench.tables import kind_of_table

#: Kernels of x86 by the width of their vectors: 512, 256 with and without fused multiply-add, and
#: 128 bits.
KERNELS = ("SkylakeX", "Haswell", "Sandybridge", "Nehalem")
OUTCOME = Path(__file__).parents[1] / "results" / "kernels" / "kernels.csv"
#: Relative differences up to this are round-off.
ROUND_OFF = 1e-6


def compare(folder: Path, first: Path, kernel: str) -> list[dict[str, object]]:
    """Return a line for each table and judged measure with the cells that differ between two
    results folders.
    """
    lines: list[dict[str, object]] = []
    for file in load_catalogue().values():
        if not has_results(folder, "ci", file.id):
            continue
        ours, theirs = (
            read_cells(results_folder(where, "ci", file.id) / "cells.csv").set_index(
                CELL_NAMES
            )
            for where in (folder, first)
        )
        resolved = resolve(file, "ci")
        for measure in kind_of_table(resolved).values():
            if measure.metric in UNJUDGED:
                continue
            pair = (
                pd.concat([ours[measure.column], theirs[measure.column]], axis=1)
                .dropna()
                .astype(float)
                .to_numpy()
            )
            apart = np.abs(pair[:, 0] - pair[:, 1])
            differ = apart > ROUND_OFF * np.abs(pair).max(axis=1, initial=0)
            line = {
                "table": file.id,
                "kernel": kernel,
                "metric": measure.metric,
                "cells": len(pair),
            }
            lines.append(
                line
                | {"differ": int(differ.sum()), "largest": float(apart.max(initial=0))}
            )
    return lines


def main() -> None:
    """Run profile `ci` with each kernel and write the differences."""
    ArgumentParser(description=__doc__).parse_args()
    lines = []
    with TemporaryDirectory() as root:
        folders = {kernel: Path(root) / kernel for kernel in KERNELS}
        for kernel, folder in folders.items():
            command = [
                sys.executable,
                "-m",
                "elmbench",
                "--results-dir",
                str(folder),
                "-q",
                "run",
                "--all",
            ]
            threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
            environment = os.environ | threads | {"OPENBLAS_CORETYPE": kernel}
            subprocess.run(
                [*command, "--profile", "ci"],
                env=environment,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            lines += (
                compare(folder, folders[KERNELS[0]], kernel)
                if kernel != KERNELS[0]
                else []
            )
    frame = pd.DataFrame(lines).groupby(
        ["table", "kernel", "metric"], sort=False, as_index=False
    )
    write_frame(frame.agg({"cells": "sum", "differ": "sum", "largest": "max"}), OUTCOME)


if __name__ == "__main__":
    main()
