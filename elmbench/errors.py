"""The one exception that users see, the one warning, and the wording of messages in the shell and
in Python.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from traceback import TracebackException
from typing import Self

_IN_PYTHON = ContextVar("in_python", default=False)


class ElmbenchError(Exception):
    """A problem that the user can act on.

    Attributes
    ----------
    found : str
        The problem, naming the file, key, value or cell at fault.
    expected : str, optional
        What was expected instead, such as the names that are allowed.
    next_step : str, optional
        The command or edit that comes next.
    """

    #: The exit code of a command that it ends.
    exit_code = 2

    def __init__(
        self, found: str, *, expected: str | None = None, next_step: str | None = None
    ) -> None:
        self.found = found
        self.expected = expected
        self.next_step = next_step
        super().__init__(found)

    def __str__(self) -> str:
        """Return the problem; below it, what was expected and what to do next, if given."""
        expected = f"\nExpected: {self.expected}" if self.expected else ""
        return (
            self.found
            + expected
            + (f"\nNext: {self.next_step}" if self.next_step else "")
        )

    def add_source(self, source: object) -> Self:
        """Put the name of the file at fault before the problem, in place, and return this error."""
        self.found = f"{source}: {self.found}"
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # The default drops the keyword arguments when the exception crosses a process boundary.
        """Return what pickle needs to build the error again, with its keyword arguments."""
        return partial(type(self), expected=self.expected, next_step=self.next_step), (
            self.found,
        )


class DataUnavailableError(ElmbenchError):
    """The error for a known data set of which no source can be reached here.

    Its cells get the status `unavailable`; the run goes on.
    """


class ElmbenchWarning(UserWarning):
    """A finding that the user can act on but that does not stop the run."""


@contextmanager
def messages_for_python() -> Iterator[None]:
    """Make messages in the block name arguments of a call from Python, see `wording`.

    Outside of the block, they name options of the command line.
    """
    token = _IN_PYTHON.set(True)
    try:
        yield
    finally:
        _IN_PYTHON.reset(token)


def wording(shell: str, python: str) -> str:
    """Return `python` in a call from Python (see `messages_for_python`), else `shell`."""
    return python if _IN_PYTHON.get() else shell


def option(name: str) -> str:
    """Return the name of an option as a user writes it.

    It is `--time-order` in the shell, and `time_order` in a call from Python.
    """
    return wording(f"--{name}", name.replace("-", "_"))


def amount(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 cell` or `0 cells`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


#: The most characters of a value that a message quotes.
_MOST_CHARACTERS = 60


def shortened(text: str) -> str:
    """Return a text; if it has more than `_MOST_CHARACTERS`, only these, and dots."""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


#: The most names that a message lists.
MOST_NAMES = 40


def closest(name: str, names: list[str]) -> str | None:
    """Return the one of `names` that `name` is most likely a typo or the beginning of.

    The shortest name that begins with a `name` of three letters or more comes first, then the most
    similar one. Upper and lower case count as equal. The result is None if no name is similar.
    """
    from difflib import get_close_matches

    typed = name.lower()
    if len(typed) > 2:
        longer = [one for one in names if one.lower().startswith(typed)]
        if longer:
            return min(longer, key=len)
    similar = get_close_matches(name, names, n=1)
    if similar:
        return similar[0]
    spellings = {one.lower(): one for one in names}
    similar = get_close_matches(typed, spellings, n=1)
    return spellings[similar[0]] if similar else None


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message.

    Without a message, it is the name of the exception's type. If the message cannot be made, as for
    some errors of liac-arff, it is that name and the line of the file at fault, if there is one.
    """
    try:
        lines = str(error).strip().splitlines()
    except (TypeError, ValueError):
        # liac-arff formats words of a file, such as 50%.
        line = getattr(error, "line", 0)
        return (
            f"{type(error).__name__} in line {line}"
            if line > 0
            else type(error).__name__
        )
    return lines[0] if lines else type(error).__name__


def describe_error(error: BaseException) -> str:
    """Return the type and the message of any exception, such as "ValueError: a message".

    The exception's `__str__` may fail.
    """
    return f"{type(error).__name__}: {message_of(error)}"


def message_of(error: BaseException) -> str:
    """Return the message of any exception, also of one whose `__str__` fails."""
    return str(TracebackException(type(error), error, None, compact=True))


def unknown_name(
    kind: str, name: str, names: list[str], next_step: str
) -> ElmbenchError:
    """Return the error for a name that does not exist, with the likeliest typo, to be raised.

    `kind`: what the name stands for, such as "model". `names`: those that exist; the error lists
    them unless they are more than `MOST_NAMES`. `next_step`: the command that lists them.
    """
    guess = closest(name, names)
    hint = f" (did you mean {guess!r}?)" if guess else ""
    few = (
        ", ".join(sorted(names))
        if len(names) <= MOST_NAMES
        else "the names that the next command lists"
    )
    return ElmbenchError(
        f"unknown {kind} {name!r}{hint}", expected=f"one of {few}", next_step=next_step
    )
