"""The diagram of average ranks on a page."""

import pandas as pd
import pytest

from elmbench.judging.rank_statistics import Statistics
from elmbench.report.site.rank_diagrams import RankDiagram

LONG = "OSPVM (1-by-1 and 16-by-16)"


@pytest.mark.parametrize("models", [[LONG, "PVM", "ELM"], ["PVM", "ELM", LONG]])
def test_a_long_name_has_space_beside_the_axis(models: list[str]) -> None:
    values = pd.DataFrame([[3, 2, 1], [3, 2, 1]], columns=models)
    diagram = RankDiagram("ranks", Statistics("measured", values))
    (name,) = (name for name in diagram.names if LONG in name.text)
    # A character is 7 to 8 wide.
    space = name.x if name.anchor == "end" else diagram.width - name.x
    assert space >= 7.5 * len(name.text)
    left, right, _ = diagram.axis
    assert (left, diagram.width - right) != (180, 180)
