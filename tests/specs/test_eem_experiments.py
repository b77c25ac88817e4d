"""The EEM paper's tables as shipped: the grids and columns as printed, and a published figure for every cell."""

from __future__ import annotations

import pytest

from elmbench.registry import find_model, parameter_names
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.experiments import Experiment
from elmbench.specs.profiles import resolve
from elmbench.specs.published import DATA

#: Tables of a G-mean or a time for each data set and model.
GRIDS = ("table4", "table5", "table6", "table7", "table8", "table9", "table10")
COLUMNS = [
    "WELM-SIG", "EEM-SIG", "WELM-NSIG", "EEM-NSIG", "WELM-RBF", "EEM-RBF", "LS-SVM-RBF", "EEKM-RBF", "SVM-RBF",
]  # fmt: skip


@pytest.mark.parametrize("table", [*GRIDS, "table1", "table3"])
def test_every_cell_has_a_published_figure_and_every_figure_a_cell(table: str) -> None:
    file = find_experiment(f"eem/{table}")
    found = [(load_dataset_specs().find(v.dataset).name, v.model, v.metric) for v in file.figures]
    columns = list(file.spec.models) or [DATA]
    metrics: list[str] = [file.spec.protocol.metrics[0]]
    if table == "table3":
        metrics = ["features", "negatives", "positives"]
    if table == "table1":
        metrics = [f"spearman@h={h}" for h in file.spec.grids["n_hidden"].expand()]
    assert sorted(found) == sorted((d, c, m) for d in file.spec.datasets for c in columns for m in metrics)
    assert list(dict.fromkeys(v.model for v in file.figures)) == columns


@pytest.mark.parametrize("table", GRIDS)
def test_columns_search_the_printed_grids_by_the_g_mean(table: str) -> None:
    spec = find_experiment(f"eem/{table}").spec
    assert list(spec.models) == COLUMNS
    h, gamma, C = [50, 100, 250, 500, 1000], [10.0**e for e in range(-10, 1)], [10.0**e for e in range(-1, 11)]
    for column, model in spec.models.items():
        searched = {name: spec.grids[name].expand() for name in model.search}
        if column.startswith(("WELM", "EEM")):
            assert searched == {"n_hidden": h}
            nodes = {"SIG": "sigmoid", "NSIG": "nsig", "RBF": "rbf"}
            assert model.params == {"activation": nodes[column.rpartition("-")[2]]}
        elif column == "EEKM-RBF":
            assert searched == {"n_landmarks": h, "gamma": gamma}
        else:
            assert searched == {"gamma": gamma, "C": C}
            assert model.params["class_weight"] == "balanced"
    assert spec.models["SVM-RBF"].params["max_iter"] == 100000
    criterion = {"table9": "dcs-gaussians", "table10": "dcs-kde"}.get(table, "score")
    assert spec.protocol.criterion == criterion
    # The paper's figures come out by looking at the test folds, except where no test row is looked at.
    assert spec.protocol.selections == (("oracle", "nested") if criterion == "score" else ("nested",))
    assert spec.protocol.metric_for("classification") == "gmean"
    outer = spec.protocol.outer
    assert (outer.kind, outer.folds, outer.runs, spec.protocol.inner.folds) == ("stratified-kfold", 10, 1, 3)


def test_what_two_tables_show_of_the_same_cells_is_limited_in_the_same_way() -> None:
    specs = {table: find_experiment(f"eem/{table}").spec for table in GRIDS}
    limits = {table: (spec.limit, spec.search_limit) for table, spec in specs.items()}
    assert {limits[table] for table in ("table5", "table6", "table7", "table8")} == {("time=600s", "time=2h")}
    assert {limits[table] for table in ("table4", "table9", "table10")} == {("", "")}


def test_the_sizes_and_draws_of_the_figure_and_of_the_correlations_are_the_printed_ones() -> None:
    curves = find_experiment("eem/figure3").spec
    assert curves.grids["n_hidden"].expand() == list(range(5, 501, 5))
    assert curves.datasets == find_experiment("eem/table4").spec.datasets
    fast = resolve(find_experiment("eem/figure3"), "fast").spec
    assert fast.grids["n_hidden"].expand() == curves.grids["n_hidden"].expand()
    correlations = find_experiment("eem/table1").spec
    assert correlations.grids["n_hidden"].expand() == [1, 10, 100, 200, 500]
    assert correlations.options == {"projections": 100, "operators": 100}
    assert len(correlations.datasets) == 24


def test_readings_change_what_they_say() -> None:
    def changed(table: str, reading: str, value: str) -> Experiment:
        return resolve(find_experiment(f"eem/{table}"), "paper", {reading: value}).spec

    assert changed("table4", "scaling", "train").protocol.scale.fit_on == "train"
    weighted = changed("table5", "ls-svm-weights", "as-printed").models
    assert weighted["LS-SVM-RBF"].params == {"class_weight": "balanced", "weighting": "as-printed"}
    assert weighted["SVM-RBF"] == find_experiment("eem/table5").spec.models["SVM-RBF"]
    assert changed("table9", "dcs", "as-printed").options["dcs"] == "as-printed"
    assert changed("table1", "nodes", "nsig").models["random projection"].params == {"activation": "nsig"}
    # A kernel density estimate has no formula to be printed wrong.
    assert "dcs" not in find_experiment("eem/table10").spec.readings


@pytest.mark.parametrize("table", GRIDS)
def test_what_a_column_fixes_and_searches_is_known_to_its_model(table: str) -> None:
    spec = find_experiment(f"eem/{table}").spec
    for model in spec.models.values():
        known = parameter_names(find_model(model.model).factory("classification"))
        assert known is None or {*model.search, *model.params} <= set(known)
