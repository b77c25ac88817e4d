"""`datasets.yaml`: what it may say, and how a data set is found by name."""

from typing import Any

import pytest
import yaml
from sentences import pattern

from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import (
    DatasetSpecs,
    load_dataset_specs,
    parse_dataset_specs,
)

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


def test_names_and_aliases_of_any_case_find_a_data_set() -> None:
    names = (
        "wdbc",
        "WDBC",
        "Wdbc",
        "Sylva",
        "Calhousing",
        "California Housing",
        "Mackey-Glass",
    )
    full_names = [load_dataset_specs().find(name).name for name in names]
    assert full_names == [
        "wdbc",
        "wdbc",
        "wdbc",
        "sylva",
        "calhousing",
        "calhousing",
        "mackey-glass",
    ]


def test_an_unknown_name_is_an_error_with_the_nearest_name_and_the_next_command() -> (
    None
):
    with pytest.raises(ElmbenchError, match="did you mean 'wdbc'") as error:
        load_dataset_specs().find("wdcb")
    assert error.value.next_step == "elmbench list datasets"
    # There are too many to spell them out.
    assert len(str(error.value)) < 200


def test_names_that_differ_in_case_alone_are_distinguished_or_rejected() -> None:
    other = yaml.safe_load(ENTRY)["toy"] | {"aliases": ["Toy Set"]}
    specs = parse_dataset_specs({**yaml.safe_load(ENTRY), "other": other}, "toy.yaml")
    assert specs.find("TOY SET").name == "toy"
    assert specs.find("Toy Set").name == "other"
    with pytest.raises(ElmbenchError, match="unknown data set 'toy set'"):
        specs.find("toy set")


@pytest.mark.parametrize("alias", ["TOY SET", "toy"])
def test_an_alias_is_unique(alias: str) -> None:
    other = yaml.safe_load(ENTRY)["toy"] | {"aliases": [alias]}
    with pytest.raises(ElmbenchError, match=f"alias '{alias}'"):
        parse_dataset_specs({**yaml.safe_load(ENTRY), "other": other}, "toy.yaml")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tittle": "x"}, "unknown key 'toy.tittle'; allowed here: .*title"),
        ({"positive": [True]}, "'toy.positive.0' is True: expected a label in quotes"),
        (
            {"positive": ["c"]},
            pattern("specs.datasets.positive-class-unknown", label="c", classes="a, b"),
        ),
        ({"task": "regression"}, "no positive class"),
        (
            {"positive": [], "shape": {"instances": 10, "features": 2}},
            "needs the classes",
        ),
        ({"positive": []}, "of two classes, `positive` must name"),
        (
            {"shape": {"instances": 11, "features": 2, "classes": {"a": 6, "b": 4}}},
            "sum to 10, not to 11",
        ),
        (
            {"shape": {"instances": 10, "features": 2, "classes": 2, "split": [5, 4]}},
            "does not sum to 10",
        ),
        ({"redraw": "run"}, "only generated data"),
        ({"sources": []}, "at least 1 item"),
        (
            {"sources": [{"kind": "ftp"}]},
            pattern("specs.datasets.unknown-kind-of-source", kind="'ftp'"),
        ),
        (
            {"sources": [{"kind": ["file"]}]},
            pattern("specs.datasets.unknown-kind-of-source", kind="['file']"),
        ),
        (
            {"sources": [{"kind": "openml", "id": 1, "ids": 2}]},
            r"unknown key 'toy.sources.0.ids'; allowed .*target",
        ),
        ({"sources": [{"kind": "openml"}]}, r"toy\.sources\.0\.id' is missing"),
        ({"sources": [{"kind": "libsvm", "train": "http://x"}]}, "either url, or both"),
        (
            {"sources": [{"kind": "libsvm", "url": "http://x", "test": "http://y"}]},
            "either url, or both",
        ),
        ({"prepare": [{"step": "scale"}]}, "step"),
        ({"file": "../../x"}, "cannot be a file's name"),
        ({"file": "a\0"}, "cannot be a file's name"),
        ({"like": ["a"]}, "'toy.like' is"),
        ({"aliases": 5}, "'toy.aliases' is 5"),
        ({"aliases": [["a"]]}, "'toy.aliases.0': expected text"),
    ],
)
def test_keys_of_a_data_set_that_are_not_valid_are_rejected(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ElmbenchError, match=message):
        parse(ENTRY, **changes)


def test_of_many_faults_the_first_are_named() -> None:
    with pytest.raises(ElmbenchError) as caught:
        parse(ENTRY, aliases=[0] * 300)
    assert "'toy.aliases.19' is 0" in str(caught.value)
    assert "'toy.aliases.20'" not in str(caught.value)
    assert "more\nNext: " in str(caught.value)


def test_labels_may_be_written_as_numbers() -> None:
    spec = parse(
        ENTRY,
        positive=[1],
        shape={"instances": 3, "features": 1, "classes": {-1: 2, 1: 1}},
    )["toy"]
    assert spec.positive == ("1",)
    assert spec.shape.classes == {"-1": 2, "1": 1}
    assert spec.shape.count(spec.positive) == 1


def test_a_variant_takes_over_all_but_names_and_papers() -> None:
    content = yaml.safe_load(ENTRY)
    content["toy-two"] = {"like": "toy", "title": "Toy, both", "positive": ["b"]}
    variant = parse_dataset_specs(content, "toy.yaml")["toy-two"]
    assert (variant.stem, variant.title, variant.sources[0].kind) == (
        "toy",
        "Toy, both",
        "openml",
    )
    assert (variant.positive, variant.aliases, variant.papers) == (("b",), (), {})
    content["toy-two"]["like"] = "nothing"
    with pytest.raises(ElmbenchError, match=r"'toy-two\.like' is 'nothing'"):
        parse_dataset_specs(content, "toy.yaml")


@pytest.mark.parametrize(
    "name",
    [
        "sparse-10k[density=0.6]",
        "Sparse-10K[density=.60]",
        "sparse-10k[density = 6e-1]",
    ],
)
def test_a_name_may_fix_an_option(name: str) -> None:
    spec, base = load_dataset_specs().find(name), load_dataset_specs()["sparse-10k"]
    assert (spec.name, spec.base, spec.stem) == (
        "sparse-10k[density=0.6]",
        "sparse-10k",
        "sparse-10k[density=0.6]",
    )
    assert spec.options == {"density": 0.6}
    assert (base.base, base.options) == ("sparse-10k", {"density": 0.1})
    assert (spec.shape, spec.redraw, spec.title) == (
        base.shape,
        base.redraw,
        base.title,
    )
    # A worker process gets the spec as JSON.
    assert (
        type(spec).model_validate(spec.model_dump(mode="json", by_alias=True)) == spec
    )


def test_a_data_set_like_another_shares_its_files_unless_it_has_options() -> None:
    specs = load_dataset_specs()
    assert specs["sparse-1m"].stem == "sparse-10k"
    assert specs.find("sparse-1m[density=0.6]").stem == "sparse-1m[density=0.6]"


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        (
            "sparse-10k[density=0.7]",
            "'density' of sparse-10k is 0.7",
            "one of 0.1, 0.6, 0.4",
        ),
        ("sparse-10k[size=0.6]", "no option 'size'", "density"),
        (
            "wdbc[density=0.6]",
            "wdbc has no option 'density'",
            "none: this data set has no options",
        ),
        (
            "sparse-10k[0.6]",
            pattern(
                "specs.datasets.unknown-option", option="0.6", dataset="sparse-10k[0.6]"
            ),
            "OPTION=NUMBER",
        ),
        ("sparse-10k[density=much]", "'density=much'", "OPTION=NUMBER"),
        ("sparse-10k[]", "is not an option", "OPTION=NUMBER"),
        (
            "sparse-10[density=0.6]",
            "did you mean 'sparse-10k'",
            "elmbench list datasets",
        ),
        (
            "sparse-10k[density=0.6",
            "did you mean 'sparse-10k'",
            "elmbench list datasets",
        ),
    ],
)
def test_options_that_are_not_declared(name: str, found: str, expected: str) -> None:
    with pytest.raises(ElmbenchError, match=found) as error:
        load_dataset_specs().find(name)
    assert expected in (error.value.expected or "") + (error.value.next_step or "")


def test_options_are_in_the_order_of_their_declaration() -> None:
    options = {"density": [0.1, 0.5], "noise": [0, 1]}
    source = {"kind": "generator", "generator": "sparse", "options": options}
    specs = parse_dataset_specs(
        {"toy": yaml.safe_load(ENTRY)["toy"] | {"sources": [source]}}, "toy.yaml"
    )
    assert specs.find("TOY SET[noise=1,density=0.5]").name == "toy[density=0.5,noise=1]"
    assert specs.find("toy[noise=1]").with_options({"density": 0.5}).options == {
        "density": 0.5,
        "noise": 1,
    }
    with pytest.raises(ElmbenchError, match=r"'noise' of .* is 0"):
        specs.find("toy[noise=1]").with_options({"noise": 0})


def test_an_entry_cannot_set_its_name() -> None:
    with pytest.raises(ElmbenchError, match=r"'toy\.name' is 'zzz'") as error:
        parse(ENTRY, name="zzz")
    assert "no key 'name'" in str(error.value.expected)


def test_the_key_of_a_data_set_can_be_a_file_name() -> None:
    with pytest.raises(ElmbenchError, match="cannot be a file's name"):
        parse_dataset_specs({"a/b": yaml.safe_load(ENTRY)["toy"]}, "toy.yaml")


def test_the_key_of_a_data_set_has_no_options() -> None:
    with pytest.raises(ElmbenchError, match="'toy\\[a=1\\]' has options"):
        parse_dataset_specs({"toy[a=1]": yaml.safe_load(ENTRY)["toy"]}, "toy.yaml")
