"""The state machine of a training job: wait until the data is there, complete the request, train.

It is written in the Amazon States Language with JSONata expressions, and needs no Lambda function. What
is only known when a run starts stands in the request as an expression over these variables:

    $run            the input of the execution: Code, Script, HyperParameters, DryRun
    $fsx_lustre     the facts of the file system `fsx-lustre`, and so on for each file system
    $states.context.Execution.Name    the name of the run, and of its training job
"""

from collections.abc import Mapping, Sequence
from typing import Any

from trainfeed.rules.integrations import CREATE_TRAINING_JOB
from trainfeed.state_machine.file_system import entry, file_system_states
from trainfeed.state_machine.rights import rights
from trainfeed.state_machine.states import States, assign, call, choose, expression, fail

__all__ = ["AROUND_THE_JOB", "IMPORT_DEADLINE", "LONGEST_WAIT", "definition", "rights"]

#: Seconds a run waits, at least, for its file systems and their imports. Where the imports of a file system
#: announce more than four million objects, it waits longer (`file_system.OBJECTS_AN_HOUR`).
IMPORT_DEADLINE = 4 * 3600
#: Seconds of waiting that the limit of the whole machine leaves room for: what two billion objects get. It
#: is there to end what hangs, and must not cut short what the states themselves allow. With the longest
#: limits of a job it stays under the year that Step Functions gives an execution.
#: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
LONGEST_WAIT = 90 * 86_400
#: Seconds a job may take besides its own limit: to get its instances, to upload, to stop.
AROUND_THE_JOB = 3600
#: MaxRuntimeInSeconds of a request that names none.
#: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StoppingCondition.html
DEFAULT_MAX_RUNTIME = 86_400

_PROBLEMS = r"""(
    $given := $states.input;
    $name := $states.context.Execution.Name;
    $other := $each($given.HyperParameters, function($value) { $type($value) != "string" ? 1 });
    [
        $type($given.Code) = "string" and $contains($given.Code, /^s3:\/\/./)
            ? [] : "Code must be the S3 address of the packed script.",
        $type($given.Script) = "string" and $given.Script != ""
            ? [] : "Script must name the file to run.",
        $exists($given.HyperParameters) and ($type($given.HyperParameters) != "object" or $count($other) > 0)
            ? "HyperParameters must be an object of strings." : [],
        $exists($given.DryRun) and $type($given.DryRun) != "boolean"
            ? "DryRun must be true or false." : [],
        $contains($name, /^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$/)
            ? [] : "The run is named " & $name & ", but a training job's name holds only letters, digits "
                & "and hyphens, at most 63 of them.",
        $keys($given)[$not($ in ["Code", "Script", "HyperParameters", "DryRun"])]
            .("The input has no field " & $ & "; its fields are Code, Script, HyperParameters and DryRun.")
    ]
)"""


def definition(
    request: Mapping[str, Any],
    *,
    file_systems: Sequence[str],
    import_deadline: int = IMPORT_DEADLINE,
    partition: str = "aws",
) -> dict[str, Any]:
    """The state machine that runs a training job.

    Args:
        request: the CreateTrainingJob request; what a run decides is a JSONata expression.
        file_systems: the names under which the job's file systems publish their facts (`fsx-lustre`).
        import_deadline: seconds to wait, at least, for file systems and imports before the run fails.
        partition: of the AWS Region; may be a CDK token.

    Returns:
        The definition in the Amazon States Language. A run ends with what DescribeTrainingJob returns, or
        with the completed request where the input says `"DryRun": true`.
    """
    states: States = {
        "Read the input": assign(
            "Is the input complete?",
            problems=expression(_PROBLEMS),
            run=expression('$merge([{"HyperParameters": {}, "DryRun": false}, $states.input])'),
            waited=0,
            tasks=[],
            token="",
        ),
        "Is the input complete?": choose(
            [("$count($problems) > 0", "The input is wrong")],
            otherwise=entry(file_systems[0]) if file_systems else "Complete the request",
        ),
        "The input is wrong": fail("WrongInput", '<<$join($problems, " ")>>'),
    }
    after = [*(entry(name) for name in file_systems[1:]), "Complete the request"]
    for name, following in zip(file_systems, after, strict=False):
        states |= file_system_states(name, following=following, deadline=import_deadline, partition=partition)
    states |= {
        "Complete the request": assign("Is this a dry run?", request=dict(request)),
        "Is this a dry run?": choose([("$run.DryRun", "Show the request")], otherwise="Train"),
        "Show the request": {"Type": "Pass", "Output": expression("$request"), "End": True},
        "Train": call(
            CREATE_TRAINING_JOB,
            expression("$request"),
            partition=partition,
            catch={"SageMaker.ResourceInUseException": "The job exists already"},
            following=None,
        ),
        "The job exists already": fail(
            "JobExists",
            "There is a training job <<$states.context.Execution.Name>> already: of another run, or made by "
            "this run although SageMaker reported an error. Look at it with "
            "`aws sagemaker describe-training-job`, and give the next run another name.",
        ),
    }
    return {
        "Comment": "Waits until the data is there, completes the request and trains.",
        "QueryLanguage": "JSONata",
        "TimeoutSeconds": _timeout(request, LONGEST_WAIT if file_systems else 0),
        "StartAt": "Read the input",
        "States": states,
    }


def _timeout(request: Mapping[str, Any], waiting: int) -> int:
    limits = request.get("StoppingCondition", {})
    # With managed spot training, MaxWaitTimeInSeconds holds the run time and the waiting.
    running = limits.get("MaxWaitTimeInSeconds", limits.get("MaxRuntimeInSeconds", DEFAULT_MAX_RUNTIME))
    return running + limits.get("MaxPendingTimeInSeconds", 0) + waiting + AROUND_THE_JOB
