"""The Typer app: its commands, the options of all of them, and the handling of errors."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import shlex
import signal
import sys
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, cast

import typer
from typer import Option

import elmbench
from elmbench.cli.help import (
    App,
    CommandGroup,
    output_option,
    path_option,
    set_placeholders,
)
from elmbench.cli.options import state
from elmbench.errors import ElmbenchError
from elmbench.files import expand_home, find_project_file
from elmbench.terminal import EscapedStream

if TYPE_CHECKING:
    from elmbench.specs.project import Project


class _Group(CommandGroup):
    """The group of all commands, which words errors in the values of options in its own way."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command of a context and return its result; reword errors in option values.

        `ctx`: click's context of the command line. A `typer.BadParameter` is raised again with a
        message in elmbench's words.
        """
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _in_our_words(error.message)
            raise


#: The beginnings of pydantic's messages, and their words here.
_MESSAGES = {
    "Value error, ": "",
    "Input should be a valid integer": "expected a whole number",
    "Input should be a valid number": "expected a number",
    "Input should be greater than or equal to": "expected a number of at least",
    "Input should be less than or equal to": "expected a number of at most",
    "Input should be": "expected",
}


def _in_our_words(message: str) -> str:
    """Return an error message about an option's value in elmbench's words.

    The beginning of a message of pydantic, such as "Input should be a valid integer", is replaced,
    here by "expected a whole number"; ", unable to parse" and what follows are cut off. Any other
    message is returned unchanged.
    """
    for beginning, words in _MESSAGES.items():
        if message.startswith(beginning):
            # The rest of a message about a type repeats it.
            rest = message.removeprefix(beginning).partition(", unable to parse")[0]
            return words + rest
    return message


app = App(
    cls=_Group,
    name="elmbench",
    help="Rerun the experiments of five papers on extreme learning machines and check which "
    "numbers can be reproduced. A file elmbench.toml in the working folder or a folder above names "
    "the plug-ins, specs, data and results of your own project; options and environment variables "
    "override it.",
    epilog="You can type these options before or after the command.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


#: The signs of verdicts for terminals without them: by default, each would be `?`, the sign of too
#: few runs.
_SIGNS = dict(zip("✓∈≈✗∥–”†", '=e~x|-"+', strict=True)) | {"±": "+-"}


def _replace_signs(error: UnicodeError) -> tuple[str, int]:
    """Return the replacement of characters that an encoding lacks, and the position after them.

    It is an error handler for `codecs.register_error`; `error` is a UnicodeEncodeError. The signs
    of verdicts become ASCII characters, such as = for ✓, and ± becomes +-; any other character
    becomes ?.
    """
    assert isinstance(error, UnicodeEncodeError)
    characters = error.object[error.start : error.end]
    return "".join(_SIGNS.get(character, "?") for character in characters), error.end


codecs.register_error("signs", _replace_signs)


def _version(value: bool) -> None:
    """Print the version and exit if the option --version is given."""
    if value:
        typer.echo(f"elmbench {elmbench.__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    results_dir: Annotated[
        str | None,
        path_option(
            metavar="FOLDER",
            envvar="ELMBENCH_RESULTS_DIR",
            help="Results folder (default: elmbench-results).",
        ),
    ] = None,
    data_dir: Annotated[
        str | None,
        path_option(
            metavar="FOLDER",
            envvar="ELMBENCH_DATA_DIR",
            help="Folder of your data files.",
        ),
    ] = None,
    cache_dir: Annotated[
        str | None,
        path_option(
            metavar="FOLDER", envvar="ELMBENCH_CACHE_DIR", help="Folder of downloads."
        ),
    ] = None,
    plugin: Annotated[
        list[Path] | None,
        path_option(
            envvar="ELMBENCH_PLUGIN", help="Python file of your models; repeatable."
        ),
    ] = None,
    spec_dir: Annotated[
        list[Path] | None,
        path_option(
            metavar="FOLDER",
            envvar="ELMBENCH_SPEC_DIR",
            help="Folder of your data sets and tables; repeatable.",
        ),
    ] = None,
    quiet: Annotated[
        bool,
        output_option(
            "-q",
            "--quiet",
            envvar="ELMBENCH_QUIET",
            help="Print results and errors only.",
        ),
    ] = False,
    as_json: Annotated[
        bool, output_option("--json", envvar="ELMBENCH_JSON", help="Print JSON only.")
    ] = False,
    version: Annotated[
        bool,
        Option(
            "--version", help="Print the version.", callback=_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[
        bool,
        output_option(
            "--debug", envvar="ELMBENCH_DEBUG", help="Print the traceback of an error."
        ),
    ] = False,
) -> None:
    """Store the options of the whole app in `state`, and load the plug-ins and your own tables.

    It is called before each command. `cache_dir` is stored in the environment variable
    ELMBENCH_CACHE_DIR. The commands `data` and `report` get Python's handler of Ctrl-C, which
    raises KeyboardInterrupt. Raises ElmbenchError if --results-dir is empty or not a folder, or if
    a named plug-in or folder of specs cannot be used.
    """
    # Their temporary folders are deleted first.
    if context.invoked_subcommand in (
        "data",
        "report",
    ):
        signal.signal(signal.SIGINT, signal.default_int_handler)
    path = None if results_dir is None else expand_home(results_dir)
    if path is not None and (
        not results_dir or (os.path.lexists(path) and not path.is_dir())
    ):
        problem = f"--results-dir is {results_dir!r}, which is not a folder"
        raise ElmbenchError(
            problem,
            expected="a folder, which need not exist",
            next_step="name a folder, or leave the option out",
        )
    state.named_results_dir = path
    state.quiet = quiet
    state.as_json = as_json
    state.debug = debug
    if cache_dir is not None:
        os.environ["ELMBENCH_CACHE_DIR"] = cache_dir
    project = state.project = _find_project()
    state.named_data_dir = data_dir
    if plugin or spec_dir or project is not None:
        # Its imports take a while.
        from elmbench.runs.user_specs import add_specs, load_plugins

        plugins = load_plugins(plugin or (), project, state.remark)
        state.plugins = tuple(map(str, plugins))
        add_specs(spec_dir or (), project, state.remark)


def _find_project() -> Project | None:
    """Return the project of the `elmbench.toml` in the working folder or the nearest folder above.

    None if there is no such file. Raises ElmbenchError if it is not valid.
    """
    if find_project_file(Path.cwd()) is None:
        return None
    # It imports pydantic, which takes a while.
    from elmbench.specs.project import current_project

    return current_project()


def hoist(
    arguments: list[str], parameters: Iterable[Any]
) -> tuple[list[str], list[str]]:
    """Split arguments into the options of the whole app, with their values, and the others.

    Return both lists, each in the order typed. `parameters`: click's parameters of the app, with
    `opts` (the names of an option) and `is_flag`. `--` and all arguments after it are among the
    others. If an option at the end lacks its value, return [] and a list of this option alone, so
    that the message is about it.
    """
    takes_value = {
        name: not option.is_flag for option in parameters for name in option.opts
    }
    front: list[str] = []
    rest: list[str] = []
    remaining = iter(arguments)
    for word in remaining:
        if word == "--":
            rest += [word, *remaining]
        elif word.split("=", 1)[0] in takes_value and (
            "=" in word or not takes_value[word]
        ):
            front.append(word)
        elif word in takes_value:
            value = next(remaining, None)
            # The option stands alone, so that the message is about the missing value.
            if value is None:
                return [], [word]
            front += [word, value]
        else:
            rest.append(word)
    return front, rest


def main(arguments: list[str] | None = None) -> None:
    """Run the app; on an error that the user can act on, print a message and exit.

    `arguments`: without the name of the program; by default, those of the process. The exit code is
    that of the error, 2 as a rule. The arguments are stored in `state`, and control characters in
    the output of the command are escaped.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a sign shows another in its place.
            stream.reconfigure(errors="signs")
    warnings.formatwarning = lambda message, *position, **line: f"warning: {message}\n"
    command: Any = typer.main.get_command(app)
    set_placeholders(command)
    front, rest = hoist(arguments, command.params)
    words = front + rest
    flags = {
        name for option in command.params if option.is_flag for name in option.opts
    }
    state.command = shlex.join(["elmbench", *arguments])
    state.typed = shlex.join(word for word in front if word not in flags)
    state.commands = tuple(command.commands)
    stdout, stderr = (
        cast("IO[str]", EscapedStream(one)) for one in (sys.stdout, sys.stderr)
    )
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        _run(command, words)


def _run(command: Any, words: list[str]) -> None:
    """Run the app with arguments; on ElmbenchError or OSError, print the message and exit.

    `command`: click's object of the app. `words`: the arguments, the options of the whole app
    first. The exit code is that of the error, 2 as a rule; with --debug, the traceback is printed
    too. A closed pipe exits with code 1 and without a message.
    """
    try:
        try:
            command(args=words, prog_name="elmbench")
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # a reader such as `head` has seen enough
        _discard_output()
        raise SystemExit(1) from None
    except (ElmbenchError, OSError) as error:
        if state.debug or "--debug" in words:
            traceback.print_exc()
        if isinstance(error, OSError):
            _discard_output()
            error = ElmbenchError(
                f"cannot read or write {error.filename or 'a stream, such as the output'}: "
                f"{error.strerror or error}",
                expected="files and folders that you may use, on disks with free space",
                next_step="fix this, or name different files; --debug shows where it happened",
            )
        print(f"error: {state.complete(str(error))}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None


def _discard_output() -> None:
    """Point standard output to the null device, so that all further output is lost.

    Otherwise Python reports at exit that it cannot write the rest.
    """
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
