"""`elmbench data status`, `fetch`, `import` and `fingerprint`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from elmbench.cli.app import app
from elmbench.cli.help import LOOK_AROUND
from elmbench.cli.options import DATASET, Datasets, state
from elmbench.errors import ElmbenchError, amount

data_app = app.add_group(
    "data",
    help="Show where data sets come from; fetch or import them.",
    panel=LOOK_AROUND,
)


@data_app.command("status")
def data_status_command(names: Datasets = None) -> None:
    """Show the source of each data set, and if it must be fetched."""
    from elmbench.datasets.find import dataset_statuses
    from elmbench.report.writers.text import lines_text

    entries = dataset_statuses(names or None, state.data_dir)
    rows = [(entry.name, entry.state, entry.where) for entry in entries]
    state.emit(
        [vars(entry) for entry in entries],
        lines_text(("data set", "state", "where"), rows),
    )
    state.say(
        *(
            f"{entry.name}: next: {entry.next_step}"
            for entry in entries
            if entry.state == "bad"
        )
    )
    if missing := sum(entry.state == "to fetch" for entry in entries):
        state.say(f"{missing} to fetch; next: elmbench data fetch NAME ..., or --all")


@data_app.command("fetch")
def fetch_command(
    names: Datasets = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Fetch all missing data sets.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Fetch data sets again.")
    ] = False,
) -> None:
    """Fetch data sets from their public sources into the cache.

    If one of several cannot be fetched, the others still are, and the exit code is 2.
    """
    from elmbench.datasets.fetch import fetch_dataset
    from elmbench.datasets.find import dataset_statuses

    if bool(names) == everything:
        problem = (
            "data sets are named together with --all"
            if names
            else "no data set is named"
        )
        raise ElmbenchError(
            problem,
            expected="names, or --all",
            next_step="elmbench data status lists the missing data sets",
        )
    todo = names or [
        entry.name
        for entry in dataset_statuses(None, state.data_dir)
        if entry.state == "to fetch"
    ]
    results = []
    for name in todo:
        try:
            result = fetch_dataset(
                name, progress=not state.silent and sys.stderr.isatty(), force=force
            )
        except ElmbenchError as error:
            if len(todo) == 1:
                raise
            print(f"error: {name}: {state.complete(str(error))}", file=sys.stderr)
        else:
            results.append(result)
            state.say(
                f"{result.name}: {'fetched' if result.downloaded else 'is here already'} "
                f"({result.origin})"
            )
    state.emit([vars(result) for result in results])
    if len(results) < len(todo):
        raise typer.Exit(2)


@data_app.command("import")
def import_command(
    name: Annotated[str, DATASET],
    file: Annotated[
        Path, typer.Argument(help="File of rows, with a column named target.")
    ],
    test: Annotated[
        Path | None,
        typer.Option(help="File of test rows, if FILE holds training rows."),
    ] = None,
    other_data: Annotated[
        bool,
        typer.Option(
            "--other-data", help="Accept a file that differs from the public one."
        ),
    ] = False,
) -> None:
    """Check a file and copy it into --data-dir as NAME.

    It prints the numbers of rows and columns, the folder, and remarks. Without --data-dir, the file
    goes into the data folder of the project; without either, it ends with an error.
    """
    from elmbench.datasets.fetch import import_file

    data_dir = state.import_dir
    if data_dir is None:
        problem = "no data directory is given"
        next_step = f"elmbench --data-dir FOLDER data import {name} {file}"
        raise ElmbenchError(
            problem, expected="a folder to copy the file into", next_step=next_step
        )
    data = import_file(name, file, data_dir, test=test, other_data=other_data)
    rows, columns = data.X.shape
    imported = {
        "name": data.name,
        "rows": rows,
        "columns": columns,
        "checksum": data.checksum,
        "notes": data.notes,
    }
    state.emit(
        imported,
        f"{data.name}: {rows} rows, {columns} columns, imported into {data_dir}",
    )
    state.say(*data.remarks)


@data_app.command("fingerprint")
def fingerprint_command(names: Datasets = None) -> None:
    """Write the fingerprints of data sets into their datasets.yaml.

    They are those of the rows that are here. Look at what has changed before you commit it.
    """
    from elmbench.datasets.fingerprints import write_fingerprints
    from elmbench.specs.datasets import dataset_files, load_dataset_specs

    specs = load_dataset_specs()
    requested = [specs.find(name).name for name in names or ()]
    files = dataset_files()
    described = [name for of_file in files.values() for name in of_file]
    for name in requested:
        if name not in described:
            raise ElmbenchError(
                f"{name} is not described in {' or '.join(map(str, files))}",
                expected=f"one of {', '.join(described)}",
                next_step="elmbench data status",
            )
    chosen = requested or described
    written = []
    for path, of_file in files.items():
        to_write = [specs[name] for name in of_file if name in chosen]
        fingerprints = write_fingerprints(path, to_write, state.data_dir)
        for name in fingerprints:
            written.append({"name": name, "file": str(path)})
            state.say(f"{name}: fingerprint written to {path}")
    state.emit(written)
    if len(written) < len(chosen):
        others = amount(len(chosen) - len(written), "data set")
        state.say(f"{others} without rows or with rows that each fold encodes")
