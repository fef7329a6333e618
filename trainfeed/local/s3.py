"""AWS::S3::Bucket with all its properties, and never deleted while it holds objects."""

import uuid
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from trainfeed.local import ministack
from trainfeed.local.service import ApiError

Client = Callable[[str], Any]


def install(client: Client) -> None:
    """Correct MiniStack; `client` makes the clients by which CloudFormation sets a bucket's properties."""
    bucket = _Bucket(client)
    ministack.wrap_type(
        "AWS::S3::Bucket",
        blocking=True,
        tags=("Tags", "list"),
        create=bucket.creating,
        update=bucket.updating,
        delete=bucket.deleting,
    )
    ministack.wrap_type("AWS::S3::BucketPolicy", create=_once)
    ministack.wrap("server-side encryption", _with_managed_key)
    ministack.wrap("list object versions", _after_the_marker)


class _Bucket:
    def __init__(self, client: Client) -> None:
        self._client = client

    def creating(self, create: Callable[..., Any]) -> Callable[..., Any]:
        def run(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
            name, attributes = create(logical_id, properties, stack)
            try:
                self._set(name, {}, properties)
            except Exception:
                # What CloudFormation could not finish it does not leave behind.
                self._client("s3").delete_bucket(Bucket=name)
                raise
            return name, attributes

        return run

    def updating(self, update: Callable[..., Any]) -> Callable[..., Any]:
        def run(name: str, old: dict[str, Any], new: dict[str, Any], *rest: Any) -> Any:
            current, attributes = update(name, old, new, *rest)
            self._set(current, old if current == name else {}, new)
            return current, attributes

        return run

    def deleting(self, _: Callable[..., Any]) -> Callable[..., Any]:
        def run(name: str, properties: dict[str, Any]) -> None:
            try:
                self._client("s3").delete_bucket(Bucket=name)
            except ClientError as error:
                if error.response["Error"]["Code"] != "NoSuchBucket":
                    raise _refusal(error) from error

        return run

    def _set(self, name: str, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Set the properties that MiniStack's own provider passes over, and unset those that went."""
        s3 = self._client("s3")
        try:
            if changed := _changed(old, new, "BucketEncryption"):
                _encrypt(s3, name, changed)
            if changed := _changed(old, new, "LifecycleConfiguration"):
                _expire(s3, name, changed)
            if changed := _changed(old, new, "OwnershipControls"):
                _own(s3, name, changed)
            if changed := _changed(old, new, "LoggingConfiguration"):
                _log(s3, name, changed)
            if (changed := _changed(old, new, "VersioningConfiguration")) and old:
                # Versioning once on can only be suspended.
                s3.put_bucket_versioning(
                    Bucket=name, VersioningConfiguration=changed[0] or {"Status": "Suspended"}
                )
        except ClientError as error:
            raise _refusal(error) from error
        # Tags named aws: are CloudFormation's own to set, which PutBucketTagging refuses to anybody else.
        ministack.store("bucket tags")[name] = {tag["Key"]: tag["Value"] for tag in new.get("Tags", [])}


def _changed(old: dict[str, Any], new: dict[str, Any], name: str) -> tuple[Any] | None:
    """The new value of a property, or nothing where it is as it was."""
    return None if old.get(name) == new.get(name) else (new.get(name),)


def _encrypt(s3: Any, name: str, changed: tuple[Any]) -> None:
    (encryption,) = changed
    if encryption is None:
        s3.delete_bucket_encryption(Bucket=name)
        return
    rules = [
        _without_nothing(
            ApplyServerSideEncryptionByDefault=rule.get("ServerSideEncryptionByDefault"),
            BucketKeyEnabled=_boolean(rule.get("BucketKeyEnabled")),
        )
        for rule in encryption["ServerSideEncryptionConfiguration"]
    ]
    s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": rules})


def _own(s3: Any, name: str, changed: tuple[Any]) -> None:
    (controls,) = changed
    if controls is None:
        s3.delete_bucket_ownership_controls(Bucket=name)
        return
    s3.put_bucket_ownership_controls(Bucket=name, OwnershipControls={"Rules": controls["Rules"]})


def _log(s3: Any, name: str, changed: tuple[Any]) -> None:
    (logging,) = changed
    if logging is None:
        s3.put_bucket_logging(Bucket=name, BucketLoggingStatus={})
        return
    s3.put_bucket_logging(
        Bucket=name,
        BucketLoggingStatus={
            "LoggingEnabled": {
                "TargetBucket": logging.get("DestinationBucketName", name),
                "TargetPrefix": logging.get("LogFilePrefix", ""),
            }
        },
    )


def _expire(s3: Any, name: str, changed: tuple[Any]) -> None:
    (lifecycle,) = changed
    if lifecycle is None:
        s3.delete_bucket_lifecycle(Bucket=name)
        return
    s3.put_bucket_lifecycle_configuration(
        Bucket=name, LifecycleConfiguration={"Rules": [_lifecycle_rule(rule) for rule in lifecycle["Rules"]]}
    )


def _lifecycle_rule(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule of the resource type as the S3 API spells it."""
    days, date = rule.get("ExpirationInDays"), rule.get("ExpirationDate")
    marker = _boolean(rule.get("ExpiredObjectDeleteMarker"))
    expiration = _without_nothing(Days=_integer(days), Date=date, ExpiredObjectDeleteMarker=marker)
    noncurrent = rule.get("NoncurrentVersionExpiration") or {}
    parts = rule.get("AbortIncompleteMultipartUpload") or {}
    return _without_nothing(
        ID=rule.get("Id") or uuid.uuid4().hex,
        Status=rule["Status"],
        Filter=_filter(rule),
        Expiration=expiration or None,
        Transitions=[
            _without_nothing(
                Days=_integer(transition.get("TransitionInDays")),
                Date=transition.get("TransitionDate"),
                StorageClass=transition["StorageClass"],
            )
            for transition in rule.get("Transitions") or []
        ]
        or None,
        NoncurrentVersionExpiration=_without_nothing(
            NoncurrentDays=_integer(noncurrent.get("NoncurrentDays")),
            NewerNoncurrentVersions=_integer(noncurrent.get("NewerNoncurrentVersions")),
        )
        or None,
        AbortIncompleteMultipartUpload=_without_nothing(
            DaysAfterInitiation=_integer(parts.get("DaysAfterInitiation"))
        )
        or None,
    )


def _filter(rule: dict[str, Any]) -> dict[str, Any]:
    conditions = _without_nothing(
        Prefix=rule.get("Prefix"),
        ObjectSizeGreaterThan=_integer(rule.get("ObjectSizeGreaterThan")),
        ObjectSizeLessThan=_integer(rule.get("ObjectSizeLessThan")),
    )
    tags = rule.get("TagFilters") or []
    if len(conditions) + len(tags) > 1:
        return {"And": {**conditions, **({"Tags": tags} if tags else {})}}
    if tags:
        return {"Tag": tags[0]}
    return conditions or {"Prefix": ""}


def _without_nothing(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _integer(value: Any) -> int | None:
    return None if value is None else int(value)


def _boolean(value: Any) -> bool | None:
    return None if value is None else str(value).lower() == "true"


def _with_managed_key(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Encryption with KMS that names no key takes the account's aws/s3 key; MiniStack refuses it."""

    def run(headers: dict[str, str], bucket_name: str) -> Any:
        if headers.get("x-amz-server-side-encryption") == "aws:kms":
            key = f"arn:aws:kms:{ministack.region()}:{ministack.account_id()}:alias/aws/s3"
            headers = {"x-amz-server-side-encryption-aws-kms-key-id": key, **headers}
        return resolve(headers, bucket_name)

    return run


def _after_the_marker(list_versions: Callable[..., Any]) -> Callable[..., Any]:
    """Of an object without versions MiniStack would begin the next page with what ended the last."""

    def run(bucket_name: str, query_params: dict[str, Any]) -> Any:
        keys = query_params.get("key-marker", "")
        key = keys[0] if isinstance(keys, list) else keys
        if not ministack.store("object versions").get((bucket_name, key)):
            query_params = {name: each for name, each in query_params.items() if name != "version-id-marker"}
        return list_versions(bucket_name, query_params)

    return run


def _once(create: Callable[..., Any]) -> Callable[..., Any]:
    def run(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
        bucket = properties["Bucket"]
        if bucket in ministack.store("bucket policies"):
            raise ApiError("AlreadyExists", f"The bucket policy already exists on bucket {bucket}.")
        return create(logical_id, properties, stack)

    return run


def _refusal(error: ClientError) -> ApiError:
    said = error.response["Error"]
    return ApiError(said["Code"], said["Message"])
