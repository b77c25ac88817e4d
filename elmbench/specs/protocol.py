"""The protocol of a table: splits, scaling, selection, metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from elmbench.errors import amount
from elmbench.metrics import (
    COUNTS,
    PREQUENTIAL,
    REGISTRY,
    counts_rows,
    metric_names,
    registered_metric,
)
from elmbench.registry.plugins import plugin_splits
from elmbench.registry.scorers import find_metric, is_metric
from elmbench.specs.files import invalid
from elmbench.specs.papers import Spec

LearningTask = Literal["classification", "regression"]
Selection = Literal["nested", "once", "oracle", "published"]
#: The selection on inner splits of all rows, which the outer splits then test with fixed
#: hyperparameters.
ONCE = "once"
Selections = Annotated[tuple[Selection, ...], Field(min_length=1)]
#: The accuracy on the training rows.
TRAIN_ACCURACY = "train_accuracy"
#: Measures of quality that are not of test rows, with their tasks. Tables may show them; they never
#: choose hyperparameters.
OF_LEARNT_ROWS = {
    TRAIN_ACCURACY: ("classification",),
    PREQUENTIAL: ("classification", "regression"),
}
#: Measures of every fit.
_OF_FITS = ("fit_seconds", "predict_seconds", "n_units")
MEASURES = (
    *(name for name, metric in REGISTRY.items() if not metric.counts_rows),
    *OF_LEARNT_ROWS,
    *_OF_FITS,
)


def is_measure(name: str) -> bool:
    """Return True if a table can show a measure of this name: a metric, a fact of learnt rows, or a
    time or size of a fit. Counts of rows are none.
    """
    return name in MEASURES or (is_metric(name) and not counts_rows(name))


def is_quality(name: str) -> bool:
    """Return True if a measure is one of quality, for which a row of a table has a best model.
    Times, sizes and counts of rows are none.
    """
    is_registered = registered_metric(name) is not None
    return name in OF_LEARNT_ROWS or (is_registered and not counts_rows(name))


def _check_metric(name: str) -> str:
    """Return the name of a measure; raise ValueError if no table can show it."""
    if is_measure(name):
        return name
    others = ", ".join((*OF_LEARNT_ROWS, *_OF_FITS))
    raise ValueError(
        f"expected a name of `elmbench list metrics` except {', '.join(COUNTS)}, or one of {others}"
    )


#: A measure by name.
MeasureName = Annotated[str, AfterValidator(_check_metric)]

MeasureNames = Annotated[tuple[MeasureName, ...], Field(min_length=1)]

#: Kinds of outer split that have printed sizes.
SIZED = ("holdout", "stratified-holdout", "in-order")
FoldKind = Literal[
    "stratified-kfold",
    "kfold",
    "stratified-group-kfold",
    "group-kfold",
    "ordered-kfold",
]
#: Folds of shuffled rows that are drawn again in every run, by the name of the whole scheme, with
#: the number of folds and runs if the name fixes it.
REPEATED_SCHEMES: dict[str, tuple[str, int | None, int | None]] = {
    "repeated-kfold": ("kfold", None, None),
    "repeated-stratified-kfold": ("stratified-kfold", None, None),
    "5x2": ("kfold", 2, 5),
    "stratified-5x2": ("stratified-kfold", 2, 5),
}
#: The splits that learn as many rows as there are, drawn with replacement, and test the others.
BOOTSTRAP = "bootstrap"
#: The same splits; each metric also counts the predictions for learnt rows (see `Outer`).
BOOTSTRAP_632 = "bootstrap-632"
BOOTSTRAPS = (BOOTSTRAP, BOOTSTRAP_632)
#: The split that tests each row with a model of all others, in one task.
LEAVE_ONE_OUT = "leave-one-out"
#: The splits that a file gives row by row.
GIVEN = "given"
#: The beginning of the name of an OpenML task, whose official splits are given ones.
TASK_PREFIX = "openml-task:"
#: The kinds of split of a search.
INNER_KINDS = (*get_args(FoldKind), "holdout", "stratified-holdout", BOOTSTRAP, GIVEN)
#: The kinds of outer split besides the names of repeated schemes.
OUTER_KINDS = (
    *get_args(FoldKind),
    "predefined-kfold",
    *SIZED,
    "official",
    GIVEN,
    LEAVE_ONE_OUT,
    *BOOTSTRAPS,
)
#: Kinds of outer split that are for fits with fixed hyperparameters, with the kind for a search.
FIXED_FITS = {
    LEAVE_ONE_OUT: "{kind: kfold, folds: ROWS}",
    BOOTSTRAP_632: "{kind: bootstrap, folds: SAMPLES}",
}
Rows = Annotated[int, Field(ge=1, strict=True)]
#: A number of rows, or a share of them.
Size = Rows | Annotated[float, Field(gt=0, lt=1)]
#: Folds and runs.
Count = Annotated[int, Field(ge=1, le=10_000)]
Folds = Annotated[Count, Field(ge=2)]


class Scale(Spec):
    """Linear scaling of each column of the inputs.

    `range` brings the smallest and the largest value to its two ends, `standard` brings the mean to
    0 and the deviation to 1, `max-abs` divides by the largest absolute value. `unit-rows` divides
    each row by its length, as is usual for texts. The last two preserve sparsity.
    """

    #: The kind of scaling.
    kind: Literal["range", "standard", "max-abs", "unit-rows"] = "range"
    #: Both ends of the range of each column, for the kind `range`.
    range: tuple[float, float] = (0.0, 1.0)
    #: The rows that determine the factors: all (as in the papers) or the training part.
    fit_on: Literal["all", "train"] = "all"

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        """Raise ValueError if the range is not ascending."""
        if self.range[0] >= self.range[1]:
            raise ValueError(
                f"the range is {list(self.range)}; expected its smaller end first"
            )
        return self

    def content(self) -> dict[str, Any]:
        """Return the content of the scaling in the key of a stored result: `range` or `kind`, and
        `fit-on`.
        """
        scaling: dict[str, Any] = (
            {"range": list(self.range)} if self.kind == "range" else {"kind": self.kind}
        )
        return scaling | {"fit-on": self.fit_on}


class TargetScale(Scale):
    """Scaling of the targets of a regression, and the units of its metrics: scaled (as in the
    papers) or the file's.
    """

    #: Not `unit-rows`, which would leave only the sign of a target.
    kind: Literal["range", "standard", "max-abs"] = "range"
    #: The unit of metrics such as rmse.
    metrics: Literal["scaled", "original"] = "scaled"

    def content(self) -> dict[str, Any]:
        """Return the content of the scaling in the key of a stored result: as for `Scale`, and
        `metrics` unless they are scaled.
        """
        return (
            {} if self.metrics == "scaled" else {"metrics": self.metrics}
        ) | super().content()


@dataclass(frozen=True)
class Split:
    """The split of the rows of one data set in a run; `kind` is one of `Outer`."""

    kind: str
    #: 1 if a run has one split.
    folds: int = 1
    #: Printed sizes, numbers or shares of the rows; None is the rest of the rows.
    train: int | float | None = None
    test: int | float | None = None
    #: The file of given splits, and the SHA-256 of its content.
    file: str = ""
    checksum: str = ""
    #: The version of the code of a plug-in's split; empty for others.
    version: str = ""

    def content(self) -> dict[str, Any]:
        """Return the content of the split in the key of a stored result: `kind`, and what else
        determines its rows, such as `folds`, `train` and `test`, or the `checksum` of a file.
        """
        content: dict[str, Any] = {"kind": self.kind}
        if self.kind in ("official", LEAVE_ONE_OUT):
            return content
        if self.kind.endswith("kfold") or self.kind in BOOTSTRAPS:
            content["folds"] = self.folds
        elif self.version:
            content["folds"] = self.folds
            content["version"] = self.version
        elif self.kind == GIVEN:
            content["folds"] = self.folds
            content["checksum"] = self.checksum
        else:
            content["train"] = self.train
            content["test"] = self.test
        return content


def _for_task(kind: str, task: str) -> str:
    """Return the kind of split for a task: for a regression, without `stratified-`."""
    return kind if task == "classification" else kind.removeprefix("stratified-")


class PartSizes(Spec):
    """Rows of the training and of the test part of one data set, as numbers or shares.

    If one of them is missing, that part has the remaining rows.
    """

    #: Rows of the training part.
    train: Size | None = None
    #: Rows of the test part.
    test: Size | None = None

    @model_validator(mode="after")
    def _check_sizes(self) -> PartSizes:
        """Raise ValueError if both sizes are missing, or are shares of more than 1 in all."""
        if self.train is None and self.test is None:
            raise ValueError("expected train, test or both")
        both_shares = isinstance(self.train, float) and isinstance(self.test, float)
        if both_shares and (self.train or 0) + (self.test or 0) > 1:
            raise ValueError(
                f"train {self.train} and test {self.test}; expected at most 1 in all"
            )
        return self


def _kind_check(*kinds: str) -> AfterValidator:
    """Return a validator that rejects a kind of split that is neither one of these nor of a
    plug-in.
    """

    def check(kind: str) -> str:
        """Return the kind; raise ValueError if it is not allowed."""
        allowed = [*kinds, *plugin_splits()]
        if kind not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return kind

    return AfterValidator(check)


def _with_folds_of_plugin(content: Any) -> Any:
    """Return the content of a split with the number of folds that its plug-in declares; content of
    other kinds as it is. Raises ValueError if it gives another number.
    """
    name = content.get("kind") if isinstance(content, dict) else None
    plugin = plugin_splits().get(name) if isinstance(name, str) else None
    if plugin is None:
        return content
    if content.get("folds", plugin.folds) != plugin.folds:
        raise ValueError(
            f"{name} has {amount(plugin.folds, 'fold')}; expected folds: {plugin.folds}, or none"
        )
    return content | {"folds": plugin.folds}


class Splitter(Spec):
    """The splits of a training part on which hyperparameters are chosen.

    k folds of shuffled rows; `stratified-kfold` preserves the proportions of classes, if there are
    any. `group-kfold` keeps the rows of a group in one fold; `stratified-group-kfold` also
    preserves the proportions of classes as far as possible. `ordered-kfold` takes the rows in their
    order, and tests each fold with a model that has learnt all rows before it; rows of one time
    stay together. `bootstrap` draws as many rows as there are, with replacement, and tests the rows
    that were not drawn, `folds` times. `holdout` and `stratified-holdout` choose on one random part
    of the size `test`. `given` takes the splits of a file with the columns run, fold, inner, row
    and part.
    """

    #: The kind of split; a plug-in declares others in `SPLITS`.
    kind: Annotated[str, _kind_check(*INNER_KINDS)]
    #: The number of folds, for the kinds of folds and for given splits.
    folds: Count = 1
    #: The file of given splits beside the table's file; one for each data set if there are several.
    file: str | dict[str, str] | None = None
    #: Rows that candidates learn, for a holdout.
    train: Size | None = None
    #: Rows that candidates are compared on, for a holdout.
    test: Size | None = None

    @model_validator(mode="before")
    @classmethod
    def _count_folds_of_plugin(cls, content: Any) -> Any:
        """Return the content with the number of folds of a plug-in's split."""
        return _with_folds_of_plugin(content)

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        """Raise ValueError if the kind of split has a key too many or lacks one, or its sizes are
        not valid.
        """
        _check_folds(self.kind, self.folds)
        has_sizes = self.train is not None or self.test is not None
        if has_sizes != (self.kind in SIZED):
            raise ValueError(
                f"{self.kind}: expected {'no sizes' if has_sizes else 'train, test or both'}"
            )
        if has_sizes:
            PartSizes(train=self.train, test=self.test)
        _check_file(self.kind, self.file)
        return self

    def file_of(self, dataset: str) -> str:
        """Return the name of the file of given splits of a data set; empty if there is none."""
        return _file_of(self.file, dataset)

    def split(self, dataset: str, task: str) -> Split:
        """Return the inner split of a data set for a task. Raises ElmbenchError if given splits
        have no file for the data set.
        """
        plugin = plugin_splits().get(self.kind)
        if plugin is not None:
            return Split(self.kind, self.folds, version=plugin.version)
        if self.kind == GIVEN:
            file = _required_file(self.file, dataset, "protocol.inner")
            return Split(self.kind, self.folds, file=file)
        return Split(
            kind=_for_task(self.kind, task),
            folds=self.folds,
            train=self.train,
            test=self.test,
        )


def _check_folds(kind: str, folds: int) -> None:
    """Raise ValueError unless kinds of folds have two folds or more, and other kinds one. Given
    splits, bootstraps and splits of plug-ins may have any number.
    """
    if kind in (GIVEN, *BOOTSTRAPS, *plugin_splits()):
        return
    has_folds = folds > 1
    if has_folds != kind.endswith("kfold"):
        expected = "no folds" if has_folds else "folds of 2 or more"
        raise ValueError(f"{kind} has {amount(folds, 'fold')}; expected {expected}")


def _check_file(kind: str, file: str | dict[str, str] | None) -> None:
    """Raise ValueError unless given splits, and no others, have a file."""
    if bool(file) != (kind == GIVEN):
        expected = "file: FILE.csv with the splits" if not file else "no file"
        raise ValueError(f"{kind}: expected {expected}")


def _file_of(files: str | dict[str, str] | None, dataset: str) -> str:
    """Return the name of the file of given splits of a data set; empty if there is none.

    `files`: one file for all data sets, or a file for each.
    """
    return files.get(dataset, "") if isinstance(files, dict) else files or ""


def _required_file(
    files: str | dict[str, str] | None, dataset: str, section: str
) -> str:
    """Return the name of the file of given splits of a data set.

    Raises ElmbenchError if there is none. `section`: the key of the file in the message.
    """
    file = _file_of(files, dataset)
    if not file:
        problem = f"{section}.file says nothing of {dataset}"
        raise invalid(problem, f"{dataset}: FILE.csv with its splits")
    return file


class OuterOverride(Spec):
    """Folds and runs of one data set."""

    #: The number of folds.
    folds: Folds | None = None
    #: The number of runs.
    runs: Count | None = None


class Outer(Spec):
    """The outer splits, repeated `runs` times.

    The kinds of folds are those of `Splitter`, and `predefined-kfold`, with folds numbered in a
    column of the data set; `holdout` shuffles the rows into a training and a test part of the
    printed `sizes`, and `stratified-holdout` keeps the proportions of the classes in both;
    `official` takes the two parts of the public source; `in-order` takes the first rows of a series
    for training and the next ones for the test. `given` takes the splits of a file with the columns
    run, fold, row and part. `repeated-kfold` and `5x2`, also with `stratified-`, are other names of
    folds in several runs. `leave-one-out` tests each row with a model of all others, and computes
    each metric from all predictions at once; columns then have fixed hyperparameters. `bootstrap`
    draws as many rows as there are, with replacement, and tests the rows that were not drawn,
    `folds` times in each run. `bootstrap-632` is Efron's .632 bootstrap on the same rows: each
    metric is .632 of its value on the rows that were not drawn, and .368 of the resubstitution, its
    value on all rows for a model that has learnt all of them; columns then have fixed
    hyperparameters.
    """

    #: The kind of split; a plug-in declares others in `SPLITS`.
    kind: Annotated[str, _kind_check(*OUTER_KINDS)]
    #: The number of folds, for the kinds of folds and for given splits.
    folds: Count = 1
    #: How often the splits are drawn again.
    runs: Count = 1
    #: The file of given splits beside the table's file, or `openml-task:59` for the official splits
    #: of an OpenML task; one for each data set if there are several.
    file: str | dict[str, str] | None = None
    #: Rows of the training part of data sets without `sizes`.
    train: Size | None = None
    #: Rows of the test part of data sets without `sizes`.
    test: Size | None = None
    #: Sizes for `holdout`, `stratified-holdout` and `in-order`, by data set.
    sizes: dict[str, PartSizes] = Field(default_factory=dict)
    #: Folds and runs of single data sets, by name.
    overrides: dict[str, OuterOverride] = Field(default_factory=dict, alias="except")

    @model_validator(mode="before")
    @classmethod
    def _name_the_folds(cls, content: Any) -> Any:
        """Return the content with the name of a repeated scheme replaced by its kind, folds and
        runs.
        """
        name = content.get("kind") if isinstance(content, dict) else None
        if not isinstance(name, str) or name not in REPEATED_SCHEMES:
            return _with_folds_of_plugin(content)
        kind, folds, runs = REPEATED_SCHEMES[name]
        named = dict(content)
        named["kind"] = kind
        for key, number in (("folds", folds), ("runs", runs)):
            if number is None:
                if key not in content:
                    raise ValueError(
                        f"{name} has no {key}; expected {key} of 2 or more"
                    )
                continue
            if content.get(key, number) != number:
                raise ValueError(
                    f"{name} has {content[key]} {key}; expected {number}, or none"
                )
            named[key] = number
        return named

    @model_validator(mode="after")
    def _check_kind(self) -> Outer:
        """Raise ValueError if the kind of split has a key too many or lacks one."""
        _check_folds(self.kind, self.folds)
        has_sizes = bool(self.sizes) or self.default_sizes is not None
        if has_sizes != (self.kind in SIZED):
            raise ValueError(
                f"{self.kind}: expected {'no sizes' if has_sizes else 'sizes, by data set'}"
            )
        _check_file(self.kind, self.file)
        return self

    @property
    def default_sizes(self) -> PartSizes | None:
        """The sizes for data sets without `sizes`; None if there are none."""
        if self.train is None and self.test is None:
            return None
        return PartSizes(train=self.train, test=self.test)

    def file_of(self, dataset: str) -> str:
        """Return the name of the file of given splits of a data set; empty if there is none."""
        return _file_of(self.file, dataset)

    def folds_of(self, dataset: str) -> int:
        """Return the number of folds of a data set, which may differ from that of the others."""
        return self.overrides.get(dataset, OuterOverride()).folds or self.folds

    def runs_of(self, dataset: str) -> int:
        """Return the number of runs of a data set, which may differ from that of the others."""
        return self.overrides.get(dataset, OuterOverride()).runs or self.runs

    def split(self, dataset: str, task: str) -> Split:
        """Return the outer split of a data set for a task, with its folds, sizes or file. Raises
        ElmbenchError if the sizes or the file of the data set are missing.
        """
        if self.kind.endswith("kfold") or self.kind in BOOTSTRAPS:
            return Split(_for_task(self.kind, task), self.folds_of(dataset))
        if self.kind in ("official", LEAVE_ONE_OUT):
            return Split(self.kind)
        plugin = plugin_splits().get(self.kind)
        if plugin is not None:
            return Split(self.kind, self.folds, version=plugin.version)
        if self.kind == GIVEN:
            file = _required_file(self.file, dataset, "protocol.outer")
            return Split(self.kind, self.folds_of(dataset), file=file)
        sizes = self._sizes_of(dataset)
        return Split(
            kind=_for_task(self.kind, task),
            folds=1,
            train=sizes.train,
            test=sizes.test,
        )

    def _sizes_of(self, dataset: str) -> PartSizes:
        """Return the sizes of the parts of a data set; raise ElmbenchError if there are none."""
        # Data with options, such as `sparse-10k[density=0.6]`, have the sizes of their base.
        base, _, _ = dataset.partition("[")
        sizes = self.sizes.get(dataset) or self.sizes.get(base) or self.default_sizes
        if sizes is None:
            problem = f"protocol.outer.sizes says nothing of {dataset}"
            raise invalid(problem, f"{dataset}: {{train: ROWS, test: ROWS}}")
        return sizes


class Protocol(Spec):
    """The evaluation of every model."""

    #: Scaling of the inputs; null leaves them as they are.
    scale: Scale | None
    #: Scaling of the inputs of single data sets: sparse rows, for instance, cannot be centred.
    scale_except: dict[str, Scale | None] = Field(default_factory=dict)
    #: Scaling of the targets of a regression.
    targets: TargetScale | None = None
    #: Data sets whose targets are not scaled.
    raw_targets: tuple[str, ...] = ()
    #: The splits that measure.
    outer: Outer
    #: The splits on which hyperparameters are chosen. Required if a column searches some.
    inner: Splitter = Splitter(kind="stratified-kfold", folds=3)
    #: The choice of hyperparameters: `nested` on the inner splits of each training part, `once` on
    #: the inner splits of all rows, `oracle` on the outer test parts; `published` takes the printed
    #: ones. Required if a column searches some.
    select: Selection | Selections = "published"
    #: Measures of the table. Hyperparameters are chosen by the first one for the task that is of
    #: test rows.
    metrics: tuple[MeasureName, ...] = Field(min_length=1)
    #: Measures of single data sets in place of `metrics`.
    metrics_except: dict[str, MeasureNames] = Field(default_factory=dict)
    #: The unit of the deviations, both of the printed ones and of ours.
    std: Literal["of-run-means", "of-folds"] = "of-run-means"
    #: The order in which a sequential model learns the training rows.
    order: Literal["shuffled", "stored"] = "shuffled"
    #: The criterion of `nested` selection: `score` on inner folds, or a divergence of the projected
    #: training rows.
    criterion: Literal["score", "dcs-gaussians", "dcs-kde"] = "score"

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """The measures of the table and those of single data sets, each once."""
        of_datasets = (name for names in self.metrics_except.values() for name in names)
        return tuple(dict.fromkeys((*self.metrics, *of_datasets)))

    def named_metrics(self, dataset: str = "") -> tuple[str, ...]:
        """Return the measures of the table, or those of a data set that has its own."""
        return self.metrics_except.get(dataset, self.metrics)

    def with_metrics(self, names: Sequence[str], *, first: bool) -> Protocol:
        """Return the protocol with more measures on all data sets, before (`first`) or after the
        others.
        """

        def join(metrics: tuple[str, ...]) -> tuple[str, ...]:
            """Return measures with the new ones, each once."""
            joined = (*names, *metrics) if first else (*metrics, *names)
            return tuple(dict.fromkeys(joined))

        of_datasets = {
            dataset: join(metrics) for dataset, metrics in self.metrics_except.items()
        }
        change = {"metrics": join(self.metrics), "metrics_except": of_datasets}
        return self.model_copy(update=change)

    def metric_for(self, task: str, dataset: str = "") -> str:
        """Return the metric that chooses hyperparameters: the first one for the task that is of
        test rows. Raises ElmbenchError if there is none. See `metrics_for`.
        """
        for metric in self.metrics_for(task, dataset):
            if metric not in OF_LEARNT_ROWS:
                return metric
        key = "metrics"
        if dataset in self.metrics_except:
            key = f"metrics-except.{dataset}"
        named = ", ".join(self.named_metrics(dataset))
        problem = f"protocol.{key} is {named}, without a {task} metric"
        raise invalid(problem, f"one of {', '.join(metric_names(task))}")

    def metrics_for(self, task: str, dataset: str = "") -> list[str]:
        """Return the measures of the table for a task that compare models, in the table's order;
        times and sizes are left out.

        `dataset`: the data set, which may have measures of its own.
        """
        names = (name for name in self.named_metrics(dataset) if name not in _OF_FITS)
        return [
            name
            for name in names
            if task in (OF_LEARNT_ROWS.get(name) or (find_metric(name).task,))
        ]

    def scale_of(self, dataset: str) -> Scale | None:
        """Return the scaling of the inputs of a data set; None for none."""
        return self.scale_except.get(dataset, self.scale)

    @property
    def selections(self) -> tuple[Selection, ...]:
        return (self.select,) if isinstance(self.select, str) else self.select
