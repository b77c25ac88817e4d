"""`elmbench env`."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import sklearn


def test_versions_and_machine(elmbench: Callable) -> None:
    result = elmbench("env", "--json").json
    assert result["packages"]["numpy"] == numpy.__version__
    assert result["packages"]["scikit-learn"] == sklearn.__version__
    assert {"elmbench", "scipy", "numba", "pandas"} <= set(result["packages"])
    assert result["cores"] >= 1
    assert all(entry["internal_api"] for entry in result["blas"])
    text = elmbench("env").out
    assert f"numpy {numpy.__version__}" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
