"""Every kind of work: what is read back from its content, its key, and that keys are those of results from before."""

from __future__ import annotations

from typing import Any

import pytest

from elmbench.running.planning import make_plan
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.profiles import resolve
from elmbench.work import work_from
from elmbench.work.base import key_of
from elmbench.work.plan import Request

PLACE = {
    "format": 1,
    "task": "classification",
    "dataset": {"name": "two", "identity": "abc", "run": 0, "options": {}, "rows": None},
    "protocol": {
        "scale": {"range": [0.0, 1.0], "fit-on": "all"},
        "outer": {"kind": "stratified-kfold", "folds": 3},
        "order": "shuffled",
    },
    "run": 0,
    "fold": 2,
}
MODEL = {"model": "k-elm", "version": "1", "stream": "k-elm"}
GRID = {"grid": {"gamma": [0.5, 4.0], "C": [0.1, 1.0]}, "grid_order": ["gamma", "C"]}
SEARCH = {"params": {}, "given": None, "metric": "mcc"}
INNER = {"inner": {"kind": "stratified-kfold", "folds": 3}, "tune_rows": None}
SIZES = {"grid": {"n_hidden": [1, 10]}, "grid_order": ["n_hidden"], "params": {"activation": "rbf"}}
VALUES = {"grid": {"C": [1.0, 2.0]}, "grid_order": ["C"]}
DRAWS = {"projections": 100, "operators": 100}
NO_FOLD = {name: value for name, value in PLACE.items() if name != "fold"} | {"protocol": {"scale": None}}
#: Content of stored results, and the keys that they have had since the first version.
KNOWN: list[tuple[dict[str, Any], str]] = [
    (
        {**PLACE, **MODEL, "kind": "cell", "params": {"C": 2.0}, "carry_over": "none", "chosen": "s"},
        "73c90a53a1a7d21a42602016e5d9bbfa",
    ),
    (
        {**PLACE, **MODEL, "kind": "cell", "params": {}, "carry_over": "folds", "chosen": None},
        "0f0f6685fcfae11864c0b3e7673af116",
    ),
    (
        {**PLACE, **MODEL, "kind": "cell", "params": {}, "carry_over": "none", "chosen": None, "train_accuracy": True},
        "922762e48fa5f7da255ebcef5805a5d1",
    ),
    ({**PLACE, **MODEL, **GRID, **SEARCH, **INNER, "kind": "search"}, "7931522a41512e9fa4da9d714b4c8c11"),
    (
        {**PLACE, **MODEL, **GRID, **SEARCH, **INNER, "kind": "search", "given": "g", "paths": False, "tune_rows": 100},
        "53f73d82beca2d61a82abe550ee1b36f",
    ),
    ({**PLACE, **MODEL, **GRID, **SEARCH, "kind": "grid"}, "84ade066343867cd283748d99a333a3a"),
    ({"kind": "choice", **GRID, "given": None, "evaluated": ["a", "b"]}, "066f07d41b7f3a73da10a9d3c3c5fc0a"),
    (
        {**PLACE, **MODEL, **GRID, "params": {}, "given": None, "kind": "divergence", "tune_rows": None},
        "aec91d2efd53690e60862ab280543eeb",
    ),
    (
        {"kind": "choice", **GRID, "criterion": "dcs-gaussians", "dcs": "corrected", "given": None, "evaluated": ["a"]},
        "31afa5f13177ed373d69a2e0c3e644b1",
    ),
    (
        {"kind": "choice", **GRID, "criterion": "dcs-kde", "given": "g", "evaluated": ["a"]},
        "8f32f2c2bdaa9ab4e399483b0409409b",
    ),
    (
        {**PLACE, **MODEL, **VALUES, "params": {}, "kind": "curve", "metric": "gmean"},
        "4ff469c11d1a26091e539cd4b41a046d",
    ),
    ({**PLACE, **MODEL, "kind": "stream", "params": {}, "chunk": 40}, "24a6b172c34cb661b4eecd1c96b06889"),
    (
        {**NO_FOLD, **MODEL, **SIZES, "kind": "correlation", "draws": DRAWS, "dcs": "corrected"},
        "7c6e6a05e26cd77f865fc2bd90467614",
    ),
    (
        {"format": 1, "task": "classification", "dataset": PLACE["dataset"], "kind": "description"},
        "3b5aec67c02b8cf143f6e80ff63e25df",
    ),
    (
        {
            "format": 1, "task": "regression", "dataset": PLACE["dataset"], "kind": "description",
            "outer": {"kind": "holdout", "train": None, "test": 20},
        },
        "9062eb89c11a0219bf99f47198d3fa50",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("content", "key"), KNOWN, ids=[content["kind"] for content, _ in KNOWN])
def test_keys_stay_what_they_are(content: dict[str, Any], key: str) -> None:
    """Stored results of users are looked up by these keys."""
    work = work_from(content)
    assert work.content() == content
    assert work.key == key


@pytest.mark.exhaustive
@pytest.mark.parametrize("profile", ["ci", "fast", "paper"])
def test_work_is_read_back_from_its_content(profile: str) -> None:
    kinds = set()
    for file in load_catalogue().values():
        if profile not in file.profiles:
            continue
        for select in ((), ("nested",)):
            plan = make_plan(resolve(file, profile), Request(without_data=True, runs=1, select=select))
            for key, work in list(plan.works.items())[:: 1 if profile == "ci" else 50]:
                again = work_from(work.content(), work.data.spec if work.data else None)
                assert type(again) is type(work)
                assert again == work
                assert again.key == key == key_of(work.content())
                assert again.needs == work.needs
                assert (again.seconds(), again.number_of_fits) == (work.seconds(), work.number_of_fits)
                assert work.label
                kinds.add(work.kind)
    assert {"cell", "search", "grid", "choice", "divergence", "curve", "correlation", "stream"} <= kinds
