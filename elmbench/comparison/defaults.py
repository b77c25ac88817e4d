"""The defaults of `elmbench compare`: its models, metrics, folds and limits."""

#: The default models: the ELM family and common alternatives.
DEFAULT_MODELS = (
    "elm", "os-elm", "k-elm", "fb-kos-elm", "rk-elm", "eem", "ls-svm",
    "ridge", "logistic-regression", "nystroem-ridge", "svm", "knn", "random-forest", "extra-trees",
    "hist-gradient-boosting",
)  # fmt: skip
#: The default metrics.
DEFAULT_METRICS = (
    "accuracy", "balanced_accuracy", "f1_macro", "roc_auc",
    "nrmse", "mae", "rmse", "r2",
)  # fmt: skip
#: Above the first number of rows, a search uses only the second number of rows of a training part.
MANY_ROWS = 5000
TUNE_ROWS = 2000
#: Default models whose time and memory grow with the square of the rows, or faster, are left out
#: above this number.
LARGE_MODELS = ("k-elm", "ls-svm", "svm")
MOST_ROWS = 20_000
#: The default limit of a search or a fit.
DEFAULT_LIMIT = "time=600s"
FOLDS = 5
INNER_FOLDS = 3
#: LIBSVM is stopped after this number of steps: with a large C it may take hours without better
#: predictions.
SVM_STEPS = 100_000
