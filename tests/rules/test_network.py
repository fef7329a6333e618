"""What the network must be like for a job to reach its file system, and S3."""

import pytest

from trainfeed.rules.network import (
    JOB_GROUP_RULES,
    JOB_SUBNET_RULES,
    LUSTRE_PATH_RULES,
    LUSTRE_PORTS,
    NEW_FILE_SYSTEM_RULES,
    ZONE_RULES,
    JobGroups,
    JobsOfNewFileSystem,
    JobSubnet,
    LustrePaths,
    S3Route,
    ZoneChoice,
    closed_ports,
)
from trainfeed.rules.regions import LUSTRE_DEPLOYMENT_TYPES, zone_prefix
from trainfeed.rules.rule import UNRESOLVED, refusal
from trainfeed.rules.security_groups import ALL_PROTOCOLS, Permission, SecurityGroup, in_words

SUBNET = "10.0.1.0/24"


def tcp(peer, *ranges):
    return tuple(Permission(protocol="tcp", peer=peer, from_port=low, to_port=high) for low, high in ranges)


def everything(peer):
    return (Permission(protocol=ALL_PROTOCOLS, peer=peer),)


LUSTRE = ((988, 988), (1018, 1023))
OLD = ((988, 988), (1021, 1023))


def file_system(*ranges, into=None, out=None):
    """A file system's group, open to itself and to the job on some ports."""
    ranges = ranges or LUSTRE
    both = tcp("sg-fs", *ranges) + tcp("sg-job", *ranges)
    return SecurityGroup(
        id="sg-fs",
        ingress=both if into is None else into,
        egress=both if out is None else out,
    )


def job(*ranges, into=None, out=None):
    ranges = ranges or LUSTRE
    return SecurityGroup(
        id="sg-job",
        ingress=tcp("sg-fs", *ranges) if into is None else into,
        egress=tcp("sg-fs", *ranges) if out is None else out,
    )


def paths(ours=None, clients=None, cidr=SUBNET):
    clients = (job(),) if clients is None else tuple(clients)
    return LustrePaths(file_system=(ours or file_system(),), clients=clients, cidr=cidr)


DEFAULT = SecurityGroup(id="sg-default", ingress=everything("sg-default"), egress=everything("0.0.0.0/0"))
SERVERS, CLIENTS, WIDE = "NETWORK-LUSTRE-SERVERS", "NETWORK-LUSTRE-CLIENTS", "NETWORK-LUSTRE-WIDE"
NEEDED = "Needed: TCP 988, 1018-1023."

PATH_CASES = [
    (paths(), {}),
    (paths(clients=()), {}),
    # Ports listed one by one, rules of two groups added up, and addresses instead of groups
    (paths(file_system(*((port, port) for port in LUSTRE_PORTS))), {}),
    (
        LustrePaths(
            file_system=(
                SecurityGroup(id="sg-a", ingress=tcp(SUBNET, (988, 988)), egress=everything("0.0.0.0/0")),
                SecurityGroup(id="sg-b", ingress=tcp(SUBNET, (1018, 1023))),
            ),
            clients=(job(into=tcp("10.0.0.0/16", *LUSTRE), out=everything("0.0.0.0/0")),),
            cidr=SUBNET,
        ),
        {},
    ),
    (paths(file_system(into=tcp(SUBNET, *LUSTRE))), {}),
    (paths(file_system(into=tcp("10.0.0.0/8", *LUSTRE))), {}),
    (
        paths(file_system(into=tcp("sg-fs", *LUSTRE) + tcp("sg-job", *LUSTRE), out=everything("0.0.0.0/0"))),
        {},
    ),
    # Blocks that cover the subnet only together, port by port
    (paths(file_system(into=tcp("10.0.1.0/25", *LUSTRE) + tcp("10.0.1.128/25", *LUSTRE))), {}),
    (
        paths(
            file_system(
                into=tcp("10.0.1.0/25", (0, 1020), (1021, 65535))
                + tcp("10.0.1.128/26", *LUSTRE)
                + tcp("10.0.1.192/26", (988, 1023)),
            )
        ),
        {WIDE: "0-987, 989-1017"},
    ),
    (
        paths(file_system(into=tcp("10.0.1.0/25", *LUSTRE) + tcp("10.0.1.128/25", (988, 988)))),
        {SERVERS: "from the file system (sg-fs): 1018-1023.", CLIENTS: "from the job (sg-job): 1018-1023."},
    ),
    # A prefix list that could not be looked into is not judged
    (paths(file_system(into=tcp(UNRESOLVED, *LUSTRE))), {}),
    # Too few ports
    (
        paths(file_system((988, 988)), [job((988, 988))]),
        {
            SERVERS: "out of the file system (sg-fs) to the file system (sg-fs): 1018-1023;",
            CLIENTS: "into the file system (sg-fs) from the job (sg-job): 1018-1023;",
        },
    ),
    (paths(file_system(*OLD), [job(*OLD)]), {SERVERS: "1018-1020", CLIENTS: NEEDED}),
    (paths(file_system((1018, 1023))), {SERVERS: "988", CLIENTS: "988"}),
    (
        paths(clients=[job((988, 988))]),
        {CLIENTS: "out of the job (sg-job) to the file system (sg-fs): 1018-1023"},
    ),
    # One direction alone, the wrong peer, the wrong protocol
    (
        paths(clients=[job(into=())]),
        {CLIENTS: "into the job (sg-job) from the file system (sg-fs): 988, 1018-1023"},
    ),
    (paths(clients=[job(out=())]), {CLIENTS: "out of the job (sg-job)"}),
    (paths(file_system(out=())), {SERVERS: "out of the file system", CLIENTS: "out of the file system"}),
    (paths(file_system(into=())), {SERVERS: "into the file system", CLIENTS: "into the file system"}),
    (
        paths(file_system(into=tcp("sg-job", *LUSTRE))),
        {SERVERS: "into the file system (sg-fs) from the file"},
    ),
    (paths(file_system(into=tcp("sg-fs", *LUSTRE))), {CLIENTS: "into the file system (sg-fs) from the job"}),
    (paths(file_system(into=tcp("10.0.2.0/24", *LUSTRE))), {SERVERS: NEEDED, CLIENTS: NEEDED}),
    (paths(file_system(into=tcp("10.0.1.0/25", *LUSTRE))), {SERVERS: NEEDED, CLIENTS: NEEDED}),
    (paths(file_system(into=tcp("::/0", *LUSTRE))), {SERVERS: NEEDED, CLIENTS: NEEDED}),
    (paths(file_system(into=tcp("pl-12345678", *LUSTRE))), {SERVERS: NEEDED, CLIENTS: NEEDED}),
    (
        paths(file_system(into=tuple(Permission(protocol="udp", peer=SUBNET) for _ in "a"))),
        {SERVERS: NEEDED, CLIENTS: NEEDED},
    ),
    (paths(clients=[SecurityGroup(id="sg-other")]), {CLIENTS: "out of the job (sg-other)"}),
    # More than Lustre needs works, and is said
    (
        paths(file_system((988, 1023)), [job((988, 1023))]),
        {WIDE: "(sg-fs) let in TCP 989-1017 as well. Lustre needs 988, 1018-1023 alone."},
    ),
    (
        LustrePaths(file_system=(DEFAULT,), clients=(DEFAULT,), cidr=SUBNET),
        {WIDE: "0-987, 989-1017, 1024-65535"},
    ),
    (paths(file_system((988, 988), (1018, 1023), (22, 22))), {WIDE: "TCP 22 as well"}),
    (paths(clients=[job((0, 65535))]), {}),
    (paths(cidr=UNRESOLVED), {}),
]


def subnet(**given):
    given = {"zone_id": "use1-az1", "s3_route": S3Route.GATEWAY_ENDPOINT, "free_addresses": 100, **given}
    return JobSubnet(subnet_id="subnet-1", **given)


SUBNET_CASES = [
    (subnet(), {}),
    (subnet(file_system_zone_id="use1-az1"), {}),
    (subnet(file_system_zone_id="use1-az2"), {"NETWORK-ZONE": "zone use1-az1, the file system in use1-az2"}),
    (subnet(file_system_zone_id=UNRESOLVED), {}),
    *((subnet(s3_route=route), {}) for route in (S3Route.NAT, S3Route.INTERFACE_ENDPOINT)),
    (subnet(s3_route=S3Route.NONE), {"NETWORK-S3-ROUTE": "has no route to S3"}),
    (subnet(s3_route=S3Route.INTERNET_GATEWAY), {"NETWORK-S3-ROUTE": "no public address"}),
    (subnet(free_addresses=2), {}),
    (subnet(free_addresses=1), {"NETWORK-ADDRESSES": "has 1 free addresses"}),
    (subnet(free_addresses=8, instances=4), {}),
    (subnet(free_addresses=7, instances=4), {"NETWORK-ADDRESSES": "4 instances at 2 each need 8."}),
    (subnet(free_addresses=20, instances=4, efa=True), {}),
    (
        subnet(free_addresses=19, instances=4, efa=True),
        {"NETWORK-ADDRESSES": "4 instances at 5 each need 20."},
    ),
    (subnet(tenancy="dedicated"), {"NETWORK-TENANCY": "dedicated tenancy"}),
]


def groups(group, instances=2):
    return JobGroups(groups=(group,), instances=instances, cidr=SUBNET)


def leaving(out, s3_route=S3Route.GATEWAY_ENDPOINT):
    group = SecurityGroup(id="sg-job", egress=out)
    return JobGroups(groups=(group,), instances=1, cidr=SUBNET, s3_route=s3_route)


LONE = SecurityGroup(id="sg-job", egress=tcp("0.0.0.0/0", (443, 443)))

GROUP_CASES = [
    (groups(DEFAULT), {}),
    (groups(LONE, instances=1), {}),
    (groups(LONE), {"NETWORK-INSTANCES": "The 2 instances of the job cannot talk"}),
    (groups(SecurityGroup(id="sg-job", egress=everything("0.0.0.0/0"))), {"NETWORK-INSTANCES": "sg-job"}),
    (
        groups(SecurityGroup(id="sg-job", ingress=everything("sg-job"))),
        {"NETWORK-INSTANCES": "sg-job", "NETWORK-S3-PORT": "(sg-job) let no TCP 443 out to S3"},
    ),
    # The way to S3: public addresses, or those of an interface endpoint in the VPC
    (leaving(tcp("52.216.0.0/15", (443, 443))), {}),
    (leaving(tcp("0.0.0.0/0", (0, 442), (443, 443))), {}),
    (leaving(tcp(UNRESOLVED, (443, 443))), {}),
    (leaving(()), {"NETWORK-S3-PORT": "Let TCP 443 out to S3 (its prefix list, or 0.0.0.0/0)."}),
    (leaving(tcp("0.0.0.0/0", (80, 80))), {"NETWORK-S3-PORT": "no TCP 443"}),
    (leaving(everything("127.0.0.1/32")), {"NETWORK-S3-PORT": "no TCP 443"}),
    (leaving(everything("sg-fs")), {"NETWORK-S3-PORT": "no TCP 443"}),
    (leaving(everything("10.0.0.0/16")), {"NETWORK-S3-PORT": "no TCP 443"}),
    (leaving(everything("10.0.0.0/16"), S3Route.NAT), {"NETWORK-S3-PORT": "no TCP 443"}),
    (leaving(everything("10.0.0.0/16"), S3Route.INTERFACE_ENDPOINT), {}),
    (leaving(tcp("sg-endpoint", (443, 443)), S3Route.INTERFACE_ENDPOINT), {}),
    (
        leaving(everything("127.0.0.1/32"), S3Route.INTERFACE_ENDPOINT),
        {"NETWORK-S3-PORT": "out to the S3 endpoint of the VPC."},
    ),
]


def of_new(into, out):
    return JobsOfNewFileSystem(clients=(SecurityGroup(id="sg-job", ingress=into, egress=out),), cidr=SUBNET)


NEW_CASES = [
    (of_new(tcp(SUBNET, *LUSTRE), tcp(SUBNET, *LUSTRE)), {}),
    (of_new(everything("10.0.0.0/8"), everything("0.0.0.0/0")), {}),
    (of_new(tcp(UNRESOLVED, *LUSTRE), ()), {}),
    (
        of_new((), everything("0.0.0.0/0")),
        {
            "NETWORK-NEW-GROUP": "into the job (sg-job) from the file system (a new group): 988, 1018-1023. "
            "No rule is added to groups that were there before. Let TCP 988, 1018-1023 in from and out to "
            "10.0.1.0/24, or to the new group once it is made."
        },
    ),
    (of_new(everything("sg-job"), everything("sg-job")), {"NETWORK-NEW-GROUP": "out of the job (sg-job)"}),
]


def zone(zone_id, region="us-east-1"):
    return ZoneChoice(zone_id=zone_id, region=region)


ZONE_CASES = [
    (zone("use1-az1"), {}),
    (zone("use1-az10"), {}),
    (zone("apne1-az4", "ap-northeast-1"), {}),
    (zone("cnnw1-az1", "cn-northwest-1"), {}),
    (zone("usgw1-az1", "us-gov-west-1"), {}),
    (zone("use1-az1", "somewhere"), {}),
    (zone("use1-az1", UNRESOLVED), {}),
    (zone("us-east-1a"), {"NETWORK-ZONE-ID": "Write an id such as use1-az1"}),
    (zone("use1"), {"NETWORK-ZONE-ID": "'use1' is no id"}),
    (zone("USE1-AZ1"), {"NETWORK-ZONE-ID": "no id of an Availability Zone"}),
    (zone("use2-az1"), {"NETWORK-ZONE-REGION": "not in us-east-1, whose zones are use1-az1"}),
    (zone("use1-az1", "us-west-2"), {"NETWORK-ZONE-REGION": "usw2-az1"}),
    (zone("use1-az1", "us-gov-east-1"), {"NETWORK-ZONE-REGION": "usge1-az1"}),
]

TABLES = [
    (LUSTRE_PATH_RULES, PATH_CASES),
    (JOB_SUBNET_RULES, SUBNET_CASES),
    (JOB_GROUP_RULES, GROUP_CASES),
    (NEW_FILE_SYSTEM_RULES, NEW_CASES),
    (ZONE_RULES, ZONE_CASES),
]


@pytest.mark.parametrize(
    ("rules", "value", "expected"),
    [(rules, value, expected) for rules, cases in TABLES for value, expected in cases],
)
def test_the_network_is_judged(rules, value, expected, assert_findings):
    assert_findings(rules, value, expected)


def test_every_rule_fires_in_a_table():
    for rules, cases in TABLES:
        assert {rule for _, expected in cases for rule in expected} == {rule.id for rule in rules}


def test_fsx_refuses_a_file_system_whose_servers_cannot_talk():
    refused = refusal(LUSTRE_PATH_RULES, paths(file_system((988, 988)), ()), "fsx:CreateFileSystem")
    assert refused is not None
    assert refused[0].code == "InvalidNetworkSettings"
    assert refusal(LUSTRE_PATH_RULES, paths(clients=[job((988, 988))]), "fsx:CreateFileSystem") is None


def test_each_shut_way_is_named_once():
    assert closed_ports(paths()) == ()
    assert closed_ports(paths(clients=[job(into=(), out=())])) == (
        "out of the job (sg-job) to the file system (sg-fs): 988, 1018-1023",
        "into the job (sg-job) from the file system (sg-fs): 988, 1018-1023",
    )


JOBS = "10.0.2.0/24"


@pytest.mark.parametrize(
    ("clients_cidr", "ours", "theirs", "shut"),
    [
        (JOBS, JOBS, SUBNET, 0),
        (None, SUBNET, SUBNET, 0),
        # Rules that open to one's own subnet, where the other is in another one: out and in, both ways
        (JOBS, SUBNET, JOBS, 4),
        (JOBS, SUBNET, SUBNET, 2),
        (JOBS, JOBS, JOBS, 2),
    ],
)
def test_rules_with_addresses_count_for_the_subnet_of_the_other_end(clients_cidr, ours, theirs, shut):
    rules = tcp(ours, *LUSTRE) + tcp("sg-fs", *LUSTRE)
    value = LustrePaths(
        file_system=(SecurityGroup(id="sg-fs", ingress=rules, egress=rules),),
        clients=(job(into=tcp(theirs, *LUSTRE), out=tcp(theirs, *LUSTRE)),),
        cidr=SUBNET,
        clients_cidr=clients_cidr,
    )
    assert len(closed_ports(value)) == shut


@pytest.mark.parametrize(
    ("ports", "words"),
    [((), ""), ((988,), "988"), (LUSTRE_PORTS, "988, 1018-1023"), ((1, 2, 4, 6, 7), "1-2, 4, 6-7")],
)
def test_ports_in_words(ports, words):
    assert in_words(ports) == words


@pytest.mark.parametrize(
    ("region", "prefix"),
    [
        ("us-east-1", "use1"),
        ("ap-southeast-7", "apse7"),
        ("ap-south-2", "aps2"),
        ("eu-north-1", "eun1"),
        ("mx-central-1", "mxc1"),
        ("us-gov-west-1", "usgw1"),
        ("cn-north-1", "cnn1"),
        ("us-east-1a", None),
        ("", None),
    ],
)
def test_zone_ids_begin_with_their_region(region, prefix):
    assert zone_prefix(region) == prefix


def test_every_region_has_a_prefix_of_its_own():
    prefixes = [zone_prefix(region) for region in LUSTRE_DEPLOYMENT_TYPES]
    assert None not in prefixes
    assert len(set(prefixes)) == len(prefixes)
