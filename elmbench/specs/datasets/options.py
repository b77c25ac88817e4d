"""Options of generated data: in the name of a data set, as pytest spells parameters, and against what is declared."""

import re
from collections.abc import Mapping

from elmbench.errors import ElmbenchError

_NAMED = re.compile(r"([^\[\]]+)\[([^\[\]]*)\]")


def split_name(name: str) -> tuple[str, dict[str, float]]:
    """Return the name of a data set without its options, and the options.

    `sparse-10k[density=0.6]` is `sparse-10k` with density 0.6; several options are separated by commas.

    Raises
    ------
    ElmbenchError
        If the brackets hold anything but options and numbers.
    """
    named = _NAMED.fullmatch(name)
    if named is None:
        return name, {}
    options: dict[str, float] = {}
    for part in named[2].split(","):
        option, _, value = part.partition("=")
        try:
            options[option.strip()] = float(value)
        except ValueError:
            found = f"{part.strip()!r} in the data set {name!r} is no option"
            raise ElmbenchError(found, expected="OPTION=NUMBER", next_step="correct the option") from None
    return named[1], options


def full_name(base: str, options: Mapping[str, float]) -> str:
    """Return the name that `split_name` takes apart."""
    return f"{base}[{','.join(f'{option}={value:g}' for option, value in options.items())}]"


def chosen_options(
    name: str, declared: Mapping[str, tuple[float, ...]], given: Mapping[str, float]
) -> dict[str, float]:
    """Return the value of every declared option of a data set: as given, else the default, which is the first.

    Raises
    ------
    ElmbenchError
        If an option or its value is not declared.
    """
    chosen = {option: values[0] for option, values in declared.items()}
    for option, value in given.items():
        if option not in declared:
            allowed = ", ".join(declared) or "none: this data set has no options"
            found = f"{name} has no option {option!r}"
            raise ElmbenchError(found, expected=allowed, next_step="correct the option")
        if value not in declared[option]:
            allowed = "one of " + ", ".join(f"{allowed:g}" for allowed in declared[option])
            found = f"the option {option!r} of {name} is {value!r}"
            raise ElmbenchError(found, expected=allowed, next_step="correct the option")
        chosen[option] = float(value)
    return chosen
