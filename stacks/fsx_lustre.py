"""The stack of one FSx for Lustre file system."""

from aws_cdk import CfnOutput, Environment, RemovalPolicy
from constructs import Construct

from stacks.dataset import Locations
from stacks.network import shared_network
from stacks.settings import LustreSettings, NetworkSettings
from stacks.tagged_stack import TaggedStack
from trainfeed import names
from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.sources import S3Link
from trainfeed_constructs import LustreFileSystem


class FsxLustreStack(TaggedStack):
    """A file system linked to S3, in the shared network."""

    def __init__(
        self,
        scope: Construct,
        *,
        name: str,
        settings: LustreSettings,
        network: NetworkSettings,
        locations: Locations,
        env: Environment,
    ) -> None:
        """Define the stack.

        Args:
            scope: the app.
            name: the source's name in the settings; jobs find the file system by it.
            settings: size, kind and links.
            network: which network it lives in.
            locations: the buckets that links mean by `dataset` and `output`.
            env: account and Region.

        Raises:
            RuleViolationError: AWS would refuse the file system.
        """
        super().__init__(scope, names.source_stack(name), description=f"the file system {name}", env=env)
        file_system = LustreFileSystem(
            self,
            "FileSystem",
            name=name,
            network=shared_network(self, "Network", network),
            configuration=_configuration(settings, locations),
            security_group_id=settings.security_group_id,
            removal_policy=(settings.removal and RemovalPolicy[settings.removal.upper()]) or None,
        )
        CfnOutput(self, "FileSystemId", value=file_system.file_system_id, description="The file system")
        CfnOutput(
            self, "MountName", value=file_system.mount_name, description="The first part of every path on it"
        )


def _configuration(settings: LustreSettings, locations: Locations) -> LustreConfiguration:
    if settings.metadata_iops is not None:
        metadata_mode = "USER_PROVISIONED"
    else:
        # It can only be chosen when the file system is made, and costs nothing.
        metadata_mode = "AUTOMATIC" if settings.deployment_type == "PERSISTENT_2" else None
    return LustreConfiguration(
        **settings.model_dump(exclude={"type", "links", "security_group_id", "removal"}),
        metadata_mode=metadata_mode,
        links=tuple(
            S3Link(uri=locations.find(link.uri), **link.model_dump(exclude={"uri"}))
            for link in settings.links
        ),
    )
