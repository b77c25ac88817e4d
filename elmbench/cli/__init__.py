"""The command line: each command parses its arguments, calls one function and prints the result."""

# ruff: isort: skip_file
from elmbench.cli.app import main

# The commands register themselves, in the order in which `elmbench --help` lists them.
from elmbench.cli import run, compare, specs, result_commands, data

__all__ = ["compare", "data", "main", "result_commands", "run", "specs"]
