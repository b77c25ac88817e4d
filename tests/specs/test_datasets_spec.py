"""`datasets.yaml`: what it may say, and how a data set is found by name."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpecs, load_dataset_specs, parse_dataset_specs
from elmbench.specs.datasets.sources import GeneratorSource, OpenMLSource

ENTRY = """
toy:
  title: Toy
  aliases: [TOY SET]
  task: classification
  positive: [b]
  shape: {instances: 10, features: 2, classes: {a: 6, b: 4}}
  papers:
    eem: {name: TOY SET, features: 3, negatives: 6, positives: 5, note: rounded}
  sources:
    - {kind: openml, id: 7}
  citation: Nobody, never.
"""


def parse(text: str, **changes: Any) -> DatasetSpecs:
    content = yaml.safe_load(text)
    content["toy"].update(changes)
    return parse_dataset_specs(content, "toy.yaml")


def test_every_shipped_entry_is_valid() -> None:
    specs = load_dataset_specs()
    assert {"wdbc", "sylva", "calhousing", "mackey-glass"} <= set(specs)
    for spec in specs.values():
        assert spec.title
        assert spec.citation
        assert spec.sources


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("wdbc", "wdbc"),
        ("WDBC", "wdbc"),
        ("Wdbc", "wdbc"),
        ("Sylva", "sylva"),
        ("Calhousing", "calhousing"),
        ("California Housing", "calhousing"),
        ("Mackey-Glass", "mackey-glass"),
    ],
)
def test_names_and_aliases(name: str, found: str) -> None:
    assert load_dataset_specs().find(name).name == found


def test_unknown_name_says_the_likeliest_one_and_the_next_command() -> None:
    with pytest.raises(ElmbenchError, match="did you mean 'wdbc'") as error:
        load_dataset_specs().find("wdcb")
    assert error.value.next_step == "elmbench list datasets"
    # There are too many to spell them out.
    assert len(str(error.value)) < 200


def test_names_that_differ_in_case_alone_are_told_apart_or_refused() -> None:
    other = yaml.safe_load(ENTRY)["toy"] | {"aliases": ["Toy Set"]}
    specs = parse_dataset_specs({**yaml.safe_load(ENTRY), "other": other}, "toy.yaml")
    assert specs.find("TOY SET").name == "toy"
    assert specs.find("Toy Set").name == "other"
    with pytest.raises(ElmbenchError, match=r"'TOY SET' \(toy\), 'Toy Set' \(other\)"):
        specs.find("toy set")


@pytest.mark.parametrize("alias", ["TOY SET", "toy"])
def test_an_alias_stands_once(alias: str) -> None:
    other = yaml.safe_load(ENTRY)["toy"] | {"aliases": [alias]}
    with pytest.raises(ElmbenchError, match=f"alias '{alias}'"):
        parse_dataset_specs({**yaml.safe_load(ENTRY), "other": other}, "toy.yaml")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tittle": "x"}, "unknown key 'toy.tittle'; allowed here: .*title"),
        ({"positive": ["c"]}, "'c' is none of the classes a, b"),
        ({"task": "regression"}, "no positive class"),
        ({"positive": [], "shape": {"instances": 10, "features": 2}}, "needs the classes"),
        ({"shape": {"instances": 11, "features": 2, "classes": {"a": 6, "b": 4}}}, "sum to 10, not to 11"),
        ({"shape": {"instances": 10, "features": 2, "classes": 2, "split": [5, 4]}}, "does not sum to 10"),
        ({"redraw": "run"}, "only generated data"),
        ({"sources": []}, "at least 1 item"),
        ({"sources": [{"kind": "ftp"}]}, "kind"),
        ({"sources": [{"kind": "openml"}]}, r"toy\.sources\.0\.openml\.id' is missing"),
        ({"sources": [{"kind": "libsvm", "train": "http://x"}]}, "either url, or both"),
        ({"prepare": [{"step": "scale"}]}, "step"),
    ],
)
def test_what_an_entry_must_not_say(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ElmbenchError, match=message):
        parse(ENTRY, **changes)


def test_specs_are_frozen() -> None:
    spec = parse(ENTRY)["toy"]
    with pytest.raises(ValidationError):
        spec.title = "other"  # type: ignore[misc]


def test_labels_may_be_written_as_numbers() -> None:
    spec = parse(ENTRY, positive=[1], shape={"instances": 3, "features": 1, "classes": {-1: 2, 1: 1}})["toy"]
    assert spec.positive == ("1",)
    assert spec.shape.classes == {"-1": 2, "1": 1}
    assert spec.positives == 1


def test_a_variant_takes_over_all_but_names_and_papers() -> None:
    content = yaml.safe_load(ENTRY)
    content["toy-two"] = {"like": "toy", "title": "Toy, both", "positive": []}
    variant = parse_dataset_specs(content, "toy.yaml")["toy-two"]
    assert variant.stem == "toy"
    assert variant.title == "Toy, both"
    assert variant.positive == ()
    assert variant.aliases == ()
    assert variant.papers == {}
    assert isinstance(variant.sources[0], OpenMLSource)
    content["toy-two"]["like"] = "nothing"
    with pytest.raises(ElmbenchError, match=r"'toy-two\.like' is 'nothing'"):
        parse_dataset_specs(content, "toy.yaml")


def test_differences_from_the_paper_are_told() -> None:
    spec = parse(ENTRY)["toy"]
    assert spec.differences("eem") == (
        "features: 3 in the paper, 2 in the data",
        "positive rows: 5 in the paper, 4 in the data",
        "rounded",
    )
    assert spec.differences("rkelm") == ()
    assert load_dataset_specs()["sylva"].differences("kos-elm") == ("instances: 14394 in the paper, 14395 in the data",)


def test_mackey_glass_is_redrawn_with_the_default_noise_first() -> None:
    spec = load_dataset_specs()["mackey-glass"]
    assert spec.redraw == "run"
    assert isinstance(spec.generator, GeneratorSource)
    assert spec.generator.options == {"noise_variance": (1.5e-4, 0.0, 1e-4, 2e-4)}
