"""The inputs and the targets that take them: a target uses an input or refuses it by one `ElmbenchError`.

It raises nothing else, comes back, and takes no more memory than its files have any right to.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from elmbench.errors import ElmbenchError


@dataclass(frozen=True)
class Target:
    """A strategy of bytes, and a function of bytes and an empty folder."""

    inputs: Callable[[], st.SearchStrategy[bytes]]
    feed: Callable[[bytes, Path], None]


def feed(target: Target, content: bytes, folder: Path) -> None:
    """Feed a target, which must use the input or refuse it by one error of a few lines."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        target.feed(content, folder)
    except ElmbenchError as error:
        check_refusal(error)
    finally:
        shutil.rmtree(folder)


def check_refusal(refused: ElmbenchError) -> None:
    """Fail where memory or the stack had run out before an input was refused, or where pages are said of it."""
    cause: BaseException | None = refused
    while cause is not None:
        assert not isinstance(cause, MemoryError | RecursionError), f"refused by {type(cause).__name__}"
        cause = cause.__cause__ or cause.__context__
    assert len(str(refused)) < 20_000, "a message of pages"
