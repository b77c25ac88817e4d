"""The pages that are lists: claims, optimism, readings, models, data sets and environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elmbench.registry import registry
from elmbench.reporting.notes import optimism_notes
from elmbench.reporting.readings import FITS, reading_rows
from elmbench.reporting.site.charts import Picture, optimism_chart
from elmbench.reporting.site.gather import PaperResults, ProfileResults
from elmbench.reporting.site.links import anchor, readings_page, table_page
from elmbench.specs.datasets import load_dataset_specs


@dataclass(frozen=True)
class Part:
    """A part of a listing: sentences, points, links, and a table of which the first columns are headings."""

    heading: str
    says: Sequence[str] = ()
    items: Sequence[str] = ()
    links: Sequence[tuple[str, str]] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    headed: int = 1
    anchor: str = ""
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True)
class Listing:
    """A page of parts; `name` is what the menu calls it, empty if it is not in the menu."""

    page: str
    name: str
    title: str
    introduction: Sequence[str] = ()
    parts: Sequence[Part] = field(default_factory=tuple)


def listings(papers: Sequence[PaperResults]) -> Iterator[Listing]:
    """Yield the pages that are lists."""
    yield Listing("claims.html", "claims", "What the papers claim", _CLAIMS, list(_claims(papers)))
    yield Listing("optimism.html", "optimism", "What a choice on the test folds gains", _OPTIMISM, list(_gains(papers)))
    yield Listing("readings.html", "readings", "How the papers can be read", _READINGS, list(_read(papers)))
    for paper in papers:
        if any(paper.readings.values()):
            key, title = paper.paper.key, f"Readings of {paper.paper.title}"
            yield Listing(readings_page(key), "", title, _READINGS, list(_readings(paper)))
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
    "chosen on inner folds of the training part (nested), on the same folds; of an error the other way round, so that "
    "a positive value always favours the oracle.",
    "From and to are the ends of the interval of 95 % on one data set, by the corrected resampled t-test over the "
    "folds of all runs (Nadeau and Bengio 2003): folds share training rows. The interval of a table is that of the "
    "plain paired t-test over its data sets, where it has three or more.",
)
_READINGS = (
    "A reading is one way to interpret a passage that a paper leaves open; its first value is the default.",
    f"{FITS} A reading that leaks can never make a figure reproduced.",
)


def _run(papers: Sequence[PaperResults]) -> Iterator[tuple[PaperResults, ProfileResults]]:
    return ((paper, own) for paper in papers for table in paper.tables for own in table.profiles)


def _claims(papers: Sequence[PaperResults]) -> Iterator[Part]:
    for paper in papers:
        rows = []
        for one in paper.claims:
            outcome, resolved = one.outcome, one.results.resolved
            place = resolved.file.spec.label, resolved.profile
            rows.append((outcome.claim.says, *place, _IN_PRINT[outcome.in_print], outcome.verdict, outcome.evidence))
        if rows:
            links = [(table_page(t.file.id), t.file.spec.label) for t in paper.tables if t.profiles]
            columns = ("claim", "table", "profile", "in print", "verdict", "evidence")
            yield Part(paper.paper.title, columns=columns, rows=rows, links=links, anchor=paper.paper.key)


_IN_PRINT = {True: "yes", False: "no", None: "–"}


def _gains(papers: Sequence[PaperResults]) -> Iterator[Part]:
    for paper in papers:
        rows, items, links = [], [], []
        pictures: list[Picture] = []
        for table in paper.tables:
            for own in table.profiles[:1]:
                default = own.results.gains[own.results.gains["reading"] == ""]
                label = f"{table.file.spec.label}, {own.profile}"
                items += [f"{label}: {note.text}" for note in optimism_notes(default)]
                pictures += filter(None, [optimism_chart(own)])
                links += [(table_page(table.file.id), table.file.spec.label)] if len(default) else []
                for line in default.to_dict("records"):
                    means = (f"{line['oracle']:.4f}", f"{line['nested']:.4f}", f"{line['optimism']:+.4f}")
                    spread = (_signed(line["low"]), _signed(line["high"]), str(line["n"]))
                    dataset = own.resolved.spelling(line["dataset"])
                    rows.append((label, dataset, line["model"], line["metric"], *means, *spread))
        if rows:
            columns = ("table", "data set", "model", "measure", "oracle", "nested", "optimism", "from", "to", "folds")
            title, key = paper.paper.title, paper.paper.key
            yield Part(
                title, items=items, links=links, columns=columns, rows=rows, headed=3, anchor=key, pictures=pictures
            )


def _signed(value: Any) -> str:
    return f"{round(value, 4) + 0.0:+.4f}" if isinstance(value, float) and value == value else ""


def _read(papers: Sequence[PaperResults]) -> Iterator[Part]:
    """Yield every reading that a paper leaves open, whether it has been run or not."""
    for paper in papers:
        rows = [
            (
                name,
                reading.question,
                value + (" (default)" if value == reading.default else ""),
                choice.says,
                "leaks" * choice.leaks,
            )
            for name, reading in paper.paper.readings.items()
            for value, choice in reading.values.items()
        ]
        if rows:
            links = [(readings_page(paper.paper.key), "figures under each")] if any(paper.readings.values()) else []
            columns = ("reading", "question", "value", "says", "leaks")
            yield Part(paper.paper.title, links=links, columns=columns, rows=rows, anchor=paper.paper.key)


def _readings(paper: PaperResults) -> Iterator[Part]:
    for name, reading in paper.paper.readings.items():
        found = paper.readings[name]
        says = [reading.question] + ([] if found else ["Not run, or it moves no published figure."])
        tables = dict.fromkeys(one.experiment for one in found)
        labels = {table.file.id: table.file.spec.label for table in paper.tables}
        headings, rows = reading_rows(reading, found)
        yield Part(
            name,
            says=says,
            items=[f"{h}: {choice.says}" for h, choice in zip(headings[2:], reading.values.values(), strict=False)],
            links=[(table_page(id), labels[id]) for id in tables],
            columns=headings,
            rows=rows,
            anchor=name,
        )


def _models(papers: Sequence[PaperResults]) -> Part:
    used: dict[str, dict[str, None]] = {}
    for paper in papers:
        for table in paper.tables:
            for model in table.file.spec.models.values():
                used.setdefault(model.model, {})[f"{paper.paper.key} {table.file.spec.label}"] = None
    rows = [
        (
            entry.name,
            entry.title + " (baseline)" * entry.baseline,
            ", ".join(task for task in ("classification", "regression") if getattr(entry, task) is not None),
            ", ".join(entry.grid),
            ", ".join(used.get(entry.name, ())),
            entry.origin,
        )
        for entry in registry().values()
    ]
    return Part("Models", columns=("name", "what it is", "tasks", "searched", "in", "from"), rows=rows, anchor="models")


def _datasets(papers: Sequence[PaperResults]) -> Iterator[Part]:
    used: dict[str, dict[str, None]] = {}
    for paper in papers:
        for table in paper.tables:
            for name in table.file.spec.datasets:
                used.setdefault(name, {})[f"{paper.paper.key} {table.file.spec.label}"] = None
    rows = [
        (
            spec.name,
            spec.title,
            spec.task,
            str(spec.shape.instances),
            str(spec.shape.features),
            ", ".join(used.get(spec.name, ())),
            spec.licence,
            spec.citation,
        )
        for spec in load_dataset_specs().values()
    ]
    columns = ("name", "title", "task", "rows", "columns", "in", "licence", "citation")
    yield Part("Data sets", columns=columns, rows=rows, anchor="data-sets")
    noted = [f"{spec.name}: {note}" for spec in load_dataset_specs().values() for note in spec.notes]
    if noted:
        yield Part("Notes on the data", items=noted, anchor="notes")


def _environments(papers: Sequence[PaperResults]) -> Iterator[Part]:
    """Yield each machine and each data set once, by which the tables after them name theirs."""
    runs = [own for _, own in _run(papers) if own.environment]
    machines: dict[tuple[str, ...], int] = {}
    checksums: dict[str, list[str]] = {}
    for own in runs:
        for one in own.environment.get("environments", ()):
            machines.setdefault(_machine(one), len(machines) + 1)
        for name, found in own.environment.get("datasets", {}).items():
            checksums[name] = list(dict.fromkeys([*checksums.get(name, ()), *found]))
    numbered = [(str(number), *machine) for machine, number in machines.items()]
    yield Part("Machines", columns=("number", *_MACHINE, "packages"), rows=numbered, anchor="machines")
    rows = [(name, *found) for name, several in checksums.items() for found in _numbered(several)]
    yield Part("Checksums of data", columns=("data set", "number", "checksum"), rows=rows, anchor="checksums")
    for own in runs:
        record, file = own.environment, own.resolved.file
        heading = f"{file.id}, {own.profile}"
        cells = [
            f"{one.get('cells', 0)} cells on machine {machines[_machine(one)]}"
            for one in record.get("environments", ())
        ]
        data = [
            f"{name} (checksum {', '.join(str(checksums[name].index(one) + 1) for one in found)})"
            for name, found in record.get("datasets", {}).items()
        ]
        yield Part(
            heading,
            says=[
                f"Commands: {'; '.join(record.get('commands', ()))}",
                f"Checksum of the specification: {record.get('spec_sha256', '')}",
                f"Machines: {', '.join(cells)}",
                f"Data: {', '.join(data)}",
            ],
            items=[f"{column}: {said}" for column, said in record.get("models", {}).items()],
            links=[(table_page(file.id), file.spec.label)],
            anchor=anchor(heading),
        )


def _numbered(several: Sequence[str]) -> list[tuple[str, str]]:
    return [(str(number), one) for number, one in enumerate(several, 1)]


def _machine(record: Mapping[str, Any]) -> tuple[str, ...]:
    return (*(_words(record.get(name)) for name in _MACHINE), _words(record.get("packages")))


#: What is shown of a machine.
_MACHINE = ("python", "system", "processor", "cores", "memory_gib", "blas", "blas_threads", "commit")


def _words(found: Any) -> str:
    if isinstance(found, dict):
        return ", ".join(f"{name} {value}" for name, value in found.items())
    if isinstance(found, list):
        return "; ".join(map(_words, found))
    return "" if found is None else str(found)
