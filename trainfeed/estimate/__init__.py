"""How long a run takes with each source, phase by phase, and what it uses: pure functions of a workload."""

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
from trainfeed.estimate.share import lustre_capacity_gib, room_gib
from trainfeed.estimate.sources import estimate

__all__ = [
    "EPHEMERAL",
    "EfsUse",
    "Estimate",
    "LustrePlan",
    "LustreUse",
    "Phase",
    "PhaseName",
    "Usage",
    "estimate",
    "lustre_capacity_gib",
    "room_gib",
]
