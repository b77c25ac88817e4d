"""Numbers and endings as tables show them."""

_ENDINGS = {"out-of-memory": "out of memory", "unavailable": "–"}


def quantity(
    mean: float,
    std: float | None = None,
    places: int | None = None,
    ok: int | None = None,
) -> str:
    """Return a mean and its deviation as text, such as `0.93 ± 0.012` or `0.93 (3 ok)`.

    `std`: None for a mean alone; a deviation that is mere round-off is shown as 0. `places`:
    decimals to show; three significant figures for None. `ok`: the number of cells that the mean is
    over, if others did not end ok; it is shown only if `places` is given.
    """
    numbers = [mean]
    if std is not None:
        is_noise = std < 1e-12 * abs(mean)  # of equal numbers, by round-off
        numbers.append(0.0 if is_noise else std)
    if places is None:
        return " ± ".join(map(three_digits, numbers))
    fixed = [format_fixed(number, places) for number in numbers]
    text = " ± ".join(fixed)
    return text if ok is None else f"{text} ({ok} ok)"


def ending_text(status: str) -> str:
    """Return the status of a cell as tables show it: `out of memory`, a dash for
    `unavailable`.

    Other statuses are returned as they are.
    """
    return _ENDINGS.get(status, status)


def gain_text(value: float) -> str:
    """Return `value`, the optimism of a choice, with its sign and three decimals: `+0.012`.

    It is a difference of scores.
    """
    return f"{round(value, 3) + 0.0:+.3f}"


def p_text(p: float) -> str:
    """Return a p-value with three decimals and no leading zero, such as `.012`.

    Below 0.001 it is `<.001`; 1 is `1.000`.
    """
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_words(p: float) -> str:
    """Return a p-value in a sentence, such as `p = .012` or `p < .001`."""
    text = p_text(p)
    bound = text.removeprefix("<")
    sign = "=" if bound == text else "<"
    return f"p {sign} {bound}"


def format_fixed(value: float, places: int) -> str:
    """Return the number `value` with `places` decimals; from a million on, such as `1.2e+06`."""
    return f"{value:.{places}f}" if abs(value) < 1e6 else f"{value:.1e}"


def three_digits(value: float) -> str:
    """Return the positive number `value`, such as seconds, with three significant figures.

    It is a whole number from 100 on, and has two figures below 0.01.
    """
    if value >= 100:
        return f"{value:.0f}"
    if value >= 0.01:
        return f"{value:.3g}"
    return f"{value:.2g}"
