"""The cells of one data set of a table, for the kinds of table to add, and the tasks that they
need.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from elmbench.datasets.load import Identities
from elmbench.errors import ElmbenchError, amount, option
from elmbench.evaluation.content import content_of, content_of_fields
from elmbench.evaluation.folds import OuterFold, fold_of_all_rows
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.measures import TRAIN_ACCURACY
from elmbench.specs.model_columns import ModelColumn
from elmbench.specs.parameters import merge_parameters
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import ONCE, Selection
from elmbench.tasks.base import Task, key_of
from elmbench.tasks.dataset_columns import DatasetColumns
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
    """The settings that all cells of a column share under one selection, in the types of JSON.

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


class DatasetPlanner(DatasetColumns):
    """A planner that adds the cells of one data set to a plan, and the tasks that they need.

    A column is a model with its settings; it may inherit hyperparameters from other columns, its
    ancestors. The methods take a column by its name and change `plan` in place.
    """

    def __init__(
        self,
        plan: Plan,
        resolved: Resolved,
        request: RunRequest,
        dataset: DatasetSpec,
        columns: dict[str, ModelColumn],
        identities: Identities,
    ) -> None:
        super().__init__(resolved, request, dataset, columns)
        self.plan = plan
        self._refuse_many_cells()
        self.identify_data(identities)

    def _refuse_many_cells(self) -> None:
        """Raise ElmbenchError if the plan would have more than 100,000 cells.

        Those of this data set are counted under one selection.
        """
        n_cells = len(self.plan.cells) + self.runs * self.folds * len(self.columns)
        if n_cells > MOST_CELLS:
            raise ElmbenchError(
                f"{self.resolved.file.id} would have {n_cells:,} cells or more, with "
                f"{amount(self.runs, 'run')} of {amount(self.folds, 'fold')}",
                expected=f"at most {MOST_CELLS:,} cells",
                next_step=f"lower {option('runs')}, or name fewer models or data sets",
            )

    def add_searches(self, column: str, run: int, fold: int) -> str | None:
        """Add the searches of a column and its ancestors on the training part of one outer fold.

        Each inherits from the one before. Returns the key of the last one, that of the column
        itself or its nearest ancestor with a search; None if nothing is searched. `run`, `fold`: of
        the outer fold, counted from 0.
        """
        return self._add_searches_on(self.outer_fold(run, fold), column)

    def _add_search_of_all_rows(self, column: str) -> str | None:
        """Add the searches of a column and its ancestors on the inner splits of all rows.

        Returns the key of the last one; None if nothing is searched.
        """
        return self._add_searches_on(fold_of_all_rows(self.outer_fold(0, 0)), column)

    def _add_searches_on(self, outer_fold: OuterFold, column: str) -> str | None:
        """Add to the plan the searches of a column of the table on the rows that a fold learns.

        They are those of its ancestors, the columns that it inherits hyperparameters from, and its
        own; each inherits from the one before. A search by a divergence is two tasks: projections,
        and a choice. Returns the key of the last one; None if nothing is searched.
        """
        last: str | None = None
        criterion = self.protocol.criterion
        tune_rows = self.resolved.settings.tune_rows
        for name in self.search_columns(column):
            fields = self.grid_fields_on(outer_fold, name, last)
            choice: Task
            if criterion == "score":
                choice = Search(
                    **fields,
                    inner=self.inner,
                    metric=self.metric,
                    tune_rows=tune_rows,
                )
            else:
                projections = Projections(**fields, tune_rows=tune_rows)
                evaluation = self.plan.add(projections)
                choice = DivergenceChoice(
                    grid=projections.grid,
                    given=last,
                    evaluated=(evaluation,),
                    criterion=criterion,
                    dcs=self.dcs,
                )
            last = self.plan.add(choice)
        return last

    def add_choice(self, column: str) -> str | None:
        """Add the choice of a column over the outer test folds of all runs, and what it needs.

        It needs the evaluations of every candidate on all of these folds. Each ancestor that
        searches has a choice before, whose hyperparameters are inherited. Returns the key of the
        last choice; None if nothing is searched.
        """
        last: str | None = None
        for name in self.search_columns(column):
            evaluations = self._add_evaluations(name, last)
            choice = Choice(self.grid(name), last, evaluations)
            last = self.plan.add(choice)
        return last

    def _add_evaluations(self, column: str, parent: str | None) -> tuple[str, ...]:
        """Add the evaluations of a column's candidates on the outer folds of all runs.

        Returns their keys, one for each fold of every run, run by run. `parent`: the key of the
        choice whose hyperparameters are inherited; None if none are.
        """
        keys = []
        for run, fold in product(range(self.runs), range(self.folds)):
            fields = self.grid_fields(column, run, fold, parent)
            evaluation = GridEvaluation(**fields, metric=self.metric)
            key = self.plan.add(evaluation)
            keys.append(key)
        return tuple(keys)

    def add_fits(self, *, choices_only: bool = False, kind: type[Fit] = Fit) -> None:
        """Add a cell and its fit on every outer fold for each column under each selection.

        Columns without an estimator for the task are skipped; if the data are missing, cells
        without a task are added. A column whose hyperparameters the paper does not print is
        searched as under `nested` instead of `published`. `choices_only`: if hyperparameters are
        searched, show the chosen ones and fit nothing with them. `kind`: the class of the fits;
        with another than `Fit`, leave-one-out and the .632 bootstrap raise ElmbenchError.
        """
        if kind is not Fit:
            self.refuse_joint_estimates()
        added: set[tuple[str, str]] = set()
        columns = [column for column in self.columns if self.does_task(column)]
        for select, column in product(self.request.select or self._selections, columns):
            selection: Selection = select
            printed = None
            if select == "published":
                printed = self.printed_and_inherited(column)
                # If the paper prints no hyperparameters for a column, they are searched.
                selection = "nested" if printed is None else select
            if (column, selection) in added:
                continue
            added.add((column, selection))
            if self.missing:
                self._add_unavailable(column, selection)
            else:
                self._add_column(column, selection, printed, choices_only, kind)

    def _add_unavailable(self, column: str, select: Selection) -> None:
        """Add the cells of a column whose data are missing, without tasks.

        There is one for each run and fold. `select`: the selection that the cells show.
        """
        for run, fold in product(range(self.runs), range(self.folds)):
            self._add_cell(column, run, fold, select, key="", family="unavailable")

    @property
    def _selections(self) -> list[Selection]:
        """The selections of the table, such as "nested", without repetitions.

        If the user adds a model, `published` becomes `nested` for all columns.
        """
        selections = list(self.protocol.selections)
        added_columns = set(self.columns) - set(self.resolved.spec.models)
        if not self.request.models or not added_columns:
            return selections
        searched: list[Selection] = [
            "nested" if select == "published" else select for select in selections
        ]
        return list(dict.fromkeys(searched))

    def _add_column(
        self,
        column: str,
        select: Selection,
        printed: dict[str, Any] | None,
        choices_only: bool,
        kind: type[Fit],
    ) -> None:
        """Add the cells of a column under one selection, and the tasks that they need.

        `printed`: {name: value} of the printed hyperparameters, or None if they are searched.
        `choices_only`: if hyperparameters are searched, show the chosen ones and fit nothing with
        them. `kind`: the class of the fits. Raises ElmbenchError as `refuse_search` does, unless
        the hyperparameters are printed or chosen once.
        """
        if printed is None and select != ONCE:
            self.refuse_search(column)
        model = self.models[column]
        choice: str | None = None
        if select == "oracle":
            choice = self.add_choice(column)
        elif select == ONCE:
            choice = self._add_search_of_all_rows(column)
        family = self._family(column, select, printed, choice)
        metrics = self.protocol.metrics_for(self.dataset.task, self.dataset.name)
        params = merge_parameters(printed=printed, fixed=model.params)
        calibration = self.calibration(column)
        for run, fold in product(range(self.runs), range(self.folds)):
            if select == "nested":
                choice = self.add_searches(column, run, fold)
            if choices_only and choice is not None:
                self._add_cell(column, run, fold, select, key=choice, family=family)
                continue
            fit = kind(
                outer_fold=self.fitted_fold(run, fold, column),
                model=self.model_ref(column),
                params=params,
                carry_over=model.carry_over,
                chosen=choice,
                train_accuracy=TRAIN_ACCURACY in metrics,
                calibrate=calibration,
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

        `printed`: {name: value} of the printed hyperparameters, or None if they are searched.
        `choice`: the key of a choice that all cells share, or None; a choice over the outer folds
        of every run changes with the number of runs.
        """
        family = CellFamily(
            outer_fold=content_of(self.fitted_fold(0, 0, column)),
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
        return key_of(content_of_fields(family))

    def _column_content(self, column: str) -> dict[str, Any]:
        """Return the settings of a column that determine its hyperparameters.

        They are {"model": ..., "params": ...} and the keys of its grid; data and folds do not
        count.
        """
        return {
            "model": content_of(self.model_ref(column)),
            "params": self.models[column].params,
            **self.grid(column).content(),
        }

    def _search_settings(self) -> dict[str, Any]:
        """Return the settings of a search on inner splits, for the family of its cells.

        The keys are `inner` and `metric`, or for a divergence `criterion` and, if it has a form,
        `dcs`; and `tune_rows`.
        """
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
        """Add cells of a column without a choice of hyperparameters, one for each run and fold.

        `outer`: pairs of run and fold, at least one. `task`: returns the task of a run and fold;
        the first one determines the family of the cells. `select`: the selection that the cells
        show. If the data are missing, the cells have no task.
        """
        family = "unavailable" if self.missing else task(*outer[0]).key
        for run, fold in outer:
            key = "" if self.missing else self.plan.add(task(run, fold))
            self._add_cell(column, run, fold, select, key=key, family=family)

    def _add_cell(
        self, column: str, run: int, fold: int, select: str, *, key: str, family: str
    ) -> None:
        """Append one cell to the plan.

        `key`: of the task that computes it; empty if it cannot run. `family`: the hash of its
        settings. `select`: the selection that it shows. `column`: its model. `run`, `fold`: their
        numbers, from 0.
        """
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
