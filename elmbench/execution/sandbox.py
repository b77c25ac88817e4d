"""A worker process as its owner sees it.

Each job of a run owns one. It is a process of its own, not one of a pool's, because what runs in it may have to be
ended: joblib's loky cannot end one worker without breaking its pool, and nothing but the end of the process stops a
model that hangs in compiled code.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any


class Sandbox:
    """One worker process, started when it is first needed and again after it has died.

    Parameters
    ----------
    plugins : tuple of str
        Plug-in files that the worker loads.
    blas_threads : int
        Threads of the linear algebra library in the worker.
    """

    def __init__(self, plugins: tuple[str, ...] = (), blas_threads: int = 1) -> None:
        self.plugins = plugins
        self.blas_threads = blas_threads
        self._process: subprocess.Popen[str] | None = None

    def _start(self) -> subprocess.Popen[str]:
        threads = str(self.blas_threads)
        names = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
        environment = {**os.environ, **{f"{name}_NUM_THREADS": threads for name in names}}
        return subprocess.Popen(
            [sys.executable, "-m", "elmbench.execution.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=environment,
            # Ctrl-C reaches the whole group of the terminal; only the owner is to act on it.
            start_new_session=True,
        )

    def run(self, unit: dict[str, Any], inputs: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
        """Run one unit and return its result; the death of the worker is a result too.

        Parameters
        ----------
        unit, inputs, data_dir
            As for `elmbench.evaluation.unit.run_unit`.
        """
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        request = {
            "unit": unit,
            "inputs": inputs,
            "data_dir": data_dir,
            "plugins": self.plugins,
            "blas_threads": self.blas_threads,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except (BrokenPipeError, ValueError):
            line = ""
        if line:
            result: dict[str, Any] = json.loads(line)
            return result
        return {"status": "failed", "reason": self._death()}

    def _death(self) -> str:
        process, self._process = self._process, None
        if process is None:
            return "the run was stopped"
        code = process.wait()
        if code < 0:
            return f"the worker process died by signal {-code} ({signal.Signals(-code).name})"
        return f"the worker process ended by itself with exit code {code}"

    def stop(self) -> None:
        """End the worker at once, with whatever it runs."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
