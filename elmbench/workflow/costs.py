"""What a table would take, as `elmbench show` says it."""

from __future__ import annotations

from elmbench.specs.catalogue import ExperimentFile
from elmbench.workflow.kept import kept


def costs(file: ExperimentFile) -> dict[str, float]:
    """Return the seconds that all cells of a table take on one core, by profile, with all data at hand.

    Planning imports the engine, which takes longer than to print what is known: the seconds are kept.
    """
    found: dict[str, float] = kept(f"costs/{file.id.replace('/', '-')}", file, [], None, lambda: _planned(file))
    return found


def _planned(file: ExperimentFile) -> dict[str, float]:
    from elmbench.layouts.planning import make_plan
    from elmbench.specs.limits import parse_limits
    from elmbench.specs.profiles import resolve
    from elmbench.work.plan import Request

    plans = {name: make_plan(resolve(file, name), Request(without_data=True)) for name in file.profiles}
    memory = parse_limits(file.spec.limit).memory
    return {name: sum(work.seconds_within(memory) for work in plan.works.values()) for name, plan in plans.items()}
