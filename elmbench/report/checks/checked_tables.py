"""The tables that a check is about, and the error that they have nothing to compare."""

from collections.abc import Callable, Sequence
from pathlib import Path

from elmbench.errors import ElmbenchError
from elmbench.results.folders import (
    has_results,
)
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.experiment_file import ExperimentFile


class NothingToCompareError(ElmbenchError):
    """The error of a check that has nothing to compare, which must not pass; its exit code is 3."""

    exit_code = 3


def checked_files(
    names: Sequence[str], is_default: Callable[[ExperimentFile], bool]
) -> list[ExperimentFile]:
    """Return the experiments that a check is about, by id or alias.

    Without `names`, these are all of the catalogue for which `is_default` returns True, possibly
    none. Raises ElmbenchError for an unknown name.
    """
    return [find_experiment(name) for name in names] or list(
        filter(is_default, load_catalogue().values())
    )


def require_results(
    tables: list[str], profile: str, results_dir: Path, alternative: str = ""
) -> None:
    """Raise NothingToCompareError unless all of these tables, and at least one, have results.

    `tables`: ids. `results_dir`: the folder of results, in which they are searched for under
    `profile`. `alternative`: words that are appended to the next step of the message.
    """
    lacking = [
        table for table in tables if not has_results(results_dir, profile, table)
    ]
    if lacking or not tables:
        table, problem = (
            (lacking[0], f"{lacking[0]} has no")
            if lacking
            else ("--all", "no table has")
        )
        problem = f"{problem} results of profile {profile} in {results_dir}"
        next_step = f"elmbench run {table} --profile {profile}{alternative}"
        raise NothingToCompareError(
            problem, expected="those of an earlier run", next_step=next_step
        )


def nothing_compared(
    tables: Sequence[str], profile: str | None, results_dir: Path
) -> NothingToCompareError:
    """Return (not raise) the error that no published value was compared, though there are results.

    `tables`: the ids of the checked tables; empty for all results. `profile`: that of the first
    table's results, for the next step; None if there are no tables.
    """
    if tables:
        return NothingToCompareError(
            f"no published value of {', '.join(tables)} is compared",
            expected="values that get a verdict (not hyperparameters, sizes or times), and cells "
            "that ended ok",
            next_step=f"elmbench table {tables[0]} --profile {profile}",
        )
    next_step = f"elmbench run --all --profile {profile or 'fast'}, then check again"
    return NothingToCompareError(
        f"{results_dir} holds no result to compare",
        expected="results of an earlier run that ended ok",
        next_step=next_step,
    )
