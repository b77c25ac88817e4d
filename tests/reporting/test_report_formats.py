"""Tables as Markdown and LaTeX."""

from __future__ import annotations

import re

import pytest

from elmbench.reporting.formats import latex, markdown
from elmbench.reporting.tables import Section, Table

ROW = {
    "dataset": "A & B_1",
    "model": "50 % #1 {x} $y$",
    "value": "0.92 ± 0.01",
    "published": "> 600 s",
    "verdict": "a\\b^c~d",
    "fit": "0.5",
    "published_fit": "1",
    "ratio": "1",
    "published_ratio": "2",
}
COLUMNS = {name: name.replace("_", " ") for name in ROW}


@pytest.fixture
def table() -> Table:
    sections = (
        Section("nested: inner folds", (ROW, ROW | {"model": "m"})),
        Section("oracle; reading a_b=c (LEAKING)", (ROW,)),
    )
    return Table("Table I: 100 % of_it", "Somebody (2020).", COLUMNS, sections, ("a note", "another"))


def test_markdown_has_all_columns_in_line(table: Table) -> None:
    text = markdown(table, ["elmbench run a/b --profile ci", "elmbench run a/b --runs 2"])
    lines = text.splitlines()
    assert lines[0] == "# Table I: 100 % of_it"
    assert lines[lines.index("Made by:") + 2 :][:2] == [
        "    elmbench run a/b --profile ci",
        "    elmbench run a/b --runs 2",
    ]
    assert [line for line in lines if line.startswith("## ")] == [
        "## nested: inner folds",
        "## oracle; reading a_b=c (LEAKING)",
    ]
    pipes = [line for line in lines if line.startswith("|")]
    assert len(pipes) == 7
    assert {line.count("|") for line in pipes} == {len(COLUMNS) + 1}
    assert {len(line) for line in pipes[:4]} == {len(pipes[0])}
    assert [cell.strip() for cell in pipes[2].strip("|").split("|")] == list(ROW.values())
    assert text.endswith("- a note\n- another\n")


def test_latex_escapes_what_it_takes_for_commands(table: Table) -> None:
    text = latex(table)
    assert r"A \& B\_1 & 50 \% \#1 \{x\} \$y\$ & 0.92 $\pm$ 0.01 & $>$ 600 s" in text
    assert r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d" in text
    assert r"\caption{Table I: 100 \% of\_it. nested: inner folds}" in text


def test_latex_is_balanced(table: Table) -> None:
    text = latex(table)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2
    for block in text.split("\n\n"):
        columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", block)
        assert columns is not None
        rows = re.findall(r"^(.+) \\\\$", block, flags=re.M)
        assert len(rows) == block.count("A \\&") + 1
        assert {len(re.findall(r"(?<!\\)&", line)) + 1 for line in rows} == {len(columns[1])}
    unescaped = re.sub(r"\\[{}$]", "", text)
    assert unescaped.count("{") == unescaped.count("}")
    assert unescaped.count("$") % 2 == 0


def test_the_leaking_reading_is_named_in_both(table: Table) -> None:
    assert "LEAKING" in markdown(table, [])
    assert "LEAKING" in latex(table)
