"""Inputs that are nearly right, as bytes, as a tree or as a table, and the targets that use or
refuse them.
"""

import copy
import csv
import io
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from elmbench.errors import ElmbenchError

#: Numbers, words and shapes that programs trip over.
HOSTILE: list[Any] = [
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e308, 1e-320, float("inf"), float("-inf"),
    float("nan"), 2**31, 2**63,
    -(2**63) - 1, 10**400, "", " ", "0", "-1", "1.5", "1e999", "nan", "NaN", "inf", "null", "true",
    "~", "\0", "\r",
    "\n", "\ud800", "\u202e", "é", "x" * 600, "../../x", "/etc/passwd", "{}", "[]", "%s", "[bold]",
    "[/]", "a,b",
    [], {}, [[]], [{}], {"": None}, ["a"], [1, 2, 3], [0] * 300, {"a": 1}, {"a": {"b": {"c": []}}},
]  # fmt: skip
#: Pieces of files in the formats that are read.
WORDS: list[bytes] = [
    b"\0", b"\n", b"\r", b"\r\n", b",", b"\"", b"'", b":", b";", b"?", b"%", b"{", b"}", b"[", b"]",
    b"&a ", b"*a ",
    b"<<: ", b"- ", b"!!int ", b"\xff", b"\xef\xbb\xbf", b"nan", b"inf", b"-", b"1e999", b"9" * 30,
    b"-1", b"0", b"1:1",
    b"1:", b"0:1", b"qid:1 ", b"@attribute a {}\n", b"@data\n", b"\x80\x04", b"PK\x03\x04", b"PAR1",
    b"\x1f\x8b",
]  # fmt: skip

Value = st.one_of(
    st.sampled_from(HOSTILE),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.recursive(
        st.none(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
        ),
    ),
).map(copy.deepcopy)  # what it becomes part of is changed again


@st.composite
def changed_bytes(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """Return one of `seeds` with bits flipped and pieces cut, doubled, put in or taken from
    another.
    """
    content = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        length = draw(st.integers(1, 40))
        match draw(
            st.sampled_from(["flip", "set", "cut", "end", "double", "word", "other"])
        ):
            case "flip" if content:
                content[at] ^= 1 << draw(st.integers(0, 7))
            case "set" if content:
                content[at] = draw(st.integers(0, 255))
            case "cut":
                del content[at : at + length]
            case "end":
                del content[at:]
            case "double":
                content[at:at] = content[at : at + length]
            case "word":
                content[at:at] = draw(st.sampled_from(WORDS))
            case "other":
                other = draw(st.sampled_from(seeds))
                start = draw(st.integers(0, max(0, len(other) - 1)))
                content[at : at + length] = other[start : start + length]
    return bytes(content)


@st.composite
def changed_tree(
    draw: st.DrawFn, seeds: Sequence[Any], dump: Callable[[Any], bytes]
) -> bytes:
    """Return one of `seeds`, of mappings and lists, with values replaced, removed, moved or added,
    as `dump` has it.
    """
    content = copy.deepcopy(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 3))):
        positions = list(_positions(content))
        parent, key = positions[draw(st.integers(0, len(positions) - 1))]
        match draw(
            st.sampled_from(["replace", "replace", "remove", "move", "add", "rename"])
        ):
            case "remove":
                del parent[key]
            case "move":
                other, its = positions[draw(st.integers(0, len(positions) - 1))]
                parent[key] = copy.deepcopy(other[its])
            case "add" if isinstance(parent, list):
                parent.insert(key, draw(Value))
            case "add" | "rename" if isinstance(parent, dict):
                parent[
                    draw(st.sampled_from(["a", "", "x" * 300, "like", "file", 1, None]))
                ] = parent[key]
            case _:
                parent[key] = draw(Value)
        if not list(_positions(content)):
            break
    return dump(content)


def _positions(content: Any) -> Any:
    """Yield every position of a tree: its parent and its key there."""
    result = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    for key, value in list(result):
        yield content, key
        yield from _positions(value)


@st.composite
def changed_table(draw: st.DrawFn, seeds: Sequence[str]) -> bytes:
    """Return one of `seeds`, of CSV, with fields, lines and columns replaced, doubled, exchanged or
    taken away.
    """
    lines = list(csv.reader(io.StringIO(draw(st.sampled_from(seeds)))))
    text = st.one_of(
        st.sampled_from([str(value) for value in HOSTILE]),
        st.integers().map(str),
        st.text(max_size=6),
    )
    for _ in range(draw(st.integers(1, 5))):
        row = draw(st.integers(0, len(lines) - 1))
        column = draw(st.integers(0, max(0, len(lines[row]) - 1)))
        match draw(
            st.sampled_from(
                [
                    "field",
                    "field",
                    "field",
                    "column",
                    "swap",
                    "double",
                    "remove",
                    "lack",
                ]
            )
        ):
            case "field" if lines[row]:
                lines[row][column] = draw(text)
            case "column":
                value = draw(text)
                for line in lines[1:]:
                    line[column : column + 1] = [value]
            case "swap" if lines[row]:
                other = draw(st.integers(0, len(lines[row]) - 1))
                lines[row][column], lines[row][other] = (
                    lines[row][other],
                    lines[row][column],
                )
            case "double":
                lines.insert(row, list(lines[row]))
            case "remove" if len(lines) > 1:
                del lines[row]
            case "lack":
                for line in lines:
                    del line[column : column + 1]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n", escapechar="\\").writerows(lines)
    return stream.getvalue().encode("utf-8", "replace")


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
    """Fail where memory or the stack had run out before an input was refused, or where pages are
    said of it.
    """
    cause: BaseException | None = refused
    while cause is not None:
        assert not isinstance(cause, MemoryError | RecursionError), (
            f"refused by {type(cause).__name__}"
        )
        cause = cause.__cause__ or cause.__context__
    assert len(str(refused)) < 20_000, "a message of pages"
