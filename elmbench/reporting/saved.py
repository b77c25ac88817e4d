"""Results of earlier runs, read from their files as data frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.files import RESULTS_DIR, read_json
from elmbench.reporting import claim_outcomes
from elmbench.reporting.cells import read_cells, read_frame
from elmbench.reporting.summary import COLUMNS, GAINS

#: Columns of the frames of several tables, before those of their files.
TABLE_NAMES = ["profile", "paper", "table"]
#: Columns of text, empty if there is none.
_TEXT = (
    "dataset",
    "model",
    "metric",
    "select",
    "reading",
    "verdict",
    "ended",
    "remark",
    "than",
    "is",
    "test",
    "of",
)
#: Columns of whole numbers; some may be missing.
_WHOLE = ("n", "runs", "runs_to_tell")


def _read(path: Path, columns: list[str]) -> pd.DataFrame:
    """Return a file of results, with `columns` and no lines if it is missing."""
    if not path.is_file():
        return pd.DataFrame(columns=columns)
    try:
        return read_frame(path, _TEXT, _WHOLE)
    except (OSError, ValueError) as error:
        expected, command = "a file as it was written", "elmbench table --update"
        raise ElmbenchError(
            f"cannot read {path}: {error}", expected=expected, next_step=command
        ) from error


@dataclass(frozen=True)
class SavedTable:
    """The files of one table under one profile.

    Attributes
    ----------
    folder : path
        The folder of the files.
    cells : DataFrame
        One line for each cell: a model on a data set in one run and one outer fold. `params` is
        JSON.
    summary : DataFrame
        One line for each model, data set and metric: the mean beside the published value.
    claims, optimism : DataFrame
        Tested sentences of the paper, and the gains of a choice on the test folds; empty if the
        file is missing.
    figure : DataFrame or None
        The data of the picture, if the table has one.
    environment : dict
        Commands, versions, machine and checksums; empty if the file is missing.
    """

    folder: Path
    cells = cached_property(lambda table: read_cells(table.folder / "cells.csv"))
    summary = cached_property(lambda table: _read(table.folder / "summary.csv", COLUMNS))
    claims = cached_property(
        lambda table: _read(table.folder / "claims.csv", claim_outcomes.COLUMNS)
    )
    optimism = cached_property(lambda table: _read(table.folder / "optimism.csv", GAINS))
    environment = cached_property(lambda table: read_json(table.folder / "environment.json"))

    @cached_property
    def figure(self) -> pd.DataFrame | None:
        path = self.folder / "figure.csv"
        return _read(path, []) if path.is_file() else None


def _joined_frames(name: str) -> cached_property[pd.DataFrame]:
    """Return the property that joins the frames of this name of all tables."""

    def join(results: SavedResults) -> pd.DataFrame:
        frames = []
        for id, table in results.items():
            lines = getattr(table, name)
            names = pd.DataFrame(
                [id.split("/")] * len(lines), columns=TABLE_NAMES, index=lines.index
            )
            frames.append(pd.concat([names, lines], axis=1))
        return pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True)

    return cached_property(join)


class SavedResults(dict[str, SavedTable]):
    """The tables below a folder, by `profile/paper/table`, such as `fast/kos-elm/table4`.

    Attributes
    ----------
    cells, summary, claims, optimism : DataFrame
        The lines of all tables, with the columns profile, paper and table before those of the
        files.
    """

    cells = _joined_frames("cells")
    summary = _joined_frames("summary")
    claims = _joined_frames("claims")
    optimism = _joined_frames("optimism")

    def __repr__(self) -> str:
        return f"<tables: {', '.join(list(self)[:5])}{', ...' * (len(self) > 5)}>"


def read_results(folder: Path | str = RESULTS_DIR) -> SavedResults:
    """Return the tables that a run, `elmbench compare` or `elmbench merge` has written below a
    folder.

    Parameters
    ----------
    folder : path, default="elmbench-results"
        The folder of all results, that of a profile or of a paper, or that of a single table.

    Returns
    -------
    SavedResults
        `cells`, `summary`, `claims` and `optimism` as data frames over all tables, and each table
        by its name.

    Raises
    ------
    ElmbenchError
        If there is no table below the folder, or a file is damaged.

    Examples
    --------
    >>> results = read_results()  # doctest: +SKIP
    >>> mcc = results.summary.query("metric == 'mcc'")  # doctest: +SKIP
    >>> mcc.groupby(["table", "model"])["mean"].mean()  # doctest: +SKIP
    >>> results["fast/kos-elm/table4"].cells  # doctest: +SKIP
    """
    top = Path(folder).expanduser().resolve()
    paths = (path.relative_to(top) for path in sorted(top.rglob("cells.csv")))
    folders = [
        top / path.parent for path in paths if not any(part.startswith(".") for part in path.parts)
    ]
    if not folders:
        problem = f"{folder} holds no table" if top.is_dir() else f"{folder} is not a folder"
        raise ElmbenchError(
            problem, expected="a folder of results with cells.csv", next_step="elmbench run table4"
        )
    # The profile, the paper and the table are the names of the folders.
    return SavedResults({"/".join(folder.parts[-3:]): SavedTable(folder) for folder in folders})
