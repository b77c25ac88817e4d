"""The code of a plug-in file."""

#: A classifier that gives True where the first feature is positive.
MODEL = """
from sklearn.base import BaseEstimator, ClassifierMixin
class Mine(ClassifierMixin, BaseEstimator):
    "My model."
    def __init__(self, depth=1):
        self.depth = depth
    def fit(self, X, y):
        return self
    def predict(self, X):
        return X[:, 0] > 0
"""
