"""Completion in a shell: it installs, and it knows tables, data sets and models."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = f"{sys.executable} -c 'from elmbench.cli import main; main()'"


def completed(words: str, incomplete: str) -> set[str]:
    """Return the completions that bash shows after some words."""
    typed = f"elmbench {words}"
    environment = {
        "_ELMBENCH_COMPLETE": "complete_bash",
        "COMP_WORDS": f"{typed} {incomplete}",
        "COMP_CWORD": str(len(typed.split())),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from elmbench.cli import main; main()"],
        env=os.environ | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "incomplete", "offered"),
    [
        ("", "sta", {"status"}),
        ("show", "kos-elm/table", {f"kos-elm/table{n}" for n in range(2, 8)}),
        ("run table4 -d", "wdb", {"wdbc"}),
        ("run table4 -m", "k-", {"k-elm"}),
    ],
)
def test_names_are_completed(words: str, incomplete: str, offered: set[str]) -> None:
    assert completed(words, incomplete) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_completion_installs_itself(tmp_path: Path) -> None:
    done = subprocess.run(
        # A second command, so that bash stays what started the first.
        ["bash", "-c", f"{COMMAND} --install-completion; true"],
        env=os.environ | {"HOME": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "completion installed" in done.stdout, done.stderr
    script = tmp_path / ".bash_completions" / "elmbench.sh"
    assert str(script) in (tmp_path / ".bashrc").read_text()
    # What was installed is what bash can read, and is about this command.
    asked = f"source {script}; complete -p elmbench"
    assert "elmbench" in subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True).stdout
