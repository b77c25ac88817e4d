"""What `experiments/<paper>/paper.yaml` says: who wrote the paper, and how its open passages may be read."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


def _hyphens(name: str) -> str:
    return name.replace("_", "-")


class Spec(BaseModel):
    """A frozen model that refuses unknown keys and spells its own with hyphens."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=_hyphens, allow_inf_nan=False)


class ReadingValue(Spec):
    """One way to read a passage."""

    says: str
    #: What it changes, laid over the experiment.
    set: dict[str, Any] = Field(default_factory=dict)


class Reading(Spec):
    """A passage that the text does not settle; its first value is the default."""

    question: str
    values: dict[str, ReadingValue] = Field(min_length=2)

    @field_validator("values")
    @classmethod
    def _default_changes_nothing(cls, values: dict[str, ReadingValue]) -> dict[str, ReadingValue]:
        first = next(iter(values), None)
        if first is not None and values[first].set:
            raise ValueError(f"the first value, {first!r}, sets something; expected nothing, as it is the default")
        return values

    @property
    def default(self) -> str:
        return next(iter(self.values))


class Paper(Spec):
    """`experiments/<paper>/paper.yaml`: what the tables of one paper share."""

    key: str
    title: str
    authors: str
    year: int
    doi: str
    readings: dict[str, Reading] = Field(default_factory=dict)
