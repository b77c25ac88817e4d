"""The findings of the checks of the print, by table."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from elmbench.errors import amount
from elmbench.judging.print_checks import Finding, check_print
from elmbench.judging.print_checks.read_tables import read_printed_tables
from elmbench.report.checks.checked_tables import NothingToCompareError
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.experiment_file import ExperimentFile


class CheckedPrint(NamedTuple):
    """The findings on the print of one table of a paper."""

    #: Its id.
    table: str
    #: The number of its published values.
    n_values: int
    findings: list[Finding]


def check_prints(names: Sequence[str]) -> list[CheckedPrint]:
    """Check the published values of tables for slips that no results are needed to see.

    Return a `CheckedPrint` for each table that has published values, by paper; its findings may be
    none. Each table is checked beside all tables of its paper, even if these are not named.
    `names`: ids, aliases or keys of papers; all tables if empty. Raises NothingToCompareError if
    none of them has published values.
    """
    files = _files_of(names)
    wanted = {file.id for file in files}
    papers = {file.paper.key: file.tables or [file] for file in files}
    checked = []
    for tables in papers.values():
        printed = read_printed_tables(tables)
        checked += [
            CheckedPrint(table.id, len(table.values), check_print(table, printed))
            for table in printed
            if table.id in wanted
        ]
    if not checked:
        raise NothingToCompareError(
            "no table has published values",
            expected="a CSV file of published values (see docs/add-a-paper.md)",
            next_step="elmbench list experiments",
        )
    return checked


def _files_of(names: Sequence[str]) -> list[ExperimentFile]:
    """Return the tables of some names, each once; all tables if there are no names.

    A name is an id, an alias, or the key of a paper, which stands for its tables. Raises
    ElmbenchError for an unknown name.
    """
    all_files = list(load_catalogue().values())
    if not names:
        return all_files
    files: dict[str, ExperimentFile] = {}
    for name in names:
        of_paper = [file for file in all_files if file.paper.key == name]
        for file in of_paper or [find_experiment(name)]:
            files[file.id] = file
    return list(files.values())


def summary_text(checked: Sequence[CheckedPrint]) -> str:
    """Return the sentence that counts the findings, published values and tables of a check.

    It is such as "2 findings in 310 published values of 8 tables." and has a full stop. `checked`:
    the tables, whose findings and values are added up.
    """
    n_findings = 0
    n_values = 0
    for table in checked:
        n_findings += len(table.findings)
        n_values += table.n_values
    findings = amount(n_findings, "finding")
    values = amount(n_values, "published value")
    tables = amount(len(checked), "table")
    return f"{findings} in {values} of {tables}."


def findings_json_dicts(checked: Sequence[CheckedPrint]) -> list[dict[str, Any]]:
    """Return the findings on each table as a list of dicts for JSON.

    The keys are `experiment` (the id), `values` (the number of published values) and `findings` (a
    list of dicts of texts with `experiment`, `label`, `check`, `dataset`, `model`, `metric` and
    `finding`).
    """
    return [
        {
            "experiment": table.table,
            "values": table.n_values,
            "findings": [finding.to_json_dict() for finding in table.findings],
        }
        for table in checked
    ]
