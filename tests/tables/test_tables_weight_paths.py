"""Kernel weights and how they are learnt: the plan, the table with its counts, the paths and their
picture.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import cell, cell_of, headings, row, table_of
from made_figures import Toy, data_of, draw
from made_work import units
from sentences import pattern

from elmbench.errors import ElmbenchError
from elmbench.specs.profiles import Resolved
from elmbench.tables import kind_of_table
from elmbench.tables.base import Outputs
from elmbench.tasks.plan import Plan

KERNELS: list[Any] = [
    ["rbf", {"gamma": 0.5}],
    ["rbf", {"gamma": 0.03125}],
    ["linear", {}],
]
MODELS: dict[str, Any] = {
    "one": {"model": "mk-elm", "params": {"kernels": KERNELS[:1]}},
    "sparse": {"model": "mk-elm", "params": {"kernels": KERNELS}},
    "q = 2": {"model": "mk-elm", "params": {"kernels": KERNELS, "q": 2}},
}
TABLE: dict[str, Any] = {
    "layout": "weight-paths",
    "datasets": ["wdbc", "sylva"],
    "models": MODELS,
}
PATH = [[0.25, 0.25, 0.5], [0.1, 0.2, 0.7], [0.0, 0.1, 0.9]]
START = [[1.0]]

Learnt = tuple[dict[str, Any], list[list[float]]]


def learnt(model: str, weights: list[list[float]], **entry: Any) -> Learnt:
    return cell(
        model, mcc=0.5, kernels=2, iterations=len(weights) - 1, **entry
    ), weights


def objective(weights: list[list[float]]) -> list[float]:
    return [8.0 / 2**i for i in range(len(weights))]


def outputs_of(*result: Learnt) -> list[Outputs]:
    """Return the stored outputs of cells; those without kernel weights have none."""
    return [
        Outputs(
            cell_of(line),
            {
                "paths": {
                    "kernels": KERNELS[: len(weights[0])],
                    "weights": weights,
                    "objective": objective(weights),
                }
            }
            if weights
            else {},
        )
        for line, weights in result
    ]


def data(resolved: Resolved, *result: Learnt) -> pd.DataFrame:
    return data_of(resolved, [line for line, _ in result], outputs_of(*result))


@pytest.fixture
def drawn() -> list[Learnt]:
    """Cells of two data sets; the figure shows the first fold of each, and only weights that were
    learnt.
    """
    return [
        learnt("sparse", PATH, dataset="sylva"),
        learnt("q = 2", PATH[:2]), learnt("sparse", PATH), learnt("one", START), learnt("K-ELM",
        []),
        learnt("sparse", PATH[::-1], fold=1), learnt("sparse", PATH[::-1], run=1),
        learnt("sparse", PATH[::-1], select="oracle"),
    ]  # fmt: skip


def test_every_cell_is_a_fit_that_keeps_its_paths(
    plan_toy: Callable[..., Plan], experiment: dict[str, Any]
) -> None:
    plan = plan_toy(experiment | TABLE, datasets=("wdbc",))
    result = units(plan)
    assert {row.key for row in plan.cells} == set(result)
    assert {unit["kind"] for unit in result.values()} == {"kernel-weights"}
    assert {row.model for row in plan.cells} == set(MODELS)


def test_the_table_has_the_mean_counts(toy: Toy) -> None:
    lines = [
        cell("one", run=run, fold=fold, mcc=0.5, kernels=1, iterations=0)
        for run in (0, 1)
        for fold in (0, 1)
    ] + [
        cell(
            "sparse",
            run=i // 2,
            fold=i % 2,
            mcc=0.75,
            kernels=kernels,
            iterations=10 * kernels,
        )
        for i, kernels in enumerate((2, 3, 3, 3))
    ]
    table = table_of(toy(**TABLE), lines)
    (section,) = table.sections
    shown = list(headings(table, section).items())
    assert shown[:5] == [
        ("dataset", "data set"), ("model", "model"), ("value", "MCC"), ("kernels", "kernels"),
        ("iterations", "iterations"),
    ]  # fmt: skip
    assert [row(section, "sparse")[name].split(" ")[0] for name in ("value", "kernels",
    "iterations")] == [
        "0.750", "2.8", "27.5",
    ]  # fmt: skip
    assert row(section, "one")["kernels"].split(" ")[0] == "1.0"


def test_the_figure_has_the_first_fold_of_weights_that_were_learnt(
    toy: Toy, drawn: list[Learnt]
) -> None:
    paths = data(toy(**TABLE), *drawn)
    assert list(paths.columns[:6]) == [
        "dataset",
        "model",
        "run",
        "fold",
        "iteration",
        "objective",
    ]
    # The order is that of the table, not of the store.
    cells = (
        paths[["dataset", "model", "run", "fold"]].drop_duplicates().to_numpy().tolist()
    )
    assert sorted(cells) == sorted(
        [["wdbc", "sparse", 1, 1], ["wdbc", "q = 2", 1, 1], ["sylva", "sparse", 1, 1]]
    )
    for dataset, weights in (("wdbc", PATH), ("sylva", PATH)):
        part = paths[(paths["dataset"] == dataset) & (paths["model"] == "sparse")]
        assert part["iteration"].tolist() == [0, 1, 2]
        assert part["objective"].tolist() == [8.0, 4.0, 2.0]
        np.testing.assert_array_equal(
            part[["weight 1", "weight 2", "weight 3"]], weights
        )


def test_kernels_have_the_names_that_the_table_gives(
    toy: Toy, drawn: list[Learnt]
) -> None:
    resolved = toy(**TABLE, options={"kernels": {"wdbc": ["wide", "narrow", "plane"]}})
    legends = [
        axes.get_legend() for axes in draw(resolved, data(resolved, *drawn)).axes
    ]
    names = [
        [text.get_text() for text in legend.get_texts()]
        for legend in legends
        if legend is not None
    ]
    assert ["plane", "narrow", "wide"] in names
    assert ["linear", "rbf, gamma 0.0312", "rbf, gamma 0.5"] in names


def test_as_many_names_as_kernels(toy: Toy) -> None:
    with pytest.raises(
        ElmbenchError,
        match=pattern(
            "tables.weight-paths.names-and-kernels-differ",
            names=2,
            dataset="wdbc",
            column="models.sparse",
            kernels=3,
        ),
    ):
        kind_of_table(
            toy(
                **TABLE | {"models": {"sparse": MODELS["sparse"]}},
                options={"kernels": {"wdbc": ["a", "b"]}},
            )
        )


def test_a_panel_has_a_line_for_each_kernel_or_model(toy: Toy) -> None:
    paths = pd.DataFrame(PATH, columns=["weight 1", "weight 2", "weight 3"])
    paths = paths.assign(
        dataset="wdbc", model="sparse", iteration=range(3), objective=[8.0, 4.0, 2.0]
    )
    other = pd.DataFrame([[0.5, 0.5], [0.4, 0.6]], columns=["weight 1", "weight 2"])
    other = other.assign(
        dataset="sylva", model="added", iteration=range(2), objective=[4.0, 1.0]
    )
    figure = draw(toy(**TABLE), pd.concat([paths, other]))
    panels = [
        [list(line.get_ydata()) for line in axes.lines] for axes in figure.axes[:6]
    ]
    assert panels[0] == [[1.0, 0.5, 0.25]]
    # The kernel with the largest last weight comes first.
    assert panels[1] == [list(weights) for weights in zip(*PATH, strict=True)][::-1]
    assert panels[3] == [[1.0, 0.25]]
    assert panels[4] == [[0.5, 0.6], [0.5, 0.4]]
    # The kernels of a model that the table does not have are numbered.
    assert [text.get_text() for text in figure.axes[4].get_legend().get_texts()] == [
        "kernel 2",
        "kernel 1",
    ]


def test_tiles_show_the_last_weight_of_each_kernel_in_each_model(
    toy: Toy, drawn: list[Learnt]
) -> None:
    resolved = toy(**TABLE)
    figure = draw(resolved, data(resolved, *drawn))
    (tiles,) = figure.axes[2].images
    columns = [text.get_text() for text in figure.axes[2].get_xticklabels()]
    last = {"sparse": PATH[-1], "q = 2": PATH[1]}
    np.testing.assert_array_equal(tiles.get_array().T, [last[name] for name in columns])
    kernels = [text.get_text() for text in figure.axes[2].get_yticklabels()]
    assert kernels == ["rbf, gamma 0.5", "rbf, gamma 0.0312", "linear"]


def test_kernels_with_small_last_weights_are_grey(toy: Toy) -> None:
    names = [f"weight {i}" for i in range(1, 8)]
    weights = pd.DataFrame(
        [[1 / 7] * 7, [0.0, 0.3, 0.1, 0.05, 0.25, 0.2, 0.1]], columns=names
    )
    paths = weights.assign(
        dataset="wdbc", model="added", iteration=range(2), objective=[4.0, 2.0]
    )
    axes = draw(toy(**TABLE), paths).axes[1]
    grey = [
        list(line.get_ydata()) for line in axes.lines if line.get_color() == "lightgrey"
    ]
    assert [last for _, last in grey] == [0.0, 0.05]
