"""All tables of a paper in one Markdown file and in one LaTeX file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elmbench.layouts.table import Printed
from elmbench.reporting.grids import Grid, GridFigure, grids_of
from elmbench.reporting.results import Results
from elmbench.reporting.site.gather import PaperResults
from elmbench.reporting.writers.latex import tex
from elmbench.reporting.writers.markdown import pipe_rows

_MARKS = "A star marks the best of our means in a row, a dagger the best printed figure."


def paper_markdown(paper: PaperResults) -> str:
    """Return the published figures of a paper beside ours as Markdown, in the paper's shape."""
    about = paper.paper
    lines = [f"# {about.title}", "", f"{about.authors} ({about.year}), doi:{about.doi}. {_MARKS}"]
    for results in _profiles_with_prints(paper):
        table = results.table
        lines += ["", f"## {_text(table.title)}", "", _text(table.subtitle)]
        for grid in _grids(results):
            rows = [[grid.corner, *grid.columns], *([name, *map(_words, figures)] for name, figures in grid.rows)]
            lines += ["", f"### {_text(grid.heading)}", "", *pipe_rows([[_text(text) for text in row] for row in rows])]
    return "\n".join(lines) + "\n"


def paper_latex(paper: PaperResults) -> str:
    """Return the same as a LaTeX document for the packages booktabs and graphicx."""
    about = paper.paper
    lines = [
        r"\documentclass{article}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage[landscape,margin=15mm]{geometry}",
        r"\usepackage{booktabs,graphicx}",
        rf"\title{{{tex(about.title)}: published and measured}}",
        rf"\author{{{tex(about.authors)} ({about.year}), doi:{tex(about.doi)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        tex(_MARKS),
    ]
    for results in _profiles_with_prints(paper):
        title = results.table.title
        for grid in _grids(results):
            lines += ["", *_latex_grid(f"{title}, profile {results.resolved.profile}: {grid.heading}", grid)]
        lines.append(r"\clearpage")
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _latex_grid(caption: str, grid: Grid) -> Iterator[str]:
    yield r"\begin{table}[ht]"
    yield rf"\caption{{{tex(caption)}}}"
    yield r"\centering\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    yield rf"\begin{{tabular}}{{l{'l' * len(grid.columns)}}}"
    yield r"\toprule"
    yield " & ".join(map(tex, [grid.corner, *grid.columns])) + r" \\"
    yield r"\midrule"
    for name, figures in grid.rows:
        yield " & ".join(map(tex, [name, *map(_words, figures)])) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}}"
    yield r"\end{table}"


def _profiles_with_prints(paper: PaperResults) -> list[Results]:
    """Return the results of the tables that have printed figures."""
    return [results for table in paper.tables for results in table.results if _grids(results)]


def _grids(results: Results) -> Sequence[Grid]:
    return [
        grid for section in results.sections[:1] for grid in grids_of(section, results.resolved) if grid.has_printed
    ]


def _words(figure: GridFigure | None) -> str:
    """Return a figure as `0.946 * (0.95, reproduced)`: ours, then the printed figure and the verdict."""
    if figure is None:
        return ""
    entry = figure.entry
    ours = (entry.shown.text if entry.shown is not None else "-") + " *" * figure.best
    known = [
        *([Printed(entry.published).text + "†" * figure.best_printed] if entry.published else []),
        *([entry.verdict.text] if entry.verdict else []),
    ]
    return f"{ours} ({', '.join(known)})" if known else ours


def _text(text: str) -> str:
    """Return a text with the characters that Markdown interprets written out."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
