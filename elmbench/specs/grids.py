"""Grids of hyperparameters: their notation in files, their values and their candidates."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, GetCoreSchemaHandler, JsonValue, model_validator
from pydantic_core import CoreSchema, core_schema

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

    #: The first value of a range.
    start: float | None = Field(default=None, alias="from")
    #: The end of a range.
    stop: float | None = Field(default=None, alias="to")
    #: The smallest and the largest exponent of powers of 2.
    powers_of_2: tuple[_Exponent2, _Exponent2] | None = None
    #: The smallest and the largest exponent of powers of 10.
    powers_of_10: tuple[_Exponent10, _Exponent10] | None = None
    #: The step of a range or of exponents.
    step: float | None = Field(default=None, gt=0)
    #: The values themselves.
    values: tuple[GridValue, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_values(cls, content: Any) -> Any:
        """Return a plain list of values as the form {values}, and a mapping as it is.

        Raises ValueError for anything else.
        """
        if not isinstance(content, dict | list | tuple | ValueRange):
            raise ValueError(f"expected a list of values, or {_FORMS}")
        return {"values": content} if isinstance(content, list | tuple) else content

    @model_validator(mode="after")
    def _is_complete(self) -> ValueRange:
        """Raise ValueError unless the keys of exactly one form are given, and all of them.

        The forms are a list of values, a range, powers of 2 and powers of 10. There may be 1 to
        10,000 values. Returns the object itself.
        """
        if len(self._forms) != 1:
            raise ValueError(f"expected {_FORMS}")
        if self.values is not None:
            self._check_list(self.values)
        else:
            self._check_steps()
        count = len(self.values) if self.values is not None else self._span.n_values
        if count < 1:
            raise ValueError("the grid holds no value")
        if count > _MOST:
            raise ValueError(f"the grid holds more than {_MOST:,} values")
        return self

    @property
    def _forms(self) -> list[str]:
        """The forms of which a key is given: "range", "powers-of-2", "powers-of-10" or "values".

        A valid entry has exactly one.
        """
        given = {
            "range": self.start is not None or self.stop is not None,
            "powers-of-2": self.powers_of_2 is not None,
            "powers-of-10": self.powers_of_10 is not None,
            "values": self.values is not None,
        }
        return [form for form, is_given in given.items() if is_given]

    def _check_list(self, values: Iterable[GridValue]) -> None:
        """Raise ValueError if the form {values} has a step, or a number written as text."""
        if self.step is not None:
            raise ValueError("a list of values takes no step")
        for value in values:
            if isinstance(value, str) and _NUMBER.fullmatch(value):
                raise ValueError(
                    f"{value!r} is text; expected a number, and powers as {{powers-of-2: [-8, 13]}}"
                )

    def _check_steps(self) -> None:
        """Raise ValueError if a range lacks a part, or the step between exponents is a fraction.

        The parts of a range are `from`, `to` and `step`; exponents without a step have the step 1.
        """
        if self._forms == ["range"]:
            if None in (self.start, self.stop, self.step):
                raise ValueError("a range needs from, to and step")
        elif self.step is not None and not self.step.is_integer():
            raise ValueError("the step between powers is a whole number")

    @property
    def _span(self) -> _Span:
        """The numbers of a range, or the exponents of powers; not for the form {values}.

        At most 10,001 numbers are counted, and none if the end is below the start. The step is 1
        unless it is given.
        """
        ends = (
            self.powers_of_2
            or self.powers_of_10
            or (self.start or 0.0, self.stop or 0.0)
        )
        start, stop = ends
        step = self.step or 1.0
        # Rounding must not lose the last value; an empty range has no values.
        last = min((stop - start) / step + 1e-9, _MOST)
        return _Span(start=start, step=step, n_values=math.floor(max(-1.0, last)) + 1)

    def expand(self) -> list[GridValue]:
        """Return the values in their order: the first of several equally good ones wins a search.

        Powers are floats. The numbers of a range are integers if its start and step are whole.
        """
        if self.values is not None:
            return list(self.values)
        numbers = self._span.numbers()
        if self.powers_of_2 is not None:
            return [2.0 ** int(exponent) for exponent in numbers]
        if self.powers_of_10 is not None:
            return [10.0 ** int(exponent) for exponent in numbers]
        return list(numbers)


class _Span(NamedTuple):
    """Equally spaced numbers; `n_values` is at most `_MOST` + 1."""

    start: float
    step: float
    n_values: int

    def numbers(self) -> list[float]:
        """Return the numbers, rounded to 12 decimals; integers if start and step are whole."""
        # Rounded, so that 0.05 * 3 is 0.15.
        values = [round(self.start + i * self.step, 12) for i in range(self.n_values)]
        are_whole = float(self.start).is_integer() and self.step.is_integer()
        return [int(value) for value in values] if are_whole else values


@dataclass(frozen=True)
class SearchGrid:
    """A grid from the file of a table to the candidates of a search.

    A file is parsed once: each hyperparameter has the list of its values from then on.

    Attributes
    ----------
    values : dict of str to list
        The values of each hyperparameter. The first of several equally good candidates wins, so
        the order of the names matters.
    notations : dict of str to ValueRange
        The notation of the values in a file, to show it.
    """

    values: dict[str, list[GridValue]]
    notations: dict[str, ValueRange] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema by which pydantic reads and writes {hyperparameter: notation}."""
        notations = handler.generate_schema(dict[str, ValueRange])
        return core_schema.no_info_after_validator_function(
            cls._from_notations,
            notations,
            serialization=core_schema.plain_serializer_function_ser_schema(
                cls._to_notations, return_schema=notations
            ),
        )

    @classmethod
    def _from_notations(cls, notations: dict[str, ValueRange]) -> Self:
        """Return the grid of the values that notations describe, by hyperparameter."""
        return cls(
            values={name: notation.expand() for name, notation in notations.items()},
            notations=notations,
        )

    def _to_notations(self) -> dict[str, ValueRange]:
        """Return {hyperparameter: notation of its values}.

        It is that of the file if the grid was read from one, and else the form {values}.
        """
        lists = {
            name: ValueRange.model_construct(values=tuple(values))
            for name, values in self.values.items()
        }
        return lists | self.notations

    def content(self) -> dict[str, Any]:
        """Return the JSON content of the grid, which is part of the key of a stored result.

        It is {"grid": {name: values}, "grid_order": [names]}.
        """
        return {"grid": self.values, "grid_order": self.names}

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Self:
        """Return the grid of the JSON content {"grid": {name: values}, "grid_order": [names]}.

        Content of earlier versions has no `grid_order`; the names then have the order of `grid`.
        """
        grid = content["grid"]
        return cls({name: grid[name] for name in content.get("grid_order", grid)})

    @property
    def names(self) -> list[str]:
        """The names of the hyperparameters, in order."""
        return list(self.values)

    @property
    def n_candidates(self) -> int:
        """The number of combinations of the values; 1 for a grid without hyperparameters."""
        return math.prod(map(len, self.values.values()))

    @property
    def middle(self) -> dict[str, GridValue]:
        """A dict {hyperparameter: its middle value, the later of two}."""
        return {name: values[len(values) // 2] for name, values in self.values.items()}

    def candidates(self) -> list[dict[str, GridValue]]:
        """Return every combination of the values, {name: value}, the last name varying fastest.

        A grid without hyperparameters gives a single empty dict. Raises ElmbenchError if there are
        more than a million combinations.
        """
        if self.n_candidates > _MOST_COMBINATIONS:
            raise ElmbenchError(
                f"the grids of {', '.join(self.names)} have {self.n_candidates:,} combinations",
                expected=f"at most {_MOST_COMBINATIONS:,}",
                next_step="make them coarser, or search fewer hyperparameters at once",
            )
        return [
            dict(zip(self.names, combination, strict=True))
            for combination in itertools.product(*self.values.values())
        ]

    def select(self, names: Iterable[str]) -> SearchGrid:
        """Return the grid of the hyperparameters `names` alone, in this order.

        Raises KeyError for an unknown one. The notations are left out.
        """
        return SearchGrid({name: self.values[name] for name in names})

    def thin(self, step: int) -> SearchGrid:
        """Return the grid of every `step`-th value of each hyperparameter, the first included."""
        return SearchGrid(
            {name: values[::step] for name, values in self.values.items()}
        )


def read_all_grids(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the grids of texts such as `k-elm: {C: [1, 10], gamma: {powers-of-2: [-8, 0]}}`.

    The result is {model: {hyperparameter: notation}}, with notations as in files; a single value
    becomes a list. A model in several texts has the grid of the last one. Raises ElmbenchError for
    a text of another form or an invalid notation.
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
        except (
            Exception
        ) as error:  # a value may contradict its tag, such as `!!float abc`
            reason = getattr(error, "problem", None) or error
            raise error_for(
                f"the grid {shortened(text)!r} is not valid YAML: {reason}"
            ) from error
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
