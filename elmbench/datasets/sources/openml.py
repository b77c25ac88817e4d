"""OpenML data sets by id: its client describes them, in a private folder that is deleted."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from elmbench.datasets.sources.base import TIMEOUT, FetchJob, NetworkSource, network
from elmbench.errors import DataUnavailableError, ElmbenchError, first_line

if TYPE_CHECKING:
    from elmbench.datasets.table import Table

_VARIABLE = "OPENML_CACHE_DIR"


class OpenMLSource(NetworkSource):
    """OpenML data sets by id."""

    #: The kind of source.
    kind: Literal["openml"]
    #: The id of a data set of OpenML; several are joined column by column.
    id: int | tuple[int, ...]
    #: The name of the target or its position (-1: the last column); OpenML's default target by
    #: default.
    target: str | int | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the data sets as a tuple, also of a single one."""
        return (self.id,) if isinstance(self.id, int) else self.id

    @property
    def title(self) -> str:
        """The source in words: "OpenML 31", or several ids."""
        return "OpenML " + ", ".join(map(str, self.ids))

    def fetch(self, job: FetchJob) -> Mapping[str, Table]:
        """Download the data sets and return {'all': their joined table}.

        Raises ElmbenchError if one does not exist or their targets differ, DataUnavailableError
        without a network. `job`: downloads files into its folder.
        """
        with _private_client() as openml:
            descriptions = [_description(openml, number) for number in self.ids]
        return {
            "all": self._joined(
                [self._table(description, job) for description in descriptions]
            )
        }

    def _table(self, description: Any, job: FetchJob) -> Table:
        """Download the rows of one data set, as Parquet if they are dense, else as ARFF.

        `description`: of the client. OpenML's Parquet files have no checksum, so they need an
        encrypted connection or a fingerprint of the rows; without either, or if Parquet fails,
        dense rows are ARFF, too.
        """
        is_sparse = description.format.lower() == "sparse_arff"
        parquet = str(description._parquet_url or "")
        is_trusted = job.has_fingerprint or parquet.startswith("https:")
        if parquet and not is_sparse and is_trusted:
            with contextlib.suppress(ElmbenchError):
                return self._read(description, job.download(parquet), job, "parquet")
        known_hash = None
        if description.md5_checksum:
            known_hash = f"md5:{description.md5_checksum.lower()}"
        path = job.download(str(description.url), known_hash)
        return self._read(
            description, path, job, "sparse-arff" if is_sparse else "arff"
        )

    def _read(self, description: Any, path: Path, job: FetchJob, form: str) -> Table:
        """Return the table of a fetched file, without row numbers and ignored columns.

        `description`: of the client. `form`: "parquet", "arff" or "sparse-arff".
        """
        from elmbench.datasets.readers import PUBLIC, read_table

        ignored = {
            *_names_as_list(description.row_id_attribute),
            *_names_as_list(description.ignore_attribute),
        }
        choose = partial(self._choose, description, ignored)
        layout = job.layout or PUBLIC
        table = read_table(path, choose, form=form, layout=layout)
        return replace(
            table.drop_columns(ignored), origin=f"OpenML {description.dataset_id}"
        )

    def _choose(self, description: Any, ignored: set[str], columns: list[str]) -> str:
        """Return the name of the target among `columns`: that of this source, else of OpenML.

        The source may name it, or give its position among the columns that are not `ignored`. A
        named one may be a column that OpenML ignores. `description`: of the client. Raises
        ElmbenchError if there is no such name, IndexError if there is no such position.
        """
        names = [name for name in columns if name not in ignored or name == self.target]
        if isinstance(self.target, int):
            return names[self.target]
        target = self.target or description.default_target_attribute
        if target not in names:
            lacks = f"no column {target!r}" if target else "no default target"
            expected = "a target among " + ", ".join([*names[:5], "...", *names[-1:]])
            next_step = "name the target of this source in datasets.yaml"
            raise ElmbenchError(
                f"OpenML {description.dataset_id} has {lacks}",
                expected=expected,
                next_step=next_step,
            )
        return str(target)

    def _joined(self, tables: list[Table]) -> Table:
        """Return one table with the features of several OpenML data sets, named `ID:NAME`.

        They must be numbers: words and notes are lost. A single table stays as it is. `tables`: one
        for each of `ids`. Raises ElmbenchError if their targets differ.
        """
        import numpy as np

        from elmbench.datasets.table import Table, label_words

        first = tables[0]
        if len(tables) == 1:
            return first
        names: list[str] = []
        for number, table in zip(self.ids, tables, strict=True):
            if not np.array_equal(label_words(table.target), label_words(first.target)):
                problem = f"OpenML {number} has other targets than OpenML {self.ids[0]}, row by row"
                expected = "the same rows in all of " + ", ".join(map(str, self.ids))
                raise ElmbenchError(
                    problem,
                    expected=expected,
                    next_step="correct the ids in datasets.yaml",
                )
            names += [f"{number}:{name}" for name in table.names]
        return Table(
            np.hstack([table.X for table in tables]),
            tuple(names),
            first.target,
            self.title,
        )


@contextlib.contextmanager
def _request_errors(
    openml: Any, subject: str, kind: str, next_step: str
) -> Iterator[None]:
    """Convert the errors of requests to OpenML in the context into those of this package.

    `openml`: the client. `subject`, `kind`: what is asked for, such as "OpenML 7" and "data set".
    `next_step`: the advice if it does not exist. Raises DataUnavailableError before, if the server
    cannot be reached.
    """
    import pooch

    exceptions = openml.exceptions
    later = "try again later"
    where = f"{subject} ({openml.config.server})"
    # The client tries for minutes to reach a server.
    with network(openml.config.server):
        pooch.HTTPDownloader(timeout=TIMEOUT)(
            openml.config.server, None, None, check_only=True
        )
    try:
        yield
    except (
        exceptions.OpenMLServerNoResult,
        exceptions.OpenMLPrivateDatasetError,
    ) as error:
        raise ElmbenchError(
            f"{where}: {error.message}",
            expected=f"a public {kind}",
            next_step=next_step,
        ) from error
    except (exceptions.PyOpenMLError, OSError) as error:
        problem = f"{where}: {first_line(error)}"
        raise DataUnavailableError(
            problem, expected="an answer", next_step=later
        ) from error
    except (KeyError, ValueError, TypeError) as error:
        problem = f"{where}: its description lacks or garbles {error}"
        raise ElmbenchError(
            problem,
            expected="a description as OpenML's server gives it",
            next_step=later,
        ) from error


def _description(openml: Any, number: int) -> Any:
    """Return the client's description of an OpenML data set, which is downloaded.

    Raises ElmbenchError if it does not exist, DataUnavailableError if nothing answers. `openml`:
    the client. `number`: the id.
    """
    next_step = "correct the id in datasets.yaml"
    with _request_errors(openml, f"OpenML {number}", "data set", next_step):
        return openml.datasets.get_dataset(
            number,
            download_data=False,
            download_qualities=False,
            download_features_meta_data=False,
        )


class TaskSplits(NamedTuple):
    """The official splits of an OpenML task."""

    dataset_id: int
    #: By repeat, fold and sample, each counted from 0: the training and the test rows.
    parts: Mapping[int, Mapping[int, Mapping[int, tuple[Any, Any]]]]
    #: True for folds with equal shares of each class.
    is_stratified: bool


def download_task(number: int) -> TaskSplits:
    """Download the official splits of an OpenML task, `number`.

    The `parts` of the result are {repeat: {fold: {sample: (training rows, test rows)}}}, all
    counted from 0. Raises ElmbenchError if it does not exist or has no splits, DataUnavailableError
    if nothing answers.
    """
    subject = f"OpenML task {number}"
    next_step = "correct the number of the task"
    with (
        _private_client() as openml,
        _request_errors(openml, subject, "task", next_step),
    ):
        task = openml.tasks.get_task(
            number,
            download_data=False,
            download_qualities=False,
            download_features_meta_data=False,
        )
        if not isinstance(task, openml.tasks.OpenMLSupervisedTask):
            raise ElmbenchError(
                f"{subject} has no splits",
                expected="a task of classification or regression",
                next_step=next_step,
            )
        return TaskSplits(
            dataset_id=int(task.dataset_id),
            parts=task.download_split().split,
            is_stratified=_has_stratified_folds(task.estimation_procedure),
        )


def _has_stratified_folds(procedure: Mapping[str, Any]) -> bool:
    """Return True if an estimation procedure of OpenML is a stratified cross-validation.

    `procedure`: with the keys `type` and `parameters`.
    """
    parameters = procedure.get("parameters") or {}
    is_of_folds = procedure.get("type") == "crossvalidation"
    return is_of_folds and parameters.get("stratified_sampling") == "true"


def _names_as_list(names: str | list[str] | None) -> list[str]:
    """Return one name as a list, a list as it is, and None as an empty list."""
    return [names] if isinstance(names, str) else list(names or ())


@contextlib.contextmanager
def _private_client() -> Iterator[Any]:
    """Yield the `openml` module with a cache folder that is deleted at the end of the context.

    The folder holds pickles. Warnings of all loggers are silenced in the meantime.
    """
    before = os.environ.get(_VARIABLE)
    quiet = logging.root.manager.disable
    with (
        tempfile.TemporaryDirectory(prefix="elmbench-openml-") as folder,
        contextlib.ExitStack() as stack,
    ):
        os.environ[_VARIABLE] = (
            folder  # it is read when the client is imported, which would make a folder in $HOME
        )
        stack.callback(
            lambda: (
                os.environ.pop(_VARIABLE)
                if before is None
                else os.environ.update({_VARIABLE: before})
            )
        )
        # The client warns on the root logger of every answer that is not compressed.
        logging.disable(logging.WARNING)
        stack.callback(logging.disable, quiet)
        import openml

        stack.callback(
            openml.config.set_root_cache_directory, openml.config._root_cache_directory
        )
        openml.config.set_root_cache_directory(folder)
        yield openml
