"""Models of installed packages (entry points), by address, and of programs; objects of plug-in
files.
"""

import importlib
import inspect
import pickletools
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from elmbench.errors import ElmbenchError, describe_error, unknown_name
from elmbench.files import check_regular, real_path, write_atomically
from elmbench.metrics import REGISTRY, Metric, set_plugin_metrics
from elmbench.registry.built_in import ModelEntry
from elmbench.registry.code import code_digest, code_files, digest
from elmbench.registry.plugin_splits import (
    PluginSplit,
    as_plugin_split,
    declaration_error,
)

#: The dictionaries that a plug-in file may have, and what each holds by name.
_KINDS = {
    "MODELS": "model",
    "LAYOUTS": "kind of table",
    "SOURCES": "kind of source",
    "METRICS": "metric",
    "SPLITS": "kind of split",
}

#: The name of a module, with those of the packages that hold it.
_MODULE_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")

#: Objects by kind and name, and the plug-in file of each.
Declared = dict[tuple[str, str], tuple[Any, Path]]
#: The objects of the plug-in files of this process.
_declared: Declared = {}
#: Those of the plug-in files of a comparison, which other threads do not see.
_declared_here: ContextVar[Declared | None] = ContextVar("declared_here", default=None)


def _all_declared() -> Declared:
    """Return the objects of the plug-in files of this process and of the comparison in this
    context: {(kind such as "MODELS", name): (object, plug-in file)}.
    """
    return _declared | (_declared_here.get() or {})


def plugin_objects(kind: str) -> dict[str, Any]:
    """Return {name: object} of what the loaded plug-in files declare in one dictionary.

    `kind`: "MODELS" (`ModelEntry` objects), "LAYOUTS" or "SOURCES" (classes), "METRICS" (`Metric`
    objects) or "SPLITS" (`PluginSplit` objects).
    """
    return {
        name: value
        for (value_kind, name), (value, _) in _all_declared().items()
        if value_kind == kind
    }


def plugin_splits() -> dict[str, PluginSplit]:
    """Return {name: `PluginSplit`} of the kinds of split that the loaded plug-in files declare."""
    return plugin_objects("SPLITS")


def has_plugin_objects() -> bool:
    """Return True if a plug-in file is loaded, in this process or this context, that declares
    anything.
    """
    return bool(_all_declared())


set_plugin_metrics(lambda: plugin_objects("METRICS"))


@cache  # it takes milliseconds
def models_of_packages() -> tuple[ModelEntry, ...]:
    """Return the models that installed packages declare as entry points of the group
    `elmbench.models`; cached. Raises ElmbenchError if one cannot be loaded or is not a model.
    """
    entries = []
    for point in entry_points(group="elmbench.models"):
        origin = (
            f"package {point.dist.name} {point.dist.version}"
            if point.dist
            else point.value
        )
        try:
            loaded = point.load()
        except Exception as error:
            problem = (
                f"the entry point {point.name!r} of {origin} cannot be loaded: "
                f"{type(error).__name__}: {error}"
            )
            raise ElmbenchError(
                problem, next_step="correct or uninstall that package"
            ) from error
        version = point.dist.version if point.dist else ""
        entries.append(
            _as_entry(point.name, loaded, origin, version + code_digest([point.module]))
        )
    return tuple(entries)


def _as_entry(name: str, loaded: Any, origin: str, version: str) -> ModelEntry:
    """Return the entry of a declared model under its name.

    `loaded`: a ModelEntry, an estimator class, or an estimator, which is cloned for each fit. The
    title of a class or an estimator is the first line of its docstring, or else its class name.
    `origin`: names the file or package. `version`: of its code, unless a ModelEntry has one of its
    own. Raises ElmbenchError if `loaded` is something else, or its class needs arguments.
    """
    if isinstance(loaded, ModelEntry):
        return replace(
            loaded, name=name, version=loaded.version or version, origin=origin
        )
    is_class = isinstance(loaded, type)
    lacks = [method for method in ("fit", "predict") if not hasattr(loaded, method)]
    tasks = [] if lacks else _tasks_of(name, loaded, origin)
    if not tasks:
        missing = f", which has no {' and no '.join(lacks)}" if lacks else ""
        raise declaration_error(
            f"the model {name!r} ({origin}) is {loaded!r}{missing}",
            "an estimator or its class (ClassifierMixin or RegressorMixin, then BaseEstimator), or "
            "a ModelEntry",
        )
    factory: Any = loaded if is_class else _factory(loaded)
    title = (inspect.getdoc(loaded) or factory.__name__).splitlines()[0]
    return ModelEntry(
        name, title, **dict.fromkeys(tasks, factory), version=version, origin=origin
    )


def _tasks_of(name: str, loaded: Any, origin: str) -> list[str]:
    """Return the tasks of an estimator or its class, "classification", "regression" or both; empty
    if it is neither a classifier nor a regressor. Raises ElmbenchError if the class needs
    arguments.

    `loaded`: the estimator or class. `name`, `origin`: of the model, for messages. A class of
    scikit-learn's kind is not instantiated. So a class whose `__init__` hangs or fails ends its own
    cells, and the other models of its file run.
    """
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        RegressorMixin,
        is_classifier,
        is_regressor,
    )

    if isinstance(loaded, type) and issubclass(loaded, BaseEstimator):
        mixins = {"classification": ClassifierMixin, "regression": RegressorMixin}
        if tasks := [
            task for task, mixin in mixins.items() if issubclass(loaded, mixin)
        ]:
            try:
                inspect.signature(loaded).bind()
            except TypeError as error:
                raise _needs_arguments(name, origin, error) from error
            return tasks
    if not hasattr(loaded, "__sklearn_tags__"):
        return []
    try:
        estimator = loaded() if isinstance(loaded, type) else loaded
    except (Exception, SystemExit) as error:
        raise _needs_arguments(name, origin, error) from error
    kinds = {"classification": is_classifier, "regression": is_regressor}
    with suppress(AttributeError):  # of a mixin without BaseEstimator
        return [task for task, is_kind in kinds.items() if is_kind(estimator)]
    return []


def _needs_arguments(name: str, origin: str, error: BaseException) -> ElmbenchError:
    """Return, not raise, the error for a class that cannot be instantiated without arguments.

    `name`, `origin`: of the model. `error`: that of the attempt.
    """
    return declaration_error(
        f"the model {name!r} ({origin}) cannot be made without arguments: {_message_of(error)}",
        "a default for every parameter, as scikit-learn has it",
    )


@cache
def load_address(address: str) -> ModelEntry:
    """Return the entry of the estimator class at `package.module:Class`, with the address as its
    name; cached. The working folder is searched too, and stays in `sys.path`.

    The address may also name an estimator object or a ModelEntry. Raises ElmbenchError if it cannot
    be imported, is none of these, or is a class that needs arguments.
    """
    module_name, _, attribute = address.partition(":")
    _search_working_folder()
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        problem = (
            f"{module_name!r} of the model {address!r} cannot be imported: "
            f"{_message_of(error)}"
        )
        expected = "an address `package.module:Class` that exists here"
        next_step = f"python -c 'import {module_name}'"
        raise ElmbenchError(problem, expected=expected, next_step=next_step) from error
    if not hasattr(module, attribute):
        classes = [
            name for name, value in vars(module).items() if isinstance(value, type)
        ]
        raise unknown_name(
            f"class of the module {module_name}:",
            attribute,
            classes,
            "correct the address",
        )
    version = code_digest([module_name])
    return _as_entry(
        address, getattr(module, attribute), f"module {module_name}", version
    )


def _search_working_folder() -> None:
    """Append the working folder to `sys.path`, unless it is there, so that modules can be imported
    from it.
    """
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)


def files_of_models(names: Iterable[str], scripts: Iterable[Path]) -> list[Path]:
    """Return the files of the user's own code that models and plug-in files consist of, with all
    own code that they import.

    `names`: of models; only addresses `package.module:Class` have files. `scripts`: plug-in files;
    missing ones are ignored. The working folder is appended to `sys.path`.
    """
    _search_working_folder()
    modules = [name.partition(":")[0] for name in names if ":" in name]
    return code_files(modules, [script for script in scripts if script.is_file()])


def _message_of(error: BaseException, path: Path | None = None) -> str:
    """Return an error as text, such as "ValueError: bad value (plugin.py, line 3: raise ...)".

    `path`: of a Python file, whose last line in the traceback is added; None adds no line. A syntax
    error names its own file and line.
    """
    if isinstance(error, SyntaxError):
        return (
            f"{type(error).__name__}: {error.msg} ({Path(error.filename or '').name}, line "
            f"{error.lineno})"
        )
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if path and frame.filename == str(path)
    ]
    location = [
        f" ({Path(frame.filename).name}, line {frame.lineno}: {frame.line})"
        for frame in frames[-1:]
    ]
    return describe_error(error) + "".join(location)


@contextmanager
def loaded_plugins(files: Iterable[str | Path]) -> Iterator[tuple[Path, ...]]:
    """Return a context manager that loads plug-in files for this context (thread), gives the
    absolute paths of the files, and forgets their objects at the end of the `with` block.

    The files are run, and their modules stay imported. Raises ElmbenchError as `load_plugin`.
    """
    paths = []
    token = _declared_here.set(dict(_declared_here.get() or {}))
    try:
        for file in files:
            path, objects = _read_plugin(file)
            _declared_here.set((_declared_here.get() or {}) | objects)
            paths.append(path)
        yield tuple(paths)
    finally:
        _declared_here.reset(token)


def load_plugin(file: str | Path) -> Path:
    """Run a plug-in file, register the objects in its dictionaries for this process, and return its
    absolute path.

    `MODELS` holds estimators, their classes or ModelEntry objects, `LAYOUTS` classes of kinds of
    table, `SOURCES` classes of kinds of source, `METRICS` objects of `elmbench.metrics.Metric`,
    `SPLITS` splitters of scikit-learn's form. Raises ElmbenchError if the file fails or declares
    nothing, an object is not valid, or another plug-in has taken a name. If the same file is loaded
    again, its objects replace those of the same names.
    """
    path, objects = _read_plugin(file)
    _declared.update(objects)
    return path


def _read_plugin(file: str | Path) -> tuple[Path, Declared]:
    """Run a plug-in file; return its absolute path and its declared objects, which are checked but
    not registered.

    The objects are {(kind, name): (object, path of the file)}; a kind is the name of a dictionary
    of the file, such as "MODELS". The models are `ModelEntry` objects, the splits `PluginSplit`
    ones. Their version is `ELMBENCH_VERSION` of the file, or else a digest of its code. The file's
    folder and module stay in `sys.path` and `sys.modules`. Raises ElmbenchError if the file fails
    or declares nothing, or an object or a name is not valid.
    """
    path = real_path(file)
    module, code = _run_plugin(path)
    # The estimators of a program have a version that does not depend on the folder of their file.
    version = getattr(module, "ELMBENCH_VERSION", f"plug-in {code}")
    declared: Declared = {}
    for kind, objects in _dictionaries_of(module, path).items():
        for name, loaded in objects.items():
            _check_declared_name(kind, name, path)
            declared[kind, name] = (
                _declared_object(kind, name, loaded, path, version),
                path,
            )
    return path, declared


def _run_plugin(path: Path) -> tuple[ModuleType, str]:
    """Run a plug-in file and return it as a module, with the digest of its code and of all own code
    that it imports.

    The module stays in `sys.modules`, and the file's folder in `sys.path`, also after a failure.
    Raises ElmbenchError if the file cannot be read or fails.
    """
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        check_regular(path)
        content = path.read_bytes()
    except OSError as error:
        problem = f"cannot read the plug-in {path}: {error.strerror}"
        raise ElmbenchError(
            problem, expected="a Python file", next_step="check the path"
        ) from error
    module_name = f"elmbench_plugin_{path.stem}_{digest(content)}"
    module = sys.modules[module_name] = ModuleType(module_name)
    module.__file__ = str(path)
    try:
        exec(compile(content, path, "exec"), vars(module))
    except (Exception, SystemExit) as error:
        problem = (
            f"the plug-in {path} fails when it is loaded: {_message_of(error, path)}"
        )
        raise ElmbenchError(
            problem,
            expected="a file that runs by itself",
            next_step=f"python {path.name}",
        ) from error
    # After the file has run, since it may extend the search path of modules.
    return module, code_digest(script=path)


def _dictionaries_of(module: ModuleType, path: Path) -> dict[str, dict[Any, Any]]:
    """Return the dictionaries of a plug-in file: {kind such as "MODELS": {name: object}}.

    A missing one is empty. `path`: of the file, for messages. Raises ElmbenchError if all are empty
    or one is not a dictionary.
    """
    dictionaries = {kind: getattr(module, kind, {}) for kind in _KINDS}
    are_dictionaries = all(
        isinstance(objects, dict) for objects in dictionaries.values()
    )
    if any(dictionaries.values()) and are_dictionaries:
        return dictionaries
    raise ElmbenchError(
        f"the plug-in {path} declares no models, layouts, sources, metrics or splits",
        expected='a dictionary such as MODELS = {"my-model": MyClassifier}, LAYOUTS, SOURCES, '
        "METRICS or SPLITS",
        next_step="add it to the file",
    )


def _check_declared_name(kind: str, name: Any, path: Path) -> None:
    """Raise ElmbenchError if the name of a declared object is not a text, is empty or has a colon,
    or if an object of this kind of another plug-in file has it.

    `kind`: such as "MODELS". `path`: of the plug-in file. Built-in names raise nothing here.
    """
    if not isinstance(name, str) or not name or ":" in name:
        problem = f"a {_KINDS[kind]} of the plug-in {path} has the name {name!r}"
        raise declaration_error(problem, "a word without ':'")
    _, owner = _all_declared().get((kind, name), (None, path))
    if owner != path:
        raise ElmbenchError(
            f"the {_KINDS[kind]} name {name!r} of the plug-in {path} is taken by the plug-in "
            f"{owner}",
            expected="a name of its own",
            next_step="rename it in one of the two",
        )


def _declared_object(
    kind: str, name: str, loaded: Any, path: Path, version: str
) -> Any:
    """Return a declared object in the form that its kind is registered in.

    `name`, `loaded`: an entry of a dictionary of the file. `kind`: that dictionary: "MODELS", for a
    `ModelEntry`, "SPLITS", for a `PluginSplit`, "METRICS", for a `Metric`, or "LAYOUTS" or
    "SOURCES", for the class itself. `path`: of the plug-in file. `version`: of its code. Raises
    ElmbenchError if the object is not valid.
    """
    if kind == "MODELS":
        return _as_entry(name, loaded, f"plug-in {path.name}", version)
    if kind == "SPLITS":
        return as_plugin_split(name, loaded, path.name, version)
    if kind == "METRICS":
        return _as_metric(name, loaded, path, version)
    if not isinstance(loaded, type):
        raise declaration_error(
            f"the {_KINDS[kind]} {name!r} (plug-in {path.name}) is {loaded!r}",
            "a class",
        )
    return loaded


def _as_metric(name: str, loaded: Any, path: Path, version: str) -> Metric:
    """Return a copy of a declared metric under its name, with the version of its code, and neither
    a column of `cells.csv` nor a scorer.

    `path`: of the plug-in file. Raises ElmbenchError if `loaded` is not a `Metric`, or has a
    built-in name.
    """
    if not isinstance(loaded, Metric):
        raise declaration_error(
            f"the metric {name!r} (plug-in {path.name}) is {loaded!r}",
            'a Metric, such as elmbench.metrics.Metric("cost", "counts", cost)',
        )
    if name in REGISTRY:
        raise declaration_error(
            f"the metric {name!r} (plug-in {path.name}) has the name of a built-in one",
            "another name",
        )
    # The columns of every cells.csv are those of built-in metrics.
    return replace(loaded, name=name, version=version, column=False, scorer="")


def write_plugin(
    estimators: Mapping[str, Any], folder: Path, search_path: list[str]
) -> Path:
    """Write estimator objects of a program to a plug-in file, which worker processes can load, and
    return its path.

    `estimators`: {name as a model: unfitted estimator}. `folder`: an existing one, to which the
    pickle of the estimators is written, too; equal estimators have equal files. `search_path`:
    folders that their modules may be imported from. Raises ElmbenchError if one cannot be pickled.
    """
    import cloudpickle

    try:
        # By value, so that classes of a script or a notebook reach the workers.
        content = cloudpickle.dumps(dict(estimators))
    except Exception as error:
        problem = f"an estimator cannot be sent to a worker process: {error}"
        expected = "estimators that can be pickled"
        next_step = "define the class in a module, and name module:Class"
        raise ElmbenchError(problem, expected=expected, next_step=next_step) from error
    code = code_digest(_module_names(content))
    # Every process gives classes of a script other identifiers, and a notebook's code files other
    # names.
    version = digest(
        re.sub(rb"\x8c [0-9a-f]{32}|ipykernel_\d+", b"", content) + code.encode()
    )
    pickled = folder / f"estimators-{version}.pkl"
    path = pickled.with_suffix(".py")
    # Another comparison of the same data may read or write them at the same time.
    write_atomically(pickled, content)
    write_atomically(
        path,
        f"import sys\nfrom pathlib import Path\nimport cloudpickle\n"
        f"sys.path += [folder for folder in {search_path!r} if folder not in sys.path]\n"
        f"MODELS = cloudpickle.loads(Path({str(pickled)!r}).read_bytes())\nELMBENCH_VERSION = "
        f"{version!r}\n",
    )
    return path


def _module_names(pickled: bytes) -> set[str]:
    """Return the texts of a pickle that may name modules, also those that a method of a script's
    class imports when it is called, without the name of the running script.

    Many of them are other words, since any text in the form of a dotted name counts.
    """
    texts = {str(value) for _, value, _ in pickletools.genops(pickled)}
    script = Path(getattr(sys.modules["__main__"], "__file__", None) or "").stem
    return {text for text in texts if _MODULE_NAME.fullmatch(text)} - {
        "__main__",
        script,
    }


def _factory(estimator: Any) -> Callable[..., Any]:
    """Return a function that clones an estimator and changes parameters that it is called with.

    If the estimator has seeds that are None, also in its steps, the function has an argument
    `random_state` that sets all of them, by default to None. Its signature names the parameters,
    also those of steps, but no seed except for `random_state`.
    """
    params = estimator.get_params()
    seeds = [name for name in params if name.rpartition("__")[2] == "random_state"]
    unset = [name for name in seeds if params[name] is None]

    def make(random_state: Any = None, **changes: Any) -> Any:
        """Return a clone of the estimator with the parameters `changes`, and `random_state` for all
        seeds that are None.
        """
        from sklearn.base import clone

        return clone(estimator).set_params(
            **dict.fromkeys(unset, random_state) | changes
        )

    names = [name for name in params if name not in seeds and name.isidentifier()]
    if unset:
        names.append("random_state")
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, keyword) for name in names]
    make.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    make.__name__ = type(estimator).__name__
    return make
