"""The pages of the site: each is a template filled with what was gathered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from elmbench.layouts.table import COMPARED, SIGNS, Printed
from elmbench.reporting.agreement import error_and_power
from elmbench.reporting.grids import GridFigure
from elmbench.reporting.papers import main_claims
from elmbench.reporting.site.charts import scatter, verdict_map
from elmbench.reporting.site.findings import Finding, find
from elmbench.reporting.site.gather import PaperResults, added
from elmbench.reporting.site.links import doc_page, paper_page, readings_page, table_page
from elmbench.reporting.site.listings import listings
from elmbench.reporting.site.markdown import documents
from elmbench.reporting.site.table_pages import LEGEND, table_context

#: The sign of each verdict, and of a figure without one.
_SIGNS = SIGNS | {"not run": "○"}


def pages(papers: Sequence[PaperResults]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page."""
    findings = find(papers)
    shown = [paper for paper in papers if any(table.results for table in paper.tables)]
    docs = documents()
    lists = list(listings(papers))
    navigation = [(paper_page(paper.paper.key), paper.paper.key) for paper in papers]
    navigation += [(one.page, one.name) for one in lists if one.name]
    guide = [(doc_page(document.stem), document.name) for document in docs]
    navigation += [(guide[0][0], "guide")] if guide else []
    stems = {document.stem for document in docs}
    rule = doc_page("verdicts") if "verdicts" in stems else "index.html"
    trust = doc_page("trust") if "trust" in stems else ""

    def page(name: str, template: str, **content: Any) -> tuple[str, str]:
        return name, environment().get_template(template).render(page=name, navigation=navigation, **content)

    yield page("index.html", "index.html", rule_page=rule, trust_page=trust, **_front(papers, findings))
    for paper in papers:
        of_paper = [finding for finding in findings if finding.paper == paper.paper.key]
        yield page(paper_page(paper.paper.key), "paper.html", **_paper(paper, of_paper))
    for paper in shown:
        for table in paper.tables:
            if table.results:
                yield page(table_page(table.file.id), "table.html", **table_context(paper, table))
    for one in lists:
        content = {"title": one.title, "introduction": one.introduction, "parts": one.parts}
        yield page(one.page, "listing.html", **content)
    for document in docs:
        content = {"title": document.title, "content": document.content, "guide": guide}
        yield page(doc_page(document.stem), "document.html", **content)


def _front(papers: Sequence[PaperResults], findings: Sequence[Finding]) -> dict[str, Any]:
    first = [table.results[0] for paper in papers for table in paper.tables if table.results]
    total = added([paper.verdicts for paper in papers])
    facts = added([paper.facts for paper in papers])
    picture, outside = scatter(papers)
    rows = [_count(paper_page(paper.paper.key), paper.paper.key, paper.verdicts) for paper in papers]
    return {
        "papers": papers,
        "findings": findings[:3],
        "rows": rows,
        "total": total,
        "compared": sum(total[verdict] for verdict in COMPARED),
        "facts": facts,
        "answers": [
            (paper_page(paper.paper.key), paper.paper.title, paper.answer.sentences[0] if paper.answer else "")
            for paper in papers
        ],
        "legend": LEGEND,
        "power": error_and_power(one for results in first for one in results.agreements),
        "scatter": picture,
        "outside": outside,
    }


def _paper(paper: PaperResults, findings: Sequence[Finding]) -> dict[str, Any]:
    key = paper.paper.key
    run = [table for table in paper.tables if table.results]
    return {
        "paper": paper.paper,
        "sentences": paper.answer.sentences if paper.answer else [],
        "main_claims": list(main_claims(paper.claims)),
        "findings": findings,
        "map": verdict_map(paper),
        "rows": [_count(table_page(one.file.id), one.file.spec.label, one.verdicts) for one in run if not one.facts],
        "fact_tables": [(table_page(one.file.id), one.file.spec.label) for one in run if one.facts],
        "readings": readings_page(key) if any(paper.readings.values()) else "",
        "unrun": [table.file for table in paper.tables if not table.results],
    }


def _count(page: str, name: str, verdicts: Mapping[str, int]) -> dict[str, Any]:
    return {"page": page, "name": name, "counts": verdicts, "total": sum(verdicts.values())}


@cache
def environment() -> Environment:
    """Return the environment of the templates, which escapes the content that they are filled with."""
    # All content of a page is text: names and columns may come from anybody's files.
    templates = Environment(
        loader=PackageLoader("elmbench.reporting.site"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    templates.globals |= {"version": version("elmbench"), "signs": _SIGNS, "verdicts": list(_SIGNS)}
    templates.filters["printed"] = _printed_text
    return templates


def _printed_text(figure: GridFigure) -> str:
    return Printed(figure.entry.published).text if figure.entry.published is not None else ""


def asset(name: str) -> str:
    """Return the text of a file that all pages share."""
    loader = environment().loader
    assert loader is not None  # it was made with one
    return loader.get_source(environment(), name)[0]
