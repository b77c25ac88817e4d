"""What models warned of while the fits that are shown were made, as a column of `cells.csv` and below the table."""

from __future__ import annotations

from typing import Any

import pandas as pd

#: Column of `cells.csv`: what a model said of its own data, such as that it can only predict one class.
WARNING = "warning"

_KIND = "UserWarning: "


def warning_of(result: dict[str, Any]) -> dict[str, str]:
    """Return the value of the column `WARNING` for a cell; nothing where its model did not warn.

    Parameters
    ----------
    result : dict
        What the store holds of the cell. Other kinds of warnings, of which some depend on the versions of libraries,
        stay there.
    """
    said = [text.removeprefix(_KIND) for text in result.get("warnings", ()) if text.startswith(_KIND)]
    return {WARNING: "; ".join(said)} if said and result["status"] == "ok" else {}


def warning_notes(cells: pd.DataFrame) -> list[str]:
    """Return a note for each warning, with the data sets and models that it is about.

    Parameters
    ----------
    cells : DataFrame
        As `cells.csv` has them; other than default readings are left out.
    """
    if WARNING not in cells.columns:
        return []
    own = cells[cells["reading"] == ""]
    notes = []
    for text, group in own[own[WARNING].notna()].groupby(WARNING, sort=False):
        places = []
        for dataset, part in group.groupby("dataset", sort=False):
            models = list(dict.fromkeys(part["model"]))
            cells_there = own[(own["dataset"] == dataset) & own["model"].isin(models)]
            places.append(f"{dataset} {', '.join(models)}, in {len(part)} of {len(cells_there)} cells")
        notes.append(f"{'; '.join(places)}: warned that {text}")
    return notes
