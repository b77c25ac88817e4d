"""Factories of pipelines of features and a model, with a path over a grid."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline

from elmbench.models.base.path_factory import PathFactory
from elmbench.models.base.ridge_candidates import model_outputs
from elmbench.models.candidate_problem import CandidateProblem
from elmbench.models.protocols import Evaluated


class FeaturePipelines(PathFactory):
    """A factory of unfitted pipelines of features and a model; its candidates share the features of
    a fold.

    Attributes
    ----------
    make : callable
        Returns the pipeline of some parameters, which are the factory's.
    """

    #: The names under which paths count the fits of features and of models; None is not counted.
    feature_solver: str | None = None
    model_solver: str | None = "clone and fit"

    def outputs(self, method: str, problem: CandidateProblem) -> Iterator[Evaluated]:
        """Yield an `Evaluated` for every candidate and fold, fold by fold.

        `method`: "predict" or "decision_function", of a fitted model: its values for the test rows.
        Each pipeline has two steps. Equal features, and equal models on them, are fitted once for a
        fold; their fits count in `solvers` of the first candidate with these features.
        """
        pipelines = [problem.make(candidate) for candidate in problem.candidates]
        for fold, (train, test) in enumerate(problem.folds):
            rows = problem.X[train]
            targets = problem.y[train]
            test_rows = problem.X[test]
            n_rows = len(train)
            for group in _group_by_features(pipelines, n_rows):
                features, _ = pipelines[group[0]]
                inputs = features.fit_transform(rows)
                probes = features.transform(test_rows)
                solvers = _count(self.feature_solver)
                # Candidates with equal models share a fit.
                contents: dict[int, str] = {}
                models: dict[str, Any] = {}
                for number in group:
                    _, model = pipelines[number]
                    if "copy_X" in model.get_params():
                        # The models share their rows, which none of them may change.
                        model.set_params(copy_X=True)
                    content = _content_key(model, n_rows)
                    contents[number] = content
                    models[content] = model
                distinct_models = list(models.values())
                results = model_outputs(
                    distinct_models, method, inputs, targets, probes
                )
                outputs = dict(zip(models, results, strict=True))
                for _ in distinct_models:
                    solvers += _count(self.model_solver)
                for number in group:
                    yield Evaluated(
                        candidate=number,
                        fold=fold,
                        outputs=outputs[contents[number]],
                        solvers=solvers,
                    )
                    solvers = Counter()


def _group_by_features(pipelines: list[Pipeline], n_rows: int) -> list[list[int]]:
    """Return the positions of pipelines in the list, in groups that learn the same features.

    `pipelines`: each has two steps, features and a model. `n_rows`: of the training rows.
    """
    groups: dict[str, list[int]] = {}
    for number, (features, _) in enumerate(pipelines):
        content = _content_key(features, n_rows)
        group = groups.setdefault(content, [])
        group.append(number)
    return list(groups.values())


def _content_key(step: Any, n_rows: int) -> str:
    """Return the parameters of a pipeline's step as a text, equal for steps that learn the same
    from `n_rows` training rows.

    `Nystroem` with more landmarks than rows has the text of one with as many landmarks as rows.
    Steps with a `random_state` of None may have equal texts, although their draws differ.
    """
    params = step.get_params()
    if isinstance(step, Nystroem):
        params["n_components"] = min(params["n_components"], n_rows)
    return repr(params)


def _count(solver: str | None) -> Counter[str]:
    """Return a counter with one use of a solver; empty for None."""
    return Counter() if solver is None else Counter([solver])
