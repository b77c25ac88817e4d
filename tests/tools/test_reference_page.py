"""docs/reference.md: its tables follow from the classes that read the files."""

import re

import pytest
import yaml

from elmbench.specs.schemas import all_definitions
from tools.reference_page import HEADINGS, PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: make reference"


def sections() -> dict[str, str]:
    """Return the part of the page below each heading of a class."""
    parts = re.split(r"^##+ (.+)\n", PAGE.read_text("utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", HEADINGS)
def test_the_section_of_a_class_has_a_line_for_each_of_its_keys(name: str) -> None:
    keys = re.findall(r"^\| `(\S+)` \|", sections()[HEADINGS[name]], flags=re.M)
    assert sorted(keys) == sorted(all_definitions()[name]["properties"])


def test_each_class_of_a_file_has_a_section() -> None:
    classes_without_keys = {"JsonValue", "SourceSpec"}
    assert set(HEADINGS) == set(all_definitions()) - classes_without_keys
    assert set(HEADINGS.values()) <= set(sections())


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
