"""The published values: names, units, digits and parameters as they are printed."""

import csv
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from sentences import pattern

from elmbench.errors import ElmbenchError
from elmbench.specs.files import spec_root
from elmbench.specs.published import DATA, published_parameters, read_published

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
        ("test_rmse", "0.0737", "rmse", "0.0737", 1e-4),
        ("train_accuracy_percent", "99.81", "train_accuracy", "0.9981", 1e-4),
        ("test_seconds", "0.0005", "predict_seconds", "0.0005", 1e-4),
        ("nodes", "65", "n_units", "65", 1.0),
        ("nSV", "1200", "n_units", "1200", 1.0),
        ("target_dimensions", "43", "target_dimensions", "43", 1.0),
        ("lambda", "0.5", "lambda", "0.5", 0.1),
        ("t", "4.141", "t", "4.141", 1e-3),
        ("C", "2^-20", "C", "9.5367431640625E-7", 0.0),
        ("sigma", "2^7", "sigma", "128", 0.0),
    ],
)
def test_published_values_have_the_unit_and_the_digits_of_the_print(
    table: Callable[[str], Path],
    metric: str,
    printed: str,
    name: str,
    value: str,
    last_place: float,
) -> None:
    (entry,) = read_published(table(f"WDBC,ELM,{metric},{printed},,\n"))
    assert (entry.dataset, entry.model, entry.metric) == ("WDBC", "ELM", name)
    assert entry.value == Decimal(value)
    assert entry.text == printed
    assert entry.last_place == pytest.approx(last_place, rel=1e-12)


@pytest.mark.parametrize(
    "field", ["0,94", "n/a", "0.9x", "nan", "inf", "2^", "2^0.5", "^2", "1e999999"]
)
def test_fields_that_are_not_numbers_are_rejected(
    table: Callable[[str], Path], field: str
) -> None:
    with pytest.raises(ElmbenchError, match=r"t\.csv, line 3: .* is not a number"):
        read_published(table(f'a,b,mcc,0.5,,\na,b,mcc,"{field}",,\n'))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "a,b,accuracy,0.5,,\na,b,test_accuracy_percent,51,,\n",
            pattern("specs.published.second-value-of-a-cell", line=3),
        ),
        ("a,b,accuracy,97.5,,\n", "line 2: accuracy is 97.5\nExpected: at most 1"),
    ],
)
def test_mistyped_values_are_rejected(
    table: Callable[[str], Path], rows: str, message: str
) -> None:
    with pytest.raises(ElmbenchError, match=message):
        read_published(table(rows))


def test_a_file_without_a_column_is_rejected(table: Callable[..., Path]) -> None:
    with pytest.raises(ElmbenchError, match="columns dataset, metric, value are"):
        read_published(table("", header="data,model,instances\n"))


def test_a_file_may_lack_deviations_and_notes(table: Callable[..., Path]) -> None:
    (entry,) = read_published(
        table("a,b,mcc,0.5\n", header="dataset,model,metric,value\n")
    )
    assert (entry.value, entry.std, entry.note) == (Decimal("0.5"), None, "")


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("test_mae", "mae"),
        ("test_f1_percent", "f1"),
        ("error_percent", "error_rate"),
        ("test_error", "error_rate"),
        ("test_seconds", "predict_seconds"),
        ("mae", "mae"),
    ],
)
def test_metrics_of_test_rows_may_say_so(
    table: Callable[..., Path], name: str, metric: str
) -> None:
    (entry,) = read_published(table(f"a,b,{name},0.5,,\n"))
    assert entry.metric == metric


def test_parameters_have_the_suite_s_names_and_whole_sizes(
    table: Callable[[str], Path],
) -> None:
    result = published_parameters(
        table(
            "WDBC,ELM,L,300,,\nWDBC,ELM,C,192,,\nWDBC,K-ELM,gamma,0.3,,\nWDBC,FB-KOS-ELM,F,200,,\nWDBC,ELM,mcc,1,,\n"
        )
    )
    read_published.cache_clear()
    other = published_parameters(
        table("WDBC,AMM,n_weights,50,,\nWDBC,AMM,eta,2,,\nWDBC,AMM,train_seconds,3,,\n")
    )
    assert other == {("WDBC", "AMM"): {"n_weights": 50, "eta": 2.0}}
    assert type(other["WDBC", "AMM"]["n_weights"]) is int
    assert result == {
        ("WDBC", "ELM"): {"n_hidden": 300, "C": 192.0},
        ("WDBC", "K-ELM"): {"gamma": 0.3},
        ("WDBC", "FB-KOS-ELM"): {"budget": 200},
    }
    assert type(result["WDBC", "ELM"]["n_hidden"]) is int
    assert type(result["WDBC", "FB-KOS-ELM"]["budget"]) is int


def test_deviations_notes_and_values_that_are_missing_or_cited(
    table: Callable[[str], Path],
) -> None:
    values = "A,B,train_seconds,,,over 600 s\nA,B,nrmse,,,excluded\nA,TSVM (cited),train_seconds,373,,\n"
    values += "a,b,gmean_percent,88.6,1.2,a doubt\n"
    stopped, unstable, cited, measured = read_published(table(values))
    assert (measured.std, measured.note) == (Decimal("0.012"), "a doubt")
    assert (unstable.std, unstable.last_place, unstable.note) == (None, 0.0, "excluded")
    assert (stopped.value, stopped.over_seconds) == (None, 600.0)
    assert (unstable.value, unstable.over_seconds) == (None, None)
    assert [entry.cited for entry in (stopped, unstable, cited, measured)] == [
        False,
        False,
        True,
        False,
    ]
    assert cited.value == 373


def test_facts_of_data_sets(table: Callable[..., Path]) -> None:
    result = read_published(
        table(
            "Abalone,8,,3000,regression\nSegment,19,7,1500,multiclass\n",
            "dataset,attributes,classes,train,task\n",
        )
    )
    assert [
        (entry.dataset, entry.metric, entry.value, entry.text) for entry in result
    ] == [
        ("Abalone", "features", 8, "8"),
        ("Abalone", "train", 3000, "3000"),
        ("Abalone", "task", None, "regression"),
        ("Segment", "features", 19, "19"),
        ("Segment", "classes", 7, "7"),
        ("Segment", "train", 1500, "1500"),
        ("Segment", "task", None, "multiclass"),
    ]
    assert {entry.model for entry in result} == {DATA}


def test_every_cell_of_the_papers_is_read() -> None:
    for path in (spec_root() / "experiments").glob("*/*.csv"):
        if path.name.endswith(".baseline.csv"):
            continue
        result = read_published(path)
        with path.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        if "metric" in rows[0]:
            printed = [
                (row["dataset"], row["model"], row["value"], row["note"])
                for row in rows
            ]
            assert [
                (entry.dataset, entry.model, entry.text, entry.note) for entry in result
            ] == printed, path
        else:
            cells = [
                (row["dataset"], text)
                for row in rows
                for name, text in row.items()
                if name != "dataset" and text
            ]
            assert [(entry.dataset, entry.text) for entry in result] == cells, path
        for entry in result:
            assert (entry.value is None) == (
                not any(c.isdigit() for c in entry.text)
            ) or entry.model == DATA, entry
            assert not entry.metric.endswith(
                (
                    "_percent",
                    "train_seconds",
                    "test_seconds",
                    "test_rmse",
                    "nodes",
                    "nSV",
                )
            )
            assert entry.cited == (" (cited)" in entry.model)
            if entry.metric in (
                "accuracy",
                "train_accuracy",
                "precision",
                "recall",
                "f1",
                "gmean",
                "mcc",
            ):
                assert entry.value is None or 0 <= entry.value <= 1, entry
