"""The pages that are lists: claims, optimism, readings, models, data sets and environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elmbench.registry import registry
from elmbench.reporting.notes import optimism_notes
from elmbench.reporting.readings import FITS, reading_rows
from elmbench.reporting.site.charts import Picture, optimism_chart
from elmbench.reporting.site.gather import PaperResults
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.experiments import Experiment


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
    yield Listing("readings.html", "readings", "How the papers can be read", _READINGS, list(_questions(papers)))
    for paper in papers:
        if any(paper.readings.values()):
            title = f"Readings of {paper.paper.title}"
            yield Listing(paper.readings_page, "", title, _READINGS, list(_readings(paper)))
    yield Listing("models.html", "models", "Models", (), [_models(papers)])
    yield Listing("datasets.html", "data sets", "Data sets", (), list(_datasets(papers)))
    yield Listing("environment.html", "environment", "Where the numbers come from", (), list(_environments(papers)))


_CLAIMS = (
    "Sentences of the papers about their tables, each tested on our results under the default readings. `In print` "
    "says whether the paper's own figures bear the sentence out (a dash: it prints too few of them).",
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
    f"{FITS} A reading that leaks can never make a figure reproduced.",
)
_IN_PRINT = {True: "yes", False: "no", None: "–"}


def _claims(papers: Sequence[PaperResults]) -> Iterator[Part]:
    for paper in papers:
        rows = []
        for one in paper.claims:
            outcome, resolved = one.outcome, one.results.resolved
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


def _questions(papers: Sequence[PaperResults]) -> Iterator[Part]:
    """Yield every reading that a paper leaves open, even if it has not been run."""
    columns = ("reading", "question", "value", "says", "leaks")
    for paper in papers:
        rows = []
        for name, reading in paper.paper.readings.items():
            for value, choice in reading.values.items():
                default = " (default)" * (value == reading.default)
                rows.append((name, reading.question, value + default, choice.says, "leaks" * choice.leaks))
        if rows:
            links = [(paper.readings_page, "figures under each")] if any(paper.readings.values()) else []
            yield Part(paper.paper.title, links=links, columns=columns, rows=rows, anchor=paper.paper.key)


def _readings(paper: PaperResults) -> Iterator[Part]:
    for name, reading in paper.paper.readings.items():
        comparisons = paper.readings[name]
        headings, rows = reading_rows(reading, comparisons)
        yield Part(
            name,
            sentences=[reading.question] + ["Not run, or it moves no published figure."] * (not comparisons),
            items=[f"{h}: {choice.says}" for h, choice in zip(headings[2:], reading.values.values(), strict=False)],
            links=[paper.link(id) for id in dict.fromkeys(one.experiment for one in comparisons)],
            columns=headings,
            rows=rows,
            anchor=name,
        )


def _models(papers: Sequence[PaperResults]) -> Part:
    used = _tables_by(papers, lambda spec: (model.model for model in spec.models.values()))
    rows = [
        (
            entry.name,
            entry.title + " (baseline)" * entry.baseline,
            ", ".join(task for task in ("classification", "regression") if getattr(entry, task) is not None),
            ", ".join(entry.grid),
            used.get(entry.name, ""),
            entry.origin,
        )
        for entry in registry().values()
    ]
    return Part("Models", columns=("name", "what it is", "tasks", "searched", "in", "from"), rows=rows, anchor="models")


def _datasets(papers: Sequence[PaperResults]) -> Iterator[Part]:
    used = _tables_by(papers, lambda spec: spec.datasets)
    rows = []
    for spec in load_dataset_specs().values():
        shape = (str(spec.shape.instances), str(spec.shape.features))
        rows.append((spec.name, spec.title, spec.task, *shape, used.get(spec.name, ""), spec.licence, spec.citation))
    columns = ("name", "title", "task", "rows", "columns", "in", "licence", "citation")
    yield Part("Data sets", columns=columns, rows=rows, anchor="data-sets")
    notes = [f"{spec.name}: {note}" for spec in load_dataset_specs().values() for note in spec.notes]
    if notes:
        yield Part("Notes on the data", items=notes, anchor="notes")


def _tables_by(papers: Sequence[PaperResults], names_in: Callable[[Experiment], Iterable[str]]) -> dict[str, str]:
    """Return the labels of the tables that use a model or a data set, by its name."""
    used: dict[str, dict[str, None]] = {}
    for paper in papers:
        for table in paper.tables:
            for name in names_in(table.file.spec):
                used.setdefault(name, {})[f"{paper.paper.key} {table.file.spec.label}"] = None
    return {name: ", ".join(labels) for name, labels in used.items()}


#: The columns of a machine.
_MACHINE = ("python", "system", "processor", "cores", "memory_gib", "blas", "blas_threads", "commit", "packages")


def _environments(papers: Sequence[PaperResults]) -> Iterator[Part]:
    """Yield each machine and each checksum once, with numbers that the parts of the tables refer to."""
    machines: dict[tuple[str, ...], int] = {}
    checksums: dict[str, dict[str, int]] = {}
    parts = []
    for paper in papers:
        for results in filter(lambda one: one.environment, paper.results):
            record, id = results.environment, results.resolved.file.id
            heading = f"{id}, {results.resolved.profile}"
            cells = []
            for one in record.get("environments", ()):
                machine = tuple(_words(one.get(name)) for name in _MACHINE)
                number = machines.setdefault(machine, len(machines) + 1)
                cells.append(f"{one.get('cells', 0)} cells on machine {number}")
            data = []
            for name, sums in record.get("datasets", {}).items():
                known = checksums.setdefault(name, {})
                numbers = (str(known.setdefault(one, len(known) + 1)) for one in sums)
                data.append(f"{name} (checksum {', '.join(numbers)})")
            sentences = [
                f"Commands: {'; '.join(record.get('commands', ()))}",
                f"Checksum of the specification: {record.get('spec_sha256', '')}",
                f"Machines: {', '.join(cells)}",
                f"Data: {', '.join(data)}",
            ]
            items = [f"{column}: {model}" for column, model in record.get("models", {}).items()]
            anchor = "-".join(re.findall("[a-z0-9]+", heading.lower()))
            parts.append(Part(heading, sentences, items, [paper.link(id)], anchor=anchor))
    rows = [(str(number), *machine) for machine, number in machines.items()]
    yield Part("Machines", columns=("number", *_MACHINE), rows=rows, anchor="machines")
    rows = [(name, str(number), one) for name, sums in checksums.items() for one, number in sums.items()]
    yield Part("Checksums of data", columns=("data set", "number", "checksum"), rows=rows, anchor="checksums")
    yield from parts


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    if isinstance(value, list):
        return "; ".join(map(_words, value))
    return "" if value is None else str(value)
