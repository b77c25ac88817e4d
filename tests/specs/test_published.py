"""The papers' figures: names, units, digits and parameters as they are printed."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from elmbench.errors import ElmbenchError
from elmbench.specs.files import spec_root
from elmbench.specs.published import published_parameters, read_published

HEADER = "dataset,model,metric,value,std,note\n"


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str, header: str = HEADER) -> Path:
        path = tmp_path / "t.csv"
        path.write_text(header + text)
        return path

    return write


@pytest.mark.parametrize(
    ("metric", "printed", "name", "value", "last_place"),
    [
        ("mcc", "0.940", "mcc", "0.940", 1e-3),
        ("gmean_percent", "88.6", "gmean", "0.886", 1e-3),
        ("test_accuracy_percent", "97", "accuracy", "0.97", 1e-2),
        ("precision_percent", "9.05", "precision", "0.0905", 1e-4),
        ("f1_percent", "100", "f1", "1.00", 1e-2),
        ("train_seconds", "17.42", "fit_seconds", "17.42", 1e-2),
        ("nrmse", "5", "nrmse", "5", 1.0),
    ],
)
def test_units_and_digits(
    table: Callable[[str], Path], metric: str, printed: str, name: str, value: str, last_place: float
) -> None:
    (entry,) = read_published(table(f"WDBC,ELM,{metric},{printed},,\n"))
    assert (entry.dataset, entry.model, entry.metric) == ("WDBC", "ELM", name)
    assert entry.value == Decimal(value)
    assert entry.last_place == pytest.approx(last_place, rel=1e-12)


def test_deviations_are_in_the_unit_of_the_value(table: Callable[[str], Path]) -> None:
    (entry,) = read_published(table("a,b,gmean_percent,88.6,1.2,a doubt\n"))
    assert entry.std == Decimal("0.012")
    assert entry.note == "a doubt"


def test_what_a_paper_does_not_print_is_none(table: Callable[[str], Path]) -> None:
    (entry,) = read_published(table("Calhousing,OS-ELM,nrmse,,,excluded\n"))
    assert entry.value is None
    assert entry.std is None
    assert entry.last_place == 0.0
    assert entry.note == "excluded"


@pytest.mark.parametrize("figure", ["0,94", "n/a", "0.9x", "nan", "inf"])
def test_what_is_no_figure(table: Callable[[str], Path], figure: str) -> None:
    with pytest.raises(ElmbenchError, match=r"t\.csv, line 3: .* is not a number"):
        read_published(table(f'a,b,mcc,0.5,,\na,b,mcc,"{figure}",,\n'))


def test_a_column_is_missing(table: Callable[..., Path]) -> None:
    with pytest.raises(ElmbenchError, match="columns note, std are missing"):
        read_published(table("", header="dataset,model,metric,value\n"))


def test_parameters_have_the_suite_s_names_and_whole_sizes(table: Callable[[str], Path]) -> None:
    found = published_parameters(
        table("WDBC,ELM,L,300,,\nWDBC,ELM,C,192,,\nWDBC,K-ELM,gamma,0.3,,\nWDBC,FB-KOS-ELM,F,200,,\nWDBC,ELM,mcc,1,,\n")
    )
    assert found == {
        ("WDBC", "ELM"): {"n_hidden": 300, "C": 192.0},
        ("WDBC", "K-ELM"): {"gamma": 0.3},
        ("WDBC", "FB-KOS-ELM"): {"budget": 200},
    }
    assert type(found["WDBC", "ELM"]["n_hidden"]) is int
    assert type(found["WDBC", "FB-KOS-ELM"]["budget"]) is int


def test_some_figures_of_the_papers() -> None:
    folder = spec_root() / "experiments" / "kos-elm"
    values = {(v.dataset, v.model, v.metric): (v.value, v.std) for v in read_published(folder / "table4.csv")}
    assert values["WDBC", "FB-KOS-ELM", "mcc"] == (Decimal("0.98"), Decimal("0.005"))
    assert values["Sylva", "K-ELM", "fit_seconds"] == (Decimal("17.42"), None)
    assert published_parameters(folder / "table3.csv")["Calhousing", "K-ELM"] == {"gamma": 5.0, "C": 200.0}
