"""The ELM family as scikit-learn estimators."""
