"""The house: who imports whom, and what an import costs."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import elmbench

PACKAGE = Path(elmbench.__file__).parent
#: A room imports from those before it.
ROOMS = [
    "errors", "lazy", "terminal", "files", "numerics", "metrics", "models", "registry", "specs",
    "datasets", "evaluation", "tasks", "tables", "execution", "results", "judging", "report",
    "runs", "comparison", "cli",
]  # fmt: skip
MODULES = sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = ("elmbench", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(part for part in parts if part != "__init__")


def imports(path: Path, *, at_once: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the modules that a file of the suite imports anywhere in it (or as soon as it is), with
    the line.
    """
    tree = ast.parse(path.read_text("utf-8"))
    package = (
        module_name(path)
        if path.name == "__init__.py"
        else module_name(path).rpartition(".")[0]
    )
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = (
                package.split(".")[: len(package.split(".")) - node.level + 1]
                if node.level
                else []
            )
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base, node.lineno
            # `from elmbench import models` imports a room too.
            yield from (
                (f"{base}.{alias.name}", node.lineno)
                for alias in node.names
                if base.startswith("elmbench")
            )


def room(module: str) -> str | None:
    """Return the package that holds a module of elmbench; None for `elmbench` itself and for
    foreign modules.
    """
    parts = module.split(".")
    return (
        parts[1]
        if parts[0] == "elmbench" and parts[1:] not in ([], ["__main__"])
        else None
    )


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_a_room_imports_only_from_rooms_before_it(path: Path) -> None:
    own = room(module_name(path))
    if own is None:
        return
    assert own in ROOMS, f"{own} is not in the order of rooms"
    for module, line in imports(path):
        other = room(module)
        if other is not None:
            assert other in ROOMS, f"{path}:{line} imports {module}"
            assert ROOMS.index(other) <= ROOMS.index(own), (
                f"{path}:{line}: {own} imports {module}"
            )


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions, and those for types alone, count too."""
    names = {module_name(path) for path in MODULES}
    graph = {
        module_name(path): {name for name, _ in imports(path)} & names
        for path in MODULES
    }
    # `from elmbench.cli import checks` needs the module, not what the package offers.
    packages = {module_name(path) for path in MODULES if path.name == "__init__.py"}
    TopologicalSorter({name: used - packages for name, used in graph.items()}).prepare()


def test_a_public_function_or_class_has_a_name_of_its_own() -> None:
    """`main` is the convention for what a command runs."""
    modules: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                modules.setdefault(node.name, []).append(module_name(path))
    shared = {
        name: paths
        for name, paths in modules.items()
        if len(paths) > 1 and not name.startswith("_") and name != "main"
    }
    assert not shared


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_libraries_are_imported_where_they_may_be(path: Path) -> None:
    """Models need no library of the suite, and nothing that was downloaded or stored can run code
    when it is read.
    """
    foreign = {module.split(".")[0] for module, _ in imports(path)}
    never = {"click", "pickle", "cPickle", "shelve", "dill", "cloudpickle"}
    # A program hands its own estimators to its own workers, and a model is saved with its code:
    # neither is data.
    if module_name(path) in ("elmbench.registry.code", "elmbench.registry.plugins"):
        never.remove("cloudpickle")
    # A run hands its work to its own workers.
    if room(module_name(path)) == "execution":
        never.remove("pickle")
    if room(module_name(path)) in ("numerics", "models"):
        never |= {"pydantic", "yaml", "typer", "rich", "pandas", "openml"}
    assert not foreign & never
    assert "allow_pickle=True" not in path.read_text("utf-8")
    # openml takes seconds to import.
    assert "openml" not in {
        module.split(".")[0] for module, _ in imports(path, at_once=True)
    }


HEAVY = (
    "numpy",
    "scipy",
    "pandas",
    "sklearn",
    "numba",
    "matplotlib",
    "pydantic",
    "openml",
    "pyarrow",
)


@pytest.mark.parametrize(
    "statement", ["import elmbench", "import elmbench.execution.executors.worker"]
)
def test_an_import_costs_little(statement: str) -> None:
    """A worker can end with its owner before anything slow happens."""
    code = f"import sys\n{statement}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
