"""The states of the Amazon States Language that the kit uses, with JSONata expressions.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from trainfeed.rules.integrations import integration

State = dict[str, Any]
States = dict[str, State]

#: The pause between two looks doubles from the first number of seconds to the second; from then on it grows
#: with what was waited. A look takes up to 13 of the 25,000 events that an execution may have
#: (https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html), and so a year of waiting takes
#: less than half of them.
FIRST_PAUSE, LONG_PAUSE, PART_OF_THE_WAIT = 5, 120, 0.01
_PAUSE = f"$max([$min([$waited + {FIRST_PAUSE}, {LONG_PAUSE}]), $floor($waited * {PART_OF_THE_WAIT})])"


def expression(jsonata: str) -> str:
    """A JSONata expression as a field's value; it may span lines."""
    return f"{{% {' '.join(line.strip() for line in jsonata.strip().splitlines())} %}}"


def text(words: str) -> str:
    """A text as a field's value, in which what stands between << and >> is JSONata."""
    parts = re.split(r"<<(.*?)>>", words)
    pieces = [part if number % 2 else json.dumps(part) for number, part in enumerate(parts) if part]
    return expression(" & ".join(pieces))


def assign(following: str, **variables: Any) -> State:
    """Set variables, whose values may hold expressions anywhere."""
    return {"Type": "Pass", "Assign": variables, "Next": following}


def choose(rules: Iterable[tuple[str, str]], *, otherwise: str) -> State:
    """Go to the state of the first condition that holds."""
    choices = [{"Condition": expression(condition), "Next": following} for condition, following in rules]
    return {"Type": "Choice", "Choices": choices, "Default": otherwise}


def fail(error: str, cause: str) -> State:
    """End the run with an error of the kit's own and a `text`."""
    return {"Type": "Fail", "Error": f"Trainfeed.{error}", "Cause": text(cause)}


def wait(following: str) -> State:
    """Wait, each time longer, and count in `$waited` the seconds waited."""
    return {
        "Type": "Wait",
        "Seconds": expression(_PAUSE),
        "Assign": {"waited": expression(f"$waited + {_PAUSE}")},
        "Next": following,
    }


def call(
    resource: str,
    arguments: Any,
    *,
    partition: str,
    following: str | None,
    catch: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> State:
    """Call AWS.

    Args:
        resource: one of the kit's integrations.
        arguments: of the call; they may hold expressions anywhere.
        partition: of the AWS Region.
        following: the next state; None ends the run with the call's result.
        catch: where to go on an error, by its name.
        variables: expressions over `$states.result`; where there are some, the state's input is handed on.
    """
    known = integration(resource)
    state: State = {
        "Type": "Task",
        "Resource": known.arn(partition),
        "Arguments": arguments,
        "Retry": [
            {
                "ErrorEquals": list(known.passing_errors),
                "IntervalSeconds": 2,
                "BackoffRate": 2.0,
                "MaxAttempts": 4,
                "MaxDelaySeconds": 30,
                "JitterStrategy": "FULL",
            }
        ],
    }
    if catch:
        state["Catch"] = [{"ErrorEquals": [error], "Next": handler} for error, handler in catch.items()]
    if variables:
        state["Assign"] = {name: expression(jsonata) for name, jsonata in variables.items()}
        state["Output"] = expression("$states.input")
    return {**state, "End": True} if following is None else {**state, "Next": following}
