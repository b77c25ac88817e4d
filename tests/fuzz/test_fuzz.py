"""Inputs that once broke a reader are refused, and so are nearly right ones; `make fuzz` tries many
new ones.
"""

from pathlib import Path

import fuzz_cells
import fuzz_rows
import fuzz_specs
import pytest
from fuzz_inputs import Target, feed
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

#: The readers in which faults were found.
TARGETS: dict[str, Target] = fuzz_rows.TARGETS | fuzz_specs.TARGETS | fuzz_cells.TARGETS
CORPUS = Path(__file__).with_name("corpus")
FINDS = sorted(path.relative_to(CORPUS) for path in CORPUS.glob("*/*"))


@pytest.mark.parametrize("find", FINDS, ids=str)
def test_what_once_broke_it(find: Path, tmp_path: Path) -> None:
    feed(TARGETS[find.parent.name], (CORPUS / find).read_bytes(), tmp_path / "in")


@pytest.mark.parametrize("name", TARGETS)
@examples(10)
@given(data=st.data())
def test_inputs_that_are_nearly_right(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    feed(
        TARGETS[name],
        data.draw(TARGETS[name].inputs()),
        tmp_path_factory.mktemp("fuzz") / "in",
    )
