"""The cells of one data set of a table, for the kinds of table to add."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from elmbench.datasets.load import Identity, identify
from elmbench.errors import DataUnavailableError
from elmbench.protocol.content import content_of
from elmbench.protocol.splits import rare_class_remark
from elmbench.specs.protocol import TRAIN_ACCURACY, Selection
from elmbench.work.base import Work, key_of
from elmbench.work.columns import ColumnWork
from elmbench.work.fit import Fit
from elmbench.work.plan import Cell


class DatasetPlanner:
    """Adds the cells of one data set to a plan.

    `work`: makes the work of its columns. `columns`: the columns to fill, of those that are run on this data set.
    `missing`: the reason why the data are missing; empty if they are here. `remarks`: assumptions about the rows, that
    they are not those of the public file, or rare classes.
    """

    def __init__(self, work: ColumnWork, columns: Iterable[str], data_dir: str | None) -> None:
        self.work = work
        self.resolved, self.request, dataset = work.resolved, work.request, work.dataset
        self.columns = [column for column in columns if work.models[column].runs_on(dataset.name)]
        self.missing = self.remarks = ""
        try:
            redrawn = work.runs if dataset.redraw == "run" else 1
            identities = [
                Identity("not loaded")
                if self.request.without_data
                else identify(dataset, data_dir, run, self.request.other_data)
                for run in range(redrawn)
            ]
            work.checksums = [identity.checksum for identity in identities] * (work.runs // redrawn)
            rare = rare_class_remark(dataset, work.split)
            self.remarks = "; ".join(filter(None, (*identities[0].remarks, rare)))
        except DataUnavailableError as error:
            self.missing = f"{error.found}; {error.next_step}" if error.next_step else error.found

    def add_fits(self, *, choices_only: bool = False, kind: type[Fit] = Fit) -> None:
        """Add a fit on every outer fold for each column under each selection.

        `choices_only`: if hyperparameters are searched, show the chosen ones and fit nothing with them. `kind`: the
        kind of work.
        """
        done: set[tuple[str, str]] = set()
        for select in self.request.select or self._selections:
            for column in self.columns:
                printed = self._printed_params(column) if select == "published" else None
                # If the paper prints no hyperparameters for a column, they are searched.
                how: Selection = "nested" if select == "published" and printed is None else select
                if not self.work.does_task(column) or (column, how) in done:
                    continue
                done.add((column, how))
                if self.missing:
                    for run, fold in product(range(self.work.runs), range(self.work.folds)):
                        self._add_cell(column, run, fold, how, "", "unavailable")
                else:
                    self._add_column(column, how, printed, choices_only, kind)

    @property
    def _selections(self) -> list[Selection]:
        """The selections of the table. If the user adds a model, all models are searched."""
        selections = self.resolved.spec.protocol.selections
        if self.request.models and not set(self.columns) <= set(self.resolved.spec.models):
            return list(dict.fromkeys("nested" if select == "published" else select for select in selections))
        return list(selections)

    def _printed_params(self, column: str) -> dict[str, Any] | None:
        """Return the printed hyperparameters of a column and of those that it is like; None unless all are printed."""
        params: dict[str, Any] = {}
        for name in self.work.chain(column):
            values = self.work.printed(name)
            if set(self.work.grid(name)) - set(values):
                return None
            params |= values
        return params

    def _add_column(
        self, column: str, select: Selection, printed: dict[str, Any] | None, choices_only: bool, kind: type[Fit]
    ) -> None:
        work = self.work
        model = work.models[column]
        learnt = TRAIN_ACCURACY in work.protocol.metrics_for(work.dataset.task)
        calibrate = work.calibration(column)
        choice = work.oracle(column) if select == "oracle" else None
        family = key_of(
            [
                content_of(work.outer_fold(0, 0)),
                work.stages(column),
                model.carry_over,
                select,
                printed,
                work.how_chosen() if select == "nested" else None,
                # The choice is over the outer folds of every run, so more runs make another choice.
                choice,
                *([content_of(calibrate)] if calibrate else []),
            ]
        )
        for run, fold in product(range(work.runs), range(work.folds)):
            if select == "nested":
                choice = work.nested(column, run, fold)
            if choices_only and choice is not None:
                self._add_cell(column, run, fold, select, choice, family)
                continue
            # Values that the column fixes take precedence over printed ones.
            params = (printed or {}) | model.params
            outer_fold, ref = work.outer_fold(run, fold), work.model_ref(column)
            fit = kind(outer_fold, ref, params, model.carry_over, choice, learnt, calibrate)
            self._add_cell(column, run, fold, select, work.plan.add(fit), family)

    def add_works(
        self, column: str, outer: Sequence[tuple[int, int]], work: Callable[[int, int], Work], select: str
    ) -> None:
        """Add the independent cells of a column, without a choice of hyperparameters.

        `outer`: their runs and folds. `work`: of a run and fold; the first one determines the family of the cells.
        """
        family = "unavailable" if self.missing else work(*outer[0]).key
        for run, fold in outer:
            key = "" if self.missing else self.work.plan.add(work(run, fold))
            self._add_cell(column, run, fold, select, key, family)

    def _add_cell(self, column: str, run: int, fold: int, select: str, key: str, family: str) -> None:
        entry = self.work.dataset.name, column, run, fold, select, self.resolved.reading, key, family
        self.work.plan.cells.append(Cell(*entry, self.missing, self.remarks, self.request.first_runs))
