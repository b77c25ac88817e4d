"""`elmbench predict`."""

from pathlib import Path
from typing import Annotated

import typer

from elmbench.cli.app import app
from elmbench.cli.options import Decimal
from elmbench.cli.state import state


@app.command()
def predict(
    model: Annotated[
        Path, typer.Argument(help="File of `compare --save`. Loading it runs code: use only files that you trust.")
    ],
    data: Annotated[Path, typer.Argument(help="File of new rows, with the same columns as the training data.")],
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    sep: Annotated[str, typer.Option(help="Separator of a text table, such as ';' or tab; detected by default.")] = "",
    decimal: Decimal = None,
) -> None:
    """Predict new rows with a model of `compare --save`, as CSV."""
    from elmbench.workflow.final_model import predict_file

    predictions, remarks = predict_file(model, data, sep, decimal or "", proba=proba)
    for remark in () if state.quiet else remarks:
        typer.echo(f"{data}: {remark}", err=True)  # also with --json: no line of the output can hold it
    if state.as_json:
        state.emit(predictions.to_dict("records"))
    else:
        typer.echo(predictions.to_csv(index=False, lineterminator="\n"), nl=False)
