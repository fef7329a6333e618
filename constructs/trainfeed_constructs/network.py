"""The network that a file system and its jobs share."""

from collections.abc import Sequence
from functools import cached_property

import jsii
from aws_cdk import Acknowledgment, Aws, CfnTag, Fn, Stack, Validations, aws_ec2
from constructs import Construct

from trainfeed.rules.cidr import RULES as CIDR_RULES
from trainfeed.rules.cidr import CidrChoice
from trainfeed.rules.network import ZONE_RULES, ZoneChoice
from trainfeed_constructs.findings import find, settle


@jsii.implements(aws_ec2.IConnectable)
class Network(Construct):
    """A subnet in which a file system and its jobs live, new or existing.

    Attributes:
        vpc_id: the VPC.
        subnet_id: the one subnet of file systems and jobs.
        security_group_id: the group of the jobs.
        rules_welcome: whether rules may be added to that group; never to an existing one.
    """

    vpc_id: str
    subnet_id: str
    security_group_id: str
    rules_welcome: bool

    @cached_property
    def connections(self) -> aws_ec2.Connections:
        """The jobs' side of every connection."""
        group = aws_ec2.SecurityGroup.from_security_group_id(
            self, "JobsGroup", self.security_group_id, mutable=self.rules_welcome
        )
        return aws_ec2.Connections(security_groups=[group])


class TrainingNetwork(Network):
    """One isolated subnet with a way to S3, and the security group of the training jobs.

    There is no internet and no NAT gateway: S3 is reached by a gateway endpoint, which is free, and
    SageMaker brings image and logs by ways of its own.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        zone_id: str | None = None,
        cidr: str = "10.42.0.0/20",
        other_buckets: Sequence[str] = (),
    ) -> None:
        """Define the network.

        Args:
            scope: the parent.
            id_: the name below the parent.
            zone_id: the Availability Zone by its id (`use1-az4`). Default: the account's first zone.
            cidr: the address range, /16 to /28. Default: 10.42.0.0/20.
            other_buckets: names of buckets of other accounts that jobs may reach. Default: none.

        Raises:
            RuleViolationError: there is no such zone, or no VPC of such addresses.
        """
        super().__init__(scope, id_)
        findings = find(CIDR_RULES, CidrChoice(cidr=cidr))
        if zone_id is not None:
            findings += find(ZONE_RULES, ZoneChoice(zone_id=zone_id, region=Stack.of(self).region))
        settle(self, findings)
        named = [CfnTag(key="Name", value=self.node.path)]
        vpc = aws_ec2.CfnVPC(
            self,
            "Vpc",
            cidr_block=cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=named,
        )
        Validations.of(vpc).acknowledge(
            Acknowledgment(
                id="AwsSolutions-VPC7",
                reason="The one subnet has no route but to S3, where each bucket logs access if asked; flow "
                "logs of a file system's traffic would cost more than they tell.",
            )
        )
        # Each look at an attribute is a round trip to Node.
        self.vpc_id = vpc.ref
        subnet = aws_ec2.CfnSubnet(
            self,
            "Subnet",
            vpc_id=self.vpc_id,
            cidr_block=cidr,
            availability_zone_id=zone_id,
            availability_zone=None if zone_id else Fn.select(0, Fn.get_azs()),
            map_public_ip_on_launch=False,
            tags=named,
        )
        self.subnet_id = subnet.ref
        routes = aws_ec2.CfnRouteTable(self, "Routes", vpc_id=self.vpc_id).ref
        aws_ec2.CfnSubnetRouteTableAssociation(
            self, "SubnetRoutes", subnet_id=self.subnet_id, route_table_id=routes
        )
        aws_ec2.CfnVPCEndpoint(
            self,
            "S3",
            vpc_id=self.vpc_id,
            service_name=f"com.amazonaws.{Aws.REGION}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[routes],
            policy_document=_endpoint_policy(other_buckets),
        )
        self.security_group_id = self._jobs_group(named)
        self.rules_welcome = True

    def _jobs_group(self, tags: list[CfnTag]) -> str:
        group = aws_ec2.CfnSecurityGroup(
            self,
            "Jobs",
            vpc_id=self.vpc_id,
            group_description="Training jobs: S3, each other, and the file systems that let them in",
            security_group_egress=[
                # The prefix list of S3 is known by an id of its own in each Region, and the subnet has no
                # other way out.
                aws_ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol="tcp", from_port=443, to_port=443, cidr_ip="0.0.0.0/0", description="S3"
                )
            ],
            tags=tags,
        )
        itself = group.attr_group_id
        # The instances of a distributed job talk on ports of their own choosing.
        aws_ec2.CfnSecurityGroupIngress(
            self,
            "FromEachOther",
            group_id=itself,
            ip_protocol="-1",
            source_security_group_id=itself,
            description="Between the instances of a job",
        )
        aws_ec2.CfnSecurityGroupEgress(
            self,
            "ToEachOther",
            group_id=itself,
            ip_protocol="-1",
            destination_security_group_id=itself,
            description="Between the instances of a job",
        )
        return itself

    @staticmethod
    def from_network_attributes(
        scope: Construct,
        id_: str,
        *,
        vpc_id: str,
        subnet_id: str,
        security_group_id: str,
        rules_welcome: bool = False,
    ) -> Network:
        """A network that was made elsewhere.

        Args:
            scope: the parent.
            id_: the name below the parent.
            vpc_id: the VPC.
            subnet_id: a subnet of it with a route to S3, for file systems and jobs.
            security_group_id: the group of the training jobs, which must let 988 and 1018-1023 through to
                and from the file system's group, and 443 to S3.
            rules_welcome: whether rules may be added to the group. Default: false, nothing is changed.
        """
        network = Network(scope, id_)
        network.vpc_id = vpc_id
        network.subnet_id = subnet_id
        network.security_group_id = security_group_id
        network.rules_welcome = rules_welcome
        return network


def _endpoint_policy(other_buckets: Sequence[str]) -> dict[str, object]:
    """Only this account's buckets, so that no data leaves by the endpoint, and those that were named."""
    mine = {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:ResourceAccount": Aws.ACCOUNT_ID}},
    }
    arns = [f"arn:{Aws.PARTITION}:s3:::{bucket}" for bucket in other_buckets]
    theirs = {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [arn for bucket in arns for arn in (bucket, f"{bucket}/*")],
    }
    return {"Version": "2012-10-17", "Statement": [mine, theirs] if arns else [mine]}
