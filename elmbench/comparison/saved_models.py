"""Files of saved models: joblib, or skops for files that run no code when they are loaded."""

from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from elmbench.datasets.unpacking import check_members
from elmbench.errors import ElmbenchError, first_line
from elmbench.files import replace_file
from elmbench.registry.code import with_code

#: The ending of files that run no code when they are loaded.
_SAFE = ".skops"
#: Packages whose classes only compute.
_COMPUTING = ("elmbench.models.", "elmbench.numerics.")
#: Further types and functions of saved models that skops does not trust by itself. Functions are
#: named one by one: a model calls them with arguments from its file.
_PARTS = (
    "elmbench.datasets.user_files.values.as_read",
    "elmbench.numerics.nodes.hidden_layer.hidden_layer",
    "elmbench.numerics.nodes.hidden_layer.node_outputs",
    "elmbench.evaluation.preprocessing.CategoryIndicators",
    "elmbench.evaluation.preprocessing.DateFeatures",
    "elmbench.evaluation.preprocessing.TextFeatures",
    "elmbench.evaluation.preprocessing.median_of",
    "functools.partial",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
)


def is_safe(path: Path) -> bool:
    """Return True if a file of this name runs no code when it is loaded: it ends in .skops.

    The file need not exist, and its content is not checked.
    """
    return path.suffix.lower() == _SAFE


def check_format(path: Path) -> None:
    """Raise ElmbenchError if `path` ends in .skops and skops is not installed.

    Files of any other name are of joblib.
    """
    if is_safe(path) and find_spec("skops") is None:
        raise ElmbenchError(
            f"{path}: skops, which reads and writes such files, is not installed",
            expected="skops",
            next_step="pip install 'elmbench[skops]', or name a .joblib file",
        )


def save(estimator: Any, path: Path) -> None:
    """Write an estimator to a file, by skops if the path ends in .skops, else by joblib.

    A file of joblib also holds the user's own code that the estimator needs, if it can be pickled.
    An existing file is replaced only at the end. Raises ElmbenchError if skops is not installed or
    cannot write the estimator, or if `load` would not trust one of its types.
    """
    check_format(path)
    with replace_file(path) as partial:
        if not is_safe(path):
            import joblib

            content = estimator
            # A module of the user's may hold what cannot be pickled.
            with suppress(Exception):
                content = with_code(estimator)
            joblib.dump(content, partial, compress=3)
            return
        from skops import io

        try:
            io.dump(estimator, partial)
        except Exception as error:
            raise _not_writable(
                path, f"{type(error).__name__}: {first_line(error)}"
            ) from error
        if unknown := _untrusted(io.get_untrusted_types(file=partial)):
            raise _not_writable(path, ", ".join(unknown))


def load(path: Path) -> Any:
    """Return the estimator in a file of `save`.

    A file that ends in .skops runs no code; any other one runs code that it names or holds, so load
    only files that you trust. Raises ElmbenchError if a .skops file has a type that is not trusted,
    and an error of any type if the file is of something else.
    """
    check_format(path)
    if not is_safe(path):
        import joblib

        return joblib.load(path)
    from skops import io

    content = path.read_bytes()
    check_members(content, path, "ask its author for a file of compare --save")
    types = io.get_untrusted_types(data=content)
    if unknown := _untrusted(types):
        raise ElmbenchError(
            f"{path} has types that are not trusted: {', '.join(unknown)}",
            expected="types of models of elmbench and scikit-learn, and of numpy and scipy",
            next_step="ask its author for a .joblib file if you trust the code of these types",
        )
    return io.loads(content, trusted=types)


def _not_writable(path: Path, reason: str) -> ElmbenchError:
    """Return the error for a model that a .skops file cannot hold, with the `reason`."""
    return ElmbenchError(
        f"{path}: a {_SAFE} file cannot hold this model: {reason}",
        expected="a model of elmbench or scikit-learn",
        next_step=f"--save {path.with_suffix('.joblib')}: results are stored, so it is only fitted",
    )


def _untrusted(types: Iterable[str]) -> list[str]:
    """Return the full names of those types and functions that are not trusted; [] if all are.

    `types`: the names of those in a .skops file that skops does not trust by itself.
    """
    return [name for name in types if not _is_trusted(name)]


def _is_trusted(name: str) -> bool:
    """Return True if a saved model may hold the type or function of this full name.

    These are listed parts of elmbench and its libraries, and the classes that modules of elmbench's
    models and numerics define. Such a module is imported.
    """
    if name in _PARTS:
        return True
    if not name.startswith(_COMPUTING):
        return False
    module, _, class_name = name.rpartition(".")
    try:
        value = getattr(import_module(module), class_name, None)
    except ImportError:
        return False
    return isinstance(value, type) and value.__module__ == module
