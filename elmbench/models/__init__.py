"""The ELM family as scikit-learn estimators."""

from elmbench.models.ald_kos_elm import ALDKOSELMClassifier, ALDKOSELMRegressor
from elmbench.models.eekm import EEKMClassifier
from elmbench.models.eem import EEMClassifier
from elmbench.models.elm import ELMClassifier, ELMRegressor
from elmbench.models.fb_kos_elm import FBKOSELMClassifier, FBKOSELMRegressor
from elmbench.models.kernel_elm import KELMClassifier, KELMRegressor
from elmbench.models.kos_elm import KOSELMClassifier, KOSELMRegressor
from elmbench.models.ls_svm import LSSVMClassifier
from elmbench.models.mk_elm import MKELMClassifier, MKELMRegressor
from elmbench.models.os_elm import OSELMClassifier, OSELMRegressor
from elmbench.models.svm import SVMClassifier
from elmbench.models.w_elm import WELMClassifier

__all__ = [
    "ALDKOSELMClassifier",
    "ALDKOSELMRegressor",
    "EEKMClassifier",
    "EEMClassifier",
    "ELMClassifier",
    "ELMRegressor",
    "FBKOSELMClassifier",
    "FBKOSELMRegressor",
    "KELMClassifier",
    "KELMRegressor",
    "KOSELMClassifier",
    "KOSELMRegressor",
    "LSSVMClassifier",
    "MKELMClassifier",
    "MKELMRegressor",
    "OSELMClassifier",
    "OSELMRegressor",
    "SVMClassifier",
    "WELMClassifier",
]
