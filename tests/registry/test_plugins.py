"""Plug-in files and packages: what they add, their versions and errors."""

import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from made_work import task_from_content
from plugin_code import MODEL
from sentences import pattern, sentence
from sklearn.linear_model import Ridge
from toy_data import SEARCH, UNIT

from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import DatasetRef
from elmbench.execution.executors import Settings, worker
from elmbench.execution.executors.limited_worker import pack_task
from elmbench.metrics import ERROR, less_is_better, metric_names, unit_of
from elmbench.registry import (
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
from elmbench.specs.measures import is_measure, is_quality

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
        task = task_from_content(content)
        assert task.outside_code == "metric cost"
        keys.append(task.key)
    assert keys[0] == keys[1] != keys[2]
    built_in = task_from_content(content | {"metric": "mcc"})
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
        task = plugin_objects("LAYOUTS")["mine"](
            "classification", DatasetRef("two", "abc")
        )
        assert pickle.loads(pickle.dumps(task)) == task
        keys.append(task.key)
    assert keys[0] == keys[1] != keys[2]


def test_work_whose_plugin_has_been_edited_is_not_done(
    plugin: Callable[..., Path],
) -> None:
    text = (
        "from elmbench.tasks.description import Description\nclass Mine(Description):\n    kind = "
        "'mine'\nLAYOUTS = {'mine': Mine}\n"
    )
    path = load_plugin(plugin(text))
    task = plugin_objects("LAYOUTS")["mine"]("classification", DatasetRef("two", "abc"))
    packed = pack_task(task, {})
    assert packed.load.outside_code == "work mine"
    del sys.modules[type(task).__module__]  # a worker has not loaded the plug-in yet
    path.write_text(text + "# edited\n")
    result = worker.load_inputs(packed, Settings(plugins=(str(path),)), None)
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
