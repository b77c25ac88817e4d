"""Checks of all YAML files."""

from functools import cache
from itertools import product

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.judging.verdict_words import (
    CLAIM_VERDICTS,
    HOLDS_BUT_FOR,
    JUDGED,
    TABLE_VERDICTS,
)
from elmbench.registry import check_parameters, find_model
from elmbench.specs.catalogue import (
    check_table,
    is_project,
    load_catalogue,
    refuse_blocked_tables,
)
from elmbench.specs.datasets import added_dataset_specs, load_dataset_specs
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.files import invalid
from elmbench.specs.profiles import Resolved, resolve
from elmbench.specs.published import ALL
from elmbench.tables import kind_of_table


def validate_specs() -> tuple[int, int]:
    """Check datasets.yaml and every experiment file; return their numbers.

    These are the number of data sets and that of experiments; in a project, only its own data sets
    count. Raises ElmbenchError, which names the file, for the first one that is not valid.
    """
    refuse_blocked_tables()
    files = load_catalogue()
    for file in files.values():
        check_experiment(file)
    # Each data set is validated on first use.
    datasets = (
        added_dataset_specs() if is_project() else list(load_dataset_specs().values())
    )
    return len(datasets), len(files)


def check_experiment(file: ExperimentFile) -> None:
    """Raise ElmbenchError, which names the file, if an experiment file is not valid.

    It is checked under all of its profiles and readings, with its published values.
    """
    try:
        _check_experiment(file)
    except ElmbenchError as error:
        names_file = str(file.path.parent) in error.found
        problem = error.found if names_file else f"{file.path}: {error.found}"
        raise ElmbenchError(
            problem, expected=error.expected, next_step=error.next_step
        ) from error


def _check_experiment(file: ExperimentFile) -> None:
    """Check a table under all of its profiles and readings.

    Raises ElmbenchError for the first fault in parameters of models, metrics, splits, published
    values or expected verdicts. Readings are checked one at a time, under the first profile.
    """
    check_table(file)
    resolved = [resolve(file, profile) for profile in file.profiles]
    resolved += [
        resolve(file, profile, choice)
        for profile in file.profiles[:1]
        for choice in file.choices
    ]
    tasks = {
        dataset.task
        for experiment in resolved
        for dataset in experiment.datasets.values()
    }
    models = [
        model for experiment in resolved for model in experiment.spec.models.values()
    ]
    for model, task in product(models, tasks):
        entry = find_model(model.model)
        if getattr(entry, task) is not None:
            check_parameters(entry, task, {*model.searched, *model.params})
    for experiment in resolved:
        for dataset in experiment.datasets.values():
            experiment.spec.protocol.metric_for(dataset.task, dataset.name)
            experiment.spec.protocol.outer.split(dataset.name, dataset.task)
        _check_published(experiment)
    _ = file.published  # raises an error if a file of it is not valid
    _check_expected_verdicts(file)


def _check_expected_verdicts(file: ExperimentFile) -> None:
    """Raise ElmbenchError unless each expectation has a verdict that `elmbench check` may print.

    They are `CLAIM_VERDICTS` for a claim, `JUDGED` for the value of a model, and `TABLE_VERDICTS`
    or a text "holds but for ..." for a metric of the table.
    """
    for expectation in file.spec.expect:
        verdicts: tuple[str, ...] = TABLE_VERDICTS
        if expectation.claim:
            verdicts = CLAIM_VERDICTS
        elif expectation.model:
            verdicts = JUDGED
        elif expectation.verdict.startswith(HOLDS_BUT_FOR):
            continue
        if expectation.verdict not in verdicts:
            raise invalid(
                f"expect has the verdict {expectation.verdict!r} for {expectation.subject}",
                f"one of {', '.join(verdicts)}",
            )


def _check_published(experiment: Resolved) -> None:
    """Raise ElmbenchError unless each published value has a model and a metric of its table.

    Values that are cited or have a note may be of other models. The metric is checked for values of
    models of a table that is judged. An average over all data sets is allowed only in a table that
    shows such averages.
    """
    table = kind_of_table(experiment)
    in_table = table.models()
    columns = list(dict.fromkeys((*in_table, *experiment.file.all_columns)))
    measures = cache(table.measures)
    for (dataset, column, metric), published in experiment.published.items():
        if dataset == ALL and not table.has_values_over_all:
            raise invalid(
                f"the published values have {metric} of {column} on the data set {ALL!r}",
                "averages in a file of their own, published: {also-printed: FILE.csv}, which "
                "`elmbench check --print-only` reads",
            )
        if column not in columns and not (published.cited or published.note):
            error = unknown_name(
                "published model", column, columns, "elmbench validate"
            )
            raise invalid(
                error.found,
                f"{error.expected}; a value of a model without a column needs a text in the field "
                "note",
            )
        if table.judges and published.value is not None and column in in_table:
            metrics = [measure.column for measure in measures(dataset, column)]
            if metric not in metrics:
                raise invalid(
                    f"the published metric {metric!r} is not in the table",
                    ", ".join(metrics),
                )
