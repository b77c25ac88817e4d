"""Work that tests make from the content of its key, and do in this process."""

from typing import Any

import numpy as np
from toy_data import toy_spec

from elmbench.datasets.dataset import Dataset
from elmbench.evaluation import folds, splits
from elmbench.evaluation.content import read_content
from elmbench.evaluation.folds import FoldData, OuterFold
from elmbench.evaluation.predictions import metric_value
from elmbench.evaluation.stored_predictions import StoredPredictions, metric_columns
from elmbench.execution.attempt import attempt
from elmbench.metrics import COUNTS, columns
from elmbench.numerics.seeds import integer_seed
from elmbench.registry.scorers import find_metric
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.splits import Split
from elmbench.tasks.base import Context, Result, Task
from elmbench.tasks.correlation import Correlation
from elmbench.tasks.curve import Curve
from elmbench.tasks.description import Description
from elmbench.tasks.divergence import DivergenceChoice, Projections
from elmbench.tasks.fit import Fit
from elmbench.tasks.grid_evaluation import GridEvaluation
from elmbench.tasks.importance import Importance
from elmbench.tasks.kernel_weights import KernelWeights
from elmbench.tasks.nested_search import Search
from elmbench.tasks.oracle_choice import Choice
from elmbench.tasks.plan import Plan
from elmbench.tasks.stream import Stream

Content = dict[str, Any]
#: The class of each kind of work, and of the choice by each divergence.
CLASSES: dict[str, type[Task]] = {
    "cell": Fit,
    "importance": Importance,
    "kernel-weights": KernelWeights,
    "search": Search,
    "grid": GridEvaluation,
    "choice": Choice,
    "divergence": Projections,
    "dcs-gaussians": DivergenceChoice,
    "dcs-kde": DivergenceChoice,
    "stream": Stream,
    "curve": Curve,
    "correlation": Correlation,
    "description": Description,
}


def task_from_spec(content: Content, spec: DatasetSpec | None = None) -> Task:
    """Return the work with some content; the specification of its data is needed to run it."""
    return read_content(
        CLASSES[content.get("criterion") or content["kind"]], content, spec=spec
    )


def task_from_content(content: Content) -> Task:
    """Return the work of some content; common keys may be left out."""
    spec = toy_spec(content["dataset"]["name"]) if "dataset" in content else None
    return task_from_spec(
        {"given": None, "format": folds.RESULT_FORMAT, **content}, spec
    )


def do(
    content: Content, params: dict[str, Any] | None = None, data_dir: str | None = None
) -> Result:
    """Do some work that takes `params` over; what it raises is raised."""
    given = {"status": "ok", "params": params or {}, "seconds": 0.0}
    task = task_from_content(content | {"given": "given" if params else None})
    return {"status": "ok"} | task.run({"given": given}, Context(data_dir))


def fit(content: Content, **chosen: Any) -> Result:
    """Do a fit with hyperparameters of a search that took a quarter of a second."""
    search = {"status": "ok", "params": chosen, "seconds": 0.25}
    return {"status": "ok"} | task_from_content(content | {"chosen": "search"}).run(
        {"search": search}, Context()
    )


def evaluate(content: Content, params: dict[str, Any] | None = None) -> Result:
    """Evaluate the grid of a search on the outer fold."""
    return do(content | {"kind": "grid"}, params)


def choose(
    content: Content, evaluated: list[Result], params: dict[str, Any] | None = None
) -> Result:
    """Choose by what was evaluated."""
    keys = [f"e{i}" for i in range(len(evaluated))]
    task = task_from_content(
        {
            "kind": "choice",
            **content,
            "given": "given" if params else None,
            "evaluated": keys,
        }
    )
    given = {"status": "ok", "params": params or {}, "seconds": 0.0}
    return {"status": "ok"} | task.run(
        {"given": given, **dict(zip(keys, evaluated, strict=True))}, Context()
    )


def attempted(
    content: Content, inputs: dict[str, Result] | None = None, **how: Any
) -> Result:
    """Do some work so that every failure is a result."""
    threads = how.pop("blas_threads", 1)
    return attempt(task_from_content(content), inputs or {}, Context(**how), threads)


def outer_fold_of(content: Content) -> OuterFold:
    """Return the outer fold that some content names."""
    return read_content(OuterFold, content, spec=toy_spec(content["dataset"]["name"]))


def fold_data(content: Content, data_dir: str | None = None) -> FoldData:
    """Return the rows of the outer fold that some content names."""
    return folds.fold_data(outer_fold_of(content), data_dir)


def model_seed(content: Content) -> int:
    """Return the seed of the model of some content."""
    return integer_seed(
        "model",
        content["dataset"]["name"],
        content["run"],
        content["fold"],
        content["stream"],
    )


def outer_split(
    data: Dataset, protocol: Content, run: int, fold: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of an outer fold of a protocol as content has it."""
    train, test = splits.outer_parts(data, Split(**protocol["outer"]), run)[fold]
    return splits.order_rows(train, protocol["order"], data.name, run, fold), test


def inner_folds(
    content: Content, X: np.ndarray, y: np.ndarray, seed: int | None = None
) -> list[Any]:
    """Return the inner folds of some rows."""
    default = integer_seed(
        "inner", content["dataset"]["name"], content["run"], content["fold"]
    )
    inner = content.get("inner", {"kind": "stratified-kfold", "folds": 3})
    number = default if seed is None else seed
    return splits.folds_of(Split(**inner), number, X, y)


def units(plan: Plan) -> dict[str, Content]:
    """Return the content of all work of a plan, by key."""
    return {key: task.content() for key, task in plan.tasks.items()}


def needs(content: Content) -> list[str]:
    """Return the keys of the work that some work needs."""
    return list(task_from_content(content).needs)


def seconds_of(content: Content) -> float:
    """Return the estimated seconds of some work."""
    return task_from_spec(
        content, load_dataset_specs().find(content["dataset"]["name"])
    ).seconds()


def metrics_of(result: Result) -> dict[str, float]:
    """Return what is measured of a fit, and the metrics of its predictions that each `cells.csv`
    has.
    """
    measured = result.get("measured", {})
    if "predictions" not in result:
        return measured
    stored = StoredPredictions(result["predictions"])
    names = columns("regression" if stored.n_classes is None else "classification")
    values = metric_columns([stored], [find_metric(name) for name in names])
    return {
        name: value
        for name, (value,) in values.items()
        if not (name in COUNTS and np.isnan(value))
    } | measured


def default_metrics(
    true: Any, predicted: Any, labels: list[int] | None
) -> dict[str, float]:
    """Return the metrics that each `cells.csv` has of predictions."""
    names = columns("regression" if labels is None else "classification")
    values = {
        name: metric_value(name, np.asarray(true), np.asarray(predicted), labels)
        for name in names
    }
    return {
        name: value
        for name, value in values.items()
        if not (name in COUNTS and np.isnan(value))
    }


def untimed(result: Result | None) -> Result:
    """Return a result without its times."""
    assert result is not None
    return {
        name: value for name, value in result.items() if not name.endswith("seconds")
    }
