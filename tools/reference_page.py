"""Write `docs/reference.md`, the page of all keys of the YAML files: `make reference`.

Keys, types, defaults and meanings are those of the classes that read the files. An example is the
most frequent short value in the files of the suite.
"""

import re
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from elmbench.specs.files import read_yaml, spec_root
from elmbench.specs.schemas import Schema, all_definitions

PAGE = Path(__file__).parents[1] / "docs/reference.md"
_TEMPLATES = Path(__file__).parents[1] / "elmbench/specs/new_paper/files"
_LONGEST_EXAMPLE = 70
#: The line that ends the part of the page that is written by hand.
_MARK = "<!-- make reference -->\n"
#: The heading of each class below the name of its file: the place of its keys in the file.
_FILES: dict[str, dict[str, str]] = {
    "elmbench.toml": {"ProjectFile": "all keys of elmbench.toml"},
    "datasets.yaml": {
        "DatasetSpec": "a data set",
        "Shape": "shape",
        "Fingerprint": "fingerprint",
        "FileSource": "sources: file",
        "ArchiveSource": "sources: archive",
        "Member": "sources: archive: members",
        "OpenMLSource": "sources: openml",
        "LibsvmSource": "sources: libsvm",
        "ScikitLearnSource": "sources: scikit-learn",
        "GeneratorSource": "sources: generator",
        "PlainStep": "prepare: steps without options",
        "Ordinal": "prepare: ordinal",
        "DropColumns": "prepare: drop-columns",
        "Round": "prepare: round",
        "ResizeImages": "prepare: resize-images",
    },
    "paper.yaml": {
        "Paper": "a paper",
        "Reading": "readings",
        "ReadingValue": "readings: values",
        "MainClaim": "main-claims",
        "ShortSentence": "in-short",
        "PooledMeasures": "in-short: measures",
        "QuotedValue": "in-short: values",
        "PaperFinding": "findings",
    },
    "TABLE.yaml": {
        "Experiment": "a table",
        "Protocol": "protocol",
        "Scale": "protocol: scale",
        "TargetScale": "protocol: targets",
        "Outer": "protocol: outer",
        "PartSizes": "protocol: outer: sizes",
        "OuterOverride": "protocol: outer: except",
        "Splitter": "protocol: inner",
        "ValueRange": "grids",
        "ModelColumn": "models",
        "ModelOverride": "models: except",
        "StandIn": "models: stands-in-for",
        "Published": "published",
        "Claim": "claims",
        "OtherComparison": "claims: also",
        "Expectation": "expect",
        "Profile": "profiles",
    },
}
#: The heading of each class on the page.
HEADINGS = {
    name: heading for classes in _FILES.values() for name, heading in classes.items()
}
#: Examples of keys that no file of the suite has.
_EXAMPLES: dict[str, dict[str, str]] = {
    "ProjectFile": {
        "plugins": '["models.py"]',
        "specs": '["."]',
        "data": '"data"',
        "results": '"elmbench-results"',
    },
    "DatasetSpec": {
        "groups": "patient",
        "fold": "fold",
        "weights": "weight",
        "ordered_by": "date",
        "day_first": "true",
        "file": "digits",
        "training_part": "{instances: 300, features: 7}",
        "fingerprint": "{columns: [...], rows: [...], target: [...]}",
    },
    "FileSource": {
        "path": "wheat.csv",
        "target": "species",
        "dates": '{measured: "%d.%m.%Y"}',
        "drop": "[number]",
        "words": "[postcode]",
        "text": "[remark]",
        "separator": '";"',
        "decimal": '","',
        "header": "false",
        "drop_missing_target": "true",
        "test": "wheat-test.csv",
        "sha256": "[9f86d081...]",
    },
    "Outer": {
        "file": "splits.csv",
        "test": "0.3",
        "train": "200",
        "sizes": "{wheat: {train: 80, test: 40}}",
    },
    "Experiment": {
        "without": "[models]",
        "data": "{sparse-10k: {density: 0.6}}",
        "other-rows": "{wheat: the paper had 210 rows}",
        "claims": "[{says: ..., dataset: wheat, metric: f1, model: LDA, is: above, ...}]",
        "expect": "[{metric: accuracy, verdict: does not hold, reason: ...}]",
    },
    "Protocol": {
        "metrics-except": "{wheat: [f1]}",
    },
    "Splitter": {
        "file": "inner.csv",
        "test": "0.5",
        "train": "100",
    },
    "Paper": {
        "main-claims": "[{says: ..., where: abstract, tested-by: {miller/table1: [...]}}]",
        "in-short": "[{says: ..., values: {best: {table: miller/table1, ...}}}]",
        "findings": "[{title: ..., evidence: [...], tables: [miller/table1]}]",
        "readings": "{scaling: {question: ..., values: {...}}}",
        "margins": "{f1: 0.02}",
    },
    "ShortSentence": {
        "says": "LDA has an F1 score of {best.ours} ({best.published} printed).",
        "measures": "{f1: {tables: [miller/table1], metric: f1}}",
        "values": "{best: {table: miller/table1, ...}}",
    },
    "PooledMeasures": {
        "tables": "[miller/table1, miller/table2]",
        "metric": "f1",
        "models": "[LDA, QDA]",
        "datasets": "[wheat]",
    },
    "QuotedValue": {
        "table": "miller/table1",
        "dataset": "wheat",
        "model": "LDA",
        "metric": "f1",
        "reading": "scaling=train",
    },
    "Reading": {
        "values": "{all: {says: ...}, train: {says: ..., set: {...}}}",
    },
    "PaperFinding": {
        "title": "The order of the models holds",
        "evidence": "[The best model is the same on 9 of 10 data sets.]",
    },
    "ModelColumn": {
        "not-run": "{adult: the kernel matrix does not fit into memory}",
        "train-rows": "10000",
        "stands-in-for": "{parameters: the number of nodes}",
    },
    "ModelOverride": {
        "stands-in-for": "{model: the authors' kernel}",
    },
    "StandIn": {
        "model": "the authors' kernel",
        "parameters": "the number of nodes",
    },
    "Expectation": {
        "dataset": "wheat",
        "model": "LDA",
    },
    "Profile": {
        "models": "[LDA]",
        "test-rows": "1000",
    },
}
#: The words for simple types of JSON schemas.
_SIMPLE_TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
}
#: The words for definitions that have no section of their own.
_WORDS = {"JsonValue": "any value", "SourceSpec": "[source](#sources-file)"}
_NOT_IN_ANCHORS = re.compile(r"[^a-z0-9 -]")


def page() -> str:
    """Return the text of the page; the part before the mark stays."""
    definitions = all_definitions()
    examples = _examples(definitions)
    parts = [PAGE.read_text("utf-8").partition(_MARK)[0] + _MARK]
    for file, classes in _FILES.items():
        parts.append(f"## {file}\n")
        for name, heading in classes.items():
            parts.append(f"### {heading}\n")
            parts.append(_section(definitions[name], name, examples))
    return "\n".join(parts)


def _section(
    definition: Schema, name: str, examples: dict[tuple[str, str], str]
) -> str:
    """Return the description of a class and the table of its keys."""
    required = definition.get("required", [])
    lines = [
        definition["description"],
        "",
        "| key | type | default | meaning | example |",
    ]
    lines.append("|---|---|---|---|---|")
    properties = sorted(
        definition["properties"].items(), key=lambda item: item[0] not in required
    )
    for key, entry in properties:
        default = "" if key in required else _default_of(entry)
        meaning = _escaped(entry["description"])
        example = _code(examples.get((name, key), ""))
        cells = [f"`{key}`", _type_of(entry), default, meaning, example]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    """Return a text of a cell of a Markdown table."""
    return text.replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{_escaped(text)}`" if text else ""


def _default_of(entry: Schema) -> str:
    if "default" not in entry or entry["default"] in (None, "", [], {}):
        return "none"
    return _code(_flow(entry["default"]))


def _type_of(entry: Schema) -> str:
    """Return the type of a value in words."""
    if "$ref" in entry:
        name = entry["$ref"].rpartition("/")[2]
        return _WORDS.get(name) or _link_to(HEADINGS[name])
    if "const" in entry:
        return _code(str(entry["const"]))
    if "enum" in entry:
        return ", ".join(_code(str(word)) for word in entry["enum"])
    for form in ("anyOf", "oneOf"):
        if form in entry:
            types = dict.fromkeys(map(_type_of, entry[form]))
            return " or ".join(name for name in types if name != "null")
    if entry.get("type") == "array":
        return _list_type(entry)
    if entry.get("type") == "object":
        values = entry.get("additionalProperties", {})
        is_known = isinstance(values, dict) and bool(values)
        return f"mapping of names to: {_type_of(values)}" if is_known else "mapping"
    return _SIMPLE_TYPES.get(entry.get("type", ""), "any value")


def _link_to(heading: str) -> str:
    """Return a link to a section of the page."""
    anchor = _NOT_IN_ANCHORS.sub("", heading.lower()).replace(" ", "-")
    return f"[{heading}](#{anchor})"


def _list_type(entry: Schema) -> str:
    if "prefixItems" in entry:
        return "list of " + ", ".join(map(_type_of, entry["prefixItems"]))
    if "items" not in entry:
        return "empty list"
    return f"list: {_type_of(entry['items'])}"


def _examples(definitions: dict[str, Schema]) -> dict[tuple[str, str], str]:
    """Return an example of each key, by the name of its class."""
    values: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for root, content in _contents():
        for key, value in _values_in(content, {"$ref": f"#/$defs/{root}"}, definitions):
            text = _flow(value)
            if value not in ({}, [], None) and len(text) <= _LONGEST_EXAMPLE:
                values[key][text] += 1
    examples = {
        key: min(counts, key=lambda text: (-counts[text], len(text), text))
        for key, counts in values.items()
    }
    for class_name, examples_of_keys in _EXAMPLES.items():
        for name_of_key, example in examples_of_keys.items():
            examples[class_name, name_of_key] = example
    # Keys that all sources have.
    of_any_class = {key: text for (_, key), text in examples.items()}
    for name in HEADINGS:
        for key, entry in definitions[name]["properties"].items():
            fallback = _word_of(entry) or of_any_class.get(key, "")
            examples.setdefault((name, key), fallback)
    return examples


def _word_of(entry: Schema) -> str:
    """Return a value that the type of a key fixes; empty if it fixes none."""
    words = entry.get("enum") or ["true" if entry.get("type") == "boolean" else ""]
    return str(entry.get("const", words[-1]))


def _contents() -> Iterator[tuple[str, Any]]:
    """Yield the content of each YAML file, or entry of one, with the name of its class."""
    root = spec_root()
    papers = [
        *root.glob("experiments/*/*.yaml"),
        *_TEMPLATES.glob("experiments/*/*.yaml"),
    ]
    for path in sorted(papers):
        yield "Paper" if path.name == "paper.yaml" else "Experiment", read_yaml(path)
    for path in (root / "datasets.yaml", _TEMPLATES / "datasets.yaml"):
        for entry in read_yaml(path).values():
            yield "DatasetSpec", entry


def _values_in(
    value: Any, schema: Schema, definitions: dict[str, Schema]
) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield each value below a value, with the name of its class and its key."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    definition = definitions.get(name, schema)
    for form in (*definition.get("anyOf", ()), *definition.get("oneOf", ())):
        yield from _values_in(value, form, definitions)
    if isinstance(value, list) and "items" in definition:
        for item in value:
            yield from _values_in(item, definition["items"], definitions)
    if not isinstance(value, dict):
        return
    properties = definition.get("properties", {})
    if properties and _fits(value, properties):
        for key, part in value.items():
            yield (name, key), part
            yield from _values_in(part, properties[key], definitions)
    elif isinstance(definition.get("additionalProperties"), dict):
        for part in value.values():
            yield from _values_in(part, definition["additionalProperties"], definitions)


def _fits(value: dict[str, Any], properties: Schema) -> bool:
    """Return True if a mapping has no unknown keys, and the kind of its class."""
    if not set(value) <= set(properties):
        return False
    for key in ("kind", "step"):
        entry = properties.get(key, {})
        words = entry.get("enum") or [
            word for word in [entry.get("const")] if word is not None
        ]
        if words and value.get(key, words[0]) not in words:
            return False
    return True


def _flow(value: Any) -> str:
    """Return a value as YAML of one line."""
    if isinstance(value, str | bool | int | float) or value is None:
        text = yaml.safe_dump(value, width=10_000, allow_unicode=True)
        return text.removesuffix("\n").removesuffix("\n...")
    if isinstance(value, tuple):
        value = list(value)
    return yaml.safe_dump(
        value,
        default_flow_style=True,
        width=10_000,
        sort_keys=False,
        allow_unicode=True,
    ).strip()


def main() -> None:
    """Write the page."""
    ArgumentParser(description=__doc__).parse_args()
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
