"""Profiles of the property tests: the same problems each time, and new ones in `make fuzz`."""

from hypothesis import settings

#: Examples of a test that names no number, of `make test`, `make test-all` and `make fuzz`.
PROFILES = {"quick": 10, "thorough": 100, "fuzz": 500}


def register_profiles() -> None:
    """Register the profiles and load the first, which `--hypothesis-profile` replaces."""
    # No deadline: a machine may be slow. No database: earlier runs must not matter.
    common = settings(deadline=None, database=None)
    for name, count in PROFILES.items():
        new = name == "fuzz"
        settings.register_profile(
            name, common, derandomize=not new, print_blob=new, max_examples=count
        )
    settings.load_profile("quick")


def examples(count: int) -> settings:
    """Return the settings of a test with `count` examples in `make test-all`, in proportion in the
    other profiles.
    """
    return settings(
        max_examples=max(1, count * settings().max_examples // PROFILES["thorough"])
    )
