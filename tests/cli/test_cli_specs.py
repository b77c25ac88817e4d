"""`elmbench list`, `show`, `validate`, `env` and `data`, and what all commands say about a spec
that is not valid.
"""

import csv
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
import yaml
from sentences import sentence
from sklearn.datasets import load_breast_cancer

from elmbench.cli.progress import duration
from elmbench.datasets import fetch as fetching
from elmbench.datasets.fetch import Fetched
from elmbench.errors import DataUnavailableError
from elmbench.metrics import REGISTRY
from elmbench.registry import registry
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.datasets import DatasetSpecs, load_dataset_specs
from elmbench.specs.files import spec_root
from elmbench.specs.schemas import json_schema


@pytest.mark.parametrize(
    ("what", "known", "line"),
    [
        ("experiments", load_catalogue, {"id": "kos-elm/table4", "alias": ["table4"],
        "data sets": ["sylva", "wdbc"]}),
        ("datasets", load_dataset_specs, {"name": "wdbc", "task": "classification", "rows": 569,
        "columns": 30}),
        ("models", registry,
         {"name": "k-elm", "parameters": ["gamma", "C"], "tasks": ["classification",
         "regression"]}),
        ("metrics", lambda: REGISTRY,
         {"name": "log_loss", "task": "classification", "better": "less",
         "takes": "probabilities"}),
    ],
)  # fmt: skip
def test_lists_name_every_experiment_data_set_model_and_metric(
    elmbench: Callable,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    known: Callable[[], Mapping],
    line: dict[str, Any],
) -> None:
    key, name = next(iter(line.items()))
    listed = {entry[key]: entry for entry in elmbench("list", what, "--json").json}
    assert list(listed) == list(known())
    assert line.items() <= listed[name].items()
    monkeypatch.setenv("COLUMNS", "60")  # too narrow, but no name is broken
    text = elmbench("list", what).out
    assert all(name in text for name in listed)
    assert what != "models" or "(baseline)" in listed["svm"]["title"]


#: The word for each verdict in `elmbench list experiments`.
def test_experiments_have_data_time_and_verdict(
    elmbench: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ELMBENCH_DATA_DIR", raising=False)
    (tmp_path / "sylva.csv").touch()
    options = ("--data-dir", tmp_path)
    lines = {
        line["id"]: line
        for line in elmbench("list", "experiments", "--json", *options).json
    }
    assert lines["kos-elm/table4"]["missing data sets"] == []
    assert lines["kos-elm/table2"]["missing data sets"] == ["calhousing"]
    with (spec_root() / "experiments" / "outcomes.csv").open() as stream:
        outcomes = {line["experiment"]: line for line in csv.DictReader(stream)}
    assert set(lines) == set(outcomes)
    for name, outcome in outcomes.items():
        seconds = float(outcome["seconds"]) if outcome["seconds"] else None
        shown = (lines[name]["verdict"], lines[name]["seconds"])
        assert shown == (outcome["verdict"], seconds), name
    text = elmbench("list", "experiments", *options).out
    assert "lacks calhousing" in text
    # Units and numbers are words of their own.
    words = {line.split()[0]: line.split() for line in text.splitlines() if "/" in line}
    for name, outcome in outcomes.items():
        seconds = float(outcome["seconds"]) if outcome["seconds"] else None
        time = "–" if seconds is None else duration(seconds)
        if seconds is not None and seconds < 1:
            time = "< 1 s"
        last_words = [*time.split(), *(outcome["verdict"] or "–").split()]
        assert words[name][-len(last_words) :] == last_words
    heading, *rest = text.splitlines()
    start = heading.index("data")
    data = {
        line.split()[0]: line[start : start + 4].strip() for line in rest if "/" in line
    }
    assert data["kos-elm/table4"] == "yes"
    assert data["kos-elm/table2"] == "some"
    assert data["kos-elm/text-budget"] == "no"


def test_the_list_of_readings_has_values_tables_and_leaks(elmbench: Callable) -> None:
    listed = {
        (line["reading"], line["value"]): line
        for line in elmbench("list", "readings", "--json").json
    }
    assert [
        listed["c-grid", value]["default"] for value in ("step-3", "all-powers")
    ] == [
        True,
        False,
    ]
    assert "kos-elm/table4" in listed["os-start", "ridge"]["tables"]
    # It has no regression problem.
    assert "kos-elm/table4" not in listed["mg-noise", "0"]["tables"]
    assert "LEAKING" in listed["carry-over", "folds"]["meaning"]
    text = elmbench("list", "readings").out
    assert "step-3 (default) " in text
    assert all(name in text for name in ("LEAKING", *(name for name, _ in listed)))


def test_show_has_protocol_grids_data_cost_and_published_values(
    elmbench: Callable,
) -> None:
    text = elmbench("show", "table4").out
    for what in (
        "kos-elm/table4", "Table IV", "10.1109/TNNLS.2014.2382094", "sylva, wdbc", "10 folds, 3 on "
                                                                                   "wdbc, 20 runs",
        "nested by mcc", "scaled to [0.0, 1.0] over all rows", "0.00390625, 0.03125, ..., 8192 (8)",
        "100, 150, ..., 1000 (19)",
        "ci, fast, paper", "elmbench run kos-elm/table4 --dry-run",
        "c-grid, os-start", "initial_batch=250", "budget in 50, 100,", "0.94", "0.002",
    ):  # fmt: skip
        assert what in text, what
    assert (
        "elmbench --data-dir d run eem/table6 --dry-run"
        in elmbench("show", "eem/table6", "--data-dir", "d").out
    )
    assert "oracle, nested by gmean" in elmbench("show", "eem/table6").out
    assert "holdout, 20 runs" in elmbench("show", "rkelm/table3").out
    assert re.search(
        "^CAR EVALUATION +SVM-RBF +gmean +1.000 +0.000 *$",
        elmbench("show", "eem/table5").out,
        flags=re.MULTILINE,
    )
    content = elmbench("show", "table4", "--json").json
    assert content["values"][0] == {
        "dataset": "Sylva", "model": "ELM", "metric": "mcc", "value": 0.88, "std": 0.003,
        "text": "0.88",
        "note": "", "over_seconds": None, "cited": False,
    }  # fmt: skip
    assert content["id"] == "kos-elm/table4"
    assert content["protocol"]["outer"] == {
        "kind": "stratified-kfold", "folds": 10, "runs": 20, "sizes": {},
        "except": {"wdbc": {"folds": 3}},
    }  # fmt: skip


def test_env_has_versions_and_machine(elmbench: Callable) -> None:
    result = elmbench("env", "--json").json
    assert result["packages"]["numpy"] == np.__version__
    assert result["packages"]["scikit-learn"] == sklearn.__version__
    assert {"elmbench", "scipy", "numba", "pandas"} <= set(result["packages"])
    assert result["cores"] >= 1
    assert all(entry["internal_api"] for entry in result["blas"])
    text = elmbench("env").out
    assert f"numpy {np.__version__}" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_the_suites_own_specs_are_valid(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = elmbench("validate")
    assert result.err == ""
    assert result.out.startswith("valid: ")
    counts = elmbench("validate", "--json").json
    assert counts["experiments"] >= 9
    assert counts["datasets"] >= 37
    # A data set that no table uses is checked too.
    monkeypatch.setattr(
        "elmbench.runs.validate.load_dataset_specs",
        lambda: DatasetSpecs({"toy": {}}, "it.yaml"),
    )
    assert "it.yaml: the key 'toy.title' is missing" in elmbench("validate", code=2).err


def test_papers_and_their_claims(elmbench: Callable) -> None:
    papers = {line["key"]: line for line in elmbench("list", "papers", "--json").json}
    claims = elmbench("list", "claims", "--json").json
    files = load_catalogue().values()
    assert set(papers) == {file.paper.key for file in files}
    assert len(claims) == sum(len(file.spec.claims) for file in files)
    assert len(claims) == sum(paper["claims"] for paper in papers.values())
    of_eem = elmbench("show", "eem", "--json").json
    assert len(of_eem["tables"]) == papers["eem"]["tables"]
    text = elmbench("show", "eem").out
    assert text.startswith("eem  Extreme Entropy Machines")
    assert all(f"{table} " in text for table in of_eem["tables"])


VERBS = ["validate", "list experiments", "list readings", "show one", "run one", "table one",
"check one",
         "baseline update one"]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_reports_the_line_of_a_yaml_error(
    elmbench: Callable, toy: Callable, verb: str
) -> None:
    path = toy()
    path.write_text(path.read_text().replace("datasets:\n", "datasets: [\n"))
    result = elmbench(*verb.split(), code=2)
    assert result.out == ""
    first, expected, following = result.err.splitlines()
    assert first.startswith(f"error: {path}, line ")
    assert expected == "Expected: valid YAML, each key once"
    assert following == "Next: correct the line, then: elmbench validate"


@pytest.mark.parametrize(
    ("changes", "figures", "said"),
    [
        ({"grid": {}}, "WDBC", "unknown key 'grid'; allowed here: aliases, claims, "),
        ({"models": {"A": {"model": "no-elm"}}}, "WDBC", "unknown model 'no-elm'"),
        ({"datasets": ["nope"]}, "WDBC", "unknown data set 'nope'"),
        ({"datasets": ["wdbc", "calhousing"]}, "WDBC", "without a regression metric"),
        (
            {"layout": "curvs"},
            "WDBC",
            sentence("cli.specs.unknown-kind-of-table", kind="curvs", similar="curves"),
        ),
        (
            {},
            "WDCB",
            sentence("cli.specs.unknown-data-set", dataset="WDCB", similar="WDBC"),
        ),
        (
            {},
            "WDBC,ELM,acc,1,,\nWDBC",
            sentence("cli.specs.published-metric-not-in-table", metric="acc"),
        ),
        (
            {},
            "all,ELM,accuracy,0.9,,\nWDBC",
            sentence("cli.specs.published-average-in-table", model="ELM"),
        ),
        (
            {"expect": [{"metric": "mcc", "verdict": "hold", "reason": "so"}]},
            "WDBC",
            "expect has the verdict 'hold' for ",
        ),
        (
            {"expect": [{"metric": "rsme", "verdict": "holds", "reason": "so"}]},
            "WDBC",
            "expect names the metric 'rsme'",
        ),
        (
            {},
            "WDBC,EML,mcc,1,,\nWDBC",
            sentence("cli.project.unknown-published-model", model="EML", similar="ELM"),
        ),
        (
            {"models": {"ELM": {"model": "elm", "params": {"hidden": 3}}}},
            "WDBC",
            "parameter of the model elm: 'hidden'",
        ),
    ],
)
def test_a_spec_error_names_the_wrong_value(
    elmbench: Callable, toy: Callable, changes: dict, figures: str, said: str
) -> None:
    path = toy()
    path.write_text(
        yaml.safe_dump(yaml.safe_load(path.read_text()) | changes, sort_keys=False)
    )
    printed = path.with_name("one.csv")
    printed.write_text(printed.read_text().replace("WDBC", figures, 1))
    result = elmbench("validate", code=2)
    assert result.out == ""
    assert said in result.err
    assert result.err.startswith(f"error: {path}: ")
    assert "Next: " in result.err
    assert "Traceback" not in result.err


def test_an_expected_verdict_may_name_exceptions(
    elmbench: Callable, toy: Callable
) -> None:
    path = toy()
    content = yaml.safe_load(path.read_text())
    verdict = "holds but for ELM on wdbc"
    content["expect"] = [{"metric": "mcc", "verdict": verdict, "reason": "so"}]
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    elmbench("validate")


def test_a_reading_with_a_wrong_parameter_is_named(
    elmbench: Callable, toy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = toy().with_name("paper.yaml")
    content = yaml.safe_load(paper.read_text())
    content["readings"]["order"]["values"]["stored"]["set"]["models"] = {
        "K-ELM": {"params": {"gama": 1}}
    }
    paper.write_text(yaml.safe_dump(content))
    assert (
        "unknown parameter of the model k-elm: 'gama'"
        in elmbench("validate", code=2).err
    )


def test_a_folder_without_specs_lists_no_experiments(
    elmbench: Callable, use_tree: Callable, tmp_path: Path
) -> None:
    use_tree(tmp_path)
    assert elmbench("list", "experiments", "--json").json == []
    elmbench("show", "table4", code=2)


# --- `elmbench data`
# --------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))


def test_every_data_set_is_listed_with_its_source(elmbench: Callable) -> None:
    result = elmbench("data", "status", "--json").json
    states = {entry["name"]: entry["state"] for entry in result}
    assert (states["wdbc"], states["mackey-glass"], states["sylva"]) == (
        "bundled",
        "generated",
        "to fetch",
    )
    assert all(entry["where"] for entry in result)
    assert all(
        entry["next_step"] == f"elmbench data fetch {n}"
        for entry in result
        if states[n := entry["name"]] == "to fetch"
    )
    shown = elmbench("data", "status", "sylva", "WDBC")
    assert "1 to fetch; next: elmbench data fetch" in shown.out


def test_a_file_that_is_bad_has_a_next_step(elmbench: Callable, tmp_path: Path) -> None:
    (tmp_path / "sonar.csv").symlink_to(tmp_path / "gone.csv")
    assert (
        "sonar: next: "
        in elmbench("data", "status", "sonar", "--data-dir", tmp_path).out
    )


def test_import_puts_a_file_where_it_is_found(
    elmbench: Callable, tmp_path: Path
) -> None:
    folder, path = tmp_path / "folder", tmp_path / "mine.csv"
    frame = load_breast_cancer(as_frame=True).frame
    words = ("data", "import", "wdbc", path, "--data-dir", folder)
    frame.assign(**{"mean area": frame["mean area"].to_numpy()[::-1]}).to_csv(
        path, index=False
    )
    assert "is other data than the public file" in elmbench(*words, code=2).err
    assert "is other data than the public file" in elmbench(*words, "--other-data").out
    frame.to_csv(path, index=False)
    assert (
        "gone.csv is not a file" in elmbench(*words, "--test", "gone.csv", code=2).err
    )
    result = elmbench(*words, "--json").json
    assert (result["rows"], result["columns"]) == (569, 30)
    assert [path.name for path in folder.iterdir()] == ["wdbc.csv"]
    (entry,) = elmbench("data", "status", "wdbc", "--data-dir", folder, "--json").json
    assert entry["state"] == "file"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up server with one data set, which is in the cache."""

    def fetch(name: str, *, progress: object = None, force: bool = False) -> Fetched:
        if name != "sonar":
            raise DataUnavailableError(
                f"{name} cannot be reached", next_step="elmbench data status"
            )
        return Fetched(name, "made up", force)

    monkeypatch.setattr(fetching, "fetch_dataset", fetch)


def test_fetch_names_each_source_and_continues_after_a_failure(
    elmbench: Callable, server: None
) -> None:
    assert (
        elmbench("data", "fetch", "sonar", "--force").out
        == "sonar: fetched (made up)\n"
    )
    (line,) = elmbench("data", "fetch", "sonar", "--json").json
    assert line == {"name": "sonar", "origin": "made up", "downloaded": False}
    result = elmbench("data", "fetch", "heart", "sonar", "--data-dir", "d", code=2)
    assert sentence("cli.data.source-not-reached", dataset="heart") in result.err
    assert result.out == "sonar: is here already (made up)\n"
    result = elmbench("data", "fetch", "--all", code=2)
    assert "error: heart" in result.err
    assert "error: wdbc" not in result.err


def test_the_command_prints_a_schema(elmbench: Callable) -> None:
    text = elmbench("schema", "experiment").out
    assert json.loads(text) == json_schema("experiment")
    assert elmbench("schema", "paper", "--json").json == json_schema("paper")


def test_a_schema_knows_the_sources_of_a_plugin(elmbench: Callable) -> None:
    Path("laboratory.py").write_text(
        "from typing import Literal\n"
        "from elmbench.datasets.sources import Source\n"
        "class Laboratory(Source):\n"
        '    kind: Literal["laboratory"]\n'
        "    #: The number of the shelf.\n"
        "    shelf: int\n"
        "    def load(self, request): ...\n"
        'SOURCES = {"laboratory": Laboratory}\n'
    )
    schema = elmbench("schema", "datasets", "--plugin", "laboratory.py").json
    shelf = schema["$defs"]["Laboratory"]["properties"]["shelf"]
    assert (shelf["type"], shelf["description"]) == (
        "integer",
        "The number of the shelf.",
    )
