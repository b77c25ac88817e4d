"""Metadata, citation, changelog and workflows of the project, and the names that `import elmbench`
gives.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import elmbench
import elmbench.models
from elmbench.specs.catalogue import load_catalogue

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
CITATION = yaml.safe_load((TOP / "CITATION.cff").read_text("utf-8"))
WORKFLOWS = sorted((TOP / ".github" / "workflows").glob("*.yml"))
PINNED_ACTION = r"[\w-]+/[\w-]+@[0-9a-f]{40}"


def read_workflow(name: str) -> Any:
    return yaml.safe_load((TOP / ".github" / "workflows" / name).read_text("utf-8"))


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    heading = re.search(
        r"^## (\S+) - (\d{4}-\d{2}-\d{2})$",
        (TOP / "CHANGELOG.md").read_text("utf-8"),
        re.M,
    )
    assert heading is not None
    assert heading[1] == PROJECT["version"] == CITATION["version"]
    assert heading[2] == CITATION["date-released"].isoformat()


def test_the_citation_names_every_paper() -> None:
    cited = {reference["doi"]: reference for reference in CITATION["references"]}
    papers = {
        experiment.paper.doi: experiment.paper
        for experiment in load_catalogue().values()
    }
    assert set(cited) == set(papers)
    for paper in papers.values():
        reference = cited[paper.doi]
        names = [
            f"{author['given-names']} {author['family-names']}"
            for author in reference["authors"]
        ]
        assert (reference["title"], reference["year"]) == (paper.title, paper.year)
        assert ", ".join(names) == paper.authors


def test_python_has_no_upper_limit_and_each_named_version_is_tested() -> None:
    assert PROJECT["requires-python"] == ">=3.11"
    prefix = "Programming Language :: Python :: "
    named = [
        text.removeprefix(prefix)
        for text in PROJECT["classifiers"]
        if text.startswith(prefix)
    ]
    assert (
        read_workflow("gate.yml")["jobs"]["gate"]["strategy"]["matrix"]["python"]
        == named
    )


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_exists(path: Path) -> None:
    targets = set(
        re.findall(
            r"^([\w./-]+):",
            (TOP / "Makefile").read_text("utf-8").replace("$(VENV)", ".venv"),
            re.M,
        )
    )
    for job in read_workflow(path.name)["jobs"].values():
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(PINNED_ACTION, step["uses"])
            command = step.get("run", "")
            assert set(re.findall(r"\bmake (\S+)", command)) <= targets
            for file in re.findall(
                r"(?<!\S)(?:\.ci/\w+|[\w/-]+\.(?:txt|toml|md))(?!\S)", command
            ):
                assert (TOP / file).is_file(), file


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_installs_pinned_packages(path: Path) -> None:
    """Or packages that it tests: of this checkout, or the lowest versions."""
    tested = (
        "--no-deps",
        '"$archive"',
        "--resolution lowest-direct",
        "-c requirements-dev.txt",
    )
    for job in read_workflow(path.name)["jobs"].values():
        for step in job["steps"]:
            for line in step.get("run", "").replace("\\\n", " ").splitlines():
                if re.search(r"pip\S* (\S+ \S+ )?install ", line):
                    assert "--require-hashes" in line or any(
                        text in line for text in tested
                    ), line


def test_a_release_is_made_with_pinned_tools_attested_and_listed() -> None:
    pins = (TOP / "tools" / "release-requirements.txt").read_text("utf-8")
    for name in ("build", "cyclonedx-bom", "hatchling", "twine", "uv"):
        assert re.search(rf"^{name}==\S+ .*\\\n    --hash=sha256:", pins, re.M), name
    jobs = read_workflow("release.yml")["jobs"]
    commands = "\n".join(step.get("run", "") for step in jobs["build"]["steps"])
    assert "python -m build --no-isolation" in commands
    assert "--output-file dist/elmbench.cdx.json" in commands
    assert jobs["publish"]["permissions"]["attestations"] == "write"
    actions = [
        step.get("uses", "").partition("@")[0] for step in jobs["publish"]["steps"]
    ]
    assert {"actions/attest-build-provenance", "actions/attest-sbom"} <= {*actions}
    updates = yaml.safe_load((TOP / ".github" / "dependabot.yml").read_text("utf-8"))[
        "updates"
    ]
    assert {update["package-ecosystem"] for update in updates} == {
        "github-actions",
        "pip",
    }


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "elmbench", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"elmbench {elmbench.__version__}\n"


def test_names_of_the_package_are_listed_and_complete() -> None:
    code = """
import elmbench, rlcompleter
completer = rlcompleter.Completer({"elmbench": elmbench})
names = set()
while (name := completer.complete("elmbench.", len(names))) is not None:
    names.add(name)
print(*sorted(names))
print(elmbench.models.KELMClassifier.__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    completed, estimator = done.stdout.splitlines()
    public = {name for name in elmbench.__all__ if not name.startswith("_")}
    assert {
        word.removeprefix("elmbench.").rstrip("()") for word in completed.split()
    } >= public
    assert estimator == "KELMClassifier"
    assert dir(elmbench) == sorted(elmbench.__all__)
    assert all(hasattr(elmbench, name) for name in dir(elmbench))
    with pytest.raises(AttributeError, match="nothing"):
        elmbench.nothing  # noqa: B018
