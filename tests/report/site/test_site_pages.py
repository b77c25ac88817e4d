"""The pages as files: links, numbers, what is escaped, colours."""

import re
import shutil
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup
from PIL import Image
from sentences import sentence

from elmbench.judging.verdict_words import SIGNS
from elmbench.metrics import less_is_better
from elmbench.report.build_site import gather_papers
from elmbench.report.site.pages import site_files
from elmbench.report.site.verdict_parts import measure_names, with_powers
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import resolve
from elmbench.tables import kind_of_table
from elmbench.tables.drawing import words_for

RESULTS = Path(__file__).parents[3] / "results"

pytestmark = pytest.mark.exhaustive


class Page(HTMLParser):
    """The elements of a page with their attributes, the anchors, and the cells of its tables."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.captions: list[str] = []
        self._cell = self._caption = False
        self.text = path.read_text("utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "table":
            self.tables.append([])
            self.captions.append("")
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._cell = True
        self._caption = tag == "caption" or (self._caption and tag != "thead")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False
        self._caption = self._caption and tag != "caption"

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.tables[-1][-1][-1] += data
        if self._caption:
            self.captions[-1] += data

    def values(self, name: str) -> list[str]:
        return [
            result
            for _, attributes in self.elements
            if (result := attributes.get(name)) is not None
        ]


def pages(site: Path) -> Iterator[tuple[str, Page]]:
    return ((path.name, Page(path)) for path in sorted(site.glob("*.html")))


def test_every_link_leads_somewhere_on_the_site(site: Path) -> None:
    known = dict(pages(site))
    assert {"index.html", "claims.html", "optimism.html", "datasets.html"} <= set(known)
    followed = 0
    for name, page in known.items():
        for target in (*page.values("href"), *page.values("src")):
            parts = urlsplit(target)
            if parts.scheme == "data" or parts.netloc in ("doi.org", "github.com"):
                continue  # embedded, or a reference to follow
            assert not parts.scheme, f"{name} needs the network: {target}"
            assert (site / (parts.path or name)).is_file(), f"{name}: {target}"
            if parts.fragment:
                assert parts.fragment in known[parts.path or name].values("id"), (
                    f"{name}: {target}"
                )
            followed += 1
    assert followed > 200


def test_a_page_is_for_keyboards_and_screen_readers(site: Path) -> None:
    for name, page in pages(site):
        elements = page.elements
        assert ("html", {"lang": "en"}) in elements
        assert [tag for tag, _ in elements].count("h1") == 1, name
        assert all(
            "scope" in attributes for tag, attributes in elements if tag == "th"
        ), name
        assert all(
            attributes.get("alt") for tag, attributes in elements if tag == "img"
        ), name
        ids = page.values("id")
        assert len(ids) == len(set(ids)), name
        assert 'href="#main"' in page.text
        assert all(
            attributes.get("aria-label")
            for _, attributes in elements
            if attributes.get("role") == "region"
        )


def test_a_name_that_is_a_script_does_nothing(site: Path, script: str) -> None:
    for name, page in pages(site):
        scripts = [attributes for tag, attributes in page.elements if tag == "script"]
        assert scripts == [{"src": "sort.js", "defer": None}], name
        assert script not in page.text
    headings = [
        cell for table in Page(site / "kos-elm-table4.html").tables for cell in table[0]
    ]
    assert script in headings


@pytest.mark.parametrize(
    ("id", "metrics"),
    [
        (
            "kos-elm/table4",
            {
                "mcc",
                "gmean",
                "accuracy",
                "precision",
                "recall",
                "f1",
                "n_units",
                "fit_seconds",
            },
        ),
        ("eem/table9", {"gmean"}),
        ("rkelm/table3", {"rmse"}),
        ("ospvm/table2", {"accuracy", "train_accuracy"}),
    ],
)
def test_the_numbers_of_a_table_are_those_of_its_cells(
    site: Path, results: Path, id: str, metrics: set[str]
) -> None:
    page = Page(site / f"{id.replace('/', '-')}.html")
    resolved = resolve(find_experiment(id), "paper")
    names = {resolved.spelling(name): name for name in resolved.file.spec.datasets}
    seen = set()
    for caption, ((_, *models), *rows) in zip(page.captions, page.tables, strict=True):
        result = re.fullmatch(
            r"\s*([^,]+), profile (\w+), (\w+)(?:, ([\w-]+=.+))?\s*", caption
        )
        if result is None:
            continue
        words, profile, select, reading = result.groups("")
        cells = pd.read_csv(
            results / profile / id / "cells.csv",
            keep_default_na=False,
            na_values=[""],
            dtype={"reading": "str"},
        )
        (metric,) = (column for column in cells if words_for(column) == words)
        seen.add(metric)
        cells = cells[
            (cells["reading"].fillna("") == reading)
            & (cells["select"] == select)
            & (cells["status"] == "ok")
        ]
        means = cells.groupby(["dataset", "model"])[metric].mean()
        less = less_is_better(metric)
        for dataset, *shown in rows:
            part = means.get(names[dataset], pd.Series(dtype=float)).reindex(models)
            best = part.min() if less else part.max()
            for model, text in zip(models, shown, strict=True):
                number = re.match(r"[\d.]+", text.strip())
                if number is None:
                    continue
                places = len(number[0].partition(".")[2])
                assert abs(float(number[0]) - part[model]) <= 0.5001 * 10**-places, (
                    caption,
                    dataset,
                    model,
                )
                if metric != "n_units" and not metric.endswith("_seconds"):
                    assert ("best of ours" in text) == (
                        part.count() > 1 and part[model] == best
                    ), (
                        caption,
                        dataset,
                        model,
                    )
    assert metrics <= seen


def test_every_published_value_is_linked_with_its_interval(
    site: Path, results: Path
) -> None:
    name = "data/kos-elm-table4-paper-published-values.csv"
    assert name in Page(site / "kos-elm-table4.html").values("href")
    columns = [
        "dataset",
        "model",
        "metric",
        "mean",
        "published",
        "low",
        "high",
        "verdict",
    ]
    figures = pd.read_csv(site / name)[columns].dropna(subset="verdict")
    written = pd.read_csv(results / "paper/kos-elm/table4/summary.csv")[columns].dropna(
        subset="verdict"
    )
    assert len(figures) == 5
    pd.testing.assert_frame_equal(
        figures.reset_index(drop=True), written.reset_index(drop=True)
    )


def test_findings_have_links_to_tables_that_have_results(site: Path) -> None:
    page = Page(site / "index.html")
    assert sentence("report.findings.headline-of-leaking-dictionary") in page.text
    assert "0.9597 to 0.9730 on Sylva, where 0.97 is inside" in page.text
    assert "kos-elm-table4.html" in page.values("href")
    # The site of these tests lacks Tables 9 and 10 of this paper.
    assert sentence("report.findings.headline-of-choice-on-test-folds") not in page.text


def test_the_first_page_shows_three_measures_of_each_table(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    (tile,) = re.findall(
        r'<a class="tile" href="kos-elm-table4.html">.*?</a>', text, re.S
    )
    states = re.findall(r'<span class="m-([a-z-]+)"><span [^>]*>(.)</span> (\w+)', tile)
    assert states == [
        ("undecided", "?", "values"),
        ("holds", "✓", "order"),
        ("undecided", "?", "differences"),
    ]
    # No value of mk-elm is printed.
    assert text.count('<div class="bar" role="img"') == 4


def test_a_tile_counts_the_exceptions_of_a_table_that_holds(tmp_path: Path) -> None:
    name = "paper/eem/table4"
    shutil.copytree(RESULTS / name, tmp_path / name)
    pages = site_files(gather_papers(ResultsDirs(tmp_path)))
    assert "✓ holds but for 2</span>" in str(pages["index.html"])


def test_a_paper_has_a_linked_doi_and_marks_the_metric_that_decides(site: Path) -> None:
    page = Page(site / "paper-ospvm.html")
    assert "https://doi.org/10.1155/2016/5197932" in page.values("href")
    rows = [value for value in page.values("class") if value in ("decisive", "aside")]
    assert rows == ["decisive", "aside"]
    assert "▸ decides" in page.text


def test_a_value_has_its_interval_on_the_page(site: Path, results: Path) -> None:
    summary = pd.read_csv(
        results / "paper/rkelm/table3/summary.csv", keep_default_na=False
    )
    line = summary[(summary["published"] != "") & (summary["low"] != "")].iloc[0]
    interval = f"{float(line['low']):.4g} to {float(line['high']):.4g}"
    page = Page(site / "rkelm-table3.html")
    assert f"95 % interval: {interval}" in page.values("title")
    assert f'<span class="interval">{interval}</span>' in page.text


def test_no_page_shows_tex_or_markdown(site: Path) -> None:
    for name, page in pages(site):
        text = unescape(
            re.sub(r"<(pre|style|script).*?</\1>|<[^>]+>", " ", page.text, flags=re.S)
        )
        assert not re.search(r"\$[^$\n]+\$|\\[a-z]+\{|\*\*\w|`|\]\(|\^-?\d", text), name


def test_published_values_are_counted_once_by_the_most_faithful_profile(
    site: Path,
) -> None:
    tables = Page(site / "paper-kos-elm.html").tables
    heading, *rows = next(table for table in tables if "in all" in table[0])
    (part,) = [
        dict(zip(heading, row, strict=True)) for row in rows if row[0] == "Table IV"
    ]
    counted = {name.split(" ", 1)[-1]: number for name, number in part.items()}
    # Five values of WDBC by profile paper, those of Sylva by profile fast.
    assert counted["consistent"] == "3"
    assert counted["differs"] == "4"
    assert part["in all"] == "10"


def test_a_table_of_a_metric_has_its_name_for_readers(site: Path) -> None:
    text = (site / "kos-elm-table4.html").read_text()
    captions = re.findall(r"<caption>(.*?)</caption>", text, re.S)
    assert captions[:2] == [
        "MCC, profile paper, nested",
        "training time (s), profile paper, nested",
    ]
    assert sentence("report.site.metrics-not-printed") in text


def test_no_page_names_a_metric_as_the_files_do(site: Path) -> None:
    raw = re.compile(
        r"\b(gmean|mcc|rmse|nrmse|train_accuracy|n_units|fit_seconds)\b|\w@\w+="
    )
    for name, page in pages(site):
        words = re.sub(r"<pre>.*?</pre>|<[^>]*>", " ", page.text, flags=re.S)
        assert raw.findall(words) == [], name


def test_a_metric_at_several_values_is_named_once() -> None:
    measures = [Measure("mcc"), Measure.create("gmean", "n_hidden", 10)]
    measures += [Measure.create("gmean", "n_hidden", size) for size in (20, 50)]
    assert measure_names(measures) == ["MCC", "G-mean at h=10 and 2 more"]


def test_claims_have_the_same_verdict_on_every_page(site: Path) -> None:
    """The verdict after the correction for all claims of the paper, not that of the table alone."""
    heading, *rows = next(
        table
        for table in Page(site / "claims.html").tables
        if any("Table 9" in row for row in table)
    )
    shown = [dict(zip(heading, row, strict=True)) for row in rows]
    page = unescape(Page(site / "eem-table9.html").text)
    for claim in (claim for claim in shown if claim["table"] == "Table 9"):
        assert (
            f"{claim['claim']}: <strong>{claim['verdict']}</strong>; {claim['evidence']}"
            in page
        )
    assert 'claim "' not in page


def test_every_value_that_sorting_goes_by_is_a_mean(site: Path, results: Path) -> None:
    frames = [
        pd.read_csv(path) for path in results.glob("*/kos-elm/table4/summary.csv")
    ]
    means = {f"{mean:.6g}" for frame in frames for mean in frame["mean"].dropna()}
    shown = [
        value
        for value in Page(site / "kos-elm-table4.html").values("data-value")
        if value
    ]
    # The columns of the model with the name of a script are copies of K-ELM's.
    assert len(shown) > 100
    assert set(shown) <= means


def test_names_are_escaped_everywhere_in_a_table(script: str) -> None:
    from elmbench.report.entry_tables import EntryTable
    from elmbench.report.site.charts import Picture
    from elmbench.report.site.pages import environment

    source = (
        "{% import 'macros.html' as m with context %}{{ m.entry_table(one, one.heading) }}{{ m.plain([s], "
        "[[s]], s) }}"
    )
    source += "{{ m.picture(picture) }}"
    entry_table = EntryTable(script, script, (script,), ((script, (None,)),))
    shown = (
        environment()
        .from_string(source)
        .render(one=entry_table, s=script, picture=Picture(script, b""))
    )
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") >= 8


def test_a_text_has_raised_exponents_and_italics() -> None:
    assert with_powers("*a < b* at 2^-3, 3 * 4 * 5, x*y*z") == Markup(
        "<em>a &lt; b</em> at 2<sup>−3</sup>, 3 * 4 * 5, x*y*z"
    )


def test_control_and_bidirectional_characters_are_visible() -> None:
    from elmbench.report.site.pages import environment

    template = environment().from_string("{{ name }} {{ markup }} {{ number }}\n\u202e")
    shown = template.render(
        name="a\x1b\u202e<\tb", markup=Markup("<i>\x07</i>"), number=3
    )
    assert shown == r"a\x1b\u202e&lt;" + "\tb" + r" <i>\x07</i> 3" + "\n\u202e"


def test_columns_whose_names_begin_alike_have_bars_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from elmbench.report.site import charts

    drawn: list[Any] = []
    monkeypatch.setattr(
        charts, "figure_bytes", lambda figure: drawn.append(figure) or b""
    )
    lines = pd.DataFrame(
        {
            "column": [f"the temperature at the site {i}" for i in (1, 2)],
            "importance": [0.5, 0.1],
        }
    )
    charts._importance_picture(lines.assign(std=0.1, metric="mcc", model="elm"))
    assert len({bar.get_y() for bar in drawn[0].axes[0].patches}) == 2


def test_a_diagram_of_ranks_names_paper_and_table_and_every_model(site: Path) -> None:
    page = site / "eem-table9.html"
    diagram, *_ = re.findall(r'<svg class="ranks".*?</svg>', page.read_text(), re.S)
    (label,) = re.findall('<svg[^>]*aria-label="([^"]*)"', diagram)
    assert label.startswith("EEM, Table 9, profile fast: average ranks")
    texts = re.findall("<text[^>]*>([^<]*)</text>", diagram)
    models = find_experiment("eem/table9").spec.models
    for model in models:
        assert sum(model in text.split() for text in texts) == 1
    for number in re.findall(r'[ "M,](-?\d+(?:\.\d+)?)(?=[ ,H"])', diagram):
        assert 0 <= float(number) <= 720


def test_a_figure_is_written_with_its_data(site: Path, results: Path) -> None:
    page = Page(site / "kos-elm-figure3.html")
    (picture,) = (source for source in page.values("src") if source.endswith(".png"))
    source = results / "fast/kos-elm/figure3"
    with (
        Image.open(site / picture) as shown,
        Image.open(source / "figure.png") as drawn,
    ):
        assert shown.size == drawn.size
        difference = np.abs(
            np.asarray(shown.convert("RGB"), float)
            - np.asarray(drawn.convert("RGB"), float)
        )
        assert difference.mean() < 3
    (data,) = {
        target for target in page.values("href") if target.endswith("figure.csv")
    }
    written, original = (
        pd.read_csv(path) for path in (site / data, source / "figure.csv")
    )
    pd.testing.assert_frame_equal(written, original, rtol=5e-4, check_dtype=False)


def test_a_caption_fits_its_picture(site: Path) -> None:
    page = (site / "kos-elm-figure3.html").read_text("utf-8")
    caption = page.partition("<figcaption>")[2].partition("<a ")[0]
    assert "pooled test rows" in caption
    # It has no bands.
    assert "deviation" not in caption
    stream = kind_of_table(resolve(find_experiment("kos-elm/stream"), "fast"))
    assert stream.figure_legend == sentence("report.site.legend-of-shaded-band")


def test_the_site_is_small(site: Path) -> None:
    assert (
        sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
        < 2_000_000
    )


def test_each_verdict_has_its_sign_without_colour(site: Path) -> None:
    style = (site / "style.css").read_text("utf-8")
    for verdict, sign in SIGNS.items():
        assert (
            f'.v-{verdict.replace(" ", "-")} .verdict::before {{ content: "{sign} ";'
            in style
        )


def test_a_claim_is_taken_from_the_first_profile_that_has_its_data_set(
    site: Path,
) -> None:
    """Profile paper has WDBC alone, profile fast also Sylva."""
    heading, *rows = next(
        table
        for table in Page(site / "claims.html").tables
        if any("Table IV" in row for row in table)
    )
    shown = {row[0]: dict(zip(heading, row, strict=True)) for row in rows}
    assert shown["“K-ELM works better than ELM”"]["profile"] == "paper"
    on_sylva = shown[f"“{sentence('report.site.claim-on-mcc-of-fb-kos-elm')}”"]
    assert (on_sylva["profile"], on_sylva["in print"], on_sylva["verdict"]) == (
        "fast",
        "yes",
        "does not hold",
    )


def test_the_page_of_data_sets_names_the_tables_of_each_paper(site: Path) -> None:
    text = (site / "datasets.html").read_text()
    for dataset, tables in {
        "sonar": "EEM: Tables 1, 3, 4, 9, 10; Fig. 3",
        "sparse-10k": "RKELM: Fig. 4",
        "usps-digits": "–",
    }.items():
        (row,) = re.findall(rf"<tr><th[^>]*>{dataset}</th>(.*?)</tr>", text, re.S)
        assert f"<div>{tables}</div>" in row, dataset
