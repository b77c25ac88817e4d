"""A damaged store."""

from __future__ import annotations

import functools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from fuzz_feeding import Target
from fuzz_inputs import changed_bytes
from fuzz_specs import EXPERIMENT, PAPER, as_yaml

from elmbench.layouts import layout_of
from elmbench.reporting.cells import Order, cells_frame
from elmbench.running.attempt import attempt
from elmbench.running.planning import make_plan
from elmbench.running.store import Store
from elmbench.specs.catalogue import _read_catalogue
from elmbench.specs.profiles import Resolved, resolve
from elmbench.work.base import Context
from elmbench.work.plan import Request
from elmbench.workflow.status import table_status


@dataclass(frozen=True)
class Made:
    """A small table that was computed: its plan, its results by key, and its store."""

    resolved: Resolved
    plan: Any
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
        store, results = Store(folder), {}
        environment = store.put_environment({"python": "3"})
        for key, work in plan.works.items():
            inputs = {need: results[need] for need in work.needs}
            results[key] = attempt(work, inputs, Context())
            for part, result in work.split(results[key]) if hasattr(work, "split") else [(work, results[key])]:
                store.put(part, result, environment)
        store.add_cells("ci", "toy/one", plan.cells, "elmbench run toy/one")
        store.close()
        (log,) = (store.root / "records").glob("*.log")
        return Made(resolved, plan, log.read_bytes(), results)


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
    store.mend()
    assert store.damaged == 0
    work = next(iter(kept.plan.works.values()))
    store.put(work, {"status": "ok", "reason": ""}, "e")
    store.close()
    assert Store(folder).result(work.key) == {"status": "ok", "reason": ""}


TARGETS: dict[str, Target] = {
    "store": Target(lambda: changed_bytes([made().log]), feed_store),
}
