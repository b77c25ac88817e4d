"""Options that several commands have, and their completion in a shell."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Literal

import typer


def split_words(texts: list[str] | None) -> tuple[str, ...]:
    """Return the values of an option that may be repeated or hold several values separated by commas, each once."""
    # The options of generated data have commas of their own: sparse-10k[density=0.6,rows=500].
    words = (word.strip() for text in texts or () for word in re.split(r",(?![^\[]*\])", text))
    return tuple(dict.fromkeys(filter(None, words)))


def _completion(load: Callable[[], Iterable[str]]) -> Callable[[str], Iterator[str]]:
    """Return a callback that yields the names that begin with the given text."""

    def complete(incomplete: str) -> Iterator[str]:
        return (name for name in load() if name.startswith(incomplete))

    return complete


def _tables() -> Iterator[str]:
    from elmbench.specs.catalogue import load_catalogue

    return (name for file in load_catalogue().values() for name in (file.id, *file.spec.aliases))


def _datasets() -> Iterable[str]:
    from elmbench.specs.datasets import load_dataset_specs

    return load_dataset_specs()


def _models() -> Iterable[str]:
    from elmbench.registry import list_models

    return list_models()


tables, datasets, models = _completion(_tables), _completion(_datasets), _completion(_models)

Words = list[str] | None
Decimal = Annotated[Literal[".", ","] | None, typer.Option(help="Decimal mark; detected by default.")]
Table = Annotated[str | None, typer.Argument(autocompletion=tables)]
Tables = Annotated[Words, typer.Argument(autocompletion=tables)]
Profile = Annotated[str, typer.Option(help="ci, fast or paper.")]
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Worker processes.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan with estimated times; run nothing.")]
Retry = Annotated[bool, typer.Option("--retry", help="Retry cells that did not end ok.")]
