"""Write the figures in `docs/results.md`, `docs/trust.md` and `docs/results/` from the committed
results: `make pages`.

The prose of the pages is written by hand. The text between `<!-- make pages: BLOCK ... -->` and
`<!-- end -->` is replaced by the output of one of the functions in `BLOCKS`, which gets the words
after its name as arguments.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd

from elmbench.files import write_atomically
from elmbench.judging.distortions import (
    KINDS,
    count_accepted_own_runs,
    count_noticed_distortions,
)
from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.published_values import count_own_runs_inside
from elmbench.judging.table_measures import rows_of as measured_rows
from elmbench.judging.table_verdicts import TableVerdict
from elmbench.judging.verdict_words import SIGNS, VERDICTS
from elmbench.report.build_site import gather_papers
from elmbench.report.papers import PaperResults, TableResults
from elmbench.report.print_checks import check_prints, summary_text
from elmbench.report.results import Results
from elmbench.report.verdict_sentences import (
    STATE_SIGNS,
    distance_text,
    order_text,
    slope_text,
    state_text,
)
from elmbench.report.writers.markdown import literal, pipe_rows
from elmbench.report.writers.text import as_text, table_text
from elmbench.results.cells import TIMES
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.outcomes import Outcome, outcomes_text
from tools.table_picture import PICTURE, picture_of

TOP = Path(__file__).parents[1]
PAGES = [
    TOP / "README.md",
    TOP / "docs/getting-started.md",
    TOP / "docs/results.md",
    TOP / "docs/trust.md",
    TOP / "docs/print-checks.md",
    *sorted((TOP / "docs/results").glob("*.md")),
]
OUTCOMES = TOP / "experiments/outcomes.csv"
#: Tables with fewer compared values are not distorted.
FEWEST_VALUES = 5
_RESULTS = TOP / "results"
#: The verdicts on tables, as words after their number.
_TABLE_WORDS = {
    "holds": "hold",
    "holds in part": "in part",
    "does not hold": "do not",
    "undecided": "undecided",
}
_BLOCK = re.compile(r"^<!-- make pages: (.+?) -->$.*?^<!-- end -->$", flags=re.M | re.S)


@cache
def _gathered(paper: str) -> PaperResults:
    (results,) = gather_papers(
        ResultsDirs(_RESULTS),
        lambda files: [file for file in files if file.spec.paper == paper],
    )
    return results


def _all_gathered() -> list[PaperResults]:
    return [
        _gathered(paper)
        for paper in dict.fromkeys(
            file.spec.paper for file in load_catalogue().values()
        )
    ]


def answer(paper: str) -> str:
    """Return the sentence on a whole paper, then those on its tables."""
    results = _gathered(paper)
    first, *details = results.sentences
    lines = [f"**{first}**", ""]
    if results.in_short:
        lines += [" ".join(results.in_short), ""]
    return "\n".join(lines + [f"- {sentence}" for sentence in details])


def in_short(folder: str = "results") -> str:
    """Return whether each paper holds in a few sentences, with a link to its page in a folder."""
    return "\n".join(
        f"- [{paper.paper.name}]({folder}/{paper.paper.key}.md): {' '.join(paper.in_short)}"
        for paper in _all_gathered()
        if paper.in_short
    )


def answers(folder: str = "results") -> str:
    """Return the sentence on each paper, with a link to its page in a folder."""
    sentences = {
        paper.paper.key: paper.sentences for paper in _all_gathered() if paper.sentences
    }
    return "\n".join(
        f"- [{paper.upper()}]({folder}/{paper}.md): {first}"
        for paper, (first, *_) in sentences.items()
    )


def grid(folder: str = "results") -> str:
    """Return a line for each paper: its tables by verdict, its values, its order and its page."""
    rows = [
        [
            "paper",
            "tables",
            "values within the margin",
            "pairs in the printed order",
            "page",
        ]
    ]
    for paper in _all_gathered():
        verdicts = [verdict for _, verdict in paper.main_verdicts]
        key = paper.paper.key
        page = f"[{key.upper()}]({folder}/{key}.md)"
        if not verdicts:
            rows.append([paper.paper.title, "no printed value at hand", "–", "–", page])
            continue
        states = Counter[str](verdict.state for verdict in verdicts)
        tables = ", ".join(
            f"{STATE_SIGNS.get(state, '◐')} {states[state]} {words}"
            for state, words in _TABLE_WORDS.items()
            if states[state]
        )
        within = sum(verdict.values.within for verdict in verdicts)
        same = sum(verdict.order.same for verdict in verdicts)
        decided = same + sum(verdict.order.opposite for verdict in verdicts)
        values = _of(within, sum(verdict.values.n for verdict in verdicts))
        rows.append([paper.paper.title, tables, values, _of(same, decided), page])
    return pipe_rows(rows)


def findings(paper: str) -> str:
    """Return the findings of the committed results about a paper."""
    return "\n\n".join(
        f"**{finding.title}.** {' '.join(finding.evidence)}"
        for finding, _ in _gathered(paper).findings
    )


def verdicts(paper: str) -> str:
    """Return the number of figures with each verdict, by table and profile."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for results in _gathered(paper).results:
        spec, figures = results.resolved.file.spec, results.published_values["verdict"]
        counts[f"{spec.label}: {spec.title}", results.resolved.profile] = Counter(
            figures[figures != ""]
        )
    columns = [
        name for name in VERDICTS if any(count[name] for count in counts.values())
    ]
    rows = [
        [*group, *(str(count[name]) for name in columns)]
        for group, count in counts.items()
        if count.total()
    ]
    judged = {label for label, *_ in rows}
    unjudged = dict.fromkeys(label for label, _ in counts if label not in judged)
    text = pipe_rows([["table", "profile", *columns], *rows])
    return text + f"\n\nNo values to judge: {'; '.join(unjudged)}." * bool(unjudged)


def table(
    id: str, profile: str, metric: str = "", reading: str = "", dataset: str = ""
) -> str:
    """Return a table under one reading as `elmbench table` prints it without notes; one metric or
    data set if named.
    """
    file = find_experiment(id)
    tables = {
        (table.resolved.file.id, table.resolved.profile): table
        for table in _gathered(file.spec.paper).results
    }
    results = tables[file.id, profile]
    if dataset:
        results = replace(
            results, cells=results.cells[results.cells["dataset"] == dataset]
        )
    section = next(
        part
        for part in results.table.sections
        if ";".join(map(str, part.readings)) == reading
    )
    entries = tuple(
        entry for entry in section.entries if metric in ("", entry.measure.metric)
    )
    part = replace(
        results.table, sections=(replace(section, entries=entries),), notes=()
    )
    text = as_text(table_text(part, results.resolved))
    return (
        "```\n"
        + "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
        + "\n```"
    )


def signs() -> str:
    """Return the meaning of the signs in a table."""
    meanings = ", ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
    return (
        f"The paper's row stands below ours, with the signs of the verdicts: {meanings}. * marks "
        "the best of a row."
    )


def claims(paper: str) -> str:
    """Return the verdict on each claim of a paper, under the most faithful profile that tested
    it.
    """
    rows = [["table", "claim", "data", "comparison", "profile", "verdict"]]
    for outcome in _gathered(paper).claims:
        line, resolved = outcome.record(), outcome.resolved
        comparison = "{metric} of {model} {is} {than}".format_map(line)
        claim = [resolved.file.spec.label, line["says"], line["dataset"], comparison]
        rows.append([*claim, resolved.profile, line["verdict"]])
    return pipe_rows(rows)


def main(paper: str) -> str:
    """Return the main claims of a paper with the result of each in words."""
    lines = []
    for claim, result, parts in _gathered(paper).main_claims:
        lines.append(f'- "{claim.says}" ({claim.where}): **{result}**.')
        for part in parts:
            lines.append(
                f'  - {part.label}, "{part.claim.says}": {part.verdict}; {part.evidence}.'
            )
    return "\n".join(lines)


def own_runs() -> str:
    """Return how many of our own runs lie in the intervals of the others, by paper."""
    counts = {
        paper.paper.key.upper(): count_own_runs_inside(
            value for table in paper.run for value in table.compared_values
        )
        for paper in _all_gathered()
    }
    counts["all"] = (
        sum(inside for inside, _ in counts.values()),
        sum(total for _, total in counts.values()),
    )
    rows = [["paper", "own runs", "inside"]]
    for name, (inside, total) in counts.items():
        if total:
            rows.append([name, str(total), _share(inside, total)])
    return pipe_rows(rows)


def distorted_prints() -> str:
    """Return how many distorted prints of each table its verdict notices, and how many of our own
    runs it accepts as a print.
    """
    rows = [["table", "verdict", *KINDS, "own runs accepted"]]
    totals: Counter[str] = Counter()
    for table, verdict, values in _main_metrics():
        counts: dict[str, tuple[int, int]] = {
            one.kind: (one.noticed, one.n)
            for one in count_noticed_distortions(verdict.metric, measured_rows(values))
        }
        counts["own runs"] = count_accepted_own_runs(verdict.metric, values)
        for kind, (noticed, n) in counts.items():
            totals.update({f"{kind}, noticed": noticed, f"{kind}, n": n})
        cells = (_of(*counts.get(kind, (0, 0))) for kind in (*KINDS, "own runs"))
        rows.append([table.file.id, verdict.state, *cells])
    sums = (
        _of(totals[f"{kind}, noticed"], totals[f"{kind}, n"])
        for kind in (*KINDS, "own runs")
    )
    return pipe_rows([*rows, ["all", "", *sums]])


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "–"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "–"


def _main_metrics() -> Iterator[tuple[TableResults, TableVerdict, list[ComparedValue]]]:
    """Yield the main metric of each table that has `FEWEST_VALUES` compared values or more, unless
    its verdict says no: there is nothing left to notice.
    """
    for paper in _all_gathered():
        for table in paper.run:
            verdict = table.main_verdict
            if verdict is None or verdict.values.n < FEWEST_VALUES:
                continue
            if verdict.state != "does not hold":
                values = [
                    value
                    for value in table.compared_values
                    if value.measure.metric == verdict.metric
                ]
                yield table, verdict, values


def measures() -> str:
    """Return the three measures of the main metric of each table, with signs, by paper."""
    rows = [["paper", "table", "metric", "values", "order", "differences", "verdict"]]
    for paper in _all_gathered():
        for table in paper.run:
            verdict = table.main_verdict
            if verdict is not None:
                cells = (
                    f"{STATE_SIGNS[measure.state]} {text}"
                    for measure, text in zip(
                        verdict.measures.values(),
                        (
                            f"{distance_text(verdict)}, "
                            f"{_of(verdict.values.within, verdict.values.n)}",
                            order_text(verdict),
                            slope_text(verdict.differences),
                        ),
                        strict=True,
                    )
                )
                label = table.file.spec.label
                rows.append(
                    [
                        paper.paper.key.upper(),
                        label,
                        verdict.metric,
                        *cells,
                        state_text(verdict),
                    ]
                )
    return pipe_rows(rows)


def kernels() -> str:
    """Return the figures of profile `ci` that differ between the kernels of OpenBLAS, by table."""
    frame = pd.read_csv(_RESULTS / "kernels" / "kernels.csv")
    names = list(dict.fromkeys(frame["kernel"]))
    rows = [
        [
            "table",
            "values",
            *(f"differ, {name}" for name in names),
            "largest difference",
        ]
    ]
    for table, lines in [*frame.groupby("table", sort=False), ("all", frame)]:
        cells, differ = (
            lines.groupby("kernel")[column].sum() for column in ("cells", "differ")
        )
        if cells.max():
            counts = (str(differ[name]) for name in names)
            rows.append(
                [str(table), str(cells.max()), *counts, f"{lines['largest'].max():.1g}"]
            )
    return pipe_rows(rows)


def prints(paper: str) -> str:
    """Return what the checks of the print find in a paper."""
    checked = check_prints([paper])
    rows = [["table", "check", "subject", "finding"]]
    for table in checked:
        for finding in table.findings:
            rows.append(
                [finding.label, finding.check, literal(finding.subject), finding.says]
            )
    return (
        f"{pipe_rows(rows)}\n\n{summary_text(checked)}"
        if rows[1:]
        else summary_text(checked)
    )


_FUNCTIONS: tuple[Callable[..., str], ...] = (
    answer, answers, in_short, findings, verdicts, table, signs, claims, main, own_runs,
    distorted_prints, measures, kernels, prints, grid
)  # fmt: skip
BLOCKS = {function.__name__: function for function in _FUNCTIONS}


def render(text: str) -> str:
    """Return a page with its blocks made from the results."""

    def fill(match: re.Match[str]) -> str:
        name, *words = match[1].split()
        positional = [word for word in words if "=" not in word]
        named = dict(word.split("=", 1) for word in words if "=" in word)
        content = BLOCKS[name](*positional, **named)
        return f"<!-- make pages: {match[1]} -->\n\n{content}\n\n<!-- end -->"

    return _BLOCK.sub(fill, text)


def outcomes_of(papers: Iterable[PaperResults]) -> list[Outcome]:
    """Return the outcome of each table of some papers."""
    return [_outcome_of(table) for paper in papers for table in paper.tables]


def _outcome_of(table: TableResults) -> Outcome:
    """Return the verdict on a table and its duration."""
    fast = (results for results in table.results if results.resolved.profile == "fast")
    verdict = table.main_verdict
    return Outcome(
        experiment=table.file.id,
        verdict="" if verdict is None else verdict.state,
        seconds=next(map(_seconds_of, fast), None),
    )


def _seconds_of(results: Results) -> float | None:
    """Return the seconds of the planned runs under the default readings, to two digits; None if no
    cell has run.
    """
    cells = results.cells
    planned = cells["dataset"].map(results.resolved.spec.protocol.outer.runs_of)
    default = cells[(cells["reading"] == "") & (cells["run"] < planned)]
    if (default["status"] == "unavailable").all():
        return None
    times = [name for name in TIMES if name in default]
    return float(f"{default[times].sum().sum():.2g}")


def render_picture() -> str:
    """Return the picture of a printed table beside our rerun."""
    (results,) = (
        results
        for results in _gathered("kos-elm").results
        if (results.resolved.file.id, results.resolved.profile)
        == ("kos-elm/table4", "fast")
    )
    return picture_of(results, "mcc")


if __name__ == "__main__":
    write_atomically(OUTCOMES, outcomes_text(outcomes_of(_all_gathered())))
    write_atomically(PICTURE, render_picture())
    print(OUTCOMES.relative_to(TOP))
    print(PICTURE.relative_to(TOP))
    for path in PAGES:
        write_atomically(path, render(path.read_text("utf-8")))
        print(path.relative_to(TOP))
