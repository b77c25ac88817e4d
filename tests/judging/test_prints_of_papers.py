"""The checks of the print on the shipped papers."""

import pytest

from elmbench.judging.print_checks import check_print
from elmbench.judging.print_checks.read_tables import read_printed_tables
from elmbench.specs.catalogue import load_catalogue


@pytest.fixture(scope="module")
def findings() -> set[tuple[str, str, str, str]]:
    """Return the table, check, data set and metric of each finding in the shipped papers."""
    by_paper: dict[str, list] = {}
    for file in load_catalogue().values():
        by_paper.setdefault(file.paper.key, []).append(file)
    all_findings = set()
    for files in by_paper.values():
        tables = read_printed_tables(files)
        for table in tables:
            for one in check_print(table, tables):
                all_findings.add((one.table, one.check, one.dataset, one.metric))
    return all_findings


def test_the_errors_that_were_noted_by_hand_are_found(findings: set) -> None:
    assert findings >= {
        ("kos-elm/table5", "counts", "Sylva", "tp + fn"),
        ("kos-elm/table5", "counts", "Sylva", "mcc"),  # against Table IV
        ("rkelm/table6", "granularity", "Waveform", "positives_per_negative"),
        ("rkelm/table7", "printed twice", "Skin", "precision"),
        ("rkelm/table11", "printed twice", "Abalone", "rmse"),
        ("rkelm/table9", "ratios", "NEWS20.MUL", "speed_up"),
        ("rkelm/table9", "repeated", "SECTOR", "speed_up"),
        ("ospvm/table8", "printed twice", "Face", "accuracy"),
        ("ospvm/table9", "repeated", "News20", ""),
    }
    tests_of_ospvm = {
        (table, check) for table, check, _, metric in findings if metric == "t"
    }
    assert tests_of_ospvm == {(f"ospvm/table{i}", "averages") for i in (3, 6, 10)}


def test_sound_tables_are_not_accused(findings: set) -> None:
    accused = {table for table, *_ in findings}
    assert not {table for table in accused if table.startswith("eem/")}
    assert not accused & {
        "kos-elm/table4",
        "kos-elm/table6",
        "rkelm/table5",
        "rkelm/table12",
    }
