"""`predictions.csv`: the predictions of each model of a comparison for its test rows."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elmbench.datasets.dataset import Dataset
from elmbench.errors import ElmbenchError
from elmbench.evaluation.content import read_content
from elmbench.evaluation.folds import DatasetRef, OuterFold, fold_rows, load_rows
from elmbench.evaluation.splits import Indices
from elmbench.evaluation.stored_predictions import (
    StoredPredictions,
    unusable_predictions,
)
from elmbench.execution.store import Store
from elmbench.files import replace_file
from elmbench.results.cells import stored_predictions_of, write_frame
from elmbench.specs.profiles import Resolved
from elmbench.tasks.plan import Cell

#: Above this number of lines, the predictions of a comparison are a Parquet file: as CSV, they
#: would take longer than many a model, and gigabytes.
MOST_CSV_LINES = 1_000_000


def write_predictions(predictions: pd.DataFrame, folder: Path) -> None:
    """Write predictions, a line for each test row, as `predictions.csv` in a folder, atomically.

    Above a million lines, the file is `predictions.parquet`. The other one of the two files is
    deleted.
    """
    is_long = len(predictions) > MOST_CSV_LINES
    text_file = folder / "predictions.csv"
    binary_file = folder / "predictions.parquet"
    if is_long:
        with replace_file(binary_file) as partial, open(partial, "wb") as stream:
            predictions.to_parquet(stream, index=False)
    else:
        write_frame(predictions, text_file)
    outdated = text_file if is_long else binary_file
    outdated.unlink(missing_ok=True)


def predictions_frame(
    planned: Iterable[Cell], store: Store, resolved: Resolved
) -> pd.DataFrame:
    """Return a line for each test row of each fold and model, from the predictions in the store.

    The columns are `dataset`, `row` (its number in the user's file, from 0), `run`, `fold`,
    `model`, `true` and `predicted` in the spelling and the units of the file; of a classification
    `decision` (of the positive class, or `decision_<class>` for each of more than two) and
    `probability_<class>`, if the model has them. Cells without predictions, and those whose data
    are missing or have changed, have no lines; without lines there are no columns.
    """
    parts = [_lines_of(cell, store, resolved) for cell in planned]
    frames = [part for part in parts if part is not None]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _lines_of(cell: Cell, store: Store, resolved: Resolved) -> pd.DataFrame | None:
    """Return a line for each test row of a cell, with the columns of `predictions_frame`.

    It is None without the predictions or the data of the cell.
    """
    record = store.get(cell.key) if cell.key else None
    stored = stored_predictions_of(record["result"]) if record is not None else None
    if record is None or stored is None:
        return None
    spec = resolved.dataset(cell.dataset)
    outer_fold = read_content(OuterFold, record["unit"], spec=spec)
    data = _unchanged_rows(outer_fold.dataset)
    if data is None:
        return None
    test = _test_rows(outer_fold, stored, n_rows=len(data.y))
    columns: dict[str, Any] = {
        "dataset": cell.dataset,
        "row": test if data.rows is None else data.rows[test],
        "run": cell.run,
        "fold": cell.fold,
        "model": cell.model,
    }
    if data.classes is None:
        return pd.DataFrame(
            columns | {"true": data.y[test], "predicted": stored.predicted}
        )
    return pd.DataFrame(columns | _columns_of_classes(stored, data.classes))


def _unchanged_rows(dataset: DatasetRef) -> Dataset | None:
    """Return the data of a fit as they are now; None if they are missing or have changed since."""
    try:
        data = load_rows(dataset, None)
    except ElmbenchError:
        return None
    return data if data.checksum == dataset.checksum else None


def _test_rows(
    outer_fold: OuterFold, stored: StoredPredictions, n_rows: int
) -> Indices:
    """Return the positions of the test rows in the data, from 0.

    `n_rows`: the number of rows of the data. Raises ElmbenchError if they do not fit the data or
    the predictions.
    """
    test = stored.rows
    if test is None:
        _, test = fold_rows(outer_fold, None)
    elif test.max(initial=-1) >= n_rows:
        raise unusable_predictions(f"a row has the number {test.max()} of {n_rows}")
    if len(test) != len(stored.true):
        raise unusable_predictions(
            f"{len(stored.true)} of them for {len(test)} test rows"
        )
    return test


def _columns_of_classes(
    stored: StoredPredictions, classes: Sequence[Any]
) -> dict[str, Any]:
    """Return the columns of a classifier's predictions: {column: array with a value for each row}.

    They are `true` and `predicted`, labels; and its decision values and probabilities, if it has
    them, in single precision as in the store. Names are `decision` or `probability` for one value a
    row, else `decision_<class>` and `probability_<class>`. `classes`: the labels, in the order of
    their indices.
    """
    labels = np.array(classes, dtype=object)
    columns: dict[str, Any] = {
        "true": labels[stored.true],
        "predicted": labels[stored.predicted],
    }
    outputs = {
        "decision": stored.columns("scores"),
        "probability": stored.probabilities,
    }
    for name, values in outputs.items():
        if values is None:
            continue
        values = values.astype(np.float32)
        if values.ndim == 1:
            columns[name] = values
            continue
        for label, column in zip(classes, values.T, strict=True):
            columns[f"{name}_{label}"] = column
    return columns
