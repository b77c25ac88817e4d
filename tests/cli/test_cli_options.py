"""Options of the whole app: before or after the verb, or as environment variables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from elmbench.cli.app import app, hoist
from elmbench.cli.state import state

PLUGIN = '''
from sklearn.linear_model import LogisticRegression

class Mine(LogisticRegression):
    """A model of mine."""

MODELS = {"mine": Mine}
'''


@pytest.mark.parametrize("position", ["before", "after", "equals", "environment"])
def test_each_option_may_stand_anywhere(
    elmbench: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, position: str
) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", "unset")
    values = {"results-dir": tmp_path / "r", "data-dir": tmp_path / "d", "cache-dir": tmp_path / "c"}
    values["plugin"] = tmp_path / "mine.py"
    verb = ["list", "models"]
    if position == "environment":
        for name, value in values.items():
            monkeypatch.setenv("ELMBENCH_" + name.upper().replace("-", "_"), str(value))
        result = elmbench(*verb)
    elif position == "equals":
        result = elmbench(*verb, *(f"--{name}={value}" for name, value in values.items()))
    else:
        options = [word for name, value in values.items() for word in (f"--{name}", value)]
        result = elmbench(*(options + verb if position == "before" else verb + options))
    assert result.code == 0
    assert "A model of mine." in result.out
    assert state.results_dir == values["results-dir"]
    assert state.data_dir == str(values["data-dir"])
    assert state.plugins == (str(values["plugin"]),)
    import os

    assert os.environ["ELMBENCH_CACHE_DIR"] == str(values["cache-dir"])


@pytest.mark.parametrize(("flag", "name"), [("-q", "quiet"), ("--quiet", "quiet"), ("--json", "as_json")])
def test_flags_may_stand_anywhere(elmbench: Callable, monkeypatch: pytest.MonkeyPatch, flag: str, name: str) -> None:
    for words in ([flag, "list", "models"], ["list", flag, "models"], ["list", "models", flag]):
        assert elmbench(*words).code == 0
        assert getattr(state, name) is True
    assert elmbench("list", "models").code == 0
    assert getattr(state, name) is False
    monkeypatch.setenv(f"ELMBENCH_{name.removeprefix('as_').upper()}", "1")
    assert elmbench("list", "models").code == 0
    assert getattr(state, name) is True


def test_what_comes_after_two_hyphens_is_no_option() -> None:
    declared = typer.main.get_command(app).params
    assert hoist(["show", "--", "--json", "-q"], declared) == ["show", "--", "--json", "-q"]
    assert hoist(["run", "a", "--data-dir", "--json", "-m", "x", "--plugin=p.py"], declared) == [
        "--data-dir", "--json", "--plugin=p.py", "run", "a", "-m", "x",
    ]  # fmt: skip


@pytest.mark.parametrize("option", ["--results-dir", "--data-dir", "--cache-dir", "--plugin"])
def test_an_option_without_its_value_is_named(elmbench: Callable, option: str) -> None:
    result = elmbench("run", "table4", option)
    assert result.code == 2
    assert result.err.strip().splitlines()[-1] == f"Error: Option '{option}' requires an argument."


def test_debug_shows_where_an_error_arose(elmbench: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = elmbench("show", "nope")
    assert (plain.code, "Traceback" in plain.err) == (2, False)
    for words in (["--debug", "show", "nope"], ["show", "nope", "--debug"]):
        shown = elmbench(*words)
        assert shown.code == 2
        assert "Traceback" in shown.err
        assert "find_experiment" in shown.err
        assert shown.err.endswith(plain.err)
    monkeypatch.setenv("ELMBENCH_DEBUG", "1")
    assert "Traceback" in elmbench("show", "nope").err
