"""Shell completion of tables, data sets and models."""

from collections.abc import Iterator


def tables(incomplete: str) -> Iterator[str]:
    """Yield the ids and aliases of tables that begin with the given text."""
    from elmbench.specs.catalogue import load_catalogue

    names = (name for file in load_catalogue().values() for name in (file.id, *file.spec.aliases))
    return (name for name in names if name.startswith(incomplete))


def datasets(incomplete: str) -> Iterator[str]:
    """Yield the names of data sets that begin with the given text."""
    from elmbench.specs.datasets import load_dataset_specs

    return (name for name in load_dataset_specs() if name.startswith(incomplete))


def models(incomplete: str) -> Iterator[str]:
    """Yield the names of models that begin with the given text."""
    from elmbench.registry import list_models

    return (name for name in list_models() if name.startswith(incomplete))
