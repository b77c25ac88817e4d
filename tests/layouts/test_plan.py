"""Plans: the cells that are asked for, what leads to them, and what their keys depend on."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from made_work import needs, units

from elmbench.datasets import Identity
from elmbench.errors import ElmbenchError
from elmbench.models import ELMClassifier
from elmbench.specs.experiments import PROFILES
from elmbench.work import planner
from elmbench.work.base import key_of
from elmbench.work.plan import Cell, Plan

MakePlan = Callable[..., Plan]
COLUMNS = {"ELM", "K-ELM", "OS-ELM", "FB-KOS-ELM"}


def keys(plan: Plan) -> dict[tuple[Any, ...], str]:
    return {(row.model, row.run, row.fold, row.select): row.key for row in plan.cells}


def kinds(plan: Plan) -> Counter[str]:
    return Counter(unit["kind"] for unit in units(plan).values())


def families(plan: Plan) -> dict[str, str]:
    return {row.model: row.family for row in plan.cells}


def put(content: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(content)
    *way, last = path.split("/")
    place = changed
    for key in way:
        place = place.setdefault(key, {})
    place[last] = value
    return changed


# --- What is planned -------------------------------------------------------------------------------------------------


def test_every_cell_once_and_every_unit_after_what_it_needs(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    for select in (("nested",), ("oracle",), ("nested", "oracle")):
        plan = plan_toy(experiment, select=select)
        assert len(plan.cells) == len(keys(plan)) == 4 * 2 * 3 * len(select)
        seen: set[str] = set()
        for key, unit in units(plan).items():
            assert key == key_of(unit)
            assert seen.issuperset(needs(unit))
            seen.add(key)
        assert {row.key for row in plan.cells} <= set(units(plan))
        needed = {name for unit in units(plan).values() for name in needs(unit)}
        assert set(units(plan)) == needed | {row.key for row in plan.cells}
        json.dumps(units(plan))


def test_a_stand_in_is_planned_and_can_be_asked_for(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    content = experiment | {"datasets": ["sylva"], "profiles": {"ci": {"stand-ins": ["wdbc"], "runs": 1}}}
    assert {row.dataset for row in plan_toy(content, profile="ci").cells} == {"wdbc"}
    assert {row.dataset for row in plan_toy(content, profile="ci", datasets=("wdbc",)).cells} == {"wdbc"}
    # As any other for the task of the table.
    assert {row.dataset for row in plan_toy(content, datasets=("wdbc",)).cells} == {"wdbc"}


def test_nested_searches_each_fold_and_shares_along_chains(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    plan = plan_toy(experiment)
    # ELM, K-ELM and FB-KOS-ELM search; OS-ELM takes ELM's.
    assert kinds(plan) == {"cell": 24, "search": 18}
    for row in plan.cells:
        cell = units(plan)[row.key]
        search = units(plan)[cell["chosen"]]
        assert (search["run"], search["fold"]) == (cell["run"], cell["fold"]) == (row.run, row.fold)
        assert search["dataset"] == cell["dataset"]
        if row.model == "OS-ELM":
            assert (search["model"], search["stream"], cell["stream"]) == ("elm", "elm", "elm")
            assert search["grid"] == {"n_hidden": [10, 20], "C": [1, 8]}
            assert cell["params"] == {"initial_batch": 50}
        if row.model == "FB-KOS-ELM":
            assert search["grid"] == {"budget": [5, 10, 15]}
            assert units(plan)[search["given"]]["model"] == "k-elm"
            assert units(plan)[search["given"]]["fold"] == row.fold
            assert cell["stream"] == "k-elm"


def test_oracle_evaluates_every_fold_and_chooses_once(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    plan = plan_toy(experiment, select=("oracle",))
    assert kinds(plan) == {"cell": 24, "grid": 18, "choice": 3}
    for unit in units(plan).values():
        if unit["kind"] == "choice":
            places = [(units(plan)[key]["run"], units(plan)[key]["fold"]) for key in unit["evaluated"]]
            assert places == [(run, fold) for run in range(2) for fold in range(3)]
    choices = {(row.model, units(plan)[row.key]["chosen"]) for row in plan.cells}
    assert len(choices) == 4
    assert len({choice for _, choice in choices}) == 3  # OS-ELM has ELM's


def test_published_hyperparameters_are_fixed(plan_table: MakePlan) -> None:
    plan = plan_table("table4", profile="fast", datasets=("wdbc",), runs=1)
    assert kinds(plan) == {"cell": 15}
    found = {row.model: units(plan)[row.key]["params"] for row in plan.cells}
    elm, kernel = {"n_hidden": 300, "C": 192.0}, {"gamma": 0.3, "C": 98.0}
    assert found == {
        "ELM": elm,
        "K-ELM": kernel,
        "OS-ELM": elm | {"initial_batch": 250, "batch_size": 200},
        "FB-KOS-ELM": kernel | {"budget": 200},
        "ALD-KOS-ELM": kernel | {"delta": 0.65},
    }
    assert {row.select for row in plan.cells} == {"published"}


def test_what_a_column_fixes_stands_against_what_is_printed(plan_table: MakePlan, tmp_path: Any) -> None:
    """F = 800 is the point of that experiment, although Table III prints 400."""
    plan = plan_table("text-budget", profile="fast", without_data=True)
    assert {units(plan)[row.key]["params"]["budget"] for row in plan.cells if row.model == "FB-KOS-ELM"} == {800}


def test_a_column_without_printed_hyperparameters_is_searched(plan_table: MakePlan) -> None:
    plan = plan_table("table4", profile="fast", datasets=("wdbc",), models=("K-ELM", "svm"), runs=1)
    assert {row.model: row.select for row in plan.cells} == {"K-ELM": "published", "svm": "nested"}
    assert {unit["model"] for unit in units(plan).values() if unit["kind"] == "search"} == {"svm"}


def test_a_cell_stands_once_although_two_selections_come_to_the_same(plan_table: MakePlan) -> None:
    plan = plan_table("table4", datasets=("wdbc",), models=("svm",), runs=1, select=("published", "nested"))
    assert len(plan.cells) == 3


# --- What is asked for -----------------------------------------------------------------------------------------------


def test_columns_by_any_of_their_names(plan_table: MakePlan) -> None:
    for name in ("K-ELM", "k-elm", "K-elm"):
        assert {row.model for row in plan_table("table4", datasets=("wdbc",), models=(name,)).cells} == {"K-ELM"}
    both = plan_table("table4", datasets=("WDBC",), models=("kos-elm", "ELM"))
    assert {row.model for row in both.cells} == {"kos-elm", "ELM"}


def test_baselines_are_columns_more(plan_table: MakePlan) -> None:
    found = {row.model for row in plan_table("table4", datasets=("wdbc",), with_baselines=True).cells}
    assert {"ELM", "K-ELM", "OS-ELM", "FB-KOS-ELM", "ALD-KOS-ELM", "ridge", "svm", "extra-trees"} <= found


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"models": ("selm",)}, "unknown model 'selm'"),
        ({"datasets": ("wbcd",)}, "unknown data set 'wbcd'"),
        ({"datasets": ("calhousing",)}, "kos-elm/table4 is about classification; 'calhousing' is for regression"),
    ],
)
def test_names_that_do_not_exist(plan_table: MakePlan, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(ElmbenchError, match=message):
        plan_table("table4", **request_)


def test_data_that_are_not_here(plan_table: MakePlan) -> None:
    plan = plan_table("table4", profile="fast", datasets=("sylva", "wdbc"), models=("K-ELM", "svm"), runs=1)
    missing = [row for row in plan.cells if row.dataset == "sylva"]
    assert len(missing) == 20
    assert all("elmbench data fetch sylva" in row.unavailable and not row.key for row in missing)
    # In the places that they would have if the data were here.
    assert {row.model: row.select for row in missing} == {"K-ELM": "published", "svm": "nested"}
    assert {unit["dataset"]["name"] for unit in units(plan).values()} == {"wdbc"}


def test_facts_of_data_that_are_not_here(plan_table: MakePlan) -> None:
    rows = {row.dataset: row for row in plan_table("table2", profile="fast").cells}
    assert set(rows) == {"sylva", "calhousing", "wdbc", "mackey-glass"}
    assert rows["sylva"].unavailable
    assert not rows["wdbc"].unavailable


def test_runs_are_added_to(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    few, many = plan_toy(experiment, runs=1), plan_toy(experiment, runs=5)
    assert keys(few).items() <= keys(many).items()
    assert families(few) == families(many)


def test_more_runs_make_another_choice_of_oracle(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    """Cells that were chosen over fewer runs must not stand beside those chosen over more."""
    few, many = (plan_toy(experiment, runs=runs, select=("oracle",)) for runs in (1, 2))
    assert not set(families(few).values()) & set(families(many).values())
    assert not set(keys(few).values()) & set(keys(many).values())
    evaluated = [{key for key, unit in units(plan).items() if unit["kind"] == "grid"} for plan in (few, many)]
    # What has no chain before it is evaluated once.
    assert len(evaluated[0] & evaluated[1]) == 6


# --- Keys ------------------------------------------------------------------------------------------------------------


def test_a_key_is_of_the_content() -> None:
    assert key_of({"a": 1, "b": [1.5, None]}) == key_of({"b": [1.5, None], "a": 1})
    different = [{"a": 1}, {"a": 1.5}, {"a": "1"}, {"a": [1]}, {"a": True}, {"a": None}, {"b": 1}, {}]
    assert len({key_of(content) for content in different}) == len(different)
    with pytest.raises(ValueError, match="JSON"):
        key_of({"a": float("nan")})


def test_keys_are_the_same_in_every_process(plan_table: MakePlan) -> None:
    code = """
from elmbench.layouts.planning import make_plan
from elmbench.work.plan import Request
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve
plan = make_plan(resolve(find_experiment("table4"), "ci"), Request(datasets=("wdbc",)))
print(*plan.works)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, timeout=60, env=os.environ | {"PYTHONHASHSEED": "3"},
    )  # fmt: skip
    assert done.stdout.split() == list(units(plan_table("table4", datasets=("wdbc",))))


CLAIM = {"says": "x", "dataset": "wdbc", "metric": "mcc", "model": "ELM", "is": "above", "than": ["K-ELM"]}
#: What is changed in the experiment, and the columns whose cells become others by it.
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


@pytest.mark.parametrize("select", ["nested", "oracle"])
@pytest.mark.parametrize(("path", "value", "columns"), SENSITIVE, ids=[f"{p}={v}" for p, v, _ in SENSITIVE])
def test_keys_depend_on_what_determines_a_result_and_on_nothing_else(
    plan_toy: MakePlan, experiment: dict[str, Any], path: str, value: Any, columns: set[str], select: str
) -> None:
    if path == "protocol/inner/folds" and select == "oracle":
        columns = set()
    before = plan_toy(experiment, select=(select,))
    after = plan_toy(put(experiment, path, value), select=(select,))
    old, new = keys(before), keys(after)
    changed = {place[0] for place in old if new.get(place) != old[place]}
    assert changed == columns
    unchanged = {place[0] for place in old if new.get(place) == old[place]}
    assert unchanged == COLUMNS - columns
    # A change of any key is a change of the family: older cells of other runs become stale.
    assert {column for column in COLUMNS if families(before)[column] != families(after)[column]} == columns


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
    plan_toy: MakePlan, experiment: dict[str, Any], settings: dict[str, Any], select: str, columns: set[str]
) -> None:
    """A cell has one key whatever the profile is called, unless the profile changes its value."""
    before = plan_toy(experiment, select=(select,))
    after = plan_toy(put(experiment, "profiles/fast", settings), profile="fast", select=(select,))
    new = keys(after)
    changed = {place[0] for place, key in keys(before).items() if place in new and new[place] != key}
    assert changed == columns
    shown = set(settings.get("models", COLUMNS))
    assert {c for c in shown if families(before)[c] != families(after)[c]} == columns


@pytest.mark.parametrize("select", ["nested", "oracle"])
def test_searches_without_shared_work_are_results_of_their_own(
    plan_toy: MakePlan, experiment: dict[str, Any], select: str
) -> None:
    experiment["models"]["ridge"] = {"model": "ridge", "search": ["C"]}
    experiment["models"]["fixed"] = {"model": "k-elm", "params": {"gamma": 1.0, "C": 1.0}}
    shared = plan_toy(experiment, select=(select,))
    single = plan_toy(experiment, select=(select,), paths=False)
    old, new = keys(shared), keys(single)
    # What has nothing to share, or nothing to search, is what it was.
    assert {place[0] for place in old if new[place] != old[place]} == COLUMNS
    assert {c for c in families(shared) if families(single)[c] != families(shared)[c]} == COLUMNS
    # Marked where it is off and nowhere else: the keys of the usual way are those of before.
    assert not any("paths" in unit for unit in units(shared).values())
    marked = {unit["model"] for unit in units(single).values() if unit.get("paths") is False}
    assert marked == {"elm", "k-elm", "fb-kos-elm"}
    unmarked = [{k: v for k, v in unit.items() if k != "paths"} for unit in units(single).values()]
    firsts = [key_of(unit) for unit in unmarked if unit["kind"] in ("search", "grid") and not unit.get("given")]
    assert firsts
    assert set(firsts) <= set(units(shared))


def test_printed_hyperparameters_need_no_search_of_either_kind(plan_table: MakePlan) -> None:
    how = {"profile": "fast", "datasets": ("wdbc",), "runs": 1}
    shared, single = plan_table("table4", **how), plan_table("table4", paths=False, **how)
    assert (keys(shared), families(shared)) == (keys(single), families(single))


def test_a_column_s_name_and_place_do_not_matter(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    before = set(keys(plan_toy(experiment)).values())
    models = experiment["models"]
    experiment["models"] = {
        "K": models["K-ELM"],
        **{name: models[name] for name in ("K-ELM", "ELM", "OS-ELM", "FB-KOS-ELM")},
    }
    assert set(keys(plan_toy(experiment)).values()) == before


def test_another_version_of_a_model_is_another_result(
    plan_toy: MakePlan, experiment: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = plan_toy(experiment)
    monkeypatch.setattr(ELMClassifier, "model_version", ELMClassifier.model_version + 1)
    after = plan_toy(experiment)
    changed = {place[0] for place, key in keys(before).items() if keys(after)[place] != key}
    assert changed == {"ELM", "OS-ELM"}  # the latter rests on the former's search
    assert {c for c in COLUMNS if families(before)[c] != families(after)[c]} == changed


def test_other_data_are_another_result(
    plan_toy: MakePlan, experiment: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = plan_toy(experiment)
    monkeypatch.setattr(planner, "identify", lambda *args, **more: Identity("another checksum"))
    after = plan_toy(experiment)
    assert not set(units(before)) & set(units(after))
    assert not set(families(before).values()) & set(families(after).values())


def test_data_that_are_redrawn_have_a_key_a_run(plan_table: MakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    def plan(version: str) -> Plan:
        def identify(spec: object, data_dir: object, run: int, options: object, *, other_data: bool) -> Identity:
            return Identity(f"{version} run {run}")

        monkeypatch.setattr(planner, "identify", identify)
        return plan_table("table6", datasets=("mackey-glass",), models=("ELM",), runs=2)

    first, second = plan("1"), plan("2")
    identities = {(u["run"], u["dataset"]["run"], u["dataset"]["identity"]) for u in units(first).values()}
    assert identities == {(0, 0, "1 run 0"), (1, 1, "1 run 1")}
    # Another generator makes the cells of runs stale that are not asked for now.
    assert not set(families(first).values()) & set(families(second).values())


def test_the_order_in_which_things_are_asked_for_does_not_matter(plan_table: MakePlan) -> None:
    one = plan_table("table4", datasets=("wdbc",), models=("K-ELM", "ELM", "OS-ELM"))
    two = plan_table("table4", datasets=("wdbc",), models=("OS-ELM", "ELM", "K-ELM"))
    assert keys(one) == keys(two)
    whole = plan_table("table4", datasets=("wdbc",))
    assert keys(one).items() <= keys(whole).items()


def test_two_tables_share_their_cells(plan_table: MakePlan) -> None:
    """Table VII shows the confusion counts of cells of Table IV."""
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
    before = plan_table("table4", profile="paper", datasets=("wdbc",), runs=1)
    after = plan_table("table4", profile="paper", datasets=("wdbc",), runs=1, readings=reading)
    assert {place[0] for place, key in keys(before).items() if keys(after)[place] != key} == columns
    assert {row.reading for row in after.cells} == {"=".join(*reading.items())}


def test_rows_say_what_they_are_of(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    row = plan_toy(experiment, readings={"order": "stored"}).cells[0]
    assert isinstance(row, Cell)
    assert (row.dataset, row.model, row.run, row.fold, row.select) == ("wdbc", "ELM", 0, 0, "nested")
    assert row.reading == "order=stored"


def test_a_data_set_may_be_generated_with_an_option_fixed(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    dense, thin = names = [f"sparse-10k[density={density}]" for density in (0.6, 0.01)]
    outer = {"kind": "holdout", "runs": 2, "sizes": {dense: {"train": 500, "test": 100}, thin: {"train": 400}}}
    content = experiment | {"datasets": names, "protocol": experiment["protocol"] | {"outer": outer}}
    plan = plan_toy(content)
    assert {cell.dataset for cell in plan.cells} == set(names)
    found = {unit["dataset"]["name"]: unit for unit in units(plan).values()}
    assert found[dense]["protocol"]["outer"] == {"kind": "holdout", "train": 500, "test": 100}
    assert found[thin]["protocol"]["outer"] == {"kind": "holdout", "train": 400, "test": None}
    assert len({unit["dataset"]["identity"] for unit in units(plan).values()}) == 4  # each is redrawn in each run
    assert {cell.dataset for cell in plan_toy(content, datasets=("sparse-10k[density=.01]",)).cells} == {thin}
    with pytest.raises(ElmbenchError, match="sizes says nothing of sparse-10k"):
        plan_toy(content, datasets=("sparse-10k",))
    content["protocol"]["outer"]["sizes"][dense]["rows"] = 1
    with pytest.raises(ElmbenchError, match=r"sizes\.sparse-10k\[density=0\.6\]\.rows"):
        plan_toy(content)
