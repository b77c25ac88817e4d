"""The versions that computed the committed results: those of the records that still have cells."""

import json
from pathlib import Path

import pytest

from elmbench.registry import model_version, registry
from tools.result_versions import outdated_models, read_versions, versions_text

NOW = model_version(registry()["os-elm"], "classification")


def record(suite: str, **models: str) -> dict[str, object]:
    """Return a record of `environment.json`."""
    return {"environments": [{"packages": {"elmbench": suite}}], "models": models}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder of results with kept cells of an earlier version of OS-ELM."""
    folder = tmp_path / "fast/p/table1"
    folder.mkdir(parents=True)
    kept = record("0.1.0", A="os-elm, version 0", B="elm, version 0")
    environment = record("0.2.0", A=f"os-elm, version {NOW}") | {"kept": [kept]}
    (folder / "environment.json").write_text(json.dumps(environment))
    (folder / "cells.csv").write_text("model,run,record\nA,0,\nA,1,1\n")
    return tmp_path


def test_a_kept_record_counts_only_for_the_models_that_have_cells_of_it(
    results: Path,
) -> None:
    (computed,) = read_versions(results)
    assert computed.models == {f"os-elm, version {NOW}", "os-elm, version 0"}
    assert computed.suite == {"0.1.0", "0.2.0"}
    assert outdated_models(computed) == ["os-elm, version 0"]


def test_the_page_names_the_tables_of_an_outdated_model(results: Path) -> None:
    text = versions_text(results)
    assert "1 by version 0.1.0 and 0.2.0. In 0 of them" in text
    cells = [cell.strip() for cell in text.splitlines()[-1].strip("|").split("|")]
    assert cells == ["os-elm, version 0", NOW, "p/table1"]


def test_without_outdated_models_there_is_no_table(results: Path) -> None:
    (results / "fast/p/table1/cells.csv").write_text("model,run\nA,0\n")
    text = versions_text(results)
    assert "In 1 of them" in text
    assert "|" not in text
