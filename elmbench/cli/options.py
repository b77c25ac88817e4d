"""Options of the whole app and of several commands, with their completion in a shell; and
output.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from elmbench.cli.help import (
    execution_option,
    format_option,
    output_option,
    protocol_option,
)
from elmbench.files import RESULTS_DIR
from elmbench.lazy import load_object
from elmbench.results.folders import FigureFormat
from elmbench.terminal import unescaped

if TYPE_CHECKING:
    from rich.console import Console

    from elmbench.results.folders import ResultsDirs
    from elmbench.specs.project import Project


@dataclass
class State:
    """The options of the whole app, and the output that follows them.

    Attributes
    ----------
    named_results_dir, named_data_dir : path and str, optional
        The values of --results-dir and --data-dir; None if they are not given.
    plugins : tuple of str
        Absolute paths of the loaded plug-in files.
    quiet, as_json, debug : bool
        True if --quiet, --json or --debug is given.
    project : Project, optional
        Of the `elmbench.toml` in the working folder or a folder above; None without such a
        file.
    command : str
        The whole command, as a shell reads it.
    typed : str
        The options of the whole app that take a value, as they were typed, with the values.
    commands : tuple of str
        The names of all commands.
    """

    named_results_dir: Path | None = None
    named_data_dir: str | None = None
    plugins: tuple[str, ...] = ()
    quiet: bool = False
    as_json: bool = False
    debug: bool = False
    project: Project | None = None
    command: str = "elmbench"
    typed: str = ""
    commands: tuple[str, ...] = ()
    _console: Console | None = field(default=None, repr=False)

    @property
    def results_dir(self) -> Path:
        """The folder that results are written to, which need not exist.

        It is that of --results-dir, or else that of the project, or else elmbench-results.
        """
        default = Path(RESULTS_DIR) if self.project is None else self.project.results
        return self.named_results_dir or default

    @property
    def data_dir(self) -> str | None:
        """The folder of the user's data files; None if there is none.

        It is that of --data-dir, even if it does not exist, or else that of the project if it
        exists.
        """
        folder = self.import_dir
        is_missing = folder is not None and not Path(folder).is_dir()
        return None if is_missing and self.named_data_dir is None else folder

    @property
    def import_dir(self) -> str | None:
        """The folder that data files are imported into; None if there is none.

        It is that of --data-dir, or else that of the project. It need not exist.
        """
        if (
            self.named_data_dir is not None
            or self.project is None
            or self.project.data is None
        ):
            return self.named_data_dir
        return str(self.project.data)

    @property
    def results_dirs(self) -> ResultsDirs:
        """The folders that tables are read from: the user's, and then the committed one.

        There is no committed one if --results-dir is given, in a project, or in an installation
        without a checkout.
        """
        from elmbench.results.folders import ResultsDirs, committed_results

        is_alone = self.named_results_dir is not None or self.project is not None
        return ResultsDirs(self.results_dir, None if is_alone else committed_results())

    @property
    def console(self) -> Console:
        """The console of the present standard output, which is made on first use.

        It is 80 columns wide if the output is not a terminal and COLUMNS is not set.
        """
        if self._console is None or self._console.file is not unescaped(sys.stdout):
            from elmbench.cli.console import EscapingConsole

            width = None if os.isatty(1) or "COLUMNS" in os.environ else 80
            self._console = EscapingConsole(sys.stdout, width)
        return self._console

    @property
    def width(self) -> int:
        """The width of tables in characters: that of the terminal, at most 80."""
        return min(80, self.console.width)

    @property
    def silent(self) -> bool:
        """True with --quiet or --json: only results and errors are printed."""
        return self.quiet or self.as_json

    def complete(self, text: str) -> str:
        """Return a text whose commands have the options that the user typed, to be pasted.

        The options of the whole app that take a value (`typed`) are put after `elmbench` in each
        command of the text. A --plugin in the text is removed if plug-ins are typed or there is a
        project, because stored commands have only the name of its file.
        """
        if "--plugin" in self.typed or self.project is not None:
            # Stored commands have only the names of the files.
            text = re.sub(r" --plugin \S+", "", text)
        if not self.typed:
            return text
        for option in self._typed_options():
            # Only the whole option: `--data-dir a` is not the start of `--data-dir abc`.
            text = re.sub(rf" {re.escape(option)}(?=\s|$)", "", text)
        names = "|".join(self.commands)
        with_options = f"elmbench {self.typed} "
        return re.sub(rf"\belmbench (?=({names})\b)", lambda _: with_options, text)

    def _typed_options(self) -> list[str]:
        """Return each option in `typed`, such as "--data-dir x" or "--data-dir=x".

        They are quoted for a shell. A word without = takes the next word as its value: `typed` has
        no flags.
        """
        options = []
        words = iter(shlex.split(self.typed))
        for word in words:
            if "=" not in word:
                value = next(words, "")
                options.append(shlex.join([word, value]))
            else:
                options.append(shlex.quote(word))
        return options

    def emit(self, content: Any, text: Any = None) -> None:
        """Print `content` as JSON with --json, else `text`.

        `content`: lists, dicts and plain values; a Decimal becomes a number, and anything else that
        JSON lacks becomes text. `text`: a string or anything that rich prints; None for nothing.
        """
        if self.as_json:
            # Published values are decimals.
            print(
                json.dumps(
                    content,
                    indent=1,
                    default=lambda v: float(v) if isinstance(v, Decimal) else str(v),
                )
            )
        elif text is not None:
            self.console.print(text)

    def say(self, *lines: str) -> None:
        """Print lines for people on standard output; nothing with --quiet or --json.

        Commands in them get the options that the user typed. A line with a command is not wrapped,
        so that it can be copied.
        """
        for line in map(self.complete, () if self.silent else lines):
            self.console.print(line, soft_wrap="elmbench " in line)

    def remark(self, text: str) -> None:
        """Print a line for people on standard error; nothing with --quiet or --json.

        It is apart from standard output, which may go to a file. Commands in it get the options
        that the user typed.
        """
        if not self.silent:
            print(self.complete(text), file=sys.stderr)

    def write(self, text: str) -> None:
        """Print a text for other programs, such as CSV, also with --quiet.

        It is unchanged, except on a terminal, where control characters are escaped. No line end is
        added.
        """
        stream = sys.stdout if sys.stdout.isatty() else unescaped(sys.stdout)
        stream.write(text)


#: The one state of the process.
state = State()


def split_words(texts: list[str] | None) -> tuple[str, ...]:
    """Return the values of a repeatable option, each once, in the order typed.

    Commas outside of square brackets separate values: `a,b[c=1,d=2]` are two. `texts`: as they were
    typed; None or empty for no values.
    """
    # The options of generated data have commas of their own: sparse-10k[density=0.6,rows=500].
    words = (
        word.strip()
        for text in texts or ()
        for word in re.split(r",(?![^\[]*\])", text)
    )
    return tuple(dict.fromkeys(filter(None, words)))


def _completion(address: str) -> Callable[[str], Iterator[str]]:
    """Return a callback that yields the names that begin with a given text, for a shell.

    `address`: `module:function` of a function without arguments that returns all names. It is
    imported when the callback is called.
    """

    def complete(incomplete: str) -> Iterator[str]:
        return (name for name in load_object(address)() if name.startswith(incomplete))

    return complete


tables = _completion("elmbench.specs.catalogue:table_names")
datasets = _completion("elmbench.specs.datasets:load_dataset_specs")
models = _completion("elmbench.registry:list_models")

Words = list[str] | None
DecimalMark = Annotated[
    Literal[".", ","] | None,
    format_option(
        metavar="MARK", help="Decimal mark, . or a comma; detected by default."
    ),
]
TABLE = typer.Argument(help="Id or alias, such as table4.", autocompletion=tables)
DATASET = typer.Argument(
    help="Name; see `elmbench list datasets`.", autocompletion=datasets
)
Table = Annotated[str | None, TABLE]
Tables = Annotated[Words, TABLE]
Datasets = Annotated[Words, DATASET]
Profile = Annotated[
    str, protocol_option(help="Part of the protocol: ci, fast or paper.")
]
#: More workers than this are a typing error: each is a process.
_MOST_JOBS = 1024
Jobs = Annotated[
    int,
    execution_option("-j", "--jobs", min=1, max=_MOST_JOBS, help="Worker processes."),
]
Figures = Annotated[
    FigureFormat,
    output_option("--figure-format", help="Figures as png, or also as svg or pdf."),
]
DryRun = Annotated[
    bool,
    execution_option(
        "--dry-run", help="Print the plan with estimated times; run nothing."
    ),
]
Retry = Annotated[
    bool, execution_option("--retry", help="Retry cells that did not end ok.")
]
