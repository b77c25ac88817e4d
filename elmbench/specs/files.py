"""The YAML files: their folder, their reader, their errors."""

import re
from collections.abc import Mapping
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from elmbench.errors import ElmbenchError, first_line, shortened
from elmbench.files import read_text

SpecModel = TypeVar("SpecModel", bound=BaseModel)

#: Messages in the terms of YAML, by pydantic's type of error.
_EXPECTED = dict.fromkeys(("tuple_type", "list_type"), "expected a list") | {
    **dict.fromkeys(("dict_type", "model_type"), "expected a mapping of keys"),
    "string_type": "expected text, which needs quotes if it looks like a number, a date or yes",
}
#: A part of an error's location that is the name of a type, such as `tuple[str, ...]`.
_TYPE = re.compile(
    r"(bool|float|int|str|none|\[key\])$|(list|tuple|dict|literal|function-after)\["
)
#: The most values of a file, those of an anchor counted at each alias, and the most levels of
#: nested lists and mappings.
MOST_VALUES = 500_000
MOST_LEVELS = 100
#: Largest number of faulty keys that an error names.
_NAMED = 20
_MERGE, _FLOAT, _INT = (
    f"tag:yaml.org,2002:{name}" for name in ("merge", "float", "int")
)
#: What to do about an invalid spec.
_NEXT_STEP = "correct it, then: elmbench validate"
_refuse = partial(yaml.constructor.ConstructorError, None, None)


class SpecPart(BaseModel):
    """A part of a spec: immutable, without unknown keys."""

    # Built on first use: a command needs few of the models, and building them all takes longer than
    # it does.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, content: Any) -> Any:
        """Return the content of a part as it is, before it is validated.

        Raises an error that names the allowed keys if it is a mapping with an unknown key.
        """
        allowed = _keys_of(cls)
        for key in content if isinstance(content, dict) else ():
            if key not in allowed:
                raise PydanticCustomError(
                    "unknown_key",
                    "",
                    {"key": str(key), "allowed": ", ".join(allowed) or "none"},
                )
        return content


@cache
def _keys_of(model: type[BaseModel]) -> dict[str, None]:
    """Return the keys of a part of a spec, as in files, in alphabetical order.

    It is a dict whose values are None, because the order of a dict is fixed and its look-up is
    fast.
    """
    return dict.fromkeys(
        sorted(field.alias or name for name, field in model.model_fields.items())
    )


def invalid(problem: str, expected: str) -> ElmbenchError:
    """Return, but do not raise, the error for an invalid spec, whose next step is to correct it.

    `problem`: the fault with its file and value. `expected`: the allowed content.
    """
    return ElmbenchError(problem, expected=expected, next_step=_NEXT_STEP)


@cache
def spec_root() -> Path:
    """Return the folder of the suite's `datasets.yaml` and `experiments/`.

    It is `elmbench/share` in a wheel, and the top of a checkout. Raises ElmbenchError if neither
    has the file.
    """
    package = Path(__file__).resolve().parent.parent
    for root in (package / "share", package.parent):
        if (root / "datasets.yaml").is_file():
            return root
    raise ElmbenchError(
        f"datasets.yaml is neither in {package / 'share'} nor in {package.parent}",
        expected="the specs, which every wheel of elmbench holds",
        next_step="pip install --force-reinstall elmbench",
    )


def is_checkout() -> bool:
    """Return True if the suite's specs are those of a checkout, which the user may change.

    It is False in an installation.
    """
    return spec_root() != Path(__file__).resolve().parent.parent / "share"


class SpecLoader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):  # type: ignore[misc]
    """A safe loader of YAML that reads 1e-3 as a number, and rejects ambiguous files.

    It rejects duplicate keys, numbers that YAML 1.1 reads in another base, files that are nested
    too deeply, and aliases that stand for too many values.
    """

    _level = 0

    def descend_resolver(
        self, current_node: yaml.Node | None, current_index: Any
    ) -> None:
        """Enter the node `current_node`, one level deeper; raise ConstructorError for too many
        levels.

        PyYAML calls this before the parser of C calls itself for the children of the node.
        """
        self._level += 1
        if self._level > MOST_LEVELS:
            mark = current_node.start_mark if current_node is not None else None
            raise _refuse(
                f"more than {MOST_LEVELS} levels of nested lists and mappings", mark
            )
        super().descend_resolver(current_node, current_index)

    def ascend_resolver(self) -> None:
        """Leave a node, one level up."""
        self._level -= 1
        super().ascend_resolver()

    def construct_document(self, node: yaml.Node) -> Any:
        """Return the content of a file in the types of Python.

        Raises ConstructorError if its aliases stand for too many values.
        """
        _count_values(node, {})
        return super().construct_document(node)

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Any, Any]:
        """Return a mapping as a dict; raise ConstructorError for a duplicate key.

        A key that is a list or mapping is an error too. Keys that `<<` merges may be replaced by
        others. `deep`: construct the values completely at once, as PyYAML defines it.
        """
        mapping: dict[Any, Any] = {}
        is_merged = False
        for key_node, value_node in node.value:
            # `<<: *anchor` merges the keys of a mapping, which other keys may replace.
            if key_node.tag == _MERGE:
                is_merged = True
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise _refuse("a key is not a plain word", key_node.start_mark)
            key = self.construct_object(key_node)
            if key in mapping:
                raise _refuse(f"duplicate key {key!r}", key_node.start_mark)
            mapping[key] = self.construct_object(value_node, deep)
        return super().construct_mapping(node, deep) if is_merged else mapping

    def construct_decimal(self, node: yaml.ScalarNode) -> int:
        """Return a decimal integer; raise ConstructorError for 010 and 1:30.

        YAML 1.1 reads these as 8 and 90. Numbers with more digits than Python reads are errors too.
        """
        if not re.fullmatch(r"[-+]?(0|[1-9][\d_]*)", node.value):
            problem = (
                f"{shortened(node.value)} is not a decimal number (a word needs quotes)"
            )
            raise _refuse(problem, node.start_mark)
        try:
            return int(node.value)
        except ValueError as error:  # Python refuses thousands of digits
            problem = f"a number of {len(node.value)} characters"
            raise _refuse(problem, node.start_mark) from error


def _count_values(node: yaml.Node, counts: dict[yaml.Node, int]) -> int:
    """Return the number of values of a node and those below it, in which keys are values, too.

    The values of an anchor are counted at each alias. `counts`: {node that has been counted: its
    number, or 0 while it is being counted}; it is updated. Raises ConstructorError if there are
    more than `MOST_VALUES`, or a node contains itself.
    """
    if isinstance(node, yaml.ScalarNode):
        return 1
    if node in counts:
        if counts[node] == 0:
            raise _refuse("an alias inside of its own anchor", node.start_mark)
        return counts[node]
    counts[node] = 0
    children = (
        chain.from_iterable(node.value)
        if isinstance(node, yaml.MappingNode)
        else node.value
    )
    count = 1 + sum(_count_values(child, counts) for child in children)
    if count > MOST_VALUES:
        problem = f"more than {MOST_VALUES:,} values, those of an anchor counted at each alias"
        raise _refuse(problem, node.start_mark)
    counts[node] = count
    return count


SpecLoader.add_constructor(_INT, SpecLoader.construct_decimal)
# YAML 1.1 takes 1e-3 and 1.5e3 for words: its floats need a point and a sign.
SpecLoader.add_implicit_resolver(
    _FLOAT, re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file in the types of Python; None for an empty file.

    Raises ElmbenchError, with the line and column, if it cannot be read, is not valid, or has a key
    twice.
    """
    text = read_text(path, expected="a text file in UTF-8", next_step=_NEXT_STEP)
    try:
        return yaml.load(text, SpecLoader)  # a subclass of the safe loader
    # Not only YAMLError: a value may contradict its tag, such as `!!float abc`.
    except Exception as error:
        mark = getattr(error, "problem_mark", None)
        location = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        message = f"{type(error).__name__}: {first_line(error)[:100]}"
        unreadable = f"a value that cannot be read ({message})"
        problem = f"{path}{location}: {getattr(error, 'problem', None) or unreadable}"
        next_step = "correct the line, then: elmbench validate"
        raise ElmbenchError(
            problem, expected="valid YAML, each key once", next_step=next_step
        ) from error


def raw_names(content: Mapping[str, Any], key: str) -> list[str]:
    """Return the names in content that is not validated yet, as texts.

    They are the items of the list, or the keys of the mapping, under `key`; none if there is
    neither, but a text or nothing.
    """
    names = content.get(key)
    return (
        [str(name) for name in names] if isinstance(names, list | tuple | dict) else []
    )


def parse_spec(
    model: type[SpecModel], content: Any, source: Path | str, prefix: str = ""
) -> SpecModel:
    """Return `content`, as YAML reads it, validated as an object of the class `model`.

    `source`: the file, which messages name. `prefix`: precedes the keys in messages. Raises
    ElmbenchError that names the file and up to 20 invalid keys, each with the allowed values.
    """
    try:
        return model.model_validate(content)
    except OverflowError as error:
        raise invalid(
            f"{source}: a number that is too large ({error})", "numbers of usual size"
        ) from error
    except ValidationError as error:
        problems: dict[tuple[str, ...], str] = {}
        for item in error.errors():
            location = tuple(
                str(part) for part in item["loc"] if not _TYPE.match(str(part))
            )
            problems.setdefault(
                location, _describe(item, ".".join(filter(None, (prefix, *location))))
            )
        # If several forms are allowed, the error inside the intended form is more helpful.
        parents = {
            location[:length]
            for location in problems
            for length in range(len(location))
        }
        lines = [
            f"{source}: {problem}"
            for location, problem in problems.items()
            if location not in parents
        ]
        omission = (
            [f"{source}: ... and {len(lines) - _NAMED} more"]
            if len(lines) > _NAMED
            else []
        )
        text = "\n".join(lines[:_NAMED] + omission)
        raise ElmbenchError(
            text, next_step="correct it, then: elmbench validate"
        ) from error


def _describe(item: Any, key: str) -> str:
    """Return one error of pydantic as a sentence in the words of this package.

    `item`: an entry of `ValidationError.errors()`. `key`: the path of the faulty key in the file,
    such as `models.eem.params`.
    """
    if item["type"] == "unknown_key":
        unknown = ".".join(filter(None, (key, item["ctx"]["key"])))
        return f"unknown key '{unknown}'; allowed here: {item['ctx']['allowed']}"
    if item["type"] == "missing":
        return f"the key '{key}' is missing"
    message = item["msg"].removeprefix("Value error, ")
    message = re.sub("^(Input should be|[A-Z][a-z]+ should have)", "expected", message)
    message = _EXPECTED.get(
        item["type"],
        re.sub("^expected (?=greater|less)", "expected a number ", message),
    )
    if not key:
        return message
    if isinstance(item["input"], str | int | float | bool) or item["input"] is None:
        return f"'{key}' is {item['input']!r}: {message}"
    return f"'{key}': {message}"
