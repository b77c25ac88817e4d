"""Parts of pages that show verdicts: bars of counts, coloured cells, names of papers, intervals."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from elmbench.judging.claim_outcomes import ClaimOutcome
from elmbench.judging.table_verdicts import TableVerdict
from elmbench.judging.verdict_words import COMPARED, SIGNS
from elmbench.report.papers import PaperResults
from elmbench.report.table_results import Results
from elmbench.report.verdict_sentences import (
    STATE_SIGNS,
    distance_text,
    exceptions_words,
    order_text,
    slope_text,
)
from elmbench.specs.measures import Measure
from elmbench.specs.papers import Paper
from elmbench.tables.drawing import words_for
from elmbench.tables.result_table import Entry, Section

#: The sign of each verdict, and of a value without one.
ALL_SIGNS = SIGNS | {"not run": "○"}
#: The signs of verdicts on tables and on claims.
STATES = STATE_SIGNS | {"holds in part": "◐"}
#: A power, such as 2^-20 or (a - b)^2, whose exponent is a number.
_POWER = re.compile(r"(?<=\S)\^(-?\d+)")
#: Words in italics, as in "OSPVM *with mean update*".
_ITALICS = re.compile(r"(?<!\w)\*(\w[^*]*\w)\*(?!\w)")


@dataclass(frozen=True)
class Share:
    """A part of a bar: the published values with one verdict."""

    verdict: str
    sign: str
    n: int
    #: In percent of the bar.
    width: float


def shares_of(counts: Mapping[str, int]) -> list[Share]:
    """Return the parts of a bar of published values, in the order of `ALL_SIGNS`.

    `counts`: {verdict: number of values} with every verdict of `ALL_SIGNS`, also "not run".
    Verdicts without values have no part, so the list may be empty.
    """
    total = sum(counts[verdict] for verdict in ALL_SIGNS)
    return [
        Share(verdict, sign, counts[verdict], 100 * counts[verdict] / total)
        for verdict, sign in ALL_SIGNS.items()
        if counts[verdict]
    ]


def n_compared(counts: Mapping[str, int]) -> int:
    """Return the number of published values that are compared with our runs.

    `counts`: {verdict: number of values}; those with a verdict of `COMPARED` are added up.
    """
    return sum(counts[verdict] for verdict in COMPARED)


def short_name(paper: Paper) -> str:
    """Return the short name of a paper: its key in capitals, such as "EEM"."""
    return paper.key.upper()


def authors_of(paper: Paper) -> str:
    """Return the surnames of a paper's authors and its year, such as "Huang & Chen 2007".

    Three authors or more are "Huang et al. 2006". The paper must have authors.
    """
    authors = re.split(",| and ", paper.authors)
    surnames = [author.split()[-1] for author in authors if author.strip()]
    names = f"{surnames[0]} et al." if len(surnames) > 2 else " & ".join(surnames)
    return f"{names} {paper.year}"


def measure_cells(verdict: TableVerdict) -> list[dict[str, str]]:
    """Return a dict of texts for each of the measures values, order and differences.

    Its keys are `measure` (its name), `state` ("holds", ...), `sign` (of the state), `text` (its
    numbers; a dash without any) and `exceptions` (" but for SVM" or "; contradicted by SVM"; empty
    without any).
    """
    values = verdict.values
    texts = {
        "values": f"{distance_text(verdict)}, {values.within} of {values.n}",
        "order": order_text(verdict),
        "differences": slope_text(verdict.differences),
    }
    return [
        {
            "measure": name,
            "state": measure.state,
            "sign": STATE_SIGNS[measure.state],
            "text": texts[name],
            "exceptions": exceptions_words(measure),
        }
        for name, measure in verdict.measures.items()
    ]


def claim_state(parts: Sequence[ClaimOutcome]) -> str:
    """Return the state of a main claim, whose colour it gets, from the outcomes that test it.

    `parts`: these outcomes, at least one. It is "holds" or "does not hold" if all agree, "holds in
    part" if some hold and others do not. Else it is "undecided" or, if no outcome is decided or
    undecided, "nothing to compare".
    """
    verdicts = {part.verdict for part in parts}
    decided = verdicts & {"holds", "does not hold"}
    if len(decided) > 1:
        return "holds in part"
    if len(verdicts) == 1 and decided:
        return decided.pop()
    return "undecided" if decided or "undecided" in verdicts else "nothing to compare"


def tables_without_verdict(paper: PaperResults) -> Iterator[tuple[str, str]]:
    """Yield the link (address, label) of each table of a paper that has results, but no verdict."""
    judged = {table.file.id for table, _ in paper.main_verdicts}
    return (table.link for table in paper.run if table.file.id not in judged)


def interval_texts(
    results: Results, section: Section
) -> dict[tuple[str, str, str], str]:
    """Return the 95 % intervals of a section: {(data set, model, column of the measure): text}.

    A text is such as "0.91 to 0.93", with four significant digits. Values without an interval are
    missing.
    """
    reading = ";".join(map(str, section.readings))
    texts = {}
    for line in results.judged.lines:
        is_of_section = line.reading == reading and line.select == section.select
        if not is_of_section or line.low is None or line.high is None:
            continue
        value = (line.dataset, line.model, line.measure.column)
        texts[value] = f"{line.low:.4g} to {line.high:.4g}"
    return texts


def has_intervals(results: Results) -> bool:
    """Return True if some value of a table has a 95 % interval, under any reading and selection."""
    return any(line.low is not None for line in results.judged.lines)


def interval_text(entry: Entry, intervals: Mapping[tuple[str, str, str], str]) -> str:
    """Return the interval of an entry as text, such as "0.91 to 0.93"; empty without one.

    `intervals`: of the entry's section, from `interval_texts`.
    """
    return intervals.get((entry.dataset, entry.model, entry.measure.column), "")


def with_powers(text: str) -> Markup:
    """Return a text as escaped HTML, with powers raised and words between asterisks in italics.

    So 2^-20 has a raised -20, with a minus sign; a caret before anything other than a number stays.
    """
    raised = _POWER.sub(_raised, str(escape(text)))
    return Markup(_ITALICS.sub(r"<em>\1</em>", raised))


def _raised(match: re.Match[str]) -> str:
    """Return the exponent of a match of `_POWER` as raised HTML, with a minus sign for a hyphen."""
    return f"<sup>{match[1].replace('-', '−')}</sup>"


def measure_names(measures: Iterable[Measure]) -> list[str]:
    """Return the names of metrics in words, each once, in the order of `measures`.

    A metric at several values of a hyperparameter is its first name and the number of the others:
    "error at rows=100 and 4 more".
    """
    columns: dict[str, dict[str, None]] = {}
    for measure in measures:
        columns.setdefault(measure.metric, {})[measure.column] = None
    names = []
    for first, *others in columns.values():
        name = words_for(first)
        names.append(f"{name} and {len(others)} more" if others else name)
    return names
