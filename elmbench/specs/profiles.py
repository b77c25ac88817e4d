"""An experiment under one profile and one choice of readings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.specs.catalogue import PROFILES, ExperimentFile, overlay
from elmbench.specs.experiments import Experiment, Profile
from elmbench.specs.files import parse_spec
from elmbench.specs.grids import Grid
from elmbench.specs.protocol import OuterOverride


@dataclass(frozen=True)
class Resolved:
    """An experiment under one profile and one choice of readings.

    Attributes
    ----------
    file : ExperimentFile
    spec : Experiment
    profile : str
    settings : Profile
        The profile as declared.
    reading : str
        The readings that are not the default, as `id=value;id=value`.
    """

    file: ExperimentFile
    spec: Experiment
    profile: str
    settings: Profile
    reading: str


def resolve(file: ExperimentFile, profile: str, readings: dict[str, str] | None = None) -> Resolved:
    """Return the experiment under a profile and readings.

    Parameters
    ----------
    file : ExperimentFile
    profile : {"ci", "fast", "paper"}
        A profile that the file does not describe is the printed protocol.
    readings : dict of str to str, optional
        Values of readings, by id; those not named keep their default.

    Raises
    ------
    ElmbenchError
        If there is no such profile, reading or value.
    """
    if profile not in PROFILES:
        raise unknown_name("profile", profile, list(PROFILES), f"elmbench show {file.id}")
    content = file.content
    labels = []
    for name, value in sorted((readings or {}).items()):
        if name not in file.spec.readings:
            raise ElmbenchError(
                f"{file.id} has no reading {name!r}",
                expected=f"one of {', '.join(file.spec.readings) or '(it has none)'}",
                next_step="elmbench list readings",
            )
        reading = file.paper.readings[name]
        if value not in reading.values:
            raise unknown_name(f"value of reading {name}", value, list(reading.values), "elmbench list readings")
        content = overlay(content, reading.values[value].set)
        if value != reading.default:
            labels.append(f"{name}={value}")
    spec = parse_spec(Experiment, content, file.path)
    settings = spec.profiles.get(profile, Profile())
    if settings is None:
        raise ElmbenchError(
            f"{file.id} has nothing to show under profile {profile}: its data do not come with the suite",
            expected=f"one of {', '.join(file.profiles)}",
            next_step=f"elmbench show {file.id}",
        )
    return Resolved(file, _apply(spec, settings), profile, settings, ";".join(labels))


def _apply(spec: Experiment, profile: Profile) -> Experiment:
    """Return the experiment with a profile's changes."""
    outer = spec.protocol.outer
    change: dict[str, Any] = {}
    overrides = {}
    for name in (*outer.overrides, *profile.overrides):
        printed = outer.overrides.get(name, OuterOverride())
        own = profile.overrides.get(name, OuterOverride())
        overrides[name] = OuterOverride(
            runs=own.runs or profile.runs or printed.runs, folds=own.folds or profile.folds or printed.folds
        )
    outer = outer.model_copy(
        update={
            "runs": profile.runs or outer.runs,
            "folds": profile.folds or outer.folds,
            "overrides": overrides,
        }
    )
    protocol = spec.protocol.model_copy(update={"outer": outer, "select": profile.select or spec.protocol.select})
    change["protocol"] = protocol
    if profile.datasets is not None or profile.stand_ins:
        change["datasets"] = profile.stand_ins or profile.datasets
    if profile.models is not None:
        change["models"] = {name: spec.models[name] for name in profile.models}
    if profile.thin_grids:
        change["grids"] = _thin(spec.grids, profile.thin_grids)
        change["models"] = {
            column: model.model_copy(update={"search": _thin(model.search, profile.thin_grids)})
            if isinstance(model.search, dict)
            else model
            for column, model in change.get("models", spec.models).items()
        }
    return spec.model_copy(update=change)


def _thin(grids: dict[str, Grid], every: int) -> dict[str, Grid]:
    return {name: grid.thin(every) for name, grid in grids.items()}
