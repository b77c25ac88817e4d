"""Comparisons on a user's data, as recorded with their results, so that their tables can be shown again."""

import json
from pathlib import Path
from typing import Any

from elmbench.errors import unknown_name
from elmbench.specs.catalogue import ExperimentFile
from elmbench.specs.datasets import add_dataset_specs, parse_dataset_specs
from elmbench.specs.experiments import Experiment, Profile
from elmbench.specs.files import parse_spec
from elmbench.specs.papers import Paper
from elmbench.specs.profiles import Resolved

#: The profile of comparisons: their results are in `<results-dir>/compare/own/<name>`.
PROFILE = "compare"
_RECORD = "environment.json"


def comparison_of(content: dict[str, Any], settings: dict[str, Any], source: Path) -> Resolved:
    """Return the experiment of a comparison whose profile has these `settings`."""
    spec = parse_spec(Experiment, content, source)
    file = ExperimentFile(source, content, spec, Paper(key="own"))
    return Resolved(file, spec, PROFILE, parse_spec(Profile, settings, source))


def comparison_record(resolved: Resolved) -> dict[str, Any]:
    """Return the content from which `recorded_comparison` reads a comparison."""
    data = {
        name: spec.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"name"})
        for name, spec in resolved.datasets.items()
    }
    settings = resolved.settings.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {"spec": {"content": resolved.file.content, "settings": settings, "data": data}}


def recorded_comparison(name: str, results_dir: Path) -> Resolved:
    """Return the comparison `own/<name>` in a results folder, and add its data sets to the suite.

    Raises ElmbenchError if there is no such comparison.
    """
    folder = results_dir / PROFILE
    path = folder / name / _RECORD
    try:
        record = json.loads(path.read_text("utf-8"))["spec"]
    except (OSError, ValueError, KeyError, TypeError):
        known = [f"own/{other.parent.name}" for other in sorted(folder.glob(f"own/*/{_RECORD}"))]
        raise unknown_name("table", name, known, "elmbench compare FILE --name NAME") from None
    add_dataset_specs(parse_dataset_specs(record["data"], str(path)).values())
    return comparison_of(record["content"], record["settings"], path)
