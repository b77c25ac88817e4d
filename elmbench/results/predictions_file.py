"""`predictions.csv`: the predictions of each model of a comparison for its test rows."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.evaluation.content import read_content
from elmbench.evaluation.folds import OuterFold, fold_rows, load_rows
from elmbench.evaluation.stored_predictions import unusable_predictions
from elmbench.execution.store import Store
from elmbench.files import replace_file
from elmbench.results.cells import stored_predictions_of, write_frame
from elmbench.specs.profiles import Resolved
from elmbench.tasks.plan import Cell

#: Above this number of lines, the predictions of a comparison are a Parquet file: as CSV, they
#: would take longer than many a model, and gigabytes.
MOST_CSV_LINES = 1_000_000


def write_predictions(predictions: pd.DataFrame, folder: Path) -> None:
    """Write `predictions.csv` or, with many lines, `predictions.parquet`, atomically."""
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


def predictions_frame(planned: Iterable[Cell], store: Store, resolved: Resolved) -> pd.DataFrame:
    """Return a line for each test row of each fold and model, from the predictions in the store.

    The columns are `dataset`, `row` (its number in the user's file, from 0), `run`, `fold`,
    `model`, `true` and `predicted` in the spelling and the units of the file; of a classification
    `decision` (of the positive class, or `decision_<class>` for each of more than two) and
    `probability_<class>`, if the model has them. Cells without predictions, and those whose data
    are missing or have changed, have no lines.
    """
    parts: list[pd.DataFrame] = []
    for cell in planned:
        record = store.get(cell.key) if cell.key else None
        if record is None or (stored := stored_predictions_of(record["result"])) is None:
            continue
        spec = resolved.dataset(cell.dataset)
        outer_fold = read_content(OuterFold, record["unit"], spec=spec)
        try:
            data = load_rows(outer_fold.dataset, None)
        except ElmbenchError:
            continue
        if data.checksum != outer_fold.dataset.checksum:
            continue
        test = stored.rows
        if test is None:
            _, test = fold_rows(outer_fold, None)
        elif test.max(initial=-1) >= len(data.y):
            raise unusable_predictions(f"a row has the number {test.max()} of {len(data.y)}")
        if len(test) != len(stored.true):
            raise unusable_predictions(f"{len(stored.true)} of them for {len(test)} test rows")
        columns: dict[str, Any] = {
            "dataset": cell.dataset,
            "row": test if data.rows is None else data.rows[test],
        }
        columns |= {"run": cell.run, "fold": cell.fold, "model": cell.model}
        if data.classes is None:
            parts.append(
                pd.DataFrame(columns | {"true": data.y[test], "predicted": stored.predicted})
            )
            continue
        labels = np.array(data.classes, dtype=object)
        columns |= {"true": labels[stored.true], "predicted": labels[stored.predicted]}
        for name, values in (
            ("decision", stored.columns("scores")),
            ("probability", stored.probabilities),
        ):
            # The store rounds to single precision.
            if values is not None and values.ndim == 1:
                columns[name] = values.astype(np.float32)
            elif values is not None:
                columns |= {
                    f"{name}_{label}": values[:, i].astype(np.float32)
                    for i, label in enumerate(data.classes)
                }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
