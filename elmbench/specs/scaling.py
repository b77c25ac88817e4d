"""The scaling of inputs and targets in an experiment file."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import model_validator

from elmbench.specs.papers import Spec


class Scale(Spec):
    """Linear scaling of each column of the inputs.

    `range` brings the smallest and the largest value to its two ends, `standard` brings the mean to
    0 and the deviation to 1, `max-abs` divides by the largest absolute value. `unit-rows` divides
    each row by its length, as is usual for texts. The last two preserve sparsity.
    """

    #: The kind of scaling.
    kind: Literal["range", "standard", "max-abs", "unit-rows"] = "range"
    #: Both ends of the range of each column, for the kind `range`.
    range: tuple[float, float] = (0.0, 1.0)
    #: The rows that determine the factors: all (as in the papers) or the training part.
    fit_on: Literal["all", "train"] = "all"

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        """Raise ValueError if the range is not ascending, or has equal ends."""
        if self.range[0] >= self.range[1]:
            raise ValueError(
                f"the range is {list(self.range)}; expected its smaller end first"
            )
        return self

    def content(self) -> dict[str, Any]:
        """Return the JSON content of the scaling, which is part of the key of a stored result.

        It is {"range": [low, high]} or {"kind": name}, with "fit-on": "all" or "train".
        """
        scaling: dict[str, Any] = (
            {"range": list(self.range)} if self.kind == "range" else {"kind": self.kind}
        )
        return scaling | {"fit-on": self.fit_on}


class TargetScale(Scale):
    """Scaling of the targets of a regression, and the units of its metrics.

    These are scaled (as in the papers) or those of the file.
    """

    #: Not `unit-rows`, which would leave only the sign of a target.
    kind: Literal["range", "standard", "max-abs"] = "range"
    #: The unit of metrics such as rmse.
    metrics: Literal["scaled", "original"] = "scaled"

    def content(self) -> dict[str, Any]:
        """Return the JSON content of the scaling, which is part of the key of a stored result.

        It is {"range": [low, high]} or {"kind": name}, with "fit-on"; and "metrics": "original" if
        metrics are in the file's units.
        """
        return (
            {} if self.metrics == "scaled" else {"metrics": self.metrics}
        ) | super().content()
