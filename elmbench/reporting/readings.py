"""What each reading of a passage brings back: the published value, the mean under every reading, which fits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.files import write_atomically
from elmbench.reporting.layouts import UNJUDGED
from elmbench.reporting.results import Results, read_commands, read_results, results_folder
from elmbench.reporting.rows import fixed, spelling
from elmbench.reporting.summary import published_values
from elmbench.specs.catalogue import PROFILES, ExperimentFile, load_catalogue
from elmbench.specs.papers import Reading
from elmbench.specs.profiles import Resolved, resolve

_LEAKING = "carry-over=folds"
#: Layouts whose published figures can be held against each reading.
_COMPARED = ("metrics", "rank-correlation")


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
        The value of the reading that comes nearest; empty where chance may have decided.
    """

    place: str
    published: float
    means: dict[str, str]
    fits: str


def write_all_readings(papers: list[str], results_dir: Path) -> list[Path]:
    """Write a page for each paper of which a reading has been run; return the files.

    Raises
    ------
    ElmbenchError
        If no reading of any has been run.
    """
    written = [path for paper in papers if (path := write_readings(paper, results_dir)) is not None]
    if not written:
        raise ElmbenchError(
            f"no reading has been run into {results_dir}",
            expected="cells of a reading beside those of the default",
            next_step=f"elmbench run --paper {papers[0]} --reading ID=VALUE",
        )
    return written


def write_readings(paper: str, results_dir: Path) -> Path | None:
    """Write `readings/<paper>.md` from the `cells.csv` of the paper's tables; return the file.

    None where no reading of the paper has been run.
    """
    files = [file for file in load_catalogue().values() if file.spec.paper == paper]
    path = results_dir / "readings" / f"{paper}.md"
    lines = [f"# Readings of {files[0].paper.title}", "", files[0].paper.authors + f" ({files[0].paper.year})."]
    lines += [
        "",
        "What the text does not settle, and what each way to read it gives, all other readings at their defaults, on",
        "the same folds and random numbers. `fits` names the value that comes nearest to the published figure, where",
        "it is nearer than the next by more than two standard errors of the differences cell by cell. Figures that a",
        "reading does not move are left out.",
    ]
    found = False
    for name, reading in files[0].paper.readings.items():
        comparisons = compare_reading(name, reading, files, results_dir)
        found = found or bool(comparisons)
        lines += _section(name, reading, comparisons)
    if not found:
        return None
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
        if name in resolved.file.spec.readings and resolved.spec.layout in _COMPARED:
            comparisons += _compare(name, reading, read_results(resolved, results_dir), resolved)
    return comparisons


def _with_results(files: list[ExperimentFile], results_dir: Path) -> list[Resolved]:
    return [
        resolve(file, profile)
        for file in files
        for profile in PROFILES[1:]
        if profile in file.profiles and (results_folder(results_dir, profile, file.id) / "cells.csv").is_file()
    ]


def _compare(name: str, reading: Reading, results: Results, resolved: Resolved) -> list[Comparison]:
    labels = {value: "" if value == reading.default else f"{name}={value}" for value in reading.values}
    cells = results.cells[results.cells["status"] != "unavailable"]
    wanted = cells[cells["reading"].isin(labels.values())]
    comparisons = []
    for (dataset, model, metric), paper in published_values(resolved).items():
        if metric in UNJUDGED or metric not in wanted or paper.value is None:
            continue
        own = wanted[(wanted["dataset"] == dataset) & (wanted["model"] == model)]
        for select, cells in own.groupby("select", sort=False):
            table = cells.pivot(index=["run", "fold"], columns="reading", values=metric)
            ended = cells.pivot(index=["run", "fold"], columns="reading", values="status")
            values = [value for value, label in labels.items() if label in table]
            table = table[[labels[value] for value in values]].set_axis(values, axis=1).astype(float)
            ended = ended[[labels[value] for value in values]].set_axis(values, axis=1)
            # Only cells that were run under every value that is compared.
            asked = ended.notna().all(axis=1)
            table, ended = table[asked], ended[asked]
            if len(values) < 2 or reading.default not in values or not len(table) or _unmoved(table, ended):
                continue
            place = f"{spelling(dataset, resolved)} {model} {metric} ({resolved.file.spec.label}, {resolved.profile}, "
            comparisons.append(
                Comparison(
                    f"{place}{select}, {len(table)} cells)",
                    float(paper.value),
                    {value: _measured(table[value], ended[value]) for value in values},
                    _nearest(table[(ended == "ok").all(axis=1)], float(paper.value)),
                )
            )
    return comparisons


def _unmoved(table: pd.DataFrame, ended: pd.DataFrame) -> bool:
    return bool((ended == "ok").all(axis=None) and table.sub(table.iloc[:, 0], axis=0).eq(0).all(axis=None))


def _measured(values: pd.Series[float], ended: pd.Series[str]) -> str:
    means = values.groupby("run").mean()
    bad = ended[ended != "ok"]
    if len(bad) == len(ended):
        return str(bad.iloc[0])
    text = fixed(float(values.mean()), 3) + (f" ± {fixed(float(means.std(ddof=1)), 3)}" if len(means) > 1 else "")
    return text + (f" ({len(bad)} {bad.iloc[0]})" if len(bad) else "")


def _nearest(table: pd.DataFrame, published: float) -> str:
    """Return the value whose mean is nearest to the published figure, if it is nearer beyond chance.

    That is: its mean differs from the next nearest by more than two standard errors of the differences cell by cell.
    """
    if len(table) < 2:
        return ""
    order = (table.mean() - published).abs().sort_values().index
    difference = table[order[0]] - table[order[1]]
    error = float(difference.std(ddof=1)) / len(difference) ** 0.5
    return str(order[0]) if abs(float(difference.mean())) > 2 * error else ""


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
        if resolved.spec.layout in _COMPARED:
            commands += read_commands(results_folder(results_dir, resolved.profile, resolved.file.id))
    return list(dict.fromkeys(commands))
