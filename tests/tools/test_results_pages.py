"""docs/results/: tables are those of the committed results, and figures in the prose are those of
the tables.
"""

import re
from pathlib import Path

import pandas as pd
import pytest
from made_cells import committed
from sentences import sentence

from elmbench.specs.catalogue import find_experiment, load_catalogue, tables_by_paper
from elmbench.specs.outcomes import outcomes_text, read_outcomes
from elmbench.specs.profiles import resolve
from tools.results_pages import (
    BLOCKS,
    OUTCOMES,
    PAGES,
    outcomes_of,
    render,
    render_picture,
)
from tools.table_picture import PICTURE

ROOT = Path(__file__).parents[2]
NAMES = [path.name for path in PAGES]
DECIMAL = r"(?<![\w.])[-+]?\d*\.\d+(?![\w.]*\d)"


def read_page(name: str) -> str:
    return next(path for path in PAGES if path.name == name).read_text("utf-8")


def words_of(name: str) -> str:
    return " ".join(read_page(name).replace("**", "").split())


def read_ok_cells(name: str) -> pd.DataFrame:
    return committed(name).cells.query("status == 'ok'")


@pytest.mark.parametrize(
    "name",
    [
        name
        if name in ("kos-elm.md", "mk-elm.md", "print-checks.md")
        else pytest.param(name, marks=pytest.mark.exhaustive)
        for name in NAMES
    ],
)
def test_tables_are_those_of_the_committed_results(name: str) -> None:
    assert render(read_page(name)) == read_page(name), "next: make pages"


@pytest.mark.parametrize(
    "paper",
    [
        paper
        if paper in ("kos-elm", "mk-elm")
        else pytest.param(paper, marks=pytest.mark.exhaustive)
        for paper in tables_by_paper()
    ],
)
def test_outcomes_are_those_of_the_committed_results(paper: str) -> None:
    ids = [file.id for file in tables_by_paper()[paper]]
    outcomes = read_outcomes()
    assert outcomes_of([BLOCKS.paper_results(paper)]) == [outcomes[id] for id in ids], (
        "next: make pages"
    )


def test_every_table_has_an_outcome_and_most_have_a_time() -> None:
    outcomes = read_outcomes()
    assert [*outcomes] == [*load_catalogue()]
    assert OUTCOMES.read_text("utf-8") == outcomes_text(outcomes.values())
    untimed = [id for id, outcome in outcomes.items() if outcome.seconds is None]
    assert untimed == ["rkelm/table10"]


def test_the_picture_is_that_of_the_committed_results() -> None:
    assert render_picture() == PICTURE.read_text("utf-8"), "next: make pages"


def test_numbers_of_the_readme_are_on_the_pages() -> None:
    section = re.search(
        r"^## Findings$(.*?)(?=^## |\Z)",
        (ROOT / "README.md").read_text("utf-8"),
        re.M | re.S,
    )
    assert section is not None
    figures = {
        float(number)
        for name in NAMES
        for number in re.findall(DECIMAL, read_page(name))
    }
    prose = re.sub(r"^```.*?^```$|Python 3[\d. to]+", "", section[1], flags=re.M | re.S)
    assert {float(number) for number in re.findall(DECIMAL, prose)} <= figures


@pytest.mark.parametrize("name", ["kos-elm.md", "ospvm.md", "rkelm.md"])
def test_numbers_of_the_prose_are_those_of_the_tables(name: str) -> None:
    prose = re.sub(r"<!-- make pages: .*?<!-- end -->", "", read_page(name), flags=re.S)
    tables = "".join(re.findall(r"^```$.*?^```$", read_page(name), flags=re.M | re.S))
    figures = [float(number) for number in re.findall(r"\d*\.\d+", tables)]
    quoted = re.findall(r"(?<![\w./])0\.\d{3}(?!\d)", prose)
    assert quoted
    for number in quoted:
        assert any(
            abs(float(number) - figure) <= 0.5e-3 + 1e-12 for figure in figures
        ), number


def test_the_dictionary_that_leaks() -> None:
    cells = read_ok_cells("fast/kos-elm/table4")
    cells = cells[cells["select"] == "published"]
    means = cells.groupby(["dataset", "model", "reading"])["mcc"].mean()
    fresh, carried = (
        {
            name: f"{means[name, 'FB-KOS-ELM', reading]:.3f}"
            for name in ("wdbc", "sylva")
        }
        for reading in ("", "carry-over=folds")
    )
    batch = {name: f"{means[name, 'K-ELM', '']:.3f}" for name in fresh}
    published = resolve(find_experiment("kos-elm/table4"), "fast").published
    printed = {name: published[name, "FB-KOS-ELM", "mcc"].value for name in fresh}
    words = words_of("kos-elm.md")
    assert (
        sentence(
            "tools.results-pages.mcc-of-two-data-sets",
            wdbc=fresh["wdbc"],
            wdbc_printed=printed["wdbc"],
            sylva=fresh["sylva"],
            sylva_printed=printed["sylva"],
            wdbc_batch=batch["wdbc"],
            sylva_batch=batch["sylva"],
        )
        in words
    )
    assert f"the same folds give {carried['wdbc']} and {carried['sylva']}" in words
    assert all(fresh[name] <= batch[name] < carried[name] for name in fresh)


def test_the_choice_on_the_test_folds() -> None:
    cells = read_ok_cells("paper/eem/table4")
    means = (
        cells[cells["reading"] == ""]
        .groupby(["dataset", "model", "select"])["gmean"]
        .mean()
        .unstack()
    )
    published = resolve(find_experiment("eem/table4"), "paper").published
    printed = pd.Series(
        {
            (data, model): float(figure.value)
            for (data, model, metric), figure in published.items()
            if metric == "gmean"
        }
    )
    differences = (
        means.dropna().sub(printed.rename_axis(["dataset", "model"]), axis=0).dropna()
    )
    nearer = differences["oracle"].abs() - differences["nested"].abs()
    counts = [
        len(differences),
        int((nearer < 0).sum()),
        int((nearer > 0).sum()),
        int((nearer == 0).sum()),
    ]
    numbers = re.search(r"Of the (\d+) G-means .*?, (\d+) are nearer .*?, (\d+) if .*? and (\d+) "
                        r"are equally near",
                        words_of("eem.md"))  # fmt: skip
    assert numbers is not None
    assert [int(number) for number in numbers.groups()] == counts
    oracle, nested = (
        f"{differences[name].median():+.4f}" for name in ("oracle", "nested")
    )
    assert f"is {oracle} with `oracle` and {nested} with `nested`" in words_of("eem.md")


def test_means_within_a_printed_deviation_on_unbalanced_sets() -> None:
    figures = committed("paper/eem/table5").judged.published_values
    figures = figures[(figures["metric"] == "gmean") & figures["mean"].notna()]
    assert set(figures["select"]) == {"oracle"}
    near = (figures["mean"] - figures["published"]).abs() <= figures["published_std"]
    assert sentence(
        "tools.results-pages.within-a-printed-deviation",
        near=near.sum(),
        values=len(figures),
    ) in words_of("eem.md")
