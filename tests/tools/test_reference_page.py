"""docs/reference.md: its tables follow from the classes that read the files."""

import re

import yaml

from elmbench.specs.schemas import all_definitions
from tools.reference_page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: make reference"


def test_each_class_has_a_section_and_each_key_a_line() -> None:
    text = PAGE.read_text("utf-8")
    for name, definition in all_definitions().items():
        if name in ("JsonValue", "SourceSpec"):
            continue
        for key in definition["properties"]:
            assert f"| `{key}` |" in text, (name, key)


def test_links_lead_to_sections_and_examples_are_yaml() -> None:
    text = PAGE.read_text("utf-8")
    headings = re.findall(r"^### (.+)$", text, flags=re.M)
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", one.lower()).replace(" ", "-") for one in headings
    }
    assert len(anchors) == len(headings)
    assert set(re.findall(r"\]\(#([a-z0-9-]+)\)", text)) <= anchors
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) > 150
    for row in rows:
        example = row.removesuffix(" |").rpartition(" | ")[2]
        assert example.startswith("`"), row
        yaml.safe_load(example.strip("`").replace("\\|", "|").replace("...", "x"))
