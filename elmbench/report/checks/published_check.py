"""The comparison of tables with their papers as `elmbench check` prints it.

A check is JSON-able, so that the cache keeps it: nothing is judged again while results,
specifications and code stay as they are.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from elmbench.report.cache import ReportCache
from elmbench.report.printed_blocks import Block
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import Watch

if TYPE_CHECKING:
    from elmbench.report.papers import PaperResults


@dataclass(frozen=True, kw_only=True)
class PublishedCheck:
    """The comparison of some tables with their papers.

    Attributes
    ----------
    blocks : sequence of Block
        The text of the comparison; empty if there are `json_dicts`.
    json_dicts : list of dict or None
        The content of the comparison for JSON, a dict for each table (see `published_json_dicts`);
        None unless it was requested.
    origins : str
        The line on the folders of the results; empty if there is one folder.
    tables : sequence of str
        The ids of the tables.
    profile : str
        The most faithful profile of the first table; empty without tables.
    compared : int
        The number of compared values.
    objections : sequence of str
        A sentence on each table whose verdict says no, and each expectation that does not hold.
    strict_code : int
        The exit code of a strict check: 1 with an objection, 3 if nothing was decided, else 0.
    """

    blocks: Sequence[Block] = ()
    json_dicts: list[dict[str, Any]] | None = None
    origins: str = ""
    tables: Sequence[str] = ()
    profile: str = ""
    compared: int = 0
    objections: Sequence[str] = ()
    strict_code: int = 0


def recall_check(
    names: Sequence[str],
    profile: str | None,
    dirs: ResultsDirs,
    watch: Watch = iter,
    *,
    as_json: bool = False,
) -> PublishedCheck:
    """Return the comparison of tables with their papers, from the cache if it has it.

    `names`: ids or aliases; all tables with results if empty. `profile`: the only one to use; None
    for all profiles of a table but `ci`, or for `ci` if the table has no results of a different
    profile. `watch`: yields the tables that it is given, to show progress; it is not called if the
    cache has the comparison. `as_json`: make the dicts for JSON, with no blocks; else the blocks
    of text, and no dicts. A comparison with warnings, or without compared values, is not cached.
    Raises ElmbenchError for an unknown name, and NothingToCompareError if a named table has no
    results of the profile.
    """

    def make() -> str | None:
        """Append the comparison as JSON to `texts`; return it, None if it is not to be cached."""
        # Only here, since pandas takes half a second to import.
        from elmbench.report.checks.published_tables import check_published

        papers = check_published(names, profile, dirs, watch)
        check = published_check(papers, dirs, as_json=as_json)
        texts.append(json.dumps(asdict(check), default=_json_value))
        has_warnings = any(
            results.left_out for paper in papers for results in paper.results
        )
        # A cached comparison would repeat neither warnings nor errors.
        return None if has_warnings or not check.compared else texts[0]

    texts: list[str] = []
    question = json.dumps([[*names], profile, as_json])
    cached = ReportCache(dirs).text(question, make)
    return _check_from_json(json.loads(texts[0] if cached is None else cached))


def published_check(
    papers: Sequence["PaperResults"], dirs: ResultsDirs, *, as_json: bool = False
) -> PublishedCheck:
    """Return the comparison of tables with their papers, from results that were read before.

    `papers`: from `check_published`. `dirs`: the folders that they were read from, for the line on
    the origins. `as_json`: make the dicts for JSON (`json_dicts`), without blocks; else make the
    blocks of text (`blocks`), and `json_dicts` is None. Without papers, there are no blocks.
    """
    from elmbench.judging.expectations import check_strictly
    from elmbench.judging.verdict_words import COMPARED
    from elmbench.report.checks.published_tables import published_json_dicts
    from elmbench.report.checks.text_blocks import check_blocks

    tables = [table for paper in papers for table in paper.tables]
    profiles = {
        table.file.id: [results.resolved.profile for results in table.results]
        for table in tables
    }
    outcome = check_strictly(paper.judged for paper in papers)
    return PublishedCheck(
        blocks=() if as_json or not papers else check_blocks(papers),
        json_dicts=published_json_dicts(papers) if as_json else None,
        origins="" if dirs.committed is None else dirs.origins(profiles),
        tables=[*profiles],
        profile=profiles[tables[0].file.id][0] if tables else "",
        compared=sum(
            counts[name]
            for table in tables
            for counts in table.judged.counts
            for name in COMPARED
        ),
        objections=outcome.objections,
        strict_code=outcome.exit_code,
    )


def _check_from_json(fields: Mapping[str, Any]) -> PublishedCheck:
    """Return a check from the object of its JSON: {field: value}, with blocks as dicts."""
    blocks = [Block(**block) for block in fields["blocks"]]
    return PublishedCheck(**{**fields, "blocks": blocks})


def _json_value(value: Any) -> Any:
    """Return a Decimal as a float, any other value as text: for values that JSON cannot encode."""
    return float(value) if isinstance(value, Decimal) else str(value)
