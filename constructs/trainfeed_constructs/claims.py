"""Names that can be taken once in an account and Region, kept in the app in which they are taken."""

from typing import cast

from aws_cdk import Stack, Token
from constructs import Construct

_OWNER = "trainfeed:owner"


def claim(owner: Construct, name: str) -> str | None:
    """Take a name for a construct; where it is taken already, the path of the construct that has it.

    A stack whose account or Region is only known at deployment is a place by itself: nobody can say yet
    whether it meets another. A name only known at deployment is never taken.
    """
    if Token.is_unresolved(name):
        return None
    stack = Stack.of(owner)
    place = f"{stack.account}/{stack.region}"
    if Token.is_unresolved(place):
        place = stack.node.path
    # A Python object at the root may be made anew with each look, so it cannot keep anything itself.
    root = cast(Construct, owner.node.root)
    id_ = f"trainfeed:{place}:{name}".replace("/", "-")
    if (taken := root.node.try_find_child(id_)) is not None:
        return str(taken.node.metadata[0].data)
    Construct(root, id_).node.add_metadata(_OWNER, owner.node.path)
    return None
