"""An FSx for Lustre file system linked to S3."""

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

import jsii
from aws_cdk import (
    Annotations,
    CfnResource,
    CfnTag,
    RemovalPolicy,
    Stack,
    Token,
    aws_ec2,
    aws_fsx,
    aws_iam,
    aws_ssm,
)
from constructs import Construct

from trainfeed import names
from trainfeed.rules.lustre import RULES as LUSTRE_RULES
from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.rules.lustre_place import RULES as PLACE_RULES
from trainfeed.rules.lustre_place import LustrePlace
from trainfeed.rules.s3_link import RULES as LINK_RULES
from trainfeed.sources import S3Link
from trainfeed_constructs.claims import claim
from trainfeed_constructs.findings import find, settle
from trainfeed_constructs.network import Network
from trainfeed_constructs.typed import require_types

#: The ports of Lustre, each first and last, in and out, between file system and clients and among the
#: file system's own servers. Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
PORTS = ((988, 988), (1018, 1023))

_PORT_RULES: dict[str, dict[str, Any]] = {
    str(first): {"ip_protocol": "tcp", "from_port": first, "to_port": last, "description": "Lustre"}
    for first, last in PORTS
}

#: What EFA needs in place of ports.
#: Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html#efa-security-groups
_EFA_RULES: dict[str, dict[str, Any]] = {"All": {"ip_protocol": "-1", "description": "Lustre with EFA"}}

#: The version on which data repository associations work and which current clients can mount.
#: Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html
LUSTRE_VERSION = "2.15"

_Association = aws_fsx.CfnDataRepositoryAssociation


class LustreAccess(Construct):
    """A file system as others see it: its id, its mount name, who may connect.

    Attributes:
        file_system_id: `fs-...`.
        mount_name: the first part of every path by which a training job names a folder.
        security_group_id: the file system's group.
        rules_welcome: whether rules may be added to that group; never to an existing one.
    """

    file_system_id: str
    mount_name: str
    security_group_id: str
    rules_welcome: bool

    @property
    def file_system_arn(self) -> str:
        """The ARN, for policies."""
        return Stack.of(self).format_arn(
            service="fsx", resource="file-system", resource_name=self.file_system_id
        )

    @cached_property
    def connections(self) -> aws_ec2.Connections:
        """The file system's side of every connection; the default port is 988."""
        group = aws_ec2.SecurityGroup.from_security_group_id(
            self, "ConnectionsGroup", self.security_group_id, mutable=self.rules_welcome
        )
        return aws_ec2.Connections(security_groups=[group], default_port=aws_ec2.Port.tcp(PORTS[0][0]))

    def grant_describe(self, grantee: aws_iam.IGrantable) -> aws_iam.Grant:
        """Let someone see the state of file systems, links and tasks; these actions know no resources."""
        actions = ("FileSystems", "DataRepositoryAssociations", "DataRepositoryTasks")
        return aws_iam.Grant.add_to_principal(
            grantee=grantee, actions=[f"fsx:Describe{action}" for action in actions], resource_arns=["*"]
        )

    def grant_tasks(self, grantee: aws_iam.IGrantable) -> aws_iam.Grant:
        """Let someone start and cancel import, export and release tasks on this file system."""
        arn = Stack.of(self).format_arn(service="fsx", resource="task", resource_name="*")
        return aws_iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["fsx:CreateDataRepositoryTask", "fsx:CancelDataRepositoryTask", "fsx:TagResource"],
            resource_arns=[self.file_system_arn, arn],
        )


@jsii.implements(aws_ec2.IConnectable)
class LustreFileSystem(LustreAccess):
    """A file system, its S3 links made one after another, and exactly the rules it needs.

    Beyond what CloudFormation asks for, it sees to it that the file system is made after its rules (else
    creation fails now and then), that one link is made after the other (FSx makes one at a time), and
    that a training job finds it: its facts are in the SSM parameter `/trainfeed/sources/<name>`.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        network: Network,
        configuration: LustreConfiguration | None = None,
        name: str = "fsx-lustre",
        security_group_id: str | None = None,
        removal_policy: RemovalPolicy | None = None,
    ) -> None:
        """Define the file system.

        Args:
            scope: the parent.
            id_: the name below the parent.
            network: where it lives; its one subnet is also that of the jobs.
            configuration: size, kind and S3 links. Default: 1,200 GiB of SCRATCH_2, LZ4, no link.
            name: the name under which jobs find it, once in an account and Region. Default: fsx-lustre.
            security_group_id: an existing group, to which no rule is added. Default: a new one.
            removal_policy: what becomes of it with its stack. Default: scratch types are destroyed,
                persistent ones retained.

        Raises:
            RuleViolationError: AWS would refuse it; the error holds every reason.
            ValueError: the configuration holds something that is not of its type.
        """
        super().__init__(scope, id_)
        asked = configuration or LustreConfiguration(storage_capacity_gib=1200)
        require_types(asked)
        configuration = replace(
            asked,
            file_system_type_version=asked.file_system_type_version or LUSTRE_VERSION,
            subnet_ids=asked.subnet_ids or (network.subnet_id,),
            region=asked.region or Stack.of(self).region,
        )
        place = LustrePlace(
            name=name,
            namesake=claim(self, names.facts_parameter(name)),
            subnet_ids=configuration.subnet_ids or (),
            jobs_subnet_id=network.subnet_id,
        )
        settle(self, (*find(PLACE_RULES, place), *find((*LUSTRE_RULES, *LINK_RULES), configuration)))
        scratch = configuration.deployment_type.startswith("SCRATCH")
        self._removal = removal_policy or (RemovalPolicy.DESTROY if scratch else RemovalPolicy.RETAIN)

        self._efa = configuration.efa_enabled
        self._traffic = "all traffic" if self._efa else "TCP 988 and 1018-1023"
        rules = None
        if security_group_id is None:
            security_group_id, rules = self._security_group(network)
        else:
            Annotations.of(self).add_info_v2(
                "trainfeed:EXISTING-FILE-SYSTEM-GROUP",
                f"No rule is added for the existing security group {security_group_id}. It must let "
                f"{self._traffic} through within itself and to and from the jobs' group "
                f"{network.security_group_id}, and that group likewise.",
            )
        self.security_group_id = security_group_id
        self.rules_welcome = rules is not None

        file_system = self._file_system(configuration)
        if rules is not None:
            file_system.node.add_dependency(rules)
        self.file_system_id = file_system.ref
        self.mount_name = file_system.attr_lustre_mount_name

        last = self._associations(configuration.links)
        facts = self._facts(name, network, configuration.links)
        if last is not None:
            # Whoever finds the file system finds it whole.
            facts.add_resource_dependency(last)

    @staticmethod
    def from_lustre_file_system_attributes(
        scope: Construct, id_: str, *, file_system_id: str, mount_name: str, security_group_id: str
    ) -> LustreAccess:
        """A file system that was there before.

        Args:
            scope: the parent.
            id_: the name below the parent.
            file_system_id: `fs-...`.
            mount_name: as DescribeFileSystems tells it.
            security_group_id: the file system's group, to which no rule is added.
        """
        access = LustreAccess(scope, id_)
        access.file_system_id = file_system_id
        access.mount_name = mount_name
        access.security_group_id = security_group_id
        access.rules_welcome = False
        return access

    def _file_system(self, asked: LustreConfiguration) -> aws_fsx.CfnFileSystem:
        metadata = asked.metadata_mode and aws_fsx.CfnFileSystem.MetadataConfigurationProperty(
            mode=asked.metadata_mode, iops=asked.metadata_iops
        )
        file_system = aws_fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=asked.file_system_type_version,
            storage_capacity=asked.storage_capacity_gib,
            storage_type=asked.storage_type,
            subnet_ids=list(asked.subnet_ids or ()),
            security_group_ids=[self.security_group_id],
            kms_key_id=asked.kms_key_id,
            lustre_configuration=aws_fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=asked.deployment_type,
                per_unit_storage_throughput=asked.per_unit_storage_throughput,
                throughput_capacity=asked.throughput_capacity_mbps,
                data_compression_type=asked.data_compression_type,
                drive_cache_type=asked.drive_cache_type,
                efa_enabled=asked.efa_enabled or None,
                metadata_configuration=metadata or None,
                import_path=asked.import_path,
                export_path=asked.export_path,
                auto_import_policy=asked.auto_import_policy,
                imported_file_chunk_size=asked.imported_file_chunk_size_mib,
                automatic_backup_retention_days=asked.automatic_backup_retention_days,
            ),
            tags=[CfnTag(key="Name", value=self.node.path)],
        )
        file_system.apply_removal_policy(self._removal)
        return file_system

    def _associations(self, links: Iterable[S3Link]) -> CfnResource | None:
        last: CfnResource | None = None
        for number, link in enumerate(links):
            association = _Association(
                self,
                _link_id(number, link.path),
                file_system_id=self.file_system_id,
                file_system_path=link.path,
                data_repository_path=f"s3://{link.uri.bucket}/{link.uri.folder}",
                batch_import_meta_data_on_create=link.import_on_create,
                imported_file_chunk_size=link.imported_file_chunk_size_mib,
                s3=_policies(link),
            )
            self._keep(association)
            if last is not None:
                association.add_resource_dependency(last)
            last = association
        return last

    def _facts(self, name: str, network: Network, links: Iterable[S3Link]) -> CfnResource:
        return aws_ssm.CfnParameter(
            self,
            "Facts",
            name=names.facts_parameter(name),
            type="String",
            description="What a training job must know of this file system",
            value=json.dumps(
                {
                    "FileSystemId": self.file_system_id,
                    "MountName": self.mount_name,
                    "SubnetId": network.subnet_id,
                    "SecurityGroupIds": [network.security_group_id],
                    "ImportedPaths": [link.path for link in links if link.import_on_create],
                }
            ),
        )

    def _security_group(self, network: Network) -> tuple[str, Construct]:
        """A group with the rules of Lustre, and all that must be there before the file system."""
        group = aws_ec2.CfnSecurityGroup(
            self,
            "SecurityGroup",
            vpc_id=network.vpc_id,
            group_description=f"FSx for Lustre: {self._traffic.removeprefix('TCP ')}, with the training jobs "
            "and within itself",
            # Without any rule of its own a new group gets one that lets everything out.
            security_group_egress=[
                aws_ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol="-1", cidr_ip="127.0.0.1/32", description="Nothing but the rules of Lustre"
                )
            ],
            tags=[CfnTag(key="Name", value=self.node.path)],
        )
        self._keep(group)
        servers, jobs = group.attr_group_id, network.security_group_id
        rules = Construct(self, "Rules")
        self._open(rules, "Servers", servers, servers)
        self._open(rules, "Jobs", servers, jobs)
        if network.rules_welcome:
            self._open(rules, "FileSystem", jobs, servers)
        else:
            Annotations.of(self).add_info_v2(
                "trainfeed:EXISTING-JOBS-GROUP",
                f"No rule is added to the existing security group {jobs}. It must let {self._traffic} "
                "through to and from the file system's group.",
            )
        return servers, rules

    def _open(self, scope: Construct, peer: str, group: str, other: str) -> None:
        for name, port in (_EFA_RULES if self._efa else _PORT_RULES).items():
            for rule in (
                aws_ec2.CfnSecurityGroupIngress(
                    scope, f"From{peer}{name}", group_id=group, source_security_group_id=other, **port
                ),
                aws_ec2.CfnSecurityGroupEgress(
                    scope, f"To{peer}{name}", group_id=group, destination_security_group_id=other, **port
                ),
            ):
                self._keep(rule)

    def _keep(self, resource: CfnResource) -> None:
        """Without its rules and links, a file system that outlives its stack would be of no use."""
        if self._removal is not RemovalPolicy.DESTROY:
            resource.apply_removal_policy(self._removal)


def _link_id(number: int, path: str) -> str:
    """A construct id for each path, no two alike: `Link-data` for /data."""
    if Token.is_unresolved(path):
        return f"Link{number}"
    return "Link" + path.rstrip("/").replace("%", "%25").replace("-", "%2D").replace("/", "-")


def _policies(link: S3Link) -> _Association.S3Property | None:
    if not link.auto_import and not link.auto_export:
        return None
    return _Association.S3Property(
        auto_import_policy=_Association.AutoImportPolicyProperty(events=list(map(str, link.auto_import)))
        if link.auto_import
        else None,
        auto_export_policy=_Association.AutoExportPolicyProperty(events=list(map(str, link.auto_export)))
        if link.auto_export
        else None,
    )
