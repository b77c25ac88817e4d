"""`elmbench.toml`: the plug-ins, specs, data and results of a folder of one's own."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from sentences import sentence
from sklearn.datasets import load_wine

from elmbench.registry import plugins
from elmbench.specs import catalogue

PLUGIN = """
from sklearn.neighbors import NearestCentroid

MODELS = {"nearest-mean": NearestCentroid}
"""
TABLE = {
    "id": "miller/table1",
    "label": "Table 1",
    "title": "accuracy",
    "datasets": ["wine"],
    "protocol": {
        "scale": None,
        "outer": {"kind": "holdout", "test": 0.5},
        "metrics": ["accuracy"],
    },
    "models": {"mean": {"model": "nearest-mean"}},
}
ENTRY = {
    "title": "Wine",
    "task": "classification",
    "shape": {"instances": 178, "features": 13, "classes": {"0": 59, "1": 71, "2": 48}},
    "sources": [{"kind": "scikit-learn", "loader": "load_wine"}],
    "citation": "none",
}
PAPER = {"key": "miller", "title": "Wines", "authors": "A. Miller", "year": 2020}


@pytest.fixture
def project(elmbench: Callable) -> Path:
    """The working folder as a project with a paper of two tables; the second needs a plug-in that
    is missing.
    """
    folder = Path.cwd()
    paper = folder / "specs" / "experiments" / "miller"
    paper.mkdir(parents=True)
    second = TABLE | {"id": "miller/table2", "models": {"far": {"model": "far-away"}}}
    contents: dict[str, Any] = {"paper": PAPER, "table1": TABLE, "table2": second}
    for name, content in contents.items():
        (paper / f"{name}.yaml").write_text(yaml.safe_dump(content))
    (folder / "specs" / "datasets.yaml").write_text(yaml.safe_dump({"wine": ENTRY}))
    (folder / "models.py").write_text(PLUGIN)
    (folder / "elmbench.toml").write_text(
        'plugins = ["models.py", "missing.py"]\nspecs = ["specs"]\ndata = "rows"\nresults = "out"\n'
    )
    return folder


def test_the_project_file_applies_in_subfolders(
    elmbench: Callable, worker: dict, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    listed = elmbench("list", "experiments", "--json").json
    assert [line["id"] for line in listed] == ["miller/table1"]
    shown = elmbench("run", "miller/table1")
    assert "left out: cannot read the plug-in" in shown.err
    assert "left out: miller/table2:" in shown.err
    assert "unknown model 'far-away'" in shown.err
    assert (project / "out" / "fast" / "miller" / "table1" / "cells.csv").is_file()
    rows = load_wine(as_frame=True).frame
    rows.to_csv("wine.csv", index=False)
    elmbench("data", "import", "wine", "wine.csv")
    status = elmbench("data", "status", "wine", "--json").json
    assert str(project / "rows") in status[0]["where"]


def test_a_table_without_its_plug_in_fails_a_run_of_all_tables(
    elmbench: Callable, worker: dict, project: Path
) -> None:
    result = elmbench("run", "--all", code=2)
    assert "error:" in result.err
    assert "far-away" in result.err
    assert (project / "out" / "fast" / "miller" / "table1" / "cells.csv").is_file()
    assert "far-away" in elmbench("run", "miller/table2", code=2).err
    assert "far-away" in elmbench("validate", code=2).err


def test_options_and_variables_override_the_project_file(
    elmbench: Callable, worker: dict, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elmbench("run", "miller/table1", "--results-dir", "elsewhere")
    assert (project / "elsewhere" / "fast").is_dir()
    monkeypatch.setenv("ELMBENCH_RESULTS_DIR", "by-variable")
    elmbench("run", "miller/table1")
    assert (project / "by-variable" / "fast").is_dir()
    assert not (project / "out").exists()
    other = project / "other.py"
    other.write_text(PLUGIN.replace("nearest-mean", "other"))
    # The plug-ins of the option replace those of the file, as a new process shows.
    monkeypatch.setattr(plugins, "_declared", {})
    monkeypatch.setattr(catalogue, "_added", catalogue._Added())
    assert (
        "nearest-mean"
        in elmbench("run", "miller/table1", "--plugin", other, code=2).err
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "plugin = []",
            sentence("cli.project.unknown-key", key="plugin"),
        ),
        ('plugins = "models.py"', "'plugins' is 'models.py': expected a list"),
        ("specs = [", "elmbench.toml: Invalid value"),
        ("specs = " + "[" * 100_000, "elmbench.toml: maximum recursion depth"),
        (r'results = "\u0000"', "a path cannot hold a null character"),
        (
            'plugins = ["~nobody-here/models.py"]\nspecs = ["gone"]',
            "gone does not exist",
        ),
    ],
)
def test_an_error_in_the_project_file_names_it(
    elmbench: Callable, text: str, message: str
) -> None:
    Path("elmbench.toml").write_text(text)
    error = elmbench("list", "models", code=2).err
    assert message in error
    assert f"{os.sep}elmbench.toml" in error
    assert "Next: " in error


def test_a_misplaced_paper_file_is_an_error_that_names_its_folder(
    elmbench: Callable,
) -> None:
    Path("elmbench.toml").write_text('specs = ["."]')
    Path("paper.yaml").write_text(yaml.safe_dump(PAPER))
    error = elmbench("list", "experiments", code=2).err
    assert sentence("cli.project.paper-file-outside-paper") in error
    assert os.path.join("experiments", "KEY") in error


def test_a_run_refuses_the_table_that_validate_refuses(
    elmbench: Callable, project: Path
) -> None:
    table = project / "specs" / "experiments" / "miller" / "table1.yaml"
    table.write_text(yaml.safe_dump(TABLE | {"published": {"values": "table1.csv"}}))
    table.with_suffix(".csv").write_text(
        "dataset,model,metric,value,std,note\nwine,meen,test_accuracy,0.9,,\n"
    )
    (table.parent / "table2.yaml").unlink()
    message = elmbench("validate", code=2).err.partition("error: ")[2]
    assert (
        sentence("cli.project.unknown-published-model", model="meen", similar="mean")
        in message
    )
    assert elmbench("run", "--all", code=2).err.endswith(f"error: {message}")
    assert elmbench("run", "miller/table1", "--dry-run", code=2).err.endswith(
        f"error: {message}"
    )


def test_check_without_baselines_compares_with_the_print(
    elmbench: Callable, worker: dict, project: Path
) -> None:
    table = project / "specs" / "experiments" / "miller" / "table1.yaml"
    (table.parent / "table2.yaml").unlink()
    table.write_text(yaml.safe_dump(TABLE | {"published": {"values": "table1.csv"}}))
    table.with_suffix(".csv").write_text(
        "dataset,model,metric,value,std,note\nwine,mean,test_accuracy,0.9,,\n"
    )
    elmbench("run", "--all")
    checked = elmbench("check", "--strict", code=3)
    assert "1 published value: 1 ? too few runs." in checked.out
    table.with_name("table1.baseline.csv").write_text("")
    assert (
        "no table has results of profile ci"
        in elmbench("check", "--strict", code=3).err
    )


def test_python_reads_the_project_as_the_commands_do(
    elmbench: Callable, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import elmbench as package

    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    with pytest.warns(UserWarning, match="left out") as caught:
        results = package.run("miller/table1")
    warned = [str(warning.message) for warning in caught]
    assert any("left out: cannot read the plug-in" in text for text in warned)
    assert any("left out: miller/table2:" in text for text in warned)
    assert results.cells["status"].tolist() == ["ok"]
    assert (project / "out" / "fast" / "miller" / "table1" / "cells.csv").is_file()
    X, y = load_wine(return_X_y=True)
    loaded = []
    read_plugin = plugins._read_plugin

    def read_and_count(file: str | Path) -> Any:
        loaded.append(Path(file).name)
        return read_plugin(file)

    monkeypatch.setattr(plugins, "_read_plugin", read_and_count)
    with pytest.warns(UserWarning, match="cannot read the plug-in"):
        compared = package.compare(X, y, ["nearest-mean"], folds=2, progress=False)
    assert loaded == ["models.py", "missing.py"]
    assert "nearest-mean" in set(compared.cells["model"])
    assert set(compared.cells["status"]) == {"ok"}
    assert list((project / "out").glob("compare/own/data-*/cells.csv"))
