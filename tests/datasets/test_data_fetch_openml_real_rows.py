"""Rows of public files, served as OpenML serves them, come out as from the files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from loopback import Server, add_openml, arff_text
from openml_toy import Use

from elmbench.datasets.fetch import fetch
from elmbench.datasets.load import load_dataset


def real_arff(frame: pd.DataFrame, kinds: dict[str, str] | None = None) -> str:
    kinds = kinds or {}
    return arff_text(
        list(frame.columns),
        [kinds.get(str(name), "NUMERIC") for name in frame.columns],
        [list(row) for row in frame.itertuples(index=False)],
    )


@pytest.mark.parametrize(
    ("name", "number", "target", "words"),
    [
        ("calhousing", 537, "median_house_value", {}),
        ("diabetes", 37, "class", {"0": "tested_negative", "1": "tested_positive"}),
        ("ionosphere", 59, "class", {}),
        ("abalone", 183, "Class_number_of_rings", {}),
        ("breast-cancer", 15, "Class", {"2": "benign", "4": "malignant"}),
        ("mammography", 310, "class", {"-1": "a", "1": "b"}),
    ],
)
def test_real_rows_come_out_as_from_the_public_file(
    real_data: Path, openml_server: Server, name: str, number: int, target: str, words: dict[str, str]
) -> None:
    frame = pd.read_csv(real_data / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    frame = frame.rename(columns={"target": target}).replace({target: words})
    kinds = {} if name == "calhousing" else {target: "{" + ",".join(sorted(set(frame[target]))) + "}"}
    if "Sex" in frame:
        kinds["Sex"] = "{M,F,I}"
    add_openml(openml_server, number, real_arff(frame, kinds), target=target)
    fetch(name)
    fetched, public = load_dataset(name), load_dataset(name, real_data)
    assert fetched.source == f"OpenML {number}"
    assert fetched.checksum == public.checksum


def test_abalone7_from_the_rows_of_abalone(real_data: Path, openml_server: Server, use_specs: Use) -> None:
    from elmbench.specs.datasets import load_dataset_specs
    from elmbench.specs.files import read_yaml, spec_root

    entry = read_yaml(spec_root() / "datasets.yaml")["abalone7"]
    assert load_dataset_specs()["abalone7"].sources[1].kind == "openml"
    use_specs({"abalone7": {**entry, "sources": entry["sources"][1:]}})
    frame = pd.read_csv(real_data / "abalone.csv.gz", dtype=str)
    rings = "{" + ",".join(sorted(set(frame["target"]))) + "}"
    add_openml(openml_server, 183, real_arff(frame, {"Sex": "{M,F,I}", "target": rings}), target="target")
    fetch("abalone7")
    assert load_dataset("abalone7").checksum == load_dataset("abalone7", real_data).checksum


@pytest.mark.exhaustive
def test_the_six_parts_of_mfeat(real_data: Path, openml_server: Server) -> None:
    frame = pd.read_csv(real_data / "mfeat.csv.gz", dtype=str)
    start = 0
    labels = (frame["target"].astype(int) + 1).astype(str)
    for number, width in ((12, 216), (14, 76), (16, 64), (18, 6), (40979, 240), (22, 47)):
        part = frame.iloc[:, start : start + width].assign(**{"class": labels})
        add_openml(openml_server, number, real_arff(part, {"class": "{1,2,3,4,5,6,7,8,9,10}"}))
        start += width
    fetch("mfeat")
    assert load_dataset("mfeat").checksum == load_dataset("mfeat", real_data).checksum
