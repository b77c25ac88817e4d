"""Tables of a user that need an object, such as a model or a metric, that no loaded plug-in
declares.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.metrics import all_metrics
from elmbench.registry import registry
from elmbench.registry.plugins import plugin_objects, plugin_splits
from elmbench.specs.datasets.sources import source_kinds
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.files import raw_names
from elmbench.specs.protocol import MEASURES, OUTER_KINDS, REPEATED_SCHEMES, is_measure
from elmbench.tables import KINDS

_NEXT = (
    "correct it, or load the plug-in that declares it: "
    "plugins in elmbench.toml, or --plugin FILE"
)


def missing_plugin(
    file: ExperimentFile, unknown_sources: Mapping[str, str]
) -> ElmbenchError | None:
    """Return the error of a table that lacks a plug-in; None if it lacks none.

    `unknown_sources`: the unknown kinds of source of data sets, by name.
    """
    return next(_errors_of(file, unknown_sources), None)


def unknown_sources(content: Mapping[Any, Any]) -> dict[str, str]:
    """Return the first unknown kind of source of each data set that has one, by name."""
    known = source_kinds()
    unknown: dict[str, str] = {}
    for name, entry in content.items():
        for kind in _source_kinds(entry):
            if kind not in known:
                unknown.setdefault(str(name), kind)
    return unknown


def _source_kinds(entry: Any) -> Iterator[str]:
    """Yield the kinds of source of a data set, whose description may have any form."""
    sources = entry.get("sources") if isinstance(entry, dict) else None
    if not isinstance(sources, list):
        return
    for source in sources:
        kind = source.get("kind") if isinstance(source, dict) else None
        if isinstance(kind, str):
            yield kind


def _errors_of(
    file: ExperimentFile, unknown_sources: Mapping[str, str]
) -> Iterator[ElmbenchError]:
    """Yield an error for each object that a table lacks. Its content may have any form."""
    models = list(registry())
    columns = file.content.get("models")
    for column in columns.values() if isinstance(columns, dict) else ():
        model = column.get("model") if isinstance(column, dict) else None
        if isinstance(model, str) and ":" not in model and model not in models:
            yield _error("model", model, models, file)
    protocol = file.content.get("protocol")
    for metric in raw_names(protocol, "metrics") if isinstance(protocol, dict) else ():
        if not is_measure(metric):
            yield _error(
                "metric", metric, list(dict.fromkeys((*all_metrics(), *MEASURES))), file
            )
    kinds = [*OUTER_KINDS, *REPEATED_SCHEMES, *plugin_splits()]
    splits = protocol if isinstance(protocol, dict) else {}
    for part in (splits.get("outer"), splits.get("inner")):
        kind = part.get("kind") if isinstance(part, dict) else None
        if isinstance(kind, str) and kind not in kinds:
            yield _error("kind of split", kind, kinds, file)
    layouts = [*KINDS, *plugin_objects("LAYOUTS")]
    layout = file.content.get("layout")
    if isinstance(layout, str) and layout not in layouts:
        yield _error("kind of table", layout, layouts, file)
    sources = source_kinds()
    for dataset in raw_names(file.content, "datasets"):
        if dataset in unknown_sources:
            error = _error("kind of source", unknown_sources[dataset], sources, file)
            yield error.add_source(f"the data set {dataset}")


def _error(
    kind: str, name: str, known: list[str], file: ExperimentFile
) -> ElmbenchError:
    return unknown_name(kind, name, known, _NEXT).add_source(file.path)
