"""Write what users see into a folder, so that `diff -r` shows what a change of the code changes.

`python -m tools.snapshot FOLDER` prints the committed tables, the verdicts and the site, runs
profile `ci` and five comparisons, and removes what differs between two runs: times, dates and
versions.
"""

import contextlib
import io
import json
import re
import tempfile
from argparse import ArgumentParser
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd

from elmbench.cli import main
from elmbench.cli.options import state
from elmbench.specs.catalogue import load_catalogue

ROOT = Path(__file__).parents[1]
PROFILES = ("fast", "paper")
FORMATS = ("text", "md", "csv", "latex")

#: Columns and keys whose values are times or sizes of a machine.
_TIMES = re.compile(r"seconds|_time|search s|fit s|ratio")
#: Texts that differ between two runs of the same code: times, dates, versions and commits.
_VOLATILE = (
    (re.compile(r"\d+(\.\d+)?(e-?\d+)? (s|ms|min|h)\b"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?"), "<date>"),
    (re.compile(r"(?<![.\w])(?=[0-9]*[a-f])[0-9a-f]{7,64}\b"), "<hash>"),
)


def elmbench(*words: str, results: Path) -> str:
    """Return what a command prints, and its exit code; the command runs in this process.

    Standard error follows standard output.
    """
    for name, value in vars(type(state)()).items():
        setattr(state, name, value)
    out = io.StringIO()
    err = io.StringIO()
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(["--results-dir", str(results), *words])
        except SystemExit as ending:
            code = ending.code or 0
    return f"$ elmbench {' '.join(words)}\nexit code {code}\n{out.getvalue()}{err.getvalue()}"


def without_volatile(text: str) -> str:
    """Return a text without the times, dates and hashes in it."""
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def write(folder: Path, name: str, text: str) -> None:
    """Write a text into a file of the folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_committed(folder: Path) -> None:
    """Write the tables and the verdicts of the committed results."""
    results = ROOT / "results"
    for experiment in load_catalogue():
        for profile in PROFILES:
            if not (results / profile / experiment / "cells.csv").is_file():
                continue
            for form in FORMATS:
                words = ("table", experiment, "--profile", profile, "--format", form)
                name = f"tables/{profile}/{experiment}.{form}"
                write(folder, name, elmbench(*words, results=results))
    for profile in (*PROFILES, ""):
        chosen = ("--profile", profile) if profile else ()
        printed = elmbench(
            "--json", "check", "--against", "published", *chosen, results=results
        )
        write(folder, f"check/{profile or 'default'}.json", printed)
    for command in ("list experiments", "list readings", "list models", "validate"):
        printed = elmbench(*command.split(), results=results)
        write(folder, f"commands/{command.replace(' ', '-')}.txt", printed)


class _Text(HTMLParser):
    """The words of a page, a line for each text node outside of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._ignored = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._ignored += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._ignored -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._ignored and data.strip():
            self.lines.append(" ".join(data.split()))


def write_site(folder: Path) -> None:
    """Write the words of each page of the site of the committed results."""
    with tempfile.TemporaryDirectory() as out:
        site = Path(out) / "site"
        printed = elmbench("report", "--out", str(site), results=ROOT / "results")
        write(
            folder,
            "site/report.txt",
            without_volatile(printed.replace(out, "<folder>")),
        )
        for page in sorted(site.rglob("*.html")):
            parser = _Text()
            parser.feed(page.read_text())
            name = page.relative_to(site).with_suffix(".txt")
            write(
                folder, f"site/{name}", without_volatile("\n".join(parser.lines)) + "\n"
            )


def write_profile_ci(folder: Path) -> None:
    """Run profile `ci` and write its cells and summaries without times."""
    with tempfile.TemporaryDirectory() as out:
        words = ("-q", "run", "--all", "--profile", "ci", "--jobs", "2")
        printed = elmbench(*words, results=Path(out))
        write(folder, "ci/run.txt", without_volatile(printed.replace(out, "<folder>")))
        for path in sorted(Path(out).glob("ci/*/*/*.csv")):
            write(folder, str(path.relative_to(out)), _csv_without_times(path))


def _csv_without_times(path: Path) -> str:
    """Return a CSV file with 12 digits of each number and no times."""
    frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    frame = frame.drop(columns=[name for name in frame if _TIMES.search(str(name))])
    if "metric" in frame:
        frame = frame[~frame["metric"].str.contains("seconds")]
    return frame.to_csv(index=False)


def write_comparisons(folder: Path) -> None:
    """Compare models on five small files and write the results without times."""
    with tempfile.TemporaryDirectory() as out:
        place = Path(out)
        for name, frame, words in _data_files():
            path = place / f"{name}.csv"
            frame.to_csv(path, index=False)
            command = (
                "--json",
                "compare",
                str(path),
                "-m",
                "ridge,knn,elm",
                "--folds",
                "3",
                *words,
            )
            printed = elmbench(*command, results=place / "results")
            write(folder, f"compare/{name}.json", _json_without_times(printed, out))


def _data_files() -> list[tuple[str, pd.DataFrame, tuple[str, ...]]]:
    """Return five made data sets: their names, their rows and the options for them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    numbers = pd.DataFrame(X, columns=list("abcd"))
    label = np.where(
        X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(120) / 3 > 0.8, "yes", "no"
    )
    words = numbers.assign(city=rng.choice(["Rome", "Oslo", "Bern"], 120))
    dates = numbers.assign(
        day=pd.date_range("2020-01-01", periods=120).strftime("%Y-%m-%d")
    )
    missing = numbers.mask(rng.random(numbers.shape) < 0.05)
    groups = numbers.assign(person=np.repeat(np.arange(24), 5))
    return [
        ("classes", numbers.assign(target=label), ()),
        ("regression", words.assign(target=X[:, 0] * 2 + X[:, 1]), ()),
        ("dates", dates.assign(target=label), ()),
        ("missing", missing.assign(target=label), ()),
        ("groups", groups.assign(target=label), ("--groups", "person")),
    ]


def _json_without_times(printed: str, folder: str) -> str:
    head, brace, rest = printed.partition("{")
    if brace:
        value, end = json.JSONDecoder().raw_decode(brace + rest)
        printed = head + json.dumps(_masked(value), indent=1) + (brace + rest)[end:]
    return without_volatile(printed.replace(folder, "<folder>"))


def _masked(value: object) -> object:
    """Return a value of JSON with every time replaced."""
    if isinstance(value, dict):
        return {
            key: "<time>" if _TIMES.search(key) else _masked(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_masked(item) for item in value if not _is_of_times(item)]
    return value


def _is_of_times(item: object) -> bool:
    """Return True for a line of a table whose metric is a time."""
    return isinstance(item, dict) and bool(_TIMES.search(str(item.get("metric", ""))))


def write_snapshot() -> None:
    """Write everything into the folder that the command line names."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    write_committed(folder)
    write_site(folder)
    write_profile_ci(folder)
    write_comparisons(folder)


if __name__ == "__main__":
    write_snapshot()
