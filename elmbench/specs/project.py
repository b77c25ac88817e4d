"""`elmbench.toml`: the plug-ins, specs, data and results of a project of one's own."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from elmbench.errors import ElmbenchError
from elmbench.files import RESULTS_DIR, expand_home, find_project_file, read_text
from elmbench.specs.files import SpecPart, parse_spec


def _check_path(path: str) -> str:
    """Return a path; raise ValueError if it holds a null character."""
    if "\0" in path:
        raise ValueError("a path cannot hold a null character")
    return path


_Path = Annotated[str, AfterValidator(_check_path)]


class ProjectFile(SpecPart):
    """The content of `elmbench.toml`; its paths are relative to its folder."""

    #: Python files that declare models, metrics, kinds of table, splits or sources.
    plugins: tuple[_Path, ...] = ()
    #: Folders of data sets and tables.
    specs: tuple[_Path, ...] = ()
    #: The folder of data files.
    data: _Path | None = None
    #: The folder of results.
    results: _Path = RESULTS_DIR


@dataclass(frozen=True)
class Project:
    """A folder with an `elmbench.toml`, and the paths that the file names."""

    file: Path
    plugins: tuple[Path, ...]
    specs: tuple[Path, ...]
    data: Path | None
    results: Path


def current_project() -> Project | None:
    """Return the project of the `elmbench.toml` in the working folder or the nearest folder above.

    None if there is no such file. Raises ElmbenchError if it is not valid.
    """
    file = find_project_file(Path.cwd())
    return None if file is None else read_project(file, Path.cwd())


def read_project(file: Path, working_folder: Path) -> Project:
    """Return the project of an `elmbench.toml`, the path `file`.

    Its paths are joined to the folder of the file, and `~` is expanded; those below the working
    folder become relative to it. Raises ElmbenchError if the file is not valid.
    """
    content = parse_spec(ProjectFile, _read_toml(file), file)

    def path_of(name: str) -> Path:
        """Return one path of the file, joined to the file's folder.

        A path below the working folder becomes relative to it.
        """
        path = file.parent / expand_home(name)
        inside = path.is_relative_to(working_folder)
        return path.relative_to(working_folder) if inside else path

    def paths_of(names: Iterable[str]) -> tuple[Path, ...]:
        """Return the paths of the file, each as from `path_of`."""
        return tuple(path_of(name) for name in names)

    return Project(
        file=file,
        plugins=paths_of(content.plugins),
        specs=paths_of(content.specs),
        data=None if content.data is None else path_of(content.data),
        results=path_of(content.results),
    )


def _read_toml(file: Path) -> dict[str, object]:
    """Return the content of a TOML file.

    Raises ElmbenchError, with the line and column, if it cannot be read or is not valid.
    """
    expected = 'valid TOML, such as plugins = ["models.py"]'
    next_step = "correct the file"
    text = read_text(file, expected=expected, next_step=next_step)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ElmbenchError(
            f"cannot read {file}: {error}", expected=expected, next_step=next_step
        ) from error
