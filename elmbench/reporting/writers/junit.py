"""Outcomes of a check as JUnit XML, which CI systems show."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal
from xml.etree import ElementTree


@dataclass(frozen=True)
class Case:
    """One check of a table: its name, its outcome and a message."""

    suite: str
    name: str
    outcome: Literal["passed", "failed", "skipped"]
    message: str = ""


def junit(cases: Iterable[Case]) -> str:
    """Return the outcomes as XML, a test suite for each table; cases of one table stand together."""
    root = ElementTree.Element("testsuites")
    for name, group in groupby(cases, key=lambda case: case.suite):
        suite_cases = list(group)
        failed, skipped = (sum(case.outcome == outcome for case in suite_cases) for outcome in ("failed", "skipped"))
        counts = {"tests": str(len(suite_cases)), "failures": str(failed), "skipped": str(skipped)}
        suite = ElementTree.SubElement(root, "testsuite", {"name": name} | counts)
        for case in suite_cases:
            line = ElementTree.SubElement(suite, "testcase", classname=name, name=case.name)
            if case.outcome == "passed":
                ElementTree.SubElement(line, "system-out").text = case.message
            else:
                tag = "failure" if case.outcome == "failed" else "skipped"
                ElementTree.SubElement(line, tag, message=case.message)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
