"""Write the figures in `docs/results.md`, `docs/trust.md` and `docs/results/` from the committed
results: `make pages`.

The prose of the pages is written by hand. The text between `<!-- make pages: BLOCK ... -->` and
`<!-- end -->` is replaced by the output of one of the functions in `BLOCKS`, which gets the words
after its name as arguments.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from elmbench.files import write_atomically
from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.published_values import error_and_power
from elmbench.judging.table_verdicts import (
    ALPHA,
    FEWEST_VALUES,
    JointVerdict,
    costs_of,
    main_verdict,
    pattern_test,
    prints_of_runs,
    rows_of,
    self_test,
)
from elmbench.judging.verdict_words import SIGNS, VERDICTS
from elmbench.numerics.seeds import generator
from elmbench.report.build_site import gather
from elmbench.report.papers import PaperResults
from elmbench.report.results import Results
from elmbench.report.writers.markdown import pipe_rows
from elmbench.report.writers.text import as_text, table_text
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import find_experiment, load_catalogue

TOP = Path(__file__).parents[1]
PAGES = [
    TOP / "README.md",
    TOP / "docs/results.md",
    TOP / "docs/trust.md",
    *sorted((TOP / "docs/results").glob("*.md")),
]
#: Random orders of the models of a table by which the level of the pattern test is measured.
RANDOM_PRINTS = 100
_RESULTS = TOP / "results"
_BLOCK = re.compile(r"^<!-- make pages: (.+?) -->$.*?^<!-- end -->$", flags=re.M | re.S)


@cache
def _gathered(paper: str) -> PaperResults:
    (results,) = gather(
        ResultsDirs(_RESULTS), lambda files: [file for file in files if file.spec.paper == paper]
    )
    return results


def _all_gathered() -> list[PaperResults]:
    return [
        _gathered(paper)
        for paper in dict.fromkeys(file.spec.paper for file in load_catalogue().values())
    ]


def answer(paper: str) -> str:
    """Return the sentence on a whole paper, then those on its tables."""
    first, *details = _gathered(paper).sentences
    return "\n".join([f"**{first}**", "", *(f"- {sentence}" for sentence in details)])


def answers(folder: str = "results") -> str:
    """Return the sentence on each paper, with a link to its page in a folder."""
    sentences = {paper.paper.key: paper.sentences for paper in _all_gathered() if paper.sentences}
    return "\n".join(
        f"- [{paper.upper()}]({folder}/{paper}.md): {first}"
        for paper, (first, *_) in sentences.items()
    )


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
    columns = [name for name in VERDICTS if any(count[name] for count in counts.values())]
    rows = [
        [*group, *(str(count[name]) for name in columns)]
        for group, count in counts.items()
        if count.total()
    ]
    judged = {label for label, *_ in rows}
    unjudged = dict.fromkeys(label for label, _ in counts if label not in judged)
    text = pipe_rows([["table", "profile", *columns], *rows])
    return text + f"\n\nNo figures to judge: {'; '.join(unjudged)}." * bool(unjudged)


def table(id: str, profile: str, metric: str = "", reading: str = "", dataset: str = "") -> str:
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
        results = replace(results, cells=results.cells[results.cells["dataset"] == dataset])
    section = next(
        part for part in results.table.sections if ";".join(map(str, part.readings)) == reading
    )
    entries = tuple(entry for entry in section.entries if metric in ("", entry.measure.metric))
    part = replace(results.table, sections=(replace(section, entries=entries),), notes=())
    text = as_text(table_text(part, results.resolved))
    return "```\n" + "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n```"


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
            lines.append(f'  - {part.label}, "{part.claim.says}": {part.verdict}; {part.evidence}.')
    return "\n".join(lines)


def own_runs() -> str:
    """Return the results of the rule of the verdicts on our own runs and on wrong pairs, by
    paper.
    """
    counts: dict[str, Counter[str]] = {}
    for paper in _all_gathered():
        judged = (agreement for table in paper.run for agreement in table.results[0].agreements)
        counts[paper.paper.key.upper()] = error_and_power(judged)
    counts["all"] = sum(counts.values(), Counter())
    rows = [
        ["paper", "own runs", "inside", "decided wrong pairs", "called `reproduced`", "undecided"]
    ]
    for name, count in counts.items():
        if count.total():
            inside = _share(count["left_out_reproduced"], count["left_out"])
            wrong = _share(count["pairings_reproduced"], count["pairings"])
            numbers = [str(count[name]) for name in ("left_out", "pairings", "pairings_untold")]
            rows.append([name, numbers[0], inside, numbers[1], wrong, numbers[2]])
    return pipe_rows(rows)


def self_tests() -> str:
    """Return the verdicts on tables with prints of known truth: our own runs, and wrong models or
    sets.
    """
    pairs = (
        ("own_reproduced", "own_runs"),
        ("wrong_reproduced", "wrong_models"),
        ("wrong_sets_reproduced", "wrong_sets"),
    )

    def shares(counts: Mapping[str, int]) -> list[str]:
        return [
            f"{counts[part]} of {counts[whole]}" if counts[whole] else "–" for part, whole in pairs
        ]

    rows = [["table", "figures", "verdict", "own runs", "models", "data sets"]]
    total: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    for results, joint, figures in _main_metrics():
        counts = self_test(figures, results.resolved.file.id)
        verdicts.update(counts.pop("own_verdicts"))
        total.update(counts)
        rows.append([results.resolved.file.id, str(joint.n_values), joint.verdict, *shares(counts)])
    listed = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.items())
    text = pipe_rows([*rows, ["all", "", "", *shares(total)]])
    answered = verdicts.total() - verdicts["too small to judge"]
    right = verdicts["reproduced"] + verdicts["level only"]
    share = (
        f"{right} of the {answered} that get an answer ({right / answered:.0%}) get the right one"
    )
    return (
        f"{text}\n\nThe verdicts on the prints of own runs: {listed}. So {share}; 95 in 100 are "
        "expected."
    )


def pattern() -> str:
    """Return the share of prints with a significant pattern: random orders of the models, and our
    own runs.
    """
    counts = {
        (results.resolved.file.id, str(joint.datasets)): np.array(
            pattern_error_and_power(figures, results.resolved.file.id)
        )
        for results, joint, figures in _main_metrics()
    }
    counts["all", ""] = np.sum(list(counts.values()), axis=0)
    rows = [["table", "data sets", "random order, p ≤ .05", "own runs, p ≤ .05"]]
    for names, (error, random, power, runs) in counts.items():
        rows.append([*names, _share(error, random), _share(power, runs)])
    return pipe_rows(rows)


def pattern_error_and_power(
    figures: Sequence[ComparedValue], *key: str
) -> tuple[int, int, int, int]:
    """Return how often the pattern test detects the order of prints whose truth is known, for one
    metric.

    The numbers are those of random orders of the models with a p-value of .05 or less and of all
    random orders, and the same of our own runs as the print.
    """
    costs = [costs_of(row) for row in rows_of(figures)]
    rng = generator("random prints", *key)
    random = [
        pattern_test([c[rng.permutation(len(c))] for c in costs], *key)
        for _ in range(RANDOM_PRINTS)
    ]
    runs = [
        pattern_test([costs_of(row) for row in rows_of(sample)], *key)
        for sample in prints_of_runs(figures)
    ]
    random_known, runs_known = ([p for p in values if p is not None] for values in (random, runs))
    error, power = (sum(p <= ALPHA for p in values) for values in (random_known, runs_known))
    return error, len(random_known), power, len(runs_known)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "–"


def _main_metrics() -> Iterator[tuple[Results, JointVerdict, list[ComparedValue]]]:
    """Yield the metric with the most figures of each table of profile `paper`, if it has enough of
    them.
    """
    tables = (table for paper in _all_gathered() for table in paper.results)
    for results in (table for table in tables if table.resolved.profile == "paper"):
        joint = main_verdict(results.verdicts)
        if joint.n_values >= FEWEST_VALUES:
            yield (
                results,
                joint,
                [f for f in results.compared_values if f.measure.metric == joint.metric],
            )


def kernels() -> str:
    """Return the figures of profile `ci` that differ between the kernels of OpenBLAS, by table."""
    frame = pd.read_csv(_RESULTS / "kernels" / "kernels.csv")
    names = list(dict.fromkeys(frame["kernel"]))
    rows = [["table", "figures", *(f"differ, {name}" for name in names), "largest difference"]]
    for table, lines in [*frame.groupby("table", sort=False), ("all", frame)]:
        cells, differ = (lines.groupby("kernel")[column].sum() for column in ("cells", "differ"))
        if cells.max():
            counts = (str(differ[name]) for name in names)
            rows.append([str(table), str(cells.max()), *counts, f"{lines['largest'].max():.1g}"])
    return pipe_rows(rows)


_FUNCTIONS: tuple[Callable[..., str], ...] = (
    answer, answers, findings, verdicts, table, signs, claims, main, own_runs,
    self_tests, pattern, kernels
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


if __name__ == "__main__":
    for path in PAGES:
        write_atomically(path, render(path.read_text("utf-8")))
        print(path.relative_to(TOP))
