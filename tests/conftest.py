"""What every test shares."""

import os

# The CDK's own validation costs four seconds a synth; one test of the whole app turns it on.
os.environ.setdefault("CDK_VALIDATION", "false")
