"""The ELM family as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elmbench.models.ald_kos_elm import ALDKOSELMClassifier, ALDKOSELMRegressor
    from elmbench.models.amm import AMMClassifier
    from elmbench.models.bsgd import BSGDClassifier
    from elmbench.models.eekm import EEKMClassifier
    from elmbench.models.eem import EEMClassifier
    from elmbench.models.elm import ELMClassifier, ELMRegressor
    from elmbench.models.elm_rbf import ELMRBFClassifier, ELMRBFRegressor
    from elmbench.models.fb_kos_elm import FBKOSELMClassifier, FBKOSELMRegressor
    from elmbench.models.kernel_elm import KELMClassifier, KELMRegressor
    from elmbench.models.kos_elm import KOSELMClassifier, KOSELMRegressor
    from elmbench.models.ls_svm import LSSVMClassifier, LSSVMRegressor
    from elmbench.models.mk_elm import MKELMClassifier, MKELMRegressor
    from elmbench.models.os_elm import OSELMClassifier, OSELMRegressor
    from elmbench.models.os_pvm import OSPVMClassifier
    from elmbench.models.pegasos import PegasosClassifier
    from elmbench.models.pvm import PVMClassifier
    from elmbench.models.rk_elm import RKELMClassifier, RKELMRegressor
    from elmbench.models.rsvm import RSVMClassifier, RSVMRegressor
    from elmbench.models.svm import SVMClassifier
    from elmbench.models.w_elm import WELMClassifier

__all__ = [
    "ALDKOSELMClassifier",
    "ALDKOSELMRegressor",
    "AMMClassifier",
    "BSGDClassifier",
    "EEKMClassifier",
    "EEMClassifier",
    "ELMClassifier",
    "ELMRBFClassifier",
    "ELMRBFRegressor",
    "ELMRegressor",
    "FBKOSELMClassifier",
    "FBKOSELMRegressor",
    "KELMClassifier",
    "KELMRegressor",
    "KOSELMClassifier",
    "KOSELMRegressor",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "MKELMClassifier",
    "MKELMRegressor",
    "OSELMClassifier",
    "OSELMRegressor",
    "OSPVMClassifier",
    "PVMClassifier",
    "PegasosClassifier",
    "RKELMClassifier",
    "RKELMRegressor",
    "RSVMClassifier",
    "RSVMRegressor",
    "SVMClassifier",
    "WELMClassifier",
]

#: What each file has.
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


def __getattr__(name: str) -> Any:
    # Imported when first used: scikit-learn takes a second, and a table can be shown without it.
    for file, names in _FILES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{file}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
