"""JSON lines between two processes of which one may be hostile: bounded in size, numbered, checked before use."""

import json
import os
import re
import select
from typing import Any

#: Bytes of one line. A million predictions take about ten million.
LONGEST = 200_000_000
#: Characters of a message that are kept.
LONGEST_REASON = 500
_CUT = {"reason": LONGEST_REASON, "warnings": LONGEST_REASON, "traceback": 5000}
#: What a whole number may be, and how deep lists and objects may lie in each other.
_LARGEST = 2**63 - 1
_DEEPEST = 40
#: Half characters, what a terminal acts on beside the end of a line and tabs, what turns the order of writing.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Garbled(Exception):
    """What came is no answer to what was asked; the message says why."""


class Lines:
    """The lines that come out of a descriptor.

    Parameters
    ----------
    descriptor : int
        Of the reading end of a pipe.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._bytes = bytearray()
        self._end = -1

    def read(self) -> bool:
        """Take what is there, waiting where nothing is; return whether the other end is still open.

        Raises
        ------
        Garbled
            If a line is longer than `LONGEST`.
        """
        chunk = os.read(self.descriptor, 1 << 16)
        if self._end < 0 and (place := chunk.find(b"\n")) >= 0:
            self._end = len(self._bytes) + place
        self._bytes += chunk
        if self._end < 0 and len(self._bytes) > LONGEST:
            raise Garbled(f"an answer of more than {LONGEST:,} bytes")
        return bool(chunk)

    def take(self) -> bytes | None:
        """Return the first line that has come; None where none is whole."""
        if self._end < 0:
            return None
        line = bytes(self._bytes[: self._end])
        del self._bytes[: self._end + 1]
        self._end = self._bytes.find(b"\n")
        return line

    @property
    def empty(self) -> bool:
        """Whether nothing has come that was not taken."""
        return not self._bytes and not select.select([self.descriptor], [], [], 0)[0]


def written(content: dict[str, Any]) -> bytes:
    """Return an object as a line."""
    return json.dumps(content).encode() + b"\n"


def checked(line: bytes, number: int) -> dict[str, Any]:
    """Return the object of a line, its texts cut and plain.

    Parameters
    ----------
    number : int
        Of the request that is to be answered.

    Raises
    ------
    Garbled
        If the line is no JSON object with that number, or holds what no result can hold.
    """
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        raise Garbled("an answer that is no JSON") from None
    if not isinstance(answer, dict) or answer.pop("number", None) != number:
        raise Garbled("an answer to another question")
    cleaned: dict[str, Any] = _clean(answer, "", _DEEPEST)
    return cleaned


def plain(text: str) -> str:
    """Return a text with a question mark for each character that must reach neither a file nor a terminal."""
    return text if text.isprintable() else _UNSEEN.sub("?", text)


def _clean(value: Any, name: str, depth: int) -> Any:
    """Return a value of JSON as it may be stored; `name` is where it stands."""
    if isinstance(value, str):
        return plain(value[: _CUT.get(name)])
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST:
        raise Garbled(f"an integer of {value.bit_length()} bits" + (f" for {name}" if name else ""))
    if isinstance(value, dict | list) and not depth:
        raise Garbled(f"an answer nested more than {_DEEPEST} deep")
    if isinstance(value, dict):
        return {_clean(key, "", 1): _clean(one, str(key), depth - 1) for key, one in value.items()}
    if isinstance(value, list):
        if all(type(one) is float for one in value):  # the most of what is long
            return value
        return [_clean(one, name if isinstance(one, str) else "", depth - 1) for one in value]
    return value
