"""The form of the records in a store, which is checked when they are read. A record may have the
right checksum but be another program's.
"""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from elmbench.errors import ElmbenchError
from elmbench.metrics import REGISTRY
from elmbench.tasks import FIT_KIND

#: The largest number of cells in a request.
_MOST_CELLS = 1_000_000
#: The number of classes that data with fewer rows may have: a part of the rows lacks some of them.
_MOST_ABSENT_CLASSES = 1_000
#: By how much a measure may leave its range, as its rounding errors do.
_ROUNDING = 1e-9


class _Form(BaseModel):
    """An object with these keys, and perhaps others."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


def _check_whole(number: float) -> float:
    """Return a number; raise ValueError if it is not a whole number."""
    if not number.is_integer():
        raise ValueError("expected a whole number")
    return number


def _check_text(text: str) -> str:
    """Return a text; raise ValueError if it holds a surrogate, which UTF-8 lacks."""
    text.encode()  # a surrogate raises UnicodeEncodeError, which is a ValueError
    return text


def _check_measures(measures: dict[str, float | None]) -> dict[str, float | None]:
    """Return measures as they are; raise ValueError if a value is outside the range of its metric.

    `measures`: {column: value}. A column is a metric, or a metric at a value, such as `gmean@h=50`.
    Missing values (None), and columns of other names, are not checked.
    """
    for column, value in measures.items():
        name, _, _ = column.partition("@")
        if name not in REGISTRY or value is None:
            continue
        unit = REGISTRY[name].unit
        if not unit.least - _ROUNDING <= value <= unit.greatest + _ROUNDING:
            raise ValueError(
                f"expected {name} to be from {unit.least} to {unit.greatest}"
            )
    return measures


_Number = float | None
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Whole = Annotated[float, Field(ge=0, lt=2**63), AfterValidator(_check_whole)] | None
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Index = Annotated[int, Field(ge=0, lt=2**31)]
_Measures = Annotated[dict[str, _Number], AfterValidator(_check_measures)]
_Text = Annotated[str, AfterValidator(_check_text)]


class _Predictions(_Form):
    """The predictions of a result; see `StoredPredictions`."""

    true: str
    predicted: str
    classes: Annotated[int, Field(ge=2, le=20_000)] | None = None
    scores: str = ""
    log_odds: str = ""
    rows: str = ""
    learnt: "_Predictions | None" = None


class _Result(_Form):
    """The values of all kinds of task that tables show."""

    status: Literal[
        "ok", "diverged", "timeout", "out-of-memory", "failed", "unavailable"
    ]
    reason: _Text
    traceback: str = ""
    params: dict[str, Any] = {}
    measured: _Measures = {}
    warnings: list[_Text] = []
    solvers: dict[str, _Count] = {}
    predictions: _Predictions | None = None
    seconds: _Seconds | None = None
    fit_seconds: _Seconds | None = None
    search_seconds: _Seconds | None = None
    predict_seconds: _Seconds | None = None
    condition: _Number = None
    limit: _Seconds | None = None
    n_units: _Whole = None
    n_train: _Whole = None
    n_test: _Whole = None
    scores: Any = None

    @model_validator(mode="after")
    def _search_has_seconds(self) -> Self:
        """Return the result; raise ValueError if it has the scores of a search, not its seconds."""
        if self.scores is not None and self.seconds is None:
            raise ValueError("expected the seconds of a search")
        return self

    @model_validator(mode="after")
    def _has_plausible_classes(self) -> Self:
        """Return the result; raise ValueError if its predictions have too many classes.

        They may have 1,000, or more if there are as many rows: the training and test rows of the
        result, `n_train` and `n_test`.
        """
        if self.predictions is None or self.predictions.classes is None:
            return self
        n_train = self.n_train or 0
        n_test = self.n_test or 0
        n_rows = int(n_train + n_test)
        most_classes = max(_MOST_ABSENT_CLASSES, n_rows)
        if self.predictions.classes > most_classes:
            raise ValueError(f"expected at most {most_classes} classes")
        return self


class _Content(_Form):
    """What determines the value of a task; see `Task.content`."""

    kind: str | None = None
    params: dict[str, Any] = {}


class _Split(_Form):
    """The sizes of the parts of a split; a share of the rows is no number of them."""

    train: Any = None
    test: Any = None


class _Protocol(_Form):
    """The protocol of a fit."""

    outer: _Split


class _Fit(_Form):
    """What determines the sizes and the kind of the predictions of a fit."""

    task: str
    protocol: _Protocol


class _StoredTask(_Form):
    """A result, with its task."""

    key: str
    unit: _Content
    #: The keys of the tasks that it needs, and the number of models that it fits; a plug-in's task
    #: may fail to count them.
    needs: list[str]
    fits: _Count | None
    result: _Result
    environment: str
    seconds: _Seconds = 0.0


class _Environment(_Form):
    """A description of software and machine."""

    python: str | None = None
    packages: dict[str, str | None] = {}


class _Request(_Form):
    """A request for cells, each a list of the values of `Cell`."""

    command: str
    cells: Annotated[list[list[Any]], Field(max_length=_MOST_CELLS)]
    whole: bool = False


class _Cell(_Form):
    """The values of a cell that a table is sorted and looked up by; see `Cell`."""

    dataset: str
    model: str
    run: _Index
    fold: _Index
    select: Literal["published", "nested", "once", "oracle"]
    reading: str
    key: str
    family: str
    unavailable: str = ""
    remarks: str = ""


_FORMS: dict[str, type[_Form]] = {
    "unit": _StoredTask,
    "environment": _Environment,
    "table": _Request,
}


def content_of_line(line: bytes) -> Any:
    """Return the content of a line of the log; None if it does not have the form of its kind.

    `line`: its SHA-256, which the caller has checked, the name of the record (`unit:KEY`,
    `environment:HASH` or `table:PROFILE/EXPERIMENT`) and JSON, separated by spaces and without the
    end of the line.
    """
    _, _, rest = line.partition(b" ")
    name, _, text = rest.partition(b" ")
    kind, _, key = name.decode().partition(":")
    try:
        content = json.loads(text)
        record = _FORMS[kind].model_validate(content)
        if isinstance(record, _StoredTask) and record.key != key:
            return None
        if isinstance(record, _Request):
            _check_cells(record.cells)
        if isinstance(record, _StoredTask):
            _check_task(record, content)
    # A ValidationError is a ValueError.
    except (ValueError, KeyError, RecursionError, TypeError, ElmbenchError):
        return None
    return content


def _check_task(record: _StoredTask, content: Any) -> None:
    """Raise ValueError or ElmbenchError if the predictions of a task are missing or cannot be used.

    They are missing if the task is a fit that ended ok. `content`: the JSON from which `record` was
    made.
    """
    result = record.result
    if record.unit.kind == FIT_KIND and result.status == "ok":
        fit = _Fit.model_validate(content["unit"])
        _check_fit(fit, result)
    if result.predictions is not None:
        _check_predictions(content["result"])


def _check_cells(cells: list[list[Any]]) -> None:
    """Raise ValueError or TypeError if a cell does not have the form of `_Cell`, or occurs twice.

    `cells`: for each cell the list of the values of `Cell`; the first six identify it.
    """
    positions = {tuple(values[:6]) for values in cells}
    if len(positions) != len(cells):
        raise ValueError("expected distinct cells")
    names = list(_Cell.model_fields)
    for values in cells:
        # Earlier versions stored further values at the end.
        by_name = dict(zip(names, values, strict=False))
        _Cell.model_validate(by_name)


def _check_fit(fit: _Fit, result: _Result) -> None:
    """Raise ValueError if the predictions of a fit that ended ok are missing or do not fit it.

    A classification has predictions with classes, a regression without; the rows are as many as its
    split plans.
    """
    if result.predictions is None:
        raise ValueError("expected the predictions of a fit")
    has_values = result.predictions.classes is None
    is_regression = fit.task == "regression"
    if has_values != is_regression:
        raise ValueError(f"expected the predictions of a {fit.task}")
    split = fit.protocol.outer
    _check_size(split.train, result.n_train)
    _check_size(split.test, result.n_test)


def _check_size(planned: Any, size: float | None) -> None:
    """Raise ValueError if a part of a split has not the planned number of rows.

    `planned`: the number from the specification; a share or None is not checked. `size`: the number
    of rows in the result; None if it is missing, which is an error too.
    """
    if isinstance(planned, int) and planned != size:
        raise ValueError(f"expected {planned} rows, found {size}")


def _check_predictions(result: dict[str, Any]) -> None:
    """Raise ElmbenchError if the predictions of a result cannot be used.

    `result`: its JSON, with `predictions` (see `StoredPredictions`) and perhaps `n_test`, the
    number of test rows.
    """
    from elmbench.evaluation.stored_predictions import StoredPredictions

    n_test = result.get("n_test")
    n_rows = None if n_test is None else int(n_test)
    stored = StoredPredictions(result["predictions"], n_rows)
    stored.check()
