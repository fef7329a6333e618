"""CDK constructs that provision and wire the data source of a SageMaker training job."""

from trainfeed_constructs.buckets import DatasetBucket
from trainfeed_constructs.job_template import TrainingJobTemplate
from trainfeed_constructs.lustre import LustreAccess, LustreFileSystem
from trainfeed_constructs.network import Network, TrainingNetwork

__all__ = [
    "DatasetBucket",
    "LustreAccess",
    "LustreFileSystem",
    "Network",
    "TrainingJobTemplate",
    "TrainingNetwork",
]
