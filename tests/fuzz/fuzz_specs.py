"""The YAML files of data sets, experiments and papers, and the CSV files of published figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from fuzz_feeding import Target
from fuzz_inputs import changed_bytes, changed_table, changed_tree
from hypothesis import strategies as st

from elmbench.layouts import layout_of
from elmbench.running.planning import make_plan
from elmbench.specs.catalogue import _as_read, _read_catalogue
from elmbench.specs.datasets import parse_dataset_specs
from elmbench.specs.files import read_yaml, spec_root
from elmbench.specs.profiles import resolve
from elmbench.specs.published import read_published
from elmbench.work.plan import Request

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
        assert spec.sources[0].title


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


TARGETS: dict[str, Target] = {
    "datasets": Target(datasets_inputs, feed_datasets),
    "experiment": Target(lambda: spec_inputs(EXPERIMENT), feed_experiment),
    "paper": Target(lambda: spec_inputs(PAPER), lambda content, at: feed_experiment(content, at, "paper.yaml")),
    "published": Target(published_inputs, feed_published),
}
