"""Grids of hyperparameters in experiment files, and their candidates."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any

from pydantic import Field, JsonValue, model_validator

from elmbench.errors import ElmbenchError, shortened
from elmbench.specs.files import SpecLoader, parse_spec
from elmbench.specs.papers import Spec

#: Largest numbers of values in a grid, and of combinations of several grids.
_MOST = 10_000
_MOST_COMBINATIONS = 1_000_000
#: A number, a fraction or a power as text, such as 2^-3.
_NUMBER = re.compile(r"[-+.\d]+(([eE,/^]|\*\*)[-+.\d]+)?")
_FORMS = "one of {from, to, step}, {powers-of-2}, {powers-of-10} or {values}"
#: Exponents of powers, which are at most 1e300 and at least 1e-300.
_Exponent2 = Annotated[int, Field(ge=-996, le=996)]
_Exponent10 = Annotated[int, Field(ge=-300, le=300)]
Value = float | int | str | bool
#: A value of a grid: a single value, or a list such as a list of kernels.
GridValue = Value | list[JsonValue] | None


class ValueRange(Spec):
    """The values of one hyperparameter: a range, powers of a base, or a list.

    `{from: 100, to: 1000, step: 50}`, `{powers-of-2: [-8, 13], step: 3}` or `{values: [1, 5, 10]}`;
    a plain list is short for the last. Both ends belong to the range if the step reaches them. A
    value may be a list itself.
    """

    start: float | None = Field(default=None, alias="from")
    stop: float | None = Field(default=None, alias="to")
    powers_of_2: tuple[_Exponent2, _Exponent2] | None = None
    powers_of_10: tuple[_Exponent10, _Exponent10] | None = None
    step: float | None = Field(default=None, gt=0)
    values: tuple[GridValue, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_values(cls, content: Any) -> Any:
        if not isinstance(content, dict | list | tuple | ValueRange):
            raise ValueError(f"expected a list of values, or {_FORMS}")
        return {"values": content} if isinstance(content, list | tuple) else content

    @model_validator(mode="after")
    def _one_form(self) -> ValueRange:
        span = self.start is not None or self.stop is not None
        forms = [
            span,
            self.powers_of_2 is not None,
            self.powers_of_10 is not None,
            self.values is not None,
        ]
        if sum(forms) != 1:
            raise ValueError(f"expected {_FORMS}")
        if span and (self.start is None or self.stop is None or self.step is None):
            raise ValueError("a range needs from, to and step")
        if self.values is not None and self.step is not None:
            raise ValueError("a list of values takes no step")
        if not span and self.step is not None and not self.step.is_integer():
            raise ValueError("the step between powers is a whole number")
        for value in self.values or ():
            if isinstance(value, str) and _NUMBER.fullmatch(value):
                raise ValueError(
                    f"{value!r} is text; expected a number, and powers as {{powers-of-2: [-8, 13]}}"
                )
        count = self._span()[2] if self.values is None else len(self.values)
        if not 1 <= count <= _MOST:
            raise ValueError(
                "the grid holds no value"
                if count < 1
                else f"the grid holds more than {_MOST:,} values"
            )
        return self

    def _span(self) -> tuple[float, float, int]:
        """Return first value, step and number of values of a range, or of exponents; at most
        `_MOST` + 1 count.
        """
        start, stop = self.powers_of_2 or self.powers_of_10 or (self.start or 0.0, self.stop or 0.0)
        step = self.step or 1.0
        return start, step, math.floor(max(-1.0, min((stop - start) / step + 1e-9, _MOST))) + 1

    def expand(self) -> list[GridValue]:
        """Return the values. The first of several equally good ones wins, so their order
        matters.
        """
        if self.values is not None:
            return list(self.values)
        start, step, count = self._span()
        # Rounded, so that 0.05 * 3 is 0.15.
        values = [round(start + i * step, 12) for i in range(count)]
        if self.start is None:
            base = 2.0 if self.powers_of_2 else 10.0
            return [base ** int(exponent) for exponent in values]
        return (
            [int(v) for v in values] if start.is_integer() and step.is_integer() else list(values)
        )

    def thin(self, step: int) -> ValueRange:
        """Return the grid of every `step`-th value, the first included."""
        return ValueRange(values=tuple(self.expand()[::step]))


def read_all_grids(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the grids of texts such as `k-elm: {C: [1, 10], gamma: {powers-of-2: [-8, 0]}}`, by
    model.
    """
    import yaml

    error_for = partial(
        ElmbenchError,
        expected="a model and the values of its hyperparameters, such as 'k-elm: {C: [1, 10]}'",
        next_step="correct it",
    )
    grids: dict[str, dict[str, Any]] = {}
    for text in texts:
        # An address contains a colon, so its name is quoted, which YAML reads as the same text.
        text = re.sub(r"^\s*([\w.]+:\w+)\s*:(?=\s)", r'"\1":', text)
        try:
            content = yaml.load(text, SpecLoader)
        except Exception as error:  # a value may contradict its tag, such as `!!float abc`
            reason = getattr(error, "problem", None) or error
            raise error_for(f"the grid {shortened(text)!r} is not valid YAML: {reason}") from error
        if not isinstance(content, dict) or not all(
            isinstance(grid, dict) for grid in content.values()
        ):
            raise error_for(
                f"the grid {shortened(text)!r} does not give a model its hyperparameters"
            )
        for model, grid in content.items():
            for name, values in grid.items():
                grid[name] = values if isinstance(values, dict | list) else [values]
                try:
                    parse_spec(ValueRange, grid[name], "--grid", f"{model}.{name}")
                except ElmbenchError as error:
                    raise error_for(error.found) from error
            grids[str(model)] = grid
    return grids


def thin(search: Any, step: int) -> Any:
    """Return grids by name with every `step`-th value, the first included; names of grids alone
    stay as they are.
    """
    return (
        {name: grid.thin(step) for name, grid in search.items()}
        if isinstance(search, dict)
        else search
    )


def candidates(grids: dict[str, list[GridValue]]) -> list[dict[str, GridValue]]:
    """Return every combination of the grids' values, at most a million, the last name varying
    fastest.
    """
    if (count := math.prod(map(len, grids.values()))) > _MOST_COMBINATIONS:
        raise ElmbenchError(
            f"the grids of {', '.join(grids)} have {count:,} combinations",
            expected=f"at most {_MOST_COMBINATIONS:,}",
            next_step="make them coarser, or search fewer hyperparameters at once",
        )
    names = list(grids)
    return [
        dict(zip(names, combination, strict=True))
        for combination in itertools.product(*grids.values())
    ]
