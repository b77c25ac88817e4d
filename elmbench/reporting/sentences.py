"""Verdicts on papers, tables and claims in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from elmbench.reporting.claim_outcomes import CLAIM_VERDICTS, ClaimOutcome
from elmbench.reporting.joint import ALPHA, JointVerdict
from elmbench.reporting.verdicts import FEWEST_RUNS

_PLURALS = {
    "accuracy": "accuracies", "train_accuracy": "training accuracies", "gmean": "G-means", "mcc": "MCCs",
    "rmse": "RMSEs", "nrmse": "NRMSEs", "precision": "precisions", "recall": "recalls", "f1": "F1 scores",
    "spearman": "rank correlations", "tn": "true negatives", "fp": "false positives", "fn": "false negatives",
    "tp": "true positives",
}  # fmt: skip

#: The plurals of results of claims.
_RESULTS = {"holds": "hold", "does not hold": "do not hold"}
_RESULTS |= {f"ratio {side} than stated": f"ratios {side} than stated" for side in ("smaller", "larger")}


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
    rest = f" {small} more {'table is' if small == 1 else 'tables are'} too small to judge."
    return f"{text}.{rest * bool(small)}"


def table_sentence(label: str, joint: JointVerdict, profiles: Sequence[str]) -> str:
    """Return the verdict on one metric of a table in words, with the profiles of its figures."""
    metric = _PLURALS.get(joint.metric, f"values of {joint.metric}")
    names = f"profile{'s' * (len(profiles) > 1)} {' and '.join(profiles)}"
    where = label + f" ({names})" * (names != "profile paper")
    text = f"{metric[0].upper()}{metric[1:]} of {where}: "
    if not joint.of:
        text += f"none of {joint.figures} has the {FEWEST_RUNS} runs that an interval needs"
    else:
        text += f"{joint.of} of {joint.figures} have an interval; " * (joint.of < joint.figures)
        inside = "is inside its interval" if joint.inside == 1 or joint.of == 1 else "are inside their intervals"
        text += f"{joint.inside} of {joint.of} {inside} ({joint.expected:g} expected)"
    if joint.pattern_p is None:
        return f"{text}, and there are too few models to test the pattern. Verdict: {joint.verdict}."
    p = "(p < .001)" if joint.pattern_p < 0.001 else f"(p = {joint.pattern_p:.3f})".replace("0.", ".", 1)
    if joint.pattern_p > ALPHA:
        return f"{text}, and the pattern does not match the printed one {p}. Verdict: {joint.verdict}."
    return f"{text}, {'and' if joint.of else 'but'} the pattern matches the printed one {p}. Verdict: {joint.verdict}."


def result_in_words(outcomes: Sequence[ClaimOutcome]) -> str:
    """Return the number of statements with each result, such as "1 holds, 2 do not hold"; of one, its result."""
    results = []
    for outcome in outcomes:
        stated, finding, result = outcome.claim.between, outcome.finding, str(outcome.verdict)
        if outcome.verdict == "does not hold" and stated and finding is not None and finding.of != "data sets":
            result = f"ratio {'smaller' if finding.estimate < stated[0] else 'larger'} than stated"
        results.append((CLAIM_VERDICTS.index(outcome.verdict), result))
    names = [result for _, result in sorted(results, key=lambda pair: pair[0])]
    return names[0] if len(names) == 1 else count_results(names)


def count_results(results: Iterable[str]) -> str:
    """Return the number of claims with each result, in the order of the results."""
    counts = Counter(results)
    return ", ".join(f"{n} {_RESULTS.get(name, name) if n > 1 else name}" for name, n in counts.items())
