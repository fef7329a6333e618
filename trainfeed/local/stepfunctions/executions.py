"""How an execution runs, is limited and ends, where MiniStack is laxer than AWS."""

import json
import threading
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.durations import Durations
from trainfeed.local.service import ApiError
from trainfeed.local.stepfunctions.calls import Calls
from trainfeed.local.stepfunctions.run import Run, TaskFailedError
from trainfeed.rules.integrations import integration

#: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
LARGEST_DATA = 256 * 1024
MOST_EVENTS = 25_000
LONGEST_NAME = 80
_NOT_IN_NAMES = set(' \t\r\n<>{}[]?*"#%\\^|~`$&,;:/') | {chr(code) for code in (*range(32), *range(127, 160))}

Function = Callable[..., Any]


class Executions:
    """Watches over the executions of one local AWS."""

    def __init__(self, calls: Calls, durations: Durations) -> None:
        self._calls = calls
        self._durations = durations
        self._runs: dict[str, Run] = {}
        self._current: ContextVar[Run | None] = ContextVar("execution", default=None)

    def install(self) -> None:
        """Put itself around MiniStack's functions, until they are released."""
        ministack.wrap("start execution", self._start)
        ministack.wrap("run execution", self._run)
        ministack.wrap("stop execution", self._stop)
        ministack.wrap("fail execution", self._fail)
        ministack.wrap("add execution event", self._add_event)
        ministack.wrap("match error", self._match_error)
        ministack.wrap("invoke resource", self._invoke)
        ministack.wrap("sleep in execution", self._sleep)
        ministack.wrap("reset executions", self._reset)

    def _start(self, before: Function) -> Function:
        def start(data: dict[str, Any]) -> Any:
            try:
                _check_start(data)
            except ApiError as error:
                return ministack.refused(error)
            return before(data)

        return start

    def _run(self, before: Function) -> Function:
        def run(arn: str) -> None:
            record = ministack.store("executions").get(arn)
            machine = ministack.store("state machines").get(record["stateMachineArn"]) if record else None
            if record is None or machine is None:
                before(arn)
                return
            current = Run(arn=arn, role_arn=machine["roleArn"], record=record)
            self._runs[arn] = current
            self._current.set(current)
            limit = json.loads(machine["definition"]).get("TimeoutSeconds")
            if limit is not None:
                self._time_out_after(limit, current)
            try:
                before(arn)
            finally:
                current.end(and_its_jobs=False)
                self._runs.pop(arn, None)

        return run

    def _time_out_after(self, seconds: float, run: Run) -> None:
        account, region = ministack.account_id(), ministack.region()

        def watch() -> None:
            if not run.ended.wait(seconds):
                with ministack.scope(account, region):
                    _end(run, "TIMED_OUT", "States.Timeout")

        threading.Thread(target=watch, name="trainfeed-execution-timeout", daemon=True).start()

    def _stop(self, before: Function) -> Function:
        def stop(data: dict[str, Any]) -> Any:
            answer = before(data)
            run = self._runs.get(data.get("executionArn", ""))
            if run is not None and run.record["status"] == "ABORTED":
                run.end(and_its_jobs=True)
            return answer

        return stop

    def _fail(self, before: Function) -> Function:
        def fail(record: dict[str, Any], error: str, cause: str) -> None:
            # What a stopped execution was doing fails when it is led out; the execution stays stopped.
            if record["status"] == "RUNNING" and (error, cause) != Run.ENDED:
                before(record, error, cause)
                record["output"] = None

        return fail

    def _add_event(self, before: Function) -> Function:
        def add_event(record: dict[str, Any], kind: str, details: dict[str, Any] | None = None) -> Any:
            if not kind.startswith("Execution"):
                run = self._current.get()
                if record["status"] != "RUNNING" or (run is not None and run.ended.is_set()):
                    raise ministack.task_error(*Run.ENDED)
                if len(record["events"]) >= MOST_EVENTS - 1:
                    raise ministack.task_error(
                        "States.Runtime",
                        f"The execution reached the maximum number of history events ({MOST_EVENTS}).",
                    )
                _check_size(details or {})
            return before(record, kind, details)

        return add_event

    def _match_error(self, before: Function) -> Function:
        def match(wanted: list[str], error: str) -> bool:
            if error in ("States.DataLimitExceeded", "States.Runtime", Run.ENDED[0]):
                # No wildcard matches these, and nothing at all an execution that is over.
                return error in wanted and error == "States.DataLimitExceeded"
            return before(wanted, error)

        return match

    def _invoke(self, before: Function) -> Function:
        def invoke(resource: str, arguments: Any) -> Any:
            run = self._current.get()
            if run is None:
                return before(resource, arguments)
            _check_size({"parameters": {"input": json.dumps(arguments)}})
            try:
                return self._calls.make(integration(resource), arguments, run)
            except TaskFailedError as failure:
                raise ministack.task_error(failure.error, failure.cause) from failure

        return invoke

    def _sleep(self, before: Function) -> Function:
        def sleep(seconds: float) -> None:
            run = self._current.get()
            if run is None:
                before(seconds)
            elif run.ended.wait(seconds * self._durations.waited_second):
                raise ministack.task_error(*Run.ENDED)

        return sleep

    def _reset(self, before: Function) -> Function:
        def reset() -> None:
            for run in list(self._runs.values()):
                run.end(and_its_jobs=False)
            before()

        return reset


def _check_start(data: dict[str, Any]) -> None:
    name = data.get("name")
    if name is not None and (not 0 < len(name) <= LONGEST_NAME or _NOT_IN_NAMES & set(name)):
        raise ApiError("InvalidName", f"Invalid Name: '{name}'")
    given = data.get("input", "{}")
    if len(given.encode()) > LARGEST_DATA:
        raise ApiError(
            "ValidationException",
            "1 validation error detected: Value at 'input' failed to satisfy constraint: "
            f"Member must have length less than or equal to {LARGEST_DATA}",
        )
    try:
        json.loads(given)
    except ValueError as error:
        raise ApiError(
            "InvalidExecutionInput", f"Invalid State Machine Execution Input: '{error}'"
        ) from error


def _check_size(details: dict[str, Any]) -> None:
    for entry in details.values():
        for field in ("input", "output"):
            if len(entry.get(field, "").encode()) > LARGEST_DATA:
                subject = entry.get("name", entry.get("resource", "task"))
                raise ministack.task_error(
                    "States.DataLimitExceeded",
                    f"The state/task '{subject}' returned a result with a size exceeding the maximum number "
                    "of bytes service limit.",
                )


def _end(run: Run, status: str, error: str) -> None:
    record = run.record
    if record["status"] != "RUNNING":
        return
    record.update(status=status, error=error, stopDate=datetime.now(UTC).isoformat())
    ministack.function("add execution event")(
        record, "ExecutionTimedOut", {"executionTimedOutEventDetails": {"error": error}}
    )
    ministack.function("announce execution status")(record)
    run.end(and_its_jobs=True)
