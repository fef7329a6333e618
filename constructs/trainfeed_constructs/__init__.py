"""CDK constructs that provision and wire the data source of a SageMaker training job."""
