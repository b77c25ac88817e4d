"""The picture of how times grow."""

from pathlib import Path
from typing import Any

PLOT = "scaling.png"


def write_plot(records: list[dict[str, Any]], path: Path) -> None:
    """Draw seconds against size on logarithmic axes, a panel for each record of `bench.json` that has points."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(records), figsize=(4.2 * len(records), 3.8), squeeze=False)
    for axis, record in zip(axes[0], records, strict=True):
        points = record["points"]
        for seconds, slope, label in (
            (points["theirs"], points["slope_against"], record["against"]),
            (points["ours"], points["slope"], "elmbench"),
        ):
            axis.loglog(points["x"], seconds, "o-", label=f"{label}: slope {slope:.2f}")
        axis.set_xticks(points["x"], [f"{x:,}" for x in points["x"]])
        axis.minorticks_off()
        axis.set_xlabel(points["axis"])
        axis.set_ylabel("processor time, s")
        axis.set_title(record["name"], fontsize=9)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)
