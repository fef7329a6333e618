def test_reset_empties_the_account(aws):
    aws.client("s3").create_bucket(Bucket="some-data")
    aws.reset()
    assert aws.client("s3").list_buckets()["Buckets"] == []
