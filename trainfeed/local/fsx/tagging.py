"""TagResource, UntagResource and ListTagsForResource."""

from collections.abc import Mapping
from typing import Any

from trainfeed.local.fsx.pages import page
from trainfeed.local.fsx.resources import Resources, Tags, tag_list, tag_map
from trainfeed.local.service import ApiError, Operation

#: https://docs.aws.amazon.com/fsx/latest/APIReference/API_TagResource.html
_MOST = 50


class Tagging:
    """The operations on the tags of file systems, associations and tasks."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @property
    def operations(self) -> Mapping[str, Operation]:
        """The API operations by name."""
        return {"TagResource": self.tag, "UntagResource": self.untag, "ListTagsForResource": self.list_tags}

    def tag(self, request: dict[str, Any]) -> dict[str, Any]:
        """Add tags, or give those that are there other values."""
        with self._resources.lock:
            tags = self._tags(request["ResourceARN"])
            merged = {**tags, **tag_map(request)}
            if len(merged) > _MOST:
                raise ApiError(
                    "BadRequest",
                    f"There would be {len(merged)} tags, and {_MOST} is the most for a resource.",
                )
            tags.update(merged)
            return {}

    def untag(self, request: dict[str, Any]) -> dict[str, Any]:
        """Take tags away; those that are not there are no error."""
        with self._resources.lock:
            tags = self._tags(request["ResourceARN"])
            for key in request["TagKeys"]:
                tags.pop(key, None)
            return {}

    def list_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        """The tags of a resource."""
        with self._resources.lock:
            shown, following = page(tag_list(self._tags(request["ResourceARN"])), request, 100)
            return {"Tags": shown, "NextToken": following}

    def _tags(self, resource_arn: str) -> Tags:
        tables = (self._resources.file_systems, self._resources.associations, self._resources.tasks)
        for table in tables:
            for each in table.values():
                if each.arn == resource_arn:
                    return each.tags
        raise ApiError("ResourceNotFound", f"The resource {resource_arn} does not exist.")
