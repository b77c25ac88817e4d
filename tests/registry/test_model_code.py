"""Models at an address such as `module:Class`, and versions that follow the code that they use."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from plugin_code import MODEL
from sentences import pattern

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.registry import (
    code,
    find_model,
    ignores_features,
    make_model,
    model_version,
    plugins,
)
from elmbench.registry.plugins import load_plugin, plugin_objects

MODELS = (
    MODEL
    + """
class Half(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self
limit = 3
"""
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Be in a folder of its own, and forget what was imported from it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    plugins.load_address.cache_clear()
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("own_", "elmbench_plugin")):
            del sys.modules[name]


def test_a_class_of_the_folder_one_is_in(folder: Path) -> None:
    (folder / "own_models.py").write_text(MODELS)
    entry = find_model("own_models:Mine")
    assert (entry.name, entry.title, entry.regression) == (
        "own_models:Mine",
        "My model.",
        None,
    )
    assert make_model("own_models:Mine", depth=4).depth == 4
    assert len(model_version(entry, "classification")) == 12


def test_a_class_that_is_installed(folder: Path) -> None:
    entry = find_model("sklearn.tree:DecisionTreeRegressor")
    assert entry.classification is None
    assert entry.factory("regression").__name__ == "DecisionTreeRegressor"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (
            "own_models:Mien",
            pattern(
                "registry.plugins.unknown-class-of-module",
                module="own_models",
                name="Mien",
                similar="Mine",
            ),
        ),
        (
            "own_nothing:Mine",
            "'own_nothing' .* cannot be imported: ModuleNotFoundError",
        ),
        ("own_broken:Mine", "cannot be imported: SyntaxError: .*own_broken.py, line 2"),
        ("own_models:Half", "which has no predict$"),
        ("own_models:limit", "is 3"),
    ],
)
def test_a_faulty_address_of_a_model_is_an_error_with_its_reason(
    folder: Path, address: str, message: str
) -> None:
    (folder / "own_models.py").write_text(MODELS)
    (folder / "own_broken.py").write_text("x = 1\ndef (:\n")
    with pytest.raises(ElmbenchError) as caught:
        find_model(address)
    assert re.search(message, caught.value.found)
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dummy", True),
        ("ridge", False),
        ("sklearn.dummy:DummyClassifier", True),
        ("sklearn.dummy:DummyRegressor", True),
        ("sklearn.svm:SVC", False),
        ("majority", True),
        ("most-frequent", True),
        ("tree", False),
    ],
)
def test_a_model_ignores_the_features_whatever_its_name(
    tmp_path: Path, name: str, expected: bool
) -> None:
    script = tmp_path / "own_plugin.py"
    script.write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        "class Majority(DummyClassifier):\n    pass\n"
        "MODELS = {'majority': Majority, 'most-frequent': DummyClassifier(),\n"
        "          'tree': DecisionTreeClassifier(max_depth=1)}\n"
    )
    load_plugin(str(script))
    assert ignores_features(name) is expected


def test_a_plugin_may_import_its_neighbour_and_its_error_names_the_line(
    folder: Path,
) -> None:
    (folder / "own_neighbour.py").write_text(MODELS)
    (folder / "mine.py").write_text(
        "from own_neighbour import Mine\nMODELS = {'mine': Mine}\n"
    )
    load_plugin(folder / "mine.py")
    assert list(plugin_objects("MODELS")) == ["mine"]
    (folder / "bad.py").write_text("import math\n\nmath.sqrt(-1)\n")
    with pytest.raises(
        ElmbenchError, match=r"ValueError: .* \(bad\.py, line 3: math\.sqrt\(-1\)\)"
    ):
        load_plugin(folder / "bad.py")


#: The file of a model's code that is edited, in the working folder or in one on the search path.
HELPERS = [
    "own_base.py",
    "src/own_base.py",
    "src/own_package/base.py",
    "src/own_package/deep/found_at_run_time.py",
    "own_folder/base.py",
    "src/own_folder/deeper/base.py",
]


@pytest.mark.parametrize("by", ["plug-in", "address", "estimator"])
@pytest.mark.parametrize("helper", HELPERS)
def test_an_edit_of_code_that_a_model_uses_makes_another_version(
    folder: Path, helper: str, by: str
) -> None:
    """The code may lie anywhere, in a package or in folders without `__init__.py`."""
    sys.path.append(str(folder / "src"))
    (folder / helper).parent.mkdir(parents=True, exist_ok=True)
    (folder / helper).write_text(MODELS)
    module = helper.removeprefix("src/").removesuffix(".py").replace("/", ".")
    if "own_package" in helper:
        package = folder / "src" / "own_package"
        (package / "__init__.py").write_text("from own_package.models import Mine")
        (package / "models.py").write_text(MODELS)
        module = "own_package"
    (folder / "own_neighbour.py").write_text(f"from {module} import Mine\n")
    (folder / "own_mine.py").write_text(
        "from own_neighbour import Mine\nMODELS = {'mine': Mine}\n"
    )

    def version() -> str:
        if by == "plug-in":
            load_plugin(folder / "own_mine.py")
            return model_version(find_model("mine"), "classification")
        if by == "estimator":
            estimator = find_model("own_mine:Mine").factory("classification")()
            return plugins.write_plugin({"mine": estimator}, folder, []).name
        with pytest.raises(ElmbenchError, match="unknown experiment"):
            elmbench.run("any")  # each call in a notebook reads the code again
        return model_version(find_model("own_mine:Mine"), "classification")

    first = version()
    assert version() == first
    (folder / helper).write_text(MODELS + "# edited\n")
    assert version() != first


@pytest.mark.parametrize(
    "statement",
    [
        "import sys\nsys.path.insert(0, str(__import__('pathlib').Path(__file__).parent / 'lib'))\n"
        "from own_hidden import Mine",
        "import importlib\nMine = importlib.import_module('own_hidden').Mine",
        "from importlib import import_module\nMine = import_module('own_hidden').Mine",
        "Mine = __import__('own_hidden').Mine",
        "try:\n    import own_absent\nexcept ImportError:\n    from own_hidden import *",
    ],
)
def test_an_edit_counts_however_the_code_is_imported(
    folder: Path, statement: str
) -> None:
    is_beside = "sys.path" not in statement
    hidden = folder / ("own_hidden.py" if is_beside else "lib/own_hidden.py")
    hidden.parent.mkdir(exist_ok=True)
    hidden.write_text(MODELS)
    plugin = folder / "mine.py"
    plugin.write_text(f"{statement}\nMODELS = {{'mine': Mine}}\n")

    def version() -> str:
        load_plugin(plugin)
        return model_version(find_model("mine"), "classification")

    first = version()
    assert version() == first
    hidden.write_text(MODELS + "# edited\n")
    assert version() != first


def test_a_module_of_a_zip_file_counts_by_the_file(folder: Path) -> None:
    def version(content: str) -> str:
        with ZipFile(folder / "own.zip", "w") as archive:
            archive.writestr("own_zipped.py", content)
        importlib.invalidate_caches()
        return code.code_digest(["own_zipped"])

    sys.path.append(str(folder / "own.zip"))
    first = version(MODELS)
    assert first != code.code_digest()
    assert version(MODELS + "# edited\n") != first


def test_a_module_that_a_method_of_a_script_imports_counts(folder: Path) -> None:
    sys.path.append(str(folder))
    script: dict[str, Any] = {"__name__": "__main__"}
    lazy_import = "    def fit(self, X, y):\n        from own_lazy import fit\n        fit(self)\n"
    exec(f"{MODEL}\nclass Lazy(Mine):\n{lazy_import}", script)

    def version(text: str) -> str:
        (folder / "own_lazy.py").write_text(text)
        importlib.invalidate_caches()
        return plugins.write_plugin({"mine": script["Lazy"]()}, folder, []).name

    assert version("def fit(model): ...\n") != version("def fit(model): print()\n")


def test_a_folder_of_the_search_path_may_hold_installed_packages(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("target", "own"):
        (folder / name).mkdir()
        monkeypatch.syspath_prepend(str(folder / name))
    (folder / "target" / "library-1.dist-info").mkdir()
    (folder / "kept-1.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(folder))
    code._site_folders.cache_clear()
    try:
        assert code._is_installed(folder / "target" / "library.py")
        assert not code._is_installed(folder / "own" / "models.py")
        # Packages beside one's own code make the working folder no folder of packages.
        assert not code._is_installed(folder / "models.py")
    finally:
        code._site_folders.cache_clear()


def test_installed_code_counts_by_its_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the distribution has another name than its package."""
    site = folder / "site"
    monkeypatch.setattr(code, "_site_folders", lambda: (site,))
    monkeypatch.syspath_prepend(str(site))

    def version(number: str, text: str) -> str:
        info = site / "own_library-1.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: own-library\nVersion: {number}\n"
        )
        (info / "top_level.txt").write_text("own_installed\n")
        (site / "own_installed.py").write_text(text)
        code._version_of.cache_clear()
        return code.code_digest(["own_installed"])

    first = version("1.0", MODELS)
    assert version("1.0", MODELS + "# as it was compiled here\n") == first
    assert version("2.0", MODELS) != first
    code._version_of.cache_clear()


def test_a_class_of_a_script_has_one_version_in_all_processes(tmp_path: Path) -> None:
    scripts: list[dict[str, Any]] = [{"__name__": "__main__"}, {"__name__": "__main__"}]
    for script in scripts:
        exec(MODEL, script)
    first, second = (
        plugins.write_plugin({"mine": script["Mine"]()}, tmp_path, [])
        for script in scripts
    )
    assert first == second


def test_an_address_that_cannot_be_imported_is_an_error(folder: Path) -> None:
    (folder / "own_broken.py").write_text("def (:\n")
    text = (
        "from elmbench.registry import ModelEntry\nMODELS = {'mine': ModelEntry('', '', "
        "'own_broken:Mine')}\n"
    )
    (folder / "mine.py").write_text(text)
    load_plugin(folder / "mine.py")
    with pytest.raises(
        ElmbenchError, match="is at 'own_broken:Mine', which cannot be imported"
    ):
        make_model("mine")
