"""The outcomes of the tables of the suite in the committed results: `experiments/outcomes.csv`.

A command reads them in no time; computing them takes seconds.
"""

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cache
from io import StringIO

from elmbench.specs.files import spec_root


@dataclass(frozen=True)
class Outcome:
    """The outcome of a table.

    Attributes
    ----------
    experiment : str
        The id of the table.
    verdict : str
        The verdict on the metric that the table is about; empty if nothing is compared.
    seconds : float, optional
        The time on one core under profile `fast`; None if no data set was available.
    """

    experiment: str
    verdict: str
    seconds: float | None


@cache
def read_outcomes() -> dict[str, Outcome]:
    """Return {id of the table: outcome} of the committed outcomes; empty if there is no file.

    The dict is cached; do not change it.
    """
    path = spec_root() / "experiments" / "outcomes.csv"
    if not path.is_file():
        return {}
    outcomes = {}
    for line in csv.DictReader(StringIO(path.read_text("utf-8"))):
        seconds = float(line["seconds"]) if line["seconds"] else None
        outcomes[line["experiment"]] = Outcome(
            line["experiment"], line["verdict"], seconds
        )
    return outcomes


def outcomes_text(outcomes: Iterable[Outcome]) -> str:
    """Return outcomes as the content of `outcomes.csv`: a header, and a line for each.

    The columns are experiment, verdict and seconds; seconds of None are empty.
    """
    text = StringIO()
    columns = [column.name for column in fields(Outcome)]
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(outcome) for outcome in outcomes)
    return text.getvalue()
