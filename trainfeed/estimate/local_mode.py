"""What SageMaker's local mode, which runs a job's container on one's own machine, makes of each source.

Source: sagemaker/train/local of https://pypi.org/project/sagemaker-train/1.27.0/, and of FastFile
https://docs.aws.amazon.com/sagemaker/latest/dg/model-access-training-data.html.
"""

from collections.abc import Mapping
from typing import NamedTuple

from trainfeed.sources import SourceKind


class LocalMode(NamedTuple):
    """Whether a source can be tried in local mode, and what happens then."""

    usable: bool
    how: str


_FOLDER = LocalMode(
    usable=True,
    how="A folder of the machine stands in: the one whose path the channel names as DirectoryPath.",
)

LOCAL_MODE: Mapping[SourceKind, LocalMode] = {
    SourceKind.S3_FILE: LocalMode(usable=True, how="The objects are copied to the machine."),
    SourceKind.S3_FAST_FILE: LocalMode(
        usable=True, how="The objects are copied to the machine, as in File mode; nothing streams."
    ),
    SourceKind.S3_PIPE: LocalMode(usable=False, how="No pipe is made; the script would find a folder."),
    SourceKind.LUSTRE: _FOLDER,
    SourceKind.EFS: _FOLDER,
}
