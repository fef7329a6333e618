"""Start a script inside a SageMaker training container, as the SageMaker training toolkit would.

This file travels with the script in the channel `code`, as `trainfeed_entry.py`, and is run by whatever
Python the image has: standard library only, nothing newer than Python 3.8, nothing of trainfeed.

    python3 /opt/ml/input/data/code/trainfeed_entry.py train.py

The code is copied to /opt/ml/code and the script runs there, a `.py` with this interpreter and a `.sh` with
bash. Hyperparameters arrive as `--name value`. The variables are those of the toolkit
(https://github.com/aws/sagemaker-training-toolkit/blob/master/ENVIRONMENT_VARIABLES.md): SM_CHANNEL_<NAME>,
SM_MODEL_DIR, SM_OUTPUT_DATA_DIR, SM_HPS, SM_HP_<NAME>, SM_HOSTS, SM_CURRENT_HOST, SM_NUM_GPUS and more.
SM_HPS holds values that are JSON as JSON (`{"epochs": 3}`), the others as text.

SIGTERM, by which SageMaker stops a job, is passed to the script. Its exit code is the container's; when it
fails without having written /opt/ml/output/failure, the end of what it printed to stderr is written there.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

# DescribeTrainingJob shows the first 1,024 characters of the failure file.
_TAIL = 900

# Where this file lies: /opt/ml/input/data/code/trainfeed_entry.py. No links are followed, for they may lead
# out of /opt/ml.
_HERE = pathlib.Path(os.path.abspath(__file__))
_ROOT = _HERE.parents[3]


def main(arguments):
    """Run the script named by the first argument; the exit code."""
    try:
        command = _command(_copy_code(), arguments)
    except _NotStartedError as error:
        _explain(str(error))
        return 1
    code, printed = _run(command)
    if code != 0:
        _explain(f"{arguments[0]} ended with exit code {code}.\n{printed}")
    return code


class _NotStartedError(Exception):
    """There is nothing to run; the text says why."""


def _copy_code():
    code = _ROOT / "code"
    shutil.copytree(
        str(_HERE.parent), str(code), dirs_exist_ok=True, ignore=shutil.ignore_patterns(_HERE.name)
    )
    if (code / "requirements.txt").exists():
        _say(
            "requirements.txt is not installed: a training job may have no way to a package index. "
            "Use an image that holds the packages."
        )
    return code


def _command(code, arguments):
    if not arguments:
        raise _NotStartedError("No script was named. Its path in the code channel is the first argument.")
    script = code / arguments[0]
    if not script.is_file():
        found = sorted(str(path.relative_to(code)) for kind in ("*.py", "*.sh") for path in code.rglob(kind))
        held = ", ".join(found[:20]) or "neither a .py nor a .sh"
        raise _NotStartedError(f"There is no script {arguments[0]}. The code channel holds {held}.")
    if script.suffix == ".py":
        interpreter = sys.executable
    elif script.suffix == ".sh":
        interpreter = "bash"
    else:
        raise _NotStartedError(f"{arguments[0]} is neither a .py nor a .sh script.")
    return [interpreter, str(script), *_as_arguments(_config("hyperparameters"))]


def _run(command):
    """The exit code, and the end of what was printed to stderr."""
    environment = dict(os.environ)
    environment.update(_variables(_config("hyperparameters"), command))
    # Modules beside the script are found anyway; those at the top of a folder should be too.
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(_ROOT / "code")] + [path for path in [environment.get("PYTHONPATH")] if path]
    )
    try:
        process = subprocess.Popen(command, cwd=str(_ROOT / "code"), env=environment, stderr=subprocess.PIPE)
    except OSError as error:
        return 127, f"{command[0]}: {error.strerror}"
    signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGTERM))
    tail = collections.deque(maxlen=_TAIL)
    reader = threading.Thread(target=_pass_on, args=(process.stderr, tail), daemon=True)
    reader.start()
    code = process.wait()
    # A process that the script left behind may hold stderr open.
    reader.join(1)
    printed = bytes(tail).decode("utf-8", "replace").strip()
    return (code if code >= 0 else 128 - code), printed


def _pass_on(stream, tail):
    while True:
        part = os.read(stream.fileno(), 1 << 16)
        if not part:
            return
        sys.stderr.buffer.write(part)
        sys.stderr.buffer.flush()
        tail.extend(part)


def _variables(hyperparameters, command):
    channels = _config("inputdataconfig")
    resources = _config("resourceconfig")
    inputs, outputs = _ROOT / "input", _ROOT / "output"
    variables = {
        "SM_MODEL_DIR": str(_ROOT / "model"),
        "SM_OUTPUT_DIR": str(outputs),
        "SM_OUTPUT_DATA_DIR": str(outputs / "data"),
        "SM_INPUT_DIR": str(inputs),
        "SM_INPUT_CONFIG_DIR": str(inputs / "config"),
        "SM_MODULE_DIR": str(_ROOT / "code"),
        "SM_USER_ENTRY_POINT": os.path.relpath(command[1], str(_ROOT / "code")),
        "SM_USER_ARGS": json.dumps(command[2:]),
        "SM_CHANNELS": json.dumps(sorted(channels)),
        "SM_HPS": json.dumps({name: _decoded(value) for name, value in hyperparameters.items()}),
        "SM_HOSTS": json.dumps(resources.get("hosts", [])),
        "SM_CURRENT_HOST": resources.get("current_host", ""),
        "SM_CURRENT_INSTANCE_TYPE": resources.get("current_instance_type") or "",
        "SM_CURRENT_INSTANCE_GROUP": resources.get("current_group_name", ""),
        "SM_NETWORK_INTERFACE_NAME": resources.get("network_interface_name", ""),
        "SM_RESOURCE_CONFIG": json.dumps(resources),
        "SM_INPUT_DATA_CONFIG": json.dumps(channels),
        "SM_NUM_CPUS": str(os.cpu_count() or 1),
        "SM_NUM_GPUS": str(_gpus()),
    }
    for name in channels:
        variables["SM_CHANNEL_" + name.upper()] = str(inputs / "data" / name)
    for name, value in hyperparameters.items():
        variables["SM_HP_" + name.upper()] = value
    return variables


def _config(name):
    """A file of /opt/ml/input/config; one that is missing says nothing."""
    try:
        return json.loads((_ROOT / "input" / "config" / (name + ".json")).read_text())
    except OSError:
        return {}


def _as_arguments(hyperparameters):
    return [word for name, value in sorted(hyperparameters.items()) for word in ("--" + name, value)]


def _decoded(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def _gpus():
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--list-gpus"],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return len(listed.stdout.splitlines()) if listed.returncode == 0 else 0


def _explain(reason):
    """Leave a reason for DescribeTrainingJob, unless the script left one."""
    _say(reason.splitlines()[0])
    failure = _ROOT / "output" / "failure"
    if not failure.exists():
        failure.parent.mkdir(parents=True, exist_ok=True)
        failure.write_text(reason)


def _say(text):
    sys.stderr.write("trainfeed: " + text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
