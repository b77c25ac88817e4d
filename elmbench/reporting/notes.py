"""Notes below a table: endings of cells, warnings of models, fits that were stopped, remarks on published figures."""

import re
from collections.abc import Iterator

import pandas as pd

from elmbench.layouts.table import Gain, Note
from elmbench.reporting.cells import CAPPED, WARNING
from elmbench.reporting.summary import ENTRY
from elmbench.specs.profiles import Resolved

#: Replaces the name of a data set in a reason that several of them share.
_ANY = "NAME"


def optimism_notes(gains: pd.DataFrame) -> Iterator[Note]:
    """Yield the mean optimism of each model over the data sets under the default readings, if there is any."""
    own = gains[gains["reading"] == ""]
    if len(own):
        means = own.groupby("model", sort=False)["optimism"].agg(["mean", "size"])
        fewest, most = int(means["size"].min()), int(means["size"].max())
        over = (f"{most}" if fewest == most else f"{fewest} to {most}") + " data set" + "s" * (most > 1)
        listed = ", ".join(f"{model} {Gain(float(mean)).text}" for model, mean in means["mean"].items())
        yield Note("optimism", f"optimism of the selection, oracle minus nested, mean over {over}: {listed}")


def capped_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield the share of fits that were stopped at `max_iter`, by model and selection, under the default readings.

    It also says on which data set the share in the searches was largest.
    """
    if not set(CAPPED) <= set(cells.columns):
        return
    own = cells[(cells["reading"] == "") & cells["capped"].notna()]
    for (model, select), group in own.groupby(["model", "select"], sort=False):
        shares = group.groupby("dataset", sort=False)[list(CAPPED)].mean().astype(float)
        if not (shares > 0).any(axis=None):
            continue
        shown, searched = (float(group[name].astype(float).mean()) for name in CAPPED)
        text = f"{model}, {select}: {shown:.0%} of the fits shown were stopped at max_iter before they had converged"
        if not pd.isna(searched):
            worst = shares["search_capped"]
            text += f", {searched:.0%} of those of the searches (most on {worst.idxmax()}: {worst.max():.0%})"
        yield Note("capped", text)


def warning_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield what models warned of under the default readings, and for each data set which models, in how many cells."""
    if WARNING not in cells.columns:
        return
    own = cells[cells["reading"] == ""]
    for warning, group in own[own[WARNING].notna()].groupby(WARNING, sort=False):
        places = []
        for dataset, part in group.groupby("dataset", sort=False):
            models = part["model"].unique()
            total = len(own[(own["dataset"] == dataset) & own["model"].isin(models)])
            places.append(f"{dataset} {', '.join(models)}, in {len(part)} of {total} cells")
        yield Note("warning", f"{'; '.join(places)}: warned that {warning}")


def ending_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield which data sets are not here, and how many cells of each entry ended otherwise than ok, and why."""
    bad = cells[cells["status"] != "ok"]
    absent: dict[str, list[str]] = {}
    for name, group in bad[bad["status"] == "unavailable"].groupby("dataset", sort=False):
        absent.setdefault(_of_any(str(name), str(group["reason"].iloc[0])), []).append(str(name))
    for reason, names in absent.items():
        shown = reason if len(names) > 1 else reason.replace(_ANY, names[0])
        yield Note("ending", f"{', '.join(names)} unavailable: {shown}")
    totals = cells.groupby(ENTRY).size()
    for place, group in bad[bad["status"] != "unavailable"].groupby([*ENTRY, "status"], sort=False):
        dataset, model, select, reading, status = map(str, place)
        where = f"{dataset} {model}, {select}" + (f", {reading}" if reading else "")
        count = f"{len(group)} of {totals[dataset, model, select, reading]} cells {status}"
        yield Note("ending", f"{where}: {count}: {str(group['reason'].iloc[0]).splitlines()[0]}")


def _of_any(dataset: str, reason: str) -> str:
    """Return why a data set is not here in words that fit any other data set too."""
    return re.sub(rf"(?<![\w-]){re.escape(dataset)}(?![\w-])", _ANY, reason)


def published_notes(resolved: Resolved, datasets: set[str]) -> Iterator[Note]:
    """Yield the remarks on the published figures of these data sets, and which metrics the paper misnames."""
    remarks: dict[str, list[tuple[str, str, str]]] = {}
    for place, figure in resolved.published.items():
        # The table itself shows when a fit was stopped.
        if figure.note and place[0] in datasets and figure.over_seconds is None:
            remarks.setdefault(figure.note, []).append(place)
    for note, places in remarks.items():
        yield Note("published", f"published {', '.join(map(' '.join, places))}: {note}")
    declared = resolved.file.spec.published
    for printed, meant in declared.meant.items() if declared else ():
        yield Note("published", f"what the paper prints as {printed} is read as {meant}")
