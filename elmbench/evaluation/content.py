"""Conversion of frozen dataclasses to the JSON that keys of stored results hash, and back.

A field has its own name in the JSON, unless its metadata differ: the entries of a `FLAT` field are
merged with those of its owner; an `OPTIONAL` field is left out if it has its default; an `OMITTED`
field is always left out.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from operator import methodcaller
from types import UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

FLAT = {"content": "flat"}
OPTIONAL = {"content": "optional"}
OMITTED = {"content": "omitted"}


def content_name(name: str) -> dict[str, str]:
    """Return the metadata of a field that has the key `name` in the content, not its own name."""
    return {"name": name}


def content_of(value: Any) -> Any:
    """Return a value in the types of JSON.

    An object with a method `content` becomes the result of that method, another dataclass a mapping
    of its fields, and a tuple a list of its items as they are. Any other value is returned as it
    is.
    """
    return _conversion(value.__class__)(value)


@cache  # a plan converts a million values
def _conversion(cls: type) -> Callable[[Any], Any]:
    """Return the function that converts a value of this class to the types of JSON.

    It calls the method `content` of a class that has one, makes a mapping of the fields of another
    dataclass and a list of a tuple (whose items stay as they are), and returns any other value as
    it is.
    """
    if hasattr(cls, "content"):
        return methodcaller("content")
    if is_dataclass(cls):
        return content_of_fields
    return list if issubclass(cls, tuple) else _unchanged


def _unchanged(value: Any) -> Any:
    """Return the value itself."""
    return value


def content_of_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as a mapping in the types of JSON.

    The keys are the names of the fields in the content, see `content_name`. A field with the tag
    `FLAT` is merged into the mapping; one with `OPTIONAL` is left out at its default, and one with
    `OMITTED` always. `value`: an instance of the dataclass.
    """
    values: dict[str, Any] = {}
    for field in _fields_in_content(value.__class__):
        part = getattr(value, field.attribute)
        if field.is_flat:
            values |= content_of(part)
        elif not (field.is_optional and part == field.default):
            values[field.name] = content_of(part)
    return values


class _FieldInContent(NamedTuple):
    """A field of a dataclass that is not `OMITTED`.

    `attribute`: its own name. `name`: its name in the content.
    """

    attribute: str
    name: str
    is_flat: bool
    is_optional: bool
    default: Any


@cache  # the metadata of a class are read once, not for each task of a plan
def _fields_in_content(cls: type) -> tuple[_FieldInContent, ...]:
    """Return the fields of a dataclass that its content may have, in order."""
    return tuple(
        _FieldInContent(
            attribute=field.name,
            name=_name_in_content(field),
            is_flat=field.metadata.get("content") == "flat",
            is_optional=field.metadata.get("content") == "optional",
            default=field.default,
        )
        for field in fields(cls)
        if field.metadata.get("content") != "omitted"
    )


def _name_in_content(field: Field[Any]) -> str:
    """Return the name of a field in the content: that of its metadata, else its own."""
    return str(field.metadata.get("name", field.name))


def read_content(cls: type[T], content: Any, **omitted: Any) -> T:
    """Return the object of class `cls` with some content, the reverse of `content_of`.

    `cls`: a tuple, a pydantic model, a dataclass, or a class with a `from_content`. `content`: may
    contain more than the fields of the object; a field that it lacks has its default (KeyError
    without one). `**omitted`: values of `OMITTED` fields by name, at any depth; others have their
    defaults.
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

    `kind`: the class to build, or None for a plain value; the value None stays None for any class.
    `content`: a mapping, which may lack a field with a default (KeyError for another one).
    `omitted`: {name of a field that is never in the content: its value}.
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
    """Return {field of a dataclass: the class that `read_content` must build}.

    The class is a tuple, a dataclass or a pydantic model; None stands for a plain value. Of a
    union, it is the first such class. `cls`: the dataclass.
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
