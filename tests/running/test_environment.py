"""The description of software and machine."""

from __future__ import annotations

from elmbench.running.environment import describe_environment


def test_versions_and_machine() -> None:
    found = describe_environment()
    assert {"numpy", "scipy", "scikit-learn", "numba"} <= set(found["packages"])
    assert found["python"].startswith("3.")
    assert found["blas"]
    assert found["blas"][0]["internal_api"]
    assert found["cores"] >= 1
    assert found["memory_gib"] is None or found["memory_gib"] > 0
    assert describe_environment() == found
