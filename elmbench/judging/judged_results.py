"""The results of a table under one profile, judged: its summary, verdicts and claims."""

from collections.abc import Collection
from functools import cached_property

import pandas as pd

from elmbench.judging import value_agreement
from elmbench.judging.claim_outcomes import ClaimOutcome
from elmbench.judging.claims import check_claims
from elmbench.judging.measured_cells import ComparedValue, Key, MeasuredCells
from elmbench.judging.summary import (
    PUBLISHED_KEY,
    drop_stand_ins,
    optimism,
    summary_frame,
    summary_lines,
    with_origin,
)
from elmbench.judging.summary_line import SummaryLine
from elmbench.judging.table_verdicts import TableVerdict, judge_table
from elmbench.specs.profiles import Resolved


class JudgedResults:
    """The results of a table under one profile, judged.

    Each part is computed once, on first use.

    Attributes
    ----------
    cells : DataFrame
        The lines of `cells.csv`.
    resolved : Resolved
        The table under the profile.
    committed : collection of tuple
        The groups of cells of the committed results, (data set, model, selection, reading); empty
        if all cells are of one origin.
    """

    def __init__(
        self,
        cells: pd.DataFrame,
        resolved: Resolved,
        committed: Collection[Key] = (),
    ) -> None:
        self.cells = cells
        self.resolved = resolved
        self.committed = committed

    @cached_property
    def measured(self) -> MeasuredCells:
        """The cells that ended ok, beside the published values."""
        return MeasuredCells(self.cells, self.resolved)

    @cached_property
    def lines(self) -> list[SummaryLine]:
        """The lines of `summary.csv`, as records in its order."""
        return summary_lines(self.measured)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The lines of `summary.csv`, with the columns of remarks and of committed values, if any.

        Remarks are those on the data sets; `committed` is there if some cells are of the committed
        results.
        """
        return with_origin(summary_frame(self.lines), self.cells, self.committed)

    @cached_property
    def _published_lines(self) -> list[SummaryLine]:
        """The lines of the summary with a published value, or of a measure that a claim names.

        They are of the default readings only.
        """
        return summary_lines(self.measured, published_only=True)

    @cached_property
    def _published_summary(self) -> pd.DataFrame:
        """The lines of `_published_lines` as a frame with the columns of `summary.csv`.

        Its index is the position of each line.
        """
        frame = summary_frame(self._published_lines)
        return with_origin(frame, self.cells, self.committed)

    @cached_property
    def published_values(self) -> pd.DataFrame:
        """The lines of `summary.csv` that have a published value, one for each, as a frame.

        They are of the default readings and the first selection. A data set that stands in for
        another one is left out if that one was measured. The index is the position in
        `_published_lines`.
        """
        lines = self._published_summary
        lines = lines[lines["published"].notna()]
        return drop_stand_ins(lines.drop_duplicates(PUBLISHED_KEY), self.resolved)

    @cached_property
    def compared_values(self) -> list[ComparedValue]:
        """The published values that are compared with our runs, without facts of data sets."""
        lines = [self._published_lines[i] for i in self.published_values.index]
        return list(value_agreement.compared_values(lines, self.measured))

    @cached_property
    def verdicts(self) -> list[TableVerdict]:
        """The verdicts on the table, one for each metric with compared values."""
        return judge_table(self.compared_values, self.resolved)

    @cached_property
    def times(self) -> list[value_agreement.TimesAgreement]:
        """The agreement of our times with the published ones, one for each kind of time.

        A kind without two comparable models on a data set is left out.
        """
        return list(
            value_agreement.agreements_of_times(self.published_values, self.resolved)
        )

    @cached_property
    def claim_outcomes(self) -> list[ClaimOutcome]:
        """The outcome of each claim of the paper about the table, before Holm's correction.

        Claims of which nothing was run are left out.
        """
        return list(check_claims(self._published_summary, self.measured))

    @cached_property
    def optimism(self) -> pd.DataFrame:
        """The lines of `optimism.csv`; an empty frame unless `oracle` and `nested` were run.

        A line is for each model on each data set and reading, with the gain of `oracle` over
        `nested` (`optimism`), both means, and the interval of the gain.
        """
        return optimism(self.cells, self.resolved)

    @property
    def default_optimism(self) -> pd.DataFrame:
        """The lines of `optimism.csv` under the default readings."""
        return self.optimism[self.optimism["reading"] == ""]

    @property
    def counts_text(self) -> str:
        """The sentences that count the published values and the facts of data sets by verdict."""
        values, facts = value_agreement.verdict_counts(self.published_values)
        missing = value_agreement.missing_runs(self.published_values, self.cells)
        return value_agreement.counts_text(values, facts, missing)
