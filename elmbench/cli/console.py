"""The console of rich on which every command prints its tables and progress."""

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from elmbench.terminal import escape, unescaped


class EscapingConsole(Console):
    """A console that prints escapes in place of characters that a terminal acts on.

    Its own styles and controls are not escaped. Texts are literal: they have no markup and no names
    of emoji. `stream`: the output; the escapes of an `EscapedStream` are bypassed. `width`: in
    characters; None for that of the terminal.
    """

    def __init__(self, stream: IO[str], width: int | None = None) -> None:
        super().__init__(
            file=unescaped(stream),
            width=width,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a str as a text of rich, with its control characters escaped.

        They are escaped before the lines are broken, so that the widths are right. `options`: those
        of rich's method.
        """
        return super().render_str(escape(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of anything that rich prints, with escaped texts.

        Segments that control the terminal, such as those of a progress bar, are unchanged.
        """
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape(segment.text), segment.style)
