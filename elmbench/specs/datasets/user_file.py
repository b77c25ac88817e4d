"""The options of a user's file."""

from typing import Literal

from elmbench.specs.datasets.sources import SourceSpec


class UserFile(SourceSpec):
    """How a user's file is read; `FileSource` describes each option."""

    path: str
    target: str | int = "target"
    drop: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    separator: str = ""
    decimal: Literal["", ".", ","] = ""
    header: bool | None = None
    drop_missing_target: bool = False
    test: str = ""
