"""Sentences on the reproduced tables, figures and claims of a paper, with the evidence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elmbench.layouts.table import JUDGED, VERDICTS
from elmbench.reporting import grouped
from elmbench.reporting.claim_outcomes import CLAIM_VERDICTS, ClaimOutcome, correct_by_holm
from elmbench.reporting.figures import facts_sentence
from elmbench.reporting.joint import ALPHA, JointVerdict, judge_table, main_verdict
from elmbench.reporting.results import Results
from elmbench.reporting.verdicts import FEWEST_RUNS
from elmbench.specs.catalogue import PROFILES
from elmbench.specs.measures import FACTS
from elmbench.specs.papers import MainClaim

_PLURALS = {
    "accuracy": "accuracies", "train_accuracy": "training accuracies", "gmean": "G-means", "mcc": "MCCs",
    "rmse": "RMSEs", "nrmse": "NRMSEs", "precision": "precisions", "recall": "recalls", "f1": "F1 scores",
    "spearman": "rank correlations", "tn": "true negatives", "fp": "false positives", "fn": "false negatives",
    "tp": "true positives",
}  # fmt: skip

#: The plurals of results of claims.
_RESULTS = {"holds": "hold", "does not hold": "do not hold"}
_RESULTS |= {f"ratio {side} than stated": f"ratios {side} than stated" for side in ("smaller", "larger")}

#: The ranks of verdicts by their evidence: a figure counts under the profile with the highest rank.
_WORTH = dict.fromkeys(VERDICTS, 0) | {"not comparable": 1, "too few runs": 2} | dict.fromkeys(JUDGED, 3)

#: The figures of a table by (data set, model, measure): the results that a figure counts under, and its line there.
_Chosen = dict[tuple[str, str, str], tuple[Results, dict[Any, Any]]]


@dataclass(frozen=True)
class PaperAnswer:
    """The evidence on one paper: the answer on all of it, sentences on each table and metric, and counts of figures.

    There are no sentences without published figures. `figures` is the number of figures with each verdict, each figure
    counted once; `facts` are the facts of data sets: those `as_printed`, and those compared (`of`).
    """

    paper: str
    sentences: list[str]
    figures: dict[str, int]
    facts: dict[str, int]


def answer_papers(results: Iterable[Results]) -> list[PaperAnswer]:
    """Return the evidence on each paper with published figures, in the order in which the papers first occur.

    If a table has results of several profiles, each figure counts under a profile with enough runs of it; if there are
    several, under the one nearest to the printed protocol.
    """
    by_paper = grouped(results, lambda one: one.resolved.file.paper.key)
    answers = (answer_paper(paper, of_paper) for paper, of_paper in by_paper.items())
    return [answer for answer in answers if answer.sentences]


def answer_paper(paper: str, results: Sequence[Results]) -> PaperAnswer:
    """Return the evidence on a paper, by its key, from results of its tables."""
    tables = list(grouped(results, lambda one: one.resolved.file.id).values())
    chosen = [chosen_figures(results) for results in tables]
    joints = [
        (results[0].resolved.file, joint, names)
        for results, lines in zip(tables, chosen, strict=True)
        for joint, names in _joints(results, lines)
    ]
    figures, facts = _counts(chosen)
    sentences = []
    if joints:
        of_tables = grouped(joints, lambda one: one[0].id).values()
        main = [main_verdict([joint for _, joint, _ in of_table]) for of_table in of_tables]
        few_runs = sum(joint.verdict == "pattern only" and not joint.of for joint in main)
        sentences = [answer_sentence(Counter(joint.verdict for joint in main), few_runs)]
    sentences += [table_sentence(file.spec.label, joint, names) for file, joint, names in joints]
    if total := figures.total():
        listed = ", ".join(f"{figures[verdict]} {verdict}" for verdict in VERDICTS if figures[verdict])
        sentences.append(f"{total} published figure{'s' * (total > 1)}, each counted once: {listed}.")
    sentences += filter(None, [facts_sentence(facts)])
    compared = {"as_printed": facts["reproduced"], "of": facts["reproduced"] + facts["differs"]}
    return PaperAnswer(paper, sentences, {verdict: figures[verdict] for verdict in VERDICTS}, compared)


def chosen_figures(results: Sequence[Results]) -> _Chosen:
    """Return for each figure of a table the results that it counts under, and its line of `summary.csv` there."""
    chosen: _Chosen = {}
    for one in sorted(results, key=lambda one: -PROFILES.index(one.resolved.profile)):
        for line in one.figures.to_dict("records"):
            figure = line["dataset"], line["model"], line["metric"]
            verdict = line["verdict"]
            if verdict and (figure not in chosen or _WORTH[verdict] > _WORTH[chosen[figure][1]["verdict"]]):
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
        if figure not in best or _WORTH[line["verdict"]] > _WORTH[best[figure]]:
            best[figure] = line["verdict"]
    figures, facts = (Counter(best[key] for key in best if key[0] == of_facts) for of_facts in (False, True))
    return figures, facts


def answer_sentence(tables: Counter[str], few_runs: int = 0) -> str:
    """Return the answer on a paper in words, from the numbers of its tables with each verdict of `TABLE_VERDICTS`.

    `few_runs`: number of the tables that are `pattern only` because no figure has the runs that an interval needs.
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
    """Return the verdict on one metric of a table in words, with the profiles of its figures."""
    metric = _PLURALS.get(joint.metric, f"values of {joint.metric}")
    where = label + (f" (profile {' and '.join(profiles)})" if profiles[0] != "paper" or len(profiles) > 1 else "")
    text = f"Of the {joint.figures} {metric} of {where}, "
    if not joint.of:
        text += f"none has the {FEWEST_RUNS} runs that an interval needs"
    else:
        text += f"{joint.of} have an interval, and of these " * (joint.of < joint.figures)
        inside = f"{joint.inside} {'is' if joint.inside == 1 else 'are'}" if joint.inside else "none is"
        text += f"{inside} inside the interval ({joint.expected} expected)"
    if joint.pattern_p is None:
        return f"{text}, and there are too few models to test the pattern: {joint.verdict}."
    p = "(p < .001)" if joint.pattern_p < 0.001 else f"(p = {joint.pattern_p:.3f})".replace("0.", ".", 1)
    if joint.pattern_p > ALPHA:
        return f"{text}, and the pattern of the print does not show {p}: {joint.verdict}."
    return f"{text}, {'and' if joint.of else 'but'} the pattern is that of the print {p}: {joint.verdict}."


@dataclass(frozen=True)
class TestedClaim:
    """The outcome of a claim, and the results that it was tested on."""

    results: Results
    outcome: ClaimOutcome

    @property
    def table(self) -> str:
        """The id of the table."""
        return self.results.resolved.file.id

    @property
    def label(self) -> str:
        """The table and the profile in words."""
        resolved = self.results.resolved
        return f"{resolved.file.spec.label}, profile {resolved.profile}"


def tested_claims(results: Iterable[Results]) -> list[TestedClaim]:
    """Return the claims of one paper, each once, with decisions that hold together by Holm's correction.

    The results of the paper's tables have the profile nearest to the printed protocol first. A claim counts under the
    first profile that tested it: that profile may lack the data set of a claim.
    """
    tested: dict[tuple[str, str], TestedClaim] = {}
    for one in results:
        for outcome in one.claims:
            tested.setdefault((one.resolved.file.id, outcome.claim.model_dump_json()), TestedClaim(one, outcome))
    corrected = correct_by_holm([one.outcome for one in tested.values()])
    return [replace(one, outcome=outcome) for one, outcome in zip(tested.values(), corrected, strict=True)]


def main_claims(claims: Sequence[TestedClaim]) -> Iterator[tuple[MainClaim, str, list[TestedClaim]]]:
    """Yield each main claim of the paper that was tested, with its result in words and the claims that tested it."""
    for main in claims[0].results.resolved.file.paper.main_claims if claims else ():
        parts = [
            one
            for table, beginnings in main.tested_by.items()
            for one in claims
            if one.table == table and one.outcome.claim.says.startswith(beginnings)
        ]
        if parts:
            yield main, result_in_words([one.outcome for one in parts]), parts


def result_in_words(outcomes: Sequence[ClaimOutcome]) -> str:
    """Return the number of statements with each result, such as "1 holds, 2 do not hold"; of one, its result."""
    counts: Counter[str] = Counter()
    for one in sorted(outcomes, key=lambda one: CLAIM_VERDICTS.index(one.verdict)):
        stated, finding, result = one.claim.between, one.finding, str(one.verdict)
        if one.verdict == "does not hold" and stated and finding is not None and finding.of != "data sets":
            result = f"ratio {'smaller' if finding.estimate < stated[0] else 'larger'} than stated"
        counts[result] += 1
    if len(outcomes) == 1:
        return next(iter(counts))
    return ", ".join(f"{n} {_RESULTS.get(name, name) if n > 1 else name}" for name, n in counts.items())
