# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm sweep run | plan | status | collect | report`, and the same from Python."""

import collections
import json
import pathlib

from ..errors import Problem, UserError
from ..reporting import pictures
from ..reporting.sweep_report import sweep_report
from . import load, sensitivity
from .driver import run_plan, workers_for
from .options import Interrupted, add_pool_arguments, add_spec_arguments, interrupted, interruptible, pool_options
from .plan import Plan
from .points import label
from .progress import Progress
from .search import plan_of
from .spec import read_spec, spec_of
from .table import Table, rows, text_table

SOME_FAILED = 1
MOST_LINES = 20


class Sweep:
    """A specification of a sweep and its results.

    spec: the path of a file (docs/sweeps.md), or its content as a dict. Files that a dict names are looked for in the current folder.
    output: the folder of the results, in place of the one that the specification names.
    settings: texts KEY=VALUE as of --set, for a file.
    Raises UserError with all mistakes of the specification.
    """

    def __init__(self, spec, output=None, settings=(), progress=None):
        self.plan, self.objectives = plan_of(spec_of(pathlib.Path("sweep"), spec, output) if isinstance(spec, dict) else read_spec(spec, output, settings), progress)

    @property
    def path(self):
        return self.plan.output

    def run(self, *, workers=0, scheduler=None, cluster=None, quiet=True, retry_failed=False):
        """Runs what has not ended yet, and returns a driver.Outcome. Needs the extra `sweep`.

        workers: their number, 0 for one a core. scheduler: the address of a Dask scheduler that is there already. cluster: "slurm" for
        workers of a cluster.
        quiet: show no progress. retry_failed: run again what has failed. Raises UserError when no run can go well.
        """
        with workers_for(self.plan, workers=workers, scheduler=scheduler, cluster=cluster) as pool:
            return run_plan(self.plan, pool, quiet=quiet, retry_failed=retry_failed)

    def rows(self):
        """A dict for each run that has ended: "point", "seed", the axes, "state" ("done" or "failed"), and all metrics of Result.metrics
        for runs that are done."""
        return rows(self.plan)

    def report(self, output=None, metrics=(), x=None, by=None, pictures=None, picture_format="svg"):
        """Writes charts of the sweep as one HTML file and returns its path; default report.html in the folder of the sweep. Needs the extra
        `report`.

        metrics: names of what is shown; default throughput and p99 of each operation. x, by: keys of maps and lines; default those with the
        largest effect.
        pictures: a folder in which each chart is written as a file too, of picture_format "svg" or "png". Raises UserError.
        """
        return sweep_report(self.plan, self.rows(), metrics, output, self.objectives, x, by, pictures, picture_format)[0]

    def sql(self, query):
        """The rows, as dicts, that an SQL query of the table `results` gives. Needs the extra `sweep`. Raises UserError for a query that
        DuckDB refuses."""
        names, found = Table(self.rows()).ask(query)
        return [dict(zip(names, row)) for row in found]


def sweep(spec, output=None, **options):
    """Runs a sweep and returns its Sweep. The arguments are those of Sweep and of Sweep.run(). Raises UserError."""
    made = Sweep(spec, output)
    made.run(**options)
    return made


def add_arguments(parser):
    commands = parser.add_subparsers(dest="what", required=True)
    for name in COMMANDS:
        sub = commands.add_parser(name, allow_abbrev=False)
        add_spec_arguments(sub)
        if name in ("run", "load", "sensitivity"):
            add_pool_arguments(sub)
        if name == "run":
            sub.add_argument("--retry-failed", action="store_true")
        elif name in ("plan", "status", "load", "sensitivity"):
            sub.add_argument("--json", action="store_true")
        elif name == "report":
            sub.add_argument("--metric", action="append", default=[])
            sub.add_argument("--html")
            sub.add_argument("--x")
            sub.add_argument("--by")
            pictures.add_arguments(sub)
        elif name == "collect":
            sub.add_argument("--table")
            sub.add_argument("--sql")
            sub.add_argument("--json", action="store_true")


def run(arguments):
    progress = Progress(arguments.quiet)
    made = Sweep(arguments.spec, arguments.output, arguments.set, progress)
    progress.clear()
    if made.objectives:
        raise UserError(Problem(str(made.path), "holds a search", "one of both in a folder", "go on with `ssdtlm search`, or choose another folder with -o"))
    options = pool_options(arguments)
    interruptible()
    try:
        outcome = made.run(retry_failed=arguments.retry_failed, quiet=arguments.quiet, **options)
    except Interrupted:
        return interrupted(made.path)
    text = ""
    if outcome.failed:
        for row in _failed(made)[:MOST_LINES]:
            text += f"failed: {row['title']}, seed {row['seed']}: {row['message'].splitlines()[-1]}\n"
    text += f"{outcome.total} runs of {len(made.plan.points)} points: {outcome.done} done, {outcome.failed} failed"
    text += f" ({outcome.before} of them earlier)\n" if outcome.before else "\n"
    if outcome.started:
        text += f"{outcome.started} runs in {outcome.wall_s:.1f} s, {outcome.busy_s:.1f} s in simulators\n"
    return text + f"results in {made.path}\n", SOME_FAILED if outcome.failed else 0


def _failed(made):
    ended = made.plan.ended()
    return [{"title": label(p.values), "seed": r.seed, "message": ended[r.key]["message"] or "no message"}
            for p in made.plan.points for r in p.runs if r.key in ended and ended[r.key]["state"] == "failed"]


def plan(arguments):
    made = Plan(read_spec(arguments.spec, arguments.output, arguments.set))
    ended = made.ended()
    state = lambda run: ended[run.key]["state"] if run.key in ended else "to do"
    if arguments.json:
        listed = [{"point": p.number, "values": p.values, "seed": r.seed, "key": r.key, "state": state(r), "command": r.task["command"]}
                  for p in made.points for r in p.runs]
        return json.dumps({"output": str(made.output), "excluded": made.excluded, "runs": listed}, indent=1, ensure_ascii=False) + "\n", 0
    text = "".join(f"{p.number:>5}  {label(p.values)}\n" for p in made.points[:MOST_LINES])
    text += f"  ... and {len(made.points) - MOST_LINES} more (--json: all)\n" if len(made.points) > MOST_LINES else ""
    all_runs = made.runs
    seeds = len(made.spec.seeds)
    text += f"{len(made.points)} points" + (f" ({made.excluded} more are excluded by where)" if made.excluded else "")
    text += f", {'up to ' if made.spec.replicate else ''}{seeds} seed{'s' if seeds > 1 else ''} each: {len(all_runs)} runs"
    same = sum(len(p.runs) for p in made.points) - len(all_runs)
    text += f" ({same} points and seeds share the run of an equal one)" if same else ""
    return text + f", {sum(key in ended for key in all_runs)} of them ended, in {made.output}\n", 0


def status(arguments):
    made, objectives = plan_of(read_spec(arguments.spec, arguments.output, arguments.set))
    ended = made.ended()
    states = collections.Counter(ended[key]["state"] if key in ended else "to do" for key in made.runs)
    messages = collections.Counter(ended[key]["message"].splitlines()[-1] if ended[key]["message"] else "no message"
                                   for key in made.runs if key in ended and ended[key]["state"] == "failed")
    seconds = [ended[key]["seconds"] for key in made.runs if key in ended]
    if arguments.json:
        return json.dumps({"output": str(made.output), "runs": len(made.runs), "done": states["done"], "failed": states["failed"],
                           "to_do": states["to do"], "seconds": sum(seconds), "messages": messages}, indent=1, ensure_ascii=False) + "\n", 0
    text = f"{len(made.points)} points that a search has tried, for {', '.join(f'{direction} {name}' for name, direction in objectives)}\n" if objectives else ""
    text += f"{len(made.runs)} runs: {states['done']} done, {states['failed']} failed, {states['to do']} to do\n"
    text += f"{sum(seconds):.1f} s in simulators, {sum(seconds) / len(seconds):.2f} s a run\n" if seconds else ""
    for message, count in messages.most_common(MOST_LINES):
        text += f"failed {count} times: {message}\n"
    return text, 0


def collect(arguments):
    made, _ = plan_of(read_spec(arguments.spec, arguments.output, arguments.set))
    table = Table(rows(made))
    if arguments.sql:
        names, found = table.ask(arguments.sql)
        if arguments.json:
            return json.dumps([dict(zip(names, row)) for row in found], indent=1, ensure_ascii=False, default=str) + "\n", 0
        return text_table(names, found), 0
    if arguments.json:
        raise UserError(Problem("command line", "--json without --sql", "", "a table as JSON: --table NAME.json"))
    path = pathlib.Path(arguments.table) if arguments.table else made.output / "results.parquet"
    table.write(path)
    return f"table in {path}\n", 0


def report(arguments):
    output, html = arguments.output, arguments.html
    # As of `ssdtlm report`, where -o is the file.
    if output and pathlib.Path(output).suffix in (".html", ".htm"):
        if html:
            raise UserError(Problem("command line", f"-o {output} and --html {html}", "one file", "give one of them"))
        output, html = None, output
    options = pictures.options(arguments)
    made, objectives = plan_of(read_spec(arguments.spec, output, arguments.set))
    path, count = sweep_report(made, rows(made), arguments.metric, html, objectives, arguments.x, arguments.by, **options)
    return f"report in {path}\n" + pictures.said(*options.values(), count), 0


COMMANDS = {"run": run, "plan": plan, "status": status, "collect": collect, "load": load.command, "sensitivity": sensitivity.command, "report": report}


def command(arguments):
    """Returns (text for standard output, exit code)."""
    return COMMANDS[arguments.what](arguments)
