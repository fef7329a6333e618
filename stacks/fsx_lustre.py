"""The stack of one FSx for Lustre file system."""

from aws_cdk import CfnOutput, Environment, RemovalPolicy
from constructs import Construct

from stacks import asked
from stacks.network import shared_network
from stacks.settings import LustreSettings, NetworkSettings
from stacks.tagged_stack import TaggedStack
from trainfeed import names
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
        locations: asked.Locations,
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
            configuration=asked.file_system(settings, locations),
            security_group_id=settings.security_group_id,
            removal_policy=(settings.removal and RemovalPolicy[settings.removal.upper()]) or None,
        )
        CfnOutput(self, "FileSystemId", value=file_system.file_system_id, description="The file system")
        CfnOutput(
            self, "MountName", value=file_system.mount_name, description="The first part of every path on it"
        )
