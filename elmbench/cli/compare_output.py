"""What `elmbench compare` prints and writes besides its table.

It prints the remarks on the data, the conclusion and the next step, and writes the saved model and
the page. The table is made in `elmbench.tables.comparison`, its notes in
`elmbench.tables.comparison_notes`; `elmbench.cli.run_and_show` prints them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elmbench.cli.options import state
from elmbench.cli.run_and_show import run_cells
from elmbench.errors import ElmbenchError, amount
from elmbench.files import check_outputs

if TYPE_CHECKING:
    from elmbench.report.table_results import Results
    from elmbench.runs.prepare import PreparedRun


class ComparisonOutputs(NamedTuple):
    """The files that a comparison writes besides its results.

    Attributes
    ----------
    model : path, optional
        The file of --save; None without this option.
    page : path, optional
        The file of --html; None without this option.
    """

    model: Path | None
    page: Path | None

    def by_option(self) -> list[tuple[str, Path]]:
        """Return [(option, path)] of the requested files, such as ("--save", path).

        The file of --save comes first; [] if none is requested.
        """
        paths = {"--save": self.model, "--html": self.page}
        return [(option, path) for option, path in paths.items() if path]

    def paths(self) -> list[Path]:
        """Return the paths of the requested files, the model first; [] if there are none."""
        return [path for _, path in self.by_option()]

    def check(self, data: list[str], test: str, models: Iterable[str]) -> None:
        """Raise ElmbenchError if a requested file cannot be written, or would replace another file.

        Such are folders, inputs and files of results. The model is also refused for several data
        sets, and a .skops file if skops is not installed. `data`: the files or names of the data
        sets. `test`: the file of held-out rows, or empty. `models`: the requested names or
        addresses; the files of their code are inputs.
        """
        if self.model is not None:
            from elmbench.comparison.saved_models import check_format

            if len(data) > 1:
                raise ElmbenchError(
                    f"--save is given with {len(data)} data sets",
                    expected="one data set for the model",
                    next_step="leave --save out, or compare one data set",
                )
            check_format(self.model)
        self._check_paths([*data, test], models)

    def _check_paths(self, data: list[str], models: Iterable[str]) -> None:
        """Raise ElmbenchError if a requested file is an input, a file of results or a folder.

        The inputs are `data` (paths or names such as openml:ID; an empty one is none), the
        plug-ins, and the files of code of `models`, which are names or addresses `module:Class`.
        """
        if not self.paths():
            return
        from elmbench.registry.plugins import files_of_models
        from elmbench.results.folders import check_not_results

        code = files_of_models(models, map(Path, state.plugins))
        check_outputs(self.by_option(), [*data, *state.plugins, *code])
        check_not_results(self.by_option(), state.results_dirs)
        for path in self.paths():
            if not path.name or path.is_dir():
                raise ElmbenchError(
                    f"{str(path)!r} is a folder",
                    expected="a file to write",
                    next_step="name a file",
                )


def show_data(prepared: PreparedRun) -> None:
    """Print the size of each data set, and below it the remarks on its rows, such as warnings.

    The remarks are those of the planned cells. Nothing is printed with --quiet or --json.
    """
    for resolved, plan in prepared.tables:
        remarks = {cell.dataset: cell.remarks for cell in plan.cells}
        for name, spec in resolved.datasets.items():
            n_features = amount(spec.shape.features, "feature")
            state.say(f"{spec.title}: {spec.shape.instances} rows, {n_features}")
            text = remarks.get(name, "")
            for remark in filter(None, text.split("; ")):
                state.say(f"- {remark}")


def finish_comparison(
    prepared: PreparedRun, outputs: ComparisonOutputs, tables: list[Results]
) -> None:
    """Print the conclusion of a comparison; write the page and the best model if requested.

    With several data sets, the statistics over all of them are printed first; with one, the
    suggested next command is printed last, unless the best model is written. `prepared`: the plan
    that has been carried out. `outputs`: the requested files. `tables`: the results of the
    comparison, a list of one.
    """
    (results,) = tables
    if len(results.resolved.datasets) > 1 and not state.as_json:
        from elmbench.cli.table_statistics import show_statistics

        with suppress(ElmbenchError):  # there is only one model
            show_statistics(results)
            state.say(
                f"picture: elmbench table {results.resolved.file.id} --diagram FILE.png"
            )
    if outputs.page is not None:
        _write_page(prepared, results, outputs.page)
    state.say(*_conclusion(results))
    if outputs.model is not None:
        _save_best(prepared, results, outputs.model)
        return
    if len(results.resolved.datasets) == 1:
        next_step = _next_step(results, prepared.options.command)
        state.say(*next_step)


def _next_step(results: Results, command: str) -> list[str]:
    """Return the line "next: ..." with the next step after a comparison on one data set.

    It suggests `command`, which is the user's, with --save best.joblib. If the best model is the
    dummy or no better than it, it suggests other models or data. The result is a list of one line,
    or [] if no model has a rank.
    """
    from elmbench.comparison.best_model import find_best
    from elmbench.evaluation.score_comparison import dummies

    best = find_best(results)
    if best is None:
        return []
    if best.model in dummies(results.resolved):
        return ["next: add models by -m, or leave -m out for the default models"]
    if not best.is_above_dummy:
        return ["next: add columns, rows or models: no model is worth saving"]
    return [f"next: {command} --save best.joblib"]


def _conclusion(results: Results) -> list[str]:
    """Return the sentences that conclude a comparison, in the order of the data sets.

    One names the best model; the next one names the models that cannot be distinguished from it, or
    says that all others differ or that there is no test. They begin with the name of the data set
    only if there are several.
    """
    from elmbench.tables.result_table import CONCLUSION

    notes = [note.text for note in results.table.notes if note.kind in CONCLUSION]
    if len(results.resolved.datasets) > 1:
        return notes
    return [note.partition(": ")[2] for note in notes]


def _save_best(prepared: PreparedRun, results: Results, path: Path) -> None:
    """Fit the best model of a comparison, write it to `path`, and print how to use it.

    It is fitted to all rows but the held-out ones. `prepared`: the plan that has been carried out.
    `path`: the file is of skops if it ends in .skops, else of joblib. Raises ElmbenchError if no
    model has a rank.
    """
    from elmbench.comparison.final_model import save_best
    from elmbench.comparison.saved_models import is_safe

    final = save_best(prepared, results, path)
    best = final.best
    state.say(f"saved: {best.model} ({best.reason}), fitted to {final.rows}: {path}")
    if final.is_calibrated:
        state.say(
            "Its probabilities are calibrated on inner folds (Platt's sigmoid); its predictions "
            "are unchanged."
        )
    probabilities = " --proba" if final.has_probabilities else ""
    state.say(f"next: elmbench predict {shlex.quote(str(path))} NEW.csv{probabilities}")
    if is_safe(path):
        state.say("Loading a skops file runs no code: unknown types are rejected.")
    else:
        state.say(
            "Loading a joblib file runs code that it names: load only files that you trust. "
            "To share the model: --save FILE.skops (pip install 'elmbench[skops]')"
        )


def _write_page(prepared: PreparedRun, results: Results, path: Path) -> None:
    """Compute the permutation importance of the columns, and write the HTML page to `path`.

    The importance is that for the best model of each data set, on its test folds. It is computed
    with live progress unless it is stored; the reasons of test parts without it are printed.
    `prepared`: the carried-out plan of the comparison.
    """
    from elmbench.comparison.html_page import (
        plan_importance,
        reasons_of_failures,
        write_page,
    )
    from elmbench.execution.executors.local import LocalExecutor
    from elmbench.runs.execute import compute

    importance = plan_importance(prepared, results)
    if importance.todo:
        state.say(
            "permutation importance of the columns for the best model, on its test folds:"
        )
        with LocalExecutor(prepared.options.settings) as executor:
            run_cells(importance, executor, compute)
    for reason in reasons_of_failures(importance):
        state.say(f"no permutation importance of a test part: {reason}")
    write_page(prepared, importance, results, path)
    state.say(f"written to {path}")
