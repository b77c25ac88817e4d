"""Every data set of `datasets.yaml`: the real files where they are, synthetic files of the right
shape elsewhere.
"""

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sentences import sentence

from elmbench.datasets.load import load_dataset
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs

pytestmark = pytest.mark.exhaustive

MANIFEST = Path(os.environ.get("ELMBENCH_DATA_DIR", "nowhere")) / "manifest.json"
ENTRIES = json.loads(MANIFEST.read_text()) if MANIFEST.is_file() else []


@pytest.mark.parametrize("name", sorted({entry["dataset"] for entry in ENTRIES}))
def test_real_files_have_the_registered_shape_and_classes(
    real_data: Path, name: str
) -> None:
    entries = [entry for entry in ENTRIES if entry["dataset"] == name]
    spec = load_dataset_specs()[name]
    data = load_dataset(name, real_data)
    counted = (
        spec.training_part if len(entries) == 1 and spec.training_part else spec.shape
    )
    assert counted.instances == sum(entry["instances"] for entry in entries)
    assert counted.features == entries[0]["features"]
    classes: Counter[str] = Counter()
    for entry in entries:
        if isinstance(entry["classes"], dict):
            classes.update(
                {
                    label.removeprefix("+"): count
                    for label, count in entry["classes"].items()
                }
            )
    assert classes == (counted.classes or {}) or name == "orl-faces"
    prepared = spec.prepared or counted
    assert data.X.shape == (prepared.instances, prepared.features)
    assert np.isfinite(data.X.data if sp.issparse(data.X) else data.X).all()
    assert sp.issparse(data.X) == spec.sparse
    if len(entries) == 2:
        parts = {
            ("test" if ".test." in entry["file"] else "train"): entry
            for entry in entries
        }
        for part, entry in parts.items():
            counts = Counter(data.y[data.splits[part]])
            assert sorted(counts.values()) == sorted(_merged(entry["classes"], spec))


def _merged(classes: dict[str, int], spec: DatasetSpec) -> list[int]:
    if not spec.positive:
        return list(classes.values())
    positives = sum(
        count
        for label, count in classes.items()
        if label.removeprefix("+") in spec.positive
    )
    return [positives, sum(classes.values()) - positives]


def test_variants_share_their_file(real_data: Path) -> None:
    binary, digits = (
        load_dataset("usps", real_data),
        load_dataset("usps-digits", real_data),
    )
    assert binary.source == digits.source
    assert (binary.classes, digits.classes) == (("rest", "0"), tuple("0123456789"))
    np.testing.assert_array_equal(binary.y == 1, digits.y == 0)
    letters, waves = (
        load_dataset("isolet-letters", real_data),
        load_dataset("waveform-classes", real_data),
    )
    np.testing.assert_array_equal(
        load_dataset("isolet", real_data).y == 1, letters.y < 2
    )
    np.testing.assert_array_equal(
        load_dataset("waveform", real_data).y == 1, waves.y == 1
    )


def test_abalone7_is_abalone_with_its_sex_spread(real_data: Path) -> None:
    # One row of the two public files differs from the other in nothing but its layout.
    rings, seven = (
        load_dataset("abalone", real_data),
        load_dataset("abalone7", real_data),
    )
    np.testing.assert_array_equal(seven.y == 1, rings.y == 7)
    np.testing.assert_array_equal(seven.X[:, 3:], rings.X[:, 1:])
    # F, I, M.
    np.testing.assert_array_equal(seven.X[:, :3] @ [2.0, 3.0, 1.0], rings.X[:, 0])


def labels_for(spec: DatasetSpec, words: dict[str, str]) -> np.ndarray:
    """Labels with the counts of a spec; unknown counts share what is left."""
    n = spec.shape.instances
    classes = spec.shape.classes
    if isinstance(classes, int):
        return (np.arange(n) % classes + 1).astype(str)
    left = n - sum(count or 0 for count in classes.values())
    unknown = [label for label, count in classes.items() if count is None]
    sizes = {label: count or left // len(unknown) for label, count in classes.items()}
    if unknown:
        sizes[unknown[0]] += n - sum(sizes.values())
    return np.concatenate(
        [np.full(size, words.get(label, label)) for label, size in sizes.items()]
    )


def write_dense(path: Path, spec: DatasetSpec, target: np.ndarray) -> None:
    """Write rows of small integers: Parquet for large sets, CSV for the others."""
    n = len(target)
    columns = {
        f"x{index}": (np.arange(n) * (index + 3) % 101).astype(np.int8)
        for index in range(spec.shape.features)
    }
    if spec.name == "oil-spill":
        # The constant column that the paper does not count.
        columns["x22"] = np.zeros(n, dtype=np.int8)
    frame = pd.DataFrame({**columns, "target": target})
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(
        path, index=False
    )


@pytest.mark.parametrize(
    ("name", "form", "words"),
    [
        *((name, "csv", {}) for name in ("sonar", "banknote", "oil-spill", "libras-move",
        "spectrometer", "balance")),
        ("cpu-act", "csv", {}), ("forest-cover", "parquet", {}), ("protein-homology", "parquet",
        {}),
        ("sonar", "parquet", {"Mine": "M", "Rock": "R"}), ("banknote", "parquet", {"1": "0",
        "2": "1"}),
        ("protein-homology", "parquet", {"-1": "0"}), ("oil-spill", "parquet", {"-1": "negative",
        "1": "positive"}),
    ],
)  # fmt: skip
def test_a_set_that_is_not_here_loads_when_its_file_is_dropped_in(
    folder: Path, name: str, form: str, words: dict[str, str]
) -> None:
    spec = load_dataset_specs()[name]
    regression = spec.task == "regression"
    target = (
        np.linspace(0, 1, spec.shape.instances)
        if regression
        else labels_for(spec, words)
    )
    write_dense(folder / f"{name}.{form}", spec, target)
    data = load_dataset(name, folder)
    assert data.X.shape == (spec.public.instances, spec.public.features)
    assert not any("after the preparation" in note for note in data.notes)
    if not regression:
        assert (
            name == "balance" or (data.y == 1).sum() == spec.papers["eem"]["positives"]
        )
    if form == "csv":
        write_dense(folder / f"{name}.csv", spec, target[:-1])
        with pytest.raises(ElmbenchError, match="rows"):
            load_dataset(name, folder)


def test_another_width_after_the_preparation_is_noted(folder: Path) -> None:
    spec = load_dataset_specs()["oil-spill"]
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(937, 49)),
        columns=[f"v{index}" for index in range(49)],
    )
    frame.assign(target=labels_for(spec, {})).to_csv(
        folder / "oil-spill.csv", index=False
    )
    data = load_dataset("oil-spill", folder)
    assert data.X.shape == (937, 49)
    width, unknown = data.remarks
    assert width.startswith(
        sentence(
            "datasets.status.shape-differs",
            rows=937,
            features=49,
            public_rows=937,
            public_features=48,
        )
    )
    assert unknown == sentence(
        "datasets.fingerprint.only-counts-compared", file="oil-spill.csv"
    )
