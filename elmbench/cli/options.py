"""Options that several commands have, and their completion in a shell."""

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Literal

import typer

from elmbench.lazy import load


def split_words(texts: list[str] | None) -> tuple[str, ...]:
    """Return the values of an option, each once; it may be repeated, and commas separate values."""
    # The options of generated data have commas of their own: sparse-10k[density=0.6,rows=500].
    words = (word.strip() for text in texts or () for word in re.split(r",(?![^\[]*\])", text))
    return tuple(dict.fromkeys(filter(None, words)))


def _completion(address: str) -> Callable[[str], Iterator[str]]:
    """Return a callback that yields the names that begin with the given text."""

    def complete(incomplete: str) -> Iterator[str]:
        return (name for name in load(address)() if name.startswith(incomplete))

    return complete


tables = _completion("elmbench.specs.catalogue:table_names")
datasets = _completion("elmbench.specs.datasets:load_dataset_specs")
models = _completion("elmbench.registry:list_models")

Words = list[str] | None
Decimal = Annotated[Literal[".", ","] | None, typer.Option(help="Decimal mark; detected by default.")]
Table = Annotated[str | None, typer.Argument(autocompletion=tables)]
Tables = Annotated[Words, typer.Argument(autocompletion=tables)]
Profile = Annotated[str, typer.Option(help="Part of the protocol: ci, fast or paper.")]
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Worker processes.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan with estimated times; run nothing.")]
Retry = Annotated[bool, typer.Option("--retry", help="Retry cells that did not end ok.")]
