"""Verdicts on invented papers: a print that is a mean of real runs is accepted, and every exchange
of two models that print and runs separate changes the verdict.

The runs are those of six classifiers and a dummy on four data sets of scikit-learn
(`tools/invented_papers.py`).
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_rows import made_value
from sentences import sentence

from elmbench.judging.judged_rows import Row, rows_of
from elmbench.judging.model_shifts import is_shifted
from elmbench.judging.table_verdicts import ALPHA, judge_measures, judge_order
from elmbench.report.verdict_sentences import state_text

RUNS = Path(__file__).with_name("invented_runs.csv")
N_RUNS = 60
#: The number of test rows in a run of each data set.
N_ROWS = {"iris": 150, "wine": 178, "cancer": 569, "digits": 1797}


@cache
def run_means() -> pd.DataFrame:
    """Return the accuracy of each run, a column for each data set and model."""
    lines = pd.read_csv(RUNS)
    return lines.pivot_table(
        index="run", columns=["dataset", "model"], values="accuracy", sort=False
    )


def invented_paper(
    seed: int, n_runs: int, mean_of: int, trivial: bool = False
) -> list[Row]:
    """Return a table whose print is the mean of some runs, to three digits, and ours are others."""
    means = run_means()
    order = np.random.default_rng(seed).permutation(N_RUNS)
    printed = order[:mean_of]
    ours = order[mean_of : mean_of + n_runs]
    values = [
        made_value(
            model,
            round(float(means[dataset, model].iloc[printed].mean()), 3),
            means[dataset, model].iloc[ours].to_numpy(),
            dataset=dataset,
            rounding=0.0005,
            mean_of=mean_of,
            least_half_width=1 / N_ROWS[dataset],
        )
        for dataset, model in means.columns
        if trivial or model != "dummy"
    ]
    return rows_of(values)


def shifted_models(rows: Sequence[Row]) -> list[str]:
    """Return the models whose published values are shifted against ours."""
    models = rows[0].models
    return [
        model
        for k, model in enumerate(models)
        if is_shifted(
            [row.select(np.arange(len(models)) == k) for row in rows],
            n_models=len(models),
        )
    ]


def raised(rows: Sequence[Row], model: str, margins: float) -> list[Row]:
    """Return the rows with the published values of a model raised by some margins."""
    changed = []
    for row in rows:
        is_raised = np.array([name == model for name in row.models])
        shift = np.where(is_raised, margins * row.margins, 0.0)
        changed.append(row.with_published(row.published + shift))
    return changed


def exchanges(rows: Sequence[Row]) -> Iterator[tuple[str, str, str, list[Row], bool]]:
    """Yield each exchange on one data set of two models that the print separates: the models, the
    data set, the rows, and True if our runs separate the models.
    """
    for number, row in enumerate(rows):
        for i, j in row.clear_pairs:
            published = row.published.copy()
            published[[i, j]] = published[[j, i]]
            changed = list(rows)
            changed[number] = row.with_published(published)
            is_separated = row.differences.are_separated(i, j)
            yield row.models[i], row.models[j], row.dataset, changed, is_separated


@pytest.mark.parametrize(
    ("n_runs", "mean_of"), [(3, 1), (3, 10), (10, 1), (10, 10), (30, 1), (30, 20)]
)
def test_own_runs_are_accepted_as_a_print(n_runs: int, mean_of: int) -> None:
    """At most once in twenty does the strict test reject them or is a model shifted; the verdict
    never says no.
    """
    trials = 20
    n_rejected = 0
    n_shifted = 0
    for seed in range(trials):
        rows = invented_paper(seed, n_runs, mean_of)
        verdict = judge_measures("accuracy", rows)
        assert verdict.state in ("holds", "holds in part", "undecided")
        if verdict.strict[0].p > ALPHA:
            assert verdict.state != "holds in part"
        n_rejected += verdict.strict[0].p <= ALPHA
        n_shifted += bool(shifted_models(rows))
    assert n_rejected <= 1
    assert n_shifted <= 1


@pytest.mark.parametrize(
    ("n_runs", "mean_of", "margins", "share"),
    [
        (3, 10, 1.5, 0.6),
        (10, 1, 1.5, 0.6),
        (10, 10, 1.1, 0.5),
        (10, 10, 1.25, 0.9),
        (30, 20, 1.25, 0.95),
        (30, 20, 1.5, 1.0),
    ],
)
def test_a_model_raised_on_all_data_sets_is_shifted(
    n_runs: int, mean_of: int, margins: float, share: float
) -> None:
    """`share`: at least so many of the models are noticed that are printed `margins` margins too
    high.
    """
    n_noticed = 0
    n_raised = 0
    for seed in range(10):
        rows = invented_paper(seed, n_runs, mean_of)
        for model in rows[0].models:
            n_raised += 1
            n_noticed += model in shifted_models(raised(rows, model, margins))
    assert n_noticed >= share * n_raised


def test_a_raised_model_is_named_in_the_sentence() -> None:
    rows = invented_paper(0, n_runs=10, mean_of=10)
    verdict = judge_measures("accuracy", raised(rows, "knn", 1.25))
    assert state_text(verdict).startswith("holds but for knn")


@pytest.mark.parametrize("trivial", [False, True], ids=["plain", "with a dummy"])
@pytest.mark.parametrize(
    ("n_runs", "mean_of", "share"), [(3, 10, 0.75), (10, 10, 0.95), (30, 20, 0.98)]
)
def test_every_exchange_of_models_that_our_runs_separate_is_named(
    n_runs: int, mean_of: int, share: float, trivial: bool
) -> None:
    """`share`: our runs separate at least so many of the pairs that the print separates."""
    rows = invented_paper(1, n_runs, mean_of, trivial)
    n_separated = 0
    n_exchanges = 0
    for first, second, dataset, changed, is_separated in exchanges(rows):
        n_exchanges += 1
        if not is_separated:
            continue
        n_separated += 1
        verdict = judge_order(changed)
        named = ", ".join(verdict.exceptions)
        assert dataset in named or first in named or second in named, (first, second)
        assert verdict != judge_order(rows)
    assert n_separated >= share * n_exchanges


def test_the_sentence_names_an_exchange_on_one_data_set() -> None:
    rows = invented_paper(0, n_runs=10, mean_of=10)
    assert state_text(judge_measures("accuracy", rows)) == "holds"
    texts = {
        state_text(judge_measures("accuracy", changed))
        for first, second, dataset, changed, _ in exchanges(rows)
        if dataset == "iris" and {first, second} == {"knn", "tree"}
    }
    assert texts == {sentence("judging.invented-papers.exchange-on-one-data-set")}


def test_more_runs_never_turn_a_verdict_into_the_opposite() -> None:
    for seed in range(12):
        states = {
            judge_measures("accuracy", invented_paper(seed, n_runs, 10)).state
            for n_runs in (3, 10, 30)
        }
        assert not {"holds", "does not hold"} <= states
