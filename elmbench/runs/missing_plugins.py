"""Tables of a user that need an object, such as a model or a metric, that no loaded plug-in
declares.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.metrics import all_metrics
from elmbench.registry import registry
from elmbench.registry.plugins import plugin_objects, plugin_splits
from elmbench.specs.datasets.source_registry import source_kinds
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.files import raw_names
from elmbench.specs.measures import MEASURES, is_measure
from elmbench.specs.splits import OUTER_KINDS, REPEATED_SCHEMES
from elmbench.tables import KINDS

_NEXT = (
    "correct it, or load the plug-in that declares it: "
    "plugins in elmbench.toml, or --plugin FILE"
)


def missing_plugin(
    file: ExperimentFile, unknown_sources: Mapping[str, str]
) -> ElmbenchError | None:
    """Return the error for the first object of a table that no loaded plug-in declares.

    Such an object is a model, a metric, a kind of split, table or source. None if the table lacks
    none. `unknown_sources`: {data set: its unknown kind of source}.
    """
    return next(_errors_of(file, unknown_sources), None)


def unknown_sources(content: Mapping[Any, Any]) -> dict[str, str]:
    """Return {data set: its first unknown kind of source}, without data sets that have none.

    `content`: of a `datasets.yaml`, {data set: entry}; it need not be valid.
    """
    known = source_kinds()
    unknown: dict[str, str] = {}
    for name, entry in content.items():
        for kind in _source_kinds(entry):
            if kind not in known:
                unknown.setdefault(str(name), kind)
    return unknown


def _source_kinds(entry: Any) -> Iterator[str]:
    """Yield the kinds of source of a data set that are texts, known or not.

    `entry`: of a `datasets.yaml`; it need not be valid.
    """
    sources = _mapping(entry).get("sources")
    if not isinstance(sources, list):
        return
    for source in sources:
        kind = _mapping(source).get("kind")
        if isinstance(kind, str):
            yield kind


def _errors_of(
    file: ExperimentFile, unknown_sources: Mapping[str, str]
) -> Iterator[ElmbenchError]:
    """Yield an error for each object that a table lacks, such as a model of a missing plug-in.

    They are on models, metrics, splits, the kind of table and the sources of its data sets, in this
    order. The content of the file need not be valid. `unknown_sources`: {data set: its unknown kind
    of source}.
    """
    protocol = _mapping(file.content.get("protocol"))
    yield from _errors_of_models(file)
    yield from _errors_of_metrics(file, protocol)
    yield from _errors_of_splits(file, protocol)
    layouts = [*KINDS, *plugin_objects("LAYOUTS")]
    layout = file.content.get("layout")
    if isinstance(layout, str) and layout not in layouts:
        yield _error("kind of table", layout, layouts, file)
    sources = source_kinds()
    for dataset in raw_names(file.content, "datasets"):
        if dataset in unknown_sources:
            error = _error("kind of source", unknown_sources[dataset], sources, file)
            yield error.add_source(f"the data set {dataset}")


def _mapping(content: Any) -> Mapping[Any, Any]:
    """Return the content of a YAML key if it is a mapping, else an empty one."""
    return content if isinstance(content, dict) else {}


def _errors_of_models(file: ExperimentFile) -> Iterator[ElmbenchError]:
    """Yield an error for each unknown model of a table.

    A model that is an address, with a colon, is not checked.
    """
    known = list(registry())
    columns = _mapping(file.content.get("models"))
    for column in columns.values():
        model = _mapping(column).get("model")
        if not isinstance(model, str):
            continue
        is_address = ":" in model
        if not is_address and model not in known:
            yield _error("model", model, known, file)


def _errors_of_metrics(
    file: ExperimentFile, protocol: Mapping[Any, Any]
) -> Iterator[ElmbenchError]:
    """Yield an error for each metric of a table that is neither a metric nor another measure.

    `protocol`: the protocol of the file, as it is written; it need not be valid.
    """
    known = list(dict.fromkeys([*all_metrics(), *MEASURES]))
    for metric in raw_names(protocol, "metrics"):
        if not is_measure(metric):
            yield _error("metric", metric, known, file)


def _errors_of_splits(
    file: ExperimentFile, protocol: Mapping[Any, Any]
) -> Iterator[ElmbenchError]:
    """Yield an error for each unknown kind of split, of the outer and of the inner splits.

    `protocol`: the protocol of the file, as it is written; it need not be valid.
    """
    known = [*OUTER_KINDS, *REPEATED_SCHEMES, *plugin_splits()]
    for part in ("outer", "inner"):
        splits = _mapping(protocol.get(part))
        kind = splits.get("kind")
        if isinstance(kind, str) and kind not in known:
            yield _error("kind of split", kind, known, file)


def _error(
    kind: str, name: str, known: list[str], file: ExperimentFile
) -> ElmbenchError:
    """Return the error for an unknown name in a table, with the path of its file.

    `kind`: what the name stands for, such as "model". `known`: the names that exist.
    """
    return unknown_name(kind, name, known, _NEXT).add_source(file.path)
