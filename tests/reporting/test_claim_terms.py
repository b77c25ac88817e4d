"""The terms of claims, and every claim held against the paper's own figures."""

from __future__ import annotations

from typing import Any

import pytest

from elmbench.reporting.claims import is_borne_out, is_true
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.experiments import Claim
from elmbench.specs.profiles import resolve

#: Tables of whose claims the papers print too few figures.
WITHOUT_FIGURES = {
    "eem/figure3", "mk-elm/algorithm1", "ospvm/figure2", "ospvm/table12", "rkelm/figure3", "rkelm/figure4",
}  # fmt: skip
CLAIMS = [(file, claim) for file in load_catalogue().values() for claim in file.spec.claims]


@pytest.mark.parametrize(("file", "claim"), CLAIMS, ids=[f"{file.id} {claim.says[:40]}" for file, claim in CLAIMS])
def test_the_papers_figures_bear_every_claim_out_but_for_its_slips(file: Any, claim: Claim) -> None:
    """A claim that fails on the print is mistranslated, unless the paper contradicts itself."""
    borne_out = is_borne_out(claim, resolve(file, file.profiles[-1]))
    assert borne_out is (None if file.id in WITHOUT_FIGURES else not claim.slip)


def test_one_sentence_is_one_claim() -> None:
    sentences = [(file.id, claim.says) for file, claim in CLAIMS]
    assert len(set(sentences)) == len(sentences)


def claim(**values: Any) -> Claim:
    return Claim.model_validate({"says": "x", "dataset": "d", "metric": "mcc", "model": "a", "than": ["b"]} | values)


@pytest.mark.parametrize(
    ("values", "inside", "outside"),
    [
        ({"is": "above"}, (0.51,), (0.5, 0.49)),
        ({"is": "below"}, (0.49,), (0.5, 0.51)),
        ({"is": "close", "within": 0.1}, (0.4, 0.6), (0.39, 0.61)),
        ({"is": "no-worse", "within": 0.1}, (0.4, 0.9), (0.39,)),
        ({"is": "no-better", "within": 0.1}, (0.6, 0.1), (0.61,)),
        ({"is": "no-worse", "within": 0.1, "metric": "rmse"}, (0.6, 0.1), (0.61,)),
        ({"is": "no-better", "within": 0.1, "metric": "rmse"}, (0.4, 0.9), (0.39,)),
        ({"is": "between", "between": (0.5, 0.8), "metric": "fit_seconds"}, (0.25, 0.4), (0.24, 0.41)),
    ],
)
def test_a_relation_to_a_half(values: dict[str, Any], inside: tuple[float, ...], outside: tuple[float, ...]) -> None:
    assert all(is_true(claim(**values), one, 0.5) for one in inside)
    assert not any(is_true(claim(**values), one, 0.5) for one in outside)
