"""How long a run takes with each source, phase by phase, and what it uses: pure functions of a workload."""

from trainfeed.estimate.local_mode import LOCAL_MODE, LocalMode
from trainfeed.estimate.lustre_size import lustre_capacity_gib, lustre_feeding_gib
from trainfeed.estimate.rates import Constant, constants
from trainfeed.estimate.result import (
    EPHEMERAL,
    EfsUse,
    Estimate,
    LustrePlan,
    LustreUse,
    Phase,
    PhaseName,
    Usage,
)
from trainfeed.estimate.share import room_gib
from trainfeed.estimate.sources import estimate

__all__ = [
    "EPHEMERAL",
    "LOCAL_MODE",
    "Constant",
    "EfsUse",
    "Estimate",
    "LocalMode",
    "LustrePlan",
    "LustreUse",
    "Phase",
    "PhaseName",
    "Usage",
    "constants",
    "estimate",
    "lustre_capacity_gib",
    "lustre_feeding_gib",
    "room_gib",
]
