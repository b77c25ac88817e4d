"""One unit of work: everything that happens in it is a result."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_work import attempted
from sentences import sentence
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_info
from toy_data import AddModel, MakeUnit

from elmbench.errors import ElmbenchError
from elmbench.execution.attempt import STATUSES
from elmbench.models.protocols import Evaluated

pytestmark = pytest.mark.usefixtures("toys")


class Base(ClassifierMixin, BaseEstimator):
    """Predicts the first label after `act` has been called."""

    n_units_ = 1

    def act(self, X: np.ndarray) -> None:
        """Do what a test is about."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Base:
        self.act(X)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), -1)


@pytest.fixture
def acting(make_unit: MakeUnit, add_model: AddModel) -> Callable[..., dict[str, Any]]:
    """Run a cell of a model that does something while it is fitted."""

    def run(action: Callable[[], None], **how: Any) -> dict[str, Any]:
        add_model("acting", type("Acting", (Base,), {"act": lambda self, X: action()}))
        return attempted(make_unit(model="acting"), {}, **how)

    return run


def test_solvers_are_counted_for_the_unit_alone(make_unit: MakeUnit) -> None:
    unit = make_unit("search", grid={"gamma": [0.5], "C": [0.1, 1.0, 100.0]})
    # Three candidates on three folds, each fitted once where no work is shared.
    for _ in range(2):
        assert attempted(unit | {"paths": False}, {})["solvers"] == {"clone and fit": 9}
    shared = attempted(unit, {})["solvers"]
    failed = shared.pop("bound failed", 0) + shared.pop("krylov given up", 0)
    assert "clone and fit" not in shared
    assert 9 <= sum(shared.values()) <= 9 + failed


def test_solver_counts_of_a_fit_survive_its_failure(
    make_unit: MakeUnit, add_model: AddModel, acting: Callable[..., dict[str, Any]]
) -> None:
    class Failing(Base):
        @classmethod
        def evaluate_grid(
            cls, X: Any, y: Any, folds: Any, candidates: Any, **fixed: Any
        ) -> Iterator[Evaluated]:
            yield Evaluated(0, 0, y[folds[0][1]], {"reduction": 4})
            raise ValueError("no luck")

    add_model("failing", Failing)
    result = attempted(make_unit("search", model="failing", grid={"C": [1.0, 2.0]}))
    assert (result["status"], result["solvers"]) == ("failed", {"reduction": 4})
    add_model(
        "stopped",
        type(
            "Stopped",
            (Base,),
            {"act": lambda self, X: setattr(self, "solvers_", {"capped": 1})},
        ),
    )
    # Once, although the model is warmed up before it.
    assert attempted(make_unit(model="stopped"))["solvers"] == {"capped": 1}
    assert "solvers" not in acting(lambda: None)


def test_times_of_searches_of_models_that_follow_each_other_add_up(
    make_unit: MakeUnit,
) -> None:
    given = {"status": "ok", "params": {"gamma": 1.0, "C": 2.0}, "seconds": 100.0}
    unit = make_unit(
        "search",
        model="fb-kos-elm",
        stream="k-elm",
        grid={"budget": [5, 10]},
        given="g",
    )
    result = attempted(unit, {"g": given})
    assert (result["seconds"] > 100, result["params"]["gamma"]) == (True, 1.0)
    choice = {
        "kind": "choice",
        "grid": {"budget": [5, 10]},
        "given": "g",
        "evaluated": ["a"],
    }
    result = attempted(
        choice,
        {"a": {"status": "ok", "scores": [1.0, 2.0], "seconds": 3.0}, "g": given},
    )
    assert (result["params"], result["seconds"]) == (
        {"gamma": 1.0, "C": 2.0, "budget": 10},
        103.0,
    )


class Mute(BaseException):
    def __str__(self) -> str:
        raise Mute


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (ValueError("a wrong number"), "failed", "ValueError: a wrong number"),
        (ElmbenchError("found", next_step="do"), "failed", "found\nNext: do"),
        (MemoryError("too much"), "out-of-memory", "too much"),
        (MemoryError(), "out-of-memory", "the machine has no more memory"),
        (AssertionError(), "failed", "AssertionError: "),
        (Mute(), "failed", "Mute: <exception str() failed>"),
        (np.linalg.LinAlgError("singular"), "failed", "LinAlgError: singular"),
    ],
)
def test_what_a_model_raises(
    acting: Callable[..., Any], error: BaseException, status: str, reason: str
) -> None:
    def throw() -> None:
        raise error

    result = acting(throw)
    assert (result["status"], result["reason"]) == (status, reason)
    assert status in STATUSES
    if not isinstance(error, ElmbenchError | MemoryError):
        assert "in throw" in result["traceback"]


def test_what_a_cell_rests_on_has_failed(make_unit: MakeUnit) -> None:
    before = {"status": "timeout", "reason": "not done after 5 s", "limit": 5.0}
    result = attempted(make_unit(chosen="s"), {"s": before})
    assert result == {
        "status": "timeout",
        "reason": sentence("execution.limits.search-before-timed-out", seconds=5),
    }
    # It is said once, where a choice stands between the search and the cell.
    assert attempted(make_unit(chosen="s"), {"s": before | result}) == result


def test_warnings_are_kept_each_once(acting: Callable[..., Any]) -> None:
    def complain() -> None:
        for text in ("b", "a", "b"):
            warnings.warn(text, UserWarning, stacklevel=1)
        warnings.warn("c", RuntimeWarning, stacklevel=1)

    result = acting(complain)
    assert result["status"] == "ok"
    assert result["warnings"] == [
        "RuntimeWarning: c",
        "UserWarning: a",
        "UserWarning: b",
    ]


def test_what_a_model_changes_does_not_reach_other_work(
    acting: Callable[..., Any],
) -> None:
    folder, settings = Path.cwd(), np.geterr()

    def change() -> None:
        os.chdir("/")
        np.seterr(all="raise")

    assert acting(change)["status"] == "ok"
    assert (Path.cwd(), np.geterr()) == (folder, settings)


def test_a_model_may_count_with_numpy(make_unit: MakeUnit, add_model: AddModel) -> None:
    add_model(
        "counting", type("Counting", (Base,), {"solvers_": {"mine": np.int64(3)}})
    )
    solvers = attempted(make_unit(model="counting"), {})["solvers"]
    assert json.dumps(solvers) == '{"mine": 3}'


def test_threads_are_what_is_asked_for(acting: Callable[..., Any]) -> None:
    def threads_now() -> set[int]:
        return {entry["num_threads"] for entry in threadpool_info()}

    seen: list[set[int]] = []
    before = threads_now()
    for threads in (1, 2):
        acting(lambda: seen.append(threads_now()), blas_threads=threads)
    assert seen == [{1}, {1}, {2}, {2}]  # the model is warmed up before its fit
    assert threads_now() == before


def test_a_fit_that_would_not_fit_is_refused_before_it_starts(
    make_unit: MakeUnit, add_model: AddModel
) -> None:
    fitted = []

    class Large(Base):
        def __init__(self, size: int = 1) -> None:
            self.size = size

        def act(self, X: np.ndarray) -> None:
            fitted.append(len(X))

        @classmethod
        def memory_estimate(
            cls, n_samples: int, n_features: int, n_outputs: int = 1, *, size: int = 1
        ) -> int:
            return n_samples * n_features * size * 10**6

    add_model("large", Large)
    limit, large = (
        {"memory_limit": 2 * 10**9},
        make_unit(model="large", params={"size": 20}),
    )
    reason = sentence(
        "execution.limits.would-need-too-much-memory", estimate="3.6", limit=2
    )
    result = attempted(large, {}, **limit)
    assert (result["status"], result["reason"], result["limit"]) == (
        "out-of-memory",
        reason,
        2 * 10**9,
    )
    search = make_unit("search", model="large", grid={"size": [1, 20]})
    assert attempted(search, {}, **limit)["status"] == "out-of-memory"
    assert not fitted
    assert (
        attempted(make_unit(model="large"), {}, **limit)["status"]
        == attempted(large, {})["status"]
        == "ok"
    )
