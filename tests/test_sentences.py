"""The golden file of sentences is complete and used, and no assert holds a sentence of its own."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sentences import read_sentences, sentence

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("*.py"))
#: A text of so many words is a sentence.
WORDS = 8


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Yield the calls of functions or methods with one of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            if called in names:
                yield node


def keys_used(path: Path) -> Iterator[str]:
    """Yield the keys of the sentences that a file of tests asks for."""
    for call in calls(ast.parse(path.read_text("utf-8")), "sentence", "pattern"):
        if path.name != "sentences.py":
            key = call.args[0]
            assert isinstance(key, ast.Constant), f"{path}:{call.lineno}: not a literal"
            yield key.value


def expected_texts(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the parts of a file that say what a test expects: the conditions of asserts, the
    arguments `match`, the cases of `parametrize`, and the values of names that these use.
    """
    expectations: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            expectations.append(node.test)
        elif isinstance(node, ast.keyword) and node.arg == "match":
            expectations.append(node.value)
    yield from expectations
    for call in calls(tree, "parametrize"):
        yield from call.args[1:]
    names = {
        name.id
        for expectation in expectations
        for name in ast.walk(expectation)
        if isinstance(name, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = {ast.unparse(target) for target in node.targets}
            if targets & names:
                yield node.value


def texts(expression: ast.expr) -> Iterator[tuple[int, str]]:
    """Yield the literals of an expression with their lines; a value in an f-string is a brace."""
    parts = set()
    for node in ast.walk(expression):
        if isinstance(node, ast.JoinedStr):
            parts.update(map(id, node.values))
            pieces = [
                piece.value if isinstance(piece, ast.Constant) else "{}"
                for piece in node.values
            ]
            yield node.lineno, "".join(map(str, pieces))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in parts
        ):
            yield node.lineno, node.value


def words(text: str) -> int:
    """Count the words of a text: letters, with hyphens and apostrophes inside, between blanks."""
    parts = (part.strip(".,;:!?()[]{}'\"`") for part in text.split())
    return sum(
        re.fullmatch(r"[A-Za-z]+(['’-][A-Za-z]+)*", part) is not None for part in parts
    )


def is_sentence(text: str) -> bool:
    """Return True for prose that belongs into the golden file.

    Patterns with wildcards, rows of Markdown tables, command lines and the programs and files that
    a test writes do not.
    """
    has_wildcard = re.search(r"\.\*|\\d|\(\?", text)
    is_row_of_table = text.startswith("| ")
    is_command = len(re.findall(r"(?<!\S)--?[a-z]", text)) > 1
    is_file = re.search(
        r"^(import|from|class|MODELS|@attribute)\b.*\n|\n +\S", text, re.M
    )
    is_something_else = has_wildcard or is_row_of_table or is_command or is_file
    return words(text) >= WORDS and not is_something_else


def test_each_sentence_is_used_and_each_one_used_exists() -> None:
    used = {key for path in FILES for key in keys_used(path)}
    assert used == read_sentences().keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_test_holds_a_sentence_that_it_expects(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    found = {
        line: text
        for expected in expected_texts(tree)
        for line, text in texts(expected)
        if is_sentence(text)
    }
    assert not found, "move it into tests/sentences.toml"


def test_a_sentence_takes_all_of_its_values_and_no_more() -> None:
    assert sentence("judging.readings.label-of-a-value", cells=5).endswith("5 cells)")
    for values in ({}, {"cells": 5, "folds": 3}):
        with pytest.raises(TypeError, match=r"takes the values \['cells'\]"):
            sentence("judging.readings.label-of-a-value", **values)
