"""Blocks of Markdown that are made from results: tables, verdicts, claims and sentences."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from elmbench.errors import ElmbenchError, amount, unknown_name
from elmbench.judging.distortions import (
    KINDS,
    count_accepted_own_runs,
    count_noticed_distortions,
)
from elmbench.judging.judged_rows import rows_of as measured_rows
from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.table_verdicts import TableVerdict
from elmbench.judging.value_agreement import count_own_runs_inside
from elmbench.judging.verdict_words import SIGNS, TABLE_VERDICTS, VERDICTS
from elmbench.report.checks.print_findings import check_prints, summary_text
from elmbench.report.papers import PaperResults, TableResults, read_paper_results
from elmbench.report.table_results import Results
from elmbench.report.verdict_sentences import (
    STATE_SIGNS,
    distance_text,
    order_text,
    own_margin_text,
    slope_text,
    state_text,
)
from elmbench.report.writers.markdown import literal, pipe_rows
from elmbench.report.writers.text import as_text, table_text
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import find_experiment, tables_by_paper
from elmbench.specs.experiments import PROFILES
from elmbench.specs.profiles import command_for, resolve
from elmbench.tables.drawing import words_for
from elmbench.tables.result_table import Entry, Section

#: Tables with fewer compared values are not distorted.
FEWEST_VALUES = 5
_PAPER_COLUMNS = [
    "paper",
    "tables",
    "values within the margin",
    "pairs in the printed order",
]


class ResultBlocks:
    """The blocks that documents may hold, made from the results in some folders.

    Each name in `names` is a method that returns the Markdown of a block. `paper` is the key of a
    paper, such as "miller"; if it is empty, there must be only one paper (else ElmbenchError).
    `folder` is the folder of a page for each paper, such as `folder/miller.md`; if it is empty, the
    papers have no links. Results are read once, when a block first needs them.
    """

    names: ClassVar[tuple[str, ...]] = (
        "answer", "answers", "claims", "distorted_prints", "findings", "grid", "in_short", "main",
        "measures", "own_runs", "prints", "signs", "table", "verdicts",
    )  # fmt: skip

    def __init__(self, dirs: ResultsDirs) -> None:
        self._dirs = dirs
        self._read: dict[str, PaperResults] = {}

    def paper_results(self, paper: str = "") -> PaperResults:
        """Return the results of all tables of a paper; each paper is read only once.

        `paper`: its key; empty for the only one. Raises ElmbenchError if the key is unknown, or
        empty with several papers.
        """
        key = _find_paper(paper)
        if key not in self._read:
            (self._read[key],) = read_paper_results(tables_by_paper()[key], self._dirs)
        return self._read[key]

    def all_papers(self) -> list[PaperResults]:
        """Return all papers, in the order of the catalogue, with the results of their tables.

        Papers without any results are included.
        """
        return [self.paper_results(key) for key in tables_by_paper()]

    def answer(self, paper: str = "") -> str:
        """Return the answer on a paper as Markdown: a bold sentence, then a list.

        The list has sentences on each table and metric, and on the counts. Between them is a
        paragraph of the sentences of the paper's file, if it has any. If nothing got a verdict, it
        is "No published value is compared." `paper`: its key; empty for the only one (ElmbenchError
        if there are several).
        """
        results = self.paper_results(paper)
        if not results.sentences:
            return "No published value is compared."
        first, *details = results.sentences
        lines = [f"**{first}**", ""]
        if results.in_short:
            lines += [" ".join(results.in_short), ""]
        return "\n".join(lines + [f"- {sentence}" for sentence in details])

    def in_short(self, folder: str = "") -> str:
        """Return a Markdown list of the short answers: for each paper, the sentences of its file.

        They say whether the paper holds, with numbers from the results; papers without such a
        sentence are left out. `folder`: the folder of the papers' pages, to link the names; no
        links if empty.
        """
        return "\n".join(
            f"- {_link(paper, folder, paper.paper.name)}: {' '.join(paper.in_short)}"
            for paper in self.all_papers()
            if paper.in_short
        )

    def answers(self, folder: str = "") -> str:
        """Return a Markdown list with the sentence on each whole paper.

        It names the tables that hold, and the numbers of values within the margin. Papers without a
        compared value are left out. `folder`: the folder of the papers' pages, to link the names;
        no links if empty.
        """
        return "\n".join(
            f"- {_link(paper, folder, paper.paper.name)}: {paper.sentences[0]}"
            for paper in self.all_papers()
            if paper.sentences
        )

    def grid(self, folder: str = "") -> str:
        """Return a Markdown table with a line for each paper.

        Its columns are the paper, the tables by verdict, the values within the margin and the pairs
        of models in the printed order. `folder`: the folder of the papers' pages, linked in a last
        column; if empty, there is no such column.
        """
        headings = list(_PAPER_COLUMNS)
        if folder:
            headings.append("page")
        rows = [headings]
        for results in self.all_papers():
            name = results.paper.name
            row = [results.paper.title or name, *_cells_of_paper(results)]
            if folder:
                row.append(_link(results, folder, name))
            rows.append(row)
        return pipe_rows(rows)

    def findings(self, paper: str = "") -> str:
        """Return the findings about a paper as Markdown paragraphs: a bold title and its evidence.

        They come from the paper's file, and only those whose tables all have results. `paper`: its
        key; empty for the only one (ElmbenchError if there are several).
        """
        return "\n\n".join(
            f"**{finding.title}.** {' '.join(finding.evidence)}"
            for finding, _ in self.paper_results(paper).findings
        )

    def verdicts(self, paper: str = "") -> str:
        """Return a Markdown table of numbers: the published values with each verdict.

        A line is a table under one profile, a column one verdict that occurs. A last sentence names
        the tables that have results but no verdict. `paper`: its key; empty for the only one
        (ElmbenchError if there are several).
        """
        counts: dict[tuple[str, str], Counter[str]] = {}
        for results in self.paper_results(paper).results:
            spec = results.resolved.file.spec
            group = (f"{spec.label}: {spec.title}", results.resolved.profile)
            verdicts = results.judged.published_values["verdict"]
            counts[group] = Counter(verdicts[verdicts != ""])
        total = sum(counts.values(), Counter[str]())
        columns = [name for name in VERDICTS if total[name]]
        rows = [["table", "profile", *columns]]
        judged = set()
        for group, count in counts.items():
            if count:
                numbers = [str(count[name]) for name in columns]
                rows.append([*group, *numbers])
                judged.add(group[0])
        text = pipe_rows(rows)
        unjudged = dict.fromkeys(label for label, _ in counts if label not in judged)
        if unjudged:
            text += f"\n\nNo values to judge: {'; '.join(unjudged)}."
        return text

    def table(
        self,
        id: str,
        profile: str = "fast",
        metric: str = "",
        reading: str = "",
        dataset: str = "",
    ) -> str:
        """Return a table of results as fenced text, as `elmbench table` prints it, without notes.

        It has the first section under `reading`: "id=value;id=value", or empty for the default
        readings. `id`: of the table, or its alias. `metric`, `dataset`: show only this one; all if
        empty. Raises ElmbenchError if the table has no results under the profile or the reading, on
        the data set or of the metric, and if no value of `metric` is published.
        """
        results = self.table_results(id, profile)
        if dataset:
            _check_name("data set", dataset, results.cells["dataset"])
            is_of_dataset = results.cells["dataset"] == dataset
            results = replace(results, cells=results.cells[is_of_dataset])
        section = _find_section(results, reading)
        entries = section.entries
        if metric:
            entries = _entries_of_metric(metric, entries)
        shown = replace(section, entries=entries)
        table = replace(results.table, sections=(shown,), notes=())
        text = as_text(table_text(table, results.resolved))
        lines = [line.rstrip() for line in text.strip("\n").splitlines()]
        return "\n".join(["```", *lines, "```"])

    def table_results(self, id: str, profile: str) -> Results:
        """Return the results of a table under one profile.

        `id`: of the table, or its alias. Raises ElmbenchError for an unknown table or profile, for
        one that has no results under the profile, and for `ci` if the table has results under a
        different profile, beside which those of `ci` do not count.
        """
        file = find_experiment(id)
        by_profile = {
            results.resolved.profile: results
            for results in self.paper_results(file.paper.key).results
            if results.resolved.file.id == file.id
        }
        if profile in by_profile:
            return by_profile[profile]
        # A profile that does not exist, or without data for this table, has its own error.
        resolve(file, profile)
        if profile == PROFILES[0] and by_profile:
            names = ", ".join(by_profile)
            raise ElmbenchError(
                f"results of {file.id} under profile {profile} are not shown, since there are some "
                f"under {names}",
                expected=f"one of {names}",
                next_step="correct the profile",
            )
        raise ElmbenchError(
            f"{file.id} has no results under profile {profile}",
            expected="cells.csv of an earlier run",
            next_step=command_for(profile, file.id),
        )

    def signs(self) -> str:
        """Return a sentence that explains the asterisk and the signs of verdicts in a table."""
        meanings = ", ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
        return (
            f"The paper's row stands below ours, with the signs of the verdicts: {meanings}. "
            "* marks the best of a row."
        )

    def claims(self, paper: str = "") -> str:
        """Return a Markdown table with a line for each claim of a paper about its tables.

        The columns are table, claim, data, comparison, profile (the most faithful one that tested
        it) and verdict. `paper`: its key; empty for the only one (ElmbenchError if there are
        several).
        """
        rows = [["table", "claim", "data", "comparison", "profile", "verdict"]]
        for outcome in self.paper_results(paper).judged.claims:
            line = outcome.to_csv_dict()
            resolved = outcome.resolved
            claim = [
                resolved.file.spec.label,
                line["says"],
                line["dataset"],
                outcome.statement,
            ]
            rows.append([*claim, resolved.profile, line["verdict"]])
        return pipe_rows(rows)

    def main(self, paper: str = "") -> str:
        """Return a Markdown list of the tested main claims of a paper with their results.

        Below each is a list of the claims about tables that tested it, with verdict and evidence.
        The text is "" if nothing was tested. `paper`: its key; empty for the only one. Raises
        ElmbenchError if the key is unknown, or if it is empty and there are several papers or none.
        """
        lines = []
        for claim, result, parts in self.paper_results(paper).judged.main_claims:
            sentence = f'"{claim.says}" ({claim.where})'
            lines.append(f"- {sentence}: **{result}**.")
            for part in parts:
                sentence = f'{part.label}, "{part.claim.says}"'
                lines.append(f"  - {sentence}: {part.verdict}; {part.evidence}.")
        return "\n".join(lines)

    def own_runs(self) -> str:
        """Return a Markdown table: how many of our own runs lie in the interval of the other runs.

        It has a line for each paper whose models have enough runs, and one for all (no line if none
        has); about 95 % should be inside. It checks our intervals, and uses no published number.
        Raises ElmbenchError if there are no papers.
        """
        papers = self.all_papers()
        if not papers:
            raise _no_papers()
        counts = {
            paper.paper.name: count_own_runs_inside(
                value for table in paper.run for value in table.judged.compared_values
            )
            for paper in papers
        }
        insides, totals = zip(*counts.values(), strict=True)
        counts["all"] = (sum(insides), sum(totals))
        rows = [["paper", "own runs", "inside"]]
        for name, (inside, total) in counts.items():
            if total:
                share = f"{inside} of {total} ({inside / total:.1%})"
                rows.append([name, str(total), share])
        return pipe_rows(rows)

    def distorted_prints(self) -> str:
        """Return a Markdown table that tests the verdicts by distorted published values.

        A line is a table with at least `FEWEST_VALUES` compared values whose verdict is not
        `does not hold`; the last line has sums. For each kind of distortion (`KINDS`), it has how
        many the verdict notices ("12 of 15"); the last column has how many of our own runs are
        accepted as a print.
        """
        columns = (*KINDS, "own runs")
        rows = [["table", "verdict", *KINDS, "own runs accepted"]]
        noticed: Counter[str] = Counter()
        tried: Counter[str] = Counter()
        for table, verdict, values in self._tables_to_distort():
            counts = _count_noticed(verdict.metric, values)
            cells = []
            for kind in columns:
                part, whole = counts.get(kind, (0, 0))
                noticed[kind] += part
                tried[kind] += whole
                cells.append(_ratio_text(part, whole))
            rows.append([table.file.id, verdict.state, *cells])
        sums = [_ratio_text(noticed[kind], tried[kind]) for kind in columns]
        rows.append(["all", "", *sums])
        return pipe_rows(rows)

    def _tables_to_distort(
        self,
    ) -> Iterator[tuple[TableResults, TableVerdict, list[ComparedValue]]]:
        """Yield (table, verdict on its main metric, compared values of this metric).

        Tables with fewer than `FEWEST_VALUES` compared values are left out, and those whose verdict
        is `does not hold`: a distortion could make it no worse.
        """
        for table, verdict in self._verdicts_on_tables():
            is_large = verdict.values.n >= FEWEST_VALUES
            if is_large and verdict.state != "does not hold":
                values = [
                    value
                    for value in table.judged.compared_values
                    if value.measure.metric == verdict.metric
                ]
                yield table, verdict, values

    def _verdicts_on_tables(self) -> Iterator[tuple[TableResults, TableVerdict]]:
        """Yield (table, verdict on its main metric) for the tables of all papers that have one."""
        for paper in self.all_papers():
            yield from paper.main_verdicts

    def measures(self) -> str:
        """Return a Markdown table of the measures of each table's main metric, for all papers.

        The columns are paper, table, metric, values, order, differences and verdict. Each measure
        has the sign of its state before its number.
        """
        rows = [
            ["paper", "table", "metric", "values", "order", "differences", "verdict"]
        ]
        for table, verdict in self._verdicts_on_tables():
            within = _ratio_text(verdict.values.within, verdict.values.n)
            texts = (
                f"{distance_text(verdict)}, {within}",
                order_text(verdict),
                slope_text(verdict.differences),
            )
            measures = verdict.measures.values()
            signs = (STATE_SIGNS[measure.state] for measure in measures)
            cells = (
                sign if sign == text else f"{sign} {text}"
                for sign, text in zip(signs, texts, strict=True)
            )
            metric = words_for(verdict.metric)
            names = [table.file.paper.name, table.file.spec.label, metric]
            rows.append([*names, *cells, state_text(verdict)])
        return pipe_rows(rows)

    def prints(self, paper: str = "") -> str:
        """Return a Markdown table of the slips in a paper's print, and a sentence of counts.

        The checks of the print use no results. The columns are table, check, subject and finding;
        without findings, there is only the sentence. Raises NothingToCompareError if no published
        values are available. `paper`: its key; empty for the only one (ElmbenchError if there are
        several).
        """
        checked = check_prints([_find_paper(paper)])
        summary = summary_text(checked)
        findings = [finding for table in checked for finding in table.findings]
        if not findings:
            return summary
        rows = [["table", "check", "subject", "finding"]]
        for finding in findings:
            subject = literal(finding.subject)
            rows.append([finding.label, finding.check, subject, finding.says])
        return f"{pipe_rows(rows)}\n\n{summary}"


def _find_paper(paper: str) -> str:
    """Return the key of a paper of the catalogue: `paper` itself, or the only one if it is empty.

    Raises ElmbenchError if the key is unknown, or if it is empty and there are several papers or
    none.
    """
    keys = list(tables_by_paper())
    if paper in keys:
        return paper
    if not paper and len(keys) == 1:
        return keys[0]
    if not keys:
        raise _no_papers()
    problem = f"unknown paper {paper!r}" if paper else "no paper is named"
    raise ElmbenchError(
        problem,
        expected=f"one of {', '.join(keys)}",
        next_step="elmbench list papers",
    )


def _no_papers() -> ElmbenchError:
    """Return the error for a catalogue without papers, to be raised."""
    return ElmbenchError(
        "there are no papers",
        expected="at least one paper with a table",
        next_step="elmbench new-paper KEY",
    )


def _check_name(kind: str, name: str, names: Iterable[str]) -> None:
    """Raise ElmbenchError unless a name in the words of a block is one of `names`.

    `kind`: what the name stands for, such as "metric". `names`: in any order, also repeated.
    """
    allowed = list(dict.fromkeys(names))
    if name not in allowed:
        raise unknown_name(kind, name, allowed, "correct the words of the block")


def _entries_of_metric(metric: str, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries of a metric, some of which are published.

    `entries`: of a section. Raises ElmbenchError if the metric is unknown or none of its values are
    published: only published metrics have a table of their own.
    """
    _check_name("metric", metric, (entry.measure.metric for entry in entries))
    published = {entry.measure.metric for entry in entries if entry.published}
    if metric not in published:
        names = ", ".join(sorted(published))
        raise ElmbenchError(
            f"no value of the metric {metric!r} is published",
            expected=f"one of {names}" if published else "a block without metric=",
            next_step="correct the words of the block",
        )
    return tuple(entry for entry in entries if entry.measure.metric == metric)


def _find_section(results: Results, reading: str) -> Section:
    """Return the first section of a table under one choice of readings.

    `reading`: "id=value", several separated by ";"; empty for the default readings. Of several
    selections, the first section is the table's own. Raises ElmbenchError if no cell was run under
    this choice.
    """
    sections: dict[str, Section] = {}
    for section in results.table.sections:
        # A part for each selection has the same readings.
        sections.setdefault(";".join(map(str, section.readings)), section)
    if reading in sections:
        return sections[reading]
    id = results.resolved.file.id
    options = f"--reading {reading}" if reading else ""
    raise ElmbenchError(
        f"{id} has no results under {reading or 'the default readings'}",
        expected=f"one of {', '.join(filter(None, sections))}",
        next_step=f"{command_for(results.resolved.profile, id)} {options}".strip(),
    )


def _link(paper: PaperResults, folder: str, name: str) -> str:
    """Return the name of a paper as a Markdown link to `folder/KEY.md`.

    `name`: the text of the link, returned as it is if `folder` is empty.
    """
    return f"[{name}]({folder}/{paper.paper.key}.md)" if folder else name


def _cells_of_paper(paper: PaperResults) -> list[str]:
    """Return three texts: a paper's tables by verdict, its values and its ordered pairs.

    The first is such as "✓ holds: Table 1; ✗ does not hold: Table 2", the others "31 of 40" (values
    within the margin; pairs of models in the printed order, of those that our runs separate).
    Without a verdict, they are the reason and two dashes.
    """
    verdicts = [verdict for _, verdict in paper.main_verdicts]
    if not verdicts:
        reason = "no printed value at hand" if paper.results else "not run"
        return [reason, "–", "–"]
    labels_by_state: dict[str, list[str]] = defaultdict(list)
    for table, verdict in paper.main_verdicts:
        labels = labels_by_state[verdict.state]
        labels.append(_label_with_remarks(table.file.spec.label, verdict))
    parts = []
    for state in TABLE_VERDICTS:
        if state in labels_by_state:
            sign = STATE_SIGNS.get(state, "◐")
            labels = labels_by_state[state]
            parts.append(f"{sign} {state}: {', '.join(labels)}")
    within = sum(verdict.values.within for verdict in verdicts)
    n_values = sum(verdict.values.n for verdict in verdicts)
    same = sum(verdict.order.same for verdict in verdicts)
    opposite = sum(verdict.order.opposite for verdict in verdicts)
    tables = "; ".join(parts)
    return [tables, _ratio_text(within, n_values), _ratio_text(same, same + opposite)]


def _label_with_remarks(label: str, verdict: TableVerdict) -> str:
    """Return the label of a table with remarks, such as "Table 1 (but for 2 exceptions)".

    The remarks are a margin of the paper's file, if it differs from the standard one, and the
    number of exceptions of a verdict that holds but for them; without any, it is the label alone.
    """
    notes = [own_margin_text(verdict)]
    if verdict.state == "holds" and verdict.exceptions:
        notes.append(f"but for {amount(len(verdict.exceptions), 'exception')}")
    text = "; ".join(filter(None, notes))
    return f"{label} ({text})" if text else label


def _count_noticed(
    metric: str, values: list[ComparedValue]
) -> dict[str, tuple[int, int]]:
    """Return how many distorted prints of a table the verdict notices: {kind: (noticed, tried)}.

    The kind "own runs" has (accepted, tried) instead: prints made of our own runs. Kinds that the
    table cannot have are missing. `metric`: that of `values`, the compared values of one table.
    """
    counts = {
        one.kind: (one.noticed, one.n)
        for one in count_noticed_distortions(metric, measured_rows(values))
    }
    counts["own runs"] = count_accepted_own_runs(metric, values)
    return counts


def _ratio_text(part: int, whole: int) -> str:
    """Return "PART of WHOLE", such as "31 of 40"; a dash if the whole is 0."""
    return f"{part} of {whole}" if whole else "–"
