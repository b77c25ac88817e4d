"""Marks of tests that need what some systems lack."""

import os

import pytest

#: For tests that fork, or that send signals of Unix.
UNIX_PROCESSES = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs fork, sessions or signals of Unix"
)
