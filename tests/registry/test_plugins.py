"""Models from plug-in files, packages and addresses: their versions and errors."""

import importlib
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from made_work import work_of
from sentences import pattern, sentence
from sklearn.linear_model import Ridge
from toy_data import SEARCH, UNIT

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import DatasetRef
from elmbench.execution.executors import Settings, worker
from elmbench.execution.executors.sandbox import task_of
from elmbench.metrics import ERROR, less_is_better, metric_names, unit_of
from elmbench.registry import (
    code,
    find_model,
    has_method,
    list_models,
    make_model,
    model_version,
    plugins,
    registry,
)
from elmbench.registry.plugins import load_plugin, plugin_objects
from elmbench.registry.scorers import find_metric
from elmbench.specs.protocol import is_measure, is_quality

MODEL = """
from sklearn.base import BaseEstimator, ClassifierMixin
class Mine(ClassifierMixin, BaseEstimator):
    "My model."
    def __init__(self, depth=1):
        self.depth = depth
    def fit(self, X, y):
        return self
    def predict(self, X):
        return X[:, 0] > 0
"""


# --- Plug-in files
# -----------------------------------------------------------------------------


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_plugin_adds_its_model_to_the_registry(plugin: Callable[..., Path]) -> None:
    assert load_plugin(plugin(MODEL + 'MODELS = {"mine": Mine}')).name == "mine.py"
    entry = find_model("mine")
    assert (entry.title, entry.origin, entry.regression) == (
        "My model.",
        "plug-in mine.py",
        None,
    )
    assert list_models()[-1] == "mine"
    assert make_model("mine", depth=3).depth == 3


def test_a_plugin_may_declare_more_than_a_class(plugin: Callable[..., Path]) -> None:
    text = """
from elmbench.registry import ModelEntry
from sklearn.linear_model import Ridge
MODELS = {"mine": ModelEntry("ignored", "Ours", regression=Ridge, grid={"alpha": (1, 2)}, version="7", baseline=True)}
"""
    load_plugin(plugin(text))
    entry = find_model("mine")
    assert (entry.name, entry.title, entry.baseline) == ("mine", "Ours", True)
    assert model_version(entry, "regression") == "7"
    assert entry.factory("regression") is Ridge


def test_a_plugin_may_declare_an_estimator_which_is_cloned(
    plugin: Callable[..., Path],
) -> None:
    text = """
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
MODELS = {"mine": make_pipeline(SVC(C=3))}
"""
    load_plugin(plugin(text))
    models = [
        make_model("mine", svc__gamma=gamma, random_state=7)[-1] for gamma in (1, 2)
    ]
    assert [(one.C, one.gamma, one.random_state) for one in models] == [
        (3, 1, 7),
        (3, 2, 7),
    ]
    assert find_model("mine").regression is None


def test_a_plugin_may_declare_kinds_of_table(plugin: Callable[..., Path]) -> None:
    load_plugin(plugin("class Kind: pass\nLAYOUTS = {'wide': Kind}", "a.py"))
    load_plugin(
        plugin(MODEL + "MODELS = {'wide': Mine}\nLAYOUTS = {'long': Mine}", "b.py")
    )
    kinds = plugin_objects("LAYOUTS")
    assert {name: kind.__name__ for name, kind in kinds.items()} == {
        "wide": "Kind",
        "long": "Mine",
    }
    assert list(plugin_objects("MODELS")) == ["wide"]
    with pytest.raises(
        ElmbenchError,
        match=r"kind of table name 'wide' of the plug-in .*c\.py is taken by .*a\.py",
    ):
        load_plugin(plugin("class Kind: pass\nLAYOUTS = {'wide': Kind}", "c.py"))


COST = """
from elmbench.metrics import ERROR, Metric

def cost(counts):
    return (counts[..., 0, 1] + 5 * counts[..., 1, 0]) / counts.sum(axis=(-2, -1))

METRICS = {"cost": Metric("ignored", "counts", cost, less_is_better=True, unit=ERROR)}
"""


def test_a_plugin_may_declare_metrics(plugin: Callable[..., Path]) -> None:
    assert not is_measure("cost")
    load_plugin(plugin(COST))
    metric = find_metric("cost")
    assert metric.name == "cost"
    assert metric.function(np.array([[6.0, 2.0], [1.0, 11.0]])) == 7 / 20
    assert less_is_better("cost")
    assert unit_of("cost") == ERROR
    assert is_measure("cost")
    assert is_quality("cost")
    assert "cost" in metric_names("classification")


def test_a_search_by_a_metric_of_a_plugin_has_its_version_in_the_key(
    plugin: Callable[..., Path],
) -> None:
    """A built-in metric has none, so that the keys of stored searches do not change."""
    dataset = UNIT["dataset"] | {"name": "wdbc"}
    content = UNIT | SEARCH | {"model": "ridge", "dataset": dataset, "metric": "cost"}
    keys = []
    for edit in ("", "", "# edited\n"):
        load_plugin(plugin(COST + edit))
        work = work_of(content)
        assert work.outside_code == "metric cost"
        keys.append(work.key)
    assert keys[0] == keys[1] != keys[2]
    built_in = work_of(content | {"metric": "mcc"})
    assert "metric_version" not in built_in.content()
    assert built_in.outside_code == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("METRICS = {'cost': len}", "a Metric"),
        (COST.replace('"cost":', '"mcc":'), "name of a built-in one"),
    ],
)
def test_a_metric_that_is_none_is_an_error(
    plugin: Callable[..., Path], text: str, message: str
) -> None:
    with pytest.raises(ElmbenchError) as raised:
        load_plugin(plugin(text))
    assert message in str(raised.value)


def test_an_edit_of_a_plugin_makes_another_version(plugin: Callable[..., Path]) -> None:
    """Also where the class has inherited the version of one of the suite's own models."""
    text = (
        "from elmbench.models import ELMClassifier\nclass Mine(ELMClassifier):\n    pass\nMODELS = "
        "{'mine': Mine}\n"
    )
    load_plugin(plugin(text))
    first = model_version(find_model("mine"), "classification")
    load_plugin(plugin(text))
    assert model_version(find_model("mine"), "classification") == first
    load_plugin(plugin(text + "# edited\n"))
    assert model_version(find_model("mine"), "classification") != first


def test_an_edit_of_a_plugin_makes_other_results_of_its_kinds_of_work(
    plugin: Callable[..., Path],
) -> None:
    text = (
        "from elmbench.tasks.description import Description\nclass Mine(Description):\n    kind = "
        "'mine'\n"
    )
    keys = []
    for edit in ("", "", "# edited\n"):
        load_plugin(plugin(text + edit + "LAYOUTS = {'mine': Mine}\n"))
        work = plugin_objects("LAYOUTS")["mine"](
            "classification", DatasetRef("two", "abc")
        )
        assert pickle.loads(pickle.dumps(work)) == work
        keys.append(work.key)
    assert keys[0] == keys[1] != keys[2]


def test_work_whose_plugin_has_been_edited_is_not_done(
    plugin: Callable[..., Path],
) -> None:
    text = (
        "from elmbench.tasks.description import Description\nclass Mine(Description):\n    kind = "
        "'mine'\nLAYOUTS = {'mine': Mine}\n"
    )
    path = load_plugin(plugin(text))
    work = plugin_objects("LAYOUTS")["mine"]("classification", DatasetRef("two", "abc"))
    task = task_of(work, {})
    assert task.load.outside_code == "work mine"
    del sys.modules[type(work).__module__]  # a worker has not loaded the plug-in yet
    path.write_text(text + "# edited\n")
    result = worker.load_inputs(task, Settings(plugins=(str(path),)), None)
    assert result is not None
    assert result["status"] == "failed"
    assert sentence("registry.plugins.changed-since-planned") in result["reason"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "declares no models"),
        ("MODELS = {}", "declares no models"),
        ("MODELS = ['a']", "declares no models"),
        (
            "LAYOUTS = {}\nMETRICS = []",
            pattern("registry.plugins.declares-nothing"),
        ),
        (
            "class A: pass\nMODELS = ['a']\nLAYOUTS = {'w': A}",
            pattern("registry.plugins.declares-nothing"),
        ),
        ("LAYOUTS = {'mine': 3}", "the kind of table 'mine' .* is 3"),
        ("def broken(:", "fails when it is loaded: SyntaxError"),
        ("import nothing_of_that_name", "fails when it is loaded: ModuleNotFoundError"),
        ("raise SystemExit(3)", "fails when it is loaded: SystemExit"),
        (
            "class E(Exception): __str__ = 1\nraise E",
            "fails when it is loaded: E: <exception str",
        ),
        ("MODELS = {'a:b': int}", "a model of the plug-in .* has the name 'a:b'"),
        ("MODELS = {'mine': 3}", "the model 'mine' .* is 3"),
        (
            "class A:\n    fit = predict = None\nMODELS = {'mine': A}",
            "the model 'mine' ",
        ),
        ("class A:\n    pass\nMODELS = {'mine': A}", "the model 'mine' "),
        (
            MODEL.replace("depth=1", "depth") + 'MODELS = {"mine": Mine}',
            "the model 'mine' .* cannot be made without arguments: .*depth",
        ),
        (
            "from sklearn.base import BaseEstimator\nclass A(BaseEstimator):\n    fit = predict = "
            "None\n    def __init__(self): raise SystemExit(3)\nMODELS = {'mine': A}",
            "the model 'mine' .* cannot be made without arguments: SystemExit",
        ),
        (
            "from sklearn.base import ClassifierMixin\nclass A(ClassifierMixin):\n    fit = "
            "predict = None\n"
            "MODELS = {'mine': A()}",
            "the model 'mine' .* is <.*A object",
        ),
    ],
)
def test_plugins_that_are_none(
    plugin: Callable[..., Path], text: str, message: str
) -> None:
    with pytest.raises(ElmbenchError, match=message) as error:
        load_plugin(plugin(text))
    assert error.value.next_step
    assert "mine" not in registry()


def test_a_class_that_cannot_be_made_leaves_the_others_of_its_file(
    plugin: Callable[..., Path],
) -> None:
    """Its `__init__`, which may also hang, runs with its own cells only."""
    broken = (
        "class Broken(Mine):\n    def __init__(self):\n        raise SystemExit(3)\n"
    )
    load_plugin(plugin(f"{MODEL}{broken}MODELS = {{'mine': Mine, 'broken': Broken}}"))
    assert make_model("mine").depth == 1
    factory = find_model("broken").factory("classification")
    assert has_method(factory, "predict")
    with pytest.raises(SystemExit):
        factory()


def test_a_plugin_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(
        ElmbenchError, match=r"cannot read the plug-in .*none\.py: No such file"
    ):
        load_plugin(tmp_path / "none.py")
    with pytest.raises(
        ElmbenchError, match=r"cannot read the plug-in .*: Is a directory"
    ):
        load_plugin(tmp_path)


def test_a_plugin_may_not_take_a_name_of_the_suite(plugin: Callable[..., Path]) -> None:
    load_plugin(plugin(MODEL + 'MODELS = {"elm": Mine}'))
    with pytest.raises(
        ElmbenchError,
        match=pattern(
            "registry.plugins.name-of-a-built-in-model", model="elm", file="mine.py"
        ),
    ):
        registry()


def test_two_plugins_may_not_share_a_name(plugin: Callable[..., Path]) -> None:
    text = MODEL + 'MODELS = {"mine": Mine}'
    load_plugin(plugin(text))
    with pytest.raises(
        ElmbenchError,
        match=r"the model name 'mine' of the plug-in .*other\.py is taken by .*mine\.py",
    ):
        load_plugin(plugin(text, "other.py"))


# --- Installed packages
# ----------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make an installed package that declares models."""

    def install(text: str, entry_points: str, version: str = "1.2") -> None:
        site = tmp_path / "site"
        info = site / f"toy_models-{version}.dist-info"
        info.mkdir(parents=True)
        (site / "toy_models.py").write_text(text)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: toy-models\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(f"[elmbench.models]\n{entry_points}\n")
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.delitem(sys.modules, "toy_models", raising=False)
        plugins.models_of_packages.cache_clear()

    yield install
    plugins.models_of_packages.cache_clear()
    sys.modules.pop("toy_models", None)


def test_a_package_declares_a_class(package: Callable[..., None]) -> None:
    package(MODEL, "toy = toy_models:Mine")
    entry = find_model("toy")
    assert (entry.title, entry.origin) == ("My model.", "package toy-models 1.2")
    # It is not in the folder of libraries, as with `pip install --editable`, so its code may
    # change.
    assert re.fullmatch("1.2[0-9a-f]{12}", model_version(entry, "classification"))


def test_packages_that_are_broken_or_clash(package: Callable[..., None]) -> None:
    package(MODEL, "toy = toy_models:Nothing")
    with pytest.raises(
        ElmbenchError,
        match=pattern(
            "registry.plugins.entry-point-not-loaded",
            entry_point="toy",
            package="toy-models 1.2",
        ),
    ):
        registry()


# --- Addresses
# -----------------------------------------------------------------------------


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
