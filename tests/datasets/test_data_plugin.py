"""A kind of source from a plug-in file or a package."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback import toy

from elmbench.datasets.fetch import fetch_dataset
from elmbench.datasets.find import dataset_statuses
from elmbench.datasets.load import identify, load_dataset, load_from_spec
from elmbench.datasets.sources import Source
from elmbench.errors import ElmbenchError
from elmbench.registry.plugins import loaded_plugins
from elmbench.specs.datasets import DatasetSpec, add_dataset_specs, parse_dataset_specs
from elmbench.specs.datasets.source_registry import BUILT_IN, source_class

PLUGIN = """
import numpy as np
from elmbench.datasets.sources import Source, SourceRequest
from elmbench.datasets.table import Table

class Spiral(Source):
    turns: float

    def load(self, request):
        angle = np.linspace(0, 2 * np.pi * self.turns, request.spec.shape.instances)
        X = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
        return Table.of_numbers(X, np.arange(len(X)) % 2, self.title)

SOURCES = {"spiral": Spiral}
"""
SHAPE = {"instances": 40, "features": 2, "classes": {0: 20, 1: 20}}
ENTRY = toy({"kind": "spiral", "turns": 2}, shape=SHAPE)["toy"]


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "spirals.py"
    path.write_text(PLUGIN)
    with loaded_plugins([path]):
        yield path


@pytest.fixture
def spec(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> DatasetSpec:
    import elmbench.specs.datasets as package

    monkeypatch.setattr(package, "_user_specs", {})
    specs = parse_dataset_specs({"spiral": ENTRY}, "my.yaml")
    add_dataset_specs(specs.values())
    return specs["spiral"]


def test_a_data_set_of_a_new_kind_is_loaded(spec: DatasetSpec) -> None:
    data = load_dataset("spiral")
    assert data.X.shape == (40, 2)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1)[-1], 4 * np.pi)
    assert identify(spec).checksum == data.checksum
    assert dataset_statuses(["spiral"])[0].state == "bundled"
    assert "nothing to fetch" in fetch_dataset("spiral").origin
    # A worker process gets the spec as JSON.
    assert (
        DatasetSpec.model_validate(spec.model_dump(mode="json", by_alias=True)) == spec
    )


def test_another_version_of_a_kind_is_loaded_again(
    spec: DatasetSpec, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = identify(spec)
    plugin.write_text(PLUGIN.replace("np.cos(angle)", "np.cos(2 * angle)"))
    with loaded_plugins([plugin]):
        changed = DatasetSpec.model_validate(
            spec.model_dump(mode="json", by_alias=True)
        )
        assert (
            identify(changed).checksum
            == load_from_spec(changed).checksum
            != first.checksum
        )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("return 1 // 0", "ZeroDivisionError: "),
        ("return X", r"TypeError: load returns array\("),
    ],
)
def test_a_kind_that_fails_ends_with_a_message(
    spec: DatasetSpec, plugin: Path, code: str, message: str
) -> None:
    plugin.write_text(PLUGIN.replace("return Table", f"{code}; Table"))
    with (
        loaded_plugins([plugin]),
        pytest.raises(
            ElmbenchError, match=f"the source spiral of spiral fails: {message}"
        ),
    ):
        load_from_spec(
            DatasetSpec.model_validate(spec.model_dump(mode="json", by_alias=True))
        )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"kind": "spiral"}, r"'spiral.sources.0.turns' is missing"),
        (
            {"kind": "spiral", "turns": 1, "turn": 2},
            "unknown key 'spiral.sources.0.turn'; allowed here: .*turns",
        ),
        (
            {"kind": "spirals", "turns": 1},
            "the kind of source is 'spirals', not one of .*archive, spiral",
        ),
    ],
)
def test_options_of_a_plugin_source_are_validated(
    plugin: Path, source: dict[str, Any], message: str
) -> None:
    with pytest.raises(ElmbenchError, match=message):
        parse_dataset_specs({"spiral": ENTRY | {"sources": [source]}}, "my.yaml")


def test_every_kind_of_the_suite_is_one_file() -> None:
    classes = {kind: source_class(kind) for kind in BUILT_IN}
    assert len({chosen.__module__ for chosen in classes.values()}) == len(BUILT_IN)
    assert all(
        issubclass(chosen, Source) and chosen.__doc__ for chosen in classes.values()
    )


def test_a_kind_without_a_load_is_named(tmp_path: Path) -> None:
    path = tmp_path / "spirals.py"
    path.write_text(PLUGIN.replace("def load", "def read"))
    with (
        loaded_plugins([path]),
        pytest.raises(ElmbenchError, match="'spiral' has no load"),
    ):
        parse_dataset_specs({"spiral": ENTRY}, "my.yaml")
