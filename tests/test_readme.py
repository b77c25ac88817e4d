"""The evidence that README.md names exists; tests/test_results_pages.py checks its figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from elmbench.specs.catalogue import find_experiment

TEXT = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


@pytest.mark.parametrize("text", re.findall(r"\(`(elmbench (?:table|run) [^`]+)`\)", TEXT))
def test_evidence_is_named_by_its_command(text: str) -> None:
    assert find_experiment(text.split()[2]).id
