"""`elmbench data fingerprint` in a project."""

from collections.abc import Callable
from pathlib import Path

import pytest

ENTRIES = """# flowers and wines
wine:
  title: Wine
  task: classification
  shape: {instances: 178, features: 13, classes: {"0": 59, "1": 71, "2": 48}}
  sources:
    - {kind: scikit-learn, loader: load_wine}
  citation: none

iris: {title: Iris, task: classification,
  shape: {instances: 150, features: 4, classes: {"0": 50, "1": 50, "2": 50}},
  sources: [{kind: scikit-learn, loader: load_iris}], citation: none}
"""


@pytest.fixture
def project_file(elmbench: Callable) -> Path:
    """The data sets of a project in the working folder."""
    Path("elmbench.toml").write_text('specs = ["."]\n')
    file = Path("datasets.yaml")
    file.write_text(ENTRIES.rstrip("\n"))
    return file


def test_the_rows_of_a_project_get_fingerprints(
    project_file: Path, elmbench: Callable
) -> None:
    elmbench("data", "fingerprint", "wine")
    text = project_file.read_text()
    lines = text.splitlines(keepends=True)
    (number,) = (i for i, line in enumerate(lines) if line.startswith("  fingerprint:"))
    fingerprint = lines.pop(number)
    assert "".join(lines) == ENTRIES
    assert number == 5
    project_file.write_text(text.replace(fingerprint, fingerprint.replace("0", "1")))
    elmbench("data", "fingerprint", "wine")
    assert project_file.read_text() == text


def test_an_entry_on_one_line_is_left_to_the_user(
    project_file: Path, elmbench: Callable
) -> None:
    error = elmbench("data", "fingerprint", code=2).err
    assert "cannot be changed line by line" in error
    assert "  fingerprint: {" in error
    assert project_file.read_text() == ENTRIES.rstrip("\n")


def test_a_data_set_of_the_suite_is_not_in_the_file_of_a_project(
    project_file: Path, elmbench: Callable
) -> None:
    error = elmbench("data", "fingerprint", "wdbc", code=2).err
    assert "wdbc is not described in" in error


def test_the_file_of_an_installed_package_is_not_changed(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elmbench.specs.datasets.is_checkout", lambda: False)
    error = elmbench("data", "fingerprint", "wdbc", code=2).err
    assert "no datasets.yaml of your own is read here" in error
