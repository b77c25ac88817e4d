"""Fingerprints written into the text of `datasets.yaml`."""

import yaml

from elmbench.datasets.fingerprints import (
    as_line,
    fingerprints_of,
    with_fingerprints,
)
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.files import spec_root

PATH = spec_root() / "datasets.yaml"


def test_current_fingerprints_leave_the_file_unchanged() -> None:
    specs = load_dataset_specs()
    prints = fingerprints_of([specs["wdbc"], specs["digits"]])
    assert list(prints) == ["wdbc", "digits"]
    text = PATH.read_text("utf-8")
    assert with_fingerprints(text, prints) == text


def test_only_the_fingerprints_change() -> None:
    specs, text = load_dataset_specs(), PATH.read_text("utf-8")
    bare = "".join(
        line
        for line in text.splitlines(keepends=True)
        if not line.startswith("  fingerprint:")
    )
    known = {name: spec.fingerprint for name, spec in specs.items() if spec.fingerprint}
    assert with_fingerprints(bare, known) == text
    other = known["wdbc"].model_copy(update={"rows": (1.0, 2.0, 3.0)})
    changed = yaml.safe_load(
        with_fingerprints(text, {"wdbc": other, "usps-digits": other})
    )
    expected = yaml.safe_load(text)
    for name in ("wdbc", "usps-digits"):
        expected[name]["fingerprint"] = yaml.safe_load(as_line(other))["fingerprint"]
    assert changed == expected
