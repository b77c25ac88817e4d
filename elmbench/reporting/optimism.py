"""The optimism of model selection: what a choice on the outer test folds (oracle) gains over a blind one (nested)."""

from __future__ import annotations

import pandas as pd

from elmbench.protocol.metrics import LESS_IS_BETTER
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.profiles import Resolved

GAINS = ["dataset", "model", "metric", "reading", "oracle", "nested", "optimism", "std", "n"]


def optimism(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return the optimism of each model on each data set of which both selections were run.

    Parameters
    ----------
    cells : DataFrame
        As `cells.csv` has them.
    resolved : Resolved

    Returns
    -------
    DataFrame
        In the order of the cells. `oracle` and `nested` are means over the same folds, `optimism` is the first minus
        the second (of an error the second minus the first, so that it is in the oracle's favour in any case), `std`
        its deviation from fold to fold, `n` the number of folds. An entry of which one cell did not end ok, or was run
        under one selection only, is left out: the folds that are left may be the easier ones.
    """
    lines = []
    for (dataset, model, reading), group in cells.groupby(["dataset", "model", "reading"], sort=False):
        both = group[group["select"].isin(["oracle", "nested"])]
        metric = resolved.spec.protocol.metric_for(load_dataset_specs().find(str(dataset)).task)
        if metric not in both or both["select"].nunique() < 2 or (both["status"] != "ok").any():
            continue
        table = both.pivot(index=["run", "fold"], columns="select", values=metric).astype(float)
        gain = table["oracle"] - table["nested"]
        if gain.isna().any():
            continue
        gain = -gain if metric in LESS_IS_BETTER else gain
        means = [float(table[name].mean()) for name in ("oracle", "nested")]
        deviation = float(gain.std(ddof=1)) if len(gain) > 1 else None
        lines.append([dataset, model, metric, reading, *means, float(gain.mean()), deviation, len(gain)])
    return pd.DataFrame(lines, columns=GAINS)


def optimism_note(found: pd.DataFrame) -> list[str]:
    """Return the mean optimism of each model over the data sets, under the default readings; nothing without any.

    Parameters
    ----------
    found : DataFrame
        As `optimism` returns it.
    """
    own = found[found["reading"] == ""]
    if not len(own):
        return []
    means = own.groupby("model", sort=False)["optimism"].agg(["mean", "size"])
    sizes = sorted(set(means["size"]))
    over = (f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}") + " data set" + "s" * (sizes[-1] > 1)
    listed = ", ".join(f"{model} {gained(line['mean'])}" for model, line in means.iterrows())
    return [f"optimism of the selection, oracle minus nested, mean over {over}: {listed}"]


def gained(value: float) -> str:
    """Return an optimism with its sign; nothing gained has a plus."""
    return f"{round(value, 3) + 0.0:+.3f}"
