"""The ELM family as scikit-learn estimators."""

from elmbench.lazy import attach

#: Classes by the file that defines them.
_FILES = {
    "amm": ("AMMClassifier",),
    "bsgd": ("BSGDClassifier",),
    "eekm": ("EEKMClassifier",),
    "eem": ("EEMClassifier",),
    "elm": ("ELMClassifier", "ELMRegressor"),
    "elm_rbf": ("ELMRBFClassifier", "ELMRBFRegressor"),
    "kernel_elm": ("KELMClassifier", "KELMRegressor"),
    "ald_kos_elm": ("ALDKOSELMClassifier", "ALDKOSELMRegressor"),
    "kos_elm": (
        "FBKOSELMClassifier",
        "FBKOSELMRegressor",
        "KOSELMClassifier",
        "KOSELMRegressor",
    ),
    "ls_svm": ("LSSVMClassifier", "LSSVMRegressor"),
    "mk_elm": ("MKELMClassifier", "MKELMRegressor"),
    "os_elm": ("OSELMClassifier", "OSELMRegressor"),
    "os_pvm": ("OSPVMClassifier",),
    "pegasos": ("PegasosClassifier",),
    "pvm": ("PVMClassifier",),
    "rk_elm": ("RKELMClassifier", "RKELMRegressor"),
    "rsvm": ("RSVMClassifier", "RSVMRegressor"),
    "svm": ("SVMClassifier",),
    "w_elm": ("WELMClassifier",),
}

_MODULES = {
    name: f"{__name__}.{file}" for file, names in _FILES.items() for name in names
}

__all__ = sorted(_MODULES)
__getattr__, __dir__ = attach(__name__, _MODULES)
