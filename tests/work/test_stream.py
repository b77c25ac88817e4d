"""A model that learns in chunks: what is measured after each, and that nothing else changes it."""

from __future__ import annotations

import numpy as np
import pytest
from made_work import attempted, fold_data
from toy_data import MakeUnit

from elmbench.models import KOSELMClassifier, KOSELMRegressor, OSPVMClassifier
from elmbench.specs.measures import rows_after_chunks


@pytest.mark.parametrize(
    ("n_rows", "chunk", "sizes"), [(100, 40, [40, 80, 100]), (80, 40, [40, 80]), (3, 40, [3]), (3, 1, [1, 2, 3])]
)
def test_rows_after_chunks(n_rows: int, chunk: int, sizes: list[int]) -> None:
    assert rows_after_chunks(n_rows, chunk) == sizes


@pytest.mark.parametrize("dataset", ["two", "three"])
def test_a_stream_is_measured_after_each_chunk(make_unit: MakeUnit, dataset: str) -> None:
    unit = make_unit("stream", dataset=dataset, model="os-pvm", params={"n_hidden": 2}) | {"chunk": 25}
    result = attempted(unit)
    assert result["status"] == "ok"
    assert result["params"] == {"n_hidden": 2}
    assert result["fit_seconds"] > 0
    data = fold_data(unit)
    assert len(data.y_train) == 60
    expected: dict[str, float] = {}
    for n in (25, 50, 60):
        # Rows learnt in any chunks give the model of all of them.
        model = OSPVMClassifier(n_hidden=2, initial_batch=n).fit(data.X_train[:n], data.y_train[:n])
        expected[f"accuracy@rows={n}"] = float(np.mean(model.predict(data.X_test) == data.y_test))
        right = model.predict(data.X_train[:n]) == data.y_train[:n]
        expected[f"train_accuracy@rows={n}"] = float(np.mean(right))
        expected[f"n_units@rows={n}"] = model.n_units_
    assert result["measured"] == pytest.approx(expected)


def test_the_first_rows_may_lack_a_class(make_unit: MakeUnit) -> None:
    unit = make_unit("stream", dataset="three", model="os-pvm", params={"n_hidden": 2}) | {"chunk": 1}
    result = attempted(unit)
    assert result["status"] == "ok"
    assert result["measured"]["train_accuracy@rows=1"] == 1
    assert "warnings" not in result or not result["warnings"]


@pytest.mark.parametrize("dataset", ["two", "three", "real"])
def test_a_chunk_is_predicted_before_it_is_learnt(make_unit: MakeUnit, dataset: str) -> None:
    params = {"gamma": 0.5, "C": 4.0}
    unit = make_unit("stream", dataset=dataset, model="kos-elm", params=params) | {"chunk": 25, "prequential": True}
    result = attempted(unit)
    assert result["status"] == "ok"
    data = fold_data(unit)
    model = KOSELMRegressor(**params) if data.labels is None else KOSELMClassifier(**params)
    classes = {"classes": data.labels} if data.labels else {}
    predicted: list[float] = []
    for start, stop in [(0, 25), (25, 50), (50, len(data.y_train))]:
        if start:
            predicted += model.predict(data.X_train[start:stop]).tolist()
            true = data.y_train[25:stop]
            wrong = np.array(predicted) - true
            error = np.mean(wrong != 0) if data.labels else np.sqrt(np.mean(wrong**2) / np.var(true, ddof=1))
            assert result["measured"][f"prequential_error@rows={stop}"] == pytest.approx(error)
        model.partial_fit(data.X_train[start:stop], data.y_train[start:stop], **classes)
    assert "prequential_error@rows=25" not in result["measured"]
    assert ("nrmse@rows=50" in result["measured"]) == (data.labels is None)


def test_what_is_predicted_ahead_changes_nothing_else(make_unit: MakeUnit) -> None:
    unit = make_unit("stream", dataset="two", model="fb-kos-elm", params={"budget": 5}) | {"chunk": 20}
    alone, beside = attempted(unit), attempted(unit | {"prequential": True})
    assert alone["measured"].items() <= beside["measured"].items()
    assert len(beside["measured"]) > len(alone["measured"])
