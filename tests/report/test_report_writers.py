"""One table in every format: Markdown, LaTeX, HTML, text, and in the terminal in the shape of the
print.
"""

import io
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest
from made_cells import Toy, committed, folds, results_of, runs
from markdown_it import MarkdownIt
from rich.console import Console
from sentences import sentence

from elmbench.judging.value_agreement import counts_text, verdict_counts
from elmbench.judging.verdict_words import SIGNS, VERDICTS
from elmbench.report.entry_tables import entry_tables_of
from elmbench.report.table_results import Results
from elmbench.report.writers import FORMATS, TableFormat
from elmbench.report.writers.html import html
from elmbench.report.writers.latex import latex, tex
from elmbench.report.writers.markdown import literal, markdown
from elmbench.report.writers.text import entry_tables_to_show, section_text
from elmbench.specs.papers import ChosenReading
from elmbench.tables.result_table import Column, Note, ResultTable, Section
from elmbench.terminal import escape

ROW = {
    "dataset": "A & B_1",
    "model": "50 % #1 {x} $y$",
    "value": "0.92 ± 0.01",
    "published": "> 600 s",
}
ROW |= {
    "verdict": "a\\b^c~d",
    "fit": "0.5",
    "published_fit": "1",
    "ratio": "1",
    "published_ratio": "2",
}
COLUMNS = tuple(Column(name, name.replace("_", " ")) for name in ROW)
LEAKING = sentence("report.writers.heading-of-leaking-reading", reading="a_b=c")


@pytest.fixture
def table() -> ResultTable:
    line = dict(ROW)
    sections = (
        Section("nested: inner folds", (), (line, line | {"model": "m"})),
        Section("oracle", (ChosenReading("a_b", "c", leaks=True),), (line,)),
    )
    notes = (Note("published", "<a> & c"), Note("published", "d"))
    return ResultTable(
        "Table I: 100 % of_it", "Somebody (2020).", COLUMNS, sections, notes
    )


def test_every_format_besides_text_and_csv_has_a_writer() -> None:
    assert get_args(TableFormat) == ("text", "csv", *FORMATS)


def test_markdown_has_all_columns_in_line(table: ResultTable) -> None:
    text = markdown(
        table, ["elmbench run a/b --profile ci", "elmbench run a/b --runs 2"]
    )
    lines = text.splitlines()
    assert lines[0] == "# Table I: 100 % of_it"
    commands = ["    elmbench run a/b --profile ci", "    elmbench run a/b --runs 2"]
    assert lines[lines.index("Made by:") + 2 :][:2] == commands
    assert [line for line in lines if line.startswith("## ")] == [
        "## nested: inner folds",
        f"## {LEAKING}",
    ]
    pipes = [line for line in lines if line.startswith("|")]
    assert len(pipes) == 7
    assert {line.count("|") for line in pipes} == {len(COLUMNS) + 1}
    assert {len(line) for line in pipes[:4]} == {len(pipes[0])}
    assert [cell.strip() for cell in pipes[2].strip("|").split("|")] == list(
        ROW.values()
    )
    assert text.endswith("- &lt;a> & c\n- d\n")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("n < 5 & m > 3, a_b, 2^-3, [0, 1]", "n < 5 & m > 3, a_b, 2^-3, [0, 1]"),
        ("a|b\\|c\\", r"a\|b\\\|c\\"),
        ("<img src=x>&lt;</p><!--", "&lt;img src=x>&amp;lt;&lt;/p>&lt;!--"),
        (r"\<b>", r"\\&lt;b>"),
        ("`code` [x](http://x.org)", r"\`code\` [x]\(http://x.org)"),
        ("two\nlines\x1b[2J\x9b\u202e\udcff", r"two lines\x1b[2J\x9b\u202e\udcff"),
    ],
)
def test_markdown_shows_a_text_as_it_is(text: str, escaped: str) -> None:
    assert literal(text) == escaped
    line = dict.fromkeys(ROW, text)
    section = Section(text, (), (line,))
    table = ResultTable(text, text, COLUMNS, (section,), (Note("published", text),))
    lines = markdown(table, ["elmbench run\n<b>"], Path("figure.png")).splitlines()
    assert lines[0] == f"# {escaped}"
    assert [
        line for line in lines if "elmbench run" in line or line.strip() == "<b>"
    ] == [
        "    elmbench run",
        "    <b>",
    ]
    assert lines[-1] == f"- {escaped}"
    page = MarkdownIt("commonmark").enable("table").render("\n".join(lines))
    shown = escape(text).replace("\n", " ")
    cells = re.findall("<td>(.*)</td>", page)
    assert [unescape(cell) for cell in cells] == [shown] * len(COLUMNS)
    (heading,) = re.findall("<h1>(.*)</h1>", page)
    assert unescape(heading) == shown
    assert [
        unescape(alt) for alt in re.findall('<img src="figure.png" alt="(.*)" />', page)
    ] == [shown]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("[1] a|b", r"{[}1] a\textbar{}b"),
        ("*", "{*}"),
        ("a\n\nb\x1b", r"a  b\textbackslash{}x1b"),
    ],
)
def test_latex_takes_no_text_for_an_option_of_the_row_before(
    text: str, escaped: str
) -> None:
    assert tex(text) == escaped


def test_latex_is_balanced_and_escapes_what_it_takes_for_commands(
    table: ResultTable,
) -> None:
    text = latex(table)
    assert r"A \& B\_1 & 50 \% \#1 \{x\} \$y\$ & 0.92 $\pm$ 0.01 & $>$ 600 s" in text
    assert r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d" in text
    assert r"\caption{Table I: 100 \% of\_it. Nested: inner folds.}" in text

    # Each of the two sections is continued.
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 4
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 4
    for block in text.split("\n\n"):
        columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", block)
        assert columns is not None
        rows = re.findall(r"^(.+) \\\\$", block, flags=re.M)
        assert len(rows) == block.count("A \\&") + 1
        assert {len(re.findall(r"(?<!\\)&", line)) + 1 for line in rows} == {
            len(columns[1])
        }
    unescaped = re.sub(r"\\[{}$]", "", text)
    assert unescaped.count("{") == unescaped.count("}")
    assert unescaped.count("$") % 2 == 0


@pytest.mark.parametrize(
    "name",
    [
        "fast/kos-elm/table4",
        "paper/eem/table4",
        "fast/rkelm/table6",
        "fast/ospvm/table12",
    ],
)
def test_latex_has_the_shape_of_the_printed_table(name: str) -> None:
    results = committed(name)
    table = results.default_table
    text = latex(table, resolved=results.resolved)
    blocks = text.split(r"\begin{table}")[1:]
    entries = [
        entry
        for i, section in enumerate(table.sections)
        for entry_table in entry_tables_to_show(section, results.resolved, first=i == 0)
        for entry in entry_table.entries
    ]
    n_bold = sum(entry.best for entry in entries)
    n_bold += sum(entry.best_published for entry in entries if entry.published)
    assert text.count(r"\textbf{") == n_bold > 0
    for block in blocks:
        (alignment,) = re.findall(r"\\begin\{tabular\}\{(l+c+)\}", block)
        rows = re.findall(r"^(.+) \\\\$", block, flags=re.M)
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {
            len(alignment)
        }
        for rule in ("toprule", "midrule", "bottomrule"):
            assert block.count(rf"\{rule}") == 1
        assert block.count(r"\begin{tabular}") == block.count(r"\end{tabular}") == 1
        assert block.count(r"\resizebox") == 1
        assert block.count("$") % 2 == 0
        assert block.count("{") == block.count("}")
    models = [name for name in results.resolved.spec.models if name in blocks[0]]
    header = re.findall(r"toprule\n(.*) \\\\$", blocks[0], flags=re.M)[0].split(" & ")
    assert header == ["data set", *models]


def test_a_table_of_few_measures_of_many_cited_models_has_a_grid_for_each_measure() -> (
    None
):
    results = committed("fast/rkelm/table9")
    section = results.default_table.sections[0]
    accuracy, times, *_ = entry_tables_of(section, results.resolved)
    assert (accuracy.heading, times.heading) == ("accuracy", "training time (s)")
    assert accuracy.columns[:3] == ("RKELM", "ELM", "CBD (cited)")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="TeX is not installed")
@pytest.mark.parametrize(
    "name",
    [
        "fast/eem/table1",
        "fast/kos-elm/budgets",
        "fast/kos-elm/stream",
        "fast/kos-elm/table3",
        "fast/rkelm/table3",
    ],
)
def test_latex_fits_on_pages(name: str, tmp_path: Path) -> None:
    results = committed(name)
    packages = r"\usepackage{booktabs}\usepackage{graphicx}"
    body = latex(results.table, resolved=results.resolved)
    document = rf"\begin{{document}}{body}\end{{document}}"
    (tmp_path / "t.tex").write_text(rf"\documentclass{{article}}{packages}{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    log = (tmp_path / "t.log").read_text(encoding="latin-1")
    assert "Overfull" not in log
    assert "Float too large" not in log


@pytest.mark.parametrize(("n_columns", "n_rows", "n_tables"), [(6, 40, 1), (7, 41, 4)])
def test_latex_continues_a_long_or_wide_list(
    n_columns: int, n_rows: int, n_tables: int
) -> None:
    names = [f"column {i}" for i in range(n_columns)]
    line = {name: f"value {name}" for name in names}
    text = latex(
        ResultTable(
            title="Table I",
            subtitle="",
            columns=tuple(Column(name, name) for name in names),
            sections=(Section("nested: inner folds", (), (line,) * n_rows),),
            notes=(),
        )
    )
    assert text.count(r"\begin{table}") == n_tables
    assert text.count("(continued)") == n_tables - 1
    assert text.count("value column 6 ") == n_rows * (n_columns > 6)
    assert text.count("value column 0 ") == n_rows * (2 if n_columns > 6 else 1)


def test_latex_marks_the_best_and_the_verdict() -> None:
    results = committed("fast/kos-elm/table4")
    text = latex(results.default_table, resolved=results.resolved)
    ours, published = (
        next(line for line in text.splitlines() if line.startswith(name)).split(" & ")
        for name in ("Sylva", r"\quad published")
    )
    assert ours[2] == r"\textbf{\boldmath 0.950 $\pm$ 0.001}"
    assert published[1] == r"0.88 $\pm$ 0.003~$\approx$"
    assert published[4].startswith(r"\textbf{\boldmath 0.97 $\pm$ 0.004}~$\times$")
    assert r"$\times$ differs" in text
    assert "Training time (s)" in text


def test_html_escapes_what_it_takes_for_tags(table: ResultTable) -> None:
    text = html(table)
    assert "<li>&lt;a&gt; &amp; c</li>" in text
    assert "<td>&gt; 600 s</td>" in text
    assert text.count("<tr") == text.count("</tr>") == 2 + 3
    assert text.count("<th>") == 2 * len(COLUMNS)
    for tag in ("table", "thead", "tbody", "ul"):
        assert len(re.findall(rf"<{tag}\b", text)) == text.count(f"</{tag}>") > 0


def printed(table: ResultTable) -> str:
    console = Console(width=150, file=io.StringIO())
    for section in table.sections:
        console.print(section.heading, *section_text(table, section), sep="\n")
    return console.file.getvalue()


def test_a_terminal_has_a_line_above_the_models_of_a_data_set(
    table: ResultTable,
) -> None:
    short = replace(table, columns=table.columns[:7])
    lines = [line.strip() for line in printed(short).splitlines()]
    assert lines.count("A & B_1") == 2
    assert sum(line.startswith("50 % #1 {x} $y$ ") for line in lines) == 2


def test_the_leaking_reading_is_named_in_every_format(table: ResultTable) -> None:
    for text in (markdown(table, []), html(table), printed(table)):
        assert text.count(sentence("report.writers.leaking")) == 1
    # The table and its continuation.
    assert latex(table).count(sentence("report.writers.leaking")) == 2


def test_a_table_wider_than_the_terminal_is_cut_between_its_metrics() -> None:
    columns = [Column("dataset", "data set"), Column("model", "model", whole=True)]
    line = {"dataset": "WDBC", "model": "ELM"}
    for i in range(4):
        names = [f"{name}_{i}" for name in ("value", "published", "verdict")]
        columns += [
            Column(names[0], f"metric {i}"),
            Column(names[1], "published"),
            Column(names[2], "verdict"),
        ]
        line |= {
            names[0]: f"0.9{i}000 ± 0.01000",
            names[1]: f"0.8{i}00",
            names[2]: "differs",
        }
    table = ResultTable(
        "Table 1", "", tuple(columns), (Section("published", (), (line,)),), ()
    )
    console = Console(file=io.StringIO(), width=80)
    console.print(*section_text(table, table.sections[0]))
    printed = console.file.getvalue()
    for i in range(4):
        (row,) = [row for row in printed.splitlines() if f"0.9{i}000 ± 0.01000" in row]
        assert f"0.8{i}00" in row
        assert len(row.rstrip()) <= 80


FIGURES = "WDBC,ELM,mcc,0.9,0.02,\nWDBC,K-ELM,mcc,0.95,0.01,\nSylva,ELM,mcc,0.5,,\nSylva,K-ELM,mcc,0.4,,\n"


@pytest.fixture
def read(toy: Toy, tmp_path: Path) -> Callable[..., Results]:
    """Read the results of a table that has these cells."""

    def results(
        lines: list[dict[str, Any]], figures: str = FIGURES, **changes: Any
    ) -> Results:
        return results_of(
            toy(figures, datasets=["wdbc", "sylva"], **changes), lines, tmp_path
        )

    return results


def lines_of(results: Results) -> list[str]:
    return [" ".join(line.split()) for line in results.text.splitlines()]


@pytest.fixture
def both(read: Callable[..., Results]) -> Results:
    lines = runs("ELM", 0.90, 0.901, 0.899) + runs("K-ELM", 0.90, 0.91, 0.89)
    lines += runs("ELM", 0.52, 0.52, 0.521, dataset="sylva") + runs(
        "K-ELM", 0.4, 0.6, 0.5, dataset="sylva"
    )
    return read(lines)


def test_the_best_of_each_row_is_marked_and_every_verdict_has_its_sign(
    both: Results,
) -> None:
    lines = lines_of(both)
    start = lines.index("data set ELM K-ELM")
    assert lines[start - 1] == "MCC"
    wdbc, published, sylva, printed = lines[start + 1 : start + 5]
    figures = both.judged.published_values
    verdicts = dict(
        zip(
            zip(figures["dataset"], figures["model"], strict=True),
            figures["verdict"],
            strict=True,
        )
    )
    assert (sylva.split()[0], sylva.split()[1][-1]) == ("Sylva", "*")
    assert not sylva.split()[2].endswith("*")
    assert wdbc.startswith("WDBC 0.90±0.00")
    assert (
        printed
        == f"paper 0.5* {SIGNS[verdicts['sylva', 'ELM']]} 0.4 {SIGNS[verdicts['sylva', 'K-ELM']]}"
    )
    assert published.startswith("paper ")
    assert published.endswith(f"0.95±0.01* {SIGNS[verdicts['wdbc', 'K-ELM']]}")


def test_the_last_line_counts(both: Results) -> None:
    last = both.text.replace("\n", " ").rpartition("4 published values: ")[2]
    for verdict, number in (
        both.judged.published_values["verdict"].value_counts().items()
    ):
        assert f"{number} {SIGNS[str(verdict)]} {verdict}" in last
    assert len({*SIGNS.values()}) == len(VERDICTS)


def test_the_missing_runs_and_the_facts_have_their_own_sentence() -> None:
    def line(verdict: str, metric: str = "mcc") -> dict[str, Any]:
        return {"verdict": verdict, "metric": metric}

    def counted(lines: list[dict[str, Any]], missing: pd.DataFrame) -> str:
        return counts_text(
            *verdict_counts(pd.DataFrame(lines, columns=["verdict", "metric"])), missing
        )

    none = pd.DataFrame({"more_runs": [], "minutes": []})
    assert (
        counted([], none) == counted([line("")], none) == "No published value to judge."
    )
    facts = sentence("report.papers.facts-of-data-sets", facts=1, all_facts=2)
    both = [line("reproduced", "features"), line("differs", "instances")]
    assert counted(both, none) == facts
    assert (
        counted([line("differs"), line(""), *both], none)
        == f"1 published value: 1 ✗ differs. {facts}"
    )
    missing = pd.DataFrame({"more_runs": [1, 2], "minutes": [30.0, 4.4]})
    assert counted([line("too few runs")] * 3, missing) == sentence(
        "report.writers.runs-missing", values=3, undecided=3, minutes=34
    )
    assert counted([line("too few runs")], missing.assign(minutes=0.1)).endswith(
        sentence("report.writers.runs-missing-less-than-a-minute", runs=2)
    )
    assert counted([line("too few runs")], missing.assign(minutes=180)).endswith(
        "about 6 h on one core."
    )


def test_a_wide_table_is_cut_between_models_and_loses_its_deviations_first(
    read: Callable[..., Results],
) -> None:
    def make(count: int) -> list[str]:
        names = [f"MODEL-{i}" for i in range(count)]
        models = {name: {"model": "elm", "search": ["C"]} for name in names}
        figures = "".join(f"WDBC,{name},mcc,0.95,0.01,\n" for name in names)
        cells = [line for name in names for line in runs(name, 0.9, 0.91, 0.92)]
        return read(cells, figures, models=models).text.splitlines()

    few, some, many = make(4), make(6), make(12)
    assert all(len(line) <= 80 for lines in (few, some, many) for line in lines)
    assert any("±" in line for line in few)
    heads = [
        [line for line in lines if line.startswith("data set") and "MODEL" in line]
        for lines in (few, some, many)
    ]
    assert "MCC (deviations: --format md)" in some
    assert [sum(len(line.split()) - 2 for line in result) // 2 for result in heads] == [
        4,
        6,
        12,
    ]
    assert len(heads[2]) > 2


def test_a_table_without_published_values_has_the_lines_of_its_kind(
    read: Callable[..., Results],
) -> None:
    results = read(folds("ELM", 0.9, 0.8), "")
    assert "model MCC fit s" in lines_of(results)
    assert lines_of(results)[-1] == "ELM 0.850 0.5"
