"""The ELM family as scikit-learn estimators."""

from importlib import import_module
from typing import Any

#: Classes by the file that defines them.
_FILES = {
    "ald_kos_elm": ("ALDKOSELMClassifier", "ALDKOSELMRegressor"),
    "amm": ("AMMClassifier",),
    "bsgd": ("BSGDClassifier",),
    "eekm": ("EEKMClassifier",),
    "eem": ("EEMClassifier",),
    "elm": ("ELMClassifier", "ELMRegressor"),
    "elm_rbf": ("ELMRBFClassifier", "ELMRBFRegressor"),
    "fb_kos_elm": ("FBKOSELMClassifier", "FBKOSELMRegressor"),
    "kernel_elm": ("KELMClassifier", "KELMRegressor"),
    "kos_elm": ("KOSELMClassifier", "KOSELMRegressor"),
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

__all__ = sorted(name for names in _FILES.values() for name in names)


def __getattr__(name: str) -> Any:
    # Imported on first use: scikit-learn takes a second, and a table can be shown without it.
    for file, names in _FILES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{file}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
