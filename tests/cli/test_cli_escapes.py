"""Text of others reaches no terminal with control characters, whatever prints it."""

import io
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from rich import box
from rich.progress import Progress, TextColumn
from rich.table import Table

from elmbench.cli.app import main
from elmbench.cli.console import EscapingConsole
from elmbench.cli.options import state
from elmbench.report.writers.text import Text, lines_text

EVIL = "\x1b[31mred\x07\x9b\u202e"
ESCAPED = r"\x1b[31mred\x07\x9b\u202e"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture
def data(elmbench: Callable) -> Path:
    """A file whose name, columns, categories and labels have escape sequences."""
    path = Path(f"data{EVIL}.csv")
    columns = {f"{EVIL}h": range(60), "word": [f"{EVIL}u", f"{EVIL}v"] * 30}
    frame = pd.DataFrame(columns).assign(
        target=[f"{EVIL}y", f"{EVIL}n", f"{EVIL}n"] * 20
    )
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def plugin() -> Path:
    """A file with a model whose name has an escape sequence."""
    model = f"from sklearn.naive_bayes import GaussianNB\nMODELS = {{{EVIL + 'm'!r}: GaussianNB}}\n"
    Path("mine.py").write_text(model)
    return Path("mine.py")


def test_a_comparison_of_anybodys_file_escapes_what_it_prints_and_writes(
    elmbench: Callable, worker: dict, data: Path, plugin: Path
) -> None:
    worker[f"{EVIL}m"] = {"status": "failed", "reason": f"{EVIL}reason"}
    words = (
        "--plugin",
        plugin,
        "compare",
        data,
        "-m",
        f"ridge,{EVIL}m",
        "--folds",
        "3",
    )
    result = elmbench(*words, code=1)
    table = f"own/{next(Path('elmbench-results/compare/own').iterdir()).name}"
    outputs = [result, elmbench("--plugin", plugin, "status")]
    for form in ("text", "md", "latex"):
        outputs.append(elmbench("--plugin", plugin, "table", table, "--format", form))
    outputs.append(elmbench("--plugin", plugin, "list", "models"))
    for output in outputs:
        assert not RAW.search(output.out + output.err)
        assert "x1b" in output.out
    for part in ("h", "m", "reason", "y", ".csv"):
        assert f"{ESCAPED}{part}" in result.out.replace("\n", ""), part
    (markdown,) = Path("elmbench-results").rglob("table.md")
    assert not RAW.search(markdown.read_text("utf-8"))


@pytest.mark.parametrize(
    "words",
    [
        (f"{EVIL}command",),
        ("show", f"{EVIL}name"),
        ("--debug", "show", f"{EVIL}name"),
        ("compare", f"{EVIL}file.csv"),
        ("compare", "sklearn:iris", "--task", f"{EVIL}task"),
        ("compare", "sklearn:iris", "--dry-run", "-m", f"{EVIL}model"),
        ("list", f"{EVIL}kind"),
    ],
)
def test_messages_escape_what_was_typed(
    elmbench: Callable, words: tuple[str, ...]
) -> None:
    result = elmbench(*words, code=2)
    assert not RAW.search(result.out + result.err)
    assert "red" in result.err


def test_messages_escape_unknown_keys_of_yaml(elmbench: Callable) -> None:
    Path("mine").mkdir()
    spec = 'mine:\n  title: x\n  "\\x1b[31mkey": 1\n'
    Path("mine", "datasets.yaml").write_text(spec)
    error = elmbench("--spec-dir", "mine", "list", "datasets", code=2).err
    assert r"\x1b[31mkey" in error
    assert not RAW.search(error)


def test_warnings_are_escaped(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warn() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda *message: sys.stderr.write(f"{message[0]}\n")
            warnings.warn(f"{EVIL}warning", stacklevel=1)

    monkeypatch.setattr("elmbench.runs.validate.validate_specs", lambda: (warn(), 1))
    assert elmbench("validate").err == f"{ESCAPED}warning\n"


def test_json_has_the_text_itself(elmbench: Callable, plugin: Path) -> None:
    result = elmbench("--plugin", plugin, "list", "models", "--json")
    assert not RAW.search(result.out.replace("\\u", ""))
    assert f"{EVIL}m" in {line["name"] for line in result.json}


@pytest.mark.parametrize("is_terminal", [False, True])
def test_csv_is_unchanged_unless_it_is_shown_on_a_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
) -> None:
    """The labels of predictions are those of the file that was learnt."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr("elmbench.runs.validate.validate_specs", lambda: (1, 1))
    monkeypatch.setattr(state, "emit", lambda *content: state.write(f"{EVIL},1\n"))
    with pytest.raises(SystemExit):
        main(["validate"])
    assert capsys.readouterr().out == f"{ESCAPED if is_terminal else EVIL},1\n"


def test_only_the_styles_of_the_console_reach_a_terminal() -> None:
    stream = io.StringIO()
    console = EscapingConsole(stream, 80)
    console._force_terminal = True
    console._color_system = None
    table = Table(f"{EVIL}heading [bold]:smile:", box=box.SIMPLE_HEAD)
    table.add_row(f"{EVIL}cell")
    with Progress(
        TextColumn("{task.description}", markup=False), console=console
    ) as progress:
        progress.add_task(f"{EVIL}")
        console.print(table, Text(f"{EVIL}text"), f"{EVIL}line [red]:smile:[/red]")
    # The display of progress hides the cursor and deletes its own lines.
    text = re.sub(r"\x1b\[(\?25[lh]|[0-9]*[AKm]|2K)|\r", "", stream.getvalue())
    assert not RAW.search(text)
    for part in ("cell", "text", "heading [bold]:smile:", "line [red]:smile:[/red]"):
        assert f"{ESCAPED}{part}" in text, part


def test_escapes_are_counted_as_the_width_of_a_column() -> None:
    stream = io.StringIO()
    rows = [(f"{EVIL}long-name", 1), ("short", 22)]
    EscapingConsole(stream, 80).print(
        lines_text((f"{EVIL}name", "n"), rows, right=("n",))
    )
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert lines[2:] == [f"{ESCAPED}long-name   1", f"{'short':{len(ESCAPED) + 9}}  22"]
