"""Options that several commands have, their completion in a shell, and checks of their values."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer


def split_words(texts: list[str] | None) -> tuple[str, ...]:
    """Return the values of an option that may be repeated or hold several values separated by commas."""
    return tuple(word.strip() for text in texts or () for word in text.split(",") if word.strip())


def one_of(kind: str, names: Sequence[str], command: str) -> Callable[[str | None], str | None]:
    """Return a callback of an option that raises ElmbenchError unless its value is one of some names, or empty."""

    def check(value: str | None) -> str | None:
        if value and value not in names:
            from elmbench.errors import unknown_name

            raise unknown_name(kind, value, list(names), command)
        return value

    return check


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
Table = Annotated[str | None, typer.Argument(autocompletion=tables)]
Tables = Annotated[Words, typer.Argument(autocompletion=tables)]
Profile = Annotated[str, typer.Option(help="ci, fast or paper.")]
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Worker processes.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan with estimated times; run nothing.")]
Retry = Annotated[bool, typer.Option("--retry", help="Retry cells that did not end ok.")]


def decimal_mark(command: str) -> Any:
    """Return the option of a decimal mark."""
    check = one_of("decimal mark", (".", ","), f"elmbench {command} --help")
    return typer.Option(help="Decimal mark, '.' or ','; detected by default.", callback=check)
