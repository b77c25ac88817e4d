"""The shipped tables: their order and profiles, published values, margins and shared fits."""

from typing import Any

import pytest

from elmbench.errors import ElmbenchError
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.experiments import PROFILES
from elmbench.specs.profiles import resolve
from elmbench.tables import kind_of_table
from elmbench.tables.planning import make_plan
from elmbench.tasks.plan import RunRequest


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
