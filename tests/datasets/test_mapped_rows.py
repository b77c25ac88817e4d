"""Rows of a large file that the processes of a comparison share."""

import gc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from user_files import described

from elmbench import files
from elmbench.datasets import mapped_rows
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.mapped_rows import share_rows
from elmbench.datasets.sources.file import FileSource, _described_tables
from elmbench.files import machine_name
from elmbench.specs.datasets import DatasetSpec

N = 60
#: A data frame with words, a missing number and dates, and one of numbers alone.
NUMBERS = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 3)), columns=[*"abc"])
MIXED = NUMBERS.assign(
    b=NUMBERS["b"].where(np.arange(N) != 5),
    kind=np.array(["good", "bad"])[np.arange(N) % 2],
    day=pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d"),
)


@pytest.fixture(params=["numbers", "mixed"])
def spec(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> DatasetSpec:
    """The spec of a file that counts as large."""
    monkeypatch.setattr(mapped_rows, "LEAST_VALUES", 1)
    frame = NUMBERS if request.param == "numbers" else MIXED
    labels = np.array(["yes", "no", "no"])[np.arange(N) % 3]
    return described(tmp_path, frame.assign(target=labels), "target")


def shared_file(spec: DatasetSpec) -> Path | None:
    (source,) = spec.sources
    assert isinstance(source, FileSource)
    return source.shared


def test_shared_rows_are_those_of_the_file(spec: DatasetSpec) -> None:
    read = load_from_spec(spec)
    share_rows(spec)
    assert shared_file(spec) is not None
    shared = load_from_spec(spec)
    assert shared.checksum == read.checksum
    assert shared.columns == read.columns
    assert shared.remarks == read.remarks
    assert shared.y.tolist() == read.y.tolist()
    pd.testing.assert_frame_equal(pd.DataFrame(shared.X), pd.DataFrame(read.X))
    # They are mapped, not read.
    assert isinstance(shared.y, np.memmap)


def test_notes_that_are_added_later_are_those_of_the_shared_rows(
    spec: DatasetSpec,
) -> None:
    share_rows(spec)
    later = spec.model_copy(update={"notes": (*spec.notes, "a later note")})
    assert "a later note" in load_from_spec(later).remarks


def test_the_table_of_the_reading_process_is_freed(spec: DatasetSpec) -> None:
    n_tables = len(_described_tables)
    share_rows(spec)
    assert len(_described_tables) == n_tables - 1


def test_the_shared_file_is_deleted_with_its_source(spec: DatasetSpec) -> None:
    share_rows(spec)
    path = shared_file(spec)
    assert path is not None
    (source,) = spec.sources
    object.__setattr__(spec, "sources", ())
    assert path.is_file()
    del source
    gc.collect()
    assert not path.exists()


def test_rows_are_read_if_the_shared_file_is_gone(spec: DatasetSpec) -> None:
    share_rows(spec)
    path = shared_file(spec)
    assert path is not None
    path.unlink()
    assert shared_file(spec) is None
    assert not isinstance(load_from_spec(spec).y, np.memmap)


def test_rows_of_few_values_are_not_shared(
    spec: DatasetSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped_rows, "LEAST_VALUES", 1_000_000)
    share_rows(spec)
    assert shared_file(spec) is None


def test_a_full_disk_leaves_the_rows_to_each_process(
    spec: DatasetSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("joblib.dump", fail)
    share_rows(spec)
    assert shared_file(spec) is None
    assert len(load_from_spec(spec).y) == N


def test_the_file_of_a_killed_process_is_deleted(
    spec: DatasetSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        # No process has this number.
        name = f"{machine_name()}-{2**30}"
        earlier.setattr(files, "process_name", lambda: name)
        share_rows(spec)
    abandoned = shared_file(spec)
    assert abandoned is not None
    assert abandoned.is_file()
    share_rows(spec)
    assert not abandoned.exists()
    assert shared_file(spec) is not None
