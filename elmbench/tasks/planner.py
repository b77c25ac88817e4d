"""The cells of one data set of a table, for the kinds of table to add, and the tasks that they
need.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from elmbench.datasets.load import identify
from elmbench.datasets.openml_tasks import check_task, task_number
from elmbench.errors import DataUnavailableError, ElmbenchError, amount, option
from elmbench.evaluation.content import content_of
from elmbench.evaluation.folds import (
    DatasetRef,
    FoldProtocol,
    OuterFold,
    fold_of_all_rows,
)
from elmbench.evaluation.given_splits import locate_inner_splits, locate_splits
from elmbench.evaluation.splits import rare_class_remark
from elmbench.registry import check_parameters, find_model, has_method, model_version
from elmbench.registry.scorers import find_metric, is_metric
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.experiments import ModelColumn
from elmbench.specs.grids import SearchGrid
from elmbench.specs.parameters import merge_parameters
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import (
    FIXED_FITS,
    GIVEN,
    ONCE,
    TRAIN_ACCURACY,
    Selection,
    Split,
)
from elmbench.tasks.base import ModelRef, Task, key_of
from elmbench.tasks.divergence import DivergenceChoice, Projections
from elmbench.tasks.fit import Fit
from elmbench.tasks.grid_evaluation import GridEvaluation
from elmbench.tasks.nested_search import Search
from elmbench.tasks.oracle_choice import Choice
from elmbench.tasks.plan import Cell, Plan, RunRequest

#: The most cells of a table. They take some seconds to plan; the largest paper has 3,000 of one
#: table.
MOST_CELLS = 100_000


@dataclass(frozen=True)
class CellFamily:
    """The settings that all cells of a column share under one selection, as JSON.

    Cells of another family are outdated: their settings have changed since.
    """

    outer_fold: Any
    #: The column and its ancestors.
    columns: list[dict[str, Any]]
    carry_over: str
    select: str
    #: The printed hyperparameters; None if they are searched.
    printed: dict[str, Any] | None
    #: The settings of a search on inner splits; None for another selection.
    search: dict[str, Any] | None
    #: The key of the choice that all cells share; None if each fold has its own.
    choice: str | None
    #: The inner folds that the model is calibrated on; None if it need not be.
    calibration: Any


class DatasetPlanner:
    """Adds the cells of one data set to a plan, and the tasks that they need.

    `resolved`: the experiment under a profile and readings. `columns`: the columns to fill;
    afterwards, those of them that are run on this data set. `models`: every column by name, also
    those that the user adds, as they are on this data set, with printed values for the
    hyperparameters that are not searched. `missing`: the reason why the data are missing; empty if
    they are here. `remarks`: assumptions about the rows, that they are not those of the public
    file, or rare classes.
    """

    def __init__(
        self,
        plan: Plan,
        resolved: Resolved,
        request: RunRequest,
        dataset: DatasetSpec,
        columns: dict[str, ModelColumn],
        data_dir: str | None = None,
    ) -> None:
        self.plan = plan
        self.resolved = resolved
        self.request = request
        self.options = dict(resolved.spec.data.get(dataset.name, {}))
        self.dataset = dataset.with_options(self.options)
        name = resolved.stand_ins.get(dataset.name, dataset.name)
        self._printed = {
            column: params
            for (spelling, column), params in resolved.file.printed_parameters.items()
            if resolved.dataset(spelling).name == name
        }
        self.models = {
            column: model.adapt(dataset.name)
            for column, model in (resolved.spec.models | columns).items()
        }
        self.models = {
            column: self._fix_printed_params(column) for column in self.models
        }
        self.columns = [
            column for column in columns if self.models[column].runs_on(dataset.name)
        ]
        self.protocol = resolved.spec.protocol
        self.runs = request.runs or self.protocol.outer.runs_of(dataset.name)
        split = self.protocol.outer.split(dataset.name, dataset.task)
        task = task_number(split.file)
        if task is not None:
            check_task(task, self.dataset)
        located = locate_splits(split, resolved.file.path.parent, self.runs)
        self._splits_file = located.file
        self.split = replace(located, file="")
        self.folds = self.split.folds
        self.inner = locate_inner_splits(
            self.protocol.inner.split(dataset.name, dataset.task),
            resolved.file.path.parent,
            runs=self.runs,
            outer_folds=self.folds,
        )
        self._refuse_fewer_rows()
        n_cells = len(plan.cells) + self.runs * self.folds * len(self.columns)
        if n_cells > MOST_CELLS:
            raise ElmbenchError(
                f"{resolved.file.id} would have {n_cells:,} cells or more, with "
                f"{amount(self.runs, 'run')} of {amount(self.folds, 'fold')}",
                expected=f"at most {MOST_CELLS:,} cells",
                next_step=f"lower {option('runs')}, or name fewer models or data sets",
            )
        self.missing = self.remarks = ""
        #: The checksum of the data in each run.
        self._checksums: list[str] = []
        try:
            redrawn = range(self.runs if self.dataset.redraw == "run" else 1)
            identities = [
                identify(self.dataset, data_dir, run, request.other_data)
                for run in redrawn
            ]
            self._checksums = [identity.checksum for identity in identities] * (
                self.runs // len(redrawn)
            )
            remarks = (
                *identities[0].remarks,
                rare_class_remark(self.dataset, self.split),
            )
            self.remarks = "; ".join(filter(None, remarks))
        except DataUnavailableError as error:
            self.missing = (
                f"{error.found}; {error.next_step}" if error.next_step else error.found
            )

    def _refuse_fewer_rows(self) -> None:
        """Raise ElmbenchError if a profile draws some of the rows, but splits name all of them."""
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

    def printed_params(self, column: str) -> dict[str, Any]:
        """Return the paper's hyperparameters of a column for this data set, under the names of its
        model.

        Without `printed`, a column has the paper's names. With it, a column without printed values
        has those of the nearest column that it inherits from.
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
        """Return a column with the printed values of the hyperparameters that neither it nor its
        chain searches.
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

    def dataset_ref(self, run: int) -> DatasetRef:
        """Return the data of a run."""
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
        """Return an outer fold, of which a model learns at most `train_rows` rows."""
        name = self.dataset.name
        has_raw_targets = name in self.protocol.raw_targets
        fold_protocol = FoldProtocol(
            scale=self.protocol.scale_of(name),
            outer=self.split,
            order=self.protocol.order,
            targets=None if has_raw_targets else self.protocol.targets,
        )
        whole = OuterFold(
            task=self.dataset.task,
            dataset=self.dataset_ref(run),
            protocol=fold_protocol,
            run=run,
            fold=fold,
        )
        if train_rows is None or train_rows >= whole.n_train:
            return whole
        return replace(whole, train_rows=train_rows)

    def model_ref(self, column: str) -> ModelRef:
        """Return a column's model, with the random stream of the first column that it inherits
        from.
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
        """Return True if a column's model has an estimator for the task of the data set."""
        return (
            getattr(find_model(self.models[column].model), self.dataset.task)
            is not None
        )

    def with_ancestors(self, column: str) -> list[str]:
        """Return the columns that a column inherits hyperparameters from, in order, and the column
        itself.
        """
        parent = self.models[column].like
        ancestors = self.with_ancestors(parent) if parent else []
        return [*ancestors, column]

    def grid(self, column: str) -> SearchGrid:
        """Return the grid that the column itself searches; without names if it searches none."""
        return self.resolved.spec.grid_of(self.models[column])

    def grid_fields(
        self, column: str, run: int, fold: int, parent: str | None = None
    ) -> dict[str, Any]:
        """Return the fields of a task that goes through a column's grid on an outer fold."""
        return self._grid_fields_on(self.outer_fold(run, fold), column, parent)

    def _grid_fields_on(
        self, outer_fold: OuterFold, column: str, parent: str | None
    ) -> dict[str, Any]:
        """Return the fields of a task that goes through a column's grid; see `grid_fields`."""
        return {
            "outer_fold": outer_fold,
            "model": self.model_ref(column),
            "params": self.models[column].params,
            "grid": self.grid(column),
            "given": parent,
        }

    def calibration(self, column: str) -> Split | None:
        """Return the inner folds that a model is calibrated on; None if it need not be.

        It must be if it has only decision values, and a metric of the table's file needs
        probabilities. A metric that a user adds later does not count: it must not change the keys
        of stored results.
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
        """The metric that compares candidates."""
        return self.protocol.metric_for(self.dataset.task, self.dataset.name)

    def add_searches(self, column: str, run: int, fold: int) -> str | None:
        """Add the searches on the training part of one outer fold; return the key of the last
        one.
        """
        return self._add_searches_on(self.outer_fold(run, fold), column)

    def _add_search_of_all_rows(self, column: str) -> str | None:
        """Add the searches on the inner splits of all rows; return the key of the last one."""
        return self._add_searches_on(fold_of_all_rows(self.outer_fold(0, 0)), column)

    def _add_searches_on(self, outer_fold: OuterFold, column: str) -> str | None:
        """Add the searches on the rows that an outer fold learns; return the key of the last
        one.
        """
        last: str | None = None
        criterion = self.protocol.criterion
        tune_rows = self.resolved.settings.tune_rows
        for name in self.search_columns(column):
            fields = self._grid_fields_on(outer_fold, name, last)
            if criterion == "score":
                last = self.plan.add(
                    Search(
                        **fields,
                        inner=self.inner,
                        metric=self.metric,
                        tune_rows=tune_rows,
                    )
                )
            else:
                projections = Projections(**fields, tune_rows=tune_rows)
                evaluations = (self.plan.add(projections),)
                last = self.plan.add(
                    DivergenceChoice(
                        projections.grid, last, evaluations, criterion, self.dcs
                    )
                )
        return last

    @property
    def dcs(self) -> str | None:
        """The form of the divergence of Gaussians that the experiment names; None for another
        criterion.
        """
        options = self.resolved.spec.options
        return (
            str(options.get("dcs", "corrected"))
            if self.protocol.criterion == "dcs-gaussians"
            else None
        )

    def add_choice(self, column: str) -> str | None:
        """Add the evaluations of every candidate on the outer folds; return the key of the choice
        over all of them.
        """
        last: str | None = None
        for name in self.search_columns(column):
            evaluations = self._add_evaluations(name, last)
            choice = Choice(self.grid(name), last, evaluations)
            last = self.plan.add(choice)
        return last

    def _add_evaluations(self, column: str, parent: str | None) -> tuple[str, ...]:
        """Add the evaluations of a column's candidates on the outer folds; return their keys."""
        keys = []
        for run, fold in product(range(self.runs), range(self.folds)):
            fields = self.grid_fields(column, run, fold, parent)
            evaluation = GridEvaluation(**fields, metric=self.metric)
            keys.append(self.plan.add(evaluation))
        return tuple(keys)

    def search_columns(self, column: str) -> list[str]:
        """Return the columns that search hyperparameters of their own, of a column and its
        ancestors.
        """
        return [
            name for name in self.with_ancestors(column) if self.models[name].searched
        ]

    def add_fits(self, *, choices_only: bool = False, kind: type[Fit] = Fit) -> None:
        """Add a fit on every outer fold for each column under each selection.

        `choices_only`: if hyperparameters are searched, show the chosen ones and fit nothing with
        them. `kind`: the kind of task.
        """
        if kind is not Fit:
            self.refuse_joint_estimates()
        entries: set[tuple[str, str]] = set()
        for select in self.request.select or self._selections:
            for column in self.columns:
                printed = (
                    self._printed_and_inherited(column)
                    if select == "published"
                    else None
                )
                # If the paper prints no hyperparameters for a column, they are searched.
                selection: Selection = (
                    "nested" if select == "published" and printed is None else select
                )
                if not self.does_task(column) or (column, selection) in entries:
                    continue
                entries.add((column, selection))
                if self.missing:
                    for run, fold in product(range(self.runs), range(self.folds)):
                        self._add_cell(
                            column, run, fold, selection, key="", family="unavailable"
                        )
                else:
                    self._add_column(column, selection, printed, choices_only, kind)

    def refuse_joint_estimates(self) -> None:
        """Raise ElmbenchError for a kind of split whose estimates join predictions of several fits:
        it has no other measures.
        """
        kind = self.split.kind
        if kind in FIXED_FITS:
            raise ElmbenchError(
                f"{self.resolved.file.id} measures more than predictions, but is {kind}",
                expected=f"another kind of outer split, such as {FIXED_FITS[kind]}",
                next_step=f"correct protocol.outer in {self.resolved.file.path}",
            )

    def _refuse_search(self, column: str) -> None:
        """Raise ElmbenchError if a column searches hyperparameters, but the kind of split is for
        fixed ones.
        """
        kind = self.split.kind
        if kind in FIXED_FITS and self.search_columns(column):
            raise ElmbenchError(
                f"{self.resolved.file.id} is {kind}, but {column} searches hyperparameters",
                expected=f"fixed hyperparameters, or {FIXED_FITS[kind]}",
                next_step=f"leave {column} out, or correct protocol.outer in "
                f"{self.resolved.file.path}",
            )

    @property
    def _selections(self) -> list[Selection]:
        """The selections of the table. If the user adds a model, all models are searched."""
        selections = self.resolved.spec.protocol.selections
        if self.request.models and not set(self.columns) <= set(
            self.resolved.spec.models
        ):
            return list(
                dict.fromkeys(
                    "nested" if select == "published" else select
                    for select in selections
                )
            )
        return list(selections)

    def _printed_and_inherited(self, column: str) -> dict[str, Any] | None:
        """Return the printed hyperparameters of a column and its ancestors; None unless all are
        printed.
        """
        params: dict[str, Any] = {}
        for name in self.with_ancestors(column):
            values = self.printed_params(name)
            if set(self.models[name].searched) - set(values):
                return None
            params = merge_parameters(inherited=params, printed=values)
        return params

    def _add_column(
        self,
        column: str,
        select: Selection,
        printed: dict[str, Any] | None,
        choices_only: bool,
        kind: type[Fit],
    ) -> None:
        """Add the cells of a column under one selection, and the tasks that they need."""
        if select != ONCE:
            self._refuse_search(column)
        model = self.models[column]
        choice: str | None = None
        if select == "oracle":
            choice = self.add_choice(column)
        elif select == ONCE:
            choice = self._add_search_of_all_rows(column)
        family = self._family(column, select, printed, choice)
        metrics = self.protocol.metrics_for(self.dataset.task, self.dataset.name)
        for run, fold in product(range(self.runs), range(self.folds)):
            if select == "nested":
                choice = self.add_searches(column, run, fold)
            if choices_only and choice is not None:
                self._add_cell(column, run, fold, select, key=choice, family=family)
                continue
            fit = kind(
                outer_fold=self.outer_fold(run, fold, model.train_rows),
                model=self.model_ref(column),
                params=merge_parameters(printed=printed, fixed=model.params),
                carry_over=model.carry_over,
                chosen=choice,
                train_accuracy=TRAIN_ACCURACY in metrics,
                calibrate=self.calibration(column),
            )
            self._add_cell(
                column, run, fold, select, key=self.plan.add(fit), family=family
            )

    def _family(
        self,
        column: str,
        select: Selection,
        printed: dict[str, Any] | None,
        choice: str | None,
    ) -> str:
        """Return the hash of the settings that all cells of a column share under one selection.

        `choice`: key of a choice that all cells share. That over the outer folds of every run
        changes with the number of runs.
        """
        family = CellFamily(
            outer_fold=content_of(
                self.outer_fold(0, 0, self.models[column].train_rows)
            ),
            columns=[
                self._column_content(name) for name in self.with_ancestors(column)
            ],
            carry_over=self.models[column].carry_over,
            select=select,
            printed=printed,
            search=self._search_settings() if select in ("nested", ONCE) else None,
            choice=choice,
            calibration=content_of(self.calibration(column)),
        )
        return key_of(asdict(family))

    def _column_content(self, column: str) -> dict[str, Any]:
        """Return what determines the hyperparameters of a column, apart from data and folds."""
        return {
            "model": content_of(self.model_ref(column)),
            "params": self.models[column].params,
            **self.grid(column).content(),
        }

    def _search_settings(self) -> dict[str, Any]:
        """Return the settings of a search on inner splits, for the family of its cells."""
        settings: dict[str, Any] = {}
        if self.protocol.criterion == "score":
            settings["inner"] = self.inner.content()
            settings["metric"] = self.metric
        else:
            settings["criterion"] = self.protocol.criterion
            if self.dcs:
                settings["dcs"] = self.dcs
        settings["tune_rows"] = self.resolved.settings.tune_rows
        return settings

    def add_tasks(
        self,
        column: str,
        outer: Sequence[tuple[int, int]],
        task: Callable[[int, int], Task],
        select: str,
    ) -> None:
        """Add the independent cells of a column, without a choice of hyperparameters.

        `outer`: their runs and folds. `task`: of a run and fold; the first one determines the
        family of the cells.
        """
        family = "unavailable" if self.missing else task(*outer[0]).key
        for run, fold in outer:
            key = "" if self.missing else self.plan.add(task(run, fold))
            self._add_cell(column, run, fold, select, key=key, family=family)

    def _add_cell(
        self, column: str, run: int, fold: int, select: str, *, key: str, family: str
    ) -> None:
        cell = Cell(
            dataset=self.dataset.name,
            model=column,
            run=run,
            fold=fold,
            select=select,
            reading=self.resolved.reading,
            key=key,
            family=family,
            unavailable=self.missing,
            remarks=self.remarks,
        )
        self.plan.cells.append(cell)
