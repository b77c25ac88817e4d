"""The outer and inner splits in an experiment file, and the split of one data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from elmbench.errors import amount
from elmbench.registry.plugins import plugin_splits
from elmbench.specs.files import invalid
from elmbench.specs.papers import Spec

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
        """Return the JSON content of the split, which is part of the key of a stored result.

        It has `kind`, and those of `folds`, `train`, `test`, `checksum` (of a file) and `version`
        (of a plug-in's code) that determine the rows of a split of this kind.
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
    """Return the kind of split that a task has, such as `kfold` or `stratified-kfold`.

    It is `kind`, for a regression without `stratified-`. `task`: "classification" or "regression".
    """
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
    """Return a validator that rejects kinds of split other than these and those of plug-ins.

    It raises ValueError, which lists the allowed kinds.
    """

    def check(kind: str) -> str:
        """Return the kind; raise ValueError if it is not allowed."""
        allowed = [*kinds, *plugin_splits()]
        if kind not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return kind

    return AfterValidator(check)


def _with_folds_of_plugin(content: Any) -> Any:
    """Return the content of a split with the number of folds that its plug-in declares.

    Content of other kinds is returned as it is. Raises ValueError if it gives another number.
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
        """Return the content of a split with the number of folds that its plug-in declares.

        Content of other kinds is returned as it is. Raises ValueError if it gives another number.
        """
        return _with_folds_of_plugin(content)

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        """Raise ValueError if a key does not fit the kind of split, or its sizes are not valid.

        That is, the kind has a key too many or lacks one.
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
        """Return the inner split of the data set `dataset`, with its folds, sizes or file.

        `task`: "classification" or "regression"; a regression is not stratified. Raises
        ElmbenchError if given splits have no file for the data set.
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
    """Raise ValueError unless a kind of folds has two `folds` or more, and another `kind` one.

    Given splits, bootstraps and splits of plug-ins may have any number.
    """
    if kind in (GIVEN, *BOOTSTRAPS, *plugin_splits()):
        return
    has_folds = folds > 1
    if has_folds != kind.endswith("kfold"):
        expected = "no folds" if has_folds else "folds of 2 or more"
        raise ValueError(f"{kind} has {amount(folds, 'fold')}; expected {expected}")


def _check_file(kind: str, file: str | dict[str, str] | None) -> None:
    """Raise ValueError unless given splits, and no others, have a file.

    `kind`: of the splits. `file`: one file, {data set: its file}, or None.
    """
    if bool(file) != (kind == GIVEN):
        expected = "file: FILE.csv with the splits" if not file else "no file"
        raise ValueError(f"{kind}: expected {expected}")


def _file_of(files: str | dict[str, str] | None, dataset: str) -> str:
    """Return the name of the file of given splits of a data set; empty if there is none.

    `files`: one file for all data sets, or {data set: its file}; None for none.
    """
    return files.get(dataset, "") if isinstance(files, dict) else files or ""


def _required_file(
    files: str | dict[str, str] | None, dataset: str, section: str
) -> str:
    """Return the name of the file of given splits of `dataset`; raise ElmbenchError without one.

    `files`: one file for all data sets, or {data set: its file}; None for none. `section`: the key
    in the message, such as `protocol.outer`.
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
        """Return the content with a repeated scheme replaced by its kind, folds and runs.

        That is, `5x2` becomes 5 runs of `kfold` with 2 folds. A split of a plug-in gets its number
        of folds, and other content is returned as it is. Raises ValueError if other numbers are
        given, or one that the scheme does not fix is missing.
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
        """Raise ValueError if a key does not fit the kind of split.

        Folds, sizes and files are each for some kinds only, which need them.
        """
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
        """Return the number of folds of a data set: its own, or else that of the table."""
        return self.overrides.get(dataset, OuterOverride()).folds or self.folds

    def runs_of(self, dataset: str) -> int:
        """Return the number of runs of a data set: its own, or else that of the table."""
        return self.overrides.get(dataset, OuterOverride()).runs or self.runs

    def split(self, dataset: str, task: str) -> Split:
        """Return the outer split of the data set `dataset`, with its folds, sizes or file.

        `task`: "classification" or "regression"; a regression is not stratified. Raises
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
        """Return the sizes of the parts of `dataset`; raise ElmbenchError if there are none.

        Data with options, such as `sparse-10k[density=0.6]`, have the sizes of their base; data
        sets without an entry have the default sizes.
        """
        # Data with options, such as `sparse-10k[density=0.6]`, have the sizes of their base.
        base, _, _ = dataset.partition("[")
        sizes = self.sizes.get(dataset) or self.sizes.get(base) or self.default_sizes
        if sizes is None:
            problem = f"protocol.outer.sizes says nothing of {dataset}"
            raise invalid(problem, f"{dataset}: {{train: ROWS, test: ROWS}}")
        return sizes
