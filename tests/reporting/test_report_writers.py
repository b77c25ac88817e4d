"""One table in every format: Markdown, LaTeX, HTML, CSV and text for a terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from elmbench.layouts.table import Column, Note, ResultTable, Section, Text, Verdict
from elmbench.reporting.writers.html import html
from elmbench.reporting.writers.latex import latex
from elmbench.reporting.writers.markdown import markdown
from elmbench.reporting.writers.text import section_text
from elmbench.specs.papers import ChosenReading

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
COLUMNS = tuple(Column(name, name.replace("_", " ")) for name in ROW)
LEAKING = "oracle; reading a_b=c (LEAKING: test rows were learnt in earlier folds)"


@pytest.fixture
def table() -> ResultTable:
    line = {name: Text(text) for name, text in ROW.items()}
    sections = (
        Section("nested: inner folds", (), (line, line | {"model": Text("m")})),
        Section("oracle", (ChosenReading("a_b", "c", leaks=True),), (line,)),
    )
    notes = (Note("published", "<a> & c"), Note("published", "d"))
    return ResultTable("Table I: 100 % of_it", "Somebody (2020).", COLUMNS, sections, notes)


def test_markdown_has_all_columns_in_line(table: ResultTable) -> None:
    text = markdown(table, ["elmbench run a/b --profile ci", "elmbench run a/b --runs 2"])
    lines = text.splitlines()
    assert lines[0] == "# Table I: 100 % of_it"
    assert lines[lines.index("Made by:") + 2 :][:2] == [
        "    elmbench run a/b --profile ci",
        "    elmbench run a/b --runs 2",
    ]
    assert [line for line in lines if line.startswith("## ")] == [
        "## nested: inner folds",
        f"## {LEAKING}",
    ]
    pipes = [line for line in lines if line.startswith("|")]
    assert len(pipes) == 7
    assert {line.count("|") for line in pipes} == {len(COLUMNS) + 1}
    assert {len(line) for line in pipes[:4]} == {len(pipes[0])}
    assert [cell.strip() for cell in pipes[2].strip("|").split("|")] == list(ROW.values())
    assert text.endswith("- <a> & c\n- d\n")


def test_latex_escapes_what_it_takes_for_commands(table: ResultTable) -> None:
    text = latex(table)
    assert r"A \& B\_1 & 50 \% \#1 \{x\} \$y\$ & 0.92 $\pm$ 0.01 & $>$ 600 s" in text
    assert r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d" in text
    assert r"\caption{Table I: 100 \% of\_it. nested: inner folds}" in text


def test_latex_is_balanced(table: ResultTable) -> None:
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


def test_html_escapes_what_it_takes_for_tags(table: ResultTable) -> None:
    text = html(table)
    assert "<li>&lt;a&gt; &amp; c</li>" in text
    assert "<td>&gt; 600 s</td>" in text
    assert text.count("<tr>") == text.count("</tr>") == 2 + 3
    assert text.count("<th>") == 2 * len(COLUMNS)
    for tag in ("table", "thead", "tbody", "ul"):
        assert text.count(f"<{tag}>") == text.count(f"</{tag}>") > 0


def printed(table: ResultTable) -> str:
    console = Console(width=150, file=io.StringIO())
    for section in table.sections:
        console.print(section.heading, *section_text(table, section), sep="\n")
    return console.file.getvalue()


def test_a_terminal_has_a_line_above_the_models_of_a_data_set(table: ResultTable) -> None:
    short = replace(table, columns=table.columns[:7])
    lines = [line.strip() for line in printed(short).splitlines()]
    assert lines.count("A & B_1") == 2
    assert sum(line.startswith("50 % #1 {x} $y$ ") for line in lines) == 2


def test_the_leaking_reading_is_named_in_every_format(table: ResultTable) -> None:
    for text in (markdown(table, []), latex(table), html(table), printed(table)):
        assert text.count("LEAKING: test rows were learnt in earlier folds") == 1


def test_a_table_wider_than_the_terminal_is_cut_between_its_metrics() -> None:
    columns = [Column("dataset", "data set"), Column("model", "model", whole=True)]
    line = {"dataset": Text("WDBC"), "model": Text("ELM")}
    for i in range(4):
        names = [f"{name}_{i}" for name in ("value", "published", "verdict")]
        columns += [Column(names[0], f"metric {i}"), Column(names[1], "published"), Column(names[2], "verdict")]
        line |= {names[0]: Text(f"0.9{i}000 ± 0.01000"), names[1]: Text(f"0.8{i}00"), names[2]: Verdict("differs")}
    table = ResultTable("Table 1", "", tuple(columns), (Section("published", (), (line,)),), ())
    console = Console(file=io.StringIO(), width=80)
    console.print(*section_text(table, table.sections[0]))
    printed = console.file.getvalue()
    for i in range(4):
        (row,) = [row for row in printed.splitlines() if f"0.9{i}000 ± 0.01000" in row]
        assert f"0.8{i}00" in row
        assert len(row.rstrip()) <= 80
