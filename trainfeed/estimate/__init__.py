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

__all__ = [
    "EPHEMERAL",
    "EfsUse",
    "Estimate",
    "LustrePlan",
    "LustreUse",
    "Phase",
    "PhaseName",
    "Usage",
]
