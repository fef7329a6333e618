"""S3 as CloudFormation drives it, where MiniStack is laxer than AWS."""


def install() -> None:
    """Correct MiniStack."""
