"""The stack of the network that file systems and their jobs share."""

from collections.abc import Sequence

from aws_cdk import CfnOutput, Environment, Fn
from constructs import Construct

from stacks.settings import NetworkSettings
from stacks.tagged_stack import TaggedStack
from trainfeed_constructs import Network, TrainingNetwork

STACK = "NetworkStack"
#: What others import by name. The names are always exported: nobody is kept from leaving.
_VPC, _SUBNET, _GROUP = (f"{STACK}:{name}" for name in ("VpcId", "SubnetId", "SecurityGroupId"))


class NetworkStack(TaggedStack):
    """One isolated subnet with a way to S3."""

    def __init__(
        self,
        scope: Construct,
        *,
        settings: NetworkSettings,
        other_buckets: Sequence[str],
        env: Environment,
    ) -> None:
        """Define the stack.

        Args:
            scope: the app.
            settings: zone and address range.
            other_buckets: buckets that were there before, maybe in another account, and that jobs read.
            env: account and Region.
        """
        super().__init__(scope, STACK, description="where file systems and their jobs live", env=env)
        network = TrainingNetwork(
            self, "Network", zone_id=settings.zone_id, cidr=settings.cidr, other_buckets=other_buckets
        )
        for name, value, what in (
            (_VPC, network.vpc_id, "The VPC"),
            (_SUBNET, network.subnet_id, "The subnet of file systems and jobs"),
            (_GROUP, network.security_group_id, "The security group of training jobs"),
        ):
            CfnOutput(self, name.rpartition(":")[2], value=value, export_name=name, description=what)


def shared_network(scope: Construct, id_: str, settings: NetworkSettings) -> Network:
    """The network of NetworkStack, or the existing one, as another stack sees it."""
    if settings.existing:
        return TrainingNetwork.from_network_attributes(scope, id_, **settings.existing.model_dump())
    return TrainingNetwork.from_network_attributes(
        scope,
        id_,
        vpc_id=Fn.import_value(_VPC),
        subnet_id=Fn.import_value(_SUBNET),
        security_group_id=Fn.import_value(_GROUP),
        rules_welcome=True,
    )
