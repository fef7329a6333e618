"""The `trainfeed` command: thin, each subcommand importing what it needs when it is called."""
# ruff: noqa: PLC0415 - imports inside the subcommands keep `trainfeed --help` instant

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from trainfeed.run.aws import Client
    from trainfeed.run.launch import Run

#: How a run had ended, in words that follow its name.
_ENDED = {
    "SUCCEEDED": "succeeded",
    "FAILED": "failed",
    "ABORTED": "was stopped",
    "TIMED_OUT": "ran out of time",
}
#: Exit code of a command that Ctrl-C ended, as shells have it.
_INTERRUPTED = 130


class _Trainfeed(click.Group):
    """Turns what a user can put right into a clear line and a non-zero exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, click.ClickException):
            raise
        except Exception as error:
            from botocore.exceptions import BotoCoreError, ClientError

            from trainfeed.local.daemon import DaemonError
            from trainfeed.prices import BookError
            from trainfeed.run.aws import UserError, explain

            if isinstance(error, UserError | DaemonError | BookError):
                raise click.ClickException(str(error)) from error
            if isinstance(error, BotoCoreError | ClientError):
                raise click.ClickException(explain(error)) from error
            raise


class _LocalPath(click.Path):
    """A path on this machine. An address in S3 would lose one of its slashes as a path."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value).startswith("s3:/"):
            self.fail(f"{value} is in S3. Give a path on this machine.", param, ctx)
        return super().convert(value, param, ctx)


@click.group(cls=_Trainfeed, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="trainfeed")
def main() -> None:
    """Feed SageMaker training jobs from S3 or FSx for Lustre, and take it all down again.

    Account and Region are those of your AWS credentials, or the local AWS after
    eval "$(trainfeed local env)".
    """


@main.command(short_help="Run a training job from a template, and follow it.")
@click.argument("template")
@click.option(
    "--script",
    required=True,
    type=_LocalPath(),
    help="A .py or .sh file, or a folder with a train.py in it.",
)
@click.option(
    "--hyperparameter",
    "-p",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="Passed to the script as --KEY VALUE. Repeat for more.",
)
@click.option("--dry-run", is_flag=True, help="Print the completed request; start no training job.")
def run(template: str, script: Path, pairs: tuple[str, ...], dry_run: bool) -> None:
    """Run a training job from TEMPLATE (such as training), and follow it."""
    from trainfeed.run import code, launch, templates
    from trainfeed.run.aws import connect

    pack = code.pack(script)
    values = launch.hyperparameters(pairs)
    client = connect()
    job = templates.find(client, template, planned=_planned)
    address = pack.address(job.code) if dry_run else code.upload(client, pack, job.code)
    started = launch.start(
        client, job, code=address, script=pack.script, hyperparameters=values, dry_run=dry_run
    )
    _follow(client, started, dry_run=dry_run)


@main.command()
@click.argument("name")
def follow(name: str) -> None:
    """Follow the run NAME, which `trainfeed run` printed."""
    from trainfeed.run import launch
    from trainfeed.run.aws import connect

    client = connect()
    _follow(client, launch.find(client, name))


@main.command()
@click.argument("name")
def stop(name: str) -> None:
    """Stop the run NAME and its training job."""
    from trainfeed.run import launch
    from trainfeed.run.aws import connect

    client = connect()
    if ended := launch.stop(client, launch.find(client, name)):
        click.echo(f"{name} has ended already: it {_ENDED.get(ended, ended)}.")
    else:
        click.echo(f"Stopped {name}.")


@main.command()
@click.argument("name")
def logs(name: str) -> None:
    """Print the log of the run NAME."""
    from trainfeed.run import launch
    from trainfeed.run import logs as reader
    from trainfeed.run.aws import UserError, connect

    launch.template_of(name)
    empty = True
    for line in reader.whole(connect(), name):
        click.echo(line)
        empty = False
    if empty:
        raise UserError(
            f"{name} has no log: its job did not begin to train, or not yet. See: trainfeed follow {name}"
        )


@main.command(short_help="Ask AWS whether the settings can be deployed.")
@click.argument("settings", required=False, type=_LocalPath(), metavar="[SETTINGS]")
def check(settings: Path | None) -> None:
    """Ask AWS whether SETTINGS (default: trainfeed.yaml) can be deployed. Changes nothing."""
    from stacks.settings import locate, read
    from stacks.yaml_file import SettingsError
    from trainfeed import plan
    from trainfeed.report import findings
    from trainfeed.rules.rule import errors
    from trainfeed.run import preflight
    from trainfeed.run.aws import connect

    try:
        content = read(locate(str(settings) if settings else None)).content
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    client, console = connect(), _console()
    me = preflight.whoami(client)
    console.print(f"{me.arn} in {me.place.region}", soft_wrap=True)
    found = preflight.examine(client, plan.of(content, client))
    findings.show(found, console)
    if bad := errors(found):
        count = "1 error. Put it" if len(bad) == 1 else f"{len(bad)} errors. Put them"
        raise click.ClickException(f"{count} right first.")
    config = f" -c config={shlex.quote(str(settings))}" if settings else ""
    click.echo(f"This can be deployed: cdk deploy --all{config}")


@main.command(name="ls", short_help="List file systems and buckets that are left.")
def list_() -> None:
    """List what trainfeed's stacks made: file systems, which bill, and buckets, which are retained."""
    from trainfeed.report import tables
    from trainfeed.run import buckets, file_systems
    from trainfeed.run.aws import connect

    client, console = connect(), _console()
    tables.file_systems(file_systems.ours(client), console)
    tables.buckets(buckets.ours(client), console)


@main.command(short_help="Empty and delete buckets that are left.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_bucket(names: tuple[str, ...], yes: bool) -> None:
    """Empty and delete buckets that trainfeed made and no stack owns any more. There is no way back."""
    from trainfeed.report import units
    from trainfeed.run import buckets
    from trainfeed.run.aws import UserError, connect

    client = connect()
    doomed = [buckets.find(client, name) for name in dict.fromkeys(map(buckets.name_of, names))]
    if owned := [buckets.owned_text(bucket) for bucket in doomed if bucket.owned]:
        raise UserError("\n".join(owned))
    for bucket in doomed:
        holds = buckets.measure(client, bucket.name)
        click.echo(f"{bucket.name}: {holds.versions:,} object versions, {units.size(holds.bytes)}")
    if not yes:
        click.confirm("Delete for good?", abort=True)
    for bucket in doomed:
        buckets.delete(client, bucket)
        click.echo(f"Deleted {bucket.name}.")


class _Stating(click.Command):
    """A command that takes each field of a workload as an option, too."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        from trainfeed.workload import FIELDS

        # A list of sizes is for files.
        names = [name for name in FIELDS if name != "sizes"]
        options = [click.Option([f"--{name.replace('_', '-')}"], help=FIELDS[name]) for name in names]
        return [*options, *super().get_params(ctx)]


@main.command(cls=_Stating, short_help="Say which data source suits a training job.")
@click.argument("file", required=False, type=_LocalPath(), metavar="[WORKLOAD.YAML]")
@click.option(
    "--prefer",
    type=click.Choice(["cost", "time", "simplicity"]),
    default="cost",
    show_default=True,
    help="What the sources are ranked by.",
)
@click.option("--on", "day", type=click.DateTime(["%Y-%m-%d"]), help="Prices of this day; default: today.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer for programs.")
@click.option("--html", type=_LocalPath(), help="Write the answer as a page to this file.")
@click.option("--write", type=_LocalPath(), help="Write settings for cdk deploy to this file.")
def recommend(  # noqa: PLR0917 - click passes them by name
    file: Path | None,
    prefer: str,
    day: datetime | None,
    as_json: bool,
    html: Path | None,
    write: Path | None,
    **fields: str | None,
) -> None:
    """Say which data source suits a training job, why, how long it takes, and what it costs.

    State the job in a file, or by options; options go before the file. Needs no AWS account.

    \b
      trainfeed recommend --size "54 GB" --files 1500000 --epochs 10 --instance-type ml.g5.2xlarge
    """  # noqa: D301 - click's mark for lines that stay as they are
    from trainfeed import decide
    from trainfeed.prices import BookError
    from trainfeed.report.job_file import NotDeployableError, job_file
    from trainfeed.run import price_book
    from trainfeed.workload import WorkloadError, parse, read

    try:
        stated = {**(read(file) if file else {}), **{k: v for k, v in fields.items() if v is not None}}
        book = price_book.current()
        on = day.date() if day else datetime.now(UTC).date()
        workload = parse(stated)
        if day and (first := decide.first_price(book)) and on < first:
            raise _BadInput(
                f"--on: the first price known is of {first}, after {on}. Give that day or a later one."
            )
        answer = decide.recommend(workload, book, prefer=decide.Prefer(prefer), on=on)
        written: list[Path] = []
        not_written = ""
        if html:
            from trainfeed.report.page import page

            html.write_text(page(answer, book), encoding="utf-8")
            written.append(html)
        if write:
            try:
                write.write_text(job_file(answer), encoding="utf-8")
                written.append(write)
            except NotDeployableError as error:
                not_written = f"no settings written: {error}"
    except WorkloadError as error:
        lines = "".join(f"\n  {fault}" for fault in error.faults)
        raise _BadInput(f"the workload cannot be used.{lines}") from error
    except OSError as error:
        raise _BadInput(f"{error.filename} cannot be written: {error.strerror}.") from error
    except BookError as error:
        raise _BadInput(str(error)) from error
    if as_json:
        from trainfeed.report.document import document

        click.echo(json.dumps(document(answer), indent=2))
    else:
        from trainfeed.report import recommendation

        recommendation.show(answer)
        for path in written:
            click.echo(f"Wrote {path}.")
    if not_written:
        click.echo(not_written, err=True)


@main.group()
def prices() -> None:
    """What AWS asks for, with dates and sources."""


@prices.command(name="show", short_help="Show the price book.")
@click.option("--region", "regions", multiple=True, help="Default: all in the book. Repeat for more.")
@click.option("--on", "day", type=click.DateTime(["%Y-%m-%d"]), help="As of this day; default: today.")
@click.option("--history", is_flag=True, help="Show what newer prices have replaced, too.")
def prices_show(regions: tuple[str, ...], day: datetime | None, history: bool) -> None:
    """Show the price book: the shipped one, and what `refresh` added to it."""
    from trainfeed.report import prices as report
    from trainfeed.run import price_book

    book, console = price_book.current(), _console()
    on = day.date() if day else datetime.now(UTC).date()
    for region in dict.fromkeys(regions) or book.regions():
        report.show(book, region, console, on=on, history=history)
        console.print()
    click.echo(f"Your own book: {price_book.folder()}")


@prices.command(name="refresh", short_help="Add today's prices of the AWS Price List API.")
@click.option("--region", "regions", multiple=True, help="Default: all in the book. Repeat for more.")
def prices_refresh(regions: tuple[str, ...]) -> None:
    """Add today's prices to your own book, from the AWS Price List API. Needs credentials."""
    from trainfeed.prices import products
    from trainfeed.run import price_book, price_list
    from trainfeed.run.aws import UserError, connect

    client = connect(price_list.ENDPOINT_REGION)
    today = datetime.now(UTC).date()
    for region in dict.fromkeys(regions) or price_book.current().regions():
        found = price_list.read(client, region, on=today)
        if not found.records:
            raise UserError(f"The price list has nothing for {region!r}. Is it a Region, such as us-east-1?")
        file = price_book.append(found.records, region=region)
        click.echo(f"{region}: {len(found.records)} prices in {file}")
        for key in found.missing:
            product = products.product(key)
            click.echo(f"  not found: {product.title if product else key}")


@main.group(short_help="An AWS on this machine; needs no account.")
@click.option(
    "--folder",
    envvar="TRAINFEED_LOCAL",
    type=_LocalPath(),
    default=Path(),
    help="The folder it belongs to; default: this one.",
)
@click.pass_context
def local(ctx: click.Context, folder: Path) -> None:
    """An AWS on this machine, to try everything without an account."""
    ctx.obj = folder


@local.command(name="start")
@click.option("--port", default=0, show_default="a free one", help="The port on 127.0.0.1.")
@click.option(
    "--duration",
    "given",
    multiple=True,
    metavar="NAME=SECONDS",
    help="How long something takes, such as file_system_create=300. Repeat for more.",
)
@click.pass_obj
def local_start(folder: Path, port: int, given: tuple[str, ...]) -> None:
    """Start it in the background."""
    from trainfeed.local import daemon
    from trainfeed.local.durations import DurationError, Durations

    pairs = [each.partition("=") for each in given]
    try:
        durations = Durations.changed({name: seconds for name, _, seconds in pairs})
    except DurationError as error:
        raise click.BadParameter(str(error), param_hint="--duration") from error
    running = daemon.status(folder)
    if running and given:
        raise click.ClickException(
            "The local AWS runs already, and keeps its durations. Stop it first: trainfeed local stop"
        )
    already = " already" if running else ""
    running = running or daemon.start(folder, port=port, durations=durations)
    click.echo(
        f"The local AWS runs{already} at {running.url} (pid {running.pid}).\n"
        f'  Use it in this shell:  eval "$(trainfeed local env)"\n'
        f"  Stop it:               trainfeed local stop"
    )


@local.command(name="status")
@click.pass_obj
def local_status(folder: Path) -> None:
    """Say whether it runs; exit 1 if it does not."""
    from trainfeed.local import daemon

    running = daemon.current(folder)
    click.echo(f"The local AWS runs at {running.url} (pid {running.pid}); its log is {running.log}.")


@local.command(name="env")
@click.pass_obj
def local_env(folder: Path) -> None:
    """Print what points a shell at it: eval "$(trainfeed local env)"."""
    from trainfeed.local import daemon

    try:
        variables = daemon.environment(folder)
    except daemon.DaemonError:
        # What the shell evaluates then fails too, and `&& cdk deploy` does not reach another account.
        click.echo("false")
        raise
    # Both would be taken before the variables that follow.
    click.echo("unset AWS_PROFILE AWS_SESSION_TOKEN")
    for name, value in variables.items():
        click.echo(f"export {name}={shlex.quote(value)}")


@local.command(name="stop")
@click.pass_obj
def local_stop(folder: Path) -> None:
    """Stop it, with every job that runs on it. What was deployed there is gone."""
    from trainfeed.local import daemon

    click.echo(f"Stopped the local AWS at {daemon.stop(folder).url}.")


class _BadInput(click.ClickException):
    """What was given cannot be used."""

    exit_code = 2


def _planned() -> tuple[str, ...]:
    """The jobs of the settings here, if there are any."""
    from stacks.settings import locate, read
    from stacks.yaml_file import SettingsError

    try:
        return tuple(read(locate()).content.jobs)
    except SettingsError:
        return ()


def _follow(client: "Client", started: "Run", *, dry_run: bool = False) -> None:
    from trainfeed.report import progress
    from trainfeed.run import logs
    from trainfeed.run.follow import Ending
    from trainfeed.run.follow import follow as observe

    # Of a dry run, the request alone stands on standard output.
    console = _console(stderr=dry_run)
    console.print(started.name, style="bold")
    try:
        end = progress.show(observe(client, started), console)
    except KeyboardInterrupt:
        click.echo(
            f"\n{started.name} goes on without you.\n"
            f"  Follow it again:  trainfeed follow {started.name}\n"
            f"  Stop it:          trainfeed stop {started.name}",
            err=True,
        )
        raise SystemExit(_INTERRUPTED) from None
    result = end.result
    assert result is not None, "following ends with a result"  # noqa: S101
    if dry_run and result.ending is Ending.SUCCEEDED:
        click.echo(json.dumps(result.output, indent=2))
        return
    job = result.job
    failed = result.ending is not Ending.SUCCEEDED
    log = logs.tail(client, log_group=job.log_group, job=job.name) if failed and job else ()
    progress.summary(end, console, log=log)
    if failed:
        raise SystemExit(1)


def _console(*, stderr: bool = False) -> "Console":
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)
