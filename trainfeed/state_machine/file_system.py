"""The states that end when the data of one file system is there.

The file system and its links must be AVAILABLE, and for each folder whose import the job relies on, the
newest import task must have SUCCEEDED with no file left out. FAILED and MISCONFIGURED do not mend
themselves, so they end the run.

How long the imports may take grows with the objects that their tasks announce. FSx counts them while it
lists the bucket, so the limit is worked out anew at each look.

Sources:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/import-data-repo-task-dra.html
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_DataRepositoryTask.html
"""

from trainfeed import names
from trainfeed.job import facts_variable
from trainfeed.rules.integrations import (
    DESCRIBE_ASSOCIATIONS,
    DESCRIBE_FILE_SYSTEMS,
    DESCRIBE_TASKS,
    GET_PARAMETER,
)
from trainfeed.state_machine.states import States, assign, call, choose, expression, fail, wait

#: FSx indexes about two million objects an hour. An import may take twice as long.
#: https://aws.amazon.com/blogs/machine-learning/choose-the-best-data-source-for-your-amazon-sagemaker-training-job/
OBJECTS_AN_HOUR = 2_000_000

_NO_REASON = '"FSx gives no reason"'

_LINKS = f"""
    [$states.result.Associations.{{
        "Path": $replace(FileSystemPath, /(.)\\/+$/, "$1"),
        "Repository": $replace(DataRepositoryPath, /\\/+$/, ""),
        "Lifecycle": Lifecycle,
        "Reason": $exists(FailureDetails.Message) ? FailureDetails.Message : {_NO_REASON}
    }}]
"""

_IMPORT_TASKS = f"""
    $append($tasks, [$states.result.DataRepositoryTasks[Type = "IMPORT_METADATA_FROM_REPOSITORY"].{{
        "Id": TaskId,
        "Created": CreationTime,
        "Lifecycle": Lifecycle,
        "Paths": [Paths.$replace($, /(.)\\/+$/, "$1")],
        "Objects": $exists(Status.TotalCount) ? Status.TotalCount : 0,
        "FailedCount": $exists(Status.FailedCount) ? Status.FailedCount : 0,
        "Reason": $exists(FailureDetails.Message) ? FailureDetails.Message : {_NO_REASON}
    }}])
"""

# An import task names the folder in S3 that it imports. A task on a part of a linked folder says nothing
# about the whole of it.
_IMPORTS = """
    [FACTS.ImportedPaths.(
        $path := $;
        $link := $links[Path = $path][0];
        $covering := [$tasks[$count(Paths) = 0 or $path in Paths or $link.Repository in Paths]];
        $newest := $sort($covering, function($one, $other) { $one.Created < $other.Created })[0];
        $lifecycle := $newest.Lifecycle;
        $verdict := $not($exists($newest)) ? ["waiting", "has not begun"]
            : $lifecycle in ["PENDING", "EXECUTING", "CANCELING"] ? ["waiting", "is " & $lifecycle]
            : $lifecycle != "SUCCEEDED" ? ["failed", "is " & $lifecycle & ": " & $newest.Reason]
            : $newest.FailedCount > 0 ? ["failed", "left out " & $newest.FailedCount & " files"]
            : ["done", "is complete"];
        $task := $exists($newest) ? " (" & $newest.Id & ") " : " ";
        {
            "Verdict": $verdict[0],
            "Task": $exists($newest) ? $newest.{"Id": Id, "Objects": Objects} : {"Id": "", "Objects": 0},
            "Text": "the import of " & $path & $task & $verdict[1]
        }
    )]
"""


def entry(name: str) -> str:
    """The first state of a file system."""
    return f"Read the facts of {name}"


def file_system_states(name: str, *, following: str, deadline: int, partition: str) -> States:
    """The states from `entry(name)` to the state `following`.

    Args:
        name: the name under which the file system publishes its facts (`fsx-lustre`).
        following: where to go when all data is there.
        deadline: seconds that the run may have waited before it fails; imports of many objects get more.
        partition: of the AWS Region.
    """
    facts = f"${facts_variable(name)}"
    return {
        **_facts(name, partition),
        **_file_system(name, facts, deadline, partition),
        **_links(name, facts, deadline, partition),
        **_imports(name, facts, following, deadline, partition),
        f"{name} takes too long": fail(
            "FileSystemTimeout",
            f"After {deadline} seconds the file system <<{facts}.FileSystemId>> of {name} or one of its "
            "links is not yet available. Run the job again when they are.",
        ),
    }


def _facts(name: str, partition: str) -> States:
    parameter, stack = names.facts_parameter(name), names.source_stack(name)
    return {
        entry(name): call(
            GET_PARAMETER,
            {"Name": parameter},
            partition=partition,
            catch={"Ssm.ParameterNotFoundException": f"{name} is not deployed"},
            variables={facts_variable(name): "$parse($states.result.Parameter.Value)"},
            following=f"Look at {name}",
        ),
        f"{name} is not deployed": fail(
            "FileSystemNotDeployed",
            f"The SSM parameter {parameter} does not exist, so {name} is not deployed. "
            f"Deploy it (`cdk deploy {stack}`), then run the job again.",
        ),
    }


def _file_system(name: str, facts: str, deadline: int, partition: str) -> States:
    stack = names.source_stack(name)
    message = "$states.result.FileSystems[0].FailureDetails.Message"
    return {
        f"Look at {name}": call(
            DESCRIBE_FILE_SYSTEMS,
            {"FileSystemIds": expression(f"[{facts}.FileSystemId]")},
            partition=partition,
            catch={"FSx.FileSystemNotFoundException": f"{name} is gone"},
            variables={
                "lifecycle": "$states.result.FileSystems[0].Lifecycle",
                "reason": f"$exists({message}) ? {message} : {_NO_REASON}",
            },
            following=f"Is {name} available?",
        ),
        f"{name} is gone": fail(
            "FileSystemGone",
            f"The file system <<{facts}.FileSystemId>> of {name} was deleted. "
            f"Deploy it again (`cdk deploy {stack}`), then run the job again.",
        ),
        f"Is {name} available?": choose(
            [
                ('$lifecycle = "AVAILABLE"', f"Look at the links of {name}"),
                ('$not($lifecycle in ["CREATING", "UPDATING"])', f"{name} failed"),
                (f"$waited >= {deadline}", f"{name} takes too long"),
            ],
            otherwise=f"Wait for {name}",
        ),
        f"{name} failed": fail(
            "FileSystemFailed",
            f"The file system <<{facts}.FileSystemId>> of {name} is <<$lifecycle>>: <<$reason>>. It does not "
            "mend itself, and it is billed until it is gone: "
            f"run `cdk destroy {stack}`, then deploy it again.",
        ),
        f"Wait for {name}": wait(f"Look at {name}"),
    }


def _links(name: str, facts: str, deadline: int, partition: str) -> States:
    broken = '$links[Lifecycle in ["FAILED", "MISCONFIGURED"]]'
    missing = f"{facts}.ImportedPaths[$not($ in $links.Path)]"
    told = '"the link of " & Path & " to " & Repository & " is " & Lifecycle & ": " & Reason'
    look = f"Look at the links of {name}"
    return {
        look: call(
            DESCRIBE_ASSOCIATIONS,
            {"Filters": [{"Name": "file-system-id", "Values": expression(f"[{facts}.FileSystemId]")}]},
            partition=partition,
            variables={"links": _LINKS},
            following=f"Are the links of {name} available?",
        ),
        f"Are the links of {name} available?": choose(
            [
                (f"$count({broken}) > 0", f"A link of {name} failed"),
                (f"$count({missing}) > 0", f"A link of {name} is missing"),
                ('$count($links[Lifecycle != "AVAILABLE"]) = 0', f"Look at the imports of {name}"),
                (f"$waited >= {deadline}", f"{name} takes too long"),
            ],
            otherwise=f"Wait for the links of {name}",
        ),
        f"A link of {name} failed": fail(
            "LinkFailed",
            f"On the file system <<{facts}.FileSystemId>> of {name}: <<$join({broken}.({told}), '; ')>>. "
            "Mend the cause, then make the link again.",
        ),
        f"A link of {name} is missing": fail(
            "LinkMissing",
            f"The file system <<{facts}.FileSystemId>> of {name} has no link at <<$join({missing}, ', ')>>. "
            f"Deploy it again (`cdk deploy {names.source_stack(name)}`), then run the job again.",
        ),
        f"Wait for the links of {name}": wait(look),
    }


def _imports(name: str, facts: str, following: str, deadline: int, partition: str) -> States:
    look, judge = f"Look at the imports of {name}", f"Judge the imports of {name}"
    # One task may import several folders, and is counted once. A finished one counts as well: of the tasks of
    # a file system, others wait for it.
    objects = "$sum($distinct($imports.Task).Objects)"
    limit = f"$max([{deadline}, $ceil(2 * 3600 * {objects} / {OBJECTS_AN_HOUR})])"
    filters = f'{{"Filters": [{{"Name": "file-system-id", "Values": [{facts}.FileSystemId]}}]}}'
    return {
        look: call(
            DESCRIBE_TASKS,
            expression(f'$merge([{filters}, $token = "" ? {{}} : {{"NextToken": $token}}])'),
            partition=partition,
            variables={
                "tasks": _IMPORT_TASKS,
                "token": '$exists($states.result.NextToken) ? $states.result.NextToken : ""',
            },
            following=f"Are there more tasks of {name}?",
        ),
        f"Are there more tasks of {name}?": choose([('$token != ""', look)], otherwise=judge),
        judge: assign(
            f"Are the imports of {name} complete?",
            imports=expression(_IMPORTS.replace("FACTS", facts)),
            tasks=[],
        ),
        f"Are the imports of {name} complete?": choose(
            [
                ('$count($imports[Verdict = "failed"]) > 0', f"An import of {name} failed"),
                ('$count($imports[Verdict = "waiting"]) = 0', following),
                (f"$waited >= {limit}", f"An import of {name} takes too long"),
            ],
            otherwise=f"Wait for the imports of {name}",
        ),
        f"An import of {name} failed": fail(
            "ImportFailed",
            f"On the file system <<{facts}.FileSystemId>> of {name}: "
            "<<$join($imports[Verdict = 'failed'].Text, '; ')>>. Mend the cause and import again "
            "(`aws fsx create-data-repository-task`), then run the job again.",
        ),
        f"An import of {name} takes too long": fail(
            "ImportTimeout",
            f"After <<{limit}>> seconds, on the file system <<{facts}.FileSystemId>> of {name}: "
            "<<$join($imports[Verdict = 'waiting'].Text, '; ')>>. Run the job again when it is complete.",
        ),
        f"Wait for the imports of {name}": wait(look),
    }
