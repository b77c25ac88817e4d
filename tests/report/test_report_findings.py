"""The findings in paper.yaml: their numbers are those of the committed results."""

from pathlib import Path

import pandas as pd
import pytest
from made_cells import RESULTS, committed
from sentences import sentence

from elmbench.judging.summary import PUBLISHED_KEY
from elmbench.judging.verdict_words import COMPLETE
from elmbench.registry import registry
from elmbench.report.build_site import gather_papers
from elmbench.report.papers import PaperResults
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.measures import UNJUDGED
from elmbench.specs.papers import PaperFinding

ROOT = Path(__file__).parents[2]
FINDINGS = {
    finding.title: finding
    for table in ("kos-elm/table4", "eem/table4")
    for finding in find_experiment(table).paper.findings
}


def finding_about(words: str) -> tuple[PaperFinding, str]:
    """Return the finding with these words in its title, and its evidence."""
    (finding,) = (finding for title, finding in FINDINGS.items() if words in title)
    return finding, " ".join(finding.evidence)


@pytest.mark.parametrize("title", FINDINGS)
def test_the_readme_has_each_finding(title: str) -> None:
    words = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert title.partition(":")[0] in words


def test_the_dictionary_that_leaks() -> None:
    paper: PaperResults
    (paper,) = gather_papers(
        ResultsDirs(RESULTS),
        lambda files: [one for one in files if one.spec.paper == "kos-elm"],
    )
    finding, evidence = finding_about("comes within")
    readings = paper.judged.readings
    lines = readings[
        (readings["experiment"] == "kos-elm/table4")
        & (readings["model"] == "FB-KOS-ELM")
    ].assign(distance=(readings["mean"] - readings["published"]).abs())
    lines = lines[lines["metric"] == "mcc"]
    fresh, leaking = (
        lines[
            (lines["reading"] == "carry-over") & (lines["value"] == value)
        ].sort_values("dataset")
        for value in ("none", "folds")
    )
    assert leaking["leaks"].all()
    distances, printed = leaking["distance"].map("{:.3f}".format), leaking["published"]
    names = leaking["dataset"]
    assert [*names] == ["Sylva", "WDBC"]
    assert (
        sentence(
            "report.findings.leaking-dictionary",
            sylva_distance=distances.iloc[0],
            wdbc_distance=distances.iloc[1],
            sylva_published=printed.iloc[0],
            wdbc_published=printed.iloc[1],
        )
        in finding.title
    )
    means = [[f"{mean:.3f}" for mean in part["mean"]] for part in (fresh, leaking)]
    assert (
        sentence(
            "report.findings.mcc-of-fb-kos-elm", sylva=means[0][0], wdbc=means[0][1]
        )
        in evidence
    )
    assert (
        sentence(
            "report.findings.mcc-with-leaking-dictionary",
            sylva=means[1][0],
            wdbc=means[1][1],
        )
        in evidence
    )
    for _, line in leaking.iterrows():
        is_inside = line["low"] <= line["published"] <= line["high"]
        assert (
            f"{line['low']:.4f} to {line['high']:.4f} on {line['dataset']}, where "
            f"{line['published']:g} is {'inside' if is_inside else 'outside'}"
        ) in evidence
        # "No other reading comes as near."
        others = lines[(lines["dataset"] == line["dataset"]) & ~lines["leaks"]]
        assert (others["distance"] > line["distance"]).all()


def test_the_dictionary_that_leaks_on_california_housing() -> None:
    _, evidence = finding_about("California housing")
    lines = committed("fast/kos-elm/table6").summary
    lines = lines[
        (lines["dataset"] == "calhousing")
        & (lines["model"] == "FB-KOS-ELM")
        & (lines["metric"] == "nrmse")
    ]
    means = lines.groupby("reading")["mean"].first().map("{:.3f}".format)
    assert (
        sentence(
            "report.findings.nrmse-of-fb-kos-elm",
            fresh=means[""],
            carried=means["carry-over=folds"],
            published=lines["published"].iloc[0],
        )
        in evidence
    )
    assert f"a fresh model has {means['order=stored']}" in evidence


def test_the_choice_on_the_test_folds() -> None:
    finding, evidence = finding_about("chosen on the test folds")
    lines = comparable("paper/eem/table4")
    means = lines[lines["reading"] == ""].pivot_table(
        "mean", [*PUBLISHED_KEY, "published"], "select"
    )
    means = means[["oracle", "nested"]].dropna().reset_index()
    distances = means[["oracle", "nested"]].sub(means["published"], axis=0).abs()
    nearer = distances["nested"] - distances["oracle"]
    models = committed("paper/eem/table4").resolved.file.spec.models
    names = means["model"].map(
        lambda column: registry()[models[column].model].name.upper()
    )
    of_oracle = []
    for model, part in nearer.groupby(names):
        oracle, nested, equal = (part > 0).sum(), (part < 0).sum(), (part == 0).sum()
        assert f"{model} {oracle}:{nested}:{equal}" in evidence.replace("(", "")
        if oracle >= 2 * nested:
            of_oracle.append(model)
    assert sorted(of_oracle) == ["EEKM", "EEM", "LS-SVM"]
    assert "EEM, LS-SVM and EEKM in Table 4" in finding.title
    printed = {
        number: {
            (value.model, value.dataset, value.metric): value.value
            for value in find_experiment(f"eem/table{number}").published.values
        }
        for number in (4, 9, 10)
    }
    shared, better = {}, {}
    for number in (9, 10):
        pairs = [
            (value, printed[number][key])
            for key, value in printed[4].items()
            if printed[number].get(key) is not None
            and value is not None
            and key[2] == "gmean"
        ]
        shared[number] = len(pairs)
        better[number] = sum(other > value for value, other in pairs)
    assert shared == {9: 81, 10: 81}
    assert (
        f"Table 9 has {better[9]} better ones, and Table 10 has {better[10]}"
        in evidence
    )


def test_the_table_that_no_reading_reproduces() -> None:
    _, evidence = finding_about("Table 1 of EEM")
    lines = comparable("fast/eem/table1")
    lines = lines[lines["low"].notna()]
    outside = (lines["published"] < lines["low"]) | (lines["published"] > lines["high"])
    is_opposite = lines["mean"] * lines["published"] < 0
    values = lines.assign(outside=outside, opposite=is_opposite).groupby(PUBLISHED_KEY)
    assert (
        sentence(
            "report.findings.values-outside-under-all-readings",
            readings=lines["reading"].nunique(),
            runs=lines["runs"].min(),
            outside=values["outside"].all().sum(),
            values=len(values),
        )
        in evidence
    )
    assert (
        f"{values['opposite'].all().sum()} have the opposite sign under all" in evidence
    )
    assert values["outside"].all().mean() > 0.5


def comparable(name: str) -> pd.DataFrame:
    """Return the lines of published values that get a verdict, measured on whole data sets."""
    results = committed(name)
    lines = results.summary
    lines = lines[
        lines["published"].notna()
        & (lines["ended"] == COMPLETE)
        & ~lines["metric"].isin(UNJUDGED)
    ]
    return lines[lines["dataset"].map(results.resolved.compares).astype(bool)]
