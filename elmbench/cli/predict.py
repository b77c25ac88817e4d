"""`elmbench predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elmbench.cli.app import app
from elmbench.cli.state import state


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="File of `compare --save`. Loading runs its code: trust it first.")],
    data: Annotated[Path, typer.Argument(help="File of new rows, with the columns of the compared one.")],
) -> None:
    """Predict new rows with a model that `elmbench compare --save` has written, as CSV."""
    from elmbench.workflow.takeaway import predict_file

    predicted = predict_file(model, data)
    state.emit([{"prediction": value} for value in predicted.tolist()])
    if not state.as_json:
        typer.echo("prediction")
        for value in predicted.tolist():
            typer.echo(value)
