"""Notes below a table: what ended otherwise than ok and why, remarks on the published figures."""

from __future__ import annotations

import re

import pandas as pd

from elmbench.reporting.rows import ran_over
from elmbench.reporting.summary import ENTRY, Published
from elmbench.specs.profiles import Resolved

#: Stands for the name of each of several data sets.
_ANY = "NAME"


def endings(cells: pd.DataFrame) -> list[str]:
    """Return one note for each way in which cells ended otherwise than ok, with how many and the first reason."""
    notes = []
    bad = cells[cells["status"] != "ok"]
    absent: dict[str, list[str]] = {}
    for dataset, group in bad[bad["status"] == "unavailable"].groupby("dataset", sort=False):
        absent.setdefault(_of_any(str(dataset), str(group["reason"].iloc[0])), []).append(str(dataset))
    for reason, names in absent.items():
        notes.append(
            f"{', '.join(names)} unavailable: " + (reason if len(names) > 1 else reason.replace(_ANY, names[0]))
        )
    ran = bad[bad["status"] != "unavailable"]
    totals = cells.groupby(ENTRY).size()
    for place, group in ran.groupby([*ENTRY, "status"], sort=False):
        dataset, model, select, reading, status = map(str, place)
        total = totals[dataset, model, select, reading]
        where = f"{dataset} {model}, {select}" + (f", {reading}" if reading else "")
        reason = str(group["reason"].iloc[0]).splitlines()[0]
        notes.append(f"{where}: {len(group)} of {total} cells {status}: {reason}")
    return notes


def _of_any(dataset: str, reason: str) -> str:
    """Return why a data set is not here in the words that fit any other too."""
    return re.sub(rf"(?<![\w-]){re.escape(dataset)}(?![\w-])", _ANY, reason)


def remarks(published: Published, datasets: set[str]) -> list[str]:
    """Return what there is to say about the published figures of these data sets."""
    remarks: dict[str, list[str]] = {}
    for (dataset, model, metric), entry in published.items():
        if entry.note and dataset in datasets and not ran_over(entry):
            remarks.setdefault(entry.note, []).append(f"{dataset} {model} {metric}")
    return [f"published {', '.join(places)}: {note}" for note, places in remarks.items()]


def meant(resolved: Resolved) -> list[str]:
    """Return which figures the paper prints under another's name."""
    declared = resolved.file.spec.published
    if declared is None:
        return []
    return [f"what the paper prints as {printed} is read as {meant}" for printed, meant in declared.meant.items()]
