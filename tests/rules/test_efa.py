import pytest

from trainfeed.rules.efa import RULES, EfaPaths
from trainfeed.rules.rule import check
from trainfeed.rules.security_groups import ALL_PROTOCOLS, Permission, SecurityGroup


def group(id_, *peers, into=None, protocol=ALL_PROTOCOLS):
    """A group that lets peers in, and out to the same unless others are let in."""
    egress = tuple(Permission(protocol=protocol, peer=peer) for peer in peers)
    ingress = egress if into is None else tuple(Permission(protocol=protocol, peer=peer) for peer in into)
    return SecurityGroup(id=id_, ingress=ingress, egress=egress)


OPEN = group("sg-fs", "sg-fs", "sg-job")
JOB = group("sg-job", "sg-fs")


@pytest.mark.parametrize(
    ("file_system", "clients", "missing"),
    [
        ((group("sg-fs", "sg-fs"),), (), None),
        ((OPEN,), (JOB,), None),
        # Two groups let each other through, and a job may share the file system's group
        ((group("sg-a", "sg-b"), group("sg-b")), (), None),
        ((group("sg-fs", "sg-fs"),), (group("sg-fs", "sg-fs"),), None),
        # Every TCP port is not all traffic, and addresses are not the group
        (
            (group("sg-fs", "sg-fs", protocol="tcp"),),
            (),
            "out of sg-fs to sg-fs; into sg-fs from sg-fs",
        ),
        ((group("sg-fs", "0.0.0.0/0"),), (), "out of sg-fs to sg-fs; into sg-fs from sg-fs"),
        ((group("sg-fs", "0.0.0.0/0", into=("sg-fs",)),), (), "out of sg-fs to sg-fs"),
        ((OPEN,), (group("sg-job"),), "out of sg-job to sg-fs; into sg-job from sg-fs"),
        ((group("sg-fs", "sg-fs"),), (JOB,), "into sg-fs from sg-job; out of sg-fs to sg-job"),
        ((), (), "out of no security group to no security group; into no security group"),
    ],
)
def test_all_traffic_passes_by_the_ids_of_groups(file_system, clients, missing):
    found = check(RULES, EfaPaths(file_system=file_system, clients=clients))
    if missing is None:
        assert found == ()
        return
    (finding,) = found
    assert f"Missing: {missing}" in finding.message
