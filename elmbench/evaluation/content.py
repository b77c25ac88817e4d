"""Conversion of frozen dataclasses to the JSON that keys of stored results hash, and back.

A field has its own name in the JSON, unless its metadata differ: the entries of a `FLAT` field are
merged with those of its owner; an `OPTIONAL` field is left out if it has its default; an `OMITTED`
field is always left out.
"""

from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

FLAT = {"content": "flat"}
OPTIONAL = {"content": "optional"}
OMITTED = {"content": "omitted"}


def content_name(name: str) -> dict[str, str]:
    """Return the metadata of a field that has this name in the content, instead of its own."""
    return {"name": name}


def content_of(value: Any) -> Any:
    """Return a value in the types of JSON.

    An object with a method `content` becomes the result of that method, another dataclass a mapping
    of its fields, and a tuple a list. Any other value is returned as it is.
    """
    if hasattr(value, "content"):
        return value.content()
    if is_dataclass(value):
        return content_of_fields(value)
    return list(value) if isinstance(value, tuple) else value


def content_of_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as a mapping in the types of JSON.

    The keys are the names of the fields in the content, see `content_name`. A field with the tag
    `FLAT` is merged into the mapping; one with `OPTIONAL` is left out at its default, and one with
    `OMITTED` always.
    """
    values: dict[str, Any] = {}
    for field in fields(value):
        tag = field.metadata.get("content")
        part = getattr(value, field.name)
        is_left_out = tag == "omitted" or (tag == "optional" and part == field.default)
        if tag == "flat":
            values |= content_of(part)
        elif not is_left_out:
            values[_name_in_content(field)] = content_of(part)
    return values


def _name_in_content(field: Field[Any]) -> str:
    """Return the name of a field in the content: that of its metadata, else its own."""
    return str(field.metadata.get("name", field.name))


def read_content(cls: type[T], content: Any, **omitted: Any) -> T:
    """Return the object of class `cls` with some content, the reverse of `content_of`.

    `cls`: a tuple, a pydantic model, a dataclass, or a class with a `from_content`. `content`: may
    contain more than the fields of the object. `**omitted`: values of `OMITTED` fields by name, at
    any depth; others have their defaults.
    """
    read: Any = getattr(cls, "from_content", getattr(cls, "model_validate", cls))
    if not is_dataclass(cls) or read is not cls:
        return read(content)
    kinds = _kinds(cls)
    values = {
        field.name: _read_field(field, kinds[field.name], content, omitted)
        for field in fields(cls)
    }
    return cls(**values)


def _read_field(
    field: Field[Any], kind: Any, content: Any, omitted: dict[str, Any]
) -> Any:
    """Return the value of one field of a dataclass, read from the content of the whole object.

    `kind`: the class to build, or None for a plain value. `content`: a mapping, which may lack a
    field with a default. `omitted`: values of fields that are never in the content, by name.
    """
    tag = field.metadata.get("content")
    if tag == "omitted":
        return omitted.get(field.name, field.default)
    if tag == "flat":
        return read_content(kind, content, **omitted)
    name = _name_in_content(field)
    if name not in content and field.default is not MISSING:
        return field.default
    part = content[name]
    # Plain values and None are their own content.
    is_plain = kind is None or part is None
    return part if is_plain else read_content(kind, part, **omitted)


@cache
def _kinds(cls: Any) -> dict[str, Any]:
    """Return, for each field of a dataclass, the class that `read_content` must build.

    The class is a tuple, a dataclass or a pydantic model; None stands for a plain value. Of a
    union, it is the first such class.
    """
    kinds = {}
    for name, hint in get_type_hints(cls).items():
        choices = [
            get_origin(kind) or kind
            for kind in (get_args(hint) if isinstance(hint, UnionType) else (hint,))
        ]
        readable = (
            kind
            for kind in choices
            if kind is tuple or is_dataclass(kind) or hasattr(kind, "model_validate")
        )
        kinds[name] = next(readable, None)
    return kinds
