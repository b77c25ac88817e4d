"""Loading by name: which source wins; checksums, also without rows; the status of data sets, the
import of files.
"""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sentences import pattern

from elmbench.datasets import load as module
from elmbench.datasets.dataset import array_checksum
from elmbench.datasets.fetch import import_file
from elmbench.datasets.find import dataset_statuses
from elmbench.datasets.load import (
    Identities,
    Identity,
    identify,
    load_compared,
    load_dataset,
    load_from_spec,
)
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs

WDBC = load_dataset_specs()["wdbc"]


def test_wdbc_without_any_file() -> None:
    data = load_dataset("WDBC")
    assert data.name == "wdbc"
    assert data.X.shape == (569, 30)
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int8
    assert (data.y == 1).sum() == 212  # malignant
    assert (data.y == -1).sum() == 357
    assert data.classes == ("1", "2")
    assert data.source == "scikit-learn load_breast_cancer"


def test_a_file_comes_before_the_bundled_set(
    folder: Path, wdbc_lines: list[str]
) -> None:
    text = "\n".join(
        [
            wdbc_lines[0],
            "0" + wdbc_lines[1][wdbc_lines[1].index(",") :],
            *wdbc_lines[2:],
        ]
    )
    (folder / "wdbc.csv").write_text(text)
    data = load_dataset("wdbc", folder, other_data=True)
    assert data.X[0, 0] == 0
    assert data.checksum != load_dataset("wdbc").checksum


def test_the_data_directory_may_come_from_the_environment_and_its_files_may_be_links(
    folder: Path, tmp_path: Path, wdbc_lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere.csv").write_text("\n".join(wdbc_lines))
    (folder / "wdbc.csv").symlink_to(tmp_path / "elsewhere.csv")
    monkeypatch.setenv("ELMBENCH_DATA_DIR", str(folder))
    data = load_dataset("wdbc")
    assert data.source == str(folder / "wdbc.csv")
    assert data.checksum == load_dataset("wdbc", tmp_path / "data").checksum
    assert data.feature_names[0] == "V1"


def test_a_known_set_without_a_reachable_source_is_unavailable(folder: Path) -> None:
    with pytest.raises(DataUnavailableError, match="'sylva' is not here") as error:
        load_dataset("Sylva", folder)
    assert "elmbench data fetch sylva" in str(error.value.next_step)
    assert "sylva[.train|.test].<csv|" in str(error.value.expected)


def test_checksum_sees_every_part_and_no_layout() -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.array([1, -1, 1], dtype=np.int8)
    first = array_checksum(X, y)
    assert array_checksum(np.asfortranarray(X), y) == first
    assert array_checksum(X.astype(">f8"), y.astype(np.int64)) == first
    assert array_checksum(np.where(X == 0, -0.0, X), y) == first
    changed = X.copy()
    changed[2, 1] = np.nextafter(5.0, 6.0)
    assert (
        len(
            {
                first,
                array_checksum(changed, y),
                array_checksum(X, -y),
                array_checksum(X.reshape(2, 3), y),
            }
        )
        == 4
    )
    assert array_checksum(X, y, "run 1") != first


def test_the_status_of_every_data_set_names_its_source(
    folder: Path, wdbc_lines: list[str]
) -> None:
    (folder / "diabetes.csv").write_text("a,target\n1,0\n")
    (folder / "sonar.csv").symlink_to(folder / "gone.csv")
    result = {entry.name: entry for entry in dataset_statuses(data_dir=folder)}
    assert set(result) == set(load_dataset_specs())
    assert (result["wdbc"].state, result["wdbc"].where) == (
        "bundled",
        "scikit-learn load_breast_cancer",
    )
    assert (result["mackey-glass"].state, result["mackey-glass"].next_step) == (
        "generated",
        "",
    )
    assert (result["diabetes"].state, result["diabetes"].where) == (
        "file",
        str(folder / "diabetes.csv"),
    )
    assert result["sonar"].state == "bad"
    assert "gone.csv" in result["sonar"].where
    assert result["sylva"].state == "to fetch"
    assert result["sylva"].where == "OpenML 1036"
    assert result["sylva"].next_step == "elmbench data fetch sylva"
    assert result["webspam"].where == "LIBSVM webspam_wc_normalized_trigram.svm.xz"


def test_the_status_of_named_data_sets_alone(folder: Path) -> None:
    assert [entry.name for entry in dataset_statuses(["WDBC", "Face"], folder)] == [
        "wdbc",
        "orl-faces",
    ]
    with pytest.raises(ElmbenchError, match="unknown data set"):
        dataset_statuses(["nothing"])
    with pytest.raises(ElmbenchError, match="is not a folder"):
        dataset_statuses(data_dir=folder / "no")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_file_is_checked_and_copied(
    folder: Path, tmp_path: Path, wdbc_lines: list[str], ending: str
) -> None:
    text = "\n".join(wdbc_lines).encode()
    given = tmp_path / f"from my disk{ending}"
    given.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    data = import_file("WDBC", given, folder)
    assert data.checksum == load_dataset("wdbc").checksum
    assert [path.name for path in folder.iterdir()] == [f"wdbc{ending}"]
    assert load_dataset("wdbc", folder).source == str(folder / f"wdbc{ending}")
    assert dataset_statuses(["wdbc"], folder)[0].state == "file"


def test_a_training_and_a_test_part(folder: Path, tmp_path: Path) -> None:
    names = [f"x{index}" for index in range(10_000)]
    for part in ("tr", "te"):
        frame = pd.DataFrame(
            np.random.default_rng(0).normal(size=(100, 10_000)), columns=names
        )
        frame.assign(target=np.repeat([-1, 1], [56, 44])).to_parquet(
            tmp_path / f"{part}.parquet"
        )
    import_file(
        "arcene",
        tmp_path / "tr.parquet",
        folder,
        test=tmp_path / "te.parquet",
        other_data=True,
    )
    assert sorted(path.name for path in folder.iterdir()) == [
        "arcene.test.parquet",
        "arcene.train.parquet",
    ]
    splits = load_dataset("arcene", folder, other_data=True).splits
    assert len(splits["train"]) == 100


def test_a_file_that_is_not_the_data_set_is_not_copied(
    folder: Path, tmp_path: Path, wdbc_lines: list[str]
) -> None:
    (tmp_path / "short.csv").write_text("\n".join(wdbc_lines[:-1]))
    with pytest.raises(ElmbenchError, match="568 rows"):
        import_file("wdbc", tmp_path / "short.csv", folder)
    (tmp_path / "wdbc.data").write_text("\n".join(wdbc_lines))
    with pytest.raises(ElmbenchError, match=pattern("datasets.status.format-unknown")):
        import_file("wdbc", tmp_path / "wdbc.data", folder)
    with pytest.raises(ElmbenchError, match="is not a file"):
        import_file("wdbc", tmp_path / "no.csv", folder)
    assert list(folder.iterdir()) == []


def test_a_second_file_of_a_data_set_is_not_imported(
    folder: Path, tmp_path: Path, wdbc_lines: list[str]
) -> None:
    (folder / "wdbc.csv").write_text("mine")
    (tmp_path / "new.csv").write_text("\n".join(wdbc_lines))
    import_file("wdbc", tmp_path / "new.csv", folder)  # the same name: replaced
    frame = pd.read_csv(tmp_path / "new.csv")
    frame.to_parquet(tmp_path / "new.parquet")
    with pytest.raises(ElmbenchError, match=r"holds wdbc\.csv for wdbc already"):
        import_file("wdbc", tmp_path / "new.parquet", folder)
    assert [path.name for path in folder.iterdir()] == ["wdbc.csv"]


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the data sets that are loaded for a checksum from now on."""
    names: list[str] = []

    def note(source: Any, request: Any, other_data: bool) -> Any:
        names.append(request.spec.name)
        return load_compared(source, request, other_data)

    monkeypatch.setattr(module, "load_compared", note)
    return names


@pytest.fixture
def file(folder: Path, wdbc_lines: list[str]) -> Path:
    path = folder / "wdbc.csv"
    path.write_text("\n".join(wdbc_lines))
    return path


def test_the_second_call_loads_nothing(file: Path, loaded: list[str]) -> None:
    first = identify(WDBC, file.parent)
    assert first.checksum == load_from_spec(WDBC, file.parent).checksum
    assert identify(WDBC, file.parent) == first
    assert identify(WDBC, file.parent) == first
    assert loaded == ["wdbc"]
    # The bundled rows are others that happen to be the same.
    assert identify(WDBC) == first
    assert loaded == ["wdbc"] * 2


@pytest.mark.parametrize(
    "name", ["waveform-generated", "mackey-glass", "sparse-10k[density=0.01]"]
)
def test_redrawn_data_are_not_drawn(name: str, loaded: list[str]) -> None:
    spec = load_dataset_specs().find(name)
    assert identify(spec) == identify(spec) != identify(spec, run=1)
    assert loaded == []


def test_a_plan_looks_up_each_data_set_once(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups: list[DatasetSpec] = []

    def note_lookup(spec: DatasetSpec, *request: object) -> Identity:
        lookups.append(spec)
        return Identity(f"checksum {len(lookups)}")

    monkeypatch.setattr(module, "identify", note_lookup)
    identities = Identities(file.parent)
    first = identities.of(WDBC, run=0, other_data=False)
    assert identities.of(WDBC, run=0, other_data=False) == first
    other_spec = WDBC.model_copy(update={"positive": ("B",)})
    others = [
        identities.of(WDBC, run=1, other_data=False),
        identities.of(WDBC, run=0, other_data=True),
        identities.of(other_spec, run=0, other_data=False),
    ]
    assert lookups == [WDBC, WDBC, WDBC, other_spec]
    assert len({first, *others}) == len(lookups)


def test_data_that_are_not_here() -> None:
    with pytest.raises(DataUnavailableError, match="is not here"):
        identify(load_dataset_specs()["waveform"])


def test_a_file_that_changed_is_loaded_again(
    file: Path, wdbc_lines: list[str], loaded: list[str]
) -> None:
    first, times = identify(WDBC, file.parent), file.stat()
    changed = "\n".join(
        [
            wdbc_lines[0],
            wdbc_lines[1].replace("17.990000", "17.990001"),
            *wdbc_lines[2:],
        ]
    )
    assert len(changed) == times.st_size
    file.write_text(changed)
    # As `cp -p`, `rsync -t` and `touch -r` do.
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = identify(WDBC, file.parent)
    assert (
        second.checksum == load_from_spec(WDBC, file.parent).checksum != first.checksum
    )
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    assert identify(WDBC, file.parent) == second
    assert loaded == ["wdbc"] * 2
    file.write_text("\n".join(wdbc_lines[:-1]))
    with pytest.raises(ElmbenchError, match="568 rows"):
        identify(WDBC, file.parent)
    assert (
        len(
            json.loads(
                (Path(os.environ["ELMBENCH_CACHE_DIR"]) / "checksums.json").read_text()
            )
        )
        == 1
    )


def test_a_file_that_changes_while_it_is_read_has_no_checksum(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_and_change(*request: Any) -> Any:
        data = load_compared(*request)
        file.write_text(file.read_text().replace("17.990000", "17.990001"))
        return data

    monkeypatch.setattr(module, "load_compared", load_and_change)
    with pytest.raises(ElmbenchError, match="has changed while it was read"):
        identify(WDBC, file.parent)
    assert not (Path(os.environ["ELMBENCH_CACHE_DIR"]) / "checksums.json").exists()


@pytest.mark.parametrize("what", ["spec", "loader", "packages"])
def test_whatever_else_the_rows_depend_on(
    file: Path, loaded: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    identify(WDBC, file.parent)
    assert identify(
        WDBC.model_copy(update={"title": "another", "notes": ()}), file.parent
    )
    assert loaded == ["wdbc"]
    spec = WDBC
    if what == "spec":
        spec = WDBC.model_copy(update={"positive": ("1",), "fingerprint": None})
    elif what == "loader":
        monkeypatch.setattr(module, "LOADER_VERSION", 0)
    else:
        monkeypatch.setattr(module, "version", lambda name: "0")
    assert (
        identify(spec, file.parent).checksum
        == load_from_spec(spec, file.parent).checksum
    )
    assert loaded == ["wdbc"] * 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", None])
def test_a_damaged_index_is_built_again(
    file: Path, loaded: list[str], content: bytes | None
) -> None:
    first = identify(WDBC, file.parent)
    index = Path(os.environ["ELMBENCH_CACHE_DIR"]) / "checksums.json"
    if content is None:
        ((name, entry),) = json.loads(index.read_text()).items()
        content = json.dumps({name: [*entry[:2], None]}).encode()
    index.write_bytes(content)
    for _ in range(2):
        assert identify(WDBC, file.parent) == first
    assert loaded == ["wdbc"] * 2


def test_a_cache_that_cannot_be_written_costs_time_only(
    file: Path, loaded: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "in the way").write_text("")
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "in the way"))
    assert identify(WDBC, file.parent) == identify(WDBC, file.parent)
    assert loaded == ["wdbc"] * 2
