"""Sentences on the reproduced tables and figures of a paper, with the evidence.

`elmbench check`, the end of a run over several tables, the site and the README use them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elmbench.layouts.table import COMPARED, JUDGED, VERDICTS
from elmbench.reporting.figures import facts_sentence
from elmbench.reporting.joint import ALPHA, JointVerdict, judge_table, main_verdict
from elmbench.reporting.results import Results
from elmbench.reporting.verdicts import FEWEST_RUNS
from elmbench.specs.catalogue import PROFILES
from elmbench.specs.measures import FACTS

_PLURALS = {
    "accuracy": "accuracies", "train_accuracy": "training accuracies", "gmean": "G-means", "mcc": "MCCs",
    "rmse": "RMSEs", "nrmse": "NRMSEs", "precision": "precisions", "recall": "recalls", "f1": "F1 scores",
    "spearman": "rank correlations", "tn": "true negatives", "fp": "false positives", "fn": "false negatives",
    "tp": "true positives",
}  # fmt: skip

#: The figures of a table by (data set, model, measure): the results that a figure counts under, and its line there.
_Chosen = dict[tuple[str, str, str], tuple[Results, dict[Any, Any]]]
#: The verdict on a metric of a table, and the profiles of its figures.
_Joint = tuple[Results, JointVerdict, tuple[str, ...]]


@dataclass(frozen=True)
class PaperAnswer:
    """The evidence on one paper.

    Attributes
    ----------
    paper : str
        The key of the paper.
    sentences : list of str
        The first one is the answer on the whole paper. One for each table and metric follows, then the counts of
        figures and of facts of the data sets.
    figures : dict of str to int
        The number of figures with each verdict, each figure counted once.
    facts : dict of str to int
        The facts of data sets: those `as_printed`, and those compared (`of`).
    """

    paper: str
    sentences: list[str]
    figures: dict[str, int]
    facts: dict[str, int]


def answer_papers(results: Iterable[Results]) -> list[PaperAnswer]:
    """Return the evidence on each paper, in the order in which the papers first occur.

    Papers without published figures are left out. If a table has results of several profiles, each figure counts under
    a profile with enough runs of it; if there are several, under the one nearest to the printed protocol.
    """
    papers: dict[str, dict[str, list[Results]]] = {}
    for one in results:
        papers.setdefault(one.resolved.file.paper.key, {}).setdefault(one.resolved.file.id, []).append(one)
    answers = (_answer(key, list(tables.values())) for key, tables in papers.items())
    return [answer for answer in answers if answer.sentences]


def _answer(paper: str, tables: Sequence[Sequence[Results]]) -> PaperAnswer:
    chosen = [chosen_figures(results) for results in tables]
    joints = [
        (results[0], joint, names)
        for results, lines in zip(tables, chosen, strict=True)
        for joint, names in _joints(results, lines)
    ]
    figures, facts = _counts(chosen)
    sentences = [*_summary(joints)]
    sentences += [table_sentence(one.resolved.file.spec.label, joint, names) for one, joint, names in joints]
    sentences += [*_figures_sentence(figures), *filter(None, [facts_sentence(facts)])]
    compared = {"as_printed": facts["reproduced"], "of": facts["reproduced"] + facts["differs"]}
    return PaperAnswer(paper, sentences, {verdict: figures[verdict] for verdict in VERDICTS}, compared)


def _worth(verdict: str) -> int:
    """Return the rank of a verdict by its evidence: a figure counts under the profile with the highest rank."""
    return 3 if verdict in JUDGED else 2 if verdict in COMPARED else 1 if verdict == "not comparable" else 0


def chosen_figures(results: Sequence[Results]) -> _Chosen:
    """Return for each figure of a table the results that it counts under, and its line of `summary.csv` there.

    A figure counts under a profile with enough runs of it; if there are several, under the most faithful one.
    """
    chosen: _Chosen = {}
    for one in sorted(results, key=lambda one: -PROFILES.index(one.resolved.profile)):
        for line in one.figures.to_dict("records"):
            figure = line["dataset"], line["model"], line["metric"]
            worth = _worth(line["verdict"])
            if line["verdict"] and (figure not in chosen or worth > _worth(chosen[figure][1]["verdict"])):
                chosen[figure] = one, line
    return chosen


def _joints(results: Sequence[Results], chosen: _Chosen) -> Iterator[tuple[JointVerdict, tuple[str, ...]]]:
    """Yield the verdict on each metric of a table and the profiles of its figures."""
    figures = [
        (one.resolved.profile, figure)
        for one in results
        for figure in one.compared
        if chosen[figure.dataset, figure.model, figure.measure.column][0] is one
    ]
    if not figures:
        return
    names = {profile for profile, _ in figures}
    for joint in judge_table((figure for _, figure in figures), results[0].resolved.file.id, *sorted(names)):
        used = {profile for profile, figure in figures if figure.measure.metric == joint.metric}
        yield joint, tuple(name for name in reversed(PROFILES) if name in used)


def _counts(tables: Sequence[_Chosen]) -> tuple[Counter[str], Counter[str]]:
    """Return the numbers of figures and of facts with each verdict; those that several tables print count once."""
    best: dict[tuple[Any, ...], str] = {}
    for (dataset, model, metric), (one, line) in (item for table in tables for item in table.items()):
        spec, paper = one.resolved.spec, one.resolved.published[dataset, model, metric]
        # An equal number for another variant of the model, or by another criterion of choice, is a different figure.
        params = spec.models[model].params if model in spec.models else {}
        variant = json.dumps(params, sort_keys=True, default=str), spec.protocol.criterion
        figure = metric.partition("@")[0] in FACTS, paper.dataset, model, metric, paper.value, variant
        if figure not in best or _worth(line["verdict"]) > _worth(best[figure]):
            best[figure] = line["verdict"]
    figures, facts = (Counter(best[key] for key in best if key[0] == of_facts) for of_facts in (False, True))
    return figures, facts


def _summary(joints: Sequence[_Joint]) -> Iterator[str]:
    """Yield the sentence that sums up the verdicts of the tables, each on its metric with the most figures."""
    tables: dict[str, list[JointVerdict]] = {}
    for one, joint, _ in joints:
        tables.setdefault(one.resolved.file.id, []).append(joint)
    if tables:
        main = [main_verdict(verdicts) for verdicts in tables.values()]
        few_runs = sum(joint.verdict == "pattern only" and not joint.of for joint in main)
        yield answer_sentence(Counter(joint.verdict for joint in main), few_runs)


def answer_sentence(tables: Counter[str], few_runs: int = 0) -> str:
    """Return the answer on a paper in words, from the numbers of its tables with each verdict of `TABLE_VERDICTS`.

    `few_runs`: number of the tables that are `pattern only` because no figure has the runs that an interval needs.

    Examples
    --------
    >>> from collections import Counter
    >>> answer_sentence(Counter({"reproduced": 1, "pattern only": 3, "not reproduced": 1}), few_runs=2)
    'The models compare as published in 4 of 5 tables; the values agree in 1 of these, and 2 have too few runs to tell.'
    """
    small = tables["too small to judge"]
    judged = tables.total() - small
    if not judged:
        return "No table has enough figures and runs to be judged."
    alike = tables["reproduced"] + tables["pattern only"]
    if judged > 1:
        text = f"The models compare as published in {alike or 'none'} of {judged} tables"
        text += f"; the values agree in {tables['reproduced'] or 'none'} of these" * bool(alike)
        text += f", and {few_runs} {'has' if few_runs == 1 else 'have'} too few runs to tell" * bool(few_runs)
    else:
        values = bool(tables["reproduced"] + tables["level only"])
        text = f"The models {'' if alike else 'do not '}compare as published in the only table that can be judged"
        if few_runs:
            text += ", but it has too few runs to judge the values"
        else:
            text += f", {'and' if values == bool(alike) else 'but'} the values {'' if values else 'do not '}agree"
    if judged > 1 and tables["level only"]:
        text += f"; in {tables['level only']} only the values agree"
    more = f" {small} more {'table is' if small == 1 else 'tables are'} too small to judge."
    return f"{text}.{more * bool(small)}"


def table_sentence(label: str, joint: JointVerdict, profiles: Sequence[str]) -> str:
    """Return the verdict on one metric of a table in words.

    For instance: "Of the 72 G-means of Table 4, 66 are inside the interval (68 expected), and the pattern is that of
    the print (p < .001): reproduced."
    """
    metric = _PLURALS.get(joint.metric, f"values of {joint.metric}")
    where = label + (f" (profile {' and '.join(profiles)})" if profiles[0] != "paper" or len(profiles) > 1 else "")
    text = f"Of the {joint.figures} {metric} of {where}, "
    if not joint.of:
        text += f"none has the {FEWEST_RUNS} runs that an interval needs"
    else:
        text += f"{joint.of} have an interval, and of these " * (joint.of < joint.figures)
        inside = f"{joint.inside} {'is' if joint.inside == 1 else 'are'}" if joint.inside else "none is"
        text += f"{inside} inside the interval ({joint.expected} expected)"
    return f"{text}, {_pattern(joint)}: {joint.verdict}."


def _pattern(joint: JointVerdict) -> str:
    if joint.pattern_p is None:
        return "and there are too few models to test the pattern"
    p = f"(p {_probability(joint.pattern_p)})"
    if joint.pattern_p > ALPHA:
        return f"and the pattern of the print does not show {p}"
    return f"{'and' if joint.of else 'but'} the pattern is that of the print {p}"


def _probability(p: float) -> str:
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1)


def _figures_sentence(counts: Counter[str]) -> Iterator[str]:
    if total := counts.total():
        listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
        yield f"{total} published figure{'s' * (total > 1)}, each counted once: {listed}."
