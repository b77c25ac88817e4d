"""JSON Schemas of the YAML files, for editors that complete and check them: `python -m tools.schemas`."""

import copy
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from elmbench.layouts import LAYOUTS, find_layout
from elmbench.registry import registry
from elmbench.specs.catalogue import PROFILES
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.experiments import Experiment
from elmbench.specs.papers import Paper

Schema = dict[str, Any]
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
#: Where the schemas are, below the top of the repository.
FOLDER = "schemas"


def schemas() -> dict[str, Schema]:
    """Return the schema of each kind of YAML file, by the name of its own file in the folder `schemas`."""
    return {
        "experiment.schema.json": experiment_schema(),
        "paper.schema.json": {"$schema": _DRAFT, **_schema_of(Paper, "paper")},
        "datasets.schema.json": datasets_schema(),
    }


def experiment_schema() -> Schema:
    """Return the schema of `experiments/<paper>/<table>.yaml`; with `based-on` anything may be left out but the id."""
    entry = _whole_or_part(Experiment, "based-on", "The table whose file this one is laid over.")
    entry["then"]["required"].append("id")
    options: Schema = {}
    for name in LAYOUTS:
        options |= find_layout(name).Options.model_json_schema().get("properties", {})
    for schema in (entry["then"], entry["else"]):
        properties = schema["properties"]
        properties["layout"] |= {"anyOf": [{"enum": list(LAYOUTS)}, {"type": "string"}]}
        properties["options"] |= {"properties": options}
        properties["profiles"] |= {"propertyNames": {"enum": list(PROFILES)}}
        # Null takes away what the base has.
        properties["published"] = {"anyOf": [properties["published"], {"type": "null"}]}
    models = [model.name for model in registry().values() if model.origin == "built-in"]
    for name, definition in entry["$defs"].items():
        if name.endswith("-Model"):
            definition["properties"]["model"] |= {"anyOf": [{"enum": models}, {"type": "string"}]}
    return {"$schema": _DRAFT, "title": "A table of a paper", **entry}


def datasets_schema() -> Schema:
    """Return the schema of `datasets.yaml`: data sets by name; one that is `like` another may leave anything out."""
    entry = _whole_or_part(DatasetSpec, "like", "The data set whose keys this one takes over.")
    entry["else"]["required"].remove("name")
    definitions = entry.pop("$defs")
    head = {"$schema": _DRAFT, "title": "Data sets", "type": "object"}
    return head | {"additionalProperties": entry, "$defs": definitions}


def _whole_or_part(model: type[BaseModel], key: str, description: str) -> Schema:
    """Return the schema of a model, from which anything may be left out if `key` names another one."""
    whole, part = (_schema_of(model, prefix) for prefix in ("whole", "part"))
    _without_required(part)
    part["required"] = [key]
    part["properties"][key] = {"type": "string", "description": description}
    definitions = whole.pop("$defs") | part.pop("$defs")
    return {"if": {"required": [key]}, "then": part, "else": whole, "$defs": definitions}


def _schema_of(model: type[BaseModel], prefix: str) -> Schema:
    """Return pydantic's schema of a model; definitions have a prefix, so that two may stand in one file."""
    schema = model.model_json_schema(by_alias=True, ref_template=f"#/$defs/{prefix}-{{model}}")
    definitions = {f"{prefix}-{name}": definition for name, definition in schema.get("$defs", {}).items()}
    grid = definitions.get(f"{prefix}-Grid")
    if grid is not None:
        # A plain list is short for {values: ...}.
        definitions[f"{prefix}-Grid"] = {"anyOf": [copy.deepcopy(grid), grid["properties"]["values"]]}
    return schema | {"$defs": definitions}


def _without_required(schema: Any, whole: frozenset[str] | None = None) -> None:
    """Take `required` away: what is laid over another file may leave out what that one has.

    Not in the members of lists, which are replaced as a whole.
    """
    whole = _members(schema) if whole is None else whole
    if isinstance(schema, dict):
        if isinstance(schema.get("required"), list):
            del schema["required"]
        for key, value in schema.items():
            if key != "items" and key not in whole:
                _without_required(value, whole)
    elif isinstance(schema, list):
        for value in schema:
            _without_required(value, whole)


def _members(schema: Any, inside: bool = False) -> frozenset[str]:
    """Return the names of the definitions that are members of lists."""
    if isinstance(schema, list):
        return frozenset().union(*(_members(value, inside) for value in schema))
    if not isinstance(schema, dict):
        return frozenset()
    referred = [schema["$ref"].rpartition("/")[2]] if inside and "$ref" in schema else []
    parts = (_members(value, inside or key in ("items", "prefixItems")) for key, value in schema.items())
    return frozenset(referred).union(*parts)


if __name__ == "__main__":
    for name, schema in schemas().items():
        Path(FOLDER, name).write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n", encoding="utf-8")
