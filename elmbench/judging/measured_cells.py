"""The cells of a table that ended ok, and its published values beside our runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.judging.determinism import is_deterministic
from elmbench.judging.summary_line import SummaryLine
from elmbench.judging.value_verdicts import (
    FEWEST_RUNS,
    Draws,
    Tolerance,
    draws_of,
    draws_of_means,
    fixed_draws_of,
    run_means,
)
from elmbench.judging.verdict_words import COMPLETE
from elmbench.metrics import Unit
from elmbench.results.cells import REMARKS
from elmbench.specs.datasets.source_registry import OTHER_DATA, TRAINING_ONLY
from elmbench.specs.measures import Measure
from elmbench.specs.papers import Paper
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import PublishedValue
from elmbench.tables import kind_of_table

#: The columns that identify a group of cells whose mean is a value of the table.
GROUP = ["dataset", "model", "select", "reading"]
#: Columns of the cells that a verdict depends on, beside the measured values.
_NEEDED = ["run", "fold", "n_test", REMARKS]

#: The positions of the cells of a group without any.
_NO_CELLS = np.array([], dtype=np.int64)

#: A group of cells, by the values of `GROUP`.
Key = tuple[str, ...]
_Values = NDArray[np.float64]
#: A published value: its group of cells, and its measure.
_Identity = tuple[Key, Measure]


@dataclass(frozen=True)
class ComparedValue:
    """A published value and our runs of the same model on the same data set."""

    profile: str
    #: The suite's name.
    dataset: str
    model: str
    measure: Measure
    #: The numbers of our runs.
    runs: NDArray[np.int64]
    #: The mean of each of them.
    means: NDArray[np.float64]
    draws: Draws
    published: PublishedValue
    tolerance: Tolerance
    #: The range and the margin of the metric in this paper.
    unit: Unit
    #: True if the paper proposes the model.
    is_proposed: bool = False

    @cached_property
    def runs_inside(self) -> dict[int, bool]:
        """For each run, by its number, True if its mean lies in the interval of the other runs.

        The mean is judged as if it were the published value. The dict is empty with fewer than
        `FEWEST_RUNS` runs.
        """
        if len(self.runs) < FEWEST_RUNS:
            return {}
        hits = {}
        for i, run in enumerate(self.runs.tolist()):
            other_means = np.delete(self.means, i)
            rest = draws_of_means(other_means, self.draws.least_half_width)
            distance = abs(self.means[i] - rest.mean)
            # A mean at an end is inside even if its binary approximation is not.
            half_width = rest.half_width() * (1 + 1e-9)
            hits[run] = bool(distance <= half_width)
        return hits


class MeasuredCells:
    """The cells of a table that ended ok, by group.

    A group is (data set, model, selection, reading). Each measure is read from the frame only once.

    Attributes
    ----------
    resolved : Resolved
        The experiment.
    table : TableKind
        Its kind of table.
    all_cells : DataFrame
        The group and the status of all cells.
    """

    def __init__(self, cells: pd.DataFrame, resolved: Resolved) -> None:
        self.resolved = resolved
        self.table = kind_of_table(resolved)
        cells = self.table.summarised_cells(cells)
        self.all_cells = cells[[*GROUP, "status"]]
        is_complete = cells["status"] == COMPLETE
        self._cells = cells[is_complete].reset_index(drop=True)
        # Values are read once: a table asks for them many times.
        self._values: dict[Measure, _Values] = {}
        self._columns: dict[Key, dict[str, NDArray[Any]]] = {}
        self._compared: dict[_Identity, ComparedValue] = {}
        #: The lines of the summary that have been computed.
        self.summary_lines: dict[_Identity, SummaryLine] = {}

    @cached_property
    def positions(self) -> dict[Key, NDArray[np.int64]]:
        """The positions of the cells of each group in the frame of the cells that ended ok.

        A group is (data set, model, selection, reading); one without such cells is missing.
        """
        groups: Any = self._cells.groupby(GROUP, sort=False).indices
        positions: dict[Key, NDArray[np.int64]] = groups
        return positions

    @cached_property
    def _needed(self) -> dict[str, NDArray[Any]]:
        """The columns that a verdict depends on, as arrays over all cells that ended ok.

        These are `run`, `fold`, `n_test` and the remarks, as far as the results have them.
        Selecting lines of a frame instead takes many times as long.
        """
        names = [name for name in _NEEDED if name in self._cells]
        return {name: self._cells[name].to_numpy() for name in names}

    @property
    def _paper(self) -> Paper:
        """The paper that the table is from."""
        return self.resolved.file.paper

    @cached_property
    def statuses(self) -> dict[Key, set[str]]:
        """The distinct statuses of all cells of each group, whether they ended ok or not.

        A group is (data set, model, selection, reading).
        """
        columns = [self.all_cells[name].tolist() for name in GROUP]
        groups = zip(*columns, strict=True)
        statuses: dict[Key, set[str]] = {}
        for group, status in zip(groups, self.all_cells["status"], strict=True):
            of_group = statuses.setdefault(group, set())
            of_group.add(status)
        return statuses

    def columns(self, group: Key) -> dict[str, NDArray[Any]]:
        """Return the columns of the cells of a group that ended ok, {name: array}.

        These are `run`, `fold`, `n_test` and `data` (remarks on the data), as far as the results
        have them, each of shape (cells,) in the order of the cells. `group`: (data set, model,
        selection, reading). The arrays are empty if there are no such cells.
        """
        if group not in self._columns:
            positions = self.positions.get(group, _NO_CELLS)
            self._columns[group] = {
                name: column[positions] for name, column in self._needed.items()
            }
        return self._columns[group]

    def values(self, group: Key, measure: Measure) -> NDArray[np.float64]:
        """Return the value of each cell of a group that ended ok; NaN if it has none.

        The array has shape (cells,), in the order of the cells; it is empty if none ended ok.
        `group`: (data set, model, selection, reading).
        """
        if measure not in self._values:
            values = self.table.values_of(self._cells, measure)
            self._values[measure] = np.asarray(values, dtype=np.float64)
        return self._values[measure][self.positions.get(group, _NO_CELLS)]

    def compared_value(self, group: Key, measure: Measure) -> ComparedValue:
        """Return the published value of a group of cells beside our runs, computed only once.

        `group`: (data set, model, selection, reading). Raises KeyError without a published value;
        some cell must have the measure.
        """
        key = (group, measure)
        if key not in self._compared:
            self._compared[key] = self._compare(group, measure)
        return self._compared[key]

    def is_fixed(self, group: Key) -> bool:
        """Return True if nothing is random in a group of cells: each run gives the same value.

        `group`: (data set, model, selection, reading).
        """
        dataset, model, select, _ = group
        return is_deterministic(
            dataset, model, select, self.columns(group), self.resolved
        )

    def _compare(self, group: Key, measure: Measure) -> ComparedValue:
        """Return the published value of a group of cells beside our runs.

        Only the runs that have the measure count, of which there must be one; only the first of
        them if nothing is random, because all give the same value. Raises KeyError without a
        published value. `group`: (data set, model, selection, reading).
        """
        dataset, model, _, _ = group
        columns = self.columns(group)
        values = self.values(group, measure)
        has_value = ~np.isnan(values)
        # Identical runs are one.
        is_fixed = self.is_fixed(group)
        n_runs = 1 if is_fixed else None
        draws = (fixed_draws_of if is_fixed else draws_of)(values, columns, measure)
        published = self.resolved.published[dataset, model, measure.column]
        unit = self._paper.unit_of(measure.metric)
        spec = self.resolved.spec.models.get(model)
        return ComparedValue(
            profile=self.resolved.profile,
            dataset=dataset,
            model=model,
            measure=measure,
            runs=np.unique(columns["run"][has_value])[:n_runs],
            means=run_means(values, columns["run"])[:n_runs],
            draws=draws,
            published=published,
            tolerance=self._tolerance(dataset, published, unit),
            unit=unit,
            is_proposed=spec is not None and spec.model in self._paper.proposed,
        )

    def _tolerance(
        self, dataset: str, published: PublishedValue, unit: Unit
    ) -> Tolerance:
        """Return the tolerance for a published value on a data set, given by the suite's name.

        It has the rounding of the value, the range and the margin of the metric (`unit`), and the
        median absolute difference from the paper's values of other models; None if there are none.
        These are all that any table of the paper prints for the same data set and metric, so that a
        value has the same verdict in every table that prints it.
        """
        value = published.number
        in_paper = self.resolved.published_in_paper.get(
            (dataset, published.metric), set()
        )
        distances = [
            abs(rival - value) for model, rival in in_paper if model != published.model
        ]
        return Tolerance(
            rounding=self.table.last_place(published) / 2,
            mean_of=self.resolved.mean_of,
            gap=float(np.median(distances)) if distances else None,
            margin=unit.margin_of(value),
            least=unit.least,
            greatest=unit.greatest,
        )


def is_other_data(columns: Mapping[str, NDArray[Any]]) -> bool:
    """Return True if the remarks say that the rows are not all rows of the public file.

    They may be different rows, or only a part. `columns`: those of a group of cells, {name: array},
    with the remarks if there are any.
    """
    remarks = {text for text in columns.get(REMARKS, ()) if isinstance(text, str)}
    return any(
        words in text for text in remarks for words in (OTHER_DATA, TRAINING_ONLY)
    )
