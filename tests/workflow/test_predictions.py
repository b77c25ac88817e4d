"""`predictions.csv` of a comparison, and the hyperparameters that its table shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from elmbench.datasets.user_data import UserData
from elmbench.reporting.results import Results
from elmbench.workflow.comparison import Comparison, prepare_comparison
from elmbench.workflow.execute import execute
from elmbench.workflow.prepare import RunOptions

pytestmark = pytest.mark.usefixtures("alone")
GRIDS = {"k-elm": {"C": [1.0, 64.0], "gamma": [0.1]}, "ridge": {"C": [1.0]}, "logistic-regression": {"C": [1.0]}}


def shop() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"age": random.normal(40, 10, 90), "day": random.permutation(90)})
    frame["kind"] = np.where(frame["age"] > 45, "old", np.where(frame["age"] > 35, "01", "1"))
    frame["spends"] = 100 * frame["age"] + random.normal(size=90)
    frame.loc[::8, ["kind", "spends"]] = np.nan
    return frame


def compared(frame: pd.DataFrame, models: tuple[str, ...], **options: Any) -> tuple[Results, pd.DataFrame]:
    frame.to_csv("shop.csv", index=False)
    data = (UserData("shop.csv", drop_missing_target=True, **options),)
    grids = {name: GRIDS[name] for name in models}
    run = prepare_comparison(Comparison(data, models, grids, folds=3), RunOptions(), Path("elmbench-results"))
    (results,) = execute(run)
    return results, pd.read_csv(results.folder / "predictions.csv", dtype={"true": str, "predicted": str})


def test_predictions_are_of_the_rows_of_the_file_in_its_spelling() -> None:
    frame = shop()
    results, lines = compared(frame.drop(columns="spends"), ("k-elm", "logistic-regression"), target="kind")
    known = frame["kind"].dropna()
    for _, group in lines.groupby("model"):
        assert sorted(group["row"]) == known.index.tolist()
    assert (lines["true"].to_numpy() == known[lines["row"]].to_numpy()).all()
    right = (lines["true"] == lines["predicted"]).groupby([lines["model"], lines["fold"]]).mean()
    expected = results.cells.set_index(["model", "fold"])["accuracy"]
    np.testing.assert_allclose(right.sort_index(), expected.sort_index().astype(float))
    labels = ["01", "1", "old"]
    logistic = lines[lines["model"] == "logistic-regression"]
    for name in ("probability", "decision"):
        columns = logistic[[f"{name}_{label}" for label in labels]].to_numpy()
        assert (np.array(labels)[columns.argmax(axis=1)] == logistic["predicted"]).all()
    np.testing.assert_allclose(logistic.filter(like="probability").sum(axis=1), 1, atol=1e-6)


def test_predictions_of_a_regression_have_its_units_and_rows_keep_their_numbers_if_sorted() -> None:
    frame = shop()
    results, lines = compared(frame.drop(columns="kind"), ("ridge",), target="spends", ordered_by="day")
    lines = lines.assign(true=lines["true"].astype(float), predicted=lines["predicted"].astype(float))
    np.testing.assert_allclose(lines["true"], frame["spends"].to_numpy()[lines["row"]])
    for (model, fold), group in lines.groupby(["model", "fold"]):
        error = np.sqrt(((group["true"] - group["predicted"]) ** 2).mean()) / group["true"].std(ddof=1)
        cells = results.cells
        measured = cells.loc[(cells["model"] == model) & (cells["fold"] == fold), "nrmse"].item()
        np.testing.assert_allclose(error, measured, rtol=1e-9)


def test_data_that_have_changed_since_have_no_predictions() -> None:
    from toy_data import forget_data

    from elmbench.reporting.results import write_results
    from elmbench.running.store import Store

    results, lines = compared(shop().drop(columns="spends"), ("ridge",), target="kind")
    assert len(lines)
    changed = pd.read_csv("shop.csv", dtype=str)
    changed.assign(age=changed["age"].astype(float) + 1).to_csv("shop.csv", index=False)
    forget_data()
    write_results(results.resolved, Store(Path("elmbench-results")), Path("elmbench-results"))
    assert not (results.folder / "predictions.csv").read_text().strip()


def test_the_table_shows_the_hyperparameters_that_most_folds_chose() -> None:
    results, _ = compared(shop().drop(columns="spends"), ("k-elm", "ridge"), target="kind")
    chosen = results.cells[results.cells["model"] == "k-elm"]["params"]
    most, count = chosen.value_counts().index[0], chosen.value_counts().iloc[0]
    words = f"C={json.loads(most)['C']:.0f} gamma=0.1" if json.loads(most)["C"] > 1 else "C=1 gamma=0.1"
    assert words + f" ({count} of 3)" * bool(count < 3) in results.text
    assert "C=1\n" in "\n".join(line.rstrip() for line in results.text.splitlines()) + "\n"
    assert max(map(len, results.text.splitlines())) <= 80
