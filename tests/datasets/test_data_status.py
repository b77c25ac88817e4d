"""The origin of each data set, and the import of a user's file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from elmbench.datasets.load import load_dataset
from elmbench.datasets.status import import_file, status
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import load_dataset_specs


def test_every_data_set_says_where_it_would_come_from(folder: Path, wdbc_lines: list[str]) -> None:
    (folder / "diabetes.csv").write_text("a,target\n1,0\n")
    (folder / "sonar.csv").symlink_to(folder / "gone.csv")
    result = {entry.name: entry for entry in status(data_dir=folder)}
    assert set(result) == set(load_dataset_specs())
    assert (result["wdbc"].state, result["wdbc"].where) == ("bundled", "scikit-learn load_breast_cancer")
    assert (result["mackey-glass"].state, result["mackey-glass"].next_step) == ("generated", "")
    assert (result["diabetes"].state, result["diabetes"].where) == ("file", str(folder / "diabetes.csv"))
    assert result["sonar"].state == "bad"
    assert "gone.csv" in result["sonar"].where
    assert result["sylva"].state == "to fetch"
    assert result["sylva"].where == "OpenML 1036"
    assert result["sylva"].next_step == "elmbench data fetch sylva"
    assert result["webspam"].where == "LIBSVM webspam_wc_normalized_trigram.svm.xz"


def test_status_of_some(folder: Path) -> None:
    assert [entry.name for entry in status(["WDBC", "Face"], folder)] == ["wdbc", "orl-faces"]
    with pytest.raises(ElmbenchError, match="unknown data set"):
        status(["nothing"])
    with pytest.raises(ElmbenchError, match="does not exist"):
        status(data_dir=folder / "no")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_file_is_checked_and_copied(folder: Path, tmp_path: Path, wdbc_lines: list[str], ending: str) -> None:
    import gzip

    text = "\n".join(wdbc_lines).encode()
    given = tmp_path / f"from my disk{ending}"
    given.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    data = import_file("WDBC", given, folder)
    assert data.checksum == load_dataset("wdbc").checksum
    assert [path.name for path in folder.iterdir()] == [f"wdbc{ending}"]
    assert load_dataset("wdbc", folder).source == str(folder / f"wdbc{ending}")
    assert status(["wdbc"], folder)[0].state == "file"


def test_a_training_and_a_test_part(folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for part in ("tr", "te"):
        frame = pd.DataFrame(rng.normal(size=(100, 10_000)), columns=[f"x{index}" for index in range(10_000)])
        frame.assign(target=np.repeat([-1, 1], [56, 44])).to_parquet(tmp_path / f"{part}.parquet")
    import_file("arcene", tmp_path / "tr.parquet", folder, test=tmp_path / "te.parquet", other_data=True)
    assert sorted(path.name for path in folder.iterdir()) == ["arcene.test.parquet", "arcene.train.parquet"]
    splits = load_dataset("arcene", folder, other_data=True).splits
    assert splits is not None
    assert len(splits["train"]) == 100


def test_a_file_that_is_not_the_data_set_is_not_copied(folder: Path, tmp_path: Path, wdbc_lines: list[str]) -> None:
    (tmp_path / "short.csv").write_text("\n".join(wdbc_lines[:-1]))
    with pytest.raises(ElmbenchError, match="568 rows"):
        import_file("wdbc", tmp_path / "short.csv", folder)
    (tmp_path / "wdbc.data").write_text("\n".join(wdbc_lines))
    with pytest.raises(ElmbenchError, match="does not tell its format by its ending"):
        import_file("wdbc", tmp_path / "wdbc.data", folder)
    with pytest.raises(ElmbenchError, match="is not a file"):
        import_file("wdbc", tmp_path / "no.csv", folder)
    assert list(folder.iterdir()) == []


def test_another_file_in_its_place_is_not_touched(folder: Path, tmp_path: Path, wdbc_lines: list[str]) -> None:
    (folder / "wdbc.csv").write_text("mine")
    (tmp_path / "new.csv").write_text("\n".join(wdbc_lines))
    import_file("wdbc", tmp_path / "new.csv", folder)  # the same name: replaced
    frame = pd.read_csv(tmp_path / "new.csv")
    frame.to_parquet(tmp_path / "new.parquet")
    with pytest.raises(ElmbenchError, match=r"holds wdbc\.csv for wdbc already"):
        import_file("wdbc", tmp_path / "new.parquet", folder)
    assert [path.name for path in folder.iterdir()] == ["wdbc.csv"]
