"""The command line: each verb parses, calls one function and prints."""

from elmbench.cli.app import main

__all__ = ["main"]
