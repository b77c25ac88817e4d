"""Fingerprints: another print of the same rows is let through, other rows are refused or said to be
others.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sentences import pattern, sentence

from elmbench.datasets.dataset import Dataset, differences
from elmbench.datasets.fetch import import_file
from elmbench.datasets.fingerprints import fingerprint_of
from elmbench.datasets.load import identify, load_dataset, load_from_spec
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import load_dataset_specs

pytestmark = pytest.mark.exhaustive

RNG = np.random.default_rng
SPECS = load_dataset_specs()
KNOWN = [name for name, spec in SPECS.items() if spec.fingerprint]
OWN = [
    name
    for name in KNOWN
    if SPECS[name].generator or SPECS[name].sources[0].kind == "scikit-learn"
]
GIVEN = os.environ.get("ELMBENCH_DATA_DIR")


@pytest.mark.parametrize("name", KNOWN)
def test_every_data_set_has_its_fingerprint(name: str) -> None:
    expected = SPECS[name].fingerprint
    try:
        data = load_from_spec(SPECS[name], None if name in OWN else GIVEN)
    except DataUnavailableError:
        pytest.skip(f"there is no file of {name}")
    assert differences(data, expected) == ()
    # Targets that belong to other rows are noticed in every set.
    assert differences(replace(data, y=RNG(0).permutation(data.y)), expected)


def made(kind: str) -> Dataset:
    """Return rows whose columns depend on each other and on the target, with an official split."""
    rng = RNG(8)
    hidden = rng.normal(size=(300, 1))
    X: Any = (hidden + rng.normal(size=(300, 6))) * [1.0, 1.0, 40.0, 0.02, 3.0, 1.0] + [
        0.0,
        0.0,
        300.0,
        0.1,
        -7.0,
        5.0,
    ]
    X[:, 5] = X[:, 5] > 5
    X = np.column_stack([np.round(X, 6), np.full(300, 9.0)])
    y: NDArray[Any] = np.where(
        hidden[:, 0] + 0.5 * rng.normal(size=300) > 0.4, 1, -1
    ).astype(np.int8)
    if kind == "regression":
        y = np.round(hidden[:, 0], 6)
    if kind == "sparse":
        X = sp.csr_matrix(np.where(rng.random(X.shape) < 0.3, X, 0.0))
    splits = {"train": np.arange(150), "test": np.arange(150, 300)}
    task = "regression" if kind == "regression" else "classification"
    return Dataset(X, y, "made", task, None, (), "made", "", splits)


Change = Callable[[Dataset], Dataset]


def of_values(change: Callable[[Any], Any]) -> Change:
    def apply(data: Dataset) -> Dataset:
        if not sp.issparse(data.X):
            return replace(data, X=change(data.X))
        X = data.X.copy()
        X.data = change(X.data[:, None])[:, 0]
        return replace(data, X=X)

    return apply


def in_another_order(data: Dataset) -> Dataset:
    rows = np.concatenate([RNG(1).permutation(150), 150 + RNG(2).permutation(150)])
    return replace(
        data, X=data.X[rows][:, RNG(3).permutation(data.X.shape[1])], y=data.y[rows]
    )


def with_column(index: int, change: Callable[[Any], Any]) -> Change:
    def apply(data: Dataset) -> Dataset:
        X = data.X.toarray() if sp.issparse(data.X) else data.X.copy()
        X[:, index] = change(X[:, index])
        return replace(data, X=sp.csr_matrix(X) if sp.issparse(data.X) else X)

    return apply


def shortened(values: Any) -> Any:
    return np.array([float(f"{value:.6g}") for value in values.ravel()]).reshape(
        values.shape
    )


SAME: dict[str, Change] = {
    "order": in_another_order,
    "three decimals": of_values(lambda values: np.round(values, 3)),
    "four decimals, another order": lambda data: in_another_order(
        of_values(lambda x: np.round(x, 4))(data)
    ),
    "six digits": of_values(shortened),
    "single precision": of_values(
        lambda values: values.astype(np.float32).astype(float)
    ),
}
OTHER: dict[str, Change] = {
    "noise": of_values(
        lambda x: RNG(4).normal(size=x.shape) * x.std(axis=0) + x.mean(axis=0)
    ),
    "noise of three decimals": of_values(
        lambda x: np.round(
            RNG(4).normal(size=x.shape) * x.std(axis=0) + x.mean(axis=0), 3
        )
    ),
    "columns that were shuffled each": with_column(
        slice(None), lambda x: RNG(5).permuted(x, axis=0)
    ),
    "one column of noise": with_column(1, lambda x: RNG(6).permutation(x)),
    "a column on another scale": with_column(3, lambda x: 1.01 * x),
    "a column turned round": with_column(2, lambda x: -x),
    "a column with other units": with_column(4, lambda x: 1.8 * x + 32),
    "targets of other rows": lambda data: replace(data, y=RNG(7).permutation(data.y)),
    "targets turned round": lambda data: replace(data, y=-data.y),
    "two targets exchanged": lambda data: replace(
        data, y=data.y[[*range(149), 299, *range(150, 299), 149]]
    ),
    "parts exchanged": lambda data: replace(
        data, X=data.X[np.roll(np.arange(300), 150)], y=np.roll(data.y, 150)
    ),
    "columns of one value": of_values(lambda x: np.ones_like(x) if x.ndim > 1 else x),
    "values that overflow": of_values(lambda x: x * 1e300),
}


@pytest.mark.parametrize("kind", ["classes", "regression", "sparse"])
def test_another_print_is_the_same_data_and_other_data_are_noticed(kind: str) -> None:
    data = made(kind)
    expected = fingerprint_of(data)
    for name, change in SAME.items():
        assert differences(change(data), expected) == (), name
        assert differences(data, fingerprint_of(change(data))) == (), name
    for name, change in OTHER.items():
        with np.errstate(all="ignore"):
            assert differences(change(data), expected), name


def test_of_a_training_part_only_that_part_is_compared() -> None:
    whole = made("classes")
    part = replace(whole, X=whole.X[:150], y=whole.y[:150], splits=None)
    expected = fingerprint_of(part).model_copy(update={"part": "train"})
    assert differences(whole, expected) == differences(part, expected) == ()
    assert differences(replace(whole, X=whole.X[::-1], y=whole.y[::-1]), expected)


@pytest.fixture
def noise(folder: Path, wdbc_lines: list[str]) -> Path:
    """A file of the right counts with noise in place of the features."""
    values = RNG(0).normal(size=(569, 30))
    rows = [
        ",".join([*(f"{value:.3f}" for value in row), line.rpartition(",")[2]])
        for row, line in zip(values, wdbc_lines[1:], strict=True)
    ]
    path = folder / "wdbc.csv"
    path.write_text("\n".join([wdbc_lines[0], *rows]))
    return path


def test_a_file_of_noise_is_refused_or_remarked(noise: Path, tmp_path: Path) -> None:
    folder = noise.parent
    for take in (
        lambda **more: load_dataset("wdbc", folder, **more),
        lambda **more: identify(SPECS["wdbc"], folder, **more),
    ):
        with pytest.raises(
            ElmbenchError,
            match=pattern("datasets.fingerprint.is-other-data", dataset="wdbc"),
        ) as error:
            take()
        assert "--other-data" in str(error.value)
        (remark,) = take(other_data=True).remarks
        assert remark.startswith(
            sentence("datasets.fingerprint.columns-have-other-means", file="wdbc.csv")
        )
    with pytest.raises(ElmbenchError, match="other data"):
        import_file("wdbc", noise, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert import_file("wdbc", noise, tmp_path / "new", other_data=True).remarks


def test_a_guess_about_labels_is_remarked(folder: Path, wdbc_lines: list[str]) -> None:
    def write(benign: str, malignant: str) -> None:
        words = {"1": benign, "2": malignant}
        lines = [
            ",".join([*line.split(",")[:-1], words[line[-1]]])
            for line in wdbc_lines[1:]
        ]
        (folder / "wdbc.csv").write_text("\n".join([wdbc_lines[0], *lines]))

    write("1", "2")
    assert load_dataset("wdbc", folder).remarks == ()
    write("1", "0")
    data, bundled = load_dataset("wdbc", folder), load_dataset("wdbc").checksum
    assert data.remarks == (
        sentence(
            "datasets.fingerprint.labels-spelled-as-in-scikit-learn",
            malignant=0,
            malignant_is=2,
            benign=1,
            benign_is=1,
        ),
    )
    assert data.checksum == bundled
    write("B", "M")
    assert load_dataset("wdbc", folder).remarks == (
        sentence(
            "datasets.fingerprint.labels-guessed-by-size",
            first="B",
            first_is=1,
            second="M",
            second_is=2,
        ),
    )
    assert load_dataset("wdbc", folder).checksum == bundled
    assert (
        identify(SPECS["wdbc"], folder).remarks == load_dataset("wdbc", folder).remarks
    )
