"""The predictions of a saved model for the rows of a file."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd
import scipy.sparse as sp

from elmbench.comparison.saved_models import load
from elmbench.datasets.dataset import Columns
from elmbench.datasets.sources.file import (
    FileSource,
    header_of,
    read_user_file,
    read_words,
)
from elmbench.datasets.table import Table, few
from elmbench.datasets.user_files.values import as_read
from elmbench.errors import ElmbenchError, first_line

#: The kinds of the columns of sparse rows, which have no names.
_NO_COLUMNS = Columns(numbers=(), dates={}, words=())._asdict()


class _SavedModel(NamedTuple):
    """A saved model, and the columns of its training rows.

    Attributes
    ----------
    estimator : estimator
        The fitted pipeline, or the regressor that holds it.
    steps : mapping of str to estimator
        The fitted steps of the pipeline by name.
    names : list of str
        The names of the features; empty for sparse rows.
    kinds : dict of str to object
        The fields of `Columns`, such as `words`: the names of the columns of categories.
    """

    estimator: Any
    steps: Any
    names: list[str]
    kinds: dict[str, Any]


def predict_file(
    model: Path,
    file: Path,
    separator: str = "",
    decimal: Literal["", ".", ","] = "",
    *,
    proba: bool = False,
    keep: Collection[str] = (),
) -> tuple[pd.DataFrame, list[str]]:
    """Return (predictions, warnings) of a saved model for the rows of a file.

    The frame has a line for each row, in the order of the file: the columns `keep` of the file, as
    it spells them, the column `prediction` and, with `proba`, a column `probability_<class>` for
    each class of a classifier. A warning, a text, names
    for instance a column with categories that the training rows lack, or says that the model has no
    probabilities. `separator`, `decimal`: marks of a text table; if empty, the separator is
    detected and the decimal mark is that of the training rows.

    Raises ElmbenchError if the model cannot be loaded, the file has no rows, or a column is missing
    or has unusable values. Also if a column of `keep` has the name of a column of predictions.
    """
    saved = _load_model(model)
    source = FileSource(
        kind="file",
        path=str(file),
        words=(*saved.kinds["words"], *saved.kinds["dates"]),
        text=saved.kinds["text"],
        separator=separator,
        decimal=decimal,
        header=header_of(saved.names),
    )
    table = read_user_file(
        source,
        features=saved.names,
        has_target=False,
        decimal=saved.kinds["decimal"],
        signs=saved.kinds["signs"],
    )
    if not len(table.target):
        raise ElmbenchError(
            f"{file} has no rows",
            expected="rows below the header",
            next_step="add rows",
        )
    remarks = [*table.warnings]
    has_probabilities = hasattr(saved.estimator, "predict_proba")
    if proba and not has_probabilities:
        is_regression = hasattr(saved.estimator, "regressor_")
        reason = "a regression" if is_regression else "a model of an old version"
        remarks.append(f"{model} has no probabilities, as it is {reason}")
    try:
        X, unknown = _features_of(table, saved)
        predictions = _predictions(
            saved.estimator, X, proba=proba and has_probabilities
        )
    except ValueError as error:
        raise ElmbenchError(
            f"{file}: {first_line(error)}",
            expected="values as in training",
            next_step="correct the file",
        ) from error
    kept = read_words(source, keep) if keep else {}
    for name in kept:
        if name in predictions:
            raise ElmbenchError(
                f"{file}: the column {name!r} to keep has the name of a column of the predictions",
                expected="a different name",
                next_step="rename it in the file, or leave it out",
            )
    # As objects: pandas would replace None by NaN, which JSON lacks.
    columns = pd.DataFrame(kept, predictions.index, dtype=object)
    return columns.join(predictions), remarks + unknown


def _load_model(path: Path) -> _SavedModel:
    """Return the model of a file of `compare --save`.

    Raises ElmbenchError if there is no such file, or if it is another file or of other versions. A
    file of joblib may run code.
    """
    if not path.is_file():
        raise ElmbenchError(
            f"{path} {'is not a regular file' if path.exists() else 'does not exist'}",
            expected="a file of compare --save",
            next_step="check the path",
        )
    try:
        estimator = load(path)
        steps = getattr(estimator, "regressor_", estimator).named_steps
        names = list(getattr(estimator, "feature_names_in_", ()))
        # A model of an earlier version may name the kinds of its columns differently.
        kinds = Columns(**steps["values"].kw_args)._asdict() if names else _NO_COLUMNS
    except ElmbenchError:
        raise
    except Exception as error:
        # Other errors say only that it is another file.
        has_other_versions = isinstance(error, ImportError | AttributeError)
        cause = f"{type(error).__name__}: {first_line(error)}"
        reason = f" with these versions ({cause})" if has_other_versions else ""
        raise ElmbenchError(
            f"{path} is not a model that `elmbench compare --save` has written{reason}",
            expected="a file of compare --save",
            next_step="name the model first and the rows second: elmbench predict MODEL ROWS",
        ) from error
    return _SavedModel(estimator=estimator, steps=steps, names=names, kinds=kinds)


def _features_of(table: Table, saved: _SavedModel) -> tuple[Any, list[str]]:
    """Return (features, remarks) of new rows: the features as the model takes them.

    `table`: the rows of the file. The features are a data frame with the columns of the training
    rows, in their order, or a CSR matrix if the model was learnt without column names. A column
    that the table lacks is 0 in all rows. The remarks, a list of texts, are on unknown categories.
    Raises ValueError if a column of numbers or dates holds anything else.
    """
    # The last features of sparse rows may be zero in all rows of a file.
    if not saved.names:
        X = sp.csr_matrix(table.X)
        X.resize(X.shape[0], saved.estimator.n_features_in_)
        return X, []
    frame = table.frame()
    learnt_columns = frame.reindex(columns=saved.names, fill_value=0.0)
    X = as_read(learnt_columns, **saved.kinds)
    word_columns = list(saved.kinds["words"])
    inputs = saved.steps["inputs"]
    remarks = list(_unknown_categories(X[word_columns], inputs))
    return X, remarks


def _predictions(estimator: Any, X: Any, *, proba: bool) -> pd.DataFrame:
    """Return a line for each row: the column `prediction` and, with `proba`, the probabilities.

    These are columns `probability_<class>`, for which `estimator` must be a classifier with
    `predict_proba`. `X`: the features as the estimator takes them.
    """
    predictions = pd.DataFrame({"prediction": estimator.predict(X)})
    if not proba:
        return predictions
    names = [f"probability_{label}" for label in estimator.classes_]
    shares = estimator.predict_proba(X)
    probabilities = pd.DataFrame(shares, columns=names)
    return predictions.join(probabilities)


def _unknown_categories(words: pd.DataFrame, inputs: Any) -> Iterator[str]:
    """Yield a remark on each column with categories that the fitted encoder does not know.

    A remark has the number of rows and up to five of the categories; missing values do not count.
    `words`: the columns of categories of the new rows, in the order of the training rows. `inputs`:
    the fitted transformer of the pipeline, whose part `words` ends in the encoder.
    """
    encoded = (
        inputs.named_transformers_["words"][-1].categories_
        if len(words.columns)
        else ()
    )
    for (name, values), categories in zip(words.items(), encoded, strict=True):
        unknown = values[values.notna() & ~values.isin(categories)]
        if len(unknown):
            rows = f"{len(unknown)} of {len(values)} rows"
            examples = few([*map(repr, unknown.unique())], 5)
            yield (
                f"{name!r} has categories that the training rows lack, in {rows}: {examples}; they "
                "are ignored"
            )
