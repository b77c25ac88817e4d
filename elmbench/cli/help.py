"""The help of commands: options and commands by group, and placeholders of values.

It is written without rich, whose import takes longer than the help itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

# The groups of commands.
RERUN = "Rerun papers"
OWN_DATA = "Your own data"
RESULTS = "Results"
LOOK_AROUND = "Look around"


def _options_of(group: str) -> Callable[..., Any]:
    """Return a function like `typer.Option` whose options have a group.

    `group`: the heading under which the help lists them.
    """
    return partial(typer.Option, rich_help_panel=group)


selection_option = _options_of("What to run")
comparison_option = _options_of("What to compare")
protocol_option = _options_of("Protocol")
column_option = _options_of("Columns and rows")
format_option = _options_of("File format")
model_option = _options_of("Models and metrics")
split_option = _options_of("Splits")
execution_option = _options_of("Execution")
output_option = _options_of("Output")
path_option = _options_of("Folders and files")
#: The group of options that name none.
_GENERAL = "Options"

#: The placeholders of values in the help by type; other values are names.
_PLACEHOLDERS = {int: "N", float: "N", Path: "FILE"}
#: The widest name of an option that has its description on the same line.
_WIDEST_NAME = 24

Lines = list[tuple[str, str]]


class GroupedCommand(TyperCommand):
    """A command whose help lists the options by group."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line, such as ["[OPTIONS]", "DATA...", "[FILE]"].

        Brackets mark an optional argument, dots one that takes several values. `ctx`: click's
        context.
        """
        arguments = (
            parameter
            for parameter in self.get_params(ctx)
            if parameter.param_type_name == "argument"
        )
        return ["[OPTIONS]", *map(_usage_of, arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options of the command, under the headings of their groups.

        `formatter`: click's, which collects the text of the help. `ctx`: click's context.
        """
        _write_groups(_parameter_lines(self.get_params(ctx), ctx), formatter)


class CommandGroup(TyperGroup):
    """A group of commands whose help lists the commands before the options, both by group."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands and then the options, under the headings of their groups.

        `formatter`: click's, which collects the text of the help. `ctx`: click's context.
        """
        self.format_commands(ctx, formatter)
        _write_groups(_parameter_lines(self.get_params(ctx), ctx), formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with the first sentences of their descriptions, by group.

        `formatter`: click's, which collects the text of the help. Commands without a group are
        listed under "Commands".
        """
        groups: dict[str, Lines] = {}
        for name, command in self.commands.items():
            description = command.get_short_help_str(formatter.width)
            group = _group_of(command, "Commands")
            lines = groups.setdefault(group, [])
            lines.append((name, description))
        _write_groups(groups, formatter)


class App(typer.Typer):
    """A Typer app whose commands list their options by group."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        """Return the decorator that makes a function a command of this app.

        The help of the command lists its options by group. `name`: of the command; None for the
        name of the function. `settings`: other arguments of `typer.Typer.command`, except `cls`.
        """
        return super().command(name, cls=GroupedCommand, **settings)

    def add_group(self, name: str, *, help: str, panel: str) -> App:
        """Add a group of commands, such as `data`, to this app, and return it.

        `help`: its description. `panel`: the heading under which the help of this app lists it. The
        group alone, without one of its commands, prints its help.
        """
        group = App(
            cls=CommandGroup, no_args_is_help=True, help=help, rich_markup_mode=None
        )
        self.add_typer(group, name=name, rich_help_panel=panel)
        return group


def _parameter_lines(parameters: Iterable[Any], ctx: Any) -> dict[str, Lines]:
    """Return {heading of a group: [(name, description)]} of arguments and options for the help.

    The option --help and hidden parameters are left out. Arguments without a group are under
    "Arguments", options without one under "Options". `ctx`: click's context.
    """
    groups: dict[str, Lines] = {}
    for parameter in parameters:
        record = parameter.get_help_record(ctx)
        # A reader of this help knows the option --help.
        if record is None or parameter.name == "help":
            continue
        name, description = record
        is_argument = parameter.param_type_name == "argument"
        if is_argument:
            # The record has the type of Python after the name.
            name = _argument_name(parameter)
        group = _group_of(parameter, "Arguments" if is_argument else _GENERAL)
        groups.setdefault(group, []).append((name, description))
    return groups


def _argument_name(argument: Any) -> str:
    """Return the placeholder of an argument, or else its name in capitals."""
    return str(argument.metavar or argument.name.upper())


def _usage_of(argument: Any) -> str:
    """Return an argument as the usage line shows it, such as ``[EXPERIMENTS]...``.

    Brackets mark an optional argument, dots one that takes several values. `argument`: click's.
    """
    name = _argument_name(argument)
    usage = name if argument.required else f"[{name}]"
    takes_several = argument.nargs != 1
    return f"{usage}..." if takes_several else usage


def _group_of(item: Any, default: str) -> str:
    """Return the heading of a command, argument or option in the help; `default` if it has none."""
    # The option --help has no such attribute.
    group = getattr(item, "rich_help_panel", None)
    return group if isinstance(group, str) else default


def _write_groups(groups: Mapping[str, Lines], formatter: Any) -> None:
    """Write each group below its heading, with the descriptions of all groups aligned.

    `groups`: {heading: [(name, description)]}; the general options come last, and other groups in
    this order. `formatter`: click's, which collects the text of the help.
    """
    widths = [len(name) for lines in groups.values() for name, _ in lines]
    width = min(max(widths, default=0), _WIDEST_NAME)
    # General options, such as --help, come last.
    for heading, lines in sorted(
        groups.items(), key=lambda group: group[0] == _GENERAL
    ):
        with formatter.section(heading):
            formatter.write_dl(
                [(name.ljust(width), text) for name, text in lines], col_max=width
            )


def set_placeholders(command: Any) -> None:
    """Set the missing placeholders of option values of a command and its subcommands, in place.

    They are N for numbers, FILE for paths and NAME for other values. `command`: click's.
    """
    for option in _without_placeholder(command.params):
        annotation = option.type_descriptor.annotation
        types = {annotation, *get_args(annotation)}
        placeholders = [name for kind, name in _PLACEHOLDERS.items() if kind in types]
        option.metavar = placeholders[0] if placeholders else "NAME"
    for one in getattr(command, "commands", {}).values():
        set_placeholders(one)


def _without_placeholder(parameters: Sequence[Any]) -> Iterator[Any]:
    """Yield the options that take a value and have no placeholder."""
    for parameter in parameters:
        is_option = parameter.param_type_name == "option" and not parameter.is_flag
        if is_option and parameter.metavar is None:
            yield parameter
