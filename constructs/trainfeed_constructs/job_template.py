"""A training job that can be run again and again, each time with a script of its own."""

import json
from collections.abc import Iterable
from typing import Any

from aws_cdk import (
    Duration,
    RemovalPolicy,
    Stack,
    aws_cloudwatch,
    aws_iam,
    aws_logs,
    aws_ssm,
    aws_stepfunctions,
)
from constructs import Construct

from trainfeed import names
from trainfeed.execution_role import execution_role_grants
from trainfeed.job import StateMachineRun, TrainingJob, create_training_job_request, requested
from trainfeed.rules.job import RULES
from trainfeed.state_machine import definition, rights
from trainfeed_constructs.findings import judge
from trainfeed_constructs.wildcards import acknowledge_wildcards

# What Step Functions needs to write an execution's log and trace; none of these actions knows resources.
# Sources: https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html#cloudwatch-iam-policy
#          https://docs.aws.amazon.com/step-functions/latest/dg/concepts-xray-tracing.html
_LOG_AND_TRACE = {
    "Effect": "Allow",
    "Action": [
        "logs:CreateLogDelivery",
        "logs:GetLogDelivery",
        "logs:UpdateLogDelivery",
        "logs:DeleteLogDelivery",
        "logs:ListLogDeliveries",
        "logs:PutResourcePolicy",
        "logs:DescribeResourcePolicies",
        "logs:DescribeLogGroups",
        "xray:PutTraceSegments",
        "xray:PutTelemetryRecords",
        "xray:GetSamplingRules",
        "xray:GetSamplingTargets",
    ],
    "Resource": "*",
}


class TrainingJobTemplate(Construct):
    """A state machine that waits for the data, completes the request and trains; with the roles for it.

    A run is an execution. `trainfeed run <name> --script train.py` starts one, and finds the template by
    the SSM parameter `/trainfeed/jobs/<name>`.

    Attributes:
        role: the role of the training jobs, with exactly the rights that their sources need.
        state_machine_arn: the state machine, `trainfeed-<name>`.
        job: what is run.
    """

    role: aws_iam.Role
    state_machine_arn: str
    job: TrainingJob

    def __init__(
        self, scope: Construct, id_: str, *, job: TrainingJob, kms_key_arns: Iterable[str] = ()
    ) -> None:
        """Define the template.

        Args:
            scope: the parent.
            id_: the name below the parent.
            job: what is run. Its name is taken once in an account and Region.
            kms_key_arns: the keys of its buckets, where they have keys of their own. Default: none.

        Raises:
            RuleViolationError: SageMaker would refuse the job; the error holds every reason.
        """
        super().__init__(scope, id_)
        judge(self, RULES, requested(job))
        stack = Stack.of(self)
        # Each look at an attribute is a round trip to Node.
        self._place = {"partition": stack.partition, "region": stack.region, "account": stack.account}
        self.job = job

        grants = execution_role_grants(job, **self._place, kms_key_arns=tuple(kms_key_arns))
        self.role = self._role("Role", "sagemaker", [grant.statement() for grant in grants])
        role_arn = self.role.role_arn
        acknowledge_wildcards(self.role, {arn: grant.why for grant in grants for arn in grant.resources})

        statements = rights(
            job=job.name, file_systems=job.file_systems, execution_role_arn=role_arn, **self._place
        )
        orchestrator = self._role("Orchestrator", "states", [*statements, _LOG_AND_TRACE])
        why = "runs and jobs are named after the template; describing and logging know no resources"
        acknowledge_wildcards(
            orchestrator, dict.fromkeys(["*", *(item["Resource"] for item in statements)], why)
        )

        request = create_training_job_request(job, StateMachineRun(role_arn=role_arn))
        log = aws_logs.CfnLogGroup(
            self,
            "Log",
            # Under this prefix a log needs no entry in the account's one, small resource policy.
            log_group_name=f"/aws/vendedlogs/states/{names.state_machine(job.name)}",
            retention_in_days=90,
        )
        log.apply_removal_policy(RemovalPolicy.DESTROY)
        machine = aws_stepfunctions.CfnStateMachine(
            self,
            "StateMachine",
            state_machine_name=names.state_machine(job.name),
            state_machine_type="STANDARD",
            role_arn=orchestrator.role_arn,
            # Its tokens are names and ARNs, which need no escaping; Stack.to_json_string resolves each of
            # the hundreds of values by itself.
            definition_string=json.dumps(
                definition(request, file_systems=job.file_systems, partition=self._place["partition"])
            ),
            logging_configuration=aws_stepfunctions.CfnStateMachine.LoggingConfigurationProperty(
                level="ALL",
                include_execution_data=True,
                destinations=[
                    aws_stepfunctions.CfnStateMachine.LogDestinationProperty(
                        cloud_watch_logs_log_group=aws_stepfunctions.CfnStateMachine.CloudWatchLogsLogGroupProperty(
                            log_group_arn=log.attr_arn
                        )
                    )
                ],
            ),
            tracing_configuration=aws_stepfunctions.CfnStateMachine.TracingConfigurationProperty(
                enabled=True
            ),
        )
        self.state_machine_arn = machine.attr_arn
        aws_ssm.CfnParameter(
            self,
            "Parameter",
            name=names.job_parameter(job.name),
            type="String",
            description=f"What `trainfeed run {job.name}` must know",
            value=json.dumps(
                {
                    "StateMachineArn": self.state_machine_arn,
                    "CodeUri": str(job.code),
                    "OutputUri": str(job.output),
                }
            ),
        )

    def grant_run(self, grantee: aws_iam.IGrantable) -> aws_iam.Grant:
        """Let someone run the template with `trainfeed run`: upload code, start, follow, stop."""
        job = self.job
        machine, run = names.state_machine(job.name), f"{job.name}-*"
        logs = "log-group:/aws/sagemaker/TrainingJobs:*"
        code = f"arn:{self._place['partition']}:s3:::{job.code.bucket}/{job.code.folder}*"
        wanted = (
            (["ssm:GetParameter"], self._arn("ssm", f"parameter{names.job_parameter(job.name)}")),
            (["s3:GetObject", "s3:PutObject"], code),
            (["states:StartExecution"], self.state_machine_arn),
            (
                ["states:DescribeExecution", "states:GetExecutionHistory", "states:StopExecution"],
                self._arn("states", f"execution:{machine}:*"),
            ),
            (["sagemaker:DescribeTrainingJob"], self._arn("sagemaker", f"training-job/{run}")),
            (["logs:DescribeLogStreams", "logs:GetLogEvents"], self._arn("logs", logs)),
        )
        first, *rest = (
            aws_iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=[resource])
            for actions, resource in wanted
        )
        for grant in rest:
            first = first.combine(grant)
        return first

    def metric(self, name: str, *, period: Duration | None = None) -> aws_cloudwatch.Metric:
        """A metric of the runs (`ExecutionsFailed`), as a sum.

        Source: https://docs.aws.amazon.com/step-functions/latest/dg/procedure-cw-metrics.html
        """
        return aws_cloudwatch.Metric(
            namespace="AWS/States",
            metric_name=name,
            dimensions_map={"StateMachineArn": self.state_machine_arn},
            statistic="Sum",
            period=period,
        )

    def metric_failed(self) -> aws_cloudwatch.Metric:
        """How many runs failed."""
        return self.metric("ExecutionsFailed")

    def metric_succeeded(self) -> aws_cloudwatch.Metric:
        """How many runs succeeded."""
        return self.metric("ExecutionsSucceeded")

    def _arn(self, service: str, resource: str) -> str:
        return "arn:{partition}:{service}:{region}:{account}:{resource}".format(
            service=service, resource=resource, **self._place
        )

    def _role(self, id_: str, service: str, statements: list[dict[str, Any]]) -> aws_iam.Role:
        return aws_iam.Role(
            self,
            id_,
            # Only for jobs and runs of this account, should someone of another name the role.
            assumed_by=aws_iam.ServicePrincipal(  # pyright: ignore[reportArgumentType]  jsii's stubs differ
                f"{service}.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": self._place["account"]}},
            ),
            # In the role itself, so that no call is made before the rights are there.
            inline_policies={
                "Rights": aws_iam.PolicyDocument.from_json({"Version": "2012-10-17", "Statement": statements})
            },
        )
