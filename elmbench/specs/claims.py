"""The claims of a paper in an experiment file, and the verdicts that are known."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from elmbench.specs.measures import WrittenMeasure
from elmbench.specs.papers import Spec

#: Values of a claim's data set for most or all data sets of the table.
MOST = "most"
ALL_OF_THEM = "all"
#: Relations of a claim that need a margin, `within`.
MARGINS = ("close", "no-worse", "no-better")


class OtherComparison(Spec):
    """Another comparison in the sentence of a claim; missing entries come from the claim."""

    #: A data set, or `most` or `all`.
    dataset: str | None = None
    #: The measure that is compared.
    metric: WrittenMeasure | None = None
    #: The column that the sentence is about.
    model: str | None = None
    #: The columns that it is compared with.
    than: tuple[str, ...] | None = None


class Claim(Spec):
    """A sentence of the paper about a table, and the values that confirm or contradict it.

    The claim is that `metric` of `model` is `is` the same metric (or `than-metric`) of every column
    in `than`, or of all `others`. docs/claims.md defines the relations and how each is tested.
    """

    #: The wording of the paper; [...] marks omissions.
    says: str = Field(min_length=1)
    #: A data set, or `most` or `all` of the table's.
    dataset: str
    #: The measure that is compared.
    metric: WrittenMeasure
    #: The column that the sentence is about.
    model: str
    #: The relation of its value to those of the other columns.
    relation: Literal["above", "below", "close", "no-worse", "no-better", "between"] = (
        Field(alias="is")
    )
    #: The columns that it is compared with.
    than: tuple[str, ...] | Literal["others"]
    #: The measure of those columns, if it is a different one.
    than_metric: WrittenMeasure | None = None
    #: The margin of `close`, `no-worse` and `no-better`.
    within: float = Field(default=0.0, ge=0)
    #: Both ends of the ratio of the two values.
    between: tuple[float, float] | None = None
    #: On `most` data sets: count those on which it is true, instead of Wilcoxon's test of the
    #: differences.
    test: Literal["sign"] | None = None
    #: The other comparisons of the sentence; all must be true.
    also: tuple[OtherComparison, ...] = ()
    #: The reason why the paper's own values do not support the sentence.
    slip: str = ""

    @property
    def comparisons(self) -> tuple[Claim, ...]:
        """The comparisons of the claim, each as a separate claim without `also`.

        Its own comes first, then one for each entry of `also`, whose missing keys are those of the
        claim.
        """
        first = self.model_copy(update={"also": ()})
        changes = (
            {name: value for name, value in entry if value is not None}
            for entry in self.also
        )
        return (first, *(first.model_copy(update=change) for change in changes))

    @model_validator(mode="after")
    def _can_be_tested(self) -> Claim:
        """Raise ValueError if the parts of the claim do not fit together.

        `test` is for most data sets, `within` and `between` are for their relations, and ratios and
        margins for some measures only.
        """
        if self.test is not None and self.dataset != MOST:
            raise ValueError(
                f"test: {self.test} counts data sets; expected dataset: {MOST}, not {self.dataset}"
            )
        if (self.relation in MARGINS) != (self.within > 0):
            margins = f"expected a margin for {', '.join(MARGINS)} only"
            raise ValueError(
                f"is: {self.relation} with within: {self.within:g}; {margins}"
            )
        low, high = self.between or (0.0, 0.0)
        if (self.relation == "between") != (0 <= low < high):
            ends = "expected the two ends of a ratio for between only"
            raise ValueError(
                f"is: {self.relation} with between: {self.between}; {ends}"
            )
        is_time = self.metric.metric.endswith("_seconds")
        if is_time and self.relation in MARGINS:
            raise ValueError(
                f"{self.metric.column} is a time; expected is: above, below or between"
            )
        if (
            self.relation == "between"
            and not is_time
            and self.metric.metric not in ("nrmse", "rmse")
        ):
            raise ValueError(
                f"is: between of {self.metric.column}; expected a time or an error, which have "
                "ratios"
            )
        return self


class Expectation(Spec):
    """A verdict that is known, with its reason.

    `elmbench check --strict` accepts it, and objects when it changes. It is about a claim, about
    one published value (`dataset`, `model` and `metric`), or about a metric of the whole table.
    """

    #: The verdict in the words of `elmbench check`.
    verdict: str = Field(min_length=1)
    #: The reason, in one sentence.
    reason: str = Field(min_length=1)
    #: The beginning of a claim.
    claim: str = ""
    #: A metric of the table.
    metric: str = ""
    #: The data set of one published value.
    dataset: str = ""
    #: The column of one published value.
    model: str = ""

    @property
    def subject(self) -> str:
        """The subject of the expectation in words: 'the claim CLAIM' if it has a claim, 'METRIC of
        MODEL on DATASET' if it has a model, else 'the verdict on METRIC'.
        """
        if self.claim:
            return f"the claim {self.claim!r}"
        if self.model:
            return f"{self.metric} of {self.model} on {self.dataset}"
        return f"the verdict on {self.metric}"

    def is_of_table(self, metric: str) -> bool:
        """Return True if the expectation is about this metric of the whole table.

        It is False if it is about one value or a claim.
        """
        return self.metric == metric and not self.model

    @model_validator(mode="after")
    def _has_one_subject(self) -> Expectation:
        """Raise ValueError unless the expectation is about exactly one thing.

        It is a claim, a metric of the whole table, or one value (data set, model and metric).
        """
        names = (self.claim, self.metric, self.dataset, self.model)
        given = tuple(bool(name) for name in names)
        of_claim = (True, False, False, False)
        of_table = (False, True, False, False)
        of_value = (False, True, True, True)
        if given not in (of_claim, of_table, of_value):
            raise ValueError(
                "expected a claim, a metric, or a dataset with a model and a metric"
            )
        return self
