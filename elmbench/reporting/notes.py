"""Notes below a table: endings of cells, warnings of models, fits that were stopped, remarks on published figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from elmbench.layouts.table import Gain, Note
from elmbench.reporting.cells import ARITHMETIC, CAPPED, CLEAN_TIMES, REMARKS, WARNING
from elmbench.reporting.comparisons import Finding, Region, corrected_t
from elmbench.reporting.summary import ENTRY
from elmbench.reporting.verdicts import FEWEST_RUNS
from elmbench.specs.profiles import Resolved

#: Replaces the name of a data set in a reason that several of them share.
_ANY = "NAME"


@dataclass(frozen=True)
class Optimism(Note):
    """The mean optimism of each model over the data sets, under the default readings.

    `overall` is that of all models, the mean over the data sets, if there are three or more.
    """

    kind = "optimism"
    means: tuple[tuple[str, Gain], ...]
    datasets: tuple[int, int]
    overall: Finding | None = None

    @property
    def text(self) -> str:
        fewest, most = self.datasets
        over = (f"{most}" if fewest == most else f"{fewest} to {most}") + " data set" + "s" * (most > 1)
        listed = ", ".join(f"{model} {gain.text}" for model, gain in self.means)
        text = f"optimism of the selection, oracle minus nested, mean over {over}: {listed}"
        if self.overall is None or self.overall.low is None or self.overall.high is None:
            return text
        ends = f"[{Gain(self.overall.low).text}, {Gain(self.overall.high).text}]"
        return text + f"; all models {Gain(self.overall.estimate).text} {ends}, paired t-test over data sets"


@dataclass(frozen=True)
class Capped(Note):
    """The share of a model's fits that were stopped at `max_iter`, and where the share in the searches was largest."""

    kind = "capped"
    model: str
    select: str
    shown: float
    searched: float | None
    most_on: str = ""
    most: float = 0.0

    @property
    def text(self) -> str:
        text = f"{self.model}, {self.select}: {self.shown:.0%} of the fits shown were stopped at max_iter before they "
        text += "had converged"
        if self.searched is None:
            return text
        return text + f", {self.searched:.0%} of those of the searches (most on {self.most_on}: {self.most:.0%})"


@dataclass(frozen=True)
class Warned(Note):
    """What models warned of; for each data set the models, the number of their cells that warned, and of all."""

    kind = "warning"
    warning: str
    places: tuple[tuple[str, tuple[str, ...], int, int], ...]

    @property
    def text(self) -> str:
        listed = (f"{data} {', '.join(models)}, in {n} of {total} cells" for data, models, n, total in self.places)
        return f"{'; '.join(listed)}: warned that {self.warning}"


@dataclass(frozen=True)
class Arithmetic(Note):
    """Which linear algebra cells were computed with, and how many with each, where it is not the same for all."""

    kind = "arithmetic"
    cells: tuple[tuple[str, int], ...]

    @property
    def text(self) -> str:
        listed = "; ".join(f"{n} with {name}" for name, n in self.cells)
        return f"cells were computed with different linear algebra, and may differ in their last digits by it: {listed}"


@dataclass(frozen=True)
class CleanTimes(Note):
    """How many of the cells were timed with nothing beside them, where any were."""

    kind = "clean-times"
    clean: int
    cells: int

    @property
    def text(self) -> str:
        which = "all" if self.clean == self.cells else f"{self.clean} of {self.cells}"
        rest = "" if self.clean == self.cells else ", the others beside other work (see clean_times in cells.csv)"
        return f"times of fits: {which} measured one by one with nothing beside them{rest}"


@dataclass(frozen=True)
class Rows(Note):
    """What is said of the rows of a data set: what was guessed about them, or that they are not the public file."""

    kind = "data"
    dataset: str
    remarks: str

    @property
    def text(self) -> str:
        return f"{self.dataset}: {self.remarks}"


@dataclass(frozen=True)
class Unavailable(Note):
    """The data sets that are not here for the same reason."""

    kind = "ending"
    datasets: tuple[str, ...]
    reason: str

    @property
    def text(self) -> str:
        return f"{', '.join(self.datasets)} unavailable: {self.reason}"


@dataclass(frozen=True)
class NotRun(Note):
    """A model that is not run on a data set, and why."""

    kind = "ending"
    dataset: str
    model: str
    reason: str

    @property
    def text(self) -> str:
        return f"{self.dataset} {self.model} not run: {self.reason}"


@dataclass(frozen=True)
class OtherRows(Note):
    """A data set of which the paper has other rows than the public file, and how they differ."""

    kind = "published"
    dataset: str
    how: str

    @property
    def text(self) -> str:
        return f"{self.dataset} not comparable: {self.how}"


@dataclass(frozen=True)
class Ended(Note):
    """How many cells of an entry ended in one way other than ok, and the first reason."""

    kind = "ending"
    dataset: str
    model: str
    select: str
    reading: str
    cells: int
    total: int
    status: str
    reason: str

    @property
    def text(self) -> str:
        where = f"{self.dataset} {self.model}, {self.select}" + (f", {self.reading}" if self.reading else "")
        return f"{where}: {self.cells} of {self.total} cells {self.status}: {self.reason}"


@dataclass(frozen=True)
class Remark(Note):
    """A remark on published figures, which are given as (data set, model, metric)."""

    kind = "published"
    remark: str
    places: tuple[tuple[str, str, str], ...]

    @property
    def text(self) -> str:
        return f"published {', '.join(map(' '.join, self.places))}: {self.remark}"


@dataclass(frozen=True)
class Declared(Note):
    """What a published mean of the table is, and what the deviation beside it, and ours, is of."""

    kind = "published"
    mean_of: int
    std: str

    @property
    def text(self) -> str:
        draws = f"a mean over {self.mean_of} runs" if self.mean_of > 1 else "taken as the mean of one run"
        return f"a published figure is {draws}; +- is the deviation {self.std}"


@dataclass(frozen=True)
class Meant(Note):
    """A metric that the paper prints under another metric's name."""

    kind = "published"
    printed: str
    meant: str

    @property
    def text(self) -> str:
        return f"what the paper prints as {self.printed} is read as {self.meant}"


def arithmetic_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield a note if the cells were computed with different linear algebra."""
    if ARITHMETIC in cells:
        counts = cells[ARITHMETIC].dropna().value_counts().sort_index()
        yield Arithmetic(tuple((str(name), int(n)) for name, n in counts.items()))


def clean_times_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield a note if fits were timed with nothing beside them."""
    if CLEAN_TIMES in cells:
        timed = cells[CLEAN_TIMES].dropna()
        yield CleanTimes(int(timed.sum()), len(timed))


def data_notes(cells: pd.DataFrame) -> Iterator[Rows]:
    """Yield what is said of the rows of each data set, whatever the reading."""
    for dataset, remarks in _remarks(cells).items():
        yield Rows(dataset, remarks)


def with_remarks(summary: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return a summary with the column `REMARKS`, if anything is said of the rows of a data set."""
    remarks = _remarks(cells)
    return summary.assign(**{REMARKS: summary["dataset"].map(remarks)}) if remarks else summary


def _remarks(cells: pd.DataFrame) -> dict[str, str]:
    if REMARKS not in cells.columns:
        return {}
    said = cells.loc[cells[REMARKS].notna(), ["dataset", REMARKS]].drop_duplicates()
    return {str(name): "; ".join(map(str, group)) for name, group in said.groupby("dataset", sort=False)[REMARKS]}


def optimism_notes(gains: pd.DataFrame) -> Iterator[Optimism]:
    """Yield the mean optimism of each model under the default readings, if there is any."""
    own = gains[gains["reading"] == ""]
    if len(own):
        means = own.groupby("model", sort=False)["optimism"].agg(["mean", "size"])
        models = tuple((str(model), Gain(float(line["mean"]))) for model, line in means.iterrows())
        yield Optimism(models, (int(means["size"].min()), int(means["size"].max())), overall_gain(own))


def overall_gain(gains: pd.DataFrame) -> Finding | None:
    """Return the mean optimism over the data sets with its interval of 95 %; None of fewer than three data sets.

    On each data set it is the mean of the models; data sets are independent, so the paired t-test is the plain one.
    """
    return mean_gain(gains.groupby("dataset", sort=False)["optimism"].mean())


def mean_gain(of_datasets: pd.Series[float]) -> Finding | None:
    """Return the mean of what is gained on each data set, with its interval; None of fewer than three data sets."""
    if len(of_datasets) < FEWEST_RUNS:
        return None
    return corrected_t(of_datasets.to_numpy(float), 0.0, Region(), of="data sets")


def capped_notes(cells: pd.DataFrame) -> Iterator[Capped]:
    """Yield a note for each model and selection of which fits were stopped, under the default readings."""
    if not set(CAPPED) <= set(cells.columns):
        return
    own = cells[(cells["reading"] == "") & cells["capped"].notna()]
    for (model, select), group in own.groupby(["model", "select"], sort=False):
        shares = group.groupby("dataset", sort=False)[list(CAPPED)].mean().astype(float)
        if not (shares > 0).any(axis=None):
            continue
        shown, searched = (float(group[name].astype(float).mean()) for name in CAPPED)
        if searched != searched:
            yield Capped(str(model), str(select), shown, None)
        else:
            worst = shares["search_capped"]
            yield Capped(str(model), str(select), shown, searched, str(worst.idxmax()), float(worst.max()))


def warning_notes(cells: pd.DataFrame) -> Iterator[Warned]:
    """Yield a note for each warning under the default readings."""
    if WARNING not in cells.columns:
        return
    own = cells[cells["reading"] == ""]
    for text, group in own[own[WARNING].notna()].groupby(WARNING, sort=False):
        places = []
        for dataset, part in group.groupby("dataset", sort=False):
            models = tuple(dict.fromkeys(map(str, part["model"])))
            total = len(own[(own["dataset"] == dataset) & own["model"].isin(models)])
            places.append((str(dataset), models, len(part), total))
        yield Warned(str(text), tuple(places))


def not_run_notes(resolved: Resolved, datasets: set[str]) -> Iterator[NotRun]:
    """Yield the models that the experiment leaves out on these data sets."""
    for column, model in resolved.spec.models.items():
        for dataset, reason in model.not_run.items():
            if dataset in datasets:
                yield NotRun(dataset, column, reason)


def ending_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield a note for each way in which cells ended otherwise than ok."""
    bad = cells[cells["status"] != "ok"]
    absent: dict[str, list[str]] = {}
    for dataset, group in bad[bad["status"] == "unavailable"].groupby("dataset", sort=False):
        absent.setdefault(_of_any(str(dataset), str(group["reason"].iloc[0])), []).append(str(dataset))
    for reason, names in absent.items():
        yield Unavailable(tuple(names), reason if len(names) > 1 else reason.replace(_ANY, names[0]))
    totals = cells.groupby(ENTRY).size()
    for place, group in bad[bad["status"] != "unavailable"].groupby([*ENTRY, "status"], sort=False):
        dataset, model, select, reading, status = map(str, place)
        total = int(totals[dataset, model, select, reading])
        reason = str(group["reason"].iloc[0]).splitlines()[0]
        yield Ended(dataset, model, select, reading, len(group), total, status, reason)


def _of_any(dataset: str, reason: str) -> str:
    """Return why a data set is not here in words that fit any other data set too."""
    return re.sub(rf"(?<![\w-]){re.escape(dataset)}(?![\w-])", _ANY, reason)


def published_notes(resolved: Resolved, datasets: set[str]) -> Iterator[Note]:
    """Yield what the published figures are, the remarks on those of these data sets, and metrics that are misnamed."""
    if any(figure.std is not None for figure in resolved.file.figures):
        yield Declared(resolved.mean_of, resolved.spec.protocol.std.replace("-", " "))
    for dataset, how in resolved.spec.other_rows.items():
        if dataset in datasets:
            yield OtherRows(dataset, how)
    remarks: dict[str, list[tuple[str, str, str]]] = {}
    for place, figure in resolved.published.items():
        # The table itself shows when a fit was stopped.
        if figure.note and place[0] in datasets and figure.over_seconds is None:
            remarks.setdefault(figure.note, []).append(place)
    for note, places in remarks.items():
        yield Remark(note, tuple(places))
    declared = resolved.file.spec.published
    for printed, meant in declared.meant.items() if declared else ():
        yield Meant(printed, meant)
