"""A table of a paper, judged: each published value counts under one profile."""

from collections.abc import Sequence
from functools import cached_property

import pandas as pd

from elmbench.judging.judged_results import JudgedResults
from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.summary import PUBLISHED_KEY, drop_stand_ins
from elmbench.judging.summary_line import COLUMNS
from elmbench.judging.table_verdicts import TableVerdict, judge_table, main_verdict
from elmbench.judging.value_agreement import (
    VerdictCounts,
    missing_runs,
    verdict_counts,
)
from elmbench.judging.verdict_words import EVIDENCE, VERDICTS
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import resolve
from elmbench.specs.published import ALL, PublishedValue
from elmbench.tables import kind_of_table

_NO_VALUES = pd.DataFrame(columns=[*COLUMNS, "profile"])


class JudgedTable:
    """A table of a paper, judged: each published value counts under one profile.

    This is a profile that has enough runs of the value; if several have, the one nearest to the
    printed protocol.

    Attributes
    ----------
    file : ExperimentFile
    results : sequence of JudgedResults
        Its results under each profile, the most faithful one first; empty if it has not been run.
    """

    def __init__(self, file: ExperimentFile, results: Sequence[JudgedResults]) -> None:
        self.file = file
        self.results = results

    @cached_property
    def published_values(self) -> pd.DataFrame:
        """The published values that have a verdict, a line for each, as a frame.

        A line is that of `summary.csv` of the profile that the value counts under, with the column
        `profile`. A value that has a verdict under several profiles counts under the one with the
        most evidence, and under the most faithful one of equals. Superfluous stand-ins are left
        out. The frame is empty if the table has not been run.
        """
        lines = pd.concat(
            [
                one.published_values.assign(profile=one.resolved.profile)
                for one in self.results
            ]
            or [_NO_VALUES]
        )
        if self.results:
            lines = drop_stand_ins(
                lines[lines["verdict"] != ""], self.results[0].resolved
            )
        keys = lines[PUBLISHED_KEY].itertuples(index=False, name=None)
        evidence = [EVIDENCE[verdict] for verdict in lines["verdict"]]
        # The position of the line that each published value counts under, in the order of the
        # first lines.
        best: dict[tuple[str, ...], int] = {}
        for position, key in enumerate(keys):
            if evidence[position] > evidence[best.setdefault(key, position)]:
                best[key] = position
        return lines.iloc[list(best.values())].reset_index(drop=True)

    @cached_property
    def missing_runs(self) -> pd.DataFrame:
        """The models that have too few runs for an interval, as a frame.

        Its columns are `dataset`, `model`, `more_runs` (the runs that they lack) and `minutes` (the
        time of these runs on one core). The table must have been run.
        """
        profile = self.published_values["profile"]
        lacking = [
            missing_runs(
                self.published_values[profile == one.resolved.profile], one.cells
            )
            for one in self.results
        ]
        return pd.concat(lacking)

    @cached_property
    def compared_values(self) -> list[ComparedValue]:
        """The published values that are compared with our runs, without facts of data sets.

        Each is compared under the profile that it counts under.
        """
        counted = {
            *self.published_values[[*PUBLISHED_KEY, "profile"]].itertuples(
                index=False, name=None
            )
        }
        compared = (value for one in self.results for value in one.compared_values)
        return [
            value
            for value in compared
            if (value.dataset, value.model, value.measure.column, value.profile)
            in counted
        ]

    @cached_property
    def verdicts(self) -> list[TableVerdict]:
        """The verdict on each metric with compared values; empty if the table has not been run."""
        if not self.results:
            return []
        first = self.results[0]
        profiles = {value.profile for value in self.compared_values}
        is_of_first = profiles <= {first.resolved.profile}
        # The compared values of the table are some of its results'.
        if is_of_first and len(first.compared_values) == len(self.compared_values):
            return first.verdicts
        return judge_table(self.compared_values, first.resolved)

    @property
    def main_verdict(self) -> TableVerdict | None:
        """The verdict on the metric that the table is about; None if nothing is compared.

        This is the first metric of the protocol that has a verdict, else the metric of the first
        verdict.
        """
        if not self.results:
            return None
        return main_verdict(self.verdicts, self.results[0].resolved)

    @cached_property
    def counts(self) -> VerdictCounts:
        """The numbers of published values and of facts of data sets, each by verdict."""
        return verdict_counts(self.published_values)

    @cached_property
    def values_by_verdict(self) -> dict[str, int]:
        """The number of published values with each verdict and, as `not run`, without results yet.

        The form is {verdict: number}, with all of `VERDICTS`, also those without values. Facts of
        data sets do not count; a table that has some verdict on these has no values `not run`.
        """
        values, facts = self.counts
        not_run = 0 if facts else max(0, self._n_to_judge() - values.total())
        return {verdict: values[verdict] for verdict in VERDICTS} | {"not run": not_run}

    def _n_to_judge(self) -> int:
        """Return the number of published values that get a verdict once the table has been run.

        Cited values are among them.
        """
        printed = resolve(self.file, self.file.profiles[-1])
        table = kind_of_table(printed)
        models = set(table.models())
        datasets = {ALL, *printed.datasets} - set(printed.stand_ins)

        def is_shown(dataset: str, model: str, published: PublishedValue) -> bool:
            """Return True if the table shows a published value.

            It does so on its data sets, for cited values, for models that it shows and for models
            that the suite does not have.
            """
            is_in_file_alone = model in self.file.all_columns and model not in models
            is_of_model = published.cited or not is_in_file_alone
            return dataset in datasets and is_of_model

        def is_judged(published: PublishedValue) -> bool:
            """Return True if a value gets a verdict: it is cited, or a judged number.

            That is, a number of a metric that the table judges.
            """
            if published.cited:
                return True
            metric, _, _ = published.metric.partition("@")
            has_value = published.value is not None
            return has_value and table.is_judged(Measure(metric))

        n_judged = 0
        for (dataset, model, _), published in printed.published.items():
            if is_shown(dataset, model, published) and is_judged(published):
                n_judged += 1
        return n_judged

    def judge(self) -> None:
        """Compute and keep the verdicts and the outcomes of claims, so that later uses are fast."""
        _ = self.verdicts, self.counts
        for results in self.results:
            _ = results.claim_outcomes
