"""The claims of the shipped papers agree with the values that these print."""

from typing import Any

import pytest

from elmbench.judging.claims import holds_in_print
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.claims import Claim
from elmbench.specs.profiles import resolve

#: Tables with claims for which the papers print too few values.
WITHOUT_PUBLISHED_VALUES = {
    "eem/figure3", "mk-elm/algorithm1", "ospvm/figure2", "ospvm/table12", "rkelm/figure3",
    "rkelm/figure4",
}  # fmt: skip
#: A claim whose values the paper does not print.
UNPRINTED_CLAIM = (
    "Using F = 800, we were able to obtain a similar performance with respect to K-ELM"
)
CLAIMS = [
    (file, claim) for file in load_catalogue().values() for claim in file.spec.claims
]


@pytest.mark.parametrize(
    ("file", "claim"),
    CLAIMS,
    ids=[f"{file.id} {claim.says[:40]}" for file, claim in CLAIMS],
)
def test_published_values_confirm_every_claim_except_known_slips(
    file: Any, claim: Claim
) -> None:
    """A claim that fails on the print is mistranslated, unless the paper contradicts itself."""
    borne_out = holds_in_print(claim, resolve(file, file.profiles[-1]))
    is_unprinted = file.id in WITHOUT_PUBLISHED_VALUES or claim.says == UNPRINTED_CLAIM
    assert borne_out is (None if is_unprinted else not claim.slip)


def test_one_sentence_is_one_claim() -> None:
    sentences = [(file.id, claim.says) for file, claim in CLAIMS]
    assert len(set(sentences)) == len(sentences)
