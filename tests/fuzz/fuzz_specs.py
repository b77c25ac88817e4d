"""The YAML file of data sets."""

from pathlib import Path
from typing import Any

import yaml
from fuzz_inputs import Target, changed_bytes, changed_tree
from hypothesis import strategies as st

from elmbench.specs.datasets import parse_dataset_specs
from elmbench.specs.files import read_yaml, spec_root


def as_yaml(content: Any) -> bytes:
    """Return a tree as YAML, lone halves of characters as question marks."""
    return yaml.safe_dump(content, allow_unicode=True, sort_keys=False).encode(
        "utf-8", "replace"
    )


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
    trees = [dict([item]) for item in every.items() if "like" not in item[1]]
    trees.append({name: every[name] for name in ("abalone", "abalone7")})
    return changed_tree(trees, dumped) | changed_bytes(
        [as_yaml(tree) for tree in trees]
    )


TARGETS: dict[str, Target] = {"datasets": Target(datasets_inputs, feed_datasets)}
