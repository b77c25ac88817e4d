"""Notes below a table: endings of cells, warnings of models, fits that were stopped, remarks on
published values.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from elmbench.errors import amount
from elmbench.evaluation.score_comparison import p_values, share_of_test_rows
from elmbench.judging.claim_outcomes import ClaimOutcome
from elmbench.judging.measured_cells import GROUP
from elmbench.judging.value_verdicts import FEWEST_RUNS
from elmbench.metrics import less_is_better, unit_of
from elmbench.numerics.significance import Region, corrected_t_test
from elmbench.report.verdict_sentences import margin_text
from elmbench.results import group_by
from elmbench.results.cells import CAPPED, WARNING, remarks_of
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import ALL
from elmbench.tables import kind_of_table
from elmbench.tables.drawing import words_for
from elmbench.tables.number_texts import gain_text, p_text
from elmbench.tables.result_table import Note

#: Replaces the name of a data set in a reason that several of them share.
_ANY = "NAME"
_UNCORRECTED = (
    "each claim is judged by itself, by a one-sided p-value of at most .025; "
    "elmbench check --against published corrects for their number (Holm)"
)


def table_notes(
    cells: pd.DataFrame,
    gains: pd.DataFrame,
    claims: Sequence[ClaimOutcome],
    datasets: set[str],
    resolved: Resolved,
) -> Iterator[Note]:
    """Yield all notes below a table: on data, claims, optimism, endings and published values.

    The notes have this order: data, kind of table, added models, claims, optimism, stopped fits,
    warnings, endings, stand-ins, what was not run, training rows, and published values. `cells`,
    `gains`: the frames of `cells.csv` and `optimism.csv`; of the latter, only the default readings
    count. `claims`: the outcomes of the claims about the table. `datasets`: those that the table
    shows, by the suite's names.
    """
    for listing, remarks in _group_by_text(remarks_of(cells)):
        yield Note("data", f"{listing}: {remarks}")
    yield from kind_of_table(resolved).notes(cells)
    yield from added_notes(cells, resolved)
    yield from (Note("claim", claim.text) for claim in claims)
    if any(claim.is_decided for claim in claims):
        yield Note("claim", _UNCORRECTED)
    yield from optimism_notes(gains[gains["reading"] == ""])
    yield from capped_notes(cells)
    yield from warning_notes(cells)
    yield from ending_notes(cells)
    yield from stand_in_notes(resolved, datasets)
    yield from not_run_notes(resolved, datasets)
    yield from train_rows_notes(resolved)
    yield from published_notes(resolved, datasets)


def added_notes(cells: pd.DataFrame, resolved: Resolved) -> Iterator[Note]:
    """Yield a note for each data set and selection with models that the paper's table lacks.

    It gives the p-values of all models against the best one, under the default readings, after
    Holm's correction. Folds on which a model has no score are left out. There is no note if fewer
    than two models can be tested, or the sizes of the split are not known. `cells`: the frame of
    `cells.csv`.
    """
    columns = set(resolved.spec.models)
    if set(cells["model"]) <= columns:
        return
    default = cells[(cells["reading"] == "") & (cells["status"] == "ok")]
    for (dataset, select), group in default.groupby(["dataset", "select"], sort=False):
        if set(group["model"]) <= columns:
            continue
        metric = resolved.metric_of(str(dataset))
        share = share_of_test_rows(str(dataset), resolved)
        if metric not in group or share is None:
            continue
        table = group.pivot(index=["run", "fold"], columns="model", values=metric)
        scores = table.astype(float).dropna()
        if less_is_better(metric):
            scores = -scores
        p = p_values(scores, share).sort_values(ascending=False)
        if len(p) < 2:
            continue
        best, *rivals = p.index
        p_of_rivals = ", ".join(f"{model} {p_text(p[model])}" for model in rivals)
        has_folds = scores.index.get_level_values("run").has_duplicates
        unit = "folds" if has_folds else "runs"
        test = f"corrected resampled t-test on {len(scores)} {unit}, Holm's correction"
        text = f"{dataset}, {select}: {best} has the best {words_for(metric)}"
        yield Note("added", f"{text}; p of the others: {p_of_rivals} ({test})")


def optimism_notes(default: pd.DataFrame) -> Iterator[Note]:
    """Yield one note with the mean optimism of each model over its data sets; none without lines.

    Optimism is the gain of oracle over nested selection. `default`: the lines of `optimism.csv`
    under the default readings. With `FEWEST_RUNS` data sets or more, the note ends with the mean of
    all models and its 95 % interval; each data set counts once. Data sets are independent, so the
    paired t-test needs no correction.
    """
    if not len(default):
        return
    by_model = default.groupby("model", sort=False)["optimism"]
    means = by_model.agg(["mean", "size"])
    smallest = int(means["size"].min())
    largest = int(means["size"].max())
    over = amount(largest, "data set")
    if smallest != largest:
        over = f"{smallest} to {over}"
    gains_of_models = [
        f"{model} {gain_text(float(line['mean']))}" for model, line in means.iterrows()
    ]
    listed = ", ".join(gains_of_models)
    text = f"optimism of the selection, gain of oracle over nested, mean over {over}: {listed}"
    # Each data set counts once, with the mean of its models.
    by_dataset = default.groupby("dataset", sort=False)["optimism"]
    gains = by_dataset.mean().to_numpy(float)
    if len(gains) >= FEWEST_RUNS:
        test = corrected_t_test(gains, 0.0, Region())
        mean = gain_text(test.estimate)
        low = gain_text(test.low or 0.0)
        high = gain_text(test.high or 0.0)
        text += f"; all models {mean} [{low}, {high}], paired t-test over data sets"
    yield Note("optimism", text)


def capped_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield a note for each model and selection with the share of its fits stopped at `max_iter`.

    The share is over all data sets, under the default readings; searches have a share of their own.
    A share of zero is left out, and there is no note for models none of whose fits was stopped.
    `cells`: the frame of `cells.csv`; without the columns `capped` and `search_capped`, which only
    models with a limit of steps have, there are no notes.
    """
    if not set(CAPPED) <= set(cells.columns):
        return
    default = cells[(cells["reading"] == "") & cells["capped"].notna()]
    for (model, select), group in default.groupby(["model", "select"], sort=False):
        shares = group.groupby("dataset", sort=False)[list(CAPPED)].mean().astype(float)
        if not (shares > 0).any(axis=None):
            continue
        share, search_share = (
            float(group[name].astype(float).mean()) for name in CAPPED
        )
        fits = []
        if share > 0:
            fits.append(f"{_share_text(share)} of the fits shown")
        if search_share > 0:
            fits.append(f"{_share_text(search_share)} of the fits of the searches")
            of_searches = shares["search_capped"]
            if len(of_searches) > 1:
                most = _share_text(of_searches.max())
                fits[-1] += f" (most on {of_searches.idxmax()}: {most})"
        text = " and ".join(fits)
        stop = "were stopped at max_iter before they had converged"
        yield Note("capped", f"{model}, {select}: {text} {stop}")


def _share_text(share: float) -> str:
    """Return a share above 0 in percent, such as 12%; 'fewer than 1%' below a hundredth."""
    return "fewer than 1%" if share < 0.01 else f"{share:.0%}"


def warning_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield a note for each distinct warning: data sets, models and numbers of cells.

    The note lists data sets with their models and how many cells of these warned. Only cells under
    the default readings count. `cells`: the frame of `cells.csv`; without a column of warnings,
    there is no note.
    """
    if WARNING not in cells.columns:
        return
    default = cells[cells["reading"] == ""]
    with_warning = default[default[WARNING].notna()]
    for text, group in with_warning.groupby(WARNING, sort=False):
        parts = []
        for dataset, part in group.groupby("dataset", sort=False):
            models = list(dict.fromkeys(part["model"]))
            is_of_models = (default["dataset"] == dataset) & default["model"].isin(
                models
            )
            total = int(is_of_models.sum())
            parts.append(
                f"{dataset} {', '.join(models)}, in {len(part)} of {total} cells"
            )
        yield Note("warning", f"{'; '.join(parts)}: warned that {text}")


def not_run_notes(resolved: Resolved, datasets: set[str]) -> Iterator[Note]:
    """Yield a note for each data set and reason for which model columns are not run.

    The experiment's file names them and the reasons. Only the data sets `datasets` are considered.
    """
    columns_by_reason: dict[tuple[str, str], list[str]] = {}
    for column, model in resolved.spec.models.items():
        for key in model.not_run.items():
            columns = columns_by_reason.setdefault(key, [])
            columns.append(column)
    for (dataset, reason), columns in columns_by_reason.items():
        if dataset not in datasets:
            continue
        names = ", ".join(columns)
        text = f"{dataset} {names} not run: {reason}"
        yield Note("ending", text)


def stand_in_notes(resolved: Resolved, datasets: set[str]) -> Iterator[Note]:
    """Yield a note on the columns that replace a model, or parameters, of the paper by our own.

    Columns that replace the same thing share a note, each as "DATASET COLUMN". Only the data sets
    `datasets` are considered.
    """
    columns: dict[tuple[str, str], list[str]] = {}
    shown = [name for name in resolved.spec.datasets if name in datasets]
    for dataset in shown:
        for column in resolved.spec.models:
            stand_in = resolved.stand_in(column, dataset)
            if not stand_in:
                continue
            for kind in ("model", "parameters"):
                replaced = str(getattr(stand_in, kind))
                if replaced:
                    names = columns.setdefault((kind, replaced), [])
                    names.append(f"{dataset} {column}")
    for (kind, replaced), names in columns.items():
        listing = ", ".join(names)
        text = f"{listing} not comparable: our {kind} in place of {replaced}"
        yield Note("published", text)


def train_rows_notes(resolved: Resolved) -> Iterator[Note]:
    """Yield a note for each number of rows to which the training parts of models are limited.

    It names the models that learn only so many random training rows of each fold, the largest
    number first.
    """
    columns_by_rows: dict[int, list[str]] = {}
    for column, model in resolved.spec.models.items():
        if model.train_rows is not None:
            columns = columns_by_rows.setdefault(model.train_rows, [])
            columns.append(column)
    descending = sorted(columns_by_rows.items(), reverse=True)
    for train_rows, columns in descending:
        names = ", ".join(columns)
        rows = f"{train_rows:,} random training rows of each fold"
        text = f"{names} learnt {rows}, since the time was limited"
        yield Note("ending", text)


def ending_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield notes on cells that did not end ok.

    Data sets that are unavailable for the same reason share a note, and so do groups of cells (data
    set, model, selection, reading) with the same ending, reason and number of such cells. The
    reason of a group is the first line of that of its first cell. `cells`: the frame of
    `cells.csv`.
    """
    bad = cells[cells["status"] != "ok"]
    if bad.empty:
        return
    is_unavailable = bad["status"] == "unavailable"
    unavailable = bad[is_unavailable]
    yield from _unavailable_notes(unavailable)
    totals = Counter(cells[GROUP].itertuples(index=False, name=None))
    columns = [*GROUP, "status", "reason"]
    lines = bad.loc[~is_unavailable, columns].itertuples(index=False, name=None)
    # The reasons of the cells of each group and ending.
    reasons: dict[tuple[str, ...], list[str]] = {}
    for *entry, reason in lines:
        reasons.setdefault(tuple(entry), []).append(str(reason))
    labels_by_ending: dict[tuple[str, str], list[str]] = {}
    for (*group, status), group_reasons in reasons.items():
        dataset, model, select, reading = group
        label = f"{dataset} {model}, {select}"
        if reading:
            label += f", {reading}"
        count = f"{len(group_reasons)} of {totals[tuple(group)]} cells"
        # The first line of the reason, without details.
        first_line, _, _ = group_reasons[0].partition("\n")
        labels = labels_by_ending.setdefault((count, f"{status}: {first_line}"), [])
        labels.append(label)
    for (count, ending), labels in labels_by_ending.items():
        listing = "; ".join(labels)
        each = " each" if len(labels) > 1 else ""
        yield Note("ending", f"{listing}: {count}{each} {ending}")


def _unavailable_notes(cells: pd.DataFrame) -> Iterator[Note]:
    """Yield a note for each reason why data sets are unavailable, with these data sets.

    `cells`: the lines of `cells.csv` that are `unavailable`; the reason is that of the first one of
    a data set.
    """
    reasons = {}
    for dataset, group in cells.groupby("dataset", sort=False):
        words = str(group["reason"].iloc[0]).split()
        reasons[str(dataset)] = " ".join(words)
    for listing, reason in _group_by_text(reasons):
        yield Note("ending", f"{listing} unavailable: {reason}")


def _group_by_text(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (data sets, text) for each group of data sets with the same text.

    `texts`: {data set: text}; they are the same if they differ only in the data set's name. The
    data sets are a text, separated by commas; in the text of several, `_ANY` replaces the name.
    """
    names_by_text: dict[str, list[str]] = {}
    for name, text in texts.items():
        whole_name = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
        common = re.sub(whole_name, _ANY, text)
        names = names_by_text.setdefault(common, [])
        names.append(name)
    for common, names in names_by_text.items():
        text = texts[names[0]] if len(names) == 1 else common
        yield ", ".join(names), text


def _margin_notes(resolved: Resolved) -> Iterator[Note]:
    """Yield a note for each metric of the table whose margin the paper's file has replaced."""
    paper = resolved.file.paper
    for metric in resolved.spec.protocol.all_metrics:
        unit = paper.unit_of(metric)
        standard = unit_of(metric)
        if unit != standard:
            yield Note(
                "published",
                f"the margin of {metric} is {margin_text(unit)}, from paper.yaml; the standard is "
                f"{margin_text(standard)}",
            )


def _values_in_words(keys: Iterable[tuple[str, str, str]]) -> str:
    """Return values in words, such as "accuracy, F1 of adult KELM, skin KELM; MCC of wdbc ELM".

    `keys`: (data set, model, metric) of each value. Cells that have the same metrics are together;
    the data set `all` is "over all data sets".
    """
    metrics_by_cell: dict[str, list[str]] = {}
    for dataset, model, metric in keys:
        cell = f"{dataset} {model}"
        if dataset == ALL:
            cell = f"{model} over all data sets"
        metrics = metrics_by_cell.setdefault(cell, [])
        metrics.append(words_for(metric))
    cells_by_metrics = group_by(
        metrics_by_cell, lambda cell: ", ".join(metrics_by_cell[cell])
    )
    parts = [
        f"{metrics} of {', '.join(cells)}"
        for metrics, cells in cells_by_metrics.items()
    ]
    return "; ".join(parts)


def published_notes(resolved: Resolved, datasets: set[str]) -> Iterator[Note]:
    """Yield notes on the published values: their deviations, margins, remarks and misnamed metrics.

    Remarks, and data sets whose rows differ from the paper's, are shown only for those in
    `datasets`. A remark on a fit that was stopped is left out, since the table shows it.
    """
    if any(value.std is not None for value in resolved.file.published.values):
        draws = (
            f"a mean over {resolved.mean_of} runs"
            if resolved.mean_of > 1
            else "taken as the mean of one run"
        )
        std = resolved.spec.protocol.std.replace("-", " ")
        yield Note(
            "published", f"a published value is {draws}; ± is the deviation {std}"
        )
    yield from _margin_notes(resolved)
    for dataset, reason in resolved.spec.other_rows.items():
        if dataset in datasets:
            yield Note("published", f"{dataset} not comparable: {reason}")
    # The table itself shows when a fit was stopped.
    with_remark = [
        key
        for key, value in resolved.published.items()
        if value.note and key[0] in datasets and value.over_seconds is None
    ]
    by_remark = group_by(with_remark, lambda key: resolved.published[key].note)
    for remark, keys in by_remark.items():
        yield Note("published", f"published {_values_in_words(keys)}: {remark}")
    declared = resolved.file.spec.published
    for name, meant in declared.meant.items() if declared else ():
        yield Note("published", f"what the paper prints as {name} is read as {meant}")
