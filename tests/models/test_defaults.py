"""The defaults of parameters are those that the documentation says."""

from __future__ import annotations

import ast
import doctest
import inspect
import re

import pytest

import elmbench.models
from elmbench.models import __all__ as names

CLASSES = {name: getattr(elmbench.models, name) for name in names if name.endswith(("Classifier", "Regressor"))}
SAID = re.compile(r"^([\w, ]+) : .*?default=(\S+)$", re.MULTILINE)
AS_IN = re.compile(r"^([\w, ]+)\n    As in `(\w+)`", re.MULTILINE)


def defaults(name: str) -> dict[str, object]:
    """The defaults of a class by parameter."""
    return {
        parameter: value.default
        for parameter, value in inspect.signature(CLASSES[name]).parameters.items()
        if value.default is not value.empty
    }


@pytest.mark.parametrize("name", CLASSES)
def test_they_are_what_is_said(name: str) -> None:
    doc, values = inspect.getdoc(CLASSES[name]) or "", defaults(name)
    said: dict[str, object] = {}
    if name.endswith("Regressor"):
        said |= defaults(name.replace("Regressor", "Classifier"))
    for group, other in AS_IN.findall(doc):
        said |= {parameter: value for parameter, value in defaults(other).items() if parameter in group.split(", ")}
    for group, value in SAID.findall(doc):
        said |= dict.fromkeys(group.split(", "), ast.literal_eval(value))
    assert values == {parameter: said[parameter] for parameter in values}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLASSES)
def test_examples_run_and_others_are_named(name: str) -> None:
    assert "See Also\n--------\n" in (inspect.getdoc(CLASSES[name]) or "")
    tests = doctest.DocTestFinder(recurse=False).find(CLASSES[name], name, globs={})
    results = [doctest.DocTestRunner().run(test) for test in tests]
    assert sum(result.attempted for result in results) > 0
    assert sum(result.failed for result in results) == 0
