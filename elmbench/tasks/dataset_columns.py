"""The columns of a table on one data set: models, hyperparameters, grids and folds."""

from dataclasses import replace
from functools import cached_property
from typing import Any

from elmbench.datasets.load import Identities
from elmbench.datasets.openml_tasks import check_task, task_number
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.evaluation.folds import DatasetRef, FoldProtocol, OuterFold
from elmbench.evaluation.given_splits import locate_inner_splits, locate_splits
from elmbench.evaluation.splits import rare_class_remark
from elmbench.registry import check_parameters, find_model, has_method, model_version
from elmbench.registry.scorers import find_metric, is_metric
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.grids import SearchGrid
from elmbench.specs.model_columns import ModelColumn
from elmbench.specs.parameters import merge_parameters
from elmbench.specs.profiles import Resolved
from elmbench.specs.splits import FIXED_FITS, GIVEN, Split
from elmbench.tasks.base import ModelRef
from elmbench.tasks.plan import RunRequest


class DatasetColumns:
    """The columns of a table on one data set: their models, hyperparameters, grids and folds.

    A column is a model with its settings; it may inherit hyperparameters from another column, its
    parent. The methods take a column by its name.

    Attributes
    ----------
    resolved : Resolved
        The experiment under a profile and readings.
    request : RunRequest
        What the user asks for.
    dataset : DatasetSpec
        The data set, with the options of the experiment.
    models : dict of str to ModelColumn
        Every column by name, also those that the user adds, as they are on this data set, with
        printed values for the hyperparameters that are not searched.
    columns : list of str
        The requested columns that are run on this data set.
    runs, folds : int
        The number of runs, and of outer folds in each.
    split, inner : Split
        The outer and the inner splits.
    missing : str
        The reason why the data are missing; empty if they are here.
    remarks : str
        Assumptions about the rows, that they are not those of the public file, or rare classes.
    """

    def __init__(
        self,
        resolved: Resolved,
        request: RunRequest,
        dataset: DatasetSpec,
        columns: dict[str, ModelColumn],
    ) -> None:
        self.resolved = resolved
        self.request = request
        self.options = dict(resolved.spec.data.get(dataset.name, {}))
        self.dataset = dataset.with_options(self.options)
        self.protocol = resolved.spec.protocol
        self.runs = request.runs or self.protocol.outer.runs_of(dataset.name)
        self._printed = self._published_parameters()
        all_columns = resolved.spec.models | columns
        self.models = {
            column: model.adapt(dataset.name) for column, model in all_columns.items()
        }
        self.models = {
            column: self._fix_printed_params(column) for column in self.models
        }
        self.columns = [
            column for column in columns if self.models[column].runs_on(dataset.name)
        ]
        self._locate_splits()
        self._refuse_fewer_rows()
        self.missing = ""
        self.remarks = ""
        #: The checksum of the data in each run.
        self._checksums: list[str] = []
        #: The folds and references to models that the tasks of this data set share.
        self._outer_folds: dict[tuple[int, int], OuterFold] = {}
        self._model_refs: dict[str, ModelRef] = {}

    def _published_parameters(self) -> dict[str, dict[str, Any]]:
        """Return the paper's hyperparameters for this data set, {column: {paper's name: value}}.

        If the data set is a stand-in, they are those of the one that it stands in for.
        """
        resolved = self.resolved
        name = resolved.stand_ins.get(self.dataset.name, self.dataset.name)
        return {
            column: params
            for (spelling, column), params in resolved.file.published.parameters.items()
            if resolved.dataset(spelling).name == name
        }

    def _locate_splits(self) -> None:
        """Set `split`, `folds`, `inner` and `_splits_file`, with the files of given splits.

        Raises ElmbenchError if a file does not have the splits that are needed, or an OpenML task
        is for other data or was not fetched.
        """
        folder = self.resolved.file.path.parent
        name = self.dataset.name
        split = self.protocol.outer.split(name, self.dataset.task)
        openml_task = task_number(split.file)
        if openml_task is not None:
            check_task(openml_task, self.dataset)
        located = locate_splits(split, folder, self.runs)
        self._splits_file = located.file
        self.split = replace(located, file="")
        self.folds = self.split.folds
        self.inner = locate_inner_splits(
            self.protocol.inner.split(name, self.dataset.task),
            folder,
            runs=self.runs,
            outer_folds=self.folds,
        )

    def _refuse_fewer_rows(self) -> None:
        """Raise ElmbenchError if a profile uses only some rows, but splits are given row by row.

        The error names `rows`, which neither given outer nor given inner splits allow, or
        `tune-rows`, which given inner splits do not allow.
        """
        settings = self.resolved.settings
        kinds = (self.split.kind, self.inner.kind)
        key = ""
        if settings.rows and GIVEN in kinds:
            key = "rows"
        elif settings.tune_rows and self.inner.kind == GIVEN:
            key = "tune-rows"
        if not key:
            return
        n_rows = settings.rows or settings.tune_rows
        raise ElmbenchError(
            f"{self.resolved.file.id}: profile {self.resolved.profile} has {key}: {n_rows}, but "
            "its splits are given row by row",
            expected=f"a profile without {key}",
            next_step=f"correct {self.resolved.file.path}",
        )

    def identify_data(self, identities: Identities) -> None:
        """Look up the data: set their checksums and `remarks`, or `missing` if they are not here.

        `missing` is the reason; nothing is raised then. Raises ElmbenchError for damaged or
        different data. `identities`: looks up each data set once for all tables.
        """
        redrawn = range(self.runs if self.dataset.redraw == "run" else 1)
        try:
            of_runs = [
                identities.of(self.dataset, run, self.request.other_data)
                for run in redrawn
            ]
            rare_classes = rare_class_remark(self.dataset, self.split)
        except DataUnavailableError as error:
            parts = [error.found, error.next_step]
            self.missing = "; ".join(filter(None, parts))
            return
        checksums = [identity.checksum for identity in of_runs]
        self._checksums = checksums * (self.runs // len(redrawn))
        remarks = [*of_runs[0].remarks, rare_classes]
        self.remarks = "; ".join(filter(None, remarks))

    def printed_params(self, column: str) -> dict[str, Any]:
        """Return the paper's hyperparameters of a column for this data set, {name: value}.

        The names are those of its model; empty if none is printed. A column without `printed` has
        them under the paper's names. With it, a column without printed values has those of the
        nearest column that it inherits from; a paper's name such as "1/C" in `printed` stands for
        the reciprocal of C.
        """
        names = self.models[column].printed
        if not names:
            return dict(self._printed.get(column, {}))
        values = next(
            (
                self._printed[name]
                for name in reversed(self.with_ancestors(column))
                if name in self._printed
            ),
            {},
        )
        values = values | {
            f"1/{word}": 1 / value
            for word, value in values.items()
            if f"1/{word}" in names.values()
        }
        return {name: values[word] for name, word in names.items() if word in values}

    def _fix_printed_params(self, column: str) -> ModelColumn:
        """Return a column that also fixes printed values of hyperparameters that are not searched.

        They are those in its `printed` that neither it nor an ancestor searches and that it does
        not fix itself. A column without any, or that is not run on the data set, stays as it is.
        Raises ElmbenchError if the paper does not print one of them for this data set.
        """
        model = self.models[column]
        dataset = self.dataset.name
        search_names = {
            name
            for ancestor in self.with_ancestors(column)
            for name in self.models[ancestor].searched
        }
        names = [
            name
            for name in model.printed
            if name not in search_names and name not in model.params
        ]
        if not names or not model.runs_on(dataset):
            return model
        printed = self.printed_params(column)
        if missing := [name for name in names if name not in printed]:
            raise ElmbenchError(
                f"{self.resolved.file.path}: the paper prints no {' and no '.join(missing)} of "
                f"{column} for {dataset}",
                expected=f"its value in models.{column}, as except: {{{dataset}: {{params: "
                f"{{{missing[0]}: ...}}}}}}",
                next_step="elmbench validate",
            )
        fixed_by_print = {name: printed[name] for name in names}
        params = merge_parameters(printed=fixed_by_print, fixed=model.params)
        return model.model_copy(update={"params": params})

    def printed_and_inherited(self, column: str) -> dict[str, Any] | None:
        """Return the printed hyperparameters of a column and its ancestors, merged, {name: value}.

        None unless all that they search are printed.
        """
        params: dict[str, Any] = {}
        for name in self.with_ancestors(column):
            values = self.printed_params(name)
            if set(self.models[name].searched) - set(values):
                return None
            params = merge_parameters(inherited=params, printed=values)
        return params

    def dataset_ref(self, run: int) -> DatasetRef:
        """Return the reference to the data of a run, for its tasks.

        Runs differ only if the data are redrawn in each run. `identify_data` must have found the
        data.
        """
        spec = self.dataset
        redrawn = run if self.dataset.redraw == "run" else 0
        return DatasetRef(
            name=spec.name,
            checksum=self._checksums[run],
            run=redrawn,
            options=self.options,
            rows=self.resolved.settings.rows,
            spec=spec,
            splits_file=self._splits_file,
        )

    def outer_fold(
        self, run: int, fold: int, train_rows: int | None = None
    ) -> OuterFold:
        """Return one outer fold of a run, both counted from 0.

        `train_rows`: the most training rows that a model learns; None for all. `identify_data` must
        have found the data.
        """
        whole = self._outer_folds.get((run, fold))
        if whole is None:
            whole = OuterFold(
                task=self.dataset.task,
                dataset=self.dataset_ref(run),
                protocol=self._fold_protocol,
                run=run,
                fold=fold,
            )
            self._outer_folds[run, fold] = whole
        if train_rows is None or train_rows >= whole.n_train:
            return whole
        return replace(whole, train_rows=train_rows)

    @cached_property
    def _fold_protocol(self) -> FoldProtocol:
        """The split, order and scaling of rows and targets, which all outer folds share."""
        name = self.dataset.name
        has_raw_targets = name in self.protocol.raw_targets
        return FoldProtocol(
            scale=self.protocol.scale_of(name),
            outer=self.split,
            order=self.protocol.order,
            targets=None if has_raw_targets else self.protocol.targets,
        )

    def fitted_fold(self, run: int, fold: int, column: str) -> OuterFold:
        """Return the rows of an outer fold that a column's model learns and is tested on.

        They may be fewer than those of `outer_fold`, on which its hyperparameters are searched: a
        profile may limit the test rows, and a column its training rows. `run`, `fold`: counted from
        0.
        """
        learnt = self.outer_fold(run, fold, self.models[column].train_rows)
        test_rows = self.resolved.settings.test_rows
        if test_rows is None or test_rows >= learnt.n_test:
            return learnt
        return replace(learnt, test_rows=test_rows)

    def model_ref(self, column: str) -> ModelRef:
        """Return the reference to a column's model.

        The name of its random stream is that of a model: that of the column at the root of its
        chain of `like`, which is the column itself if it inherits from none. Raises ElmbenchError
        if the column names a parameter that the model lacks. It is made once for each column.
        """
        if column not in self._model_refs:
            self._model_refs[column] = self._make_model_ref(column)
        return self._model_refs[column]

    def _make_model_ref(self, column: str) -> ModelRef:
        """Return a new reference to a column's model: its name, its version and its random stream.

        The name of the stream is that of a model: that of the column at the root of its chain of
        `like`, which is the column itself if it inherits from none. Raises ElmbenchError if the
        column names a parameter that the model lacks.
        """
        model = self.models[column]
        first, *_ = self.with_ancestors(column)
        entry = find_model(model.model)
        task = self.dataset.task
        check_parameters(entry, task, {*model.params, *model.searched})
        return ModelRef(
            name=entry.name,
            version=model_version(entry, task),
            stream=self.models[first].model,
        )

    def does_task(self, column: str) -> bool:
        """Return True if a column's model has an estimator for the task of the data set.

        The task is classification or regression.
        """
        return (
            getattr(find_model(self.models[column].model), self.dataset.task)
            is not None
        )

    def with_ancestors(self, column: str) -> list[str]:
        """Return the columns that a column inherits hyperparameters from, and the column itself.

        The first is the one that inherits from none, the last the column.
        """
        parent = self.models[column].like
        ancestors = self.with_ancestors(parent) if parent else []
        return [*ancestors, column]

    def search_columns(self, column: str) -> list[str]:
        """Return the names of those of a column and its ancestors that search hyperparameters.

        An ancestor, which the column inherits hyperparameters from, comes before its heirs.
        """
        return [
            name for name in self.with_ancestors(column) if self.models[name].searched
        ]

    def grid(self, column: str) -> SearchGrid:
        """Return the grid that the column itself searches.

        If it searches nothing, the grid has one candidate without parameters.
        """
        return self.models[column].grid

    def grid_fields(
        self, column: str, run: int, fold: int, parent: str | None = None
    ) -> dict[str, Any]:
        """Return the arguments of a task that goes through a column's grid on an outer fold.

        They are {"outer_fold", "model", "params", "grid", "given"}. `run`, `fold`: of the outer
        fold, counted from 0. `parent`: the key of the choice whose hyperparameters are inherited;
        None if none are.
        """
        return self.grid_fields_on(self.outer_fold(run, fold), column, parent)

    def grid_fields_on(
        self, outer_fold: OuterFold, column: str, parent: str | None
    ) -> dict[str, Any]:
        """Return the arguments of a task that goes through a column's grid on this outer fold.

        They are {"outer_fold", "model", "params", "grid", "given"}. `parent`: the key of the choice
        whose hyperparameters are inherited; None if none are.
        """
        return {
            "outer_fold": outer_fold,
            "model": self.model_ref(column),
            "params": self.models[column].params,
            "grid": self.grid(column),
            "given": parent,
        }

    def calibration(self, column: str) -> Split | None:
        """Return the inner folds that a model is calibrated on; None if it need not be.

        It must be if it has no `predict_proba`, and a metric of the table's file needs
        probabilities. A metric that a user adds later does not count: it must not change the keys
        of stored results. `column`: the model's column.
        """
        names = self.resolved.file.spec.protocol.metrics_for(
            self.dataset.task, self.dataset.name
        )
        takes = any(
            is_metric(name) and find_metric(name).takes == "probabilities"
            for name in names
        )
        if not takes:
            return None
        factory = find_model(self.models[column].model).factory(self.dataset.task)
        return None if has_method(factory, "predict_proba") else self.inner

    @property
    def metric(self) -> str:
        """The name of the metric that compares candidates."""
        return self.protocol.metric_for(self.dataset.task, self.dataset.name)

    @property
    def dcs(self) -> str | None:
        """The form of the divergence of Gaussians that the experiment names.

        "corrected" if it names none. None if the criterion of the table is not that divergence.
        """
        options = self.resolved.spec.options
        return (
            str(options.get("dcs", "corrected"))
            if self.protocol.criterion == "dcs-gaussians"
            else None
        )

    def refuse_joint_estimates(self) -> None:
        """Raise ElmbenchError if the outer split is leave-one-out or the .632 bootstrap.

        Their estimates join predictions of several fits, so such a task has no other measures.
        """
        kind = self.split.kind
        if kind in FIXED_FITS:
            raise ElmbenchError(
                f"{self.resolved.file.id} measures more than predictions, but is {kind}",
                expected=f"another kind of outer split, such as {FIXED_FITS[kind]}",
                next_step=f"correct protocol.outer in {self.resolved.file.path}",
            )

    def refuse_search(self, column: str) -> None:
        """Raise ElmbenchError if a column searches, but the outer split is for fixed values.

        Such splits are leave-one-out and the .632 bootstrap. The grids of its ancestors count.
        """
        kind = self.split.kind
        if kind in FIXED_FITS and self.search_columns(column):
            raise ElmbenchError(
                f"{self.resolved.file.id} is {kind}, but {column} searches hyperparameters",
                expected=f"fixed hyperparameters, or {FIXED_FITS[kind]}",
                next_step=f"leave {column} out, or correct protocol.outer in "
                f"{self.resolved.file.path}",
            )
