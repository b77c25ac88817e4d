"""The folder of a new paper: a project that runs as it is, to be changed file by file."""

import os
import re
import shutil
from pathlib import Path

import elmbench
from elmbench.errors import ElmbenchError, shortened
from elmbench.files import delete_abandoned, partial_path
from elmbench.specs.schemas import FILE_KINDS, schema_text

#: The folder of the templates.
_TEMPLATES = Path(__file__).parent / "files"
#: The files of a new paper. In their names and texts, KEY stands for the key of the paper, and
#: VERSION for the version of elmbench.
_FILES = (
    "README.md",
    "elmbench.toml",
    "datasets.yaml",
    "models.py",
    "experiments/KEY/paper.yaml",
    "experiments/KEY/table1.yaml",
    "experiments/KEY/table1.csv",
    ".github/workflows/check.yml",
    ".gitignore",
)
#: The folder of the JSON schemas of the YAML files, which the first line of each names.
SCHEMAS = ".schemas"
#: Words that a hyphen joins; a key is a part of ids and the name of folders.
_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_KEY = 60
#: The first word in the ids of tables that belong to no paper.
_WITHOUT_PAPER = "own"
#: The commands to type in the folder of a new paper.
COMMANDS = (
    "elmbench validate",
    "elmbench run --all",
    "elmbench check --against published",
)


def write_new_paper(key: str, parent: Path) -> list[Path]:
    """Write the folder `parent`/`key` of a new paper whole or not at all; return its files' paths.

    Unfinished files and folders of ended processes in `parent` are deleted. Raises ElmbenchError if
    the key is not valid, or the folder exists and is not empty.
    """
    _check_key(key)
    folder = parent / key
    _check_empty(folder)
    texts = {name.replace("KEY", key): _fill_in(name, key) for name in _FILES}
    texts |= {f"{SCHEMAS}/{kind}.json": schema_text(kind) for kind in FILE_KINDS}
    partial = partial_path(folder)
    delete_abandoned(parent)
    try:
        for name, text in texts.items():
            path = partial / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        if folder.is_dir():
            folder.rmdir()  # some systems replace no folder, not even an empty one
        os.replace(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return [folder / name for name in texts]


def _fill_in(name: str, key: str) -> str:
    """Return the text of the template `name` for a new paper.

    KEY and VERSION are replaced by the key of the paper and the version of elmbench.
    """
    text = (_TEMPLATES / name).read_text("utf-8")
    return text.replace("KEY", key).replace("VERSION", elmbench.__version__)


def _check_key(key: str) -> None:
    """Raise ElmbenchError if a text cannot be the key of a paper.

    A key has lower-case letters and digits, in words that single hyphens join, is not too long, and
    is not the word for tables that have no paper.
    """
    if not _KEY.fullmatch(key) or len(key) > _LONGEST_KEY:
        expected = (
            "lower-case letters and digits, in words that single hyphens join, of at most "
            f"{_LONGEST_KEY} characters"
        )
    elif key == _WITHOUT_PAPER:
        expected = f"a key besides {_WITHOUT_PAPER}, which stands for tables that have no paper"
    else:
        return
    raise ElmbenchError(
        f"{shortened(key)!r} cannot be the key of a paper",
        expected=expected,
        next_step="type another key, such as: elmbench new-paper miller-2020",
    )


def _check_empty(folder: Path) -> None:
    """Raise ElmbenchError unless a folder is missing or empty; also for a file or a link."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        problem = f"{folder} is not a folder"
    elif folder.is_dir() and any(folder.iterdir()):
        problem = f"the folder {folder} is not empty"
    else:
        return
    raise ElmbenchError(
        problem,
        expected="a folder that is empty or does not exist",
        next_step="type another key, or move what is there",
    )
