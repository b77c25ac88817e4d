"""`elmbench run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Annotated

from elmbench.cli.app import app
from elmbench.cli.help import RERUN, execution_option, protocol_option, selection_option
from elmbench.cli.options import (
    DryRun,
    Figures,
    Jobs,
    Profile,
    Retry,
    Tables,
    Words,
    datasets,
    models,
    split_words,
    state,
)
from elmbench.cli.run_and_show import run_prepared, show_plan
from elmbench.errors import ElmbenchError


@app.command("run", rich_help_panel=RERUN)
def run_command(
    experiments: Tables = None,
    paper: Annotated[
        str | None, selection_option(help="Run every experiment of this paper.")
    ] = None,
    everything: Annotated[
        bool, selection_option("--all", help="Run every experiment.")
    ] = False,
    profile: Profile = "fast",
    dataset: Annotated[
        Words,
        selection_option(
            "-d", "--dataset", help="Only these data sets.", autocompletion=datasets
        ),
    ] = None,
    model: Annotated[
        Words,
        selection_option(
            "-m",
            "--model",
            help="Only these models; also module:Class.",
            autocompletion=models,
        ),
    ] = None,
    select: Annotated[
        Words,
        protocol_option(
            help="nested, once, oracle or published; default: the profile's."
        ),
    ] = None,
    runs: Annotated[
        int | None,
        protocol_option(min=1, help="Number of runs; default: the profile's."),
    ] = None,
    reading: Annotated[
        Words,
        protocol_option(
            metavar="ID=VALUE", help="Use a reading; see `elmbench list readings`."
        ),
    ] = None,
    metric: Annotated[
        Words, protocol_option(help="Add a metric; see `elmbench list metrics`.")
    ] = None,
    grid: Annotated[
        Words,
        selection_option(
            metavar="GRID", help="Grid of an added model: 'my-model: {C: [1, 10]}'."
        ),
    ] = None,
    with_baselines: Annotated[
        bool,
        selection_option(
            "--with-baselines", help="Add ridge, SVM, extra trees and more."
        ),
    ] = False,
    other_data: Annotated[
        bool,
        protocol_option(
            "--other-data", help="Accept files that differ from the public ones."
        ),
    ] = False,
    jobs: Jobs = 1,
    engine: Annotated[
        str, execution_option(help="local, or dask for a cluster; see docs/cluster.md.")
    ] = "local",
    scheduler: Annotated[
        str | None,
        execution_option(
            metavar="ADDRESS",
            help="Address of a dask scheduler, such as tls://HOST:8786.",
        ),
    ] = None,
    blas_threads: Annotated[
        int, execution_option(min=1, help="Linear algebra threads in each worker.")
    ] = 1,
    limit: Annotated[
        str,
        execution_option(
            metavar="LIMITS",
            help="Limits of each search and fit, such as time=600s,memory=4GB.",
        ),
    ] = "",
    figures: Figures = "png",
    dry_run: DryRun = False,
    retry: Retry = False,
    force: Annotated[
        bool, execution_option("--force", help="Run finished cells again.")
    ] = False,
) -> None:
    """Run experiments and write their tables. Finished cells are not run again."""
    from elmbench.execution.executors import Settings, executor_of
    from elmbench.specs.limits import parse_limits

    settings = Settings(
        jobs=jobs,
        data_dir=state.data_dir,
        plugins=state.plugins,
        blas_threads=blas_threads,
        limits=parse_limits(limit),
    )
    with executor_of(engine, settings, scheduler) as executor:
        if not (dry_run or _has_run(experiments or (), paper, profile)):
            # The worker starts while the run is planned, which takes about as long, unless all may
            # be stored.
            executor.warm()
        # Imported here because these imports take seconds.
        from elmbench.runs.prepare import RunOptions, prepare_run
        from elmbench.specs.catalogue import refuse_blocked_tables
        from elmbench.specs.grids import read_all_grids
        from elmbench.tasks.plan import RunRequest

        options = RunOptions(
            experiments=tuple(experiments or ()),
            paper=paper,
            everything=everything,
            profile=profile,
            readings=_parse_readings(reading or []),
            metrics=split_words(metric),
            request=RunRequest(
                datasets=split_words(dataset),
                models=split_words(model),
                select=split_words(select),  # type: ignore[arg-type]  # checked by `prepare_run`
                runs=runs,
                with_baselines=with_baselines,
                other_data=other_data,
                grids=read_all_grids(grid or []),
            ),
            settings=settings if dry_run else replace(settings, memory=executor.memory),
            retry=retry,
            force=force,
            figure_format=figures,
        )
        prepared = prepare_run(options, state.results_dir)
        if dry_run:
            show_plan(prepared)
        else:
            run_prepared(prepared, executor)
        if options.many_tables:
            refuse_blocked_tables(paper)


def _has_run(experiments: Sequence[str], paper: str | None, profile: str) -> bool:
    """Return True if each of these tables seems to have a `cells.csv` under a profile.

    Only the last part of an id, or the name of a YAML file without its ending, is compared with the
    names of the folders, so the answer is a guess. Without `experiments`, return True if any table
    has one. `paper`: only its tables count; None for all.
    """
    folders = [
        path.parent for path in (state.results_dir / profile).glob("*/*/cells.csv")
    ]
    tables = {folder.name for folder in folders if paper in (None, folder.parent.name)}
    return bool(tables) and tables.issuperset(
        PurePath(name).stem for name in experiments
    )


def _parse_readings(texts: list[str]) -> dict[str, str]:
    """Parse texts "ID=VALUE" of the option --reading; return {id: value}.

    Raises ElmbenchError if an id is repeated or a value is empty. Ids and values are not checked.
    """
    readings = {
        name: value for name, _, value in (text.partition("=") for text in texts)
    }
    if len(readings) < len(texts) or not all(readings.values()):
        problem = f"--reading is given as {', '.join(texts)}"
        raise ElmbenchError(
            problem,
            expected="ID=VALUE, each id once",
            next_step="elmbench list readings",
        )
    return readings
