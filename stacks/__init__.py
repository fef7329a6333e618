"""The deployable stacks of trainfeed."""
