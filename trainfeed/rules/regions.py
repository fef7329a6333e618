"""Where each kind of Lustre file system exists, and how Availability Zone ids tell their Region."""

import re

#: The deployment types of a Region, where the page below names the Region; SCRATCH_1 is not on it.
#: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html#persistent-deployment-regions
LUSTRE_DEPLOYMENT_TYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "af-south-1",
            "ap-east-1",
            "ap-northeast-1",
            "ap-northeast-2",
            "ap-northeast-3",
            "ap-south-1",
            "ap-south-2",
            "ap-southeast-1",
            "ap-southeast-2",
            "ap-southeast-3",
            "ap-southeast-4",
            "ca-central-1",
            "eu-central-1",
            "eu-central-2",
            "eu-north-1",
            "eu-south-1",
            "eu-south-2",
            "eu-west-1",
            "eu-west-2",
            "eu-west-3",
            "sa-east-1",
            "us-east-1",
            "us-east-2",
            "us-gov-east-1",
            "us-gov-west-1",
            "us-west-1",
            "us-west-2",
        ),
        ("SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"),
    ),
    # Taipei, Malaysia, New Zealand, Thailand, Calgary, Mexico
    **dict.fromkeys(
        ("ap-east-2", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7", "ca-west-1", "mx-central-1"),
        ("PERSISTENT_2",),
    ),
    "il-central-1": ("SCRATCH_2", "PERSISTENT_2"),
    **dict.fromkeys(("me-central-1", "me-south-1"), ("SCRATCH_2", "PERSISTENT_1")),
}

#: Regions whose PERSISTENT_2 file systems have the tiers 125 and 250 alone, and no EFA (same page).
LUSTRE_SMALL_TIERS = ("il-central-1", "mx-central-1")

_REGION = re.compile(
    r"(?P<area>[a-z]+)(?P<gov>-gov)?-"
    r"(?P<direction>north|south|central|east|west|northeast|northwest|southeast|southwest)-(?P<number>\d+)"
)
_DIRECTIONS = {
    "north": "n",
    "south": "s",
    "east": "e",
    "west": "w",
    "central": "c",
    "northeast": "ne",
    "northwest": "nw",
    "southeast": "se",
    "southwest": "sw",
}


def zone_prefix(region: str) -> str | None:
    """How the zone ids of a Region begin (`use1` for us-east-1), or None for no name of a Region.

    Source: https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html
    """
    match = _REGION.fullmatch(region)
    if match is None:
        return None
    gov = "g" if match["gov"] else ""
    return f"{match['area']}{gov}{_DIRECTIONS[match['direction']]}{match['number']}"
