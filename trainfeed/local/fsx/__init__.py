"""Amazon FSx for Lustre of the local AWS: file systems, their S3 links, tasks and files."""

from trainfeed.local.fsx.contents import FileState
from trainfeed.local.fsx.mounts import Mount, MountRefused
from trainfeed.local.fsx.service import FsxLustre

__all__ = ["FileState", "FsxLustre", "Mount", "MountRefused"]
