"""JSON schemas of the YAML files: they accept the files of the suite, and name its keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elmbench.specs.files import read_yaml, spec_root
from elmbench.specs.schemas import FILE_KINDS, FileKind, all_definitions, json_schema

ROOT = spec_root()
#: The type in Python of each simple type of JSON schemas.
TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}


def faults(
    value: Any, schema: dict[str, Any], definitions: dict[str, Any]
) -> Iterator[str]:
    """Yield the faults of a value under the keywords that the schemas of the suite use."""
    if "$ref" in schema:
        yield from faults(
            value, definitions[schema["$ref"].rpartition("/")[2]], definitions
        )
    options = schema.get("anyOf") or schema.get("oneOf") or []
    if options and all(
        any(True for _ in faults(value, o, definitions)) for o in options
    ):
        yield f"{value!r} fits no option"
    allowed = TYPES.get(schema.get("type", ""), object)
    is_number = isinstance(value, bool) and schema.get("type") in ("integer", "number")
    if not isinstance(value, allowed) or is_number:
        yield f"{value!r} is not of the type {schema['type']}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{value!r} is not one of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{value!r} is not {schema['const']}"
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for item in value:
            yield from faults(item, schema["items"], definitions)
    if isinstance(value, dict):
        yield from _faults_of_keys(value, schema, definitions)


def _faults_of_keys(
    value: dict[str, Any], schema: dict[str, Any], definitions: dict[str, Any]
) -> Iterator[str]:
    yield from (f"no {key}" for key in schema.get("required", ()) if key not in value)
    for key, part in value.items():
        other = schema.get("additionalProperties", {})
        known = schema.get("properties", {}).get(key, other)
        if known is False:
            yield f"unknown key {key}"
        elif isinstance(known, dict):
            yield from faults(part, known, definitions)


def faults_of(kind: FileKind, content: Any) -> list[str]:
    schema = json_schema(kind)
    return list(faults(content, schema, schema["$defs"]))


def kind_of(path: Path) -> FileKind:
    kinds: dict[str, FileKind] = {"paper.yaml": "paper", "datasets.yaml": "datasets"}
    return kinds.get(path.name, "experiment")


def test_the_files_of_the_suite_fit_their_schemas() -> None:
    schemas = {kind: json_schema(kind) for kind in FILE_KINDS}
    paths = [ROOT / "datasets.yaml", *ROOT.glob("experiments/*/*.yaml")]
    assert len(paths) > 50
    for path in paths:
        schema = schemas[kind_of(path)]
        assert list(faults(read_yaml(path), schema, schema["$defs"])) == [], path


@pytest.mark.parametrize(
    ("kind", "content", "fault"),
    [
        ("experiment", {"protocol": {"outer": {"fold": 5}}}, "unknown key fold"),
        (
            "experiment",
            {"protocol": {"outer": {"kind": "k-fold"}}},
            "'k-fold' is not one of",
        ),
        ("experiment", {"datasets": "wine"}, "'wine' is not of the type array"),
        ("experiment", {"grids": {"C": 5}}, "5 fits no option"),
        ("paper", {"key": "miller"}, "no title"),
        (
            "datasets",
            {"wine": {"sources": [{"kind": "file"}, {"kind": "web"}]}},
            "fits no option",
        ),
    ],
)
def test_a_schema_finds_a_fault(kind: FileKind, content: Any, fault: str) -> None:
    assert any(fault in one for one in faults_of(kind, content))


@pytest.mark.parametrize(
    "content",
    [
        {"based-on": "table1", "id": "miller/table2", "protocol": {"metrics": ["f1"]}},
        {"based-on": "table1", "without": ["grids"], "models": {"LDA": None}},
        {"protocol": {"outer": {"kind": "5x2"}}, "grids": {"C": [1, 10]}},
        {
            "models": {
                "LDA": {
                    "model": "lda",
                    "search": {"shrinkage": {"values": [0, "auto"]}},
                }
            }
        },
    ],
)
def test_short_notations_fit_the_schema(content: Any) -> None:
    assert faults_of("experiment", content) == []


def test_each_key_has_a_description() -> None:
    for name, definition in all_definitions().items():
        for key, entry in definition.get("properties", {}).items():
            assert entry["description"].endswith("."), (name, key)
