"""A store that is damaged, and the answers of workers."""

from __future__ import annotations

import functools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from fuzz_cells import show
from fuzz_feeding import Target
from fuzz_inputs import changed_bytes, changed_tree
from fuzz_specs import EXPERIMENT, PAPER, as_yaml
from hypothesis import strategies as st

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.planning import make_plan
from elmbench.reporting.cells import Order, cells_frame, write_frame
from elmbench.reporting.folders import results_folder
from elmbench.reporting.results import read_results
from elmbench.running.attempt import judged, produced
from elmbench.running.executors.lines import Garbled, checked, written
from elmbench.running.store import Store
from elmbench.specs.catalogue import _read_catalogue
from elmbench.specs.profiles import Resolved, resolve
from elmbench.work.base import Context
from elmbench.work.plan import Request
from elmbench.workflow.status import table_status


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
    "store": Target(lambda: changed_bytes([made().log]), feed_store),
    "answer": Target(answer_inputs, feed_answer),
}
