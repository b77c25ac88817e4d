"""Folders of results: the user's, and the committed ones."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from elmbench.errors import ElmbenchError, amount

#: The top of a checkout; in an installation, the folder of all packages.
_TOP = Path(__file__).resolve().parents[2]
#: The cells of a table, from which most of its other files follow.
CELLS = "cells.csv"
#: The permutation importance of the columns of a comparison.
IMPORTANCE = "importance.csv"
#: The origin of the numbers of a table.
ENVIRONMENT = "environment.json"
#: The picture of a table that has a figure.
PICTURE = "figure.png"
#: The formats of a picture.
FigureFormat = Literal["png", "svg", "pdf"]
FIGURE_FORMATS: tuple[FigureFormat, ...] = get_args(FigureFormat)
#: The names of the files of a table.
TABLE_FILES = (
    CELLS,
    "summary.csv",
    "optimism.csv",
    "claims.csv",
    "predictions.csv",
    "predictions.parquet",
    IMPORTANCE,
    ENVIRONMENT,
    "table.md",
    *(f"figure.{form}" for form in FIGURE_FORMATS),
    "figure.csv",
)


def results_folder(results_dir: Path, profile: str, experiment: str) -> Path:
    """Return the folder of a table: `<results-dir>/<profile>/<paper>/<table>`; it may not exist.

    `experiment`: the id of the table, `<paper>/<table>`.
    """
    return results_dir / profile / experiment


def has_results(results_dir: Path, profile: str, experiment: str) -> bool:
    """Return True if a results folder has a `cells.csv` of a table.

    `profile`: such as "fast". `experiment`: the id of the table, not an alias.
    """
    return (results_folder(results_dir, profile, experiment) / CELLS).is_file()


@dataclass(frozen=True)
class ResultsDirs:
    """The folders that tables are read from, the user's before the committed one."""

    user: Path
    committed: Path | None = None

    def find(self, profile: str, experiment: str) -> Path:
        """Return the first results folder that has results of a table; the user's if none has any.

        This is the whole results folder, not that of the table.
        """
        return next(iter(self._with_results(profile, experiment)), self.user)

    def profiles(self, experiment: str, profiles: Iterable[str]) -> list[str]:
        """Return those of `profiles` under which a table has results, in either folder.

        `experiment`: the id of the table.
        """
        return [name for name in profiles if self._with_results(name, experiment)]

    def _with_results(self, profile: str, experiment: str) -> list[Path]:
        """Return the results folders that have a `cells.csv` of a table, the user's first.

        `experiment`: the id of the table.
        """
        return [
            folder
            for folder in self.folders
            if has_results(folder, profile, experiment)
        ]

    @property
    def folders(self) -> list[Path]:
        """The user's folder, then the committed one if there is one."""
        return list(filter(None, (self.user, self.committed)))

    def origin(self, profile: str, experiment: str) -> str:
        """Return a line on the origin of the shown results of a table, for people.

        It says whether they are the user's or the committed ones, in which folder they are, and, if
        there are others or may be, by which command these are shown or computed.
        """
        results_dir = self.find(profile, experiment)
        folder = results_folder(results_dir, profile, experiment)
        if results_dir == self.committed:
            return (
                f"committed results, {folder}; your own: elmbench run {experiment} --profile "
                f"{profile}"
            )
        if self.committed is not None and has_results(
            self.committed, profile, experiment
        ):
            table = f"elmbench table {experiment} --profile {profile}"
            command = f"{table} --results-dir {self.committed}"
            return f"your results, {folder}, completed by committed ones; all of these: {command}"
        return f"your results, {folder}"

    def origins(self, tables: Mapping[str, Iterable[str]]) -> str:
        """Return a line with the numbers of tables with the user's and with committed results only.

        A table is the user's if it has results of the user under one of its profiles. There must be
        a committed folder. `tables`: {id of a table: the profiles whose results are shown}.
        """
        n_user = sum(
            self._is_of_user(table, profiles) for table, profiles in tables.items()
        )
        n_committed = len(tables) - n_user
        completed = ", completed by committed ones" if n_user else ""
        return (
            f"{amount(len(tables), 'table')}: "
            f"{n_user} with your results ({self.user}){completed}, "
            f"{n_committed} committed ({self.committed})"
        )

    def _is_of_user(self, experiment: str, profiles: Iterable[str]) -> bool:
        """Return True if the user's folder has results of a table under one of `profiles`."""
        return any(has_results(self.user, profile, experiment) for profile in profiles)


def check_not_results(
    outputs: Iterable[tuple[str, Path]], results_dirs: ResultsDirs
) -> None:
    """Raise ElmbenchError if a file to be written is one that holds results, by any link.

    `outputs`: (the option that names it, the path) of each file.
    """
    for option, output in outputs:
        for folder in results_dirs.folders:
            if _is_of_results(
                Path(os.path.realpath(output)), Path(os.path.realpath(folder))
            ):
                raise ElmbenchError(
                    f"{option} would write {output}, which is for the results in {folder}",
                    expected="a file that holds no results",
                    next_step=f"give {option} another name",
                )


def _is_of_results(path: Path, results_dir: Path) -> bool:
    """Return True if a path is that of results, which commands must not overwrite.

    It is in the store of the results folder, or is a file of one of its tables. Both paths must be
    absolute and without links.
    """
    if not path.is_relative_to(results_dir):
        return False
    parts = path.relative_to(results_dir).parts
    is_in_store = parts[:1] == (".store",)
    # A table has the folder <profile>/<paper>/<table>.
    is_of_table = len(parts) == 4 and parts[3] in TABLE_FILES
    return is_in_store or is_of_table


def committed_results() -> Path | None:
    """Return the folder `results` of the checkout that the code runs from.

    It is relative to the working folder if it is below it; None in an installation without a
    checkout.
    """
    folder = _TOP / "results"
    if not ((_TOP / "datasets.yaml").is_file() and folder.is_dir()):
        return None
    working_folder = Path.cwd()
    return (
        folder.relative_to(working_folder)
        if folder.is_relative_to(working_folder)
        else folder
    )
