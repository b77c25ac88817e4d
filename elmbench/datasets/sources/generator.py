"""Data sets that are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from elmbench.datasets.sources.base import Source, SourceRequest, State, hash_of

if TYPE_CHECKING:
    from elmbench.datasets.table import Table

#: The generators of `elmbench.datasets.generators`; a version rises when the numbers change.
VERSIONS = {"mackey-glass": 1, "sparse": 1, "waveform": 1}


class GeneratorSource(Source):
    """A data set that is computed."""

    generated: ClassVar[bool] = True

    #: The kind of source.
    kind: Literal["generator"]
    #: The function that computes the rows.
    generator: Literal["mackey-glass", "sparse", "waveform"]
    #: Its parameters.
    parameters: dict[str, int | float] = Field(default_factory=dict)
    #: The values that a table may choose for each option, the default first.
    options: dict[str, tuple[float, ...]] = Field(default_factory=dict)

    @property
    def title(self) -> str:
        """The source in words: "generator" and the name of its function."""
        return f"generator {self.generator}"

    def status(self, request: SourceRequest) -> tuple[State, str]:
        """Return "generated" and the title; the rows are always here."""
        return "generated", self.title

    def checksum(self, request: SourceRequest) -> str:
        """Return a hash of everything that the rows are drawn from; nothing is drawn.

        It is the name without options, generator, version, parameters, options and, for rows that
        are redrawn, the run.
        """
        content = {
            "name": request.spec.base,
            "generator": self.generator,
            "version": VERSIONS[self.generator],
            "parameters": {key: float(value) for key, value in self.parameters.items()},
            "options": {
                key: float(value) for key, value in request.spec.options.items()
            },
            "run": request.run if request.spec.redraw else 0,
        }
        return hash_of(content)

    def load(self, request: SourceRequest) -> Table:
        """Compute the rows of the requested run; those that are not redrawn are those of run 0."""
        from elmbench.datasets.generators import GENERATORS
        from elmbench.datasets.table import Table

        spec = request.spec
        run = request.run if spec.redraw else 0
        generate = GENERATORS[self.generator]
        X, y = generate(spec.base, run, **self.parameters, **spec.options)
        origin = self.title
        if spec.options:
            shown = ", ".join(
                f"{option} {value:g}" for option, value in spec.options.items()
            )
            origin += f" ({shown})"
        return Table.of_numbers(X, y, origin)
