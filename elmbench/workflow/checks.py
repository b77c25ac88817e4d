"""Results of many tables compared with their baselines or with the published values."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.table import COMPARED, VERDICTS
from elmbench.reporting.baseline import BaselineCheck, compare_with_baseline, refuse_failures, update_baseline
from elmbench.reporting.cells import read_cells
from elmbench.reporting.figures import verdict_counts
from elmbench.reporting.folders import ResultsDirs, has_results, results_folder
from elmbench.reporting.joint import joint_record, self_test
from elmbench.reporting.papers import tested_claims
from elmbench.reporting.results import Results, read_results, records, rewrite_results
from elmbench.specs.catalogue import PROFILES, ExperimentFile, Watch, find_experiment, load_catalogue
from elmbench.specs.profiles import resolve


class NothingToCompareError(ElmbenchError):
    """Nothing to compare: a check that compares nothing does not pass."""

    exit_code = 3


def _baseline(file: ExperimentFile) -> Path:
    return file.path.parent / f"{file.spec.table}.baseline.csv"


def check_baselines(names: list[str], profile: str, results_dir: Path) -> dict[str, BaselineCheck]:
    """Compare the cells of the named tables, or of all that have results and a baseline, with their baselines.

    Raises NothingToCompareError if a named table has no baseline or no results, or if no table has both.
    """
    files = _files(names, lambda file: _baseline(file).is_file())
    if not names:
        # A table without results is no failure unless all of them lack results.
        files = [file for file in files if has_results(results_dir, profile, file.id)] or files
    lacking = [file.id for file in files if not _baseline(file).is_file()]
    if lacking or not files:
        table = lacking[0] if lacking else "table4"
        raise NothingToCompareError(
            f"{table} has no baseline" if lacking else "no table has a baseline",
            expected="experiments/PAPER/TABLE.baseline.csv",
            next_step=f"elmbench run {table} --profile ci, then: elmbench baseline update {table}",
        )
    outcomes = {}
    for file in files:
        resolved = resolve(file, profile)
        compare = f", or to compare with the paper: elmbench check {file.id} --against published"
        _require_results([file.id], profile, results_dir, compare)
        cells = read_cells(results_folder(results_dir, profile, file.id) / "cells.csv")
        outcomes[file.id] = compare_with_baseline(cells, _baseline(file), layout_of(resolved).values(resolved))
    return outcomes


def _files(names: list[str], otherwise: Callable[[ExperimentFile], bool]) -> list[ExperimentFile]:
    return [find_experiment(name) for name in names] or list(filter(otherwise, load_catalogue().values()))


def _require_results(tables: list[str], profile: str, results_dir: Path, otherwise: str = "") -> None:
    """Raise NothingToCompareError unless all of these tables, and at least one, have results."""
    lacking = [table for table in tables if not has_results(results_dir, profile, table)]
    if lacking or not tables:
        table, problem = (lacking[0], f"{lacking[0]} has no") if lacking else ("--all", "no table has")
        raise NothingToCompareError(
            f"{problem} results of profile {profile} in {results_dir}",
            expected="those of an earlier run",
            next_step=f"elmbench run {table} --profile {profile}{otherwise}",
        )


def update_baselines(names: list[str], results_dir: Path) -> dict[str, int]:
    """Make the cells of profile `ci` the baselines of tables, of all or of none; return the number of cells by id."""
    files = [find_experiment(name) for name in names]
    cells = {file.id: read_cells(results_folder(results_dir, "ci", file.id) / "cells.csv") for file in files}
    for file in files:
        refuse_failures(cells[file.id], _baseline(file))
    return {file.id: update_baseline(cells[file.id], _baseline(file)) for file in files}


def update_tables(names: list[str], profile: str, results_dir: Path, watch: Watch = iter) -> list[Path]:
    """Rewrite the other files of tables, by default of all, from their `cells.csv`; return the folders.

    Raises NothingToCompareError if a named table has no results, or if no table has any.
    """
    files = _files(names, lambda file: has_results(results_dir, profile, file.id))
    _require_results([file.id for file in files], profile, results_dir)
    return [rewrite_results(resolve(file, profile), results_dir).folder for file in watch(files)]


@dataclass(frozen=True)
class PublishedCheck:
    """The published figures of one table under one profile.

    `every_profile`: the results of all profiles from the same folder: a claim of the paper may need the data sets of
    another one. `claims`: a line of `claims.csv` for each claim of the paper about the table, with Holm's correction
    for all claims of the paper that were checked.
    """

    results: Results
    every_profile: list[Results]
    claims: list[dict[str, Any]]

    @property
    def experiment(self) -> str:
        """The id of the table."""
        return self.results.resolved.file.id

    @cached_property
    def figures(self) -> list[dict[str, Any]]:
        """A line of `summary.csv` for each figure that has a verdict."""
        return records(self.results.figures[self.results.figures["verdict"] != ""])

    @cached_property
    def verdicts(self) -> list[dict[str, int]]:
        """The number of figures with each verdict, and that of facts of data sets."""
        return [{verdict: counts[verdict] for verdict in VERDICTS} for counts in verdict_counts(self.figures)]

    @property
    def compared(self) -> int:
        """The number of figures and facts that are compared with our runs."""
        return sum(counts[verdict] for counts in self.verdicts for verdict in COMPARED)

    def record(self) -> dict[str, Any]:
        """Return the check for JSON."""
        joint, profile = joint_record(self.results.verdicts), self.results.resolved.profile
        figures = [one for one in self.results.compared if one.measure.metric == joint["metric"]]
        verdicts, facts = self.verdicts
        return {
            "experiment": self.experiment,
            "profile": profile,
            "folder": str(self.results.folder),
            "verdicts": verdicts,
            "facts": facts,
            "joint": joint | {"self_test": self_test(figures, self.experiment, profile)},
            "figures": self.figures,
            "claims": self.claims,
            "missing_runs": records(self.results.missing_runs),
            "metrics": [asdict(one) for one in self.results.agreements],
        }


def check_published(
    names: list[str], profile: str | None, dirs: ResultsDirs, watch: Watch = iter
) -> list[PublishedCheck]:
    """Compare the named tables, or all with results, with their published figures.

    Only the default readings and the table's own selection count. `profile`: by default, for each table the profile
    with results that is nearest to the printed protocol; a claim that it does not test counts under the next one.

    Raises NothingToCompareError if a named table has no results.
    """
    tables: list[list[Results]] = []
    wanted = (profile,) if profile else tuple(reversed(PROFILES))
    for file in watch(_files(names, lambda file: dirs.best_profile(file.id, wanted) is not None)):
        best = dirs.best_profile(file.id, wanted) or profile or "fast"
        resolved, results_dir = resolve(file, best), dirs.of(best, file.id)
        _require_results([file.id], best, results_dir)
        others = [name for name in wanted if name not in (best, "ci") and has_results(results_dir, name, file.id)]
        every = [resolved, *(resolve(file, name) for name in others)]
        tables.append([read_results(one, results_dir) for one in every])
    papers: defaultdict[str, list[Results]] = defaultdict(list)
    for results in tables:
        papers[results[0].resolved.file.paper.key] += results
    claims: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in (one for results in papers.values() for one in tested_claims(results)):
        claims[one.table].append(one.outcome.record() | {"profile": one.results.resolved.profile})
    return [PublishedCheck(results[0], results, claims[results[0].resolved.file.id]) for results in tables]
