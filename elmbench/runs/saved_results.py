"""The results of earlier runs from Python, as data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import pandas as pd

from elmbench.errors import ElmbenchError, messages_for_python
from elmbench.files import RESULTS_DIR, real_path
from elmbench.report.table_results import Results, results_of_table
from elmbench.runs.user_specs import add_spec_dir
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.profiles import COMPARE, find_resolved

#: The first columns of the frames of several tables, before the columns of their files.
TABLE_NAMES = ["profile", "paper", "table"]


class SavedResults(Mapping[str, Results]):
    """The tables below a folder: a mapping by `profile/paper/table`, such as `fast/kos-elm/table4`.

    A table is read when it is used first.

    Parameters
    ----------
    folders : mapping of str to path
        The folder of each table.

    Attributes
    ----------
    cells, summary, claims, optimism : DataFrame
        The lines of all tables, with the columns profile, paper and table before those of the
        files.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders
        self._tables: dict[str, Results] = {}

    def __getitem__(self, name: str) -> Results:
        if name not in self._tables:
            self._tables[name] = _read(self._folders[name])
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)

    def __repr__(self) -> str:
        return (
            f"<tables: {', '.join(list(self)[:5])}{', ...' if len(self) > 5 else ''}>"
        )

    @cached_property
    def cells(self) -> pd.DataFrame:
        """The lines of the `cells.csv` of all tables.

        The columns `profile`, `paper` and `table` come first and name the table of each line.
        """
        return _join({name: table.cells for name, table in self.items()})

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The lines of the `summary.csv` of all tables.

        The columns `profile`, `paper` and `table` come first and name the table of each line.
        """
        return _join({name: table.summary for name, table in self.items()})

    @cached_property
    def claims(self) -> pd.DataFrame:
        """The lines of the `claims.csv` of all tables.

        The columns `profile`, `paper` and `table` come first and name the table of each line.
        """
        return _join({name: table.claims for name, table in self.items()})

    @cached_property
    def optimism(self) -> pd.DataFrame:
        """The lines of the `optimism.csv` of all tables.

        The columns `profile`, `paper` and `table` come first and name the table of each line.
        """
        return _join({name: table.optimism for name, table in self.items()})


def _read(folder: Path) -> Results:
    """Return the results of the table in a folder `RESULTS/PROFILE/PAPER/TABLE`.

    Raises ElmbenchError if this installation lacks the table, unless it is a comparison, or if its
    `cells.csv` is damaged.
    """
    results_dir = folder.parents[2]
    profile, paper, name = folder.parts[-3:]
    table = f"{paper}/{name}"
    if profile != COMPARE and table not in load_catalogue():
        raise ElmbenchError(
            f"{folder} holds {table}, which is not a table of this installation",
            expected="a table of the suite, or of your own spec_dirs",
            next_step='elmbench.read_results(..., spec_dirs=["FOLDER"])',
        )
    with messages_for_python():
        return results_of_table(find_resolved(table, profile, results_dir), results_dir)


def _join(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the lines of all frames as one, with the columns profile, paper and table in front.

    `frames`: {`profile/paper/table`: frame}, at least one; they may differ in columns, and a
    missing one is NaN. They are not changed, and the result has a new index.
    """
    named = []
    for name, lines in frames.items():
        frame = lines.copy()
        for position, part in enumerate(name.split("/")):
            frame.insert(position, TABLE_NAMES[position], part)
        named.append(frame)
    # Empty frames would change the types of columns.
    filled = [frame for frame in named if len(frame)]
    return pd.concat(filled or named[:1], ignore_index=True)


def read_results(
    folder: Path | str = RESULTS_DIR, *, spec_dirs: Sequence[Path | str] = ()
) -> SavedResults:
    """Return the tables that commands or `elmbench.run` have written below a folder.

    Each is as `elmbench table` shows it. Comparisons and merged tables are among them.

    Parameters
    ----------
    folder : path, default="elmbench-results"
        The folder of all results, that of a profile or of a paper, or that of a single table.
    spec_dirs : sequence of path
        Folders of your own data sets and tables.

    Returns
    -------
    SavedResults
        `cells`, `summary`, `claims` and `optimism` as data frames over all tables, and each
        table by its name.

    Raises
    ------
    ElmbenchError
        If there is no table below the folder. When a table is used: if it is not a table of
        this installation, or its `cells.csv` is damaged.

    Examples
    --------
    >>> results = read_results()  # doctest: +SKIP
    >>> mcc = results.summary.query("metric == 'mcc'")  # doctest: +SKIP
    >>> mcc.groupby(["table", "model"])["mean"].mean()  # doctest: +SKIP
    >>> results["fast/kos-elm/table4"].cells  # doctest: +SKIP
    """
    for spec_dir in spec_dirs:
        add_spec_dir(Path(spec_dir))
    top = real_path(folder)
    paths = (path.relative_to(top) for path in sorted(top.rglob("cells.csv")))
    folders = [
        top / path.parent
        for path in paths
        if not any(part.startswith(".") for part in path.parts)
    ]
    if not folders:
        problem = (
            f"{folder} holds no table" if top.is_dir() else f"{folder} is not a folder"
        )
        raise ElmbenchError(
            problem,
            expected="a folder of results with cells.csv",
            next_step="elmbench run table4",
        )
    # The profile, the paper and the table are the names of the folders.
    return SavedResults({"/".join(folder.parts[-3:]): folder for folder in folders})
