"""What all stacks of the kit share."""

from aws_cdk import Environment, Stack, Tags
from constructs import Construct

from trainfeed import names


class TaggedStack(Stack):
    """A stack each of whose resources tells by a tag which stack made it."""

    def __init__(self, scope: Construct, id_: str, *, description: str, env: Environment) -> None:
        """Define the stack.

        Args:
            scope: the app.
            id_: the stack's name.
            description: shown in the console.
            env: account and Region.
        """
        super().__init__(scope, id_, description=f"trainfeed: {description}", env=env)
        Tags.of(self).add(names.STACK_TAG, id_)
