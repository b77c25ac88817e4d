"""Conversion of frozen dataclasses to the JSON that keys of stored results hash, and back.

A field has its own name in the JSON, unless its metadata differ: the entries of a `FLAT` field are merged with those of
its owner; an `OPTIONAL` field is left out if it has its default; an `OMITTED` field is always left out.
"""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_type_hints

Content = dict[str, Any]
T = TypeVar("T")

FLAT = {"content": "flat"}
OPTIONAL = {"content": "optional"}
OMITTED = {"content": "omitted"}


def named(name: str) -> dict[str, str]:
    """Return the metadata of a field whose name in the content differs from its own."""
    return {"name": name}


def content_of(value: Any) -> Any:
    """Return a value in the types of JSON: its `content()`, the fields of a dataclass as a mapping, or itself."""
    if hasattr(value, "content"):
        return value.content()
    if is_dataclass(value):
        return content_of_fields(value)
    return list(value) if isinstance(value, tuple) else value


def content_of_fields(value: Any) -> Content:
    """Return the fields of a dataclass as a mapping."""
    values: Content = {}
    for field in fields(value):
        how, part = field.metadata.get("content"), getattr(value, field.name)
        if how == "flat":
            values |= content_of(part)
        elif how != "omitted" and not (how == "optional" and part == field.default):
            values[field.metadata.get("name", field.name)] = content_of(part)
    return values


def read_content(cls: type[T], content: Any, **omitted: Any) -> T:
    """Return the object with some content.

    `cls`: a dataclass, or a class with a `from_content`. `content`: may contain more than the fields of the object.
    `**omitted`: values of the fields that the content lacks, at any depth.
    """
    from_content = getattr(cls, "from_content", None)
    if from_content is not None:
        result: T = from_content(content)
        return result
    return read_fields(cls, content, **omitted)


def read_fields(cls: type[T], content: Mapping[str, Any], **omitted: Any) -> T:
    """Return a dataclass from the mapping of its fields."""
    values: dict[str, Any] = {}
    for field, kind in _fields_of(cls):  # type: ignore[arg-type]
        how, name = field.metadata.get("content"), field.metadata.get("name", field.name)
        if how == "omitted":
            values |= {field.name: omitted[field.name]} if field.name in omitted else {}
        elif how == "flat":
            values[field.name] = read_content(kind, content, **omitted)
        elif name in content or field.default is MISSING:
            value = content[name]
            readable = kind is not None and value is not None
            values[field.name] = read_content(kind, value, **omitted) if readable else _plain(value, field)
    return cls(**values)


def _plain(value: Any, field: Field[Any]) -> Any:
    return tuple(value) if isinstance(value, list) and str(field.type).startswith("tuple") else value


@cache
def _fields_of(cls: Any) -> list[tuple[Field[Any], Any]]:
    """Return the fields of a dataclass with the class that reads each; None for plain values."""
    hints = get_type_hints(cls)
    return [(field, _class_of(hints[field.name])) for field in fields(cls)]


def _class_of(hint: Any) -> Any:
    kinds = [kind for kind in get_args(hint) if kind is not NoneType] if isinstance(hint, UnionType) else [hint]
    readable = [kind for kind in kinds if is_dataclass(kind) or hasattr(kind, "from_content")]
    return readable[0] if readable else None
