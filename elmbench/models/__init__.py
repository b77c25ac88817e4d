"""The ELM family as scikit-learn estimators."""

from elmbench.models.ald_kos_elm import ALDKOSELMClassifier, ALDKOSELMRegressor
from elmbench.models.fb_kos_elm import FBKOSELMClassifier, FBKOSELMRegressor
from elmbench.models.kos_elm import KOSELMClassifier, KOSELMRegressor

__all__ = [
    "ALDKOSELMClassifier",
    "ALDKOSELMRegressor",
    "FBKOSELMClassifier",
    "FBKOSELMRegressor",
    "KOSELMClassifier",
    "KOSELMRegressor",
]
