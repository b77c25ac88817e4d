"""`elmbench show`."""

from __future__ import annotations

from collections.abc import Callable


def test_protocol_grids_data_cost_and_published_values(elmbench: Callable) -> None:
    text = elmbench("show", "table4").out
    for what in (
        "kos-elm/table4", "Table IV", "10.1109/TNNLS.2014.2382094", "sylva, wdbc", "10 folds, 3 on wdbc, 20 runs",
        "nested by mcc", "scaled to [0.0, 1.0] over all rows", "0.00390625, 0.03125, ..., 8192 (8)",
        "100, 150, ..., 1000 (19)",
        "ci, fast, paper", "elmbench run kos-elm/table4 --dry-run",
        "c-grid, os-start", "initial_batch=250", "budget in 50, 100,", "0.94", "0.002",
    ):  # fmt: skip
        assert what in text, what


def test_json_is_the_content_of_the_file(elmbench: Callable) -> None:
    result = elmbench("show", "table4", "--json").json
    assert result["id"] == "kos-elm/table4"
    assert result["protocol"]["outer"] == {
        "kind": "stratified-kfold", "folds": 10, "runs": 20, "sizes": {}, "except": {"wdbc": {"folds": 3}},
    }  # fmt: skip
