"""What once broke a reader is refused now, and so are some inputs that are nearly right; `make fuzz` tries new ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_feeding import feed
from fuzz_targets import TARGETS
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

CORPUS = Path(__file__).with_name("corpus")
FINDS = sorted(path.relative_to(CORPUS) for path in CORPUS.glob("*/*"))


@pytest.mark.parametrize("find", FINDS, ids=str)
def test_what_once_broke_it(find: Path, tmp_path: Path) -> None:
    feed(TARGETS[find.parent.name], (CORPUS / find).read_bytes(), tmp_path / "in")


def test_finds_are_small_and_of_known_targets() -> None:
    assert {find.parent.name for find in FINDS} <= set(TARGETS)
    assert all((CORPUS / find).stat().st_size < 10_000 for find in FINDS)


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_that_are_nearly_right(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    @examples(10)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        feed(TARGETS[name], data.draw(TARGETS[name].inputs()), tmp_path_factory.mktemp("fuzz") / "in")

    check()
