"""JSON Schemas of the YAML files, for editors that complete and check them: `python -m tools.schemas`."""

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
        "paper.schema.json": {"$schema": _DRAFT, **Paper.model_json_schema()},
        "datasets.schema.json": datasets_schema(),
    }


def experiment_schema() -> Schema:
    """Return the schema of `experiments/<paper>/<table>.yaml`; with `based-on` anything may be left out but the id."""
    schema = _partial(Experiment, "based-on", "The table whose file this one is laid over.", ["id"])
    definitions, properties = schema["$defs"], schema["properties"]
    for name in ("Model", "Outer", "Protocol", "Splitter"):  # they are laid over those of the base
        del definitions[name]["required"]
    # A plain list is short for {values: ...}.
    grid = definitions["Grid"]
    definitions["Grid"] = {"anyOf": [grid, grid["properties"]["values"]]}
    options: Schema = {}
    for name in LAYOUTS:
        options |= find_layout(name).Options.model_json_schema().get("properties", {})
    properties["layout"] |= {"anyOf": [{"enum": list(LAYOUTS)}, {"type": "string"}]}
    properties["options"] |= {"properties": options}
    properties["profiles"] |= {"propertyNames": {"enum": list(PROFILES)}}
    # Null takes away what the base has.
    properties["published"] = {"anyOf": [properties["published"], {"type": "null"}]}
    models = [model.name for model in registry().values() if model.origin == "built-in"]
    definitions["Model"]["properties"]["model"] |= {"anyOf": [{"enum": models}, {"type": "string"}]}
    return {"$schema": _DRAFT, "title": "A table of a paper", **schema}


def datasets_schema() -> Schema:
    """Return the schema of `datasets.yaml`: data sets by name; one that is `like` another may leave anything out."""
    entry = _partial(DatasetSpec, "like", "The data set whose keys this one takes over.", [])
    entry["else"]["required"].remove("name")
    definitions = entry.pop("$defs")
    head = {"$schema": _DRAFT, "title": "Data sets", "type": "object"}
    return head | {"additionalProperties": entry, "$defs": definitions}


def _partial(model: type[BaseModel], key: str, description: str, required: list[str]) -> Schema:
    """Return the schema of a model, from which all but the `required` keys may be left out if `key` names a base."""
    schema = model.model_json_schema(by_alias=True)
    schema["properties"][key] = {"type": "string", "description": description}
    return schema | {
        "if": {"required": [key]},
        "then": {"required": required},
        "else": {"required": schema.pop("required")},
    }


if __name__ == "__main__":
    for name, schema in schemas().items():
        Path(FOLDER, name).write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n", encoding="utf-8")
