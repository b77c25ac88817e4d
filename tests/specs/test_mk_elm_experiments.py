"""The MK-ELM paper's table as shipped: its kernels, the single ones, the groups of features, the surfaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from elmbench.specs.catalogue import find_experiment
from elmbench.specs.datasets import load_dataset_specs

LEARNT = {
    "sparse": (1, False),
    "q = 4/3": (4 / 3, False),
    "q = 2": (2, False),
    "q = 4": (4, False),
    "radius": (1, True),
}
GROUPS = {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}


def kernels(column: str, dataset: str) -> Any:
    params = find_experiment("mk-elm/algorithm1").spec.models[column].on(dataset).params
    return params["kernels"]


@pytest.mark.parametrize("dataset", ["wdbc", "ionosphere", "digits", "mfeat"])
def test_all_variants_have_the_same_kernels_and_the_best_is_one_of_them(dataset: str) -> None:
    spec = find_experiment("mk-elm/algorithm1").spec
    assert list(spec.models) == ["best kernel", "uniform", *LEARNT]
    own = kernels("sparse", dataset)
    assert len(own) == (6 if dataset == "mfeat" else 13)
    for column, (q, radius) in LEARNT.items():
        params = spec.models[column].on(dataset).params
        assert params["kernels"] == own
        assert (params["q"], params.get("radius", False)) == (pytest.approx(q, rel=1e-15), radius)
    assert kernels("uniform", dataset) == own
    assert spec.models["uniform"].params["max_iter"] == spec.models["best kernel"].params["max_iter"] == 0
    best = spec.models["best kernel"].on(dataset)
    grids = best.search if isinstance(best.search, dict) else {name: spec.grids[name] for name in best.search}
    assert grids["kernels"].expand() == [[kernel] for kernel in own]
    assert grids["C"] == spec.grids["C"]
    # Chosen without a look at the test rows.
    assert spec.protocol.selections == ("nested",)


def test_a_kernel_for_each_group_of_features() -> None:
    found = [params["columns"] for _, params in kernels("sparse", "mfeat")]
    assert [stop - start for start, stop in found] == list(GROUPS.values())
    assert [start for start, _ in found] == [0, *(stop for _, stop in found[:-1])]
    assert found[-1][1] == load_dataset_specs().find("mfeat").shape.features
    for (_, params), width in zip(kernels("sparse", "mfeat"), GROUPS.values(), strict=True):
        np.testing.assert_allclose(params["gamma"], 1 / (2 * width), rtol=0.03)
    assert find_experiment("mk-elm/algorithm1").spec.options["kernels"] == {"mfeat": list(GROUPS)}
