"""Keys of planned work: what they depend on, and what they do not."""

import os
import subprocess
import sys
from typing import Any

import pytest
from made_runs import MakePlan
from made_work import units
from toy_plans import families, keys

from elmbench.datasets import load
from elmbench.datasets.load import Identity
from elmbench.models import ELMClassifier
from elmbench.specs.experiments import PROFILES
from elmbench.tasks.base import key_of
from elmbench.tasks.plan import Plan

COLUMNS = {"ELM", "K-ELM", "OS-ELM", "FB-KOS-ELM"}


def put(content: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition("/")
    return content | {
        first: put(content.get(first, {}), rest, value) if rest else value
    }


def test_a_key_is_of_the_content() -> None:
    assert key_of({"a": 1, "b": [1.5, None]}) == key_of({"b": [1.5, None], "a": 1})
    different = [
        {"a": 1},
        {"a": 1.5},
        {"a": "1"},
        {"a": [1]},
        {"a": True},
        {"a": None},
        {"b": 1},
        {},
    ]
    assert len({key_of(content) for content in different}) == len(different)
    with pytest.raises(ValueError, match="JSON"):
        key_of({"a": float("nan")})


def test_keys_are_the_same_in_every_process(plan_table: MakePlan) -> None:
    code = """
from elmbench.tables.planning import make_plan
from elmbench.tasks.plan import RunRequest
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve
plan = make_plan(resolve(find_experiment("table4"), "ci"), RunRequest(datasets=("wdbc",)))
print(*plan.tasks)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": "3"},
    )  # fmt: skip
    assert done.stdout.split() == list(units(plan_table("table4", datasets=("wdbc",))))


CLAIM = {
    "says": "x",
    "dataset": "wdbc",
    "metric": "mcc",
    "model": "ELM",
    "is": "above",
    "than": ["K-ELM"],
}
#: Changes of the experiment, and the columns whose cells they change.
SENSITIVE: list[tuple[str, Any, set[str]]] = [
    ("title", "Another", set()),
    ("label", "Table 9", set()),
    ("aliases", ["uno"], set()),
    ("claims", [CLAIM], set()),
    ("limit", "time=5s", set()),
    ("profiles/fast", {"runs": 9}, set()),
    ("protocol/std", "of-folds", set()),
    ("protocol/metrics", ["mcc", "accuracy"], set()),
    ("protocol/metrics", ["gmean"], COLUMNS),
    ("protocol/order", "stored", COLUMNS),
    ("protocol/scale/fit-on", "train", COLUMNS),
    ("protocol/scale/range", [-1, 1], COLUMNS),
    ("protocol/outer/folds", 4, COLUMNS),
    ("protocol/outer/kind", "kfold", COLUMNS),
    ("protocol/inner/folds", 4, COLUMNS),
    ("grids/gamma", [1, 2], {"K-ELM", "FB-KOS-ELM"}),
    ("grids/n_hidden", [10, 30], {"ELM", "OS-ELM"}),
    ("grids/C", [8, 1], COLUMNS),
    ("models/FB-KOS-ELM/search", {"budget": [5, 10]}, {"FB-KOS-ELM"}),
    ("models/FB-KOS-ELM/carry-over", "folds", {"FB-KOS-ELM"}),
    ("models/FB-KOS-ELM/params", {"kernel": "rbf"}, {"FB-KOS-ELM"}),
    ("models/OS-ELM/params", {"initial_batch": 60}, {"OS-ELM"}),
    ("models/OS-ELM/like", None, {"OS-ELM"}),
    ("models/ELM/params", {"activation": "tanh"}, {"ELM", "OS-ELM"}),
    # Of equal candidates the first wins, so the order of the names counts.
    ("models/K-ELM/search", ["C", "gamma"], {"K-ELM", "FB-KOS-ELM"}),
]


def assert_changed(before: Plan, after: Plan, columns: set[str]) -> None:
    """Hold that the keys of all cells of these columns have changed, and those of no other
    column.
    """
    old, new = keys(before), keys(after)
    shown = {cell[0] for cell in new}
    assert {
        cell[0] for cell in old if cell in new and new[cell] != old[cell]
    } == columns
    assert {cell[0] for cell in old if new.get(cell) == old[cell]} == shown - columns
    # A change of any key is a change of the family: older cells of other runs become stale.
    assert {c for c in shown if families(before)[c] != families(after)[c]} == columns


@pytest.mark.parametrize("select", ["nested", "oracle"])
@pytest.mark.parametrize(
    ("path", "value", "columns"), SENSITIVE, ids=[f"{p}={v}" for p, v, _ in SENSITIVE]
)
def test_keys_depend_on_what_determines_a_result_and_on_nothing_else(
    plan_toy: MakePlan,
    experiment: dict[str, Any],
    path: str,
    value: Any,
    columns: set[str],
    select: str,
) -> None:
    if path == "protocol/inner/folds" and select == "oracle":
        columns = set()
    before = plan_toy(experiment, select=(select,))
    assert_changed(
        before, plan_toy(put(experiment, path, value), select=(select,)), columns
    )


@pytest.mark.parametrize(
    ("settings", "select", "columns"),
    [
        ({"tune-rows": 100}, "nested", COLUMNS),
        ({"tune-rows": 100}, "oracle", set()),
        ({"rows": 300}, "nested", COLUMNS),
        ({"thin-grids": 2}, "nested", COLUMNS),
        ({"datasets": ["wdbc"]}, "nested", set()),
        ({"models": ["ELM", "OS-ELM"]}, "nested", set()),
    ],
)
def test_keys_under_a_profile(
    plan_toy: MakePlan,
    experiment: dict[str, Any],
    settings: dict[str, Any],
    select: str,
    columns: set[str],
) -> None:
    """A cell has one key under all profiles that do not change its value."""
    after = plan_toy(
        put(experiment, "profiles/fast", settings), profile="fast", select=(select,)
    )
    assert {cell[0] for cell in keys(after)} == set(settings.get("models", COLUMNS))
    assert_changed(plan_toy(experiment, select=(select,)), after, columns)


def test_the_name_and_position_of_a_column_do_not_change_keys(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    before = set(keys(plan_toy(experiment)).values())
    models = experiment["models"]
    order = ("K-ELM", "ELM", "OS-ELM", "FB-KOS-ELM")
    experiment["models"] = {"K": models["K-ELM"]} | {
        name: models[name] for name in order
    }
    assert set(keys(plan_toy(experiment)).values()) == before


def test_another_version_of_a_model_and_other_data_are_other_results(
    plan_toy: MakePlan, experiment: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = plan_toy(experiment)
    with monkeypatch.context() as patch:
        patch.setattr(ELMClassifier, "model_version", ELMClassifier.model_version + 1)
        # The latter rests on the former's search.
        assert_changed(before, plan_toy(experiment), {"ELM", "OS-ELM"})
    monkeypatch.setattr(
        load, "identify", lambda *args, **more: Identity("another checksum")
    )
    after = plan_toy(experiment)
    assert not set(units(before)) & set(units(after))
    assert not set(families(before).values()) & set(families(after).values())


def test_data_that_are_redrawn_have_a_key_a_run(
    plan_table: MakePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(version: str) -> Plan:
        def identify(
            spec: object, data_dir: object, run: int, other_data: bool
        ) -> Identity:
            return Identity(f"{version} run {run}")

        monkeypatch.setattr(load, "identify", identify)
        return plan_table("table6", datasets=("mackey-glass",), models=("ELM",), runs=2)

    first, second = plan("1"), plan("2")
    identities = {
        (u["run"], u["dataset"]["run"], u["dataset"]["identity"])
        for u in units(first).values()
    }
    assert identities == {(0, 0, "1 run 0"), (1, 1, "1 run 1")}
    # Another generator makes the cells of runs stale that are not asked for now.
    assert not set(families(first).values()) & set(families(second).values())


def test_the_order_of_a_request_does_not_matter_and_tables_share_their_cells(
    plan_table: MakePlan,
) -> None:
    one = plan_table("table4", datasets=("wdbc",), models=("K-ELM", "ELM", "OS-ELM"))
    two = plan_table("table4", datasets=("wdbc",), models=("OS-ELM", "ELM", "K-ELM"))
    assert keys(one) == keys(two)
    whole = plan_table("table4", datasets=("wdbc",))
    assert keys(one).items() <= keys(whole).items()
    # Table VII shows the confusion counts of cells of Table IV.
    for profile in PROFILES:
        four = plan_table("table4", profile=profile, datasets=("wdbc",))
        seven = plan_table("table7", profile=profile, datasets=("wdbc",))
        assert keys(seven).items() <= keys(four).items()
        assert set(units(seven)) <= set(units(four))


@pytest.mark.parametrize(
    ("reading", "columns"),
    [
        ({"os-start": "ridge"}, {"OS-ELM"}),
        ({"ald-threshold": "as-printed"}, {"ALD-KOS-ELM"}),
        ({"carry-over": "folds"}, {"FB-KOS-ELM", "ALD-KOS-ELM"}),
        ({"order": "stored"}, COLUMNS | {"ALD-KOS-ELM"}),
        ({"c-grid": "all-powers"}, COLUMNS | {"ALD-KOS-ELM"}),
    ],
)
def test_a_reading_recomputes_only_what_it_touches(
    plan_table: MakePlan, reading: dict[str, str], columns: set[str]
) -> None:
    request: dict[str, Any] = {"profile": "paper", "datasets": ("wdbc",), "runs": 1}
    after = plan_table("table4", readings=reading, **request)
    assert_changed(plan_table("table4", **request), after, columns)
    assert {row.reading for row in after.cells} == {"=".join(*reading.items())}
