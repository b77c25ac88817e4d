"""Text for terminals: characters that a terminal acts on are shown as escapes, such as \\x1b."""

import re
from typing import IO, Any

#: Control characters except tabs and line ends, bidirectional marks, and lone surrogates.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def escape(text: str) -> str:
    """Return a text with escapes in place of characters that a terminal acts on or cannot show."""
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)


class EscapedStream:
    """A text stream that escapes everything that is written to it."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text with its escapes; return the number of characters written."""
        return self.stream.write(escape(text))

    def __getattr__(self, name: str) -> Any:
        # Without a buffer, click cannot write around this stream.
        """Return an attribute of the stream, except those that would write around the escapes."""
        if name in ("buffer", "writelines"):
            raise AttributeError(name)
        return getattr(self.stream, name)


def unescaped(stream: Any) -> IO[str]:
    """Return the stream below an `EscapedStream`; any other stream is returned as it is.

    It is for output with its own control characters, such as a progress bar.
    """
    inner: IO[str] = stream.stream if isinstance(stream, EscapedStream) else stream
    return inner
