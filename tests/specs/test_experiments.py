"""Experiment files: what they may say, and what the message names where they say something else."""

import re
from typing import Any

import pytest
from pydantic import ValidationError
from sentences import pattern

from elmbench.errors import ElmbenchError
from elmbench.specs.experiments import Experiment
from elmbench.specs.files import parse_spec
from elmbench.specs.measures import Measure
from elmbench.specs.papers import ChosenReading, Paper


def parse(content: dict[str, Any]) -> Experiment:
    return parse_spec(Experiment, content, "dir/one.yaml")


def put(content: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    *way, last = path.split("/")
    section = content
    for key in way:
        section = section.setdefault(key, {})
    section[last] = value
    return content


def test_a_valid_file_is_read(experiment: dict[str, Any]) -> None:
    spec = parse(experiment)
    assert spec.paper == "toy"
    assert spec.protocol.selections == ("nested",)
    assert spec.models["FB-KOS-ELM"].like == "K-ELM"
    assert spec.models["ELM"].carry_over == "none"
    with pytest.raises(ValidationError):
        spec.title = "other"


@pytest.mark.parametrize("name", ["inner", "select"])
def test_a_search_needs_inner_splits_and_a_selection(
    experiment: dict[str, Any], name: str
) -> None:
    del experiment["protocol"][name]
    with pytest.raises(
        ElmbenchError, match=f"searches hyperparameters, but protocol has no {name}"
    ):
        parse(experiment)
    experiment["models"] = {"ELM": {"model": "elm", "params": {"n_hidden": 20}}}
    experiment["claims"] = []
    assert parse(experiment).models["ELM"].params == {"n_hidden": 20}


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("titel", "title"),
        ("protocol/outer/except/wdbc/fold", "folds, runs"),
        ("protocol/scale/fit_on", "fit-on, kind, range"),
        ("models/ELM/carry_over", "carry-over"),
        ("models/ELM/search/C/stpe", "from, powers-of-10"),
    ],
)
def test_unknown_keys_are_errors_with_the_allowed_ones(
    experiment: dict[str, Any], path: str, allowed: str
) -> None:
    if "/search/" in path:
        experiment["models"]["ELM"]["search"] = {"C": {"powers-of-2": [0, 1]}}
    with pytest.raises(ElmbenchError) as error:
        parse(put(experiment, path, 1))
    text = str(error.value)
    assert (
        f"dir/one.yaml: unknown key '{path.replace('/', '.')}'; allowed here: " in text
    )
    assert allowed in text
    assert "Next: correct it, then: elmbench validate" in text


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("id", "Toy/One", r"'id' is 'Toy/One'"),
        (
            "protocol/outer/folds",
            1,
            pattern("specs.experiments.one-fold"),
        ),
        (
            "protocol/outer/except",
            {"sylva": {"folds": 2}},
            "'sylva'; expected one of wdbc",
        ),
        ("protocol/metrics", ["mcc", "auc"], r"'protocol\.metrics\.1' is 'auc'"),
        (
            "models/ELM/search",
            ["D"],
            pattern(
                "specs.experiments.unknown-grid", grid="D", grids="C, gamma, n_hidden"
            ),
        ),
        ("models/ELM/params", {"C": 1}, "both searches and fixes 'C'"),
        (
            "models/ELM/like",
            "K-ELM",
            pattern(
                "specs.experiments.like-no-column-before", column="ELM", model="K-ELM"
            ),
        ),
        ("models/OS-ELM/like", "FB-KOS-ELM", "expected a column before it: ELM, K-ELM"),
        ("models/OS-ELM/like", "OS-ELM", "expected a column before it: ELM, K-ELM"),
        (
            "protocol/select",
            True,
            pattern("specs.experiments.selection-not-a-word", selection="True"),
        ),
        (
            "protocol/select",
            [],
            r"'protocol\.select': expected 'nested', 'once', 'oracle'",
        ),
        (
            "protocol/scale/range",
            [1, 1],
            pattern("specs.experiments.range-not-ascending", range="[1.0, 1.0]"),
        ),
        ("protocol/outer/runs", 10**30, r"'protocol\.outer\.runs'"),
        (
            "protocol/outer/runs",
            10**9,
            pattern("specs.experiments.number-too-large", runs=10**9),
        ),
        (
            "models/ELM/search",
            {"C": "1 to 8"},
            r"'models\.ELM\.search\.C' is '1 to 8': expected a list of values",
        ),
        ("data", {"sylva": {}}, "data names 'sylva'"),
        ("limit", "time=soon", r"'limit' is 'time=soon': .*expected time=NUMBER"),
        ("models/ELM/printed", {"C": "2*C"}, r"'models\.ELM\.printed\.C' is '2\*C'"),
        (
            "models/ELM/except",
            {"heart": {"params": {"gamma": 1}}},
            r"models\.ELM names 'heart'; expected one of wdbc",
        ),
        ("models/ELM/only", ["heart"], r"models\.ELM names 'heart'"),
        (
            "models/ELM/not-run",
            {"heart": "it would take days"},
            r"models\.ELM names 'heart'",
        ),
        (
            "models/ELM/except",
            {"wdbc": {"search": ["delta"]}},
            "names the grid 'delta'",
        ),
        (
            "models/ELM/except",
            {"wdbc": {"params": {"C": 1}}},
            "both searches and fixes 'C'",
        ),
        ("protocol/outer", {"kind": "holdout"}, "expected sizes, by data set"),
        (
            "protocol/outer",
            {"kind": "official", "sizes": {"wdbc": {"test": 5}}},
            "expected no sizes",
        ),
        (
            "protocol/outer",
            {"kind": "holdout", "folds": 3, "sizes": {"wdbc": {"test": 5}}},
            "expected no folds",
        ),
        ("protocol/outer", {"kind": "kfold"}, "expected folds of 2 or more"),
        (
            "protocol/outer",
            {"kind": "holdout", "sizes": {"wdbc": {}}},
            "expected train, test or both",
        ),
        (
            "profiles/ci/datasets",
            ["sylva"],
            r"profiles\.ci.* names 'sylva'; expected one of wdbc",
        ),
        (
            "profiles/ci/stand-ins",
            ["wdbc"],
            pattern("specs.experiments.stand-in-of-the-table-itself", dataset="wdbc"),
        ),
        (
            "profiles/ci",
            {"stand-ins": ["sylva"], "datasets": ["wdbc"]},
            "expected in profile ci only, and without",
        ),
        (
            "profiles/fast",
            {"stand-ins": ["sylva"]},
            r"profiles\.fast\.stand-ins: expected in profile ci only",
        ),
        (
            "profiles/ci/except",
            {"sylva": {"runs": 2}},
            r"profiles\.ci.* names 'sylva'; expected one of wdbc",
        ),
        (
            "profiles/ci/except",
            {"wdbc": {"run": 2}},
            r"unknown key 'profiles\.ci\.except\.wdbc\.run'",
        ),
        (
            "profiles/ci/models",
            ["SVM"],
            r"profiles\.ci\.models names 'SVM'; expected one of ELM, K-ELM",
        ),
        (
            "profiles/ci/models",
            ["FB-KOS-ELM"],
            "'FB-KOS-ELM' without 'K-ELM', which it is like",
        ),
        (
            "profiles/fsat",
            {"runs": 1},
            pattern("specs.experiments.unknown-profile", profile="fsat"),
        ),
    ],
)
def test_wrong_values_are_errors_with_the_expected_ones(
    experiment: dict[str, Any], path: str, value: Any, message: str
) -> None:
    parse(experiment)
    with pytest.raises(ElmbenchError, match=message) as error:
        parse(put(experiment, path, value))
    assert str(error.value).startswith("dir/one.yaml: ")


@pytest.mark.parametrize(
    "path",
    [
        "id",
        "title",
        "label",
        "datasets",
        "protocol",
        "protocol/outer",
        "protocol/metrics",
    ],
)
def test_missing_keys_are_errors(experiment: dict[str, Any], path: str) -> None:
    way, _, last = path.rpartition("/")
    del (experiment[way] if way else experiment)[last]
    with pytest.raises(
        ElmbenchError,
        match=rf"^dir/one\.yaml: the key '{path.replace('/', '.')}' is missing",
    ):
        parse(experiment)


def test_every_fault_is_named_at_once(experiment: dict[str, Any]) -> None:
    put(experiment, "protocol/titel", "x")
    put(experiment, "title", 1)
    with pytest.raises(ElmbenchError) as error:
        parse(experiment)
    assert str(error.value).count("dir/one.yaml: ") == 2


@pytest.mark.parametrize("content", [None, [], 3, "text"])
def test_a_file_that_is_no_mapping(content: Any) -> None:
    with pytest.raises(
        ElmbenchError, match=r"^dir/one\.yaml: expected a mapping of keys"
    ):
        parse(content)


@pytest.mark.parametrize(
    ("task", "metrics", "chosen_by"),
    [
        ("classification", ["fit_seconds", "mcc", "gmean"], "mcc"),
        ("regression", ["mcc", "nrmse", "rmse"], "nrmse"),
        ("regression", ["mcc", "n_units"], None),
        ("classification", ["fit_seconds"], None),
    ],
)
def test_hyperparameters_are_chosen_by_the_first_metric_of_the_task(
    experiment: dict[str, Any], task: str, metrics: list[str], chosen_by: str | None
) -> None:
    protocol = parse(put(experiment, "protocol/metrics", metrics)).protocol
    if chosen_by:
        assert protocol.metric_for(task) == chosen_by
        return
    with pytest.raises(ElmbenchError, match=f"without a {task} metric"):
        protocol.metric_for(task)


PAPER = {"key": "p", "title": "t", "authors": "a", "year": 2020, "doi": "d"}


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"question": "?", "values": {"a": {"says": "x"}}}, "at least 2"),
        (
            {"values": {"a": {"says": "x"}, "b": {"says": "y"}}},
            r"'readings\.r\.question' is missing",
        ),
        (
            {
                "question": "?",
                "values": {"a": {"says": "x", "sets": {}}, "b": {"says": "y"}},
            },
            "unknown key .*sets'",
        ),
        (
            {
                "question": "?",
                "values": {
                    "a": {"says": "x", "set": {"title": "t"}},
                    "b": {"says": "y"},
                },
            },
            "the first value, 'a', sets something",
        ),
    ],
)
def test_readings_that_are_not_valid_are_rejected(
    reading: dict[str, Any], message: str
) -> None:
    with pytest.raises(ElmbenchError, match=message):
        parse_spec(Paper, PAPER | {"readings": {"r": reading}}, "paper.yaml")


def test_the_citation_of_a_paper_with_and_without_a_doi() -> None:
    assert Paper(**PAPER).citation == "a (2020), doi:d"
    assert (
        parse_spec(
            Paper, {name: PAPER[name] for name in PAPER if name != "doi"}, ""
        ).citation
        == "a (2020)"
    )


CLAIM = {
    "says": "x",
    "dataset": "wdbc",
    "metric": "mcc",
    "model": "ELM",
    "than": "others",
}


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"is": "close"}, "close with within: 0; expected a margin"),
        ({"is": "above", "within": 0.1}, "above with within: 0.1; expected a margin"),
        (
            {"is": "no-worse", "within": 0.1, "metric": "fit_seconds"},
            pattern("specs.experiments.claim-about-a-time"),
        ),
        (
            {"is": "between", "metric": "fit_seconds"},
            pattern("specs.experiments.ratio-without-between"),
        ),
        (
            {"is": "between", "metric": "fit_seconds", "between": [0.5, 0.2]},
            "the two ends of a ratio",
        ),
        (
            {"is": "below", "between": [0.2, 0.5]},
            pattern("specs.experiments.ratio-without-between"),
        ),
        (
            {"is": "between", "between": [0.2, 0.5]},
            pattern("specs.experiments.ratio-of-a-share"),
        ),
        (
            {"is": "above", "also": [{"model": "SVM"}]},
            r"claims.0 names the column 'SVM'",
        ),
        (
            {"is": "above", "also": [{"dataset": "sylva"}]},
            "claims names 'sylva'; expected one of wdbc",
        ),
        (
            {"is": "above", "dataset": "sylva"},
            "claims names 'sylva'; expected one of wdbc",
        ),
        *(
            (
                {"is": "above", "metric": metric},
                rf"'claims\.0\.metric' is '{re.escape(metric)}': expected one of mcc, .* such as "
                r"gmean@h=50",
            )
            for metric in (
                "auc",
                "gmean@h=",
                "gmean@=5",
                "gmean@C=2^x",
                "gmean@C=inf",
                "gmean@C=2^9999",
            )
        ),
    ],
)
def test_claims_that_cannot_be_tested(
    experiment: dict[str, Any], claim: dict[str, Any], message: str
) -> None:
    with pytest.raises(ElmbenchError, match=message):
        parse(put(experiment, "claims", [CLAIM | claim]))


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        (
            {"claim": "y"},
            pattern("specs.experiments.expectation-of-no-claim"),
        ),
        (
            {"dataset": "wdbc", "model": "SVM", "metric": "mcc"},
            r"expect.0 names the column 'SVM'",
        ),
        (
            {"dataset": "sylva", "model": "ELM", "metric": "mcc"},
            "expect names 'sylva'; expected one of wdbc",
        ),
    ],
)
def test_an_expectation_about_nothing_in_the_table_is_rejected(
    experiment: dict[str, Any], subject: dict[str, str], message: str
) -> None:
    put(experiment, "claims", [CLAIM | {"is": "above"}])
    expectation = subject | {"verdict": "differs", "reason": "r"}
    with pytest.raises(ElmbenchError, match=message):
        parse(put(experiment, "expect", [expectation]))


def test_other_comparisons_of_a_claim_take_what_they_do_not_name_from_it(
    experiment: dict[str, Any],
) -> None:
    also = [{"metric": "gmean", "than": None}, {"model": "K-ELM", "than": ["ELM"]}]
    (claim,) = parse(
        put(experiment, "claims", [CLAIM | {"is": "above", "also": also}])
    ).claims
    compared = [(one.model, one.metric.column, one.than) for one in claim.comparisons]
    assert compared == [
        ("ELM", "mcc", "others"),
        ("ELM", "gmean", "others"),
        ("K-ELM", "mcc", ("ELM",)),
    ]


def test_a_claim_names_a_measure(experiment: dict[str, Any]) -> None:
    claim = CLAIM | {"metric": "gmean@h=500", "is": "above", "than-metric": "mcc"}
    (result,) = parse(put(experiment, "claims", [claim])).claims
    assert (result.metric, result.than_metric) == (
        Measure("gmean", "h", 500),
        Measure("mcc"),
    )
    assert result.model_dump(mode="json", by_alias=True)["metric"] == "gmean@h=500"


def test_readings_of_a_label_know_whether_they_leak() -> None:
    values = {"none": {"says": "x"}, "folds": {"says": "y", "leaks": True}}
    paper = parse_spec(
        Paper,
        PAPER | {"readings": {"carry-over": {"question": "?", "values": values}}},
        "paper.yaml",
    )
    result = paper.read_label("c-grid=all-powers;carry-over=folds")
    # A reading that the paper no longer declares keeps its name.
    assert result == (
        ChosenReading("c-grid", "all-powers"),
        ChosenReading("carry-over", "folds", leaks=True),
    )
    assert ";".join(map(str, result)) == "c-grid=all-powers;carry-over=folds"
    assert paper.read_label("") == ()
