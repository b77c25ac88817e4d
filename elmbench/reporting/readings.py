"""What each reading of a passage brings back: the published value, the mean under every reading, which fits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.execution.store import write_atomically
from elmbench.reporting.layouts import UNJUDGED
from elmbench.reporting.results import read_commands, read_results, results_folder
from elmbench.reporting.summary import COMPLETE
from elmbench.reporting.tables import fixed, spelling
from elmbench.specs.catalogue import PROFILES, ExperimentFile, Resolved, load_catalogue, resolve
from elmbench.specs.experiments import Reading

_LEAKING = "carry-over=folds"


@dataclass(frozen=True)
class Comparison:
    """One published figure under every value of a reading.

    Attributes
    ----------
    place : str
        Data set, model and metric, with the table, profile and selection.
    published : float
    means : dict of str to str
        What was measured, as text, by value of the reading; none where it was not run.
    fits : str
        The value of the reading that comes nearest; empty where two come equally near.
    """

    place: str
    published: float
    means: dict[str, str]
    fits: str


def write_readings(paper: str, results_dir: Path) -> Path:
    """Write `readings/<paper>.md` from the `cells.csv` of the paper's tables; return the file.

    Raises
    ------
    ElmbenchError
        If no reading of the paper has been run.
    """
    files = [file for file in load_catalogue().values() if file.spec.paper == paper]
    path = results_dir / "readings" / f"{paper}.md"
    lines = [f"# Readings of {files[0].paper.title}", "", files[0].paper.authors + f" ({files[0].paper.year})."]
    lines += [
        "",
        "What the text does not settle, and what each way to read it gives. `fits` names the value of the reading that",
        "comes nearest to the published figure; figures that no value moves are left out. Only readings at their",
        "defaults but for the one shown are compared, on the same folds and random numbers.",
    ]
    found = False
    for name, reading in files[0].paper.readings.items():
        comparisons = compare_reading(name, reading, files, results_dir)
        found = found or bool(comparisons)
        lines += _section(name, reading, comparisons)
    if not found:
        raise ElmbenchError(
            f"no reading of {paper} has been run into {results_dir}",
            expected="cells of a reading beside those of the default",
            next_step=f"elmbench run --paper {paper} --reading ID=VALUE",
        )
    lines += ["", "## Commands", "", *(f"    {command}" for command in _commands(files, results_dir))]
    write_atomically(path, "\n".join(lines) + "\n")
    return path


def compare_reading(name: str, reading: Reading, files: list[ExperimentFile], results_dir: Path) -> list[Comparison]:
    """Return the published figures that a reading moves.

    Parameters
    ----------
    name : str
    reading : Reading
    files : list of ExperimentFile
        The tables to look at.
    results_dir : Path
    """
    comparisons = []
    for resolved in _with_results(files, results_dir):
        if name in resolved.file.spec.readings and resolved.spec.layout == "metrics":
            summary = read_results(resolved, results_dir).summary
            comparisons += _compare(name, reading, summary, resolved)
    return comparisons


def _with_results(files: list[ExperimentFile], results_dir: Path) -> list[Resolved]:
    return [
        resolve(file, profile)
        for file in files
        for profile in PROFILES[1:]
        if profile in file.profiles and (results_folder(results_dir, profile, file.id) / "cells.csv").is_file()
    ]


def _compare(name: str, reading: Reading, summary: pd.DataFrame, resolved: Resolved) -> list[Comparison]:
    judged = summary[summary["published"].notna() & ~summary["metric"].isin(UNJUDGED)]
    labels = {value: "" if value == reading.default else f"{name}={value}" for value in reading.values}
    comparisons = []
    for place, group in judged.groupby(["dataset", "model", "metric", "select"], sort=False):
        dataset, model, metric, select = map(str, place)
        lines = group.set_index("reading").to_dict("index")
        means = {value: lines[label] for value, label in labels.items() if label in lines}
        measured = {value: float(line["mean"]) for value, line in means.items() if line["verdict"] in COMPLETE}
        if len(means) < 2 or reading.default not in means or len(set(measured.values())) < 2:
            continue
        published = float(group["published"].iloc[0])
        distances = {value: abs(mean - published) for value, mean in measured.items()}
        best = [value for value, distance in distances.items() if distance == min(distances.values())]
        comparisons.append(
            Comparison(
                f"{spelling(dataset, resolved)} {model} {metric} ({resolved.file.spec.label}, "
                f"{resolved.profile}, {select}, {int(group['n'].max())} cells)",
                published,
                {value: _measured(line) for value, line in means.items()},
                best[0] if len(best) == 1 else "",
            )
        )
    return comparisons


def _measured(line: dict[Any, Any]) -> str:
    if pd.isna(line["mean"]):
        return str(line["verdict"])
    text = fixed(float(line["mean"]), 3) + (f" ± {fixed(float(line['std']), 3)}" if pd.notna(line["std"]) else "")
    return text if line["verdict"] in COMPLETE else f"{text} ({line['n']} ok)"


def _section(name: str, reading: Reading, comparisons: list[Comparison]) -> list[str]:
    lines = ["", f"## {name}", "", reading.question, ""]
    lines += [
        f"- `{value}`{' (default)' if value == reading.default else ''}: {choice.says}"
        for value, choice in reading.values.items()
    ]
    if not comparisons:
        return [*lines, "", "Not run, or it moves no published figure."]
    values = list(reading.values)
    headings = [value + (" (leaking)" if f"{name}={value}" == _LEAKING else "") for value in values]
    lines += ["", "| figure | published | " + " | ".join(headings) + " | fits |", "|---" * (len(values) + 3) + "|"]
    for found in comparisons:
        means = [found.means.get(value, "not run") for value in values]
        fits = found.fits + (" (leaking)" if f"{name}={found.fits}" == _LEAKING else "")
        lines.append(f"| {found.place} | {found.published:g} | " + " | ".join(means) + f" | {fits} |")
    return lines


def _commands(files: list[ExperimentFile], results_dir: Path) -> list[str]:
    commands = []
    for resolved in _with_results(files, results_dir):
        if resolved.spec.layout == "metrics":
            commands += read_commands(results_folder(results_dir, resolved.profile, resolved.file.id))
    return list(dict.fromkeys(commands))
