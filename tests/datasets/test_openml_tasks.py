"""Official splits of OpenML tasks: the client asks a server on loopback that answers as OpenML
does.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from loopback import API, Page, Server, add_openml, arff_text
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold

import elmbench
from elmbench.datasets.dataset import Dataset
from elmbench.datasets.fetch import fetch_dataset
from elmbench.datasets.openml_tasks import check_task, find_task
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.evaluation.given_splits import locate_splits
from elmbench.evaluation.splits import outer_parts
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.splits import Split

TASK = """<oml:task xmlns:oml="http://openml.org/openml">
  <oml:task_id>59</oml:task_id>
  <oml:task_name>Task 59: iris (Supervised Classification)</oml:task_name>
  <oml:task_type_id>1</oml:task_type_id>
  <oml:task_type>Supervised Classification</oml:task_type>
  <oml:input name="source_data">
    <oml:data_set>
      <oml:data_set_id>61</oml:data_set_id>
      <oml:target_feature>class</oml:target_feature>
    </oml:data_set>
  </oml:input>
  <oml:input name="estimation_procedure">
    <oml:estimation_procedure>
      <oml:id>1</oml:id>
      <oml:type>crossvalidation</oml:type>
      <oml:data_splits_url>SERVER/api_splits/get/59/Task_59_splits.arff</oml:data_splits_url>
      <oml:parameter name="number_repeats">2</oml:parameter>
      <oml:parameter name="number_folds">3</oml:parameter>
      <oml:parameter name="percentage"></oml:parameter>
      <oml:parameter name="stratified_sampling">true</oml:parameter>
    </oml:estimation_procedure>
  </oml:input>
  <oml:input name="evaluation_measures">
    <oml:evaluation_measures>
      <oml:evaluation_measure></oml:evaluation_measure>
    </oml:evaluation_measures>
  </oml:input>
  <oml:output name="predictions">
    <oml:predictions>
      <oml:format>ARFF</oml:format>
      <oml:feature name="repeat" type="integer"/>
      <oml:feature name="fold" type="integer"/>
      <oml:feature name="row_id" type="integer"/>
    </oml:predictions>
  </oml:output>
</oml:task>"""
FEATURES = """<oml:data_features xmlns:oml="http://openml.org/openml">
  <oml:feature>
    <oml:index>0</oml:index><oml:name>sepallength</oml:name>
    <oml:data_type>numeric</oml:data_type><oml:is_target>false</oml:is_target>
    <oml:is_ignore>false</oml:is_ignore>
    <oml:is_row_identifier>false</oml:is_row_identifier>
    <oml:number_of_missing_values>0</oml:number_of_missing_values>
  </oml:feature>
  <oml:feature>
    <oml:index>1</oml:index><oml:name>class</oml:name>
    <oml:data_type>nominal</oml:data_type>
    <oml:nominal_value>no</oml:nominal_value><oml:nominal_value>yes</oml:nominal_value>
    <oml:is_target>true</oml:is_target>
    <oml:is_ignore>false</oml:is_ignore>
    <oml:is_row_identifier>false</oml:is_row_identifier>
    <oml:number_of_missing_values>0</oml:number_of_missing_values>
  </oml:feature>
</oml:data_features>"""
ROWS = 150
TABLE = """
datasets: [iris]
protocol:
  scale: null
  outer: {kind: given, file: "openml-task:59", folds: 3, runs: 2}
  metrics: [accuracy]
models:
  ridge: {model: ridge, params: {C: 2.0}}
published: null
"""


def parts_of(repeat: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds of a repeat."""
    X, y = load_iris(return_X_y=True)
    return list(StratifiedKFold(3, shuffle=True, random_state=repeat).split(X, y))


def splits_arff() -> str:
    """Return the splits as OpenML writes them: a line for each row of each part."""
    lines = []
    for repeat in range(2):
        for fold, parts in enumerate(parts_of(repeat)):
            for part, rows in zip(("TRAIN", "TEST"), parts, strict=True):
                lines += [[part, str(row), str(repeat), str(fold)] for row in rows]
    names = ["type", "rowid", "repeat", "fold"]
    return arff_text(names, ["{TRAIN,TEST}", *["NUMERIC"] * 3], lines)


@pytest.fixture
def task_server(openml_server: Server) -> Server:
    """A server with task 59 on data set 61."""
    add_openml(openml_server, 61, arff_text(["class"], ["{no,yes}"], [["no"]]))
    openml_server.pages |= {
        f"{API}/task/59": Page(TASK.replace("SERVER", openml_server.url).encode()),
        f"{API}/data/features/61": Page(FEATURES.encode()),
        "/api_splits/get/59/Task_59_splits.arff": Page(splits_arff().encode()),
    }
    return openml_server


def iris(**changes: Any) -> DatasetSpec:
    entry = {
        "name": "iris",
        "title": "Iris",
        "task": "classification",
        "shape": {
            "instances": ROWS,
            "features": 4,
            "classes": {"0": 50, "1": 50, "2": 50},
        },
        "sources": [{"kind": "openml", "id": 61}],
        "citation": "none",
    }
    return DatasetSpec.model_validate(entry | changes)


def dataset_of(
    X: np.ndarray, y: np.ndarray, classes: tuple[str, ...] = ("a", "b", "c")
) -> Dataset:
    """Return iris with its rows in some order."""
    return Dataset(
        X=X,
        y=y,
        name="iris",
        task="classification",
        classes=classes,
        feature_names=("p", "q", "r", "s"),
        source="",
        checksum="",
    )


def fetched_split(folder: Path) -> Split:
    """Return the splits of task 59, which are fetched if they are not in the cache yet."""
    fetch_dataset("openml-task:59")
    return locate_splits(Split("given", 3, file="openml-task:59"), folder, runs=2)


def test_rows_in_another_order_are_noticed_by_stratified_folds(
    task_server: Server, tmp_path: Path
) -> None:
    split = fetched_split(tmp_path)
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(ROWS)
    with pytest.raises(ElmbenchError, match=r"fold 0 of openml-task:59 tests") as error:
        outer_parts(dataset_of(X[order], y[order]), split, 0)
    assert error.value.expected.startswith("about 17, if ")
    assert "id: 61" in error.value.next_step


def test_rows_of_two_classes_in_another_order_are_noticed(
    task_server: Server, tmp_path: Path
) -> None:
    split = fetched_split(tmp_path)
    X, classes = load_iris(return_X_y=True)
    y = np.where(classes == 0, -1, 1)
    assert len(outer_parts(dataset_of(X, y, ("a", "rest")), split, 0)) == 3
    order = np.random.default_rng(0).permutation(ROWS)
    shuffled = dataset_of(X[order], y[order], ("a", "rest"))
    with pytest.raises(ElmbenchError, match=r"fold \d of openml-task:59 tests"):
        outer_parts(shuffled, split, 0)


def test_folds_that_are_not_stratified_show_nothing_of_the_order(
    task_server: Server, tmp_path: Path
) -> None:
    page = f"{API}/task/59"
    body = task_server.pages[page].body.replace(b">true<", b">false<")
    task_server.pages[page] = Page(body)
    split = fetched_split(tmp_path)
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(ROWS)
    assert len(outer_parts(dataset_of(X[order], y[order]), split, 0)) == 3


def test_the_splits_of_a_task_are_given_ones(
    task_server: Server, tmp_path: Path
) -> None:
    fetched = fetch_dataset("openml-task:59")
    assert (fetched.origin, fetched.downloaded) == ("OpenML task 59", True)
    n_requests = len(task_server.requests)
    assert not fetch_dataset("openml-task:59").downloaded
    assert len(task_server.requests) == n_requests
    split = fetched_split(tmp_path)
    data = dataset_of(*load_iris(return_X_y=True))
    for run in range(2):
        for ours, expected in zip(
            outer_parts(data, split, run), parts_of(run), strict=True
        ):
            np.testing.assert_array_equal(ours[0], expected[0])
            np.testing.assert_array_equal(ours[1], expected[1])
    check_task(59, iris())


def test_a_table_runs_on_the_splits_of_a_task(
    task_server: Server, tmp_path: Path
) -> None:
    fetch_dataset("openml-task:59")
    entry = iris(sources=[{"kind": "scikit-learn", "loader": "load_iris"}])
    content = entry.model_dump(mode="json", exclude_defaults=True, exclude={"name"})
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump({"iris": content}))
    (tmp_path / "mine.yaml").write_text(TABLE)
    results = elmbench.run(
        "own/mine",
        profile="paper",
        spec_dirs=[tmp_path],
        results_dir=tmp_path / "results",
    )
    X, y = load_iris(return_X_y=True)
    assert len(results.cells) == 6
    for cell in results.cells.to_dict("records"):
        train, test = parts_of(cell["run"])[cell["fold"]]
        model = RidgeClassifier(alpha=0.5).fit(X[train], y[train])
        assert cell["accuracy"] == pytest.approx(model.score(X[test], y[test]))


def test_a_task_is_for_its_data_set(task_server: Server) -> None:
    fetch_dataset("openml-task:59")
    shape = {"instances": 149, "features": 4, "classes": {"0": 49, "1": 50, "2": 50}}
    with pytest.raises(ElmbenchError, match="splits 150 rows, but iris has 149"):
        check_task(59, iris(shape=shape))
    other = [{"kind": "openml", "id": 7}]
    with pytest.raises(ElmbenchError, match="is for OpenML 61, but iris is OpenML 7"):
        check_task(59, iris(sources=other))
    check_task(59, iris(sources=[{"kind": "scikit-learn", "loader": "load_iris"}]))


def test_a_task_that_was_not_fetched_says_what_to_do() -> None:
    with pytest.raises(
        ElmbenchError, match="splits of openml-task:59 are not"
    ) as raised:
        find_task(59)
    assert "elmbench data fetch openml-task:59" in raised.value.next_step


def test_without_a_network_the_fetch_says_so(task_server: Server) -> None:
    task_server.pages.clear()
    task_server.close()
    with pytest.raises(DataUnavailableError, match="cannot be reached"):
        fetch_dataset("openml-task:59")


def test_a_learning_curve_has_no_splits_of_this_kind(task_server: Server) -> None:
    names = ["type", "rowid", "repeat", "fold", "sample"]
    lines = [
        [part, "0", "0", "0", str(n)] for n in (0, 1) for part in ("TRAIN", "TEST")
    ]
    text = arff_text(names, ["{TRAIN,TEST}", *["NUMERIC"] * 4], lines)
    task_server.pages["/api_splits/get/59/Task_59_splits.arff"] = Page(text.encode())
    with pytest.raises(ElmbenchError, match="task 59 has 2 samples in a fold"):
        fetch_dataset("openml-task:59")


@pytest.mark.parametrize("name", ["openml-task:", "openml-task:x", "openml-task"])
def test_a_name_without_a_number_is_no_task(name: str) -> None:
    with pytest.raises(ElmbenchError, match="unknown data set"):
        fetch_dataset(name)
