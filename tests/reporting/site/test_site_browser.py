"""The site in a browser: nothing is wider than a phone, headings sort, a name that is a script does nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PAGES = ("index.html", "kos-elm-table4.html", "kos-elm-figure3.html", "readings-kos-elm.html", "datasets.html")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on the path")

#: Sorts by the first model, up and down, and tells the page around it what there is then.
_PROBE = """<script>addEventListener("load", () => setTimeout(() => {
  const table = document.querySelector("table.grid");
  const found = {title: document.title, wide: document.documentElement.scrollWidth, width: innerWidth, order: []};
  if (table) for (let i = 0; i < 2; i++) {
    const heading = table.tHead.rows[0].cells[1];
    heading.querySelector("button").click();
    found.order.push([heading.getAttribute("aria-sort"),
                      [...table.tBodies[0].rows].map((row) => row.cells[1].dataset.value)]);
  }
  parent.postMessage(JSON.stringify(found), "*");
}, 50));</script>"""
_FRAME = """<!doctype html><pre id="found"></pre><iframe src="PAGE" width="WIDTH" height="800"></iframe>
<script>addEventListener("message", (e) => { document.getElementById("found").textContent = e.data; });</script>"""


@pytest.fixture(scope="module")
def probe(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], dict]:
    """Open a page in a frame of a width and return what a script in it found."""
    folder = tmp_path_factory.mktemp("browser")
    shutil.copytree(site, folder / "site")

    def look(name: str, width: int) -> dict:
        text = (site / name).read_text("utf-8")
        (folder / "site" / f"probe-{name}").write_text(text.replace("</body>", f"{_PROBE}</body>"), "utf-8")
        frame = folder / "site" / "frame.html"
        frame.write_text(_FRAME.replace("PAGE", f"probe-{name}").replace("WIDTH", str(width)), "utf-8")
        words = [str(CHROMIUM), *OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]
        words += ["--virtual-time-budget=3000", "--window-size=1400,900", "--dump-dom", frame.as_uri()]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
        found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
        assert found, done.stdout[:500]
        return json.loads(unescape(found[1]))

    return look


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_wider_than_a_phone(probe: Callable[[str, int], dict], name: str) -> None:
    found = probe(name, 390)
    assert found["width"] == 390
    assert found["wide"] <= 390


def test_headings_sort_and_scripts_in_names_do_not_run(probe: Callable[[str, int], dict]) -> None:
    found = probe("kos-elm-table4.html", 1280)
    assert found["title"].endswith("elmbench")
    for (direction, values), expected in zip(found["order"], ("ascending", "descending"), strict=True):
        numbers = [float(value) for value in values]
        assert direction == expected
        assert numbers == sorted(numbers, reverse=expected == "descending")
