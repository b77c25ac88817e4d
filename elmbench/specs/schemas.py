"""JSON schemas of the YAML files, for editors and for the reference page.

The description of a key is the `#:` comment above its field.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any, Literal, get_args

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from elmbench.registry.plugins import plugin_splits
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.source_registry import source_class, source_kinds
from elmbench.specs.experiments import Experiment
from elmbench.specs.files import SpecPart
from elmbench.specs.papers import Paper
from elmbench.specs.project import ProjectFile
from elmbench.specs.splits import INNER_KINDS, OUTER_KINDS, REPEATED_SCHEMES

Schema = dict[str, Any]

#: The files that have a schema.
FileKind = Literal["experiment", "paper", "datasets"]
FILE_KINDS: tuple[FileKind, ...] = get_args(FileKind)
#: Keys that are replaced by those of another entry before a file is validated.
BASED_ON = "Another table of the folder, without .yaml, whose keys this one inherits."
WITHOUT = "Keys of the other table that this one does not inherit."
LIKE = "Another data set of the file, whose keys this one inherits."
_COMMENT = re.compile(r"    #: ?(.*)")
_FIELD = re.compile(r"    (\w+): ")


def json_schema(kind: FileKind) -> Schema:
    """Return the JSON schema of a kind of file, for editors.

    `kind`: "experiment", "paper" or "datasets". The schema demands no keys of tables and data sets,
    since these may come from another entry; `elmbench validate` names those that are missing.
    """
    definitions = all_definitions()
    schema: Schema
    if kind == "paper":
        schema = {"$ref": "#/$defs/Paper"}
    elif kind == "experiment":
        schema = {"$ref": "#/$defs/Experiment"}
    else:
        schema = {
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/DatasetSpec"},
        }
    if kind != "paper":
        for definition in definitions.values():
            definition.pop("required", None)
    # A grid may be a plain list of its values.
    grid = definitions["ValueRange"]
    definitions["ValueRange"] = {"anyOf": [{"type": "array"}, grid]}
    used = _reachable(schema, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"elmbench: {kind}",
        **schema,
        "$defs": {name: definitions[name] for name in definitions if name in used},
    }


def schema_text(kind: FileKind) -> str:
    """Return the JSON schema of a kind of file as JSON text, with a newline at the end.

    `kind`: "experiment", "paper" or "datasets".
    """
    return json.dumps(json_schema(kind), indent=1, ensure_ascii=False) + "\n"


def all_definitions() -> dict[str, Schema]:
    """Return {name of the class: JSON schema} of each part of the files.

    The comments of its fields are the descriptions of its keys. Kinds of source and of split that
    loaded plug-ins declare are included.
    """
    sources = [source_class(kind) for kind in source_kinds()]
    models: list[type[BaseModel]] = [
        Experiment,
        Paper,
        DatasetSpec,
        ProjectFile,
        *sources,
    ]
    _, schema = models_json_schema(
        [(model, "validation") for model in models], by_alias=True
    )
    definitions: dict[str, Schema] = schema["$defs"]
    for model in _subclasses(SpecPart):
        if model.__name__ in definitions:
            _describe(definitions[model.__name__], model)
    definitions["SourceSpec"] = {
        "anyOf": [{"$ref": f"#/$defs/{source.__name__}"} for source in sources]
    }
    kinds = {"Outer": (*OUTER_KINDS, *REPEATED_SCHEMES), "Splitter": INNER_KINDS}
    for name, words in kinds.items():
        definitions[name]["properties"]["kind"]["enum"] = [*words, *plugin_splits()]
    experiment = definitions["Experiment"]["properties"]
    _add_key(definitions["Experiment"], "based-on", BASED_ON)
    experiment["without"] = {
        "type": "array",
        "items": {"type": "string"},
        "description": WITHOUT,
    }
    # A model of the other table is removed by null.
    column = experiment["models"]["additionalProperties"]
    experiment["models"]["additionalProperties"] = {"anyOf": [column, {"type": "null"}]}
    _add_key(definitions["DatasetSpec"], "like", LIKE)
    # The key of an entry is the name of the data set.
    del definitions["DatasetSpec"]["properties"]["name"]
    definitions["DatasetSpec"]["required"].remove("name")
    return definitions


def _add_key(definition: Schema, key: str, description: str) -> None:
    """Add an optional key whose value is a text to a JSON schema of an object, in place."""
    definition["properties"][key] = {"type": "string", "description": description}


def _describe(definition: Schema, model: type[BaseModel]) -> None:
    """Add the docstring and the field comments of a class to its JSON schema, in place.

    The titles of the keys are removed, since they repeat the keys. `definition`: the schema of
    `model`.
    """
    comments = field_comments(model)
    definition["description"] = inspect.getdoc(model) or ""
    for name, field in model.model_fields.items():
        entry = definition["properties"][field.alias or name]
        entry.pop("title", None)
        entry["description"] = comments.get(name, "")


def field_comments(model: type[BaseModel]) -> dict[str, str]:
    """Return {field of a class: its `#:` comment as one line}.

    Inherited fields are included. A field without a comment has an empty text.
    """
    comments: dict[str, str] = {}
    for part in reversed(model.__mro__):
        if issubclass(part, SpecPart):
            comments |= dict(_comments_in(_source_of(part)))
    return comments


def _source_of(model: type[BaseModel]) -> str:
    """Return the source text of a class; empty if a plug-in hides it."""
    try:
        return inspect.getsource(model)
    except OSError:
        return ""


def _comments_in(source: str) -> Iterator[tuple[str, str]]:
    """Yield (field, comment) for each field in the source text of a class.

    The comment is that of the `#:` lines directly above the field, as one line; it may be empty.
    """
    lines: list[str] = []
    for line in source.splitlines():
        if comment := _COMMENT.fullmatch(line):
            lines.append(comment[1])
            continue
        if field := _FIELD.match(line):
            yield field[1], " ".join(lines)
        lines = []


def _subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield all subclasses of a class, direct or not."""
    for subclass in model.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _reachable(schema: Any, definitions: dict[str, Schema]) -> set[str]:
    """Return the names of the definitions that a JSON schema refers to, also through others.

    `definitions`: {name: definition} of all.
    """
    names: set[str] = set()
    pending = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            pending += part.values()
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name and name not in names:
                names.add(name)
                pending.append(definitions[name])
    return names
