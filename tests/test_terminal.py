"""Nothing that a terminal acts on is printed as it is."""

import io

import pytest

from elmbench.terminal import EscapedStream, escape, unescaped


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("é ± ✓ 表\t\n", "é ± ✓ 表\t\n"),
        ("\x1b[31m\x07\x00\r\x7f\x9b", r"\x1b[31m\x07\x00\r\x7f\x9b"),
        ("\u061c\u200f\u202e\u2066", r"\u061c\u200f\u202e\u2066"),
        ("\udcff\ud800", r"\udcff\ud800"),
    ],
)
def test_characters_that_a_terminal_acts_on_are_escaped(
    text: str, escaped: str
) -> None:
    assert escape(text) == escape(escaped) == escaped
    stream = io.StringIO()
    print(text, end="", file=EscapedStream(stream))
    assert stream.getvalue() == escaped


def test_an_escaped_stream_is_like_its_stream_but_cannot_be_avoided_by_accident() -> (
    None
):
    inner = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    stream = EscapedStream(inner)
    assert stream.encoding == "ascii"
    assert not hasattr(stream, "buffer")
    assert not hasattr(stream, "writelines")
    assert unescaped(stream) is unescaped(inner) is inner
