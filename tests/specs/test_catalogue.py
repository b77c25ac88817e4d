"""The catalogue: files found and refused, inheritance, readings, profiles; what the shipped tables
share.
"""

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from elmbench.errors import ElmbenchError
from elmbench.metrics import unit_of
from elmbench.runs.planning import make_plan
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.experiments import PROFILES, Experiment
from elmbench.specs.profiles import Resolved, resolve
from elmbench.tables import kind_of_table
from elmbench.tasks.plan import RunRequest

WriteTree = Callable[..., Path]
Table = Callable[[str], Experiment]
ALL_POWERS = [2.0**e for e in range(-8, 14)]


def leaves(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every value of nested mappings with the way to it; a grid counts as its values."""
    if (
        isinstance(content, dict)
        and content
        and not {"powers-of-2", "values", "from"} & content.keys()
    ):
        for key, value in content.items():
            yield from leaves(value, (*path, str(key)))
    else:
        yield "/".join(path), content


def differences(new: Resolved, old: Resolved) -> dict[str, Any]:
    """Return what differs between two resolved experiments, with the new values (None: gone)."""
    first, second = (
        dict(leaves(one.spec.model_dump(by_alias=True, mode="json")))
        for one in (old, new)
    )
    return {
        path: second.get(path)
        for path in first.keys() | second.keys()
        if first.get(path) != second.get(path)
    }


def test_every_shipped_experiment_stands_under_every_profile_that_it_has() -> None:
    catalogue = load_catalogue()
    assert {"kos-elm/table4", "kos-elm/table6"} <= set(catalogue)
    for file in catalogue.values():
        assert {"fast", "paper"} <= set(file.profiles)
        for profile in PROFILES:
            if profile in file.profiles:
                assert resolve(file, profile).profile == profile
            else:
                with pytest.raises(
                    ElmbenchError, match=f"nothing to show under profile {profile}"
                ):
                    resolve(file, profile)


def test_tables_are_in_the_order_of_their_numbers() -> None:
    result = [
        file.path.stem for file in load_catalogue().values() if file.spec.paper == "eem"
    ]
    assert result == ["figure3", "table1", *(f"table{i}" for i in range(3, 11))]


#: What a reading changes: (table, reading, value) -> every value that is another one.
CHANGES: dict[tuple[str, str, str], dict[str, Any]] = {
    ("table4", "c-grid", "all-powers"): {
        "grids/C": ALL_POWERS,
        "grids/gamma": ALL_POWERS,
    },
    ("table4", "os-start", "ridge"): {"models/OS-ELM/params/start": "ridge"},
    ("table4", "ald-threshold", "as-printed"): {
        "models/ALD-KOS-ELM/params": None,
        "models/ALD-KOS-ELM/params/threshold": "as-printed",
        "models/ALD-KOS-ELM/params/max_atoms": 6000,
    },
    ("table4", "carry-over", "folds"): {
        "models/FB-KOS-ELM/carry-over": "folds",
        "models/ALD-KOS-ELM/carry-over": "folds",
    },
    ("table4", "order", "stored"): {"protocol/order": "stored"},
    ("table4", "scaling", "train"): {"protocol/scale/fit-on": "train"},
    ("table6", "mg-noise", "0"): {
        "data": None,
        "data/mackey-glass/noise_variance": 0.0,
    },
    ("table6", "mg-noise", "1e-4"): {
        "data": None,
        "data/mackey-glass/noise_variance": 1e-4,
    },
    ("table6", "mg-noise", "2e-4"): {
        "data": None,
        "data/mackey-glass/noise_variance": 2e-4,
    },
}


@pytest.mark.parametrize(("table", "reading", "value"), CHANGES)
def test_a_reading_changes_only_the_keys_that_it_sets(
    table: str, reading: str, value: str
) -> None:
    file = find_experiment(table)
    before = copy.deepcopy(file.content)
    new, old = resolve(file, "paper", {reading: value}), resolve(file, "paper")
    result = differences(new, old)
    expected = dict(CHANGES[table, reading, value])
    for grid in ("C", "gamma"):
        if f"grids/{grid}" in expected:
            result[f"grids/{grid}"] = new.spec.grids.values[grid]
            # The columns that search a grid of the table have its values.
            for column, model in new.spec.models.items():
                if result.pop(f"models/{column}/search/{grid}", None) is not None:
                    assert model.grid.values[grid] == new.spec.grids.values[grid]
    assert result == expected
    assert new.reading == f"{reading}={value}"
    assert file.content == before


def test_leaking_readings_are_marked() -> None:
    for file in load_catalogue().values():
        for reading in file.paper.readings.values():
            for value in reading.values.values():
                if "carry-over" in str(value.set):
                    assert "leaking" in value.says.lower()
                assert value.leaks == ("carry-over" in str(value.set))
    (leaking,) = resolve(
        find_experiment("table4"), "fast", {"carry-over": "folds"}
    ).readings
    assert (str(leaking), leaking.leaks) == ("carry-over=folds", True)


def test_the_default_reading_by_name_changes_nothing_and_has_no_label() -> None:
    for file in load_catalogue().values():
        defaults = {
            name: file.paper.readings[name].default for name in file.spec.readings
        }
        named = resolve(file, "paper", defaults)
        assert named.reading == ""
        assert named.spec == resolve(file, "paper").spec


def test_readings_add_up_and_their_label_does_not_depend_on_the_order() -> None:
    file = find_experiment("table4")
    both = {"scaling": "train", "order": "stored"}
    result, again = (
        resolve(file, "paper", both),
        resolve(file, "paper", dict(reversed(both.items()))),
    )
    assert result.reading == again.reading == "order=stored;scaling=train"
    assert set(differences(result, resolve(file, "paper"))) == {
        "protocol/scale/fit-on",
        "protocol/order",
    }


@pytest.fixture
def table(write_tree: WriteTree, experiment: dict[str, Any]) -> Table:
    """Read the experiment as a test changes it, under a profile."""

    def read(profile: str) -> Experiment:
        load_catalogue.cache_clear()
        return resolve(load_catalogue(write_tree(experiment))["toy/one"], profile).spec

    return read


def test_a_profile_changes_runs_folds_selection_data_sets_and_columns(
    table: Table, experiment: dict[str, Any]
) -> None:
    experiment["datasets"] = ["wdbc", "sylva"]
    experiment["protocol"]["outer"]["except"] = {"sylva": {"folds": 10}}
    experiment["profiles"]["fast"] = {
        "runs": 7, "folds": 5, "select": ["oracle", "nested"], "datasets": ["sylva"],
        "models": ["ELM", "OS-ELM"],
    }  # fmt: skip
    spec, printed = table("fast"), table("paper")
    assert (spec.protocol.outer.runs, spec.protocol.outer.folds) == (7, 5)
    assert (
        spec.protocol.outer.overrides["sylva"].runs,
        spec.protocol.outer.overrides["sylva"].folds,
    ) == (7, 5)
    assert spec.protocol.selections == ("oracle", "nested")
    assert spec.datasets == ("sylva",)
    assert list(spec.models) == ["ELM", "OS-ELM"]
    assert printed.protocol.outer.overrides["sylva"].folds == 10
    assert printed.protocol.selections == ("nested",)


def test_other_data_sets_stand_in_under_ci_alone(
    table: Table, experiment: dict[str, Any]
) -> None:
    experiment["datasets"] = ["sylva"]
    experiment["profiles"]["ci"] = {"stand-ins": ["wdbc"]}
    assert [table(profile).datasets for profile in PROFILES] == [
        ("wdbc",),
        ("sylva",),
        ("sylva",),
    ]


def test_a_profile_may_have_exceptions_for_data_sets(
    table: Table, experiment: dict[str, Any]
) -> None:
    experiment["datasets"] = ["wdbc", "sylva", "ionosphere"]
    experiment["protocol"]["outer"]["except"] = {"wdbc": {"folds": 4}}
    experiment["profiles"]["fast"] = {
        "runs": 1,
        "except": {"wdbc": {"runs": 9}, "sylva": {"folds": 2}},
    }
    outer = table("fast").protocol.outer
    assert (outer.runs, outer.folds) == (1, 3)
    assert {name: (one.runs, one.folds) for name, one in outer.overrides.items()} == {
        "wdbc": (9, 4),
        "sylva": (1, 2),
    }


def test_thinning_reaches_both_kinds_of_grid(
    table: Table, experiment: dict[str, Any]
) -> None:
    experiment["grids"]["gamma"] = {"powers-of-2": [0, 4]}
    spec = table("ci")
    assert spec.grids.values["gamma"] == [1.0, 4.0, 16.0]
    assert spec.grids.values["C"] == [1]
    assert spec.models["FB-KOS-ELM"].grid.values["budget"] == [5, 15]
    assert list(spec.models["ELM"].grid.values) == ["n_hidden", "C"]
    assert spec.models["ELM"].grid.values["C"] == [1]


def test_a_column_has_grids_of_its_own_on_one_data_set(
    table: Table, experiment: dict[str, Any]
) -> None:
    grids = {"C": [1, 2, 3, 4], "n_hidden": [7]}
    experiment["models"]["ELM"]["except"] = {"wdbc": {"search": grids}}
    for profile, C in (("paper", [1, 2, 3, 4]), ("ci", [1, 3])):
        spec = table(profile)
        result = spec.models["ELM"].adapt("wdbc").grid
        assert result.values == {"C": C, "n_hidden": [7]}
        elsewhere = spec.models["ELM"].adapt("sylva").grid
        assert elsewhere == spec.grids.select(["n_hidden", "C"])


def based(**changes: Any) -> dict[str, Any]:
    return {
        "based-on": "one",
        "id": "toy/two",
        "title": "Other",
        "label": "Table II",
        **changes,
    }


def test_a_table_inherits_the_keys_that_it_does_not_set(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    other = based(
        protocol={"outer": {"folds": 5}, "metrics": ["gmean"]}, grids={"C": [3]}
    )
    catalogue = load_catalogue(write_tree(experiment, other))
    one, two = catalogue["toy/one"].spec, catalogue["toy/two"].spec
    assert two.protocol.outer.folds == 5
    assert two.protocol.outer.kind == one.protocol.outer.kind
    assert two.protocol.metrics == ("gmean",)
    assert two.grids.values["C"] == [3]
    assert two.grids.values["gamma"] == one.grids.values["gamma"]
    for name, model in one.models.items():
        assert two.models[name].searched == model.searched
        assert two.models[name].params == model.params
    assert two.models["ELM"].grid.values["C"] == [3]
    assert (one.aliases, two.aliases) == (("one",), ())


def test_expectations_are_those_of_one_table(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    claim = {"says": "it is so", "dataset": "wdbc", "metric": "mcc", "model": "ELM"}
    experiment["claims"] = [claim | {"is": "above", "than": ["K-ELM"]}]
    expected = {"claim": "it is", "verdict": "holds", "reason": "so"}
    experiment["expect"] = [expected]
    catalogue = load_catalogue(write_tree(experiment, based()))
    assert len(catalogue["toy/one"].spec.expect) == 1
    assert catalogue["toy/two"].spec.expect == ()


def test_published_and_models_are_merged(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    experiment |= {"published": {"mean-of": 20, "meant": {"fp": "fn"}}}
    column = {"model": "ridge", "search": ["C"]}
    other = based(
        published={"mean-of": 5, "meant": {"fn": "fp"}}, models={"ridge": column}
    )
    without = based(published=None) | {"id": "toy/three"}
    emptied = based(published={"meant": {}}) | {"id": "toy/four"}
    catalogue = load_catalogue(write_tree(experiment, other, without, emptied))
    two = catalogue["toy/two"].spec
    assert two.published is not None
    assert two.published.mean_of == 5
    assert two.published.meant == {"fp": "fn", "fn": "fp"}
    one = catalogue["toy/one"].spec
    assert list(two.models) == [*one.models, "ridge"]
    assert two.models | one.models == two.models
    assert catalogue["toy/three"].spec.published is None
    four = catalogue["toy/four"].spec.published
    assert four is not None
    assert (four.mean_of, four.meant) == (20, {})


def test_a_column_is_changed_or_removed_by_its_name(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    changed = {"ELM": {"params": {"activation": "rbf"}}, "OS-ELM": None}
    catalogue = load_catalogue(write_tree(experiment, based(models=changed)))
    one, two = catalogue["toy/one"].spec, catalogue["toy/two"].spec
    assert list(two.models) == [name for name in one.models if name != "OS-ELM"]
    assert two.models["ELM"].params == one.models["ELM"].params | {"activation": "rbf"}
    assert two.models["ELM"].search == one.models["ELM"].search


def test_a_table_names_the_keys_that_it_does_not_take_over(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    column = {"model": "ridge", "search": ["C"]}
    other = based(without=["models"], models={"ridge": column})
    third = based(without=["models", "profiles"], models={"ridge": column})
    third |= {"id": "toy/three", "based-on": "two"}
    catalogue = load_catalogue(write_tree(experiment, other, third))
    one = catalogue["toy/one"].spec
    assert list(catalogue["toy/two"].spec.models) == ["ridge"]
    assert catalogue["toy/two"].spec.profiles == one.profiles
    assert catalogue["toy/three"].spec.profiles == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"without": ["model"]}, r"two\.yaml: without is \['model'\]"),
        ({"without": "models"}, r"two\.yaml: without is 'models'"),
        (
            {"without": ["models"], "based-on": None},
            r"two\.yaml: without names keys of another table",
        ),
    ],
)
def test_only_keys_of_the_other_table_are_left_out(
    write_tree: WriteTree,
    experiment: dict[str, Any],
    change: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(ElmbenchError, match=message):
        load_catalogue(write_tree(experiment, based() | change))


@pytest.mark.parametrize("base", ["three", "two", "../toy/one", ["one"]])
def test_a_base_is_another_table_of_the_same_folder(
    write_tree: WriteTree, experiment: dict[str, Any], base: Any
) -> None:
    other = based() | {"based-on": base}
    with pytest.raises(
        ElmbenchError, match=rf"two\.yaml: based on {re.escape(repr(base))}"
    ) as error:
        load_catalogue(write_tree(experiment, other))
    assert error.value.expected == "one of one"


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([{}, {"id": "toy/two"}], r"two\.yaml: the name 'one' is taken by .*one\.yaml"),
        ([{"aliases": [{}]}], r"one\.yaml: 'aliases\.0': expected text"),
        (
            [{}, {"id": "toy/two", "aliases": [], "models": 5}],
            r"two\.yaml: 'models' is 5: expected a mapping",
        ),
        ([{"readings": ["odrer"]}], r"unknown reading 'odrer'.*(?s:.*)defines: order"),
        ([{"published": {"values": "none.csv"}}], r"none\.csv does not exist"),
        (
            [{"expect": [{"metric": "acuracy", "verdict": "holds", "reason": "so"}]}],
            r"one\.yaml: expect names the metric 'acuracy'(?s:.*)one of none",
        ),
        (
            [{"grids": {"C": {"from": 0, "to": 1e9, "step": 1}}}],
            r"one\.yaml: 'grids\.C': the grid holds more than",
        ),
    ],
)
def test_tables_that_are_not_valid_are_rejected(
    write_tree: WriteTree,
    experiment: dict[str, Any],
    tables: list[dict[str, Any]],
    message: str,
) -> None:
    with pytest.raises(ElmbenchError, match=message):
        load_catalogue(write_tree(*(experiment | changes for changes in tables)))


def test_files_have_the_names_of_their_tables_and_papers(
    write_tree: WriteTree, paper: dict[str, Any]
) -> None:
    with pytest.raises(ElmbenchError, match=r"paper\.yaml: the key is 'tyo'"):
        load_catalogue(write_tree(paper=paper | {"key": "tyo"}))
    folder = write_tree() / "experiments" / "toy"
    (folder / "one.yaml").rename(folder / "uno.yaml")
    with pytest.raises(
        ElmbenchError, match=r"uno\.yaml: the id is 'toy/one'(?s:.*)'toy/uno'"
    ):
        load_catalogue(folder.parents[1])
    (folder / "uno.yaml").rename(folder / "one.yml")
    with pytest.raises(ElmbenchError, match=r"one\.yml is not read(?s:.*)one\.yaml"):
        load_catalogue(folder.parents[1])
    (folder / "one.yml").rename(folder / "one.yaml")
    (folder / "paper.yaml").unlink()
    load_catalogue.cache_clear()
    with pytest.raises(
        ElmbenchError, match=r"toy holds experiments but no paper\.yaml"
    ):
        load_catalogue(folder.parents[1])


def test_an_error_in_a_base_names_the_base(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    """The table that is based on it comes first in the order of names."""
    derived = {
        "id": "toy/a",
        "title": "Derived",
        "label": "Table II",
        "based-on": "one",
    }
    experiment["grids"]["C"] = "many"
    with pytest.raises(ElmbenchError) as caught:
        load_catalogue(write_tree(experiment, derived))
    assert "one.yaml: 'grids.C'" in str(caught.value)
    assert "a.yaml" not in str(caught.value)
    experiment["grids"]["C"] = [1]
    with pytest.raises(ElmbenchError, match=r"a\.yaml: unknown key 'nothing'"):
        load_catalogue(write_tree(experiment, {**derived, "nothing": 1}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"protocol": {"order": "sorted"}},
            r"paper.yaml: '\(toy/one under .* order\)\.protocol\.order' is 'sorted'",
        ),
        (
            {"protocol": {"odrer": "stored"}},
            r"unknown key '\(toy/one under the reading order\)\.protocol\.odrer'",
        ),
        ({"grids": None}, r"reading order\)\.grids' is None"),
        ({"grids": "all"}, r"reading order\)\.grids' is 'all': expected a mapping"),
        ({"models": {"ELM": {"like": "K-ELM"}}}, "ELM is like 'K-ELM'"),
        (
            {"models": {"ELMM": {"params": {"C": 1}}}},
            r"paper.yaml: the reading order changes models\.ELMM, which no table",
        ),
    ],
)
def test_a_reading_that_breaks_a_table(
    write_tree: WriteTree, paper: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    paper["readings"]["order"]["values"]["stored"]["set"] = change
    with pytest.raises(ElmbenchError, match=message):
        load_catalogue(write_tree(paper=paper))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"margins": {"mc": 0.01}},
            r"paper\.yaml: margins names the metric 'mc', which has no verdict(?s:.*)one of .*mcc",
        ),
        ({"margins": {"fit_seconds": 0.1}}, "margins names the metric 'fit_seconds'"),
        (
            {"margins": {"mcc": -0.01}},
            r"'margins\.mcc' is -0\.01: expected a number greater than 0",
        ),
        (
            {"margins": {"mcc": 0.2}},
            r"the margin of mcc is 0\.2(?s:.*)at most 0\.1, 5 times the standard",
        ),
        (
            {"margins": {"mcc": 0}},
            r"'margins\.mcc' is 0: expected a number greater than 0",
        ),
        (
            {"margins": {"mcc": "small"}},
            r"'margins\.mcc' is 'small': expected a valid number",
        ),
        (
            {"margins": {"mcc": True}},
            r"'margins\.mcc' is True: expected a valid number",
        ),
        (
            {"margins": {"mcc": float("nan")}},
            r"'margins\.mcc' is nan: expected a finite number",
        ),
        (
            {"proposed": ["FB-KOS-ELM"]},
            r"proposed names the model 'FB-KOS-ELM', which no table has(?s:.*)one of .*fb-kos-elm",
        ),
        ({"proposed": "elm"}, r"'proposed' is 'elm': expected a list"),
    ],
)
def test_an_error_in_the_margins_or_the_proposed_models_of_a_paper(
    write_tree: WriteTree, paper: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ElmbenchError, match=message) as caught:
        load_catalogue(write_tree(paper=paper | change))
    assert str(caught.value).count("paper.yaml: ") == 1


def test_a_paper_has_a_margin_and_proposed_models(
    write_tree: WriteTree, paper: dict[str, Any]
) -> None:
    keys = {"margins": {"mcc": 0.1, "rmse": 0.05}, "proposed": ["fb-kos-elm"]}
    result = load_catalogue(write_tree(paper=paper | keys))["toy/one"].paper
    assert result.proposed == ("fb-kos-elm",)
    assert result.unit_of("mcc") == unit_of("mcc")._replace(margin=0.1)
    assert result.unit_of("rmse").margin_of(0.5) == pytest.approx(0.025)
    assert result.unit_of("accuracy") == unit_of("accuracy")


def test_no_shipped_paper_replaces_a_margin() -> None:
    papers = {file.paper.key: file.paper for file in load_catalogue().values()}
    assert not any(paper.margins for paper in papers.values())
    assert all(paper.proposed for paper in papers.values())


#: Tables of the same fits.
SHARED = [
    ("eem", (5, 6)),
    ("eem", (7, 8)),
    ("ospvm", (2, 3)),
    ("ospvm", (4, 5, 6, 7)),
    ("ospvm", (8, 9, 10, 11)),
]


@pytest.mark.parametrize(
    "table",
    [name for name in load_catalogue() if name.startswith(("eem/", "ospvm/table"))],
)
def test_every_published_value_has_a_column(table: str) -> None:
    resolved = resolve(find_experiment(table), "paper")
    layout = kind_of_table(resolved)
    shown = set(layout.models())
    for dataset, model, _ in resolved.published:
        assert dataset in (*resolved.datasets, "all")
        assert model in shown, model


def test_published_values_of_all_tables_of_a_paper_are_found_by_metric() -> None:
    values = resolve(find_experiment("kos-elm/table4"), "paper").published_in_paper
    figures = resolve(find_experiment("kos-elm/table5"), "paper").published
    assert figures
    for (dataset, model, metric), figure in figures.items():
        assert (model, float(figure.value)) in values[dataset, metric]


@pytest.mark.usefixtures("without_data")
@pytest.mark.parametrize(("paper", "tables"), SHARED)
def test_tables_of_the_same_fits_share_them(
    paper: str, tables: tuple[int, ...]
) -> None:
    shared = [
        resolve(find_experiment(f"{paper}/table{number}"), "paper") for number in tables
    ]
    cells = [make_plan(one, RunRequest(runs=1)).cells for one in shared]
    first, *others = [
        {(one.dataset, one.model, one.select): one.key for one in part}
        for part in cells
    ]
    assert all(other == first for other in others)


def test_a_kernel_for_each_group_of_features() -> None:
    kernels: Any = (
        find_experiment("mk-elm/algorithm1")
        .spec.models["sparse"]
        .adapt("mfeat")
        .params["kernels"]
    )
    columns = [params["columns"] for _, params in kernels]
    assert [start for start, _ in columns] == [0, *(stop for _, stop in columns[:-1])]
    assert columns[-1][1] == load_dataset_specs().find("mfeat").shape.features
