"""The protocols of each estimator, the items of its path, and the documentation of its
parameters.
"""

import ast
import doctest
import inspect
import re

import pytest

from elmbench import models
from elmbench.models.protocols import GridPath, MemoryEstimate

CLASSES = [getattr(models, name) for name in models.__all__]
DOCUMENTED = {
    name: getattr(models, name)
    for name in models.__all__
    if name.endswith(("Classifier", "Regressor"))
}
SAID = re.compile(r"^([\w, ]+) : .*?default=(\S+)$", re.MULTILINE)
AS_IN = re.compile(r"^([\w, ]+)\n    As in `(\w+)`", re.MULTILINE)
#: Models with a matrix of the training rows squared.
LARGE = ("KELM", "LSSVM")
WITHOUT_PATH = ("AMM", "BSGD", "EEKM", "MKELM", "OSELM", "OSPVM", "Pegasos", "RSVM")


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_each_model_has_the_protocols_of_its_family(cls):
    assert isinstance(cls, GridPath) == (not cls.__name__.startswith(WITHOUT_PATH))
    assert hasattr(cls, "decision_grid") == isinstance(cls, GridPath)
    assert hasattr(cls, "project_grid") == (cls.__name__ == "EEMClassifier")
    assert isinstance(cls, MemoryEstimate) == cls.__name__.startswith(LARGE)


def defaults(name: str) -> dict[str, object]:
    """The defaults of a class by parameter."""
    return {
        parameter: value.default
        for parameter, value in inspect.signature(DOCUMENTED[name]).parameters.items()
        if value.default is not value.empty
    }


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_defaults_are_those_of_the_signature(name: str) -> None:
    doc, values = inspect.getdoc(DOCUMENTED[name]) or "", defaults(name)
    said: dict[str, object] = {}
    if name.endswith("Regressor"):
        said |= defaults(name.replace("Regressor", "Classifier"))
    for group, other in AS_IN.findall(doc):
        said |= {
            parameter: value
            for parameter, value in defaults(other).items()
            if parameter in group.split(", ")
        }
    for group, value in SAID.findall(doc):
        said |= dict.fromkeys(group.split(", "), ast.literal_eval(value))
    assert values == {parameter: said[parameter] for parameter in values}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DOCUMENTED)
def test_examples_run_and_others_are_named(name: str) -> None:
    assert "See Also\n--------\n" in (inspect.getdoc(DOCUMENTED[name]) or "")
    tests = doctest.DocTestFinder(recurse=False).find(DOCUMENTED[name], name, globs={})
    results = [doctest.DocTestRunner().run(test) for test in tests]
    assert sum(result.attempted for result in results) > 0
    assert sum(result.failed for result in results) == 0
