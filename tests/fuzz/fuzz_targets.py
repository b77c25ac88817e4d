"""What is fed with inputs that are nearly right: everything that reads what somebody else has written.

Whatever it is given, a target either uses it or refuses it by one `ElmbenchError`. It raises nothing else, comes back,
and takes no more memory than its files have any right to.
"""

from __future__ import annotations

import bz2
import contextlib
import functools
import gzip
import io
import json
import lzma
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import yaml
from fuzz_inputs import changed_bytes, changed_table, changed_tree
from hypothesis import strategies as st

from elmbench.datasets.load import load_files
from elmbench.datasets.own import OwnData, describe
from elmbench.datasets.sources.folder import Files
from elmbench.datasets.sources.openml import _read_sparse
from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.planning import make_plan
from elmbench.reporting.baseline import compare_with_baseline
from elmbench.reporting.cells import Order, cells_frame, read_cells, write_frame
from elmbench.reporting.folders import results_folder
from elmbench.reporting.results import Results, read_results
from elmbench.reporting.writers.html import html
from elmbench.reporting.writers.latex import latex
from elmbench.reporting.writers.markdown import markdown
from elmbench.running.attempt import judged, produced
from elmbench.running.executors.lines import Garbled, checked, written
from elmbench.running.store import Store
from elmbench.specs.catalogue import _as_read, _read_catalogue, find_experiment
from elmbench.specs.datasets import DatasetSpec, parse_dataset_specs
from elmbench.specs.files import read_yaml, spec_root
from elmbench.specs.profiles import Resolved, resolve
from elmbench.specs.published import read_published
from elmbench.work.base import Context
from elmbench.work.plan import Request
from elmbench.workflow.checks import check_baselines, check_published
from elmbench.workflow.status import table_status


@dataclass(frozen=True)
class Target:
    """What is fed, and with what.

    Attributes
    ----------
    inputs : callable
        Returns a strategy of bytes.
    feed : callable
        Takes bytes and an empty folder.
    """

    inputs: Callable[[], st.SearchStrategy[bytes]]
    feed: Callable[[bytes, Path], None]


# --- Files of rows

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(12, 3)), 2)
X[3, 1] = np.nan
WORD = np.array(["red", "blue"])[RNG.integers(0, 2, 12)]
LABEL = np.array(["no", "yes"])[np.arange(12) % 2]
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "colour": WORD, "target": LABEL})
SPARSE = sp.csr_matrix(np.where(np.nan_to_num(X) > 0, np.nan_to_num(X), 0))


def rows_spec(features: int, **changes: Any) -> DatasetSpec:
    """Return the spec of the rows above."""
    classes = {"no": 6, "yes": 6} if features == 4 else {-1: 6, 1: 6}
    content: dict[str, Any] = {
        "title": "Rows", "task": "classification", "positive": [list(classes)[1]], "citation": "none",
        "shape": {"instances": 12, "features": features, "classes": classes},
        "sources": [{"kind": "openml", "id": 1}],
    }  # fmt: skip
    if features == 4:
        content |= {"prepare": [{"step": "one-hot"}, {"step": "drop-missing-rows"}]}
        content |= {"prepared": {"instances": 11, "features": 4}}
    return parse_dataset_specs({"rows": content | changes}, "rows.yaml").find("rows")


def csv_bytes() -> bytes:
    return FRAME.to_csv(index=False).encode()


def arff_bytes() -> bytes:
    kinds = ["NUMERIC", "REAL", "INTEGER", "{red, blue}", "{'no',yes}"]
    head = [f"@ATTRIBUTE '{name}' {kind}" for name, kind in zip(FRAME, kinds, strict=True)]
    rows = FRAME.to_csv(index=False, header=False, na_rep="?")
    return ("% rows\n@RELATION rows\n" + "\n".join(head) + "\n@DATA\n" + rows).encode()


def sparse_arff_bytes() -> bytes:
    head = [f"@ATTRIBUTE x{place} NUMERIC" for place in range(3)] + ["@ATTRIBUTE class {no,yes}"]
    rows = [", ".join(f"{j} {v:g}" for j, v in zip(r.indices, r.data, strict=True)) for r in SPARSE]
    lines = ["{" + row + ("" if i % 2 else ", 3 yes" if row else "3 yes") + "}" for i, row in enumerate(rows)]
    return "\n".join(["@RELATION rows", *head, "@DATA", *lines, ""]).encode()


def svm_bytes() -> bytes:
    rows = [" ".join(f"{j + 1}:{v:g}" for j, v in zip(r.indices, r.data, strict=True)) for r in SPARSE]
    return "".join(f"{1 if i % 2 else -1} {row} # {i}\n" for i, row in enumerate(rows)).encode()


def parquet_bytes(**how: Any) -> bytes:
    stream = io.BytesIO()
    FRAME.to_parquet(stream, **how)
    return stream.getvalue()


def npz_bytes(save: Callable[..., None] = np.savez, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    save(stream, **arrays)
    return stream.getvalue()


def npz_seeds() -> list[bytes]:
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    parts = {"data": SPARSE.data, "indices": SPARSE.indices, "indptr": SPARSE.indptr, "shape": np.array(SPARSE.shape)}
    dense = {"X": np.nan_to_num(X), "target": y}
    return [npz_bytes(**dense), npz_bytes(np.savez_compressed, **dense), npz_bytes(**parts, target=y)]


@st.composite
def changed_arrays(draw: st.DrawFn) -> bytes:
    """Return an archive whole as such, of which the values, types and shapes are none of a data set."""
    with np.load(io.BytesIO(draw(st.sampled_from(npz_seeds())))) as archive:
        parts = dict(archive)
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted(parts)))
        part = parts[name]
        kind = draw(st.sampled_from(["f8", "i8", "u8", "i4", "?", "c16", "S3", "U3", "M8[s]", "f4", "f2"]))
        match draw(st.sampled_from(["type", "value", "shape", "remove"])):
            case "type":
                with contextlib.suppress(ValueError, TypeError), np.errstate(all="ignore"):
                    parts[name] = part.astype(kind)
            case "value" if part.size and part.dtype.kind in "fiu":
                number = draw(st.sampled_from([0, -1, 1, 3, 100, 2**31, 2**62, -(2**62)]))
                with contextlib.suppress(OverflowError):
                    parts[name] = part.copy()
                    parts[name].flat[draw(st.integers(0, part.size - 1))] = number
            case "shape":
                parts[name] = np.resize(part, draw(st.sampled_from([(), (0,), (1,), (12,), (13,), (12, 1), (2, 3, 2)])))
            case "remove" if len(parts) > 1:
                del parts[name]
    return npz_bytes(**parts)


def rows(ending: str, *seeds: bytes, table: bool = False, own: bool = True) -> Target:
    """Return the target of a format: as a file of the suite's data and as one of the user's own."""

    def feed(content: bytes, folder: Path) -> None:
        (folder / f"rows.{ending}").write_bytes(content)
        spec = rows_spec(3 if ending.startswith(("svm", "npz")) else 4)
        refused = 0
        try:
            data = load_files(Files(whole=folder / f"rows.{ending}"), spec)
            assert data.X.shape[0] == len(data.y) <= 12
            stored = data.X.data if sp.issparse(data.X) else data.X
            assert stored.dtype.kind == "f"
            assert not np.isnan(stored).any()
        except ElmbenchError:
            refused += 1
        try:
            described = describe(OwnData(str(folder / f"rows.{ending}")), folder)
            assert described.shape.instances > 0
        except ElmbenchError:
            refused += 1
        if refused == 2:
            raise ElmbenchError("refused")

    def inputs() -> st.SearchStrategy[bytes]:
        found = changed_bytes(seeds)
        if table:
            found |= changed_table([content.decode() for content in seeds])
        return found | changed_arrays() if ending == "npz" else found

    return Target(inputs, feed)


def feed_sparse_arff(content: bytes, folder: Path) -> None:
    path = folder / "rows.arff"
    path.write_bytes(content)
    table = _read_sparse(path, lambda names: "class" if "class" in names else names[-1], 10_000)
    assert table.X.shape[0] == len(table.target)


# --- Specs

EXPERIMENT = """
id: toy/one
label: Table I
title: Something
aliases: [one]
datasets: [wdbc]
protocol:
  scale: {range: [0, 1]}
  outer: {kind: stratified-kfold, folds: 3, runs: 2}
  inner: {kind: stratified-kfold, folds: 2}
  select: nested
  metrics: [mcc, fit_seconds]
grids:
  C: [1, 8]
  gamma: {powers-of-2: [-3, 0]}
  n_hidden: &nodes {from: 10, to: 30, step: 10}
models:
  ELM: {model: elm, search: [n_hidden, C]}
  K-ELM: {model: k-elm, search: [gamma, C]}
  OS-ELM: {model: os-elm, like: ELM, params: {initial_batch: 50}}
  FB-KOS-ELM: {model: fb-kos-elm, like: K-ELM, search: {budget: [5, 10, 15]}}
readings: [order]
profiles:
  ci: {runs: 1, thin-grids: 2}
  fast: {tune-rows: 100}
"""
PAPER = """
key: toy
title: A paper
authors: A. Author
year: 2020
doi: 10.0/0
readings:
  order:
    question: In which order?
    values:
      shuffled: {says: any}
      stored: {says: as is, set: {protocol: {order: stored}}}
"""


def as_yaml(content: Any) -> bytes:
    """Return a tree as YAML, lone halves of characters as question marks."""
    return yaml.safe_dump(content, allow_unicode=True, sort_keys=False).encode("utf-8", "replace")


def dumped(content: Any) -> bytes:
    try:
        return as_yaml(content)
    except (yaml.YAMLError, ValueError):
        return repr(content).encode("utf-8", "replace")


def feed_datasets(content: bytes, folder: Path) -> None:
    path = folder / "datasets.yaml"
    path.write_bytes(content)
    for spec in parse_dataset_specs(read_yaml(path), str(path)).values():
        assert spec.stem
        assert spec.network_sources is not None


def datasets_inputs() -> st.SearchStrategy[bytes]:
    every = read_yaml(spec_root() / "datasets.yaml")
    few = [dict([item]) for item in every.items() if "like" not in item[1]]
    families = [{name: every[name] for name in ("abalone", "abalone7") if name in every}]
    trees = [*few, *families]
    return changed_tree(trees, dumped) | changed_bytes([as_yaml(tree) for tree in trees])


def feed_experiment(content: bytes, folder: Path, name: str = "one.yaml") -> None:
    toy = folder / "experiments" / "toy"
    toy.mkdir(parents=True)
    (toy / "paper.yaml").write_text(PAPER)
    (toy / "one.yaml").write_text(EXPERIMENT)
    (toy / name).write_bytes(content)
    _as_read.cache_clear()
    for file in _read_catalogue(folder).values():
        for profile in ("ci", "fast", "paper"):
            resolved = resolve(file, profile)
            layout_of(resolved).values(resolved)
            make_plan(resolved, Request(without_data=True, runs=1))


def spec_inputs(text: str) -> st.SearchStrategy[bytes]:
    tree = yaml.safe_load(text)
    return changed_tree([tree], dumped) | changed_bytes([text.encode()])


def feed_published(content: bytes, folder: Path) -> None:
    path = folder / "one.csv"
    path.write_bytes(content)
    read_published.cache_clear()
    read_published(path)


def published_inputs() -> st.SearchStrategy[bytes]:
    found = [spec_root() / "experiments" / name for name in ("kos-elm/table4.csv", "eem/table3.csv")]
    texts = ["\n".join(path.read_text().splitlines()[:12]) + "\n" for path in found]
    return changed_table(texts) | changed_bytes([text.encode() for text in texts])


# --- Results


@functools.cache
def baselines() -> dict[str, str]:
    """Return the baselines of the shipped tables: the cells of profile `ci`."""
    found = sorted((spec_root() / "experiments").glob("*/*.baseline.csv"))
    return {f"{path.parent.name}/{path.name.split('.')[0]}": path.read_text() for path in found}


@functools.cache
def resolved_table(name: str) -> Resolved:
    return resolve(find_experiment(name), "ci")


def feed_cells(content: bytes, folder: Path) -> None:
    """Take cells through all that reads them; the first line says of which table they are."""
    line, _, cells = content.partition(b"\n")
    name = line.decode("utf-8", "replace")
    if name not in baselines():
        raise ElmbenchError("no table")
    path = results_folder(folder, "ci", name) / "cells.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(cells)
    try:
        resolved = resolved_table(name)
        check_baselines([name], "ci", folder)
        check_published([name], "ci", folder)
        show(read_results(resolved, folder))
    except ElmbenchError:
        whole = path.with_name("whole.csv")
        whole.write_text(baselines()[name])
        # The same as the other side of a comparison.
        resolved = resolved_table(name)
        compare_with_baseline(read_cells(whole), path, layout_of(resolved).values(resolved))


def show(results: Results) -> None:
    """Write results in every form."""
    for text in (results.text, html(results.table), latex(results.table), markdown(results.table, ["a"])):
        assert isinstance(text, str)
    json.dumps(results.summary_lines())


def cells_inputs() -> st.SearchStrategy[bytes]:
    def of(name: str) -> st.SearchStrategy[bytes]:
        lines = baselines()[name].splitlines()
        text = "\n".join(lines[:15]) + "\n"
        found = changed_table([text, with_times(text)]) | changed_bytes([text.encode()])
        return found.map(lambda content: name.encode() + b"\n" + content)

    return st.sampled_from(sorted(baselines())).flatmap(of)


def with_times(text: str) -> str:
    """Return a baseline with the columns that only `cells.csv` has."""
    first, *rest = text.splitlines()
    extra = [",fit_seconds,search_seconds,predict_seconds,reason", *([",0.5,,0.1,"] * len(rest))]
    return "".join(f"{line}{more}\n" for line, more in zip([first, *rest], extra, strict=True))


# --- The store and the answers of workers


@dataclass(frozen=True)
class Made:
    """A small table that was computed: its plan, what the worker answered, by key, and its store."""

    resolved: Resolved
    plan: Any
    answers: dict[str, dict[str, Any]]
    log: bytes
    results: dict[str, Any]


@functools.cache
def made() -> Made:
    """Compute two models of a table on WDBC, nested and oracle."""
    import tempfile

    content = yaml.safe_load(EXPERIMENT)
    content["protocol"]["select"] = ["nested", "oracle"]
    content["models"] = {
        "K-ELM": {"model": "k-elm", "search": {"gamma": [0.125, 1], "C": [1, 8]}},
        "FB-KOS-ELM": {"model": "fb-kos-elm", "like": "K-ELM", "search": {"budget": [5, 10]}},
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toy = folder / "experiments" / "toy"
        toy.mkdir(parents=True)
        (toy / "paper.yaml").write_text(PAPER)
        (toy / "one.yaml").write_bytes(as_yaml(content))
        resolved = resolve(_read_catalogue(folder)["toy/one"], "ci")
        plan = make_plan(resolved, Request(runs=1))
        store, answers, results = Store(folder), {}, {}
        environment = store.put_environment({"python": "3"})
        for key, work in plan.works.items():
            inputs = {need: results[need] for need in work.needs}
            answers[key] = json.loads(json.dumps(produced(work, inputs, Context())))
            results[key] = judged(work, answers[key], Context())
            for part, result in work.split(results[key]) if hasattr(work, "split") else [(work, results[key])]:
                store.put(part, result, environment)
        store.add_cells("ci", "toy/one", plan.cells, "elmbench run toy/one")
        store.close()
        (log,) = (store.root / "records").glob("*.log")
        return Made(resolved, plan, answers, log.read_bytes(), results)


def feed_answer(content: bytes, folder: Path) -> None:
    """Take the answer of a worker through to the table; the first line is the number of the work."""
    line, _, answer = content.partition(b"\n")
    kept = made()
    work = list(kept.plan.works.values())[int(line)]
    try:
        result = judged(work, checked(answer, 7), Context())
    except Garbled as error:
        raise ElmbenchError(str(error)) from error
    assert result["status"] in ("ok", "diverged", "out-of-memory", "failed")
    store = Store(folder)
    environment = store.put_environment({"python": "3"})
    for other in kept.plan.works.values():
        store.put(other, result if other is work else kept.results[other.key], environment)
    store.add_cells("ci", "toy/one", kept.plan.cells, "elmbench run")
    table_status(store)
    values = [measure.column for measure in layout_of(kept.resolved).values(kept.resolved)]
    frame = cells_frame(kept.plan.cells, store, values, Order(kept.resolved))
    path = results_folder(folder, "ci", "toy/one") / "cells.csv"
    write_frame(frame, path)
    store.close()
    # What is computed once must be readable ever after.
    try:
        show(read_results(kept.resolved, folder))
    except ElmbenchError as error:
        raise AssertionError(f"the answer spoils the table: {error}") from error


def answer_inputs() -> st.SearchStrategy[bytes]:
    answers = list(made().answers.values())

    def of(place: int) -> st.SearchStrategy[bytes]:
        answer = answers[place] | {"number": 7}
        found = changed_tree([answer], as_json) | changed_bytes([written(answer)])
        return found.map(lambda content: b"%d\n" % place + content.replace(b"\n", b" "))

    return st.integers(0, len(answers) - 1).flatmap(of)


def as_json(content: Any) -> bytes:
    try:
        return json.dumps(content).encode()
    except (TypeError, ValueError):
        return repr(content).encode("utf-8", "replace")


def feed_store(content: bytes, folder: Path) -> None:
    """Read a damaged store: what it gives back is what was put, or nothing."""
    kept = made()
    records = folder / ".store" / "records"
    records.mkdir(parents=True)
    (records / "000001-x-1-aa.log").write_bytes(content)
    store = Store(folder)
    for key, result in kept.results.items():
        found = store.result(key)
        assert found is None or found == json.loads(json.dumps(result))
    assert set(store.cells("ci", "toy/one")) <= set(kept.plan.cells)
    table_status(store)
    values = [measure.column for measure in layout_of(kept.resolved).values(kept.resolved)]
    cells_frame(kept.plan.cells, store, values, Order(kept.resolved))
    assert store.mend() == 0
    work = next(iter(kept.plan.works.values()))
    store.put(work, {"status": "ok", "reason": ""}, "e")
    store.close()
    assert Store(folder).result(work.key) == {"status": "ok", "reason": ""}


TARGETS: dict[str, Target] = {
    "csv": rows("csv", csv_bytes(), table=True),
    "csv.gz": rows("csv.gz", gzip.compress(csv_bytes()), gzip.compress(csv_bytes() * 40)),
    "csv.bz2": rows("csv.bz2", bz2.compress(csv_bytes())),
    "csv.xz": rows("csv.xz", lzma.compress(csv_bytes())),
    "arff": rows("arff", arff_bytes()),
    "sparse-arff": Target(lambda: changed_bytes([sparse_arff_bytes()]), feed_sparse_arff),
    "svm": rows("svm", svm_bytes()),
    "npz": rows("npz", *npz_seeds()),
    "parquet": rows("parquet", parquet_bytes(), parquet_bytes(compression="gzip")),
    "datasets": Target(datasets_inputs, feed_datasets),
    "experiment": Target(lambda: spec_inputs(EXPERIMENT), feed_experiment),
    "paper": Target(lambda: spec_inputs(PAPER), lambda content, at: feed_experiment(content, at, "paper.yaml")),
    "published": Target(published_inputs, feed_published),
    "cells": Target(cells_inputs, feed_cells),
    "store": Target(lambda: changed_bytes([made().log]), feed_store),
    "answer": Target(answer_inputs, feed_answer),
}


def feed(name: str, content: bytes, folder: Path) -> None:
    """Feed a target, which must use the input or refuse it by one error of a few lines."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        TARGETS[name].feed(content, folder)
    except ElmbenchError as error:
        check_refusal(error)
    finally:
        shutil.rmtree(folder)


def check_refusal(refused: ElmbenchError) -> None:
    """Fail where memory or the stack had run out before an input was refused, or where pages are said of it."""
    cause: BaseException | None = refused
    while cause is not None:
        assert not isinstance(cause, MemoryError | RecursionError), f"refused by {type(cause).__name__}"
        cause = cause.__cause__ or cause.__context__
    assert len(str(refused)) < 20_000, "a message of pages"


__all__ = ["TARGETS", "Target", "feed"]
