import trainfeed_constructs
from trainfeed.job import TrainingJob
from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.sources import Channel, LustreSource, S3Link, S3Uri
from trainfeed_constructs import DatasetBucket, LustreFileSystem, TrainingJobTemplate, TrainingNetwork


def test_the_public_names_are_these():
    assert sorted(trainfeed_constructs.__all__) == [
        "DatasetBucket",
        "LustreAccess",
        "LustreFileSystem",
        "Network",
        "TrainingJobTemplate",
        "TrainingNetwork",
    ]


def test_the_constructs_work_together_outside_our_stacks(stack, only):
    bucket = DatasetBucket(stack, "Data")
    network = TrainingNetwork(stack, "Network")
    data = S3Link(uri=S3Uri(bucket.bucket_name, "data"), path="/data")
    LustreFileSystem(
        stack,
        "FileSystem",
        network=network,
        name="theirs",
        configuration=LustreConfiguration(storage_capacity_gib=2400, links=(data,)),
    )
    TrainingJobTemplate(
        stack,
        "Job",
        job=TrainingJob(
            name="mine",
            image="123456789012.dkr.ecr.us-east-1.amazonaws.com/mine:1",
            channels=(Channel(name="train", source=LustreSource(facts="theirs", path="/data")),),
            output=S3Uri(bucket.bucket_name, "outputs"),
            code=S3Uri(bucket.bucket_name, "code"),
        ),
    )

    subnet, _ = only("AWS::EC2::Subnet")
    data_bucket, _ = only("AWS::S3::Bucket")
    _, file_system = only("AWS::FSx::FileSystem")
    _, link = only("AWS::FSx::DataRepositoryAssociation")
    _, machine = only("AWS::StepFunctions::StateMachine")
    assert file_system["Properties"]["SubnetIds"] == [{"Ref": subnet}]
    assert link["Properties"]["DataRepositoryPath"]["Fn::Join"][1] == [
        "s3://",
        {"Ref": data_bucket},
        "/data/",
    ]
    assert machine["Properties"]["StateMachineName"] == "trainfeed-mine"
