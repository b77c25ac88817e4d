"""`.github/actions/check`: its shell steps, run as GitHub runs them, on the project of a new paper."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "actions" / "check"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None, reason="the steps need bash"
)


def filled_in(text: str) -> str:
    """Return a text with the defaults of the inputs."""
    return re.sub(
        r"\$\{\{ inputs\.([a-z-]+) \}\}",
        lambda name: ACTION["inputs"][name[1]]["default"],
        text,
    )


class Job:
    """A job on a project: its shell steps and its summary."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.project = project
        self.summary = folder / "summary.md"
        programs = folder / "programs"
        programs.mkdir()
        for name, command in {"elmbench": "-m elmbench", "python": ""}.items():
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {command} "$@"\n')
            program.chmod(0o755)
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("ELMBENCH_")
        }
        self.environment = inherited | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "GITHUB_ACTION_PATH": str(FOLDER),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(folder),
        }

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        (step,) = (step for step in STEPS if step.get("name") == name)
        assert step["shell"] == "bash"
        inputs = {key: filled_in(value) for key, value in step["env"].items()}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.project / filled_in(step["working-directory"]),
            env=self.environment | inputs,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job whose tables have been run."""
    folder = tmp_path_factory.mktemp("job")
    job = Job(folder / "miller", folder)
    subprocess.run(
        [sys.executable, "-m", "elmbench", "new-paper", "miller"],
        cwd=folder,
        env=job.environment,
        check=True,
        capture_output=True,
    )
    done = job.run("Run all tables")
    assert done.returncode == 0, done.stderr
    return job


def test_the_cache_holds_what_the_run_stores(job: Job) -> None:
    restore, save = (step for step in STEPS if "actions/cache" in step.get("uses", ""))
    assert restore["with"]["path"] == save["with"]["path"]
    assert restore["with"]["key"] == save["with"]["key"]
    assert restore["with"]["key"].startswith(restore["with"]["restore-keys"].strip())
    assert (job.project / filled_in(restore["with"]["path"])).is_dir()
    # A failed check keeps what has been computed.
    assert save["if"] == "always()"
    names = [step.get("name", step.get("uses")) for step in STEPS]
    assert names.index(save["uses"]) < names.index("Check all tables")


def test_tables_that_hold_pass_and_are_in_the_summary(job: Job) -> None:
    done = job.run("Check all tables")
    assert done.returncode == 0, done.stderr
    assert (
        "| miller/table1 | accuracy | **holds** | 3 of 3 values | 2 of 2 pairs |"
        in done.stdout
    )
    assert job.summary.read_text("utf-8").strip() == done.stdout.strip()


def test_a_table_that_does_not_hold_fails_with_the_reason_in_the_summary(
    job: Job,
) -> None:
    printed = job.project / "experiments" / "miller" / "table1.csv"
    content = printed.read_text("utf-8")
    printed.write_text(content.replace("98.9", "96.0").replace("96.1", "99.0"), "utf-8")
    job.summary.unlink(missing_ok=True)
    done = job.run("Check all tables")
    printed.write_text(content, "utf-8")
    assert done.returncode == 1
    summary = job.summary.read_text("utf-8")
    assert "miller/table1: the verdict on accuracy is" in summary
    assert "**holds**" not in summary


def test_a_margin_of_the_project_is_in_the_summary() -> None:
    own_margin = runpy.run_path(str(FOLDER / "summary.py"))["own_margin"]
    assert own_margin({"margin": 0.05, "standard_margin": 0.01}) == (
        " (margin 0.05, not 0.01)"
    )
    assert own_margin({"margin": 0.01, "standard_margin": 0.01}) == ""


def test_an_error_is_in_the_summary(job: Job) -> None:
    results = job.project / "elmbench-results"
    results.rename(job.project / "elsewhere")
    job.summary.unlink(missing_ok=True)
    done = job.run("Check all tables")
    (job.project / "elsewhere").rename(results)
    assert done.returncode == 3
    summary = job.summary.read_text("utf-8")
    assert "```\nerror: " in summary
    assert "Next: elmbench run --all --profile fast" in summary


def test_actions_are_pinned_and_the_package_is_three_levels_up() -> None:
    gate = (ROOT / ".github" / "workflows" / "gate.yml").read_text("utf-8")
    for action in (step["uses"] for step in STEPS if "uses" in step):
        assert re.search(r"@[0-9a-f]{40}$", action)
        assert action in gate or action.startswith("actions/cache/")
    (install,) = (step for step in STEPS if step.get("name") == "Install elmbench")
    assert install["run"] == 'python -m pip install "$GITHUB_ACTION_PATH/../../.."'
    assert (FOLDER / ".." / ".." / ".." / "pyproject.toml").is_file()
