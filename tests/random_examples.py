"""How many random problems a property test is tried on: always the same ones, more and new ones in `make fuzz`."""

from __future__ import annotations

from hypothesis import settings

#: Examples of a test that names no number, by profile; `make fuzz` runs the second.
PROFILES = {"default": 100, "fuzz": 500}


def register_profiles() -> None:
    """Register the profiles; the first holds unless pytest is called with `--hypothesis-profile`."""
    common = settings(deadline=None, database=None)  # a machine may be slow, and what it saw before is not to count
    settings.register_profile("default", common, derandomize=True, max_examples=PROFILES["default"])
    settings.register_profile("fuzz", common, derandomize=False, print_blob=True, max_examples=PROFILES["fuzz"])
    settings.load_profile("default")


def examples(count: int) -> settings:
    """Return the settings of a test with `count` examples, as many times more as the profile has more than usual."""
    return settings(max_examples=count * settings().max_examples // PROFILES["default"])
