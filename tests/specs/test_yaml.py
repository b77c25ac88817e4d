"""YAML files: what cannot be read is an error with its position, and sizes have limits."""

import os
from pathlib import Path

import pytest
from sentences import pattern

from elmbench.errors import ElmbenchError
from elmbench.specs.files import read_yaml

#: Each anchor has ten aliases of the one before it.
ALIASES = "a0: &a0 [x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 30)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"line 3, column 1: duplicate key 'a'"),
        ("a: [1, 2", r"line \d, column \d: "),
        ("? [1, 2]\n: 3\n", pattern("specs.yaml.key-not-a-word", line=1, column=3)),
        (
            "a: !!python/object/apply:os.getcwd []\n",
            "could not determine a constructor",
        ),
        ("a: !!float abc", "cannot be read"),
        ("a: 010", "line 1, column 4: 010 is not a decimal number"),
        ("a: [1, 1:30]", "line 1, column 8: 1:30 is not a decimal number"),
        ("a: 2001-99-99", "cannot be read"),
        (f"a: 1{':30' * 5000}", r"1(:30){19}:3\.\.\. is not a decimal number"),
        (f"a: [{'1, ' * 500_001}]", "more than 500,000 values"),
        (f"a: {'1' * 5000}", "line 1, column 4: a number of 5000 characters"),
        *(
            (opening * 200_000, "more than 100 levels")
            for opening in ("[", "{a: ", "- ", "? ")
        ),
        (
            ALIASES,
            pattern("specs.yaml.too-many-values-by-aliases"),
        ),
        (MERGES, pattern("specs.yaml.too-many-values-by-aliases")),
        ("a: &a [*a]", pattern("specs.yaml.alias-inside-its-anchor", line=1, column=4)),
        (b"\xff\xfe\xff", "cannot read"),
        (None, "cannot read"),
    ],
)
def test_yaml_that_is_not_valid_is_rejected_with_its_position(
    tmp_path: Path, text: str | bytes | None, message: str
) -> None:
    path = tmp_path / "x.yaml"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ElmbenchError, match=message) as error:
        read_yaml(path)
    assert str(path) in error.value.found
    assert "aliases" not in error.value.found
    assert len(error.value.found) < len(str(path)) + 200
    assert error.value.next_step


def test_what_nests_and_repeats_within_the_limits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"a: {'[' * 99}{']' * 99}\nb: &b [1, 2]\nc: [*b, *b]\n")
    content = read_yaml(path)
    assert content["c"] == [[1, 2], [1, 2]]
    path.write_text("".join(f"a{row}: {row}\n" for row in range(10_000)))
    assert len(read_yaml(path)) == 10_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.yaml")
    with pytest.raises(ElmbenchError, match=r"x\.yaml: it is not a regular file"):
        read_yaml(tmp_path / "x.yaml")


def test_merged_keys_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: &a {p: 1, q: 2}\nb: {<<: *a, q: 3}\n")
    assert read_yaml(path)["b"] == {"p": 1, "q": 3}
