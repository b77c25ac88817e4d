"""Kinds of split that plug-in files declare: splitters of scikit-learn's form."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from elmbench.errors import ElmbenchError

#: The kinds of split that are built in, which a plug-in cannot replace, have one of these endings,
#: or one of these names.
_ENDING = "kfold"
_TAKEN = (
    "5x2",
    "stratified-5x2",
    "bootstrap",
    "bootstrap-632",
    "given",
    "holdout",
    "in-order",
    "leave-one-out",
    "official",
    "stratified-holdout",
)
_METHODS = ("split", "get_n_splits")


@dataclass(frozen=True)
class PluginSplit:
    """A splitter with `split(X, y, groups)` and `get_n_splits()`, as scikit-learn has them."""

    name: str
    splitter: Any = field(compare=False, repr=False)
    #: The number of splits of a run.
    folds: int
    #: The version of the code, which is part of the keys of results.
    version: str

    def seeded(self, seed: int) -> Any:
        """Return a copy of the splitter; its `random_state` becomes the seed if it is None.

        A splitter that has a seed, or takes none, is copied as it is.
        """
        splitter = deepcopy(self.splitter)
        if getattr(splitter, "random_state", 0) is None:
            splitter.random_state = seed
        return splitter


def as_plugin_split(name: str, loaded: Any, file: str, version: str) -> PluginSplit:
    """Return a declared splitter under its name, with the version of its code and its number of
    splits.

    `loaded`: an instance such as `ShuffleSplit(10)`. `file`: name of the plug-in file, for
    messages. Raises ElmbenchError if the name is that of a built-in kind, or ends in "kfold", or if
    `loaded` is not a splitter with a number of splits that is at least 1 and needs no rows.
    """
    if name in _TAKEN or name.endswith(_ENDING):
        raise declaration_error(
            f"the kind of split {name!r} ({file}) has a built-in name", "another name"
        )
    lacks = [
        method for method in _METHODS if not callable(getattr(loaded, method, None))
    ]
    if lacks or isinstance(loaded, type):
        raise declaration_error(
            f"the kind of split {name!r} ({file}) is {loaded!r}",
            "a splitter such as ShuffleSplit(10, test_size=0.2)",
        )
    try:
        folds = int(loaded.get_n_splits())
    except Exception as error:
        raise declaration_error(
            f"the number of splits of {name!r} ({file}) depends on the rows: {error}",
            "a splitter whose get_n_splits() needs no rows",
        ) from error
    if folds < 1:
        raise declaration_error(
            f"the kind of split {name!r} ({file}) has {folds} splits", "one or more"
        )
    return PluginSplit(name, loaded, folds, version)


def declaration_error(problem: str, expected: str) -> ElmbenchError:
    """Return, not raise, the error for an object that a plug-in file or package declares wrongly.

    `problem`: what is wrong. `expected`: the right form. Both have no full stop. The next step of
    the error is to correct the declaration.
    """
    return ElmbenchError(
        problem, expected=expected, next_step="correct it where it is declared"
    )
