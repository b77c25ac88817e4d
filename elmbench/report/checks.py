"""Results of many tables compared with their baselines or with the published values."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from elmbench.errors import ElmbenchError
from elmbench.execution.store import lock_tables
from elmbench.judging.baseline import (
    compare_with_baseline,
    refuse_failures,
    update_baseline,
)
from elmbench.judging.claim_outcomes import ClaimOutcome
from elmbench.judging.verdict_words import VERDICTS
from elmbench.report.papers import (
    PaperResults,
    TableResults,
    papers_of,
    read_paper_table,
    without_ci,
)
from elmbench.report.result_files import rewrite_results
from elmbench.report.table_results import records
from elmbench.results.cells import read_cells
from elmbench.results.folders import (
    FigureFormat,
    ResultsDirs,
    has_results,
    results_folder,
)
from elmbench.specs.catalogue import Watch, find_experiment, is_project, load_catalogue
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.experiments import PROFILES
from elmbench.specs.profiles import find_resolved, resolve
from elmbench.tables import kind_of_table


class NothingToCompareError(ElmbenchError):
    """Nothing to compare: a check that compares nothing does not pass."""

    exit_code = 3


def _baseline(file: ExperimentFile) -> Path:
    """Return the path of an experiment's baseline."""
    return file.path.with_suffix(".baseline.csv")


def default_comparison(names: Sequence[str]) -> Literal["baseline", "published"]:
    """Return what tables are compared with if the user does not say it: with the published values
    in a project in which none of them has a baseline.
    """
    files = [find_experiment(name) for name in names] or list(load_catalogue().values())
    has_baseline = any(_baseline(file).is_file() for file in files)
    return "baseline" if has_baseline or not is_project() else "published"


def check_baselines(
    names: list[str], results_dir: Path, profile: str = "ci"
) -> dict[str, dict[str, Any]]:
    """Compare the cells of profile `ci` of the named tables with their baselines; by default, of
    all that have both.

    Raises NothingToCompareError if a named table has no baseline or no results, or if no table has
    both, and ElmbenchError for another profile.
    """
    if profile != "ci":
        problem = f"--profile {profile} has no baselines"
        words = " ".join([*names, "--against"])
        next_step = f"elmbench check {words} published --profile {profile}"
        raise ElmbenchError(
            problem,
            expected="profile ci, or a comparison with the paper",
            next_step=next_step,
        )
    files = _files(
        names,
        lambda file: (
            _baseline(file).is_file() and has_results(results_dir, "ci", file.id)
        ),
    )
    if lacking := [file.id for file in files if not _baseline(file).is_file()]:
        table = lacking[0]
        problem = f"{table} has no baseline"
        next_step = (
            f"elmbench run {table} --profile ci, then: elmbench baseline update {table}"
        )
        raise NothingToCompareError(
            problem,
            expected="experiments/PAPER/TABLE.baseline.csv",
            next_step=next_step,
        )
    compare = (
        f", or to compare with the paper: elmbench check {' '.join([*names, '--against'])} "
        "published"
    )
    _require_results([file.id for file in files], "ci", results_dir, compare)
    outcomes = {}
    for file in files:
        resolved = resolve(file, "ci")
        cells = read_cells(results_folder(results_dir, "ci", file.id) / "cells.csv")
        outcomes[file.id] = compare_with_baseline(
            cells, _baseline(file), kind_of_table(resolved).values()
        )
    return outcomes


def _files(
    names: Sequence[str], is_default: Callable[[ExperimentFile], bool]
) -> list[ExperimentFile]:
    """Return the experiments of these names; without names, all that are checked by default."""
    return [find_experiment(name) for name in names] or list(
        filter(is_default, load_catalogue().values())
    )


def _require_results(
    tables: list[str], profile: str, results_dir: Path, alternative: str = ""
) -> None:
    """Raise NothingToCompareError unless all of these tables, and at least one, have results."""
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
    """Return the error that no value of these tables, or of all results, was compared.

    `profile`: the profile of the first table's results, if there are tables.
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


def update_baselines(names: list[str], results_dir: Path) -> list[dict[str, Any]]:
    """Replace the baselines of tables by their cells of profile `ci`; return id, number of cells
    and path of each.

    If one of the tables has no cells or failed ones, no baseline changes.
    """
    files = [find_experiment(name) for name in names]
    cells = {
        file.id: read_cells(results_folder(results_dir, "ci", file.id) / "cells.csv")
        for file in files
    }
    for file in files:
        refuse_failures(cells[file.id], _baseline(file))
    return [
        {
            "experiment": file.id,
            "cells": update_baseline(cells[file.id], path := _baseline(file)),
            "file": str(path),
        }
        for file in files
    ]


def update_tables(
    name: str | None,
    profile: str,
    results_dir: Path,
    watch: Watch = iter,
    figure_format: FigureFormat = "png",
) -> list[Path]:
    """Rewrite the other files of a table or comparison, by default of all tables, from `cells.csv`;
    return the folders.

    Raises NothingToCompareError if the named table has no results, or if no table has any.
    """
    # No run may replace the cells meanwhile. Without a store, as in a checkout, there is no run.
    has_store = (results_dir / ".store").is_dir()
    with lock_tables(results_dir) if has_store else nullcontext():
        if name is not None:
            table = find_resolved(name, profile, results_dir)
            _require_results([table.file.id], table.profile, results_dir)
            results = rewrite_results(table, results_dir, figure_format)
            return [results.folder]
        files = _files([], lambda file: has_results(results_dir, profile, file.id))
        _require_results([file.id for file in files], profile, results_dir)
        folders = []
        for file in watch(files):
            table = resolve(file, profile)
            results = rewrite_results(table, results_dir, figure_format)
            folders.append(results.folder)
        return folders


def check_published(
    names: Sequence[str], profile: str | None, dirs: ResultsDirs, watch: Watch = iter
) -> list[PaperResults]:
    """Return the results of the named tables, or of all with results, which have the comparison
    with the papers.

    Only the default readings and the table's own selection count. `profile`: by default, all but
    `ci`, or `ci` if there are no results of another one.

    Raises NothingToCompareError if a named table has no results.
    """
    tables: list[TableResults] = []
    profiles = (profile,) if profile else PROFILES
    for file in watch(
        _files(names, lambda file: bool(dirs.profiles(file.id, profiles)))
    ):
        run = dirs.profiles(file.id, profiles)
        if not run:
            _require_results([file.id], profile or "fast", dirs.user)
        table = read_paper_table(file, without_ci(run), dirs)
        table.judge()
        tables.append(table)
    return papers_of(tables)


def published_record(papers: Iterable[PaperResults]) -> list[dict[str, Any]]:
    """Return the comparison of each table with its paper for JSON.

    `profile` and `metrics` come from the most faithful results.
    """
    return [
        _table_record(table, paper.claims) for paper in papers for table in paper.tables
    ]


def _table_record(
    table: TableResults, claims: Sequence[ClaimOutcome]
) -> dict[str, Any]:
    first = table.results[0]
    id = table.file.id
    main = table.main_verdict
    verdicts, facts = (
        {verdict: counts[verdict] for verdict in VERDICTS} for counts in table.counts
    )
    return {
        "experiment": id,
        "profile": first.resolved.profile,
        "folder": str(first.folder),
        "verdicts": verdicts,
        "facts": facts,
        "verdict": "" if main is None else main.state,
        "measures": [verdict.record() for verdict in table.table_verdicts],
        "values": records(table.published_values),
        "claims": [
            claim.record() | {"profile": claim.resolved.profile}
            for claim in claims
            if claim.table == id
        ],
        "missing_runs": records(table.missing_runs),
        "times": [asdict(agreement) for agreement in first.times],
    }
