"""Markdown documents whose marked blocks are rewritten from results.

A block is the text between ``<!-- elmbench pages: NAME WORDS ... -->`` and ``<!-- end -->``, each
on a line of its own. `ResultBlocks` has the names. The words are arguments, such as
``miller/table1`` or ``metric=accuracy``. The rest of a document stays as it is, and so does
an example of a block in fenced code.
"""

import inspect
import re
from collections.abc import Sequence
from pathlib import Path

from elmbench.errors import ElmbenchError
from elmbench.files import read_text, write_atomically
from elmbench.report.result_blocks import ResultBlocks

#: The command that the blocks of a project name.
COMMAND = "elmbench pages"
_END = "<!-- end -->"
#: A fenced block of code.
_CODE = r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[`~]*$"


def fill_document(text: str, blocks: ResultBlocks, command: str = COMMAND) -> str:
    """Return the text of a Markdown document with the content of its blocks made anew from results.

    Only blocks whose first line names `command` are rewritten; examples in fenced code stay. Raises
    ElmbenchError for a block without an end, an unknown name, or words that do not fit.
    """
    opening = rf"^<!-- {re.escape(command)}: (?P<words>.+?) -->$"
    block = rf"{opening}.*?^{_END}$"
    # An example of a block in code is no block.
    part = re.compile(rf"{_CODE}|{block}", flags=re.M | re.S)
    unfinished = re.search(opening, part.sub("", text), flags=re.M)
    if unfinished is not None:
        raise _no_end_error(unfinished["words"])

    def fill(match: re.Match[str]) -> str:
        """Return the new text of a block, or an example in code as it is."""
        words = match["words"]
        if words is None:
            return match[0]
        # The content of such a block would take the prose after it.
        if len(re.findall(opening, match[0], flags=re.M)) > 1:
            raise _no_end_error(words)
        content = _block_content(words, blocks)
        return f"<!-- {command}: {words} -->\n\n{content}\n\n{_END}"

    return part.sub(fill, text)


def _no_end_error(words: str) -> ElmbenchError:
    """Return the error for a block without a closing line; `words`: its name and arguments."""
    return ElmbenchError(
        f"the block {words!r} has no end",
        expected=f"a line {_END} after it",
        next_step="add this line",
    )


def _block_content(words: str, blocks: ResultBlocks) -> str:
    """Return the Markdown of one block, made from results.

    `words`: the name of the block, a method of `blocks`, then its arguments, by position or as
    NAME=VALUE: "table miller/table1 metric=r2". Raises ElmbenchError for an unknown name or
    arguments that do not fit.
    """
    name, *arguments = words.split()
    if name not in blocks.names:
        raise ElmbenchError(
            f"unknown block {name!r}",
            expected=f"one of {', '.join(sorted(blocks.names))}",
            next_step="correct its name",
        )
    make = getattr(blocks, name)
    positional = [word for word in arguments if "=" not in word]
    named = dict(word.split("=", 1) for word in arguments if "=" in word)
    signature = inspect.signature(make)
    try:
        signature.bind(*positional, **named)
    except TypeError as error:
        raise ElmbenchError(
            f"the block {words!r}: {error}",
            expected=" ".join([name, *signature.parameters]),
            next_step="correct its words",
        ) from error
    return str(make(*positional, **named))


def default_documents(folder: Path) -> list[Path]:
    """Return the README.md of a project, if it exists, then all Markdown files below its `docs`.

    `folder`: the project. The list is empty if there are none.
    """
    readme = folder / "README.md"
    documents = sorted((folder / "docs").rglob("*.md"))
    return [readme, *documents] if readme.is_file() else documents


def update_documents(
    paths: Sequence[Path], blocks: ResultBlocks, command: str = COMMAND
) -> list[Path]:
    """Rewrite the blocks of Markdown files from results, and return the files that have changed.

    `paths`: of the files, in any order. `blocks`: makes the text of a block. `command`: only blocks
    whose first line names it are rewritten, and others stay. A file whose text is the same is
    neither written nor returned. If one file cannot be filled, none is written, and ElmbenchError
    is raised; so it is if no file has a block.
    """
    texts = {path: _read_document(path) for path in paths}
    if not any(f"<!-- {command}: " in text for text in texts.values()):
        raise ElmbenchError(
            f"no block in {', '.join(map(str, paths)) or 'README.md and docs/'}",
            expected=f"<!-- {command}: grid -->, and below it {_END}",
            next_step="add these two lines to a Markdown file",
        )
    changed = {}
    for path, text in texts.items():
        filled = _fill_file(path, text, blocks, command)
        if filled != text:
            changed[path] = filled
    for path, text in changed.items():
        write_atomically(path, text)
    return list(changed)


def _read_document(path: Path) -> str:
    """Return the text of a Markdown file in UTF-8; raise ElmbenchError if it cannot be read."""
    return read_text(
        path, expected="a Markdown file in UTF-8", next_step="correct its name"
    )


def _fill_file(path: Path, text: str, blocks: ResultBlocks, command: str) -> str:
    """Return the text of the document at `path` with its blocks filled (see `fill_document`).

    `text`: its present text; nothing is written. The name of the file is added to an error.
    """
    try:
        return fill_document(text, blocks, command)
    except ElmbenchError as error:
        raise error.add_source(path) from None
