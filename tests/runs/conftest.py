"""Work in the process of the test, in an empty folder."""

from in_process import alone

__all__ = ["alone"]
