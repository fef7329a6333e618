"""How S3 names buckets and objects, as far as training data is concerned."""

import re

BUCKET_NAMES = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
_RESERVED = ("xn--", "sthree-", "amzn-s3-demo-")
#: How S3 names what is no bucket but is addressed like one: access points, directory and table buckets.
_ALIASES = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")

#: What a file name may be on Linux and on Lustre, in bytes.
_NAME_MAX, _PATH_MAX = 255, 4096


def bucket_fault(bucket: str) -> str | None:
    """What keeps a name from being that of a general purpose bucket, and what to do; None for a good one."""
    if fault := address_fault(bucket):
        return fault
    if bucket.endswith(_ALIASES):
        return (
            f"{bucket!r} is no general purpose bucket. Names that end in {', '.join(_ALIASES)} are those of "
            "access points, directory buckets and table buckets. Name the bucket that holds the data."
        )
    return None


def address_fault(bucket: str) -> str | None:
    """The same for what only has to be read like a bucket, such as an access point by its alias."""
    if not bucket:
        return "No bucket is named. Write the address as s3://BUCKET/PREFIX."
    lower = bucket.lower()
    if lower != bucket and _BUCKET.fullmatch(lower):
        return (
            f"The bucket {bucket!r} has upper-case letters. Bucket names are lower-case, such as {lower!r}."
        )
    if not _BUCKET.fullmatch(bucket) or ".." in bucket or _ADDRESS.fullmatch(bucket):
        return (
            f"{bucket!r} is no name of a bucket. Allowed: 3 to 63 lower-case letters, digits, hyphens and "
            "single dots, beginning and ending with a letter or digit, and no IP address. Correct the name."
        )
    if bucket.startswith(_RESERVED):
        return (
            f"No bucket may be named {bucket!r}. Names that begin with {', '.join(_RESERVED)} are reserved. "
            "Correct the name."
        )
    return None


def prefix_fault(prefix: str) -> str | None:
    """What keeps a prefix, given without its closing slash, from being a folder on a file system."""
    if not prefix:
        return None
    fault = key_fault(prefix)
    return fault and f"The prefix {prefix!r} cannot be a folder: {fault}. Choose another prefix."


def key_fault(key: str) -> str | None:
    """What keeps an object's key from being a path on a file system; None where it is one.

    A key that ends in a slash is a folder. Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/posix-metadata-support.html
    """
    parts = key.removesuffix("/").split("/")
    if "" in parts:
        return "it has an empty name between two slashes"
    if "." in parts or ".." in parts:
        return "it has a part named '.' or '..'"
    if any(character in key for character in "\0\r\n\u0085\u2028\u2029"):
        return "it has a line break or a zero byte"
    if any(len(part.encode(errors="surrogatepass")) > _NAME_MAX for part in parts):
        return f"a part of it is longer than {_NAME_MAX} bytes"
    if len(key.encode(errors="surrogatepass")) >= _PATH_MAX:
        return f"it is longer than {_PATH_MAX - 1} bytes"
    return None
