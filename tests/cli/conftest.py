"""The command line in this process, with a worker that answers at once, and results of one real
run.
"""

import json
import pickle
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import predictions_of_fit

from elmbench.cli import main
from elmbench.cli.options import state
from elmbench.execution.executors import Answer, PackedTask
from elmbench.specs import catalogue, published
from elmbench.specs.limits import Limits

FIGURES = """dataset,model,metric,value,std,note
WDBC,ELM,mcc,0.92,0.01,
WDBC,ELM,train_seconds,0.02,,
WDBC,K-ELM,mcc,0.5,0.01,a doubt
"""


@dataclass(frozen=True)
class Outcome:
    """The result of a command: its exit code and its output."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def reset_state() -> None:
    """Forget the options of an earlier command of this process."""
    for name, value in vars(type(state)()).items():
        setattr(state, name, value)


@pytest.fixture
def elmbench(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[..., Outcome]]:
    """Run a command in an empty folder, beside no committed results: `elmbench("run", "table4",
    code=0)`.

    It must end with the exit code, unless `code` is None.
    """
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("elmbench.results.folders.committed_results", lambda: None)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    handler = signal.getsignal(signal.SIGTERM)

    def run(*words: object, code: int | None = 0) -> Outcome:
        reset_state()
        capsys.readouterr()
        exit_code: Any = 0
        try:
            main([str(word) for word in words])
        except SystemExit as ended:
            exit_code = ended.code
        outcome = Outcome(int(exit_code or 0), *capsys.readouterr())
        assert code in (None, outcome.code), outcome
        return outcome

    yield run
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture
def shop(elmbench: Callable) -> Path:
    """A file of 60 customers in the folder of the command."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.normal(size=60),
            "colour": ["red", "green"] * 30,
            "day": range(60),
        }
    )
    frame.assign(buys=["yes", "no", "no"] * 20).to_csv("shop.csv", index=False)
    return Path("shop.csv")


@pytest.fixture
def use_tree(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Path]]:
    """Take experiments from another folder than the suite's."""

    def forget() -> None:
        catalogue.load_catalogue.cache_clear()
        published.read_published.cache_clear()

    def use(root: Path) -> Path:
        forget()
        monkeypatch.setattr(catalogue, "spec_root", lambda: root)
        return root

    yield use
    forget()


@pytest.fixture
def toy(
    write_tree: Callable[..., Path],
    experiment: dict[str, Any],
    use_tree: Callable[[Path], Path],
) -> Callable[..., Path]:
    """Make the toy experiment the only one there is, with figures of its own; return its file."""

    def make(**changes: Any) -> Path:
        content = experiment | {"published": {"values": "one.csv"}} | changes
        root = write_tree(content)
        (root / "experiments" / "toy" / "one.csv").write_text(FIGURES)
        return use_tree(root) / "experiments" / "toy" / "one.yaml"

    return make


@pytest.fixture
def one(toy: Callable[..., Path]) -> Path:
    """The toy experiment as it is; its file."""
    return toy()


def answer(unit: dict[str, Any]) -> dict[str, Any]:
    """A result as a healthy model gives it."""
    if unit["kind"] == "description":
        return {
            "status": "ok",
            "reason": "",
            "measured": {"features": 30, "instances": 569, "classes": 2},
        }
    if "grid" in unit:
        params = {name: values[0] for name, values in unit["grid"].items()}
        return {
            "status": "ok",
            "reason": "",
            "params": params,
            "seconds": 0.25,
            "scores": [],
        }
    mcc = 0.0 if unit["model"] == "dummy" else 0.92
    times = {"fit_seconds": 0.01, "search_seconds": 0.25, "predict_seconds": 0.001}
    sizes = {"n_units": 10, "condition": 100.0, "n_train": 380}
    return {
        "status": "ok",
        "reason": "",
        "params": {"C": 8.0},
        "predictions": predictions_of_fit(unit, mcc),
        "n_test": 200 if unit["dataset"]["name"] == "wdbc" else 20,
        **times,
        **sizes,
    }


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Answer work in this process; a model named in the returned dictionary ends as it says, or
    does what it says.
    """
    endings: dict[str, Any] = {}

    class Answering:
        def __init__(self, *_: Any) -> None:
            pass

        def warm(self) -> None:
            endings.get("warm", bool)()

        def start_cost(self, task: PackedTask) -> int:
            return 0

        def ask(self, task: PackedTask, limits: Limits) -> Answer:
            unit = pickle.loads(task.pickled_task).content()
            ending = endings.get(unit.get("model", ""), {})
            return Answer(answer(unit) | (ending(unit) if callable(ending) else ending))

        def stop(self) -> None:
            pass

    monkeypatch.setattr("elmbench.execution.executors.local.LimitedWorker", Answering)
    # Hundreds of small files: waiting for the disk after each would take most of the time.
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    return endings


@pytest.fixture(scope="session")
def one_real_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of a run that went through a worker process: ELM and K-ELM on WDBC, and
    facts of the data.
    """
    folder = tmp_path_factory.mktemp("real") / "results"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ELMBENCH_DATA_DIR", raising=False)
        reset_state()
        words = "run table4 table7 table2 --profile ci -d wdbc -m elm -m k-elm -q --results-dir"
        with pytest.raises(SystemExit) as ended:
            main([*words.split(), str(folder)])
        assert not ended.value.code
    return folder


@pytest.fixture
def real(one_real_run: Path, tmp_path: Path) -> Path:
    """A copy of the real run's results folder."""
    return Path(shutil.copytree(one_real_run, tmp_path / "results"))
