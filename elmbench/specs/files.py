"""Where the YAML files are, and how one is read."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from elmbench.errors import ElmbenchError

SpecModel = TypeVar("SpecModel", bound=BaseModel)


@cache
def spec_root() -> Path:
    """Return the folder that holds `datasets.yaml` and `experiments/`.

    That is `elmbench/share` in an installed wheel and the top of the repository in a checkout.

    Raises
    ------
    ElmbenchError
        If neither holds the files.
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


class _UniqueKeyLoader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):  # type: ignore[misc]
    """A safe loader that refuses a key that stands twice in one mapping (YAML itself lets the last one win)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file.

    Raises
    ------
    ElmbenchError
        If the file cannot be read or is not valid YAML; the message names the line and column.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ElmbenchError(f"cannot read {path}: {error}", next_step="elmbench validate") from error
    try:
        return yaml.load(text, Loader=_UniqueKeyLoader)  # a subclass of the safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise ElmbenchError(
            f"{path}{where}: {problem}",
            expected="valid YAML, each key once",
            next_step="correct the line, then: elmbench validate",
        ) from error


def parse_spec(model: type[SpecModel], content: Any, source: Path | str, prefix: str = "") -> SpecModel:
    """Validate `content` and return it as `model`.

    Raises
    ------
    ElmbenchError
        Naming the file, every key at fault, what is there and what is allowed.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        lines = []
        for item in error.errors():
            key = ".".join(str(part) for part in item["loc"])
            key = ".".join(part for part in (prefix, key) if part)
            lines.append(_describe(model, item, key))
        raise ElmbenchError(
            "\n".join(f"{source}: {line}" for line in lines), next_step="correct it, then: elmbench validate"
        ) from error


def _describe(model: type[BaseModel], item: Any, key: str) -> str:
    if item["type"] == "extra_forbidden":
        allowed = _allowed_keys(model, item["loc"][:-1])
        return f"unknown key '{key}'" + (f"; allowed here: {', '.join(allowed)}" if allowed else "")
    if item["type"] == "missing":
        return f"the key '{key}' is missing"
    message = item["msg"].removeprefix("Value error, ")
    if isinstance(item["input"], str | int | float | bool) or item["input"] is None:
        return f"'{key}' is {item['input']!r}: {message}"
    return f"'{key}': {message}"


def _allowed_keys(model: type[BaseModel], path: tuple[Any, ...]) -> list[str]:
    """Return the keys of the model that stands at `path`, as far as annotations tell."""
    current: Any = model
    for part in path:
        candidates = _models_in(current.model_fields[part].annotation) if _has(current, part) else [current]
        if not candidates:
            return []
        current = candidates[0]
    names = []
    for name, field in current.model_fields.items():
        names.append(field.alias or name)
    return sorted(names)


def _has(model: Any, part: Any) -> bool:
    return isinstance(part, str) and part in model.model_fields


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    found: list[type[BaseModel]] = []
    for argument in getattr(annotation, "__args__", ()):
        found += _models_in(argument)
    return found
