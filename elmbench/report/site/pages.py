"""The pages of the site, each a template filled with results."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from elmbench.errors import amount
from elmbench.judging.rank_statistics import compare_models
from elmbench.judging.readings import reading_table
from elmbench.judging.value_agreement import facts_sentence, verdict_counts
from elmbench.report.entry_tables import EntryTable, entry_tables_of
from elmbench.report.legend import legend_of
from elmbench.report.notes import optimism_notes
from elmbench.report.papers import PaperResults, TableResults
from elmbench.report.site.charts import comparison_charts, rank_diagram, rank_diagrams
from elmbench.report.site.verdict_parts import (
    ALL_SIGNS,
    STATES,
    authors_of,
    claim_state,
    has_intervals,
    interval_text,
    interval_texts,
    measure_cells,
    measure_names,
    n_compared,
    shares_of,
    short_name,
    tables_without_verdict,
    with_powers,
)
from elmbench.report.table_results import Results
from elmbench.report.verdict_sentences import (
    MEASURE_COLUMNS,
    measure_legend,
    measure_texts,
    own_margin_text,
    state_text,
    table_sentence,
)
from elmbench.results.cells import csv
from elmbench.specs.catalogue import Watch, is_project
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.tables.drawing import words_for
from elmbench.terminal import escape

#: The address of a file of the source, as its repository shows it.
_SOURCE = "https://github.com/elmbench/elmbench"
#: The pages on all papers, and their names.
_TOPICS = (
    ("claims.html", "Claims"),
    ("optimism.html", "Optimism"),
    ("datasets.html", "Data sets"),
)
#: The most columns of a table of entries without published values.
_MOST_COLUMNS = 16


#: Returns the texts of a paper, by its key, or of all papers (``*``), from a function that computes
#: them; a cache may already have them.
Recall = Callable[[str, Callable[[], dict[str, str]]], dict[str, str]]


def _compute_uncached(paper: str, make: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Return the texts that `make` computes, as a cache without entries would (see `Recall`).

    `paper`: not used.
    """
    return make()


def site_files(
    papers: Sequence[PaperResults],
    recall: Recall = _compute_uncached,
    watch: Watch = iter,
) -> dict[str, str | Path]:
    """Return the files of the site: {address: text of a page, style or data, or path to be copied}.

    An address is relative to the site's folder. `papers`: all papers, to which each page has links.
    `recall`: returns the texts of a paper (by its key) or of the overview (``*``), from a cache or
    by calling the function that it is given. `watch`: yields the tables that it is given, to show
    progress.
    """
    texts = recall("*", lambda: dict(_overview_pages(papers, watch)))
    for paper in papers:
        texts |= recall(paper.paper.key, partial(_texts_of_paper, paper, papers, watch))
    texts |= {
        name: environment().get_template(name).render()
        for name in ("style.css", "sort.js")
    }
    copies: dict[str, Path] = {}
    for results in (results for paper in papers for results in paper.results):
        if (picture := results.picture) is not None:
            copies[address(results, picture.name)] = picture
        if results.environment:
            copies[address(results, "environment.json")] = (
                results.folder / "environment.json"
            )
    return {**texts, **copies}


def _texts_of_paper(
    paper: PaperResults, papers: Sequence[PaperResults], watch: Watch
) -> dict[str, str]:
    """Return the texts of a paper's pages and of its tables' data: {address: HTML or CSV}.

    `papers`: all papers, to which each page has links. `watch`: yields the tables that it is given.
    """
    texts = dict(_paper_pages(paper, papers, watch))
    for results in paper.results:
        texts[address(results, "published-values.csv")] = csv(
            results.judged.published_values
        )
        if (picture := results.picture) is not None:
            # Four significant digits suffice for the data of a picture.
            data = pd.read_csv(picture.with_suffix(".csv"))
            texts[address(results, "figure.csv")] = data.to_csv(
                index=False, lineterminator="\n", float_format="%.4g"
            )
    return texts


def _overview_pages(
    papers: Sequence[PaperResults], watch: Watch
) -> Iterator[tuple[str, str]]:
    """Yield (address, HTML) of each page on all papers, after all tables have been judged.

    They are the first page and one for each topic, such as data sets. `watch`: yields the tables
    that it is given while they are judged, to show progress.
    """
    for table in _watch_tables(
        [table for paper in papers for table in paper.tables], watch
    ):
        table.judged.judge()
    total = sum(
        (Counter(paper.judged.values_by_verdict) for paper in papers), Counter[str]()
    )
    facts = sum((paper.judged.counts.facts for paper in papers), Counter[str]())
    yield _page(
        "index.html",
        "index.html",
        papers,
        total=total,
        facts=facts_sentence(facts),
        is_of_suite=all(
            table.file.is_of_suite for paper in papers for table in paper.tables
        ),
        table_states=[
            verdict.state for paper in papers for _, verdict in paper.main_verdicts
        ],
    )
    for name, _ in _TOPICS:
        yield _page(name, name, papers, datasets=_datasets_of(papers))


def _datasets_of(papers: Iterable[PaperResults]) -> list[DatasetSpec]:
    """Return the data sets that the site lists.

    They are all that are known or, in a project, those that its tables name.
    """
    specs = list(load_dataset_specs().values())
    if not is_project():
        return specs
    names: set[str] = set()
    for paper in papers:
        for table in paper.tables:
            names |= _dataset_names(table)
    return [spec for spec in specs if spec.name in names]


def _watch_tables(
    tables: Sequence[TableResults], watch: Watch
) -> Iterator[TableResults]:
    """Yield the results of tables while `watch` goes through their files, to show progress.

    `watch` must yield each file that it is given, once and in order (else ValueError).
    """
    files = watch([table.file for table in tables])
    for _, table in zip(files, tables, strict=True):
        yield table


def _paper_pages(
    paper: PaperResults, papers: Sequence[PaperResults], watch: Watch
) -> Iterator[tuple[str, str]]:
    """Yield (address, HTML) of the pages of a paper, its readings and its tables.

    Tables without results have no page. A paper without readings has no such page. `papers`: all
    papers, to which each page has links.
    """
    yield _page(paper.page, "paper.html", papers, paper=paper)
    has_readings = bool(paper.paper.readings)
    if has_readings:
        yield _page(paper.readings_page, "readings.html", papers, paper=paper)
    for table in _watch_tables(paper.run, watch):
        page, _ = table.link
        yield _page(page, "table.html", papers, paper=paper, table=table)


def _page(
    name: str, template: str, papers: Sequence[PaperResults], **content: Any
) -> tuple[str, str]:
    """Return (name, HTML) of a page, with links to all papers and topics.

    `template`: the name of its template. `name`: the address of the page. `papers`: all papers; the
    template gets them, too. `content`: its further variables by name.
    """
    paper_links = [(paper.page, paper.paper) for paper in papers]
    text = (
        environment()
        .get_template(template)
        .render(
            page=name, papers=papers, paper_links=paper_links, topics=_TOPICS, **content
        )
    )
    return name, text


def comparison_html(
    results: Results, predictions: pd.DataFrame, importance: pd.DataFrame
) -> str:
    """Return the page of a comparison on a user's data as HTML, with its pictures in it.

    `predictions`: the lines of `predictions.csv` (see `predictions_frame`). `importance`: those of
    `importance.csv`, with `dataset`, `model`, `metric`, `column`, `importance` and `std`. Without
    lines, the pictures of either are left out.
    """
    resolved = results.resolved
    record = results.environment
    remarks = record.get("remarks", {})
    comparison = next(iter(compare_models(results.summary, resolved)), None)
    datasets = [
        (
            spec,
            remarks.get(spec.name, "").split("; "),
            list(comparison_charts(spec, results, predictions, importance)),
        )
        for spec in resolved.datasets.values()
    ]
    ranks = comparison and rank_diagram(comparison, "Comparison")
    content = {
        "table": results.table,
        "legend": legend_of(results.table),
        "comparison": comparison,
        "ranks": ranks,
        "datasets": datasets,
        "record": record,
    }
    return environment().get_template("own.html").render(content)


def optimism_table(results: Results) -> pd.DataFrame:
    """Return a frame of texts with a line for each model on each data set that has optimism.

    Only the default readings count. The columns are data set (spelt as in the paper), model,
    optimism, from, to (the ends of its 95 % interval), oracle, nested, folds (a number) and measure
    (in words). Scores and optimism are texts with four decimals, empty if missing.
    """
    optimism = results.judged.default_optimism
    spelling = results.resolved.spelling
    lines = optimism.assign(dataset=optimism["dataset"].map(spelling))
    signed = ["optimism", "low", "high"]
    for name in ("oracle", "nested", *signed):
        text = "{:+.4f}" if name in signed else "{:.4f}"
        lines[name] = (
            (lines[name].astype(float).round(4) + 0.0)
            .map(text.format, na_action="ignore")
            .fillna("")
        )
    lines["metric"] = lines["metric"].map(words_for)
    names = {
        "dataset": "data set",
        "metric": "measure",
        "low": "from",
        "high": "to",
        "n": "folds",
    }
    return lines[
        ["dataset", "model", *signed, "oracle", "nested", "n", "metric"]
    ].rename(columns=names)


def datasets_table(
    papers: Sequence[PaperResults], datasets: Iterable[DatasetSpec]
) -> pd.DataFrame:
    """Return a frame with a line for each data set; without any, it has no columns.

    The columns are name, title, task, rows, columns, tables (those that use it as a text; a dash if
    none does), licence and citation.
    """
    rows = [
        {"name": spec.name, "title": spec.title, "task": spec.task}
        | {"rows": spec.shape.instances, "columns": spec.shape.features}
        | {"tables": _tables_with(spec.name, papers) or "–"}
        | {"licence": spec.licence, "citation": spec.citation}
        for spec in datasets
    ]
    return pd.DataFrame(rows)


def _dataset_names(table: TableResults) -> set[str]:
    """Return the names of the data sets of a table, without settings such as `[density=0.1]`.

    They are those of its experiment's file, whether they have been run or not.
    """
    return {name.partition("[")[0] for name in table.file.spec.datasets}


def _tables_with(dataset: str, papers: Sequence[PaperResults]) -> str:
    """Return the tables that use a data set as text, such as "EEM: Tables 1, 4; Fig. 3".

    Papers are separated by full stops. It is empty if no table uses it.
    """
    texts = []
    for paper in papers:
        labels = [
            table.file.spec.label
            for table in paper.tables
            if dataset in _dataset_names(table)
        ]
        numbers = [
            label.removeprefix("Table ")
            for label in labels
            if label.startswith("Table ")
        ]
        others = [label for label in labels if not label.startswith("Table ")]
        word = "Table" if len(numbers) == 1 else "Tables"
        parts = [f"{word} {', '.join(numbers)}"] if numbers else []
        if parts or others:
            texts.append(f"{short_name(paper.paper)}: {'; '.join([*parts, *others])}")
    return ". ".join(texts)


def address(results: Results, name: str) -> str:
    """Return the address of a data file of a table under one profile.

    It is relative to the site's folder: "data/miller-table1-paper-figure.csv". `name`: its last
    part.
    """
    return f"data/{results.resolved.file.id.replace('/', '-')}-{results.resolved.profile}-{name}"


def sections_of(results: Results, *, include_extra: bool) -> Iterator[dict[str, Any]]:
    """Yield a dict for the template for each section of a table that has values to show.

    Its keys are `heading`, `intervals` ({(data set, model, column): text}), `short` (profile,
    selection and readings), `entry_tables`, `extra` (further ones) and `beside` (the names of their
    measures). Tables of more than `_MOST_COLUMNS` columns without a published value are left out.
    `include_extra`: put the remaining tables of the first section, of measures that the paper does
    not print, into `extra`; it is empty for other sections and other readings.
    """
    for section in results.table.sections:
        readings = ", ".join(map(str, section.readings))
        tables = [
            table
            for table in entry_tables_of(section, results.resolved)
            if table.has_published or len(table.columns) <= _MOST_COLUMNS
        ]
        # A table of times begins with them.
        is_of_times = results.table.columns[2].name == "fit"
        shown = _shown_entry_tables(tables, is_of_times=is_of_times)
        if not shown:
            continue
        is_first = section is results.table.sections[0]
        extra = []
        if include_extra and is_first and not readings:
            extra = [table for table in tables if table not in shown]
        short = f"profile {results.resolved.profile}, {section.select}"
        if readings:
            short += f", {readings}"
        measures = [entry.measure for table in extra for entry in table.entries]
        yield {
            "heading": section.heading,
            "intervals": interval_texts(results, section),
            "short": short,
            "entry_tables": shown,
            "extra": extra,
            "beside": measure_names(measures),
        }


def _shown_entry_tables(
    tables: Sequence[EntryTable], *, is_of_times: bool
) -> list[EntryTable]:
    """Return the tables of entries that a page shows first: those with published values.

    If none has any, it is the first table or, in a table of times, that of the fit times; the list
    is empty without tables.
    """
    with_published = [table for table in tables if table.has_published]
    if with_published:
        return with_published
    times = [
        table for table in tables if is_of_times and "fit_seconds" in table.measures
    ]
    return list(times or tables)[:1]


def measures_of(results: Results) -> list[list[str]]:
    """Return a list of texts for each metric of a table that has a verdict, under one profile.

    They are the metric in words and the other columns of `MEASURE_COLUMNS`.
    """
    lines = []
    for verdict in results.judged.verdicts:
        _, *measures = measure_texts(verdict)
        lines.append([words_for(verdict.metric), *measures])
    return lines


def _escaped(value: Any) -> Any:
    """Return a value of a template with control and bidirectional characters escaped.

    Only text changes; text that is already HTML stays HTML.
    """
    if isinstance(value, Markup):
        return Markup(escape(str(value)))
    return escape(value) if isinstance(value, str) else value


@cache
def environment() -> Environment:
    """Return the environment of the site's templates, which escapes all content as HTML.

    It has the functions and constants that templates use, and is made only once. A variable that a
    template lacks is an error.
    """
    # All content of a page is text: names and columns may come from anybody's files.
    loader = PackageLoader("elmbench.report.site")
    templates = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_escaped,
    )
    tables = optimism_table, datasets_table, reading_table
    parts = (
        amount,
        address,
        sections_of,
        rank_diagrams,
        optimism_notes,
        table_sentence,
        verdict_counts,
        facts_sentence,
        measures_of,
        measure_legend,
        measure_cells,
        own_margin_text,
        state_text,
        shares_of,
        n_compared,
        short_name,
        authors_of,
        claim_state,
        tables_without_verdict,
        interval_text,
        has_intervals,
        words_for,
    )
    functions = {function.__name__: function for function in (*tables, *parts)}
    constants: dict[str, Any] = {
        "version": version("elmbench"),
        "signs": ALL_SIGNS,
        "states": STATES,
        "source_address": _SOURCE,
        "docs_address": f"{_SOURCE}/blob/main/docs",
        "measure_columns": MEASURE_COLUMNS,
    }
    templates.globals |= constants | functions
    templates.filters["powers"] = with_powers
    return templates
