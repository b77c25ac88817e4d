"""What tables would take: what is written beside the specs is what their plans say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elmbench.specs.catalogue import ExperimentFile, find_experiment, load_catalogue, overlay
from elmbench.workflow import costs as written
from elmbench.workflow.costs import costs, planned_costs


def test_they_are_written_of_every_table_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails: make costs."""

    def planned(file: ExperimentFile) -> dict[str, float]:
        raise AssertionError(f"{file.id} is planned anew")

    monkeypatch.setattr(written, "planned_costs", planned)
    for file in load_catalogue().values():
        assert list(costs(file)) == file.profiles


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", load_catalogue())
def test_they_are_those_of_the_plans(name: str) -> None:
    """If this fails: make costs."""
    file = find_experiment(name)
    # Sums in another order, rounded to four digits.
    assert costs(file) == pytest.approx(planned_costs(file), rel=2e-3)


def test_a_table_that_was_changed_is_planned_anew() -> None:
    file = find_experiment("kos-elm/table7")
    changed = replace(file, content=overlay(file.content, {"protocol": {"outer": {"runs": 1}}}))
    assert costs(changed)["paper"] == planned_costs(changed)["paper"] < costs(file)["paper"] / 2


def test_nothing_is_written_of_tables_of_a_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "_written", dict)
    file = find_experiment("kos-elm/table7")
    assert costs(file) == planned_costs(file)
