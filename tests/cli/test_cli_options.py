"""Options of the whole app, before or after the command or as environment variables; help, imports
and completion.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from elmbench.cli.app import app, hoist
from elmbench.cli.options import state

PLUGIN = '''
from sklearn.linear_model import LogisticRegression

class Mine(LogisticRegression):
    """A model of mine."""

MODELS = {"mine": Mine}
'''
VERBS = [
    "run", "compare", "predict", "list", "show", "validate", "new-paper", "schema", "env",
    "status", "merge", "table", "check", "pages", "report", "baseline", "data",
]  # fmt: skip
COMMANDS = [*VERBS, "baseline update", "data status", "data fetch", "data import"]


@pytest.mark.parametrize("position", ["before", "after", "equals", "environment"])
def test_options_of_the_app_are_accepted_before_and_after_the_command(
    elmbench: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, position: str
) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", "unset")
    values = {
        "results-dir": tmp_path / "r",
        "data-dir": tmp_path / "d",
        "cache-dir": tmp_path / "c",
    }
    values["plugin"] = tmp_path / "mine.py"
    verb = ["list", "models"]
    if position == "environment":
        for name, value in values.items():
            monkeypatch.setenv("ELMBENCH_" + name.upper().replace("-", "_"), str(value))
        result = elmbench(*verb)
    elif position == "equals":
        result = elmbench(
            *verb, *(f"--{name}={value}" for name, value in values.items())
        )
    else:
        options = [
            word for name, value in values.items() for word in (f"--{name}", value)
        ]
        result = elmbench(*(options + verb if position == "before" else verb + options))
    assert "A model of mine." in result.out
    assert state.results_dir == values["results-dir"]
    assert state.data_dir == str(values["data-dir"])
    assert state.plugins == (str(values["plugin"]),)
    assert os.environ["ELMBENCH_CACHE_DIR"] == str(values["cache-dir"])


@pytest.mark.parametrize(
    ("flag", "name"), [("-q", "quiet"), ("--quiet", "quiet"), ("--json", "as_json")]
)
def test_flags_of_the_app_are_accepted_before_and_after_the_command(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch, flag: str, name: str
) -> None:
    for words in (
        [flag, "list", "models"],
        ["list", flag, "models"],
        ["list", "models", flag],
    ):
        elmbench(*words)
        assert getattr(state, name) is True
    elmbench("list", "models")
    assert getattr(state, name) is False
    monkeypatch.setenv(f"ELMBENCH_{name.removeprefix('as_').upper()}", "1")
    elmbench("list", "models")
    assert getattr(state, name) is True


def test_what_comes_after_two_hyphens_is_no_option() -> None:
    declared = typer.main.get_command(app).params
    assert hoist(["show", "--", "--json", "-q"], declared) == (
        [],
        ["show", "--", "--json", "-q"],
    )
    front, rest = ["--data-dir", "--json", "--plugin=p.py"], ["run", "a", "-m", "x"]
    assert hoist(
        ["run", "a", "--data-dir", "--json", "-m", "x", "--plugin=p.py"], declared
    ) == (
        front,
        rest,
    )


def test_commands_in_messages_have_the_options_that_were_typed(
    elmbench: Callable, one: Path
) -> None:
    options = ["--results-dir", "run", "--data-dir=my data", "-q"]
    error = elmbench("check", "one", *options, code=3).err.splitlines()[-1]
    prefix = "elmbench --results-dir run '--data-dir=my data'"
    assert (
        error
        == f"Next: {prefix} run toy/one --profile ci, then: {prefix} baseline update toy/one"
    )
    assert elmbench("status", *options[:2]).out.endswith(
        "next: elmbench --results-dir run run table4\n"
    )
    # Stored commands have the options that were typed behind them.
    state.typed = "--results-dir 'my run'"
    typed = f"elmbench {state.typed} compare a.csv"
    assert state.complete(
        "elmbench compare a.csv --results-dir 'my run' --save m.joblib"
    ) == (f"{typed} --save m.joblib")
    state.typed = "--data-dir=b --results-dir a"
    assert (
        state.complete("elmbench compare a.csv --data-dir=b --results-dir abc")
        == f"elmbench {state.typed} compare a.csv --results-dir abc"
    )
    state.typed = "--plugin 'my plugins/p.py'"
    assert (
        state.complete("elmbench run one -m mine --plugin p.py")
        == f"elmbench {state.typed} run one -m mine"
    )


def test_help_lists_every_command_below_a_heading(elmbench: Callable) -> None:
    text = elmbench("--help").out
    groups = {
        "Rerun papers:": ["run", "new-paper", "status", "merge"],
        "Your own data:": ["compare", "predict"],
        "Look around:": ["list", "show", "validate", "schema", "env", "data"],
        "Results:": ["table", "check", "pages", "report", "baseline"],
    }
    listed = [name for commands in groups.values() for name in commands]
    assert sorted(listed) == sorted(VERBS)
    for heading, commands in groups.items():
        lines = text.partition(f"\n{heading}\n")[2].partition("\n\n")[0].splitlines()
        # Deeper lines continue a description.
        assert [line.split()[0] for line in lines if line[2] != " "] == commands
    bare = elmbench(code=None)
    assert "Rerun papers:" in bare.out + bare.err


@pytest.mark.parametrize(
    ("command", "heading", "option"),
    [
        ("run", "Protocol:", "--reading ID=VALUE "),
        ("run", "Execution:", "--jobs N "),
        ("compare", "Splits:", "--test FILE "),
        ("compare", "Output:", "--save FILE "),
        ("check", "What to compare:", "--against NAME "),
        ("predict", "Options:", "--proba "),
        ("data", "Commands:", "import "),
    ],
)
def test_help_lists_options_below_their_group(
    elmbench: Callable, command: str, heading: str, option: str
) -> None:
    text = elmbench(command, "--help").out
    assert option in text.partition(f"\n{heading}\n")[2].partition("\n\n")[0]
    # A placeholder is no type of Python.
    assert "<" not in text.replace("<=", "")


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_of_every_command_fits_80_columns(
    elmbench: Callable, command: str, flag: str
) -> None:
    result = elmbench(*command.split(), flag)
    assert result.err == ""
    assert f"Usage: elmbench {command}".strip() in result.out
    assert "{" not in result.out.splitlines()[0]
    assert max(map(len, result.out.splitlines())) <= 80
    # A terminal as tall as a screen.
    assert command != "compare" or len(result.out.splitlines()) <= 50


HEAVY = {
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "matplotlib",
    "numba",
    "openml",
    "pyarrow",
    "jinja2",
}


@pytest.fixture
def imported(tmp_path: Path) -> Callable[[str], set[str]]:
    """Return the modules that a process has imported once a command has ended."""
    code = (
        "import sys\nfrom elmbench.cli import main\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code, ended.code\n"
        "print('modules:', *sys.modules)"
    )
    folders = {"ELMBENCH_CACHE_DIR": str(tmp_path / "cache")}
    folders["ELMBENCH_RESULTS_DIR"] = str(Path(__file__).parents[2] / "results")

    def run(command: str) -> set[str]:
        words = [sys.executable, "-c", code, *command.split()]
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env=os.environ | folders,
            capture_output=True,
            text=True,
            check=True,
        )
        return set(done.stdout.rpartition("modules:")[2].split())

    return run


@pytest.mark.parametrize(
    "command",
    [
        "--version", "--help", "list experiments", "list models", "list datasets", "list readings",
        "status", "show table4", "show eem/table4", "validate",
    ],
)  # fmt: skip
def test_commands_without_tables_do_not_import_pandas(
    imported: Callable[[str], set[str]], command: str
) -> None:
    modules = imported(command)
    assert not modules & {"elmbench.execution.engine", "elmbench.tables.planning"}
    assert not modules & HEAVY
    if command in ("--version", "--help", "status"):
        assert not modules & {"yaml", "elmbench.specs.files"}


@pytest.mark.parametrize("command", ["table table4", "table table4 --format csv"])
def test_a_table_is_printed_without_what_made_it(
    imported: Callable[[str], set[str]], command: str
) -> None:
    modules = imported(command)
    assert "pandas" in modules
    assert not modules & {
        "sklearn",
        "scipy.stats",
        "scipy.sparse",
        "matplotlib",
        "numba",
        "openml",
    }
    assert not {
        name
        for name in modules
        if name.startswith(("elmbench.models.", "elmbench.execution.engine"))
    }


def test_only_the_worker_of_a_comparison_imports_scikit_learn(
    imported: Callable[[str], set[str]], tmp_path: Path
) -> None:
    (tmp_path / "mine.csv").write_text(
        "a,b,y\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(60))
    )
    command = "--results-dir results compare mine.csv -m ridge --folds 2"
    modules = imported(command)
    assert "elmbench.execution.engine" in modules
    assert not modules & {"sklearn", "scipy.stats", "matplotlib", "numba"}
    # A stored comparison is shown without what the workers' results need.
    assert not imported(command) & {
        "sklearn",
        "scipy.stats",
        "matplotlib",
        "numba",
        "joblib",
    }


# --- Completion in a shell
# --------------------------------------------------------------------------------------------

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
        ("compare mine.csv -m", "k-", {"k-elm"}),
        ("data fetch", "wdb", {"wdbc"}),
    ],
)
def test_the_shell_completes_names(
    words: str, incomplete: str, offered: set[str]
) -> None:
    assert completed(words, incomplete) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_completion_script_is_installed(tmp_path: Path) -> None:
    done = subprocess.run(
        # A second command, so that bash stays what started the first.
        ["bash", "-c", f"{COMMAND} --install-completion; true"],
        env=os.environ | {"HOME": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "completion installed" in done.stdout, done.stderr
    script = tmp_path / ".bash_completions" / "elmbench.sh"
    assert str(script) in (tmp_path / ".bashrc").read_text()
    # What was installed is what bash can read, and is about this command.
    command = f"source {script}; complete -p elmbench"
    assert (
        "elmbench"
        in subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, check=True
        ).stdout
    )


def test_placeholders_of_the_help(elmbench: Callable) -> None:
    text = elmbench("run", "--help").out
    assert all(
        words in text for words in ("--runs N ", "--paper NAME ", "--reading ID=VALUE ")
    )
    assert "<" not in text.partition("Options:")[2].replace("<=", "")
    assert "--plugin FILE " in elmbench("--help").out
