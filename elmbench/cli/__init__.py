"""The command line: each command parses its arguments, calls one function and prints the result."""

from elmbench.cli.app import main

__all__ = ["main"]
