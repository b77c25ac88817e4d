"""The code of the user's own models: a digest that changes when it does, and its way into a pickle.

Own code is what is neither in the standard library nor in a folder of installed packages: files of
the working folder, of `PYTHONPATH` and of editable installations. A folder with `*.dist-info`, but
not the working folder, is one of installed packages.
"""

import ast
import hashlib
import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import ModuleType
from typing import Any

#: Endings of the files of a package that count.
_SUFFIXES = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)
#: The package of the suite, whose models have versions of their own.
_SUITE = __name__.partition(".")[0]
#: Distributions with another name than their package; to look them up takes a quarter of a second.
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def digest(content: bytes) -> str:
    """Return 12 hexadecimal digits of the SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()[:12]


def code_digest(modules: Iterable[str] = (), script: Path | None = None) -> str:
    """Return the digest, 12 hexadecimal digits, of modules, of a script, and of all that they
    import, directly or not.

    `modules`: absolute names. The whole package of an own module counts, wherever it lies, and an
    installed distribution by its version; the suite, the standard library and modules that do not
    exist do not count. The same files give the same digest in all processes and folders. `script`:
    a Python file; None for none.
    """
    code = _Code()
    for name in modules:
        code.add_module(name)
    if script is not None:
        code.add_file(script, script.name, "")
    lines = sorted(f"{name} {value}" for name, value in code.digests.items())
    return digest("\n".join(lines).encode())


def code_files(modules: Iterable[str] = (), scripts: Iterable[Path] = ()) -> list[Path]:
    """Return the files of the user's own code that modules and scripts consist of.

    All own code that they import, directly or not, belongs to it; a module in a package counts with
    its whole package. Installed distributions, the standard library and elmbench have no files. A
    script that is also imported, or given twice, is listed twice.

    `modules`: absolute names; those that do not exist have none. `scripts`: existing files.
    """
    code = _Code()
    for name in modules:
        code.add_module(name)
    for script in scripts:
        code.add_file(script, script.name, "")
    return code.files


class _Code:
    """The code that modules and scripts consist of.

    `digests`: of each file by its name, and the version of each installed distribution. `files`:
    the paths of these files.
    """

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}
        self.files: list[Path] = []
        self._names: set[str] = set()

    def add_module(self, name: str) -> None:
        """Add the own code of a module, with all that it imports: its whole package, or its file if
        it is in none. An installed distribution adds its version only; the suite, the standard
        library, and a module that does not exist or is already added, add nothing.

        `name`: absolute, such as "package.module".
        """
        top = name.partition(".")[0]
        if name in self._names or top == _SUITE:
            return
        unit, path = _locate(name)
        is_known = unit in self._names
        self._names |= {name, unit}
        if is_known or path is None or _is_standard(path):
            return
        version = _version_of(top) if _is_installed(path) else ""
        if version:
            self.digests[f"distribution of {top}"] = version
        elif path.name.startswith("__init__."):
            self._add_package(unit, path.parent)
        else:
            package, _, _ = unit.rpartition(".")
            self.add_file(path, unit, package)

    def _add_package(self, package: str, folder: Path) -> None:
        """Add all files of code below the folder of a package, and what they import.

        `package`: its absolute name.
        """
        for file in _files_below(folder):
            parts = file.relative_to(folder).parts
            *folders, _ = parts
            name = "/".join((package, *parts))
            package_of_file = ".".join((package, *folders))
            self.add_file(file, name, package_of_file)

    def add_file(self, file: Path, name: str, package: str) -> None:
        """Add a file, and the modules that it imports if it is Python source.

        `name`: the key of its digest, which must not depend on the folder. `package`: the absolute
        name of its package, for relative imports; "" if it is in none.
        """
        content = file.read_bytes()
        self.digests[f"file {name}"] = digest(content)
        self.files.append(file)
        if file.suffix in SOURCE_SUFFIXES:
            for module in _imports(content, package):
                self.add_module(module)


def _imports(content: bytes, package: str) -> Iterator[str]:
    """Yield the absolute names that a file may import, from statements and calls of
    `import_module` or `__import__`; `from a import b` yields `a.b`, which may not be a module.

    Relative imports beyond the top of the package yield nothing. `content`: of the Python file;
    nothing if it cannot be parsed. `package`: the absolute name of its package, for relative
    imports; "" if it is in none.
    """
    try:
        nodes = list(ast.walk(ast.parse(content)))
    except (SyntaxError, ValueError, RecursionError):
        # An error of the code appears when it runs.
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            with suppress(ImportError):  # beyond the top of the package
                base = importlib.util.resolve_name(base, package)
                yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and (name := _module_of_call(node)):
            with suppress(ImportError):
                yield importlib.util.resolve_name(name, package)


def _module_of_call(call: ast.Call) -> str:
    """Return the name of the module that `import_module("name")` or `__import__("name")` imports,
    as it is written, so with the dots of a relative one; "" for different calls, and if the first
    argument is not a literal text.
    """
    function = call.func
    name = (
        function.attr
        if isinstance(function, ast.Attribute)
        else getattr(function, "id", "")
    )
    if name not in ("import_module", "__import__") or not call.args:
        return ""
    module = getattr(call.args[0], "value", None)
    return module if isinstance(module, str) else ""


def _locate(name: str) -> tuple[str, Path | None]:
    """Return the name and the file of the outermost package with an `__init__` file that has a
    module of this name, or else of the module itself.

    `name`: absolute, such as "package.module". The module is not imported, and a package with an
    `__init__` file is not searched for it. The file, of an `__init__`, a module or a ZIP archive,
    is None if there is none.
    """
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        # The module was not imported from a file.
        return name, None
    if spec is None:
        return name, None
    if spec.has_location and spec.origin is not None:
        return top, _file_on_path(spec.origin)
    # A folder without `__init__.py`.
    unit = top
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    for part in rest:
        unit = f"{unit}.{part}"
        file = _module_file(folders, part)
        if file is not None:
            return unit, Path(os.path.realpath(file))
        subfolders = [folder / part for folder in folders]
        folders = [folder for folder in subfolders if folder.is_dir()]
    return unit, None


def _file_on_path(origin: str) -> Path | None:
    """Return the file of a module, with links resolved, or the ZIP archive that it lies in; None if
    there is neither.
    """
    path = Path(os.path.realpath(origin))
    files = (file for file in (path, *path.parents) if file.is_file())
    return next(files, None)


def _module_file(folders: Iterable[Path], name: str) -> Path | None:
    """Return the file of the package or module `name`, without dots, in the first of `folders` that
    holds it; None if none does. A package, by its `__init__` file, precedes a module.
    """
    for folder in folders:
        for stem in (folder / name / "__init__", folder / name):
            for suffix in _SUFFIXES:
                file = Path(f"{stem}{suffix}")
                if file.is_file():
                    return file
    return None


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of code, Python sources and extensions, below a folder, in alphabetical order
    in each folder; hidden folders and caches are skipped.
    """
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith((".", "__pycache__"))
        )
        yield from (
            Path(path, name) for name in sorted(files) if name.endswith(_SUFFIXES)
        )


@cache
def _folders(*names: str) -> tuple[Path, ...]:
    """Return the folders of the interpreter with these names in `sysconfig`, such as 'stdlib', with
    links resolved.
    """
    return tuple(Path(os.path.realpath(sysconfig.get_path(name))) for name in names)


@cache
def _site_folders() -> tuple[Path, ...]:
    """Return the folders of installed packages, with links resolved: those of `site`, and those of
    `sys.path` that hold distributions, such as the target of `pip install --target`, but not the
    working folder. Cached: later changes of `sys.path` or the working folder have no effect.
    """
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    working_folder = os.path.realpath(os.curdir)
    for folder in sys.path:
        is_own = os.path.realpath(folder) == working_folder
        if not is_own and _has_distributions(Path(folder)):
            folders.append(folder)
    real_folders = map(os.path.realpath, folders)
    return tuple(map(Path, real_folders))


def _has_distributions(folder: Path) -> bool:
    """Return True if a folder holds a `*.dist-info`, so packages are installed there."""
    distributions = folder.glob("*.dist-info")
    return next(distributions, None) is not None


def _is_installed(path: Path) -> bool:
    """Return True if a file, with links resolved, is in a folder of installed packages of the
    interpreter or of `sys.path`.
    """
    folders = (*_folders("purelib", "platlib"), *_site_folders())
    return any(path.is_relative_to(folder) for folder in folders)


def _is_standard(path: Path) -> bool:
    """Return True if a file, with links resolved, is part of the standard library.

    Files of installed packages are not, even if their folder is inside that of the library.
    """
    folders = _folders("stdlib", "platstdlib")
    return any(path.is_relative_to(folder) for folder in folders) and not _is_installed(
        path
    )


@cache
def _version_of(package: str) -> str:
    """Return the version of the distribution with the name of a package, such as "1.2"; else "NAME
    VERSION" of each distribution that has installed it, with commas; "" if none is known. Cached.

    `package`: a top-level name for imports.
    """
    with suppress(PackageNotFoundError):
        return version(_DISTRIBUTIONS.get(package, package))
    names = sorted(set(packages_distributions().get(package, ())))
    return ", ".join(f"{name} {version(name)}" for name in names)


def _own_modules() -> Iterator[ModuleType]:
    """Yield the imported modules that are the user's own Python files, except the running script
    and modules of the suite.
    """
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None) or ""
        is_of_suite = name.partition(".")[0] == _SUITE
        if (
            name == "__main__"
            or is_of_suite
            or getattr(module, "__name__", None) != name
        ):
            continue
        if not file.endswith(tuple(SOURCE_SUFFIXES)):
            continue
        path = Path(os.path.realpath(file))
        if not _is_standard(path) and not _is_installed(path):
            yield module


class _WithCode:
    """An estimator in the bytes of cloudpickle; it is unpickled as the estimator."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        import cloudpickle

        return cloudpickle.loads, (self._content,)


def with_code(estimator: Any) -> Any:
    """Return an object whose pickle holds an estimator and the code of the user's own modules that
    are imported.

    Such modules are neither of elmbench, nor of the standard library, nor installed, nor the
    running script (`__main__`). Only the pickle of the object is of use: it is unpickled as the
    estimator that it was, without these modules or after an edit of them. Without such modules, the
    object is the estimator itself. Raises an error of any class if they or the estimator hold what
    cannot be pickled.
    """
    import cloudpickle

    registered = cloudpickle.list_registry_pickle_by_value()
    modules = [module for module in _own_modules() if module.__name__ not in registered]
    if not modules:
        return estimator
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        return _WithCode(cloudpickle.dumps(estimator))
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)
