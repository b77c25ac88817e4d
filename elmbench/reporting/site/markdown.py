"""The project's documents as parts of pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup

from elmbench.specs.files import spec_root

#: The documents in the order of the guide, with their names in it; others follow in the order of their files' names.
_NAMES = {
    "getting-started": "getting started",
    "install": "install",
    "commands": "commands",
    "data": "data",
    "results-folder": "results folder",
    "own-data": "own data and models",
    "models": "models",
    "cluster": "cluster",
    "results": "results by paper",
    "verdicts": "rule of verdicts",
    "trust": "how far to trust this",
    "claims": "tests of claims",
    "errata": "errata",
    "add-a-paper": "add a paper",
    "benchmark": "benchmark",
}


@dataclass(frozen=True)
class Document:
    """A document of `docs/`: the stem of its file, its name in the guide, its heading and its text as HTML."""

    stem: str
    name: str
    title: str
    content: Markup

    @property
    def page(self) -> str:
        """Its address below the site."""
        return f"docs-{self.stem}.html"


def documents() -> list[Document]:
    """Return the documents of `docs/`, those of the guide first and in its order."""
    order = list(_NAMES)
    paths = sorted(
        (spec_root() / "docs").rglob("*.md"),
        key=lambda path: (order.index(path.stem) if path.stem in order else len(order), path.stem),
    )
    stems = {path.stem for path in paths}
    return [_document(path, stems) for path in paths]


def _document(path: Path, stems: set[str]) -> Document:
    text = re.sub(r"^<!--.*?-->$", "", path.read_text("utf-8"), flags=re.M)
    title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), path.stem)
    # HTML in a document is shown as text.
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
    """Return the address on the site of a link of a document, the front page if the file is not on the site."""
    file = re.fullmatch(r"(?:[\w.-]+/)*([\w-]+)\.md(?:#.*)?", target)
    if file and file[1] in stems:
        return f"docs-{file[1]}.html"
    return target if re.match(r"https?://|#", target) else "index.html"
