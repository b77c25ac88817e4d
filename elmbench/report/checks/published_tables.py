"""Tables with the comparison with their papers, also for JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from elmbench.judging.claim_outcomes import ClaimOutcome
from elmbench.judging.verdict_words import VERDICTS
from elmbench.report.checks.checked_tables import checked_files, require_results
from elmbench.report.papers import (
    PaperResults,
    TableResults,
    papers_of,
    read_paper_table,
    without_ci,
)
from elmbench.report.table_results import frame_json_dicts
from elmbench.results.folders import (
    ResultsDirs,
)
from elmbench.specs.catalogue import Watch
from elmbench.specs.experiments import PROFILES


def check_published(
    names: Sequence[str], profile: str | None, dirs: ResultsDirs, watch: Watch = iter
) -> list[PaperResults]:
    """Judge tables against their papers, and return them by paper.

    `names`: ids or aliases; all tables with results if empty, possibly none. `profile`: the only
    one to use; None for all profiles of a table but `ci`, or for `ci` if the table has no results
    of a different profile. `watch`: yields the tables that it is given, to show progress. Verdicts
    are on the default readings and the table's own selection. Raises ElmbenchError for an unknown
    name, and NothingToCompareError if a named table has no results of the profile.
    """
    tables: list[TableResults] = []
    profiles = (profile,) if profile else PROFILES
    for file in watch(
        checked_files(names, lambda file: bool(dirs.profiles(file.id, profiles)))
    ):
        run = dirs.profiles(file.id, profiles)
        if not run:
            require_results([file.id], profile or "fast", dirs.user)
        table = read_paper_table(file, without_ci(run), dirs)
        table.judged.judge()
        tables.append(table)
    return papers_of(tables)


def published_json_dicts(papers: Iterable[PaperResults]) -> list[dict[str, Any]]:
    """Return the comparison of each table with its paper as a dict for JSON, in a list.

    A dict has `experiment` (the id), `profile`, `folder`, `verdict` (on the main metric),
    `verdicts` and `facts` ({verdict: number}), and the lists of dicts `measures`, `values`,
    `claims`, `missing_runs` and `times`. `profile`, `folder` and `times` are those of the most
    faithful results of the table.
    """
    return [
        _table_json_dict(table, paper.judged.claims)
        for paper in papers
        for table in paper.tables
    ]


def _table_json_dict(
    table: TableResults, claims: Sequence[ClaimOutcome]
) -> dict[str, Any]:
    """Return the comparison of a table with its paper as a dict for JSON.

    Its keys are `experiment` (the id), `profile`, `folder`, `verdicts` and `facts` ({verdict:
    number}), `verdict` (on the main metric; empty without one), `measures`, `values`, `claims`,
    `missing_runs` and `times` (lists of dicts). `claims`: of the paper, of which those about the
    table are taken. The table must have results.
    """
    first = table.results[0]
    id = table.file.id
    judged = table.judged
    main = judged.main_verdict
    verdicts, facts = (
        {verdict: counts[verdict] for verdict in VERDICTS} for counts in judged.counts
    )
    return {
        "experiment": id,
        "profile": first.resolved.profile,
        "folder": str(first.folder),
        "verdicts": verdicts,
        "facts": facts,
        "verdict": "" if main is None else main.state,
        "measures": [verdict.to_json_dict() for verdict in judged.verdicts],
        "values": frame_json_dicts(judged.published_values),
        "claims": [
            claim.to_csv_dict() | {"profile": claim.resolved.profile}
            for claim in claims
            if claim.table == id
        ],
        "missing_runs": frame_json_dicts(judged.missing_runs),
        "times": [asdict(agreement) for agreement in first.judged.times],
    }
