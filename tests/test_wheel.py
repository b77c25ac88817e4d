"""The first section of docs/add-a-paper.md with the built wheel, in an environment and a folder
outside of the checkout.
"""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "add-a-paper.md").read_text("utf-8")
SECTION = re.search(r"^## In your own repository$(.*?)^## ", GUIDE, flags=re.M | re.S)

pytestmark = pytest.mark.exhaustive


def output_of(command: list[str], folder: Path) -> str:
    """Run a command, which must succeed, and return its output without trailing spaces."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ELMBENCH_", "PYTHON", "COLUMNS"))
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=inherited | {"PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return without_trailing_spaces(done.stdout)


def without_trailing_spaces(text: str) -> str:
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The scripts of a new environment with the wheel.

    Its dependencies are the packages that run this test.
    """
    hatchling = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    output_of([*hatchling, "-d", str(tmp_path / "wheels")], ROOT)
    (wheel,) = (tmp_path / "wheels").glob("elmbench-*.whl")
    environment = tmp_path / "environment"
    output_of(
        [sys.executable, "-m", "venv", "--without-pip", str(environment)], tmp_path
    )
    variables = {"base": str(environment), "platbase": str(environment)}
    paths = sysconfig.get_paths(scheme="venv", vars=variables)
    # Python adds this path without the `.pth` files in it, and so without the checkout.
    dependencies = Path(paths["purelib"]) / "dependencies.pth"
    dependencies.write_text(sysconfig.get_paths()["purelib"] + "\n", "utf-8")
    python = Path(paths["scripts"]) / Path(sys.executable).name
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install"]
    options = ["--no-deps", "--no-index", "--no-compile", "--ignore-installed"]
    output_of([*pip, *options, str(wheel)], tmp_path)
    return python.parent


def blocks_of(section: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block of code."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", section, flags=re.M | re.S)


def test_the_walk_of_the_guide_shows_what_the_wheel_prints(
    scripts: Path, tmp_path: Path
) -> None:
    python = scripts / Path(sys.executable).name
    code = "import elmbench; print(elmbench.__file__)"
    package = Path(output_of([str(python), "-c", code], tmp_path).strip())
    assert package.is_relative_to(tmp_path / "environment")

    folder = tmp_path / "empty"
    folder.mkdir()
    assert SECTION is not None
    commands = []
    printed = ""
    shown = {"text": 0, "markdown": 0}
    for language, text in blocks_of(SECTION[1]):
        if language == "text":
            assert text in printed
        elif language == "markdown":
            assert text in (folder / "README.md").read_text("utf-8")
        else:
            for line in text.splitlines():
                program, *words = line.split()
                commands.append(words[0])
                if program == "cd":
                    folder = folder / words[0]
                else:
                    assert program == "elmbench"
                    printed += output_of([str(scripts / program), *words], folder)
            continue
        shown[language] += 1
    assert commands == ["new-paper", "miller", "validate", "run", "check", "pages"]
    assert shown == {"text": 2, "markdown": 1}
