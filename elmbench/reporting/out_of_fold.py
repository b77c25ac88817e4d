"""`predictions.csv`: the predictions of each model of a comparison for its test rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.numerics.arrays import Array
from elmbench.protocol.folds import fold_rows, load_rows
from elmbench.protocol.stored import StoredPredictions
from elmbench.reporting.cells import stored_in
from elmbench.running.store import Store
from elmbench.specs.profiles import Resolved
from elmbench.work import work_from
from elmbench.work.fit import Fit
from elmbench.work.plan import Cell


def predictions_frame(planned: Iterable[Cell], store: Store, resolved: Resolved) -> pd.DataFrame:
    """Return a line for each test row of each fold and model, from the predictions in the store.

    Returns
    -------
    DataFrame
        `dataset`, `row` (its number in the user's file, from 0), `run`, `fold`, `model`, `true` and `predicted` in the
        spelling and the units of the file; of a classification `decision` (of the second class, or `decision_<class>`
        for each of more than two) and `probability_<class>`, if the model has them. Cells without predictions, and
        those whose data are missing or have changed, have no lines.
    """
    parts = list(_parts(planned, store, resolved))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _parts(planned: Iterable[Cell], store: Store, resolved: Resolved) -> Iterator[pd.DataFrame]:
    for cell in planned:
        record = store.get(cell.key) if cell.key else None
        stored = None if record is None else stored_in(record["result"])
        if record is None or stored is None:
            continue
        work = work_from(record["unit"], resolved.dataset(cell.dataset))
        assert isinstance(work, Fit)
        try:
            data = load_rows(work.outer_fold.dataset, None)
        except ElmbenchError:
            continue
        if data.checksum != work.outer_fold.dataset.checksum:
            continue
        test = stored.rows
        if test is None:
            _, test = fold_rows(work.outer_fold, None)
        where: dict[str, Any] = {"dataset": cell.dataset, "row": test if data.rows is None else data.rows[test]}
        where |= {"run": cell.run, "fold": cell.fold, "model": cell.model}
        if data.classes is not None:
            yield pd.DataFrame(where | _of_classes(stored, data.classes))
        else:
            yield pd.DataFrame(where | {"true": data.y[test], "predicted": stored.predicted})


def _of_classes(stored: StoredPredictions, classes: tuple[str, ...]) -> dict[str, Any]:
    labels = np.array(classes, dtype=object)
    columns: dict[str, Any] = {"true": labels[stored.true], "predicted": labels[stored.predicted]}
    if "scores" in stored.content and stored.scores is not None:
        columns |= (
            {"decision": _round_as_stored(stored.scores)}
            if stored.scores.ndim == 1
            else _each("decision", stored.scores, classes)
        )
    if stored.probabilities is not None:
        columns |= _each("probability", stored.probabilities, classes)
    return columns


def _each(name: str, values: Array, classes: tuple[str, ...]) -> dict[str, Any]:
    return {f"{name}_{label}": _round_as_stored(values[:, i]) for i, label in enumerate(classes)}


def _round_as_stored(values: Array) -> Array:
    """Return values rounded as in the store."""
    return values.astype(np.float32)
