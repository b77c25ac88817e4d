"""The options of a user's file."""

from typing import Literal

from elmbench.specs.datasets.sources import SourceSpec


class UserFile(SourceSpec):
    """The options for reading a user's file, which `FileSource` describes."""

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
