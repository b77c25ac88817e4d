"""The picture of the README: a printed table beside our rerun of it, as SVG."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from elmbench.judging.verdict_words import SIGNS
from elmbench.report.table_results import Results
from elmbench.tables.result_table import Entry

#: The committed picture.
PICTURE = Path(__file__).parents[1] / "docs/images/table.svg"
#: The colours of verdicts, as on the site; signs and words say the same.
_COLOURS = {
    "exact": "#b7e4d3",
    "reproduced": "#b7e4d3",
    "consistent": "#dcf3ea",
    "close": "#fdf0bf",
    "differs": "#fbd3bd",
}
_OTHER_COLOUR = "#eef1f4"
_ROW = 34
_HEAD = 92
_MODEL_WIDTH = 136
_PRINT_WIDTH = 120
_OUR_WIDTH = 250
_GAP = 26
_EDGE = 20


def picture_of(results: Results, metric: str) -> str:
    """Return the values of a metric under the default readings: printed ones left, ours right."""
    table = results.table
    entries = [
        entry for entry in table.sections[0].entries if entry.measure.metric == metric
    ]
    models = list(dict.fromkeys(entry.model for entry in entries))
    datasets = list(dict.fromkeys(entry.dataset for entry in entries))
    by_place = {(entry.model, entry.dataset): entry for entry in entries}
    ours_left = _EDGE + _MODEL_WIDTH + len(datasets) * _PRINT_WIDTH + _GAP
    width = ours_left + len(datasets) * _OUR_WIDTH + _EDGE
    height = _HEAD + len(models) * _ROW + _EDGE
    paper = results.resolved.file.paper
    label = results.resolved.file.spec.label
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="15" role="img">',
        f"<title>{escape(f'{label} of {paper.key.upper()}, {metric.upper()}: print and rerun')}"
        "</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
        _text(_EDGE, 36, f"{label}, {metric.upper()}", "bold"),
        _text(_EDGE + _MODEL_WIDTH, 36, f"{paper.key.upper()}, as printed", "bold"),
        _text(ours_left, 36, f"elmbench, profile {results.resolved.profile}", "bold"),
    ]
    for column, dataset in enumerate(datasets):
        heading = results.resolved.spelling(dataset)
        parts.append(_text(_EDGE + _MODEL_WIDTH + column * _PRINT_WIDTH, 70, heading))
        parts.append(_text(ours_left + column * _OUR_WIDTH + 10, 70, heading))
    for row, model in enumerate(models):
        top = _HEAD + row * _ROW
        parts.append(_text(_EDGE, top + 22, model))
        for column, dataset in enumerate(datasets):
            entry = by_place.get((model, dataset))
            if entry is not None:
                left = _EDGE + _MODEL_WIDTH + column * _PRINT_WIDTH
                parts.append(_text(left, top + 22, entry.published_text))
                parts += _our_cell(entry, left=ours_left + column * _OUR_WIDTH, top=top)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _our_cell(entry: Entry, *, left: int, top: int) -> Sequence[str]:
    """Return a coloured cell with our value, and the sign and the word of its verdict."""
    colour = _COLOURS.get(entry.verdict, _OTHER_COLOUR)
    return [
        f'<rect x="{left}" y="{top}" width="{_OUR_WIDTH - 4}" height="{_ROW - 4}" rx="4" '
        f'fill="{colour}"/>',
        _text(left + 10, top + 22, entry.shown),
        _text(left + 132, top + 22, f"{SIGNS.get(entry.verdict, '')} {entry.verdict}"),
    ]


def _text(x: int, y: int, text: str, weight: str = "normal") -> str:
    style = f'font-weight="{weight}" fill="#1b1f24"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text.strip())}</text>'
