"""The pages that are lists: claims, optimism, readings and data sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elmbench.reporting.notes import optimism_notes
from elmbench.reporting.papers import PaperResults
from elmbench.reporting.readings import NEAREST, reading_rows
from elmbench.reporting.site.charts import Picture, optimism_chart
from elmbench.specs.datasets import load_dataset_specs


@dataclass(frozen=True)
class Part:
    """A part of a listing: sentences, points, links, pictures, and a table whose first columns are headings."""

    heading: str
    sentences: Sequence[str] = ()
    items: Sequence[str] = ()
    links: Sequence[tuple[str, str]] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    headed: int = 1
    anchor: str = ""
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True)
class Listing:
    """A page of parts; `name` is its name in the menu, empty if it is not in the menu."""

    page: str
    name: str
    title: str
    introduction: Sequence[str] = ()
    parts: Sequence[Part] = ()


def listings(papers: Sequence[PaperResults]) -> Iterator[Listing]:
    """Yield the pages that are lists."""
    yield Listing("claims.html", "claims", "What the papers claim", _CLAIMS, list(_claims(papers)))
    yield Listing("optimism.html", "optimism", "What a choice on the test folds gains", _OPTIMISM, list(_gains(papers)))
    for paper in papers:
        if paper.paper.readings:
            title = f"Readings of {paper.paper.title}"
            yield Listing(paper.readings_page, "", title, _READINGS, list(_readings(paper)))
    yield Listing("datasets.html", "data sets", "Data sets", (), list(_datasets(papers)))


_CLAIMS = (
    "Sentences of the papers about their tables, each tested on our results under the default readings. The column in "
    "print says whether the paper's own figures bear the sentence out (a dash: it prints too few of them).",
    "The verdicts of a paper hold together at a level of 5 %: they are corrected by Holm's method for the number of "
    "its tested claims.",
)
_OPTIMISM = (
    "The mean with the hyperparameters of the best mean over the outer test folds (oracle) minus the mean with those "
    "chosen on inner folds of the training part (nested), on the same folds; for an error the other way round, so that "
    "a positive value always favours the oracle.",
    "From and to are the ends of the interval of 95 % on one data set, by the corrected resampled t-test over the "
    "folds of all runs (Nadeau and Bengio 2003): folds share training rows. The interval of a table is that of the "
    "plain paired t-test over its data sets, if it has three or more.",
)
_READINGS = (
    "A reading is one way to interpret a passage that a paper leaves open; its first value is the default.",
    f"{NEAREST} A reading that leaks can never make a figure reproduced.",
)
_IN_PRINT = {True: "yes", False: "no", None: "–"}


def _claims(papers: Sequence[PaperResults]) -> Iterator[Part]:
    for paper in papers:
        rows = []
        for claim in paper.claims:
            outcome, resolved = claim.outcome, claim.results.resolved
            label = resolved.file.spec.label, resolved.profile
            rows.append((outcome.claim.says, *label, _IN_PRINT[outcome.in_print], outcome.verdict, outcome.evidence))
        if rows:
            links = [table.link for table in paper.run]
            columns = ("claim", "table", "profile", "in print", "verdict", "evidence")
            yield Part(paper.paper.title, columns=columns, rows=rows, links=links, anchor=paper.paper.key)


def _gains(papers: Sequence[PaperResults]) -> Iterator[Part]:
    columns = ("table", "data set", "model", "measure", "oracle", "nested", "optimism", "from", "to", "folds")
    for paper in papers:
        part: dict[str, list[Any]] = {"rows": [], "items": [], "links": [], "pictures": []}
        for table in paper.run:
            results = table.results[0]
            gains = results.gains[results.gains["reading"] == ""]
            label = f"{table.file.spec.label}, {results.resolved.profile}"
            part["items"] += [f"{label}: {note.text}" for note in optimism_notes(gains)]
            part["pictures"] += filter(None, [optimism_chart(results)])
            part["links"] += [table.link] if len(gains) else []
            for line in gains.to_dict("records"):
                means = (f"{line['oracle']:.4f}", f"{line['nested']:.4f}", f"{line['optimism']:+.4f}")
                ends = (_signed_text(line["low"]), _signed_text(line["high"]), str(line["n"]))
                dataset = results.resolved.spelling(line["dataset"])
                part["rows"].append((label, dataset, line["model"], line["metric"], *means, *ends))
        if part["rows"]:
            yield Part(paper.paper.title, columns=columns, headed=3, anchor=paper.paper.key, **part)


def _signed_text(value: Any) -> str:
    return f"{round(value, 4) + 0.0:+.4f}" if isinstance(value, float) and value == value else ""


def _readings(paper: PaperResults) -> Iterator[Part]:
    for name, reading in paper.paper.readings.items():
        comparisons = paper.readings[name]
        headings, rows = reading_rows(reading, comparisons)
        yield Part(
            name,
            sentences=[reading.question] + ["Not run, or it moves no published figure."] * (not comparisons),
            items=[f"{h}: {choice.says}" for h, choice in zip(headings[2:], reading.values.values(), strict=False)],
            links=[paper.link(id) for id in dict.fromkeys(comparison.experiment for comparison in comparisons)],
            columns=headings,
            rows=rows,
            anchor=name,
        )


def _datasets(papers: Sequence[PaperResults]) -> Iterator[Part]:
    labels: dict[str, dict[str, None]] = {}
    for paper in papers:
        for table in paper.tables:
            for name in table.file.spec.datasets:
                labels.setdefault(name, {})[f"{paper.paper.key} {table.file.spec.label}"] = None
    rows, notes = [], []
    for spec in load_dataset_specs().values():
        shape = (str(spec.shape.instances), str(spec.shape.features))
        tables = ", ".join(labels.get(spec.name, ()))
        rows.append((spec.name, spec.title, spec.task, *shape, tables, spec.licence, spec.citation))
        notes += [f"{spec.name}: {note}" for note in spec.notes]
    columns = ("name", "title", "task", "rows", "columns", "in", "licence", "citation")
    yield Part("Sizes, licences and citations", columns=columns, rows=rows, anchor="data-sets")
    yield Part("Notes on the data", items=notes, anchor="notes")
