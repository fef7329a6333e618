"""SageMaker training jobs of the local AWS, which really run: a process an instance, with its own /opt/ml."""

from trainfeed.local.sagemaker.service import TrainingJobs

__all__ = ["TrainingJobs"]
