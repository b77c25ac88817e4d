"""Bad input: one message that says what was found, what was expected and which command comes next;
exit code 2.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import pytest
from sentences import sentence

LISTED = "one of the names that the next command lists"
#: Command, the part of the message on what is wrong, and the part on what was expected.
MISTAKES = [
    *(
        (f"{verb} nope", "unknown experiment 'nope'", LISTED)
        for verb in ("run", "show", "status", "table", "check", "baseline update")
    ),
    ("run tabel4", "unknown experiment 'tabel4' (did you mean 'table4'?)", LISTED),
    (
        "show own/mine",
        "'own/mine' is not an experiment",
        "one of `elmbench list experiments`",
    ),
    ("run table4 -m nope", "unknown model 'nope'", "k-elm"),
    (
        "run table4 -m kelm",
        "unknown model 'kelm' (did you mean 'k-elm'?)",
        "elmbench list models",
    ),
    ("run table4 -d nope", "unknown data set 'nope'", LISTED),
    (
        "run table4 -d calhousing",
        "kos-elm/table4 is about classification; 'calhousing' is for regression",
        "sylva, wdbc",
    ),
    ("run table4 --profile slow", "unknown profile 'slow'", "ci, fast, paper"),
    ("table table4 --profile slow", "unknown profile 'slow'", "ci, fast, paper"),
    (
        "run table5 --profile ci",
        "kos-elm/table5 has nothing to show under profile ci",
        "fast, paper",
    ),
    ("run table4 --reading nope=1", "kos-elm/table4 has no reading 'nope'", "c-grid"),
    (
        "run table4 --reading c-grid=nope",
        "unknown value of the reading c-grid: 'nope'",
        "all-powers, step-3",
    ),
    ("run table4 --reading c-grid", "--reading is given as c-grid", "ID=VALUE"),
    (
        "run table4 --reading order=stored --reading order=shuffled",
        "order=stored, order=shuffled",
        "ID=VALUE",
    ),
    (
        'run table4 -m k-elm --grid {"k-elm":{"C":[1]}}',
        "'k-elm', which is a model of this table",
        "none is added",
    ),
    (
        'run table4 --grid {"ridge":{"C":[1]}}',
        "'ridge', which is not an added model of this table",
        "none is added",
    ),
    (
        "run table4 --metric acc",
        "unknown metric 'acc' (did you mean 'accuracy'?)",
        "balanced_accuracy",
    ),
    (
        "run table4 --select best",
        "unknown selection 'best'",
        "nested, once, oracle, published",
    ),
    (
        "run table4 --limit time=-1s",
        "the limit 'time=-1s' cannot be read",
        "time=NUMBER",
    ),
    (
        "run table4 --select published --profile ci -m svm",
        "no printed hyperparameters",
        "columns that the paper",
    ),
    (
        "run table4 -d sylva",
        "the data set 'sylva' is not here",
        "a file for each data set",
    ),
    (
        "run table4 --all",
        "table4 and --all are given together",
        "--paper KEY, or --all",
    ),
    (
        "run table4 --paper eem",
        "table4 and --paper eem are given together",
        "--paper KEY, or --all",
    ),
    (
        "run --all --paper eem",
        "--paper eem and --all are given together",
        "--paper KEY, or --all",
    ),
    (
        "run table4 --engine daks",
        "unknown engine 'daks' (did you mean 'dask'?)",
        "dask, local",
    ),
    (
        "run table4 --engine dask",
        "the engine dask is given without --scheduler",
        "with --engine dask",
    ),
    (
        "run table4 --scheduler tcp://127.0.0.1:1",
        "the engine local is given with --scheduler",
        "with it only",
    ),
    ("run", "no experiment is named", "--all"),
    ("run --paper EEM", "unknown paper 'EEM' (did you mean 'eem'?)", "kos-elm"),
    ("run rkelm", "'rkelm' is a paper", "rkelm/table1, "),
    (
        "table own/mine",
        "elmbench-results holds no comparison 'own/mine'",
        "one that `elmbench compare` wrote",
    ),
    ("run --all -d iris", "unknown data set 'iris'", LISTED),
    (
        "table table4",
        "elmbench-results/fast/kos-elm/table4/cells.csv does not exist",
        "an earlier run",
    ),
    ("table", "no table is named", "an id or alias"),
    ("status --results-dir=", "--results-dir is '', which is not a folder", "a folder"),
    (f"status --results-dir {__file__}", "which is not a folder", "a folder"),
    ("data status nope", "unknown data set 'nope'", LISTED),
    ("data fetch", "no data set is named", "--all"),
    ("data fetch sylva --all", "together with --all", "names, or --all"),
    ("data import wdbc here.csv", "no data directory is given", "a folder"),
    ("--plugin nope.py list models", "cannot read the plug-in", "a Python file"),
]


@pytest.mark.parametrize(
    ("command", "problem", "expected"),
    MISTAKES,
    ids=[mistake[0] for mistake in MISTAKES],
)
def test_a_mistake_gets_one_clear_message(
    elmbench: Callable, command: str, problem: str, expected: str
) -> None:
    outcome = elmbench(*command.split(), code=2)
    assert outcome.out == ""
    first, second, third = outcome.err.splitlines()
    assert first.startswith("error: ")
    assert problem in first
    assert second.startswith("Expected: ")
    assert expected in second
    assert third.startswith("Next: ")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("run table4 --jobs -1", "Invalid value for '-j' / '--jobs'"),
        ("run table4 --jobs 1000000000", "Invalid value for '-j' / '--jobs'"),
        ("run table4 --jobs two", "Invalid value for '-j' / '--jobs'"),
        ("run table4 --runs 0", "Invalid value for '--runs'"),
        ("run table4 --blas-threads 0", "Invalid value for '--blas-threads'"),
        ("table table4 --format pdf", "Invalid value for '--format'"),
        ("check --against published --profile nope", "Invalid value for '--profile'"),
        ("list tables", "Invalid value for 'what'"),
        ("compare mine.csv --task ranking", "Invalid value for '--task': 'ranking' is"),
        ("check --against nothing", "Invalid value for '--against'"),
        ("run table4 --frob", "No such option: --frob"),
        (
            "tabel table4",
            sentence("cli.errors.unknown-command", command="tabel", similar="table"),
        ),
        ("list", "Missing argument 'what'"),
        ("show", "Missing argument 'experiment'"),
        ("baseline update", "Missing argument 'experiments'"),
    ],
)
def test_usage_errors_name_the_option_or_command(
    elmbench: Callable, command: str, said: str
) -> None:
    outcome = elmbench(*command.split(), code=2)
    assert outcome.out == ""
    assert f"Error: {said}" in outcome.err
    assert outcome.err.startswith("Usage: elmbench")
    # The command that comes next.
    assert "Try 'elmbench " in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    "option", ["--results-dir", "--data-dir", "--cache-dir", "--plugin"]
)
def test_an_option_without_its_value_is_named(elmbench: Callable, option: str) -> None:
    result = elmbench("run", "table4", option, code=2)
    assert (
        result.err.strip().splitlines()[-1]
        == f"Error: Option '{option}' requires an argument."
    )


def test_errors_are_printed_in_any_case_and_debug_shows_where_they_arose(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = elmbench("show", "nope", code=2)
    assert plain.err.startswith("error: unknown experiment 'nope'")
    assert "Traceback" not in plain.err
    for quiet in ("-q", "--json"):
        assert elmbench("show", "nope", quiet, code=2) == plain
    for words in (["--debug", "show", "nope"], ["show", "nope", "--debug"]):
        shown = elmbench(*words, code=2)
        assert "Traceback" in shown.err
        assert "find_experiment" in shown.err
        assert shown.err.endswith(plain.err)
    monkeypatch.setenv("ELMBENCH_DEBUG", "1")
    assert "Traceback" in elmbench("show", "nope", code=2).err


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs a device that is always full"
)
@pytest.mark.parametrize("words", ["list models", "list models --json", "--help"])
def test_output_that_cannot_be_written_is_one_clear_error(words: str) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "elmbench", *words.split()]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].endswith(
        sentence("cli.errors.disk-full-of-output")
    )
    assert len(done.stderr.splitlines()) == 3


def test_a_closed_pipe_is_no_error() -> None:
    command = [sys.executable, "-m", "elmbench", "list", "models", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_streams_that_were_closed_before_the_start() -> None:
    command = f"exec {sys.executable} -m elmbench list models >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0


#: A call from Python, as the command line makes one.
COMPARE = """
import elmbench, numpy
X = numpy.random.default_rng(0).random((40, 2))
elmbench.compare(X, X[:, 0] > 0.5, ["ridge"], folds=2, results_dir="elmbench-results")
"""


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("by", ["command", "call"])
def test_a_comparison_without_standard_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str, closed: str
) -> None:
    """No pipe to a worker and no file of the store takes the number of one of them."""
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("a,t\n" + "1,no\n2.5,yes\n" * 20)
    Path("call.py").write_text(COMPARE)
    command = (
        "call.py"
        if by == "call"
        else "-m elmbench compare x.csv -t t -m ridge --folds 2"
    )
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} {command} {closed}"],
        stdout=PIPE,
        check=False,
    )
    assert done.returncode == 0
    (cells,) = Path("elmbench-results").rglob("cells.csv")
    with open(cells, newline="") as stream:
        assert {row["status"] for row in csv.DictReader(stream)} == {"ok"}


def test_a_terminal_without_unicode_gets_replacements() -> None:
    code = (
        "from elmbench.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    "
        "print('0.9 ± 0.1 ✓ ?')"
    )
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("0.9 +- 0.1 = ?\n")


def test_bidirectional_characters_of_a_file_are_escaped(elmbench: Callable) -> None:
    Path("x.csv").write_text("a\u202eb,t\n" + "1,no\n2.5,yes\n" * 20, "utf-8")
    assert (
        "a\\u202eb, t" in elmbench("compare", "x.csv", "-m", "ridge", "--dry-run").out
    )
    assert "one of a\\u202eb, t" in elmbench("compare", "x.csv", "-t", "y", code=2).err
