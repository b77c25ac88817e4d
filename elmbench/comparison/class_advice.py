"""Advice on the metric and the folds of a comparison, from the sizes of the classes."""

from collections.abc import Iterator, Mapping, Sequence

from elmbench.errors import amount, wording
from elmbench.specs.datasets import DatasetSpec

#: A test part needs this many rows of each class.
_TEST_ROWS = 5
#: The repetitions of the folds that are advised for few rows.
_RUNS = 10


def with_class_advice(
    spec: DatasetSpec, metrics: Sequence[str], folds: int, runs: int
) -> DatasetSpec:
    """Return the spec of a data set with a note "warning: ..." for each advice on its classes.

    The advice is on a rare class if accuracy ranks the models, and on few test rows of a class. The
    result is a copy; a spec without classes, such as that of a regression, is returned unchanged.
    `metrics`: those that the user has named; the first ranks, and accuracy does if there are none.
    `folds`, `runs`: of the comparison.
    """
    classes = spec.shape.classes
    if not isinstance(classes, dict):
        return spec
    sizes = {label: n for label, n in classes.items() if n}
    advice = [
        *_on_rare_class(spec, sizes, metrics),
        *_on_few_rows(spec, sizes, folds, runs),
    ]
    warnings = [f"warning: {text}" for text in advice]
    return spec.model_copy(update={"notes": (*spec.notes, *warnings)})


def _on_rare_class(
    spec: DatasetSpec, sizes: Mapping[str, int], metrics: Sequence[str]
) -> Iterator[str]:
    """Yield the advice to rank by balanced accuracy, if a class is rare and accuracy ranks.

    `sizes`: {label: number of rows}, without empty classes. `metrics`: those that the user has
    named; accuracy ranks if it is the first, or if there are none.
    """
    if not spec.shape.has_rare_class or (metrics and metrics[0] != "accuracy"):
        return
    label = min(sizes, key=lambda name: sizes[name])
    share = 100 * sizes[label] / sum(sizes.values())
    balanced = wording("--metric balanced_accuracy", "metric='balanced_accuracy'")
    yield (
        f"{share:.2g} % of the rows are {label!r}, so accuracy favours models that "
        f"ignore them: {balanced} ranks by the mean recall of the classes"
    )


def _on_few_rows(
    spec: DatasetSpec, sizes: Mapping[str, int], folds: int, runs: int
) -> Iterator[str]:
    """Yield the advice to repeat the folds, if a test part has few rows of the rarest class.

    These are fewer than 5 on average. There is no advice if the folds are repeated already (`runs`
    > 1), for the user's own splits, groups or times, or if the class has fewer rows than `folds`,
    on which there is a remark. `sizes`: {label: number of rows}.
    """
    has_own_parts = (
        spec.shape.split is not None or spec.fold or spec.groups or spec.ordered_by
    )
    label = min(sizes, key=lambda name: sizes[name], default=None)
    if label is None or has_own_parts or runs > 1:
        return
    n_rows = sizes[label]
    if folds <= n_rows < folds * _TEST_ROWS:
        repeat = wording(f"--runs {_RUNS}", f"runs={_RUNS}")
        yield (
            f"the class {label!r} has {amount(n_rows, 'row')}, about {n_rows / folds:.0f} in each "
            f"test part: {repeat} averages over more splits"
        )
