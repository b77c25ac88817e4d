"""`predictions.csv`: the predictions of each model of a comparison for its test rows."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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


def write_predictions(
    planned: Sequence[Cell],
    store: Store,
    resolved: Resolved,
    folder: Path,
    n_lines: int,
) -> None:
    """Write the lines of `predictions_frame` as `predictions.csv` in a folder, atomically.

    Above a million lines, the file is `predictions.parquet`. The other one of the two files is
    deleted. `planned`: the cells, of which those without predictions have no lines. `n_lines`: the
    number of lines, which decides only on the format.
    """
    is_long = n_lines > MOST_CSV_LINES
    text_file = folder / "predictions.csv"
    binary_file = folder / "predictions.parquet"
    if is_long:
        with replace_file(binary_file) as partial:
            _write_parquet(planned, store, resolved, partial)
    else:
        write_frame(predictions_frame(planned, store, resolved), text_file)
    outdated = text_file if is_long else binary_file
    outdated.unlink(missing_ok=True)


def _write_parquet(
    planned: Sequence[Cell], store: Store, resolved: Resolved, path: Path
) -> None:
    """Write the lines of `predictions_frame` as the Parquet file `path`, cell by cell.

    Together, those of many models for millions of rows may not fit into memory. The targets are
    numbers if all data sets are of regression, else texts.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    outputs: dict[str, None] = {}
    for cell in planned:
        predicted = _predicted_cell(cell, store, resolved)
        if predicted is not None:
            outputs |= dict.fromkeys(predicted.output_names)
    tasks = {resolved.dataset(cell.dataset).task for cell in planned}
    are_numbers = tasks == {"regression"}
    target_type = pa.float64() if are_numbers else pa.string()
    types = {
        "dataset": pa.string(),
        "row": pa.int64(),
        "run": pa.int64(),
        "fold": pa.int64(),
        "model": pa.string(),
        "true": target_type,
        "predicted": target_type,
        **dict.fromkeys(outputs, pa.float32()),
    }
    schema = pa.schema(types)
    with pq.ParquetWriter(path, schema) as writer:
        for cell in planned:
            predicted = _predicted_cell(cell, store, resolved)
            if predicted is None:
                continue
            lines = predicted.lines()
            if not are_numbers:
                lines = lines.astype({"true": str, "predicted": str})
            part = pa.Table.from_pandas(
                lines.reindex(columns=list(types)), schema, preserve_index=False
            )
            writer.write_table(part)


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
    cells = (_predicted_cell(cell, store, resolved) for cell in planned)
    frames = [predicted.lines() for predicted in cells if predicted is not None]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


class _PredictedCell(NamedTuple):
    """A cell with predictions in the store.

    Attributes
    ----------
    cell : Cell
    stored : StoredPredictions
    outer_fold : OuterFold
    data : Dataset
    """

    cell: Cell
    stored: StoredPredictions
    outer_fold: OuterFold
    data: Dataset

    @property
    def output_names(self) -> list[str]:
        """The columns of the decision values and probabilities that the model has.

        They are `decision`, or `decision_<class>` for each of more than two classes, then
        `probability_<class>`; none for a regression, and those that the store has no values of are
        left out.
        """
        classes = self.data.classes
        if classes is None:
            return []
        names = []
        if "scores" in self.stored.content:
            names += (
                ["decision"] if len(classes) <= 2 else _by_class("decision", classes)
            )
        if "log_odds" in self.stored.content:
            names += _by_class("probability", classes)
        return names

    def lines(self) -> pd.DataFrame:
        """Return a line for each test row; see `predictions_frame`.

        The columns are `dataset`, `row`, `run`, `fold`, `model`, `true` and `predicted`; of a
        classification, whose targets are labels, also those of `output_names`, in single precision.
        Raises ElmbenchError if the stored rows do not fit the data.
        """
        data = self.data
        test = _test_rows(self.outer_fold, self.stored, n_rows=len(data.y))
        columns: dict[str, Any] = {
            "dataset": self.cell.dataset,
            "row": test if data.rows is None else data.rows[test],
            "run": self.cell.run,
            "fold": self.cell.fold,
            "model": self.cell.model,
        }
        if data.classes is None:
            columns["true"] = data.y[test]
            columns["predicted"] = self.stored.predicted
            return pd.DataFrame(columns)
        labels = np.array(data.classes, dtype=object)
        columns["true"] = labels[self.stored.true]
        columns["predicted"] = labels[self.stored.predicted]
        # In single precision, as in the store.
        outputs = [
            values.astype(np.float32).reshape(len(test), -1)
            for values in (self.stored.columns("scores"), self.stored.probabilities)
            if values is not None
        ]
        if outputs:
            columns |= dict(zip(self.output_names, np.hstack(outputs).T, strict=True))
        return pd.DataFrame(columns)


def _by_class(name: str, classes: Sequence[str]) -> list[str]:
    """Return the names of the columns of an output for each class."""
    return [f"{name}_{label}" for label in classes]


def _predicted_cell(
    cell: Cell, store: Store, resolved: Resolved
) -> _PredictedCell | None:
    """Return a cell with its predictions and data.

    It is None without predictions, or if the data are missing or have changed since the fit.
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
    return _PredictedCell(cell=cell, stored=stored, outer_fold=outer_fold, data=data)


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

    `outer_fold`: splits the data if `stored` does not have the positions. `n_rows`: the number of
    rows of the data. Raises ElmbenchError if they do not fit the data or the predictions.
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
