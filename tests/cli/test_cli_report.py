"""`elmbench report`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def test_readings_on_one_page(elmbench: Callable, toy: Callable, worker: dict) -> None:
    toy()
    nothing = elmbench("report")
    assert (nothing.code, nothing.out) == (2, "")
    assert nothing.err.startswith("error: no table has results in elmbench-results")
    run = ("run", "one", "--profile", "paper", "-m", "elm", "-q")
    assert elmbench(*run).code == 0
    worker["elm"] = lambda unit: {"measured": {"mcc": 0.5 + 0.01 * unit["fold"]}} if unit["kind"] == "cell" else {}
    assert elmbench(*run, "--reading", "order=stored").code == 0
    result = elmbench("report")
    assert (result.code, result.out) == (
        0,
        "written: elmbench-results/site/index.html\nwritten: elmbench-results/readings/toy.md\n",
    )
    text = Path("elmbench-results/readings/toy.md").read_text()
    assert (
        "| WDBC ELM mcc (Table I, paper, nested, 6 cells) | 0.92 | 0.920 ± 0.000 | 0.510 ± 0.000 | shuffled |" in text
    )
    assert "    elmbench run toy/one --profile paper -m elm --reading order=stored\n" in text
    assert str(Path().resolve()) not in text
    index, other = Path("elmbench-results/site/index.html"), Path("elmbench-results/site/claims.html")
    built = index.stat().st_mtime_ns
    assert elmbench("report").out == result.out
    assert index.stat().st_mtime_ns == built
    # A page that is missing, or results that changed, make a new site.
    other.unlink()
    assert elmbench("report").out == result.out
    assert other.is_file()
    rebuilt = index.stat().st_mtime_ns
    assert elmbench(*run, "-m", "k-elm").code == 0
    assert elmbench("report").out == result.out
    assert built < rebuilt < index.stat().st_mtime_ns
