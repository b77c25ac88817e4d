"""The private names of scikit-learn are in one module, and all of them exist."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import elmbench
from elmbench.models.base import sklearn_private
from elmbench.models.base.sklearn_private import (
    INHERITED,
    callbacks_of_fit,
    has_callbacks,
    is_score_method,
    new_sigmoid,
    positive_label,
    response_methods,
    score_predictions,
    scorer_parts,
    scorers_by_name,
)

PACKAGE = Path(elmbench.__file__).parent
INHERITED_NAMES = [(cls, name) for cls, names in INHERITED.items() for name in names]


def private_imports(path: Path) -> list[str]:
    """Return the imports of private modules and names of scikit-learn in a file."""
    imports = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        imports += [
            name for name in modules if re.match(r"sklearn\..*\b_[a-zA-Z]", name)
        ]
    return imports


def test_only_one_module_imports_private_names() -> None:
    wrapper = Path(sklearn_private.__file__)
    assert private_imports(wrapper)
    others = [path for path in PACKAGE.rglob("*.py") if path != wrapper]
    assert {path: names for path in others if (names := private_imports(path))} == {}


@pytest.mark.parametrize("name", sklearn_private.__all__)
def test_each_wrapped_private_name_exists(name: str) -> None:
    assert getattr(sklearn_private, name) is not None


@pytest.mark.parametrize(("cls", "name"), INHERITED_NAMES)
def test_each_inherited_private_name_exists(cls: str, name: str) -> None:
    module, _, class_name = cls.rpartition(".")
    assert hasattr(getattr(import_module(module), class_name), name)


def test_parts_of_a_scorer() -> None:
    scorer = get_scorer("neg_root_mean_squared_error")
    parts = scorer_parts(scorer)
    assert parts.sign == -1
    assert parts.function([1.0, 3.0], [1.0, 1.0]) == pytest.approx(2**0.5)
    assert scorer_parts(get_scorer("f1")).options["average"] == "binary"


def test_methods_and_label_of_a_scorer() -> None:
    assert response_methods(get_scorer("accuracy")) == ("predict",)
    assert response_methods(get_scorer("roc_auc"))[0] == "decision_function"
    assert response_methods(None) == ()
    assert positive_label(get_scorer("f1")) == 1


def test_scorers_of_several_metrics() -> None:
    several = check_scoring(SVC(), scoring=["accuracy", "f1"])
    assert list(scorers_by_name(several)) == ["accuracy", "f1"]
    assert scorers_by_name(get_scorer("f1")) is not None


def test_score_method_is_recognised() -> None:
    assert is_score_method(check_scoring(SVC()))
    assert not is_score_method(get_scorer("accuracy"))


def test_score_predictions_applies_the_metric_to_given_outputs() -> None:
    def share(_model: None, outputs: list[int], y: list[int]) -> float:
        return sum(a == b for a, b in zip(outputs, y, strict=True)) / len(y)

    assert score_predictions(None, [0, 1], [0, 0], share, error_score="raise") == 0.5


def test_callbacks_of_a_search() -> None:
    class Callback:
        """A callback with the hooks of scikit-learn's protocol that does nothing."""

        def setup(self, estimator: object, context: object) -> None: ...
        def teardown(self, estimator: object, context: object) -> None: ...
        def on_fit_task_begin(
            self, estimator: object, context: object, **data: object
        ) -> None: ...
        def on_fit_task_end(
            self, estimator: object, context: object, **data: object
        ) -> None: ...

    search = GridSearchCV(SVC(), {"C": [1.0]})
    assert not has_callbacks(search)
    assert has_callbacks(search.set_callbacks(Callback()))
    with callbacks_of_fit(GridSearchCV(SVC(), {"C": [1.0]})):
        pass


def test_sigmoid_is_fitted_to_decision_values() -> None:
    sigmoid = new_sigmoid().fit([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1], None)
    low, high = sigmoid.predict([-2.0, 2.0])
    assert low < 0.5 < high
