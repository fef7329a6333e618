"""Stands in for the parts of the local AWS that are not written yet. To be deleted."""

import importlib
from types import SimpleNamespace
from typing import Any

from trainfeed.local.service import JsonService


class _Missing:
    def __init__(self, **_: Any) -> None:
        self.service = JsonService(name="fsx", target_prefix="NotThereYet", operations={})

    def reset(self) -> None:
        """Nothing."""

    def stop_all(self) -> None:
        """Nothing."""


def parts() -> tuple[Any, Any, Any]:
    """FsxLustre, TrainingJobs and the stepfunctions module, or what stands in for them."""
    return (
        _part("trainfeed.local.fsx", "FsxLustre"),
        _part("trainfeed.local.sagemaker", "TrainingJobs"),
        SimpleNamespace(install=_part("trainfeed.local.stepfunctions", "install")),
    )


def _part(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return _Missing
