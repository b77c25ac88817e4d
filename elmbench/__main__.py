"""The entry point of the command line: `elmbench`, or `python -m elmbench`."""

import atexit
import contextlib
import gc
import os
import signal
import sys


def _stop(*_: object) -> None:
    """Handle a signal: write "interrupted" and end this process at once with exit code 130.

    An exception could be lost in an import or in C code. Workers end with the process.
    """
    os.write(2, b"interrupted\n")
    os._exit(130)


def main() -> None:
    """Run the command line and end the process with its exit code.

    Ctrl-C and SIGTERM end it with exit code 130, also while modules are being imported.
    """
    code = 1

    def end() -> None:
        """Flush the standard streams and end the process with the exit code, without clean-up."""
        for stream in (sys.stdout, sys.stderr):
            # Closed, broken or None.
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    # Imports allocate many objects and free few: frequent collections find nothing, and take a
    # tenth of a short command.
    gc.set_threshold(100_000)
    # The first callback runs last. Python would take a while to delete all modules.
    atexit.register(end)
    from elmbench.files import open_standard_streams

    open_standard_streams()
    from elmbench.cli import main as run

    try:
        run()
        code = 0
    except SystemExit as ending:
        code = (
            ending.code
            if isinstance(ending.code, int)
            else int(ending.code is not None)
        )
        raise


if __name__ == "__main__":
    main()
