"""The project's documents as parts of pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup

from elmbench.reporting.site.links import doc_page
from elmbench.specs.files import spec_root

#: The documents in the order of the guide, with the words for each; others follow by their files' names.
_NAMES = {
    "getting-started": "getting started",
    "own-data": "own data and models",
    "add-a-paper": "add a paper",
    "models": "models",
    "cluster": "cluster",
    "verdicts": "rule of verdicts",
    "claims": "tests of claims",
    "errata": "errata",
}


@dataclass(frozen=True)
class Document:
    """A document of `docs/`: the stem of its file, its name in the guide, its heading and its text as HTML."""

    stem: str
    name: str
    title: str
    content: Markup


def documents() -> list[Document]:
    """Return the documents of `docs/`, those of the guide first and in its order."""
    order = list(_NAMES)
    paths = sorted(
        (spec_root() / "docs").glob("*.md"),
        key=lambda path: (order.index(path.stem) if path.stem in order else len(order), path.stem),
    )
    stems = {path.stem for path in paths}
    return [_document(path, stems) for path in paths]


def _document(path: Path, stems: set[str]) -> Document:
    text = path.read_text("utf-8")
    title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), path.stem)
    # HTML in a document is shown, not obeyed.
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs["href"] = _address(str(child.attrs.get("href", "")), stems)
    content = parser.renderer.render(tokens, parser.options, {})
    content = content.replace("<th>", '<th scope="col">').replace("<th ", '<th scope="col" ')
    return Document(path.stem, _NAMES.get(path.stem.lower(), path.stem), title, Markup(content))


def _address(target: str, stems: set[str]) -> str:
    """Return where a link of a document leads on the site: to the front page if the file is not on it."""
    found = re.fullmatch(r"(?:\./)?([\w-]+)\.md(?:#.*)?", target)
    if found and found[1] in stems:
        return doc_page(found[1])
    return target if re.match(r"https?://|#", target) else "index.html"
