"""Files of tables and papers: invalid ones are rejected, and papers set margins."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmbench.errors import ElmbenchError
from elmbench.metrics import unit_of
from elmbench.specs.catalogue import load_catalogue

WriteTree = Callable[..., Path]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([{}, {"id": "toy/two"}], r"two\.yaml: the name 'one' is taken by .*one\.yaml"),
        ([{"aliases": [{}]}], r"one\.yaml: 'aliases\.0': expected text"),
        (
            [{}, {"id": "toy/two", "aliases": [], "models": 5}],
            r"two\.yaml: 'models' is 5: expected a mapping",
        ),
        ([{"readings": ["odrer"]}], r"unknown reading 'odrer'.*(?s:.*)defines: order"),
        ([{"published": {"values": "none.csv"}}], r"none\.csv does not exist"),
        (
            [{"expect": [{"metric": "acuracy", "verdict": "holds", "reason": "so"}]}],
            r"one\.yaml: expect names the metric 'acuracy'(?s:.*)one of none",
        ),
        (
            [{"grids": {"C": {"from": 0, "to": 1e9, "step": 1}}}],
            r"one\.yaml: 'grids\.C': the grid holds more than",
        ),
    ],
)
def test_tables_that_are_not_valid_are_rejected(
    write_tree: WriteTree,
    experiment: dict[str, Any],
    tables: list[dict[str, Any]],
    message: str,
) -> None:
    with pytest.raises(ElmbenchError, match=message):
        load_catalogue(write_tree(*(experiment | changes for changes in tables)))


def test_files_have_the_names_of_their_tables_and_papers(
    write_tree: WriteTree, paper: dict[str, Any]
) -> None:
    with pytest.raises(ElmbenchError, match=r"paper\.yaml: the key is 'tyo'"):
        load_catalogue(write_tree(paper=paper | {"key": "tyo"}))
    folder = write_tree() / "experiments" / "toy"
    (folder / "one.yaml").rename(folder / "uno.yaml")
    with pytest.raises(
        ElmbenchError, match=r"uno\.yaml: the id is 'toy/one'(?s:.*)'toy/uno'"
    ):
        load_catalogue(folder.parents[1])
    (folder / "uno.yaml").rename(folder / "one.yml")
    with pytest.raises(ElmbenchError, match=r"one\.yml is not read(?s:.*)one\.yaml"):
        load_catalogue(folder.parents[1])
    (folder / "one.yml").rename(folder / "one.yaml")
    (folder / "paper.yaml").unlink()
    load_catalogue.cache_clear()
    with pytest.raises(
        ElmbenchError, match=r"toy holds experiments but no paper\.yaml"
    ):
        load_catalogue(folder.parents[1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"margins": {"mc": 0.01}},
            r"paper\.yaml: margins names the metric 'mc', which has no verdict(?s:.*)one of .*mcc",
        ),
        ({"margins": {"fit_seconds": 0.1}}, "margins names the metric 'fit_seconds'"),
        (
            {"margins": {"mcc": -0.01}},
            r"'margins\.mcc' is -0\.01: expected a number greater than 0",
        ),
        (
            {"margins": {"mcc": 0.2}},
            r"the margin of mcc is 0\.2(?s:.*)at most 0\.1, 5 times the standard",
        ),
        (
            {"margins": {"mcc": 0}},
            r"'margins\.mcc' is 0: expected a number greater than 0",
        ),
        (
            {"margins": {"mcc": "small"}},
            r"'margins\.mcc' is 'small': expected a valid number",
        ),
        (
            {"margins": {"mcc": True}},
            r"'margins\.mcc' is True: expected a valid number",
        ),
        (
            {"margins": {"mcc": float("nan")}},
            r"'margins\.mcc' is nan: expected a finite number",
        ),
        (
            {"proposed": ["FB-KOS-ELM"]},
            r"proposed names the model 'FB-KOS-ELM', which no table has(?s:.*)one of .*fb-kos-elm",
        ),
        ({"proposed": "elm"}, r"'proposed' is 'elm': expected a list"),
    ],
)
def test_an_error_in_the_margins_or_the_proposed_models_of_a_paper(
    write_tree: WriteTree, paper: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ElmbenchError, match=message) as caught:
        load_catalogue(write_tree(paper=paper | change))
    assert str(caught.value).count("paper.yaml: ") == 1


def test_a_paper_has_a_margin_and_proposed_models(
    write_tree: WriteTree, paper: dict[str, Any]
) -> None:
    keys = {"margins": {"mcc": 0.1, "rmse": 0.05}, "proposed": ["fb-kos-elm"]}
    result = load_catalogue(write_tree(paper=paper | keys))["toy/one"].paper
    assert result.proposed == ("fb-kos-elm",)
    assert result.unit_of("mcc") == unit_of("mcc")._replace(margin=0.1)
    assert result.unit_of("rmse").margin_of(0.5) == pytest.approx(0.025)
    assert result.unit_of("accuracy") == unit_of("accuracy")
