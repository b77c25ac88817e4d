"""The form of the records in a store. A record may have the right checksum but be another
program's.
"""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


class _Form(BaseModel):
    """An object with these keys, and perhaps others."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


def _check_whole(number: float) -> float:
    if not number.is_integer():
        raise ValueError("expected a whole number")
    return number


_Number = float | None
_Whole = Annotated[float, AfterValidator(_check_whole)] | None
_Index = Annotated[int, Field(ge=0, lt=2**31)]


class _Predictions(_Form):
    """The predictions of a result; `StoredPredictions` checks their parts."""

    true: str
    predicted: str
    classes: Annotated[int, Field(ge=2, le=20_000)] | None = None
    scores: str = ""
    log_odds: str = ""
    rows: str = ""


class _Result(_Form):
    """The values of all kinds of work that tables show."""

    status: Literal["ok", "diverged", "timeout", "out-of-memory", "failed", "unavailable"]
    reason: str
    traceback: str = ""
    params: dict[str, Any] = {}
    measured: dict[str, _Number] = {}
    warnings: list[str] = []
    solvers: dict[str, int] = {}
    predictions: _Predictions | None = None
    seconds: _Number = None
    fit_seconds: _Number = None
    search_seconds: _Number = None
    predict_seconds: _Number = None
    condition: _Number = None
    limit: _Number = None
    n_units: _Whole = None
    n_train: _Whole = None
    n_test: _Whole = None
    scores: Any = None

    @model_validator(mode="after")
    def _search_has_seconds(self) -> Self:
        if self.scores is not None and self.seconds is None:
            raise ValueError("expected the seconds of a search")
        return self


class _Content(_Form):
    """What determines the value of work; see `Work.content`."""

    params: dict[str, Any] = {}


class _Work(_Form):
    """A result, with the work that it is of."""

    key: str
    unit: _Content
    result: _Result
    environment: str
    seconds: float = 0.0


class _Environment(_Form):
    """A description of software and machine."""

    python: str | None = None
    packages: dict[str, str | None] = {}


class _Request(_Form):
    """A request for cells, each a list of the values of `Cell`."""

    command: str
    cells: list[list[Any]]
    whole: bool = False


class _Cell(_Form):
    """The values of a cell that a table is sorted and looked up by; see `Cell`."""

    dataset: str
    model: str
    run: _Index
    fold: _Index
    select: Literal["published", "nested", "oracle"]
    reading: str
    key: str
    family: str
    unavailable: str = ""
    remarks: str = ""


_FORMS: dict[str, type[_Form]] = {
    "unit": _Work,
    "environment": _Environment,
    "table": _Request,
}


def content_of(line: bytes) -> Any:
    """Return the content of a line of the log with the right checksum; None if it does not have the
    form of its kind.
    """
    _, _, rest = line.partition(b" ")
    name, _, text = rest.partition(b" ")
    kind, _, key = name.decode().partition(":")
    try:
        content = json.loads(text)
        record = _FORMS[kind].model_validate(content)
        if isinstance(record, _Work) and record.key != key:
            return None
        if isinstance(record, _Request):
            for values in record.cells:
                _Cell.model_validate(dict(zip(_Cell.model_fields, values, strict=False)))
    except (ValueError, KeyError, RecursionError):  # a ValidationError is a ValueError
        return None
    return content
