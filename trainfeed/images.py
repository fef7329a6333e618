"""The container images that AWS keeps for training, by Region.

The data is in `images.json`, with its source and date; `scripts/refresh-images` writes it anew. Scikit-learn
and Pillow are in all of them: the PyTorch images install both by name, the scikit-learn image has Pillow
through its model server, https://pypi.org/project/multi-model-server/.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image of which each Region has a copy.

    Attributes:
        name: by which it is chosen here (`scikit-learn`).
        registries: the registry's host by Region.
        source: where the data comes from.
        checked: the day it was taken from there.
    """

    name: str
    repository: str
    tag: str
    registries: Mapping[str, str]
    source: str
    checked: date

    def uri(self, region: str) -> str:
        """The image's address in a Region.

        Raises:
            ValueError: AWS keeps no copy there.
        """
        if region not in self.registries:
            raise ValueError(
                f"There is no {self.name} image in {region!r}. Regions that have one: "
                f"{', '.join(self.registries)}. Name an image of your own, or choose one of these Regions."
            )
        return f"{self.registries[region]}/{self.repository}:{self.tag}"


@cache
def images() -> Mapping[str, Image]:
    """Every image, by its name."""
    data = json.loads(files("trainfeed").joinpath("images.json").read_text())
    checked = date.fromisoformat(data["checked"])
    return {
        name: Image(name=name, source=data["source"], checked=checked, **image)
        for name, image in data["images"].items()
    }


def scikit_learn(region: str) -> str:
    """AWS's scikit-learn image, which the example job and jobs that name no image run in.

    Raises:
        ValueError: the Region has none.
    """
    return images()["scikit-learn"].uri(region)


def pytorch(region: str, *, gpu: bool) -> str:
    """AWS's PyTorch image for machines with or without GPUs.

    Raises:
        ValueError: the Region has none.
    """
    return images()["pytorch-gpu" if gpu else "pytorch-cpu"].uri(region)
