"""The addresses of the pages below the site's folder, all in one folder so that every link is a bare name."""

from __future__ import annotations


def table_page(id: str) -> str:
    """Return the page of a table by its id."""
    return f"{id.replace('/', '-')}.html"


def paper_page(key: str) -> str:
    """Return the page of a paper."""
    return f"paper-{key}.html"


def readings_page(key: str) -> str:
    """Return the page of a paper's readings."""
    return f"readings-{key}.html"


def doc_page(stem: str) -> str:
    """Return the page of a document of the project's `docs/`."""
    return f"docs-{stem}.html"


def anchor(text: str) -> str:
    """Return a text as the id of an element of a page: letters, digits and hyphens."""
    return "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in text.lower()).split()) or "part"
