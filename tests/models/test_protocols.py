"""The protocols of each estimator, the items of its path, and the documentation of its parameters."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from collections import Counter

import numpy as np
import pytest
from elm_problems import class_of, problem

from elmbench import models
from elmbench.models.baselines import ridge_classifier
from elmbench.models.protocols import DecisionPath, Evaluated, GridPath, MemoryEstimate, ProjectionPath

CLASSES = [getattr(models, name) for name in models.__all__]
DOCUMENTED = {name: getattr(models, name) for name in models.__all__ if name.endswith(("Classifier", "Regressor"))}
SAID = re.compile(r"^([\w, ]+) : .*?default=(\S+)$", re.MULTILINE)
AS_IN = re.compile(r"^([\w, ]+)\n    As in `(\w+)`", re.MULTILINE)
WITHOUT_PATH = ("AMM", "BSGD", "EEKM", "MKELM", "OSELM", "OSPVM", "Pegasos", "RSVM")


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_capabilities(cls):
    assert isinstance(cls, GridPath) == (not cls.__name__.startswith(WITHOUT_PATH))
    assert isinstance(cls, DecisionPath) == isinstance(cls, GridPath)
    assert isinstance(cls, ProjectionPath) == (cls.__name__ == "EEMClassifier")
    assert isinstance(cls, MemoryEstimate) == (cls.__name__ != "SVMClassifier")


def test_what_offers_nothing():
    assert not isinstance(ridge_classifier, GridPath | MemoryEstimate)


def test_the_first_networks_of_a_block_count_its_solvers():
    X, y = problem(60, 3, 0, "regression")
    folds = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    grid = [{"n_hidden": size, "C": C} for size in (10, 100) for C in (1.0, 8.0, 64.0, 512.0, 4096.0)]
    items = list(class_of("ELM", "regression").evaluate_grid(X, y, folds, grid, random_state=0))
    assert all(isinstance(item, Evaluated) for item in items)
    for fold in (0, 1):
        of_fold = [item for item in items if item.fold == fold]
        # Those of ten nodes have a factor for each C; those of a hundred share a reduction.
        assert [bool(item.solvers) for item in of_fold] == [*[True] * 5, *[True, False, False, False, False]]
        assert sum((Counter(item.solvers) for item in of_fold), Counter()) == {"leading cholesky": 5, "reduction": 5}


def defaults(name: str) -> dict[str, object]:
    """The defaults of a class by parameter."""
    return {
        parameter: value.default
        for parameter, value in inspect.signature(DOCUMENTED[name]).parameters.items()
        if value.default is not value.empty
    }


@pytest.mark.parametrize("name", DOCUMENTED)
def test_they_are_what_is_said(name: str) -> None:
    doc, values = inspect.getdoc(DOCUMENTED[name]) or "", defaults(name)
    said: dict[str, object] = {}
    if name.endswith("Regressor"):
        said |= defaults(name.replace("Regressor", "Classifier"))
    for group, other in AS_IN.findall(doc):
        said |= {parameter: value for parameter, value in defaults(other).items() if parameter in group.split(", ")}
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
