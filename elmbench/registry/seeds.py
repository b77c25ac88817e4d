"""Models of scikit-learn with a `random_state` that has no effect under their other parameters."""

from typing import Any, NamedTuple


class SeedRule(NamedTuple):
    """The parameter that decides whether the seed of a class has an effect."""

    parameter: str
    #: The values of the parameter under which the seed has an effect.
    values: tuple[Any, ...]


_IF_PROBABILITY = SeedRule("probability", (True,))
_IF_STOCHASTIC_SOLVER = SeedRule("solver", ("sag", "saga"))
_IF_RANDOM_SELECTION = SeedRule("selection", ("random",))

#: By class, after the documentation of `random_state` in scikit-learn. Any other class with a
#: `random_state` counts as random.
SEED_RULES = {
    "SVC": _IF_PROBABILITY,
    "NuSVC": _IF_PROBABILITY,
    "LogisticRegression": SeedRule("solver", ("sag", "saga", "liblinear")),
    "Ridge": _IF_STOCHASTIC_SOLVER,
    "RidgeClassifier": _IF_STOCHASTIC_SOLVER,
    "Lasso": _IF_RANDOM_SELECTION,
    "ElasticNet": _IF_RANDOM_SELECTION,
    "DummyClassifier": SeedRule("strategy", ("stratified", "uniform")),
}


def seed_has_effect(estimator: Any, searched: tuple[str, ...] = ()) -> bool:
    """Return True if the numbers of an estimator, or of a step in it, may depend on the value of a
    `random_state`; also if it has no `get_params`, so that nothing is known.

    `searched`: names of parameters, with those of steps as in "svc__probability", that a search
    sets to further values.
    """
    if not hasattr(estimator, "get_params"):
        return True
    params = estimator.get_params()
    for name in params:
        step, separator, parameter = name.rpartition("__")
        if parameter != "random_state":
            continue
        owner = params[step] if step else estimator
        rule = _rule_of(owner)
        if rule is None:
            return True
        deciding = f"{step}{separator}{rule.parameter}"
        if deciding in searched or params[deciding] in rule.values:
            return True
    return False


def _rule_of(owner: Any) -> SeedRule | None:
    """Return the rule that decides whether the seed of `owner`, an estimator or a step, has an
    effect; None if it always counts, as for any class that is not scikit-learn's or not in
    `SEED_RULES`.
    """
    owner_class = type(owner)
    is_of_scikit_learn = owner_class.__module__.startswith("sklearn.")
    return SEED_RULES.get(owner_class.__name__) if is_of_scikit_learn else None
