"""The site in a browser, wide and narrow, light and dark: nothing too wide, headings sort, scripts
in names rest.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PAGES = (
    "index.html", "kos-elm-table4.html", "kos-elm-figure3.html", "paper-kos-elm.html",
    "readings-kos-elm.html",
    "eem-table9.html", "optimism.html", "claims.html", "datasets.html",
)  # fmt: skip
WIDTHS = (390, 1280)
SCHEMES = {"light": (), "dark": ("--blink-settings=preferredColorScheme=0",)}

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.timeout(
        1800
    ),  # to make the site and to start a browser, on a busy machine
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="no chromium, chromium-browser or google-chrome on the path",
    ),
]

#: Sorts by the first model, up and down, and tells the page around it what there is then: also each
#: colour of a text with that of the ground behind it, and what was asked for and did not come.
_PROBE = """<script>const missed = [];
addEventListener("error", (e) => { missed.push(e.target.src || e.target.href || e.message); }, true);
addEventListener("load", () => setTimeout(() => {
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!colour.endsWith(", 0)")) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const pairs = new Set();
  for (const one of document.querySelectorAll("body *")) {
    const words = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (words && !one.closest(".hidden, .skip, svg")) pairs.add(getComputedStyle(one).color + "|" + ground(one));
  }
  const found = {title: document.title, wide: document.documentElement.scrollWidth, width: innerWidth, order: [],
                 pairs: [...pairs], missed,
                 grids: [...document.querySelectorAll("section > .scroll > table.grid")].map(
                   (one) => [one.rows[0].cells.length - 1, one.offsetWidth <= one.parentElement.clientWidth]), sheets: document.styleSheets.length,
                 cards: [...document.querySelectorAll(".cards")].map((one) => one.offsetWidth <= one.parentElement.clientWidth)};
  const table = document.querySelector("table.grid");
  if (table) for (let i = 0; i < 2; i++) {
    const heading = table.tHead.rows[0].cells[1];
    heading.querySelector("button").click();
    found.order.push([heading.getAttribute("aria-sort"),
                      [...table.tBodies[0].rows].map((row) => row.cells[1].dataset.value)]);
  }
  parent.postMessage(JSON.stringify([window.name, found]), "*");
}, 50));</script>"""
_FRAMES = """<!doctype html><pre id="found"></pre>
<script>const all = {}; addEventListener("message", (e) => {
const [name, found] = JSON.parse(e.data); all[name] = found;
document.getElementById("found").textContent = JSON.stringify(all); });</script>
"""

Look = Callable[[str], dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def look(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Look:
    """Open all pages at all widths in one colour scheme and return what a script in each of them
    found.
    """
    folder = tmp_path_factory.mktemp("browser") / "site"
    shutil.copytree(site, folder)
    frames = _FRAMES
    for page in PAGES:
        text = (site / page).read_text("utf-8")
        # The probe comes first, so that it sees what fails to load.
        (folder / f"probe-{page}").write_text(
            text.replace("<head>", f"<head>{_PROBE}", 1), "utf-8"
        )
        for width in WIDTHS:
            frames += (
                f'<iframe name="{page} {width}" src="probe-{page}" width="{width}" '
                'height="800"></iframe>\n'
            )
    (folder / "frames.html").write_text(frames, "utf-8")
    seen: dict[str, dict[str, dict[str, Any]]] = {}

    def open_pages(scheme: str) -> dict[str, dict[str, Any]]:
        if scheme not in seen:
            words = [
                str(CHROMIUM),
                *OPTIONS,
                *SCHEMES[scheme],
                f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
            ]
            words += [
                "--virtual-time-budget=8000",
                "--window-size=1400,900",
                "--dump-dom",
            ]
            done = subprocess.run(
                [*words, (folder / "frames.html").as_uri()],
                capture_output=True,
                text=True,
                check=True,
            )
            result = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
            assert result, done.stdout[:500]
            seen[scheme] = json.loads(unescape(result[1]))
        return seen[scheme]

    return open_pages


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_page_is_wider_than_the_screen_and_all_that_it_needs_is_there(
    look: Look, scheme: str
) -> None:
    result = look(scheme)
    assert set(result) == {f"{page} {width}" for page in PAGES for width in WIDTHS}
    for name, page in result.items():
        # A bar to scroll down may take some of the width.
        assert page["wide"] <= page["width"] == int(name.split()[1]), name
        assert (page["missed"], page["sheets"]) == ([], 1), name


def test_verdicts_and_claims_need_no_scrolling_on_a_narrow_screen(look: Look) -> None:
    seen = look("light")
    for page in ("paper-kos-elm.html", "claims.html", "datasets.html"):
        cards = seen[f"{page} 390"]["cards"]
        assert cards, page
        assert all(cards), page


def test_nine_columns_fit_a_common_screen(look: Look) -> None:
    grids = look("light")["eem-table9.html 1280"]["grids"]
    assert grids
    assert all(n_columns == 9 and fits for n_columns, fits in grids)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_text_stands_out_from_what_is_behind_it(look: Look, scheme: str) -> None:
    grounds = set()
    for name, page in look(scheme).items():
        for pair in page["pairs"]:
            text, ground = (
                [int(n) for n in re.findall(r"\d+", colour)[:3]]
                for colour in pair.split("|")
            )
            assert contrast(text, ground) >= 4.5, (name, pair)
            grounds.add(sum(ground))
    assert max(grounds) > 3 * 240 if scheme == "light" else min(grounds) < 3 * 40


def contrast(one: list[int], other: list[int]) -> float:
    """The ratio of luminances as WCAG 2 defines it."""

    def luminance(colour: list[int]) -> float:
        parts = [value / 255 for value in colour]
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        ]
        return sum(
            weight * part
            for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
        )

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("width", WIDTHS)
def test_headings_sort_and_scripts_in_names_do_not_run(look: Look, width: int) -> None:
    result = look("light")[f"kos-elm-table4.html {width}"]
    assert result["title"].endswith("elmbench")
    for (direction, values), expected in zip(
        result["order"], ("ascending", "descending"), strict=True
    ):
        numbers = [float(value) for value in values]
        assert direction == expected
        assert numbers == sorted(numbers, reverse=expected == "descending")
