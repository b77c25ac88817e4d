"""The models of the paper that elmbench lacks: each is a scikit-learn estimator with a name."""

from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

# `elmbench list models` also shows the models that are built in.
MODELS = {"lda": LinearDiscriminantAnalysis, "qda": QuadraticDiscriminantAnalysis}
