"""The JSON Schemas are current, accept every file that the suite ships, and refuse what `validate` refuses."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from elmbench.specs.files import spec_root
from tools.schemas import FOLDER, schemas

TOP = Path(__file__).resolve().parents[2]
EXPERIMENTS = sorted(path for path in (spec_root() / "experiments").glob("*/*.yaml") if path.name != "paper.yaml")


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schemas()[name])


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize("name", schemas())
def test_the_committed_schemas_are_current(name: str) -> None:
    """Next if this fails: make schemas."""
    schema = schemas()[name]
    Draft202012Validator.check_schema(schema)
    assert json.loads((TOP / FOLDER / name).read_text("utf-8")) == json.loads(json.dumps(schema))


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_experiment_file_is_accepted(path: Path) -> None:
    assert [error.message for error in validator("experiment.schema.json").iter_errors(read(path))] == []


def test_every_paper_and_data_set_is_accepted() -> None:
    for path in (spec_root() / "experiments").glob("*/paper.yaml"):
        assert [error.message for error in validator("paper.schema.json").iter_errors(read(path))] == []
    errors = validator("datasets.schema.json").iter_errors(read(spec_root() / "datasets.yaml"))
    assert [(list(error.path), error.message) for error in errors] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("protokol",), {}),
        (("protocol", "scale", "fit_on"), "train"),
        (("protocol", "outer", "folds"), "three"),
        (("protocol", "outer", "kind"), "loo"),
        (("protocol", "metrics"), ["mmc"]),
        (("grids", "C"), {"powers-of-3": [1, 2]}),
        (("models", "ELM", "search"), 3),
        (("claims",), [{"says": "x"}]),
    ],
)
def test_what_is_wrong_is_refused(path: tuple[str, ...], value: Any) -> None:
    for table in ("kos-elm/table4", "kos-elm/table6"):
        content = copy.deepcopy(read(spec_root() / "experiments" / f"{table}.yaml"))
        part = content
        for key in path[:-1]:
            part = part.setdefault(key, {})
        if isinstance(part, dict):
            part[path[-1]] = value
        assert not validator("experiment.schema.json").is_valid(content)


def test_a_file_of_its_own_must_say_everything() -> None:
    content = read(spec_root() / "experiments" / "kos-elm" / "table4.yaml")
    del content["protocol"]
    assert not validator("experiment.schema.json").is_valid(content)
    assert validator("experiment.schema.json").is_valid(content | {"based-on": "table6"})
