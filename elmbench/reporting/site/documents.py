"""All tables of a paper in one Markdown file and in one LaTeX file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elmbench.layouts.table import Printed
from elmbench.reporting.grids import Grid, Place, grids_of
from elmbench.reporting.site.gather import PaperResults, ProfileResults
from elmbench.reporting.writers.latex import tex
from elmbench.reporting.writers.markdown import pipe_rows

_MARKS = "A star marks the best of our means in a row, a dagger the best printed figure."


def paper_markdown(paper: PaperResults) -> str:
    """Return the published figures of a paper beside ours as Markdown, in the paper's shape."""
    about = paper.paper
    lines = [f"# {about.title}", "", f"{about.authors} ({about.year}), doi:{about.doi}. {_MARKS}"]
    for own in _shown(paper):
        table = own.results.table
        lines += ["", f"## {_text(table.title)}", "", _text(table.subtitle)]
        for grid in _grids(own):
            rows = [[grid.corner, *grid.columns], *([name, *map(_words, places)] for name, places in grid.rows)]
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
    for own in _shown(paper):
        title = own.results.table.title
        for grid in _grids(own):
            lines += ["", *_latex_grid(f"{title}, profile {own.profile}: {grid.heading}", grid)]
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
    for name, places in grid.rows:
        yield " & ".join(map(tex, [name, *map(_words, places)])) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}}"
    yield r"\end{table}"


def _shown(paper: PaperResults) -> list[ProfileResults]:
    """Return the results of the tables that have printed figures."""
    return [own for table in paper.tables for own in table.profiles if _grids(own)]


def _grids(own: ProfileResults) -> Sequence[Grid]:
    return [
        grid for section in own.results.sections[:1] for grid in grids_of(section, own.resolved) if grid.has_printed
    ]


def _words(place: Place | None) -> str:
    """Return a place as `0.946 * (0.95, reproduced)`: ours, then the printed figure and the verdict."""
    if place is None:
        return ""
    entry = place.entry
    ours = (entry.found.text if entry.found is not None else "-") + " *" * place.best
    known = [
        *([Printed(entry.published).text + "†" * place.best_printed] if entry.published else []),
        *([entry.verdict.text] if entry.verdict else []),
    ]
    return f"{ours} ({', '.join(known)})" if known else ours


def _text(text: str) -> str:
    """Return a text that Markdown takes for nothing else."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
