"""Pick, provision and wire the data source that feeds a SageMaker training job."""
